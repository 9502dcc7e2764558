//! One engine per file; the registry below is the list of all.

pub mod blocks;
mod delta;
mod frontier;
mod pull;
mod push;
mod traversal;
mod union;
mod vertex;

use parton_partition::Partition;
use parton_sync::Result;

use crate::program::{Relaxation, VertexProgram};
use crate::registry::{BuildEngine, EngineInfo, ProgramEngine, RelaxationEngine, engines};
use crate::state::edges::check_weights;

engines! {
    PUSH: push::Push,
    FRONTIER: frontier::Frontier,
    PULL: pull::Pull,
    DELTA: delta::Delta,
    UNION: union::Union,
}

/// The engines that run any vertex program.
pub const GENERAL: &[&EngineInfo] = &[PUSH, FRONTIER, PULL];
