//! Peeling as a vertex program, for runs in which some host computes on a device.
//!
//! A vertex with fewer neighbours left than the *bound* is removed, and takes an edge from each neighbour. The
//! bound rises, from one level with a removal to the next, when no removal is under way: then every vertex
//! compares itself with the new bound.

use parton_engine::{DeviceType, Round, Tally, Vertex, VertexProgram, device};
use parton_sync::reduction::Sum;

/// The level of a vertex that was not removed.
pub(super) const PRESENT: u32 = u32::MAX;

/// Peels vertices.
pub(super) struct CoreRemoval<'a> {
    /// Neighbours of masters in the whole graph.
    degrees: &'a [u64],
    /// Vertices with fewer neighbours are removed.
    bound: u32,
    /// Whether all vertices compare themselves with the bound in this round.
    is_new_bound: bool,
    /// No vertex that is present has fewer neighbours left.
    least_left: f64,
}

/// A vertex while it is peeled.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub(super) struct Peeled {
    /// Neighbours left.
    left: u32,
    /// The level at which it was removed, or [`PRESENT`].
    pub(super) level: u32,
}

impl<'a> CoreRemoval<'a> {
    /// For the coreness of all vertices.
    pub(super) fn new(degrees: &'a [u64]) -> Self {
        CoreRemoval { degrees, bound: 1, is_new_bound: true, least_left: f64::INFINITY }
    }
}

#[device]
impl VertexProgram for CoreRemoval<'_> {
    type State = Peeled;
    type Message = u32;
    type Messages = Sum<u32>;
    type Reduction = Sum<u32>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> Peeled {
        let left = self.degrees[vertex.local.index()] as u32;
        let level = if left < self.bound { self.bound - 1 } else { PRESENT };
        Peeled { left, level }
    }

    fn scatter(&self, _: Vertex<'_>, state: &Peeled) -> Option<u32> {
        (state.level != PRESENT).then_some(1)
    }

    #[inline]
    fn along(&self, removed: u32, (): ()) -> u32 {
        removed
    }

    fn apply(&self, _: Vertex<'_>, state: &mut Peeled, removed: u32, tally: &mut Tally) -> bool {
        if state.level != PRESENT {
            return false;
        }
        state.left = state.left.wrapping_sub(removed);
        if state.left < self.bound {
            state.level = self.bound - 1;
            return true;
        }
        tally.least[0] = tally.least[0].min(f64::from(state.left));
        false
    }

    fn round(&self) -> Round {
        Round { applies_everywhere: self.is_new_bound, ..Round::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        // Numbers fall: the least of all that were reported since the bound rose is no more than any that
        // is left now.
        self.least_left = self.least_left.min(total.least[0]);
        self.is_new_bound = false;
        if total.active > 0 || self.least_left == f64::INFINITY {
            return total.active == 0;
        }
        self.bound = self.bound.max(self.least_left as u32) + 1;
        (self.is_new_bound, self.least_left) = (true, f64::INFINITY);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation::checks::{self, State};
    use crate::translation::harness::Random;

    impl State for Peeled {
        fn random(random: &mut Random) -> Self {
            let level = if random.next().is_multiple_of(4) { random.value() } else { PRESENT };
            Peeled { left: random.value(), level }
        }

        fn state_slots(&self) -> Vec<u64> {
            vec![u64::from(self.left) | u64::from(self.level) << 32]
        }

        fn known(slots: &[u64]) -> Vec<u64> {
            slots.to_vec()
        }
    }

    #[test]
    fn translation() {
        for bound in [1, 3] {
            let program = CoreRemoval { bound, ..CoreRemoval::new(&[0, 1, 2, 3, 1 << 31]) };
            checks::vertex_program(&program, &[9, 8, 7, 6, 5]);
        }
    }
}
