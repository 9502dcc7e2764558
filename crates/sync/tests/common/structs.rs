//! Small structs as messages, and how they are folded.

use parton_sync::{Reduction, Value};

/// A message of a struct of 8 bytes: one atomic.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub(crate) struct Way {
    pub(crate) length: f32,
    pub(crate) from: u32,
}

/// The shortest way; of equal ones the one from the lowest id.
pub(crate) struct Shortest;

impl Reduction for Shortest {
    type Value = Way;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = false;

    fn identity() -> Way {
        Way { length: f32::INFINITY, from: u32::MAX }
    }

    fn combine(a: Way, b: Way) -> Way {
        if (b.length, b.from) < (a.length, a.from) { b } else { a }
    }
}

/// A message of a struct of 17 bytes: three words under a lock.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
pub(crate) struct Group {
    pub(crate) size: u64,
    pub(crate) density: f64,
    pub(crate) is_open: bool,
}

/// The largest group; of equal ones the denser, then the open one.
pub(crate) struct Largest;

impl Reduction for Largest {
    type Value = Group;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = false;

    fn identity() -> Group {
        Group { size: 0, density: 0.0, is_open: false }
    }

    fn combine(a: Group, b: Group) -> Group {
        let key = |group: Group| (group.size, group.density, group.is_open);
        if key(b) > key(a) { b } else { a }
    }
}

/// Sums of pairs, each of which counts once.
pub(crate) struct PairSums;

impl Reduction for PairSums {
    type Value = (u32, f32);
    const IDEMPOTENT: bool = false;
    const ORDERED: bool = true;

    fn identity() -> (u32, f32) {
        (0, 0.0)
    }

    fn combine(a: (u32, f32), b: (u32, f32)) -> (u32, f32) {
        (a.0 + b.0, a.1 + b.1)
    }
}
