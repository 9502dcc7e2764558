//! Data-driven push: active vertices spread what they have along their edges, and improvements are used at
//! once.
//!
//! A relaxation goes on inside a host until nothing changes there, as if the host were alone, and only
//! then exchanges labels. So the number of rounds is the number of times a label crosses hosts. Hosts
//! that do not wait for each other exchange after little work.

use parton_partition::Partition;
use parton_sync::{Phase, Result, Substrate, Tally};

use super::traversal::{LargeFrontier, Traversal};
use super::vertex::{Direction, VertexEngine};
use crate::engine::{Engine, Next, Paced};
use crate::program::{Relaxation, VertexProgram};
use crate::registry::{BuildEngine, EngineInfo, ProgramEngine, RelaxationEngine};
use crate::techniques::throttle::Throttled;

/// Builds the engine.
pub(super) struct Push;

impl BuildEngine for Push {
    const INFO: EngineInfo =
        EngineInfo { name: "push", about: "a worklist inside each host, few rounds between hosts" };

    fn relaxation<'a, P: Relaxation>(
        program: &'a P,
        partition: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        Ok(Box::new(PushEngine(Traversal::new(program, partition))))
    }

    fn vertex_program<'a, P: VertexProgram + 'a>(
        program: P,
        partition: &'a Partition,
    ) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
        Ok(Box::new(VertexEngine::new(program, partition, Direction::Push)?))
    }
}

/// A relaxation on one host.
struct PushEngine<'a, P: Relaxation>(Traversal<'a, P>);

impl<P: Relaxation> Engine for PushEngine<'_, P> {
    fn compute(&mut self) -> Result<u64> {
        let mut edges = 0;
        while !self.0.frontier.is_empty() {
            edges += self.0.push();
            if self.0.round.is_over(edges) {
                // `next` finds what became active, after the exchange.
                break;
            }
            self.0.advance(1, LargeFrontier::Listed);
        }
        self.0.round.close_round();
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        self.0.exchange(phase, substrate)
    }

    fn apply(&mut self) -> Result<Tally> {
        Ok(self.0.tally())
    }

    fn next(&mut self) -> Result<Next> {
        self.0.advance(1, LargeFrontier::Listed);
        Ok(Next::new(!self.0.frontier.is_empty()))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl<P: Relaxation> Paced for PushEngine<'_, P> {
    fn shorten_first_rounds(&mut self) {
        self.0.round.shorten();
    }

    fn leave_rounds(&mut self, is_governed: bool) {
        self.0.leave_rounds(is_governed);
    }

    fn throttled(&self) -> Throttled {
        self.0.throttled()
    }
}

impl<P: Relaxation> RelaxationEngine<P> for PushEngine<'_, P> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        Ok(self.0.labels.of_masters())
    }
}
