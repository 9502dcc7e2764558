//! The seam between a host's data and an engine's way through its edges.

use crate::program::{Relaxation, VertexProgram};
use crate::relaxing::Relaxing;
use crate::stepping::Stepping;

/// How an engine does one local round. The data, and what happens between hosts, is the same for
/// all engines: see [`Relaxing`] and [`Stepping`].
pub trait Strategy: Default {
    /// Whether it also looks at edges from where messages arrive.
    const PULLS: bool;

    /// Whether, in rounds, it goes along edges the way that hosts agree on, so that it can make use of
    /// edges that are there [from both ends](crate::ways::Ways::whole).
    const AGREES: bool = false;

    /// Whether it spreads labels in an order of its own.
    const SORTS: bool = false;

    /// Whether it looks for labels along edges that still matter, when all hosts
    /// [agree](Relaxing::look) on that. Then it tells what it is about to spread.
    const LOOKS: bool = false;

    /// So many labels, if there are as many, have their turn in a round where others wait for better
    /// ones: more than one only where a round is a single step.
    const FEW_LABELS: usize = 1;

    /// One local round of a relaxation; how many edges it looked at.
    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64;

    /// Whether it has kept something back for a later round of a relaxation.
    fn has_more(&self) -> bool {
        false
    }

    /// About how many edges leave what it has kept back and is about to spread.
    fn edges_ahead(&self) -> u64 {
        0
    }

    /// The best label that is still to be spread.
    fn best<P: Relaxation>(&self, host: &Relaxing<'_, P>) -> P::Label {
        host.best_of_frontier()
    }

    /// One round of a general program; how many edges it looked at. Pushes, unless told better.
    fn step<P: VertexProgram>(&mut self, host: &mut Stepping<'_, P>) -> u64 {
        let edges = host.frontier_edges();
        host.push(edges);
        edges
    }
}
