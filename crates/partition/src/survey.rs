//! What is known of an input before hosts partition it: its size, and a sample of its edges.
//!
//! A small input is its own sample. Of a larger one a survey takes slices at even distances (of rows, or of a
//! generator's edges), or the beginning of a text. Memory and time follow the sample, never the input. Estimates
//! of what grows slower than the edges (vertices, mirrors) follow the curve of two thinner samples: see `Growth`.

mod draw;
mod sample;

use parton_graph::progress::Silent;
use parton_graph::rows::Rows;
use parton_graph::{Adjacency, Csr, Direction, Graph};
use parton_net::Cluster;

use crate::id_set::IdSet;
use crate::input::Content;
use crate::policy::Reads;
use crate::{Error, Fit, Input, Result};
use draw::{Drawn, EDGES_PER_SLICE};
use sample::{Sample, thinness};

/// What is known of an input before hosts partition it.
pub struct Survey {
    /// Number of vertices, estimated unless the sample is everything.
    pub vertices: f64,
    /// Number of edges that hosts will have in all.
    pub edges: f64,
    /// Number of edges that the input lists.
    pub listed_edges: f64,
    /// Which part of the edges was sampled: 1 if all were.
    pub rate: f64,
    /// How the input keeps its edges.
    pub storage: Storage,
    /// Bytes of a weight.
    pub weight_bytes: usize,
    /// Whether every edge is there in both directions.
    pub is_symmetric: bool,
    /// Whether rows had to be changed to fit.
    pub is_changed: bool,
    /// Bytes of names, per vertex; 0 where ids are numbers.
    pub name_bytes: f64,
    pub(crate) sample: Sample,
}

/// How an input keeps its edges, which decides what reading takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Rows as they are in memory, in a mapped file; and whether in-edges lie beside them.
    Rows {
        /// Whether the file has in-edges.
        has_in_edges: bool,
    },
    /// A formula.
    Generated,
    /// Edges between original ids.
    Edges {
        /// Whether ids must be numbered.
        has_dictionary: bool,
    },
    /// A graph in memory.
    Whole,
}

impl Survey {
    /// A survey of an input that looks at no more than about this many edges.
    pub fn of(input: &Input, max_edges: u64) -> Result<Self> {
        let max_edges = max_edges.max(EDGES_PER_SLICE);
        let drawn = match (&input.content, input.size()) {
            (Content::Edges(file), _) => {
                Some(draw::of_pieces(&**file, input.packed_bytes, max_edges)?)
            }
            (_, Some((vertices, edges))) if edges.saturating_add(vertices) <= 2 * max_edges => None,
            (Content::Generated(spec), _) => Some(draw::of_generated(spec.generator(), max_edges)),
            (Content::Rows(file), _) => Some(draw::of_rows(file, max_edges)?),
            (Content::Whole(graph), _) => Some(draw::of_graph(graph, max_edges)),
        };
        let storage = match &input.content {
            Content::Rows(file) => Storage::Rows { has_in_edges: file.has_in_rows() },
            Content::Generated(_) => Storage::Generated,
            Content::Whole(_) => Storage::Whole,
            Content::Edges(file) => {
                Storage::Edges { has_dictionary: file.shape().vertices.is_none() }
            }
        };
        match drawn {
            None => Self::of_all(input, storage),
            Some(drawn) => Self::of_drawn(input, drawn, storage),
        }
    }

    /// A survey that reads everything.
    fn of_all(input: &Input, storage: Storage) -> Result<Self> {
        let (rows, is_symmetric, is_changed) = rows_of(input)?;
        let listed = input.size().map_or(rows.adjacency.num_edges(), |(_, edges)| edges);
        let vertices = rows.adjacency.num_vertices() as f64;
        let weight_bytes = rows.adjacency.weight_kind().bytes();
        let edges = rows.adjacency.num_edges() as f64;
        Ok(Survey {
            edges,
            listed_edges: listed as f64,
            weight_bytes,
            is_symmetric,
            is_changed,
            ..Self::new(Sample::whole(rows), vertices, storage)
        })
    }

    /// A survey of an input of which some edges have been drawn.
    fn of_drawn(input: &Input, drawn: Drawn, storage: Storage) -> Result<Self> {
        let Drawn { edges, vertices, all_vertices, rate, has_whole_rows, .. } = drawn;
        let weighted: Vec<(u32, u32, ())> = edges.iter().map(|&(u, v)| (u, v, ())).collect();
        let is_symmetric = input.is_symmetric();
        let csr = Csr::from_edges(vertices as usize, &weighted);
        let grown = match all_vertices {
            Some(vertices) => vertices as f64,
            None => {
                let seen = |thinner: u8| {
                    let ids = IdSet::new(vertices);
                    let kept = (0..).zip(&edges).filter(|(place, _)| thinness(*place) >= thinner);
                    kept.for_each(|(_, &(u, v))| [u, v].into_iter().for_each(|id| ids.insert(id)));
                    ids.ranked().len() as f64
                };
                Growth([seen(0), seen(1), seen(2)]).at(rate)
            }
        };
        let mut graph = Graph::dense(csr, "");
        // A sample of edges in both directions need not have both of each.
        let asks_mirrors = input.lacks_mirrors() || input.fit.undirected && !is_symmetric;
        if is_symmetric && rate >= 1.0 {
            graph.direction = Direction::Undirected;
        }
        let fit = Fit { undirected: asks_mirrors, ..input.fit };
        let (rows, _, is_changed) = rows_of(&Input::from(graph).fitted(fit))?;
        let num_edges = rows.adjacency.num_edges() as f64 / rate;
        let keeps_weights = input.fit.weights;
        let sample = Sample::drawn(rows, &edges[..drawn.listed], has_whole_rows);
        Ok(Survey {
            edges: num_edges,
            listed_edges: drawn.listed as f64 / rate,
            rate,
            weight_bytes: if keeps_weights { drawn.weight_bytes } else { 0 },
            is_symmetric: is_symmetric || asks_mirrors,
            is_changed,
            name_bytes: drawn.name_bytes,
            ..Self::new(sample, grown, storage)
        })
    }

    fn new(sample: Sample, vertices: f64, storage: Storage) -> Self {
        Survey {
            vertices,
            edges: 0.0,
            listed_edges: 0.0,
            rate: 1.0,
            storage,
            weight_bytes: 0,
            is_symmetric: false,
            is_changed: false,
            name_bytes: 0.0,
            sample,
        }
    }

    /// The sampled edges, without weights, between vertices that are numbered anew.
    pub fn sampled_edges(&self) -> Adjacency {
        self.sample.rows.adjacency.clone()
    }

    /// Whether the sample is everything.
    pub fn is_exact(&self) -> bool {
        self.rate >= 1.0
    }
}

/// The rows of an input as a host that is alone has them; whether edges have mirror images, and whether rows
/// had to be changed.
fn rows_of(input: &Input) -> Result<(Rows, bool, bool)> {
    let threads = rayon::current_num_threads();
    let mut alone = Cluster::local(1).threads_per_host(threads);
    let shares = alone.launch(|net| input.share(net, Reads::OutEdges, &Silent));
    let share = shares.map_err(|error| match error {
        parton_net::LaunchError::Failed { error, .. } => error,
        parton_net::LaunchError::Start { .. } => no_threads(&error),
        other => Error::request(other.to_string()),
    })?;
    let share = share.into_iter().next().expect("one host");
    let is_changed = share.changes.iter().any(|change| !change.starts_with("weights"));
    Ok((share.rows, share.is_symmetric, is_changed))
}

/// The threads of a survey cannot start: what they lack is memory for their stacks.
pub(crate) fn no_threads(error: &dyn std::fmt::Display) -> Error {
    parton_graph::Error::Memory(format!("not enough memory to look at the graph: {error}")).into()
}

/// A quantity in a sample, in one of half its edges, and in one of a quarter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth(pub(crate) [f64; 3]);

impl Growth {
    /// The quantity in the whole, of which the sample has a part of `rate`: its growth from one doubling to the
    /// next falls as it fell between the samples, and never below nothing or above doubling.
    pub(crate) fn at(self, rate: f64) -> f64 {
        let [whole, half, quarter] = self.0;
        if rate >= 1.0 || whole <= 0.0 {
            return whole;
        }
        let slope = |more: f64, less: f64| (more / less.max(1.0)).max(1.0).log2().clamp(0.0, 1.0);
        let (last, before) = (slope(whole, half), slope(half, quarter));
        let fall = (before - last).max(0.0);
        let (mut doublings, mut slope, mut exponent) = ((1.0 / rate).log2(), last, 0.0);
        while doublings > 0.0 && slope > 0.0 {
            slope = (slope - fall).max(0.0);
            exponent += slope * f64::min(doublings, 1.0);
            doublings -= 1.0;
        }
        whole * exponent.exp2()
    }
}
