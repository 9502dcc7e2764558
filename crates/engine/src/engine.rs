//! What the loop asks of an engine.

use parton_partition::End;
use parton_sync::Field;

/// One host's part of a program: its vertices' data, and a way through its edges.
pub trait Engine {
    /// Works through what is active; how many edges that took.
    fn compute(&mut self) -> u64;

    /// The contributions, and at which end of edges they were written.
    fn accumulators(&mut self) -> (&mut dyn Field, End);

    /// Takes in, at masters, what has come. What is summed up over all hosts goes into the tally.
    fn apply(&mut self) -> Tally;

    /// The messages, and at which end of edges they will be read.
    fn messages(&mut self) -> (&mut dyn Field, End);

    /// Gathers what is to be computed next; whether that is anything.
    fn is_active(&mut self) -> bool;

    /// Learns what all hosts summed up; whether the program has ended.
    fn conclude(&mut self, total: &Tally) -> bool {
        total.active == 0
    }
}

/// What hosts sum up in every round.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Tally {
    /// Hosts that have something to compute.
    pub active: u64,
    /// Masters that changed, as far as another host may have to know.
    pub changed: u64,
    /// Edges worked through.
    pub edges: u64,
    /// Sums of the program's own.
    pub sums: [f64; 2],
}

impl Tally {
    /// Both together. Always called in the same order, as sums of doubles are rounded.
    pub fn plus(mut self, other: Tally) -> Tally {
        self.active += other.active;
        self.changed += other.changed;
        self.edges += other.edges;
        self.sums.iter_mut().zip(other.sums).for_each(|(mine, theirs)| *mine += theirs);
        self
    }
}
