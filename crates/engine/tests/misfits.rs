//! Programs that do what their properties rule out end in an error, not in a panic or a wrong answer.

use parton_engine::{Edges, Limits, Pacing, Properties, Round, Vertex, VertexProgram, run};
use parton_graph::{Csr, Graph};
use parton_net::LaunchError;
use parton_sync::reduction::{Latest, Sum};
use parton_sync::{Error, Optimize, Substrate, Tally};

use crate::common::engines;
use crate::common::hosts::{local, partition};

/// Messages turn round after some rounds, although the properties do not say so.
struct Turning {
    rounds_left: u64,
    stationary: bool,
}

impl VertexProgram for Turning {
    type State = u64;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Sum<u64>;
    type Weight = ();

    fn init(&self, _: Vertex<'_>) -> u64 {
        1
    }

    fn scatter(&self, _: Vertex<'_>, state: &u64) -> Option<u64> {
        Some(*state)
    }

    fn along(&self, message: u64, (): ()) -> u64 {
        message
    }

    fn apply(&self, _: Vertex<'_>, state: &mut u64, sum: u64, _: &mut Tally) -> bool {
        *state = sum;
        true
    }

    fn properties(&self) -> Properties {
        let (stationary, edges) = (self.stationary, Edges::Out);
        Properties { stationary, edges, ..Properties::default() }
    }

    fn conclude(&mut self, _: &Tally) -> bool {
        self.rounds_left = self.rounds_left.saturating_sub(1);
        false
    }

    fn round(&self) -> Round {
        Round { is_reversed: self.rounds_left == 0, ..Round::default() }
    }
}

#[test]
fn a_program_that_turns_and_does_not_say_so_is_an_error() {
    let graph =
        Graph::dense(Csr::from_edges(4, &[(0, 1, ()), (1, 2, ()), (2, 3, ()), (3, 0, ())]), "");
    for hosts in [1, 2] {
        let parts = partition(&graph, "oec", hosts);
        for (engine, stationary) in engines().flat_map(|engine| [(engine, false), (engine, true)]) {
            for rounds_left in [0, 2] {
                let launched = local(hosts).launch(|net| -> Result<_, Error> {
                    let part = &parts[net.host().index()];
                    let program = Turning { rounds_left, stationary };
                    let mut engine =
                        parton_engine::engines::vertex_program(engine, None, program, part)?;
                    let substrate = &mut Substrate::new(part, net, Optimize::ALL);
                    run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())
                });
                let Err(LaunchError::Failed { error: Error::Program { why, .. }, .. }) = launched
                else {
                    panic!("{}, {hosts} hosts, {rounds_left} rounds", engine.name)
                };
                assert!(why.contains("Properties::turns"), "{why}");
            }
        }
    }
}
