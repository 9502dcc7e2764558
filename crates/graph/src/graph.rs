//! A whole graph as read from a file or generated: edges, original ids, and what is known of it.

use std::ops::Range;

use crate::buffer::Buffer;
use crate::csr::MAX_VERTICES;
use crate::formats::Vertices;
use crate::id_map::Ids;
use crate::ingest::VertexRange;
use crate::parallel;
use crate::weight::{Weight, WeightKind};
use crate::{Csr, Error, LocalId, Result};

/// Whether an edge can be walked both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Edges lead from source to destination.
    Directed,
    /// Every edge is stored in both directions; a self-loop once.
    Undirected,
}

/// A graph in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The edges.
    pub adjacency: Adjacency,
    /// What the user calls the vertices.
    pub ids: Ids,
    /// Whether the source said that edges go both ways.
    pub direction: Direction,
    /// How the source was understood, in words: "TSV, 2 columns, …".
    pub read_as: String,
}

/// Edges with any type of weight.
#[derive(Clone, Debug, PartialEq)]
pub enum Adjacency {
    /// No weights.
    Unweighted(Csr<()>),
    /// Integer weights.
    U32(Csr<u32>),
    /// Single-precision weights.
    F32(Csr<f32>),
    /// Double-precision weights.
    F64(Csr<f64>),
}

/// Evaluates an expression with the [`Csr`] inside an [`Adjacency`], whatever its weights:
/// `with_csr!(&graph.adjacency, csr => csr.num_edges())`.
#[macro_export]
macro_rules! with_csr {
    ($adjacency:expr, $csr:ident => $body:expr) => {
        match $adjacency {
            $crate::Adjacency::Unweighted($csr) => $body,
            $crate::Adjacency::U32($csr) => $body,
            $crate::Adjacency::F32($csr) => $body,
            $crate::Adjacency::F64($csr) => $body,
        }
    };
}

macro_rules! adjacency_from {
    ($($weight:ty => $variant:ident),*) => {$(
        impl From<Csr<$weight>> for Adjacency {
            fn from(csr: Csr<$weight>) -> Self {
                Adjacency::$variant(csr)
            }
        }
    )*};
}
adjacency_from!(() => Unweighted, u32 => U32, f32 => F32, f64 => F64);

impl Adjacency {
    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        with_csr!(self, csr => csr.num_vertices())
    }

    /// Number of edges, each direction of an undirected edge counted.
    pub fn num_edges(&self) -> u64 {
        with_csr!(self, csr => csr.num_edges())
    }

    /// Type of the weights.
    pub fn weight_kind(&self) -> WeightKind {
        fn kind<W: Weight>(_: &Csr<W>) -> WeightKind {
            W::KIND
        }
        with_csr!(self, csr => kind(csr))
    }

    /// Where each vertex's edges start, and the end of the last.
    pub fn offsets(&self) -> &[u64] {
        with_csr!(self, csr => csr.offsets())
    }

    /// Destinations of all edges.
    pub fn all_targets(&self) -> &[LocalId] {
        with_csr!(self, csr => csr.all_targets())
    }

    /// Gives the memory of some edges of a mapped file back to the system, as they will rarely be
    /// needed again.
    pub fn set_aside(&self, edges: Range<usize>) {
        with_csr!(self, csr => csr.set_aside(edges));
    }

    /// Bytes of the three arrays.
    pub fn bytes(&self) -> u64 {
        let per_edge = 4 + self.weight_kind().bytes() as u64;
        8 * (self.num_vertices() as u64 + 1) + per_edge * self.num_edges()
    }

    /// The same edges without weights.
    pub fn unweighted(self) -> Self {
        with_csr!(self, csr => {
            let (offsets, targets, _) = csr.into_parts();
            let weights = Buffer::from(vec![(); targets.len()]);
            Csr::from_parts(offsets, targets, weights).into()
        })
    }
}

impl Graph {
    /// A directed graph whose vertices are called `0, 1, 2, …`.
    pub fn dense(adjacency: impl Into<Adjacency>, read_as: impl Into<String>) -> Self {
        let adjacency = adjacency.into();
        let ids = Ids::dense(adjacency.num_vertices());
        Graph { adjacency, ids, direction: Direction::Directed, read_as: read_as.into() }
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.adjacency.num_vertices()
    }

    /// Number of edges, each direction of an undirected edge counted.
    pub fn num_edges(&self) -> u64 {
        self.adjacency.num_edges()
    }

    /// Number of edges of which `counts(source, destination)` holds.
    pub(crate) fn count_edges(&self, counts: impl Fn(LocalId, LocalId) -> bool + Sync) -> u64 {
        with_csr!(&self.adjacency, csr => {
            parallel::sum(csr.num_vertices(), |v| {
                let v = LocalId(v as u32);
                csr.targets(v).iter().filter(|&&t| counts(v, t)).count() as u64
            })
        })
    }

    /// Whether all weights are finite numbers, as algorithms expect. What is read is; a sum of
    /// weights need not be.
    pub fn has_finite_weights(&self) -> bool {
        with_csr!(&self.adjacency, csr => {
            parallel::all_of(csr.all_weights(), |weight| weight.to_f64().is_finite())
        })
    }

    /// The graph with every edge in both directions.
    pub fn undirected(mut self) -> Self {
        self.adjacency = with_csr!(self.adjacency, csr => csr.symmetrised().into());
        self.direction = Direction::Undirected;
        self
    }

    /// The graph with exactly the declared vertices: isolated ones are added at the end, or left
    /// out there. `file` names the input in the error when that cannot be.
    pub(crate) fn with_vertices(mut self, file: &str, declared: Vertices) -> Result<Self> {
        let Ids::Range { first, count } = self.ids else {
            return Err(Error::Request(format!(
                "{file}: a number of vertices can only be given when ids are consecutive integers"
            )));
        };
        let wanted = match declared {
            Vertices::Count(count) => VertexRange { first, count },
            Vertices::Range(range) => range,
        };
        if wanted.first == first && wanted.count == count as u64 {
            return Ok(self);
        }
        let isolated_from = with_csr!(&self.adjacency, csr => {
            let targets = csr.all_targets();
            let end_in = |edges: Range<usize>| {
                targets[edges].iter().max().map_or(0, |target| target.index() + 1)
            };
            let last_target = parallel::reduce(targets.len(), end_in, usize::max).unwrap_or(0);
            let edges = csr.num_edges();
            last_target.max(csr.offsets().partition_point(|&o| o < edges))
        });
        if wanted.first != first
            || wanted.count < isolated_from as u64
            || wanted.count > MAX_VERTICES.min((u64::MAX - first).saturating_add(1))
        {
            return Err(Error::Request(format!(
                "{file}: the vertices cannot be {wanted}: edges use {first} to {}",
                first + (isolated_from as u64).saturating_sub(1)
            )));
        }
        let count = wanted.count as usize;
        self.ids = Ids::Range { first, count };
        self.adjacency = with_csr!(self.adjacency, csr => {
            let edges = csr.num_edges();
            let (offsets, targets, weights) = csr.into_parts();
            let mut offsets = offsets.into_vec();
            offsets.resize(count + 1, edges);
            Csr::from_parts(offsets.into(), targets, weights).into()
        });
        Ok(self)
    }

    /// The graph with weights of the given kind. A weight that [does not
    /// fit](Weight::try_from_f64) is an error.
    pub fn with_weight_kind(mut self, kind: WeightKind) -> Result<Self> {
        if kind == self.adjacency.weight_kind() {
            return Ok(self);
        }
        fn convert<W: Weight, V: Weight>(csr: Csr<W>) -> Result<Adjacency>
        where
            Adjacency: From<Csr<V>>,
        {
            let weights = csr.all_weights();
            let unfit = |edge: usize| V::try_from_f64(weights[edge].to_f64()).err();
            match parallel::find_first(weights.len(), unfit) {
                Some(unfit) => Err(Error::Request(format!("{unfit}: keep f64 weights"))),
                None => Ok(csr.reweighted(|_, _, weight| V::from_f64(weight.to_f64())).into()),
            }
        }
        self.adjacency = with_csr!(self.adjacency, csr => match kind {
            WeightKind::None => Ok(Adjacency::from(csr).unweighted()),
            WeightKind::U32 => convert::<_, u32>(csr),
            WeightKind::F32 => convert::<_, f32>(csr),
            WeightKind::F64 => convert::<_, f64>(csr),
        })?;
        Ok(self)
    }
}
