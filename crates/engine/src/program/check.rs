//! Holds a vertex program to what it declares, on sample values: for tests of programs.
//!
//! Engines leave work out by what programs declare ([`filtering`](super::filtering)). A property that does not hold
//! gives wrong answers on some graphs and some numbers of hosts only, so a test of every program that declares one
//! should call [`check_properties`].

use std::fmt::Debug;

use parton_graph::LocalId;
use parton_sync::{Reduction, Tally};

use super::filtering::Filter;
use super::{Accumulated, Vertex, VertexProgram};

/// What a program is tried on.
pub struct Samples<'s, P: VertexProgram> {
    /// Number of vertices. Their proxies and global ids count from 0.
    pub vertices: u32,
    /// States that a vertex may have.
    pub states: &'s [P::State],
    /// What may arrive at a vertex in one round.
    pub arrived: &'s [Accumulated<P>],
    /// Whether two contributions differ by rounding only.
    pub is_close: fn(Accumulated<P>, Accumulated<P>) -> bool,
}

/// Checks the properties that a program declares. `make` makes the program as it is before the first round.
/// `Err` says what does not hold.
pub fn check_properties<P>(make: impl Fn() -> P, samples: &Samples<'_, P>) -> Result<(), String>
where
    P: VertexProgram<State: PartialEq + Debug>,
{
    let globals: Vec<u32> = (0..samples.vertices).collect();
    let check = Check { make, samples, globals };
    let properties = (check.make)().properties();
    if P::STATIONARY.is_some_and(|known| known != properties.stationary) {
        return Err("STATIONARY is not what `properties` say".into());
    }
    if properties.stationary {
        check.is_stationary()?;
    }
    if properties.last_message_wins {
        check.last_message_wins()?;
    }
    if properties.is_local {
        check.is_local()?;
    }
    if Filter::of(&(check.make)()).any() {
        check.applies_late()?;
    }
    match (check.make)().shared_source().is_some() {
        true => check.shares_source(),
        false => Ok(()),
    }
}

struct Check<'s, 'p, P: VertexProgram, M> {
    make: M,
    samples: &'s Samples<'p, P>,
    globals: Vec<u32>,
}

impl<P: VertexProgram<State: PartialEq + Debug>, M: Fn() -> P> Check<'_, '_, P, M> {
    fn vertices(&self) -> impl Iterator<Item = Vertex<'_>> {
        (0..self.samples.vertices).map(|local| Vertex::new(&self.globals, LocalId(local)))
    }

    /// Every vertex in every state with everything that may arrive.
    fn cases(&self) -> impl Iterator<Item = (Vertex<'_>, P::State, Accumulated<P>)> {
        self.vertices().flat_map(move |vertex| {
            let states = self.samples.states.iter();
            let arrived = move |&state| {
                self.samples.arrived.iter().map(move |&arrived| (vertex, state, arrived))
            };
            states.flat_map(arrived)
        })
    }

    fn applied(&self, program: &P, case: (Vertex<'_>, P::State, Accumulated<P>)) -> P::State {
        let (vertex, mut state, arrived) = case;
        program.apply(vertex, &mut state, arrived, &mut Tally::default());
        state
    }

    fn is_stationary(&self) -> Result<(), String> {
        let program = (self.make)();
        for vertex in self.vertices() {
            for state in self.samples.states {
                if program.scatter(vertex, state).is_none() {
                    let vertex = vertex.id();
                    return Err(format!("stationary: {vertex} sends nothing in state {state:?}"));
                }
            }
        }
        Ok(())
    }

    fn last_message_wins(&self) -> Result<(), String> {
        let program = (self.make)();
        for (vertex, state, arrived) in self.cases() {
            let other = self.samples.states[0];
            let found = self.applied(&program, (vertex, state, arrived));
            let expected = self.applied(&program, (vertex, other, arrived));
            if found != expected {
                return Err(format!(
                    "last_message_wins: {} gets {found:?} from state {state:?}, {expected:?} from \
                     {other:?}",
                    vertex.id()
                ));
            }
        }
        Ok(())
    }

    /// Neither sums nor the number of rounds change what a program does.
    fn is_local(&self) -> Result<(), String> {
        let after = |rounds: u64, sum: f64| {
            let mut program = (self.make)();
            let tally = Tally { active: 1, sums: [sum; 4], ..Tally::default() };
            (0..rounds).for_each(|_| _ = program.conclude(&tally));
            program
        };
        let first = (self.make)();
        for (rounds, sum) in [(1, 0.0), (1, 3.5), (3, -1e9)] {
            let later = after(rounds, sum);
            for case in self.cases() {
                let (vertex, state, _) = case;
                let sends = [&first, &later].map(|program| program.scatter(vertex, &state));
                let becomes = [&first, &later].map(|program| self.applied(program, case));
                if sends[0] != sends[1] || becomes[0] != becomes[1] {
                    let vertex = vertex.id();
                    return Err(format!(
                        "is_local: {vertex} does otherwise after {rounds} rounds with sums {sum}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A vertex that was left out gets the state that the round would have given it.
    fn applies_late(&self) -> Result<(), String> {
        let mut program = (self.make)();
        for round in 0..3 {
            let in_time: Vec<_> = self.cases().map(|case| self.applied(&program, case)).collect();
            program.conclude(&Tally { active: 1, sums: [0.25; 4], ..Tally::default() });
            for ((vertex, mut state, arrived), expected) in self.cases().zip(in_time) {
                program.apply_late(vertex, &mut state, arrived);
                if state != expected {
                    let vertex = vertex.id();
                    return Err(format!(
                        "apply_late: {vertex} gets {state:?} after round {round}, not {expected:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Vertices without in-edges share a state, and what they send scales with its factor.
    fn shares_source(&self) -> Result<(), String> {
        let mut program = (self.make)();
        let mut states: Vec<_> = self.vertices().map(|vertex| program.init(vertex)).collect();
        for round in 0..3 {
            let Some(shared) = program.shared_source() else {
                return Err(format!("shared_source: there is none in round {round}"));
            };
            for (vertex, state) in self.vertices().zip(&mut states) {
                let sent = |state| {
                    let message = program.scatter(vertex, state);
                    message.map(|message| program.along(message, P::Weight::default()))
                };
                let (Some(found), Some(unit)) = (sent(state), sent(&shared.unit)) else {
                    return Err(format!("shared_source: {} sends nothing", vertex.id()));
                };
                if !(self.samples.is_close)(found, program.scale(unit, shared.factor)) {
                    let vertex = vertex.id();
                    return Err(format!(
                        "shared_source: {vertex} in state {state:?} does not send {} times what \
                         it sends in the unit state",
                        shared.factor
                    ));
                }
                *state = self.applied(&program, (vertex, *state, P::Reduction::identity()));
            }
            let arrived = self
                .samples
                .arrived
                .iter()
                .flat_map(|a| self.samples.arrived.iter().map(move |b| (*a, *b)));
            for (a, b) in arrived {
                let scaled = |value| program.scale(value, shared.factor);
                let both = P::Reduction::combine(scaled(a), scaled(b));
                if !(self.samples.is_close)(scaled(P::Reduction::combine(a, b)), both) {
                    return Err("scale: the whole is not the sum of its parts".into());
                }
            }
            program.conclude(&Tally { active: 1, sums: [0.25; 4], ..Tally::default() });
        }
        Ok(())
    }
}
