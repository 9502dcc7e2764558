//! Level by level: one step of the frontier per round, in the direction that looks at fewer edges.
//!
//! A small frontier pushes along its out-edges. A large one is asked: every vertex looks through
//! its in-edges for neighbours in the frontier, which needs no atomic updates, adds in a fixed
//! order, and may stop at the first answer.

use crate::program::{Relaxation, VertexProgram};
use crate::relaxing::{DENSE, Relaxing};
use crate::stepping::Stepping;
use crate::strategy::Strategy;
use crate::waiting::WORTH_TALKING;

#[derive(Default)]
pub(super) struct Frontier;

impl Strategy for Frontier {
    const PULLS: bool = true;
    const AGREES: bool = true;
    const FEW_LABELS: usize = WORTH_TALKING;

    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64 {
        let edges = host.frontier_edges();
        if host.pull_is_less() {
            return host.pull();
        }
        host.push();
        edges
    }

    fn step<P: VertexProgram>(&mut self, host: &mut Stepping<'_, P>) -> u64 {
        let edges = host.frontier_edges();
        if edges > host.num_edges() / DENSE {
            host.pull();
            return host.num_edges();
        }
        host.push(edges);
        edges
    }
}
