//! What the weights and degrees of a graph are like: which types sums of weights fit, and which buckets suit
//! delta-stepping.

use parton_graph::{Graph, WeightKind, with_csr};
use parton_program::weights::WeightRange;
use parton_sync::Substrate;

use crate::error::{Error, Result};
use crate::root::degree_of_edges;

/// What the weights of a graph are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphTraits {
    kind: WeightKind,
    weights: WeightRange,
    vertices: u64,
    edges: u64,
    /// The mean out-degree of an edge's source.
    degree_of_edges: f64,
}

impl GraphTraits {
    /// The traits of the graph that hosts share, of its weights only if asked. Every host must call this.
    pub(crate) fn find(substrate: &mut Substrate<'_>, wants_weights: bool) -> Result<Self> {
        let partition = substrate.partition();
        let kind = partition.edges().weight_kind();
        let mut traits = GraphTraits {
            kind,
            weights: WeightRange::NONE,
            vertices: partition.num_vertices(),
            edges: partition.num_edges(),
            degree_of_edges: 0.0,
        };
        if wants_weights {
            traits.weights = WeightRange::find(substrate)?;
            if kind != WeightKind::None {
                traits.degree_of_edges = degree_of_edges(substrate)?;
            }
        }
        Ok(traits)
    }

    /// Those of a whole graph.
    pub(crate) fn of(graph: &Graph) -> Self {
        GraphTraits {
            kind: graph.adjacency.weight_kind(),
            weights: with_csr!(&graph.adjacency, csr => WeightRange::of(csr.all_weights())),
            vertices: graph.num_vertices() as u64,
            edges: 0,
            degree_of_edges: 0.0,
        }
    }

    /// An error if a weight is less than 0.
    pub(crate) fn refuse_negative(&self) -> Result<()> {
        let least = self.weights.least;
        match least < 0.0 {
            true => Err(Error::Data(format!(
                "shortest paths need weights of at least 0, but an edge has weight {least}"
            ))),
            false => Ok(()),
        }
    }

    /// Whether a program for such weights, whose labels have this many bytes, suits: sums of weights of 32 bits
    /// may need 64.
    pub(crate) fn fits(&self, kind: WeightKind, label_bytes: usize) -> bool {
        let is_large = self.weights.greatest * self.vertices as f64 >= f64::from(u32::MAX);
        kind == self.kind && !(kind == WeightKind::U32 && is_large && label_bytes < 8)
    }

    /// True if sums of weights may overflow: no path is longer than this bound.
    pub(crate) fn may_overflow(&self, vertices: u64) -> bool {
        let WeightRange { greatest, sum, .. } = self.weights;
        !sum.min(greatest * vertices as f64).is_finite()
    }

    /// Their mean; the greatest where their sum overflows.
    pub(crate) fn mean_weight(&self) -> f64 {
        match self.weights.sum.is_finite() {
            true => self.weights.sum / self.edges.max(1) as f64,
            false => self.weights.greatest,
        }
    }

    /// The width of buckets for delta-stepping (Meyer, Sanders 2003) that suits. Wider buckets waste more
    /// relaxations, narrower ones leave less to do at a time. Where vertices have many edges, labels lie closer
    /// together and more relaxations are wasted; more still where most edges leave a few vertices.
    pub(crate) fn suitable_width(&self, mean_degree: f64) -> f64 {
        let mean_degree = mean_degree.max(1.0);
        let uneven = (self.degree_of_edges / mean_degree / MIN_DEGREE_RATIO).max(1.0);
        let width = 8.0 * self.mean_weight() / (mean_degree.powf(1.5) * uneven.sqrt());
        width.max(f64::MIN_POSITIVE)
    }
}

/// Uneven degrees matter from here on: the mean degree of an edge's source by the mean degree of a vertex.
const MIN_DEGREE_RATIO: f64 = 8.0;
