//! The data of a vertex program for an engine that goes through edges its own way.

use parton_partition::Partition;
use parton_sync::CpuField;

use super::edge_access::EdgeAccess;
use super::{Direction, VertexEngine, first_messages};
use crate::program::{Properties, Round, VertexProgram};

impl<'a, P: VertexProgram> VertexEngine<'a, P> {
    /// States, messages and accumulators of a program whose edges another engine visits; a program that is not
    /// stationary has its edges by the end where messages start.
    pub(in crate::engines) fn without_collector(program: P, partition: &'a Partition) -> Self {
        let properties = program.properties();
        let edges = |properties: Properties| match properties.stationary {
            true => EdgeAccess { forward: None, collector: None, num_edges: 0 },
            false => EdgeAccess::new(partition, properties, false, false),
        };
        let (states, messages) = first_messages(&program, partition);
        let opposite = properties
            .turns
            .then(|| edges(Properties { edges: properties.edges.reversed(), ..properties }));
        let mut engine = VertexEngine {
            round: Round::default(),
            partition,
            direction: Direction::Push,
            states,
            messages,
            accumulators: CpuField::accumulator(partition.num_proxies()),
            edges: edges(properties),
            opposite,
            frontier: Vec::new(),
            fused: None,
            forgets: false,
            program,
        };
        engine.turn();
        engine
    }

    /// Takes over rounds from another engine: what is active is the frontier. Before the first round nothing
    /// has been broadcast, and `begin` finds what is active.
    pub(in crate::engines) fn take_active(&mut self) {
        if self.messages.updated().is_empty() {
            self.frontier = self.messages.drain_active();
        }
    }
}
