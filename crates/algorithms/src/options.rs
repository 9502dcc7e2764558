//! What a user can ask of an algorithm.

use std::sync::Arc;

use parton_engine::{EngineInfo, Pacing};
use parton_graph::Graph;

/// Everything a user can ask. Each algorithm says which of it concerns it
/// ([`Algorithm::options`](crate::Algorithm::options)).
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The engine; `None`: the algorithm chooses.
    pub engine: Option<&'static EngineInfo>,
    /// When hosts wait for each other.
    pub pacing: Pacing,
    /// Stop after so many rounds.
    pub max_rounds: Option<u64>,
    /// Where a search starts.
    pub root: Root,
    /// The change of all ranks together below which they count as final.
    pub tolerance: f64,
    /// How much of a rank is passed on.
    pub damping: f64,
    /// What becomes of the rank of vertices without out-edges.
    pub dangling: Dangling,
    /// Ranks that are 1 on average instead of 1 in all.
    pub unnormalized: bool,
    /// How ranks are found; `None`: as suits the pace.
    pub formulation: Option<Formulation>,
    /// How exactly what passes along edges is kept.
    pub precision: Precision,
    /// Distances that differ by less may be worked on at the same time; `None`: as suits the graph.
    pub delta: Option<f64>,
    /// Ranks as LDBC Graphalytics defines them: after a fixed number of rounds.
    pub graphalytics: bool,
    /// Where a random surfer starts again, as users call them; `None`: anywhere.
    pub seeds: Option<Vec<String>>,
    /// Where the paths start that betweenness counts.
    pub sources: Sources,
    /// Factors of every vertex.
    pub width: usize,
    /// How far factors go at a time; `None`: as suits the ratings.
    pub learning_rate: Option<f64>,
    /// What large factors cost.
    pub regularization: f64,
    /// What is random follows from it.
    pub seed: u64,
    /// Ratings that are kept from learning, and predicted in the end. Every host has them all.
    pub test: Option<Arc<Graph>>,
    /// The core that is looked for; `None`: all of them.
    pub k: Option<u32>,
}

/// Vertices where paths start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// All.
    All,
    /// So many of largest out-degree, the lowest original ids among several.
    Largest(usize),
    /// So many at random: sums over them are scaled to estimate those over all.
    Random {
        /// How many.
        count: usize,
        /// Which ones: the same for the same seed and number of vertices.
        seed: u64,
    },
    /// Those that users call so.
    Listed(Vec<String>),
}

/// How exactly what passes along edges is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Singles where the difference is negligible, else doubles.
    Auto,
    /// Singles.
    Single,
    /// Doubles.
    Double,
}

/// Where a search starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// The vertex of largest out-degree, the lowest original id among several.
    MaxDegree,
    /// The vertex that users call so.
    Original(String),
}

/// What becomes of the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dangling {
    /// All vertices get their share of it, or all seeds where there are some.
    Redistribute,
    /// It is lost, as in GAP and Gluon.
    Drop,
}

/// How ranks are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formulation {
    /// Every vertex collects from all its neighbours in every round.
    Power,
    /// Vertices pass on what has changed, once it is enough.
    Residual,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: None,
            pacing: Pacing::default(),
            max_rounds: None,
            root: Root::MaxDegree,
            tolerance: 1e-6,
            damping: 0.85,
            dangling: Dangling::Redistribute,
            unnormalized: false,
            formulation: None,
            precision: Precision::Auto,
            delta: None,
            graphalytics: false,
            seeds: None,
            sources: Sources::All,
            width: 20,
            learning_rate: None,
            regularization: 0.1,
            seed: 1,
            test: None,
            k: None,
        }
    }
}
