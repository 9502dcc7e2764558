//! Pull: every vertex collects along its in-edges in every round.
//!
//! For a stationary program, in which every vertex has a message in every round, that is all the work there
//! is, without atomic writes, and sums have one order. What bounds it is how fast messages can be loaded:
//! many rounds pay for sorting edges by them (row blocks). A host that is alone leaves sources and sinks out of
//! rounds, as tiles can, where they have many of its edges.

use parton_partition::Partition;
use parton_sync::Result;

use super::frontier::LevelSynchronous;
use super::spmv::{Product, leaves_out_much};
use super::vertex::{Direction, VertexEngine};
use crate::program::{Relaxation, VertexProgram};
use crate::registry::{BuildEngine, EngineInfo, ProgramEngine, RelaxationEngine};

/// Builds the engine.
pub(super) struct Pull;

impl BuildEngine for Pull {
    const INFO: EngineInfo = EngineInfo {
        name: "pull",
        about: "every vertex collects along its in-edges in every round",
    };

    fn relaxation<'a, P: Relaxation>(
        program: &'a P,
        partition: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        Ok(Box::new(LevelSynchronous::pulling(program, partition, true)))
    }

    fn vertex_program<'a, P: VertexProgram + 'a>(
        program: P,
        partition: &'a Partition,
    ) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
        match leaves_out_much(&program, partition) {
            true => Ok(Box::new(Product::new(program, partition)?)),
            false => Ok(Box::new(VertexEngine::new(program, partition, Direction::Pull)?)),
        }
    }
}
