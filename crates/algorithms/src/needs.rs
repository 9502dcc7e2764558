//! What graph an algorithm is defined on.
//!
//! The caller makes an input [fit](Needs::fit) before it is partitioned. A partition that was made
//! before is [checked](Needs::check), and refused if it is not known to fit.

use parton_graph::tidy::Tidy;
use parton_graph::{Graph, WeightKind};
use parton_partition::{Fit, Partition};

use crate::error::{Error, Result};

/// What graph an algorithm is defined on. By default any, without a look at weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Which way edges lead.
    pub edges: EdgeNeed,
    /// No self-loops, no parallel edges.
    pub simple: bool,
    /// What weights mean.
    pub weights: WeightNeed,
}

/// Which way edges lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeNeed {
    /// As they are given.
    #[default]
    Any,
    /// Both ways.
    Undirected,
    /// From vertices of one kind to those of another: none is both a source and a destination. No
    /// graph can be made like that; the algorithm names a vertex that is both.
    Bipartite,
}

/// What weights mean to an algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightNeed {
    /// Nothing.
    #[default]
    Ignored,
    /// Something, where there are any.
    Used,
    /// Nothing can be said without them.
    Needed,
}

impl Needs {
    /// An undirected simple graph; weights mean nothing.
    pub(crate) const UNDIRECTED_SIMPLE: Needs =
        Needs { edges: EdgeNeed::Undirected, simple: true, weights: WeightNeed::Ignored };

    /// What an input must be made like.
    pub fn fit(self) -> Fit {
        Fit {
            undirected: self.edges == EdgeNeed::Undirected,
            simple: self.simple,
            weights: self.weights != WeightNeed::Ignored,
        }
    }

    /// The same done to a graph in memory, for oracles. Weights that mean nothing are left alone.
    pub fn prepared(self, graph: Graph) -> Graph {
        let simple = if self.simple { Tidy::SIMPLE } else { Tidy::default() };
        graph.tidied(Tidy { undirected: self.edges == EdgeNeed::Undirected, ..simple })
    }

    /// Whether a partition is known to be of such a graph; if not, what to do about it.
    pub fn check(self, algorithm: &str, partition: &Partition) -> Result<()> {
        let refuse = |defined: &str, found: &str, option: &str| {
            Err(Error::Data(format!(
                "{algorithm} is defined on {defined}, and this partition was made of {found}: make \
                 it again with {option}"
            )))
        };
        if self.edges == EdgeNeed::Undirected && !partition.is_symmetric() {
            return refuse("undirected graphs", "a directed one", "`undirected`");
        }
        if self.simple && !partition.is_simple() {
            let found = "one that may have self-loops and parallel edges";
            return refuse("simple graphs", found, "`simple`");
        }
        let unweighted = partition.edges().weight_kind() == WeightKind::None;
        if self.weights == WeightNeed::Needed && unweighted {
            return Err(Error::Data(format!(
                "{algorithm} needs weights, and the graph has none: name their column (`columns`), \
                 or make some up (`weights` unit, `weights` random:LO..HI)"
            )));
        }
        Ok(())
    }
}
