//! Brandes's algorithm as one vertex program of many phases, for runs in which some host computes on a device.
//!
//! Searches follow one after the other, each with a *forward sweep* along edges and a *backward sweep* against
//! them, over the same states. A vertex of the forward sweep sends its number of shortest paths when it is
//! reached. In the backward sweep all vertices of one level send `(1 + dependency) / paths` in a round: every
//! vertex looks whether it is its turn, since one without successors has heard nothing.

use parton_engine::{DeviceType, Properties, Round, Tally, Vertex, VertexProgram, device};
use parton_graph::GlobalId;
use parton_sync::reduction::{Latest, Sum};

/// The level of a vertex that a search has not reached.
const UNREACHED: u64 = u64::MAX;

/// What all vertices do in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    /// They forget the search before; the source begins another.
    Start,
    Forward,
    Backward,
}

/// Searches from some vertices.
pub(super) struct Dependencies<'a> {
    sources: &'a [GlobalId],
    /// How many searches are over.
    num_searched: usize,
    sweep: Sweep,
    source: GlobalId,
    is_start: bool,
    is_backward: bool,
    /// The level that is reached, or that sends, in this round.
    level: u64,
    /// The first source whose paths were too many to count, if any.
    overflows: bool,
}

/// A vertex during a search.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub(super) struct Searched {
    /// Dependencies of all searches so far.
    pub(super) score: f64,
    /// Number of shortest paths from the source.
    paths: f64,
    /// What it sends in the backward sweep.
    share: f64,
    level: u64,
}

impl<'a> Dependencies<'a> {
    pub(super) fn new(sources: &'a [GlobalId]) -> Self {
        let mut program = Dependencies {
            sources,
            num_searched: 0,
            sweep: Sweep::Forward,
            source: GlobalId(u64::MAX),
            is_start: false,
            is_backward: false,
            level: 1,
            overflows: false,
        };
        if let Some(first) = sources.first() {
            program.source = *first;
        }
        program
    }

    /// Whether there are more shortest paths to some vertex than a double can count.
    pub(super) fn overflows(&self) -> bool {
        self.overflows
    }

    /// Begins a sweep at a level.
    fn begin(&mut self, sweep: Sweep, level: u64) {
        (self.is_start, self.is_backward) = (sweep == Sweep::Start, sweep == Sweep::Backward);
        (self.sweep, self.level) = (sweep, level);
    }

    /// Goes on with the next source. Returns whether there is none.
    fn begin_search(&mut self) -> bool {
        self.num_searched += 1;
        match self.sources.get(self.num_searched) {
            Some(source) => self.source = *source,
            None => return true,
        }
        self.begin(Sweep::Start, 0);
        false
    }
}

#[device]
impl VertexProgram for Dependencies<'_> {
    type State = Searched;
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> Searched {
        match vertex.id() == self.source {
            true => Searched { score: 0.0, paths: 1.0, share: 0.0, level: 0 },
            false => Searched { score: 0.0, paths: 0.0, share: 0.0, level: UNREACHED },
        }
    }

    fn scatter(&self, _: Vertex<'_>, state: &Searched) -> Option<f64> {
        if self.is_backward {
            Some(state.share)
        } else {
            (state.level != UNREACHED).then_some(state.paths)
        }
    }

    #[inline]
    fn along(&self, value: f64, (): ()) -> f64 {
        value
    }

    fn apply(&self, vertex: Vertex<'_>, state: &mut Searched, sum: f64, tally: &mut Tally) -> bool {
        if self.is_start {
            let is_source = vertex.id() == self.source;
            state.paths = if is_source { 1.0 } else { 0.0 };
            state.level = if is_source { 0 } else { UNREACHED };
            return is_source;
        }
        if self.is_backward {
            if state.level != self.level {
                return false;
            }
            let dependency = state.paths * sum;
            state.score += dependency;
            state.share = (1.0 + dependency) / state.paths;
            // The dependency of the source itself is not part of its score.
            return self.level > 1;
        }
        if state.level != UNREACHED {
            return false;
        }
        state.level = self.level;
        state.paths = sum;
        if sum.is_infinite() {
            tally.counts[0] += 1;
        }
        true
    }

    fn properties(&self) -> Properties {
        Properties { turns: true, ..Properties::default() }
    }

    fn round(&self) -> Round {
        Round { applies_everywhere: self.sweep != Sweep::Forward, is_reversed: self.is_backward }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.overflows |= total.counts[0] > 0;
        if self.overflows {
            return true;
        }
        match self.sweep {
            Sweep::Start => self.begin(Sweep::Forward, 1),
            Sweep::Forward if total.active > 0 => self.level += 1,
            Sweep::Forward => {
                // Vertices that this round reached send nothing.
                let depth = self.level - u64::from(total.changed == 0);
                if depth <= 1 {
                    // No vertex is between others.
                    return self.begin_search();
                }
                self.begin(Sweep::Backward, depth);
            }
            Sweep::Backward if self.level > 1 => self.level -= 1,
            Sweep::Backward => return self.begin_search(),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation::checks::{self, State};
    use crate::translation::harness::Random;

    impl State for Searched {
        fn random(random: &mut Random) -> Self {
            let levels = [0, 1, 2, 7, UNREACHED];
            let level = levels[random.next() as usize % levels.len()];
            Searched { score: random.value(), paths: random.value(), share: random.value(), level }
        }

        fn state_slots(&self) -> Vec<u64> {
            let Searched { score, paths, share, level } = *self;
            vec![score.to_bits(), paths.to_bits(), share.to_bits(), level]
        }

        fn known(slots: &[u64]) -> Vec<u64> {
            let (floats, rest) = slots.split_at(3);
            [f64::known(floats), rest.to_vec()].concat()
        }
    }

    #[test]
    fn translation() {
        let sources = [GlobalId(7), GlobalId(5)];
        for (sweep, level) in [(Sweep::Forward, 2), (Sweep::Backward, 7), (Sweep::Start, 0)] {
            let mut program = Dependencies::new(&sources);
            program.begin(sweep, level);
            checks::vertex_program(&program, &[9, 8, 7, 6, 5]);
        }
    }
}
