//! The data of a vertex program before the first round, also for engines that visit edges their own way.

use parton_graph::{LocalId, parallel};
use parton_partition::Partition;
use parton_sync::{CpuField, Delivery, Reduction, Result};

use super::edge_access::EdgeAccess;
use super::{Direction, VertexEngine};
use crate::program::{Properties, Round, Vertex, VertexProgram};
use crate::techniques::VERTICES_PER_TASK;

impl<'a, P: VertexProgram> VertexEngine<'a, P> {
    /// States, messages and accumulators of a program whose edges another engine visits; a program that is not
    /// stationary has its edges by the end where messages start.
    pub(in crate::engines) fn without_collector(
        program: P,
        partition: &'a Partition,
    ) -> Result<Self> {
        let properties = program.properties();
        let edges = |properties: Properties| match properties.stationary {
            true => Ok(EdgeAccess { forward: None, collector: None, num_edges: 0 }),
            false => EdgeAccess::new(partition, properties, false, false),
        };
        let (states, messages) = first_messages(&program, partition);
        let opposite = properties
            .turns
            .then(|| edges(Properties { edges: properties.edges.reversed(), ..properties }))
            .transpose()?;
        let mut engine = VertexEngine {
            round: Round::default(),
            partition,
            direction: Direction::Push,
            states,
            messages,
            accumulators: CpuField::accumulator(partition.num_proxies()),
            edges: edges(properties)?,
            opposite,
            frontier: Vec::new(),
            fused: None,
            forgets: false,
            program,
        };
        engine.turn()?;
        Ok(engine)
    }

    /// Takes over rounds from another engine: what is active is the frontier. Before the first round nothing
    /// has been broadcast, and `begin` finds what is active.
    pub(in crate::engines) fn take_active(&mut self) {
        if self.messages.updated().is_empty() {
            self.frontier = self.messages.drain_active();
        }
    }
}

/// The states of masters before the first round, and what they send in it.
pub(super) fn first_messages<P: VertexProgram>(
    program: &P,
    partition: &Partition,
) -> (Vec<P::State>, CpuField<P::Messages>) {
    // A message of a stationary program stands until the vertex sends another. Elsewhere a message is an
    // event, also if it is equal to the one before.
    let delivery = match program.properties().stationary {
        true => Delivery::Label,
        false => Delivery::Event,
    };
    let globals = partition.globals();
    let vertex = |place| Vertex::new(globals, LocalId(place as u32));
    let states = parallel::generate(partition.num_masters(), |place| program.init(vertex(place)));
    let messages = CpuField::new(partition.num_proxies(), delivery, |_| P::Messages::identity());
    parallel::for_each(&parallel::pieces(0..states.len(), VERTICES_PER_TASK), |piece| {
        for place in piece.clone() {
            if let Some(message) = program.scatter(vertex(place), &states[place]) {
                messages.put(LocalId(place as u32), message);
                messages.touch(LocalId(place as u32));
            }
        }
    });
    (states, messages)
}
