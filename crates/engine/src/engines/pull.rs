//! Every vertex collects along its in-edges, in every round.
//!
//! For programs in which every vertex has something to tell in every round, that is all the work
//! there is, without a single atomic update, and sums have one order. What bounds it is how fast
//! messages can be fetched: for many rounds it is worth sorting edges by them.

use crate::program::{Relaxation, VertexProgram};
use crate::relaxing::Relaxing;
use crate::stepping::Stepping;
use crate::strategy::Strategy;
use crate::waiting::WORTH_TALKING;

#[derive(Default)]
pub(super) struct Pull;

impl Strategy for Pull {
    const PULLS: bool = true;
    const FEW_LABELS: usize = WORTH_TALKING;

    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64 {
        host.pull()
    }

    fn step<P: VertexProgram>(&mut self, host: &mut Stepping<'_, P>) -> u64 {
        host.pull();
        host.num_edges()
    }
}
