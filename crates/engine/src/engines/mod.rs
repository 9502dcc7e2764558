//! One engine per file; the registry below is the list of all.

pub mod blocks;
mod delta;
mod frontier;
mod pull;
mod push;
mod spmv;
mod traversal;
mod union;
mod vertex;

use parton_partition::Partition;
use parton_sync::Result;

use crate::device::{Device, device_program, device_relaxation};
use crate::program::{Relaxation, VertexProgram};
use crate::registry::{BuildEngine, EngineInfo, ProgramEngine, RelaxationEngine, engines};
use crate::state::edges::check_weights;

engines! {
    PUSH: push::Push,
    FRONTIER: frontier::Frontier,
    PULL: pull::Pull,
    DELTA: delta::Delta,
    UNION: union::Union,
    SPMV: spmv::Spmv,
}

/// The engine `push` for a relaxation, on the device if there is one. An algorithm that never asks for another
/// engine calls this: the other engines are then not compiled for its program.
pub fn push_relaxation<'a, P: Relaxation>(
    device: Option<&'a dyn Device>,
    program: &'a P,
    partition: &'a Partition,
) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
    check_weights::<P::Weight>(partition)?;
    match device {
        Some(device) => device_relaxation(device, PUSH, program, partition),
        None => push::Push::relaxation(program, partition),
    }
}

/// The engines that run any vertex program.
pub const GENERAL: &[&EngineInfo] = &[PUSH, FRONTIER, PULL, SPMV];
