//! How hosts find out that all is done.
//!
//! Hosts that wait for each other vote after every round ([`Vote`]). Hosts that do not have no moment
//! at which all are known to have nothing to do; they find one with snapshots ([`Detector`]).

mod detector;
mod states;

pub use detector::Detector;
pub use states::{AFFIRMED, INACTIVE, INSPECTED, State, TRANSITIONS, Transition};

use crate::error::Result;
use crate::substrate::Substrate;

/// A way to find out that all is done.
pub trait Termination {
    /// Ends a round of this host: what all hosts did in it, as far as this one can know.
    ///
    /// Of [`Tally::active`] it always knows enough: it is 0 if and only if no host has anything
    /// left to do, and none ever will. A host that does not wait for others is held here, parked,
    /// while it has nothing to do.
    fn total(&mut self, mine: Tally, substrate: &mut Substrate<'_>) -> Result<Tally>;

    /// The same for a loop that only wants to know whether it is over.
    fn reached(&mut self, active: bool, substrate: &mut Substrate<'_>) -> Result<bool> {
        let mine = Tally { active: u64::from(active), ..Tally::default() };
        Ok(self.total(mine, substrate)?.active == 0)
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
    /// Edges that leave what is to be computed next, where that matters.
    pub frontier_edges: u64,
    /// How long hosts have computed, and with how many edges.
    pub effort: Effort,
    /// Sums of the program's own.
    pub sums: [f64; 2],
}

impl Tally {
    /// Both together. Always called in the same order, as sums of doubles are rounded.
    pub fn plus(mut self, other: Tally) -> Tally {
        self.active += other.active;
        self.changed += other.changed;
        self.edges += other.edges;
        self.frontier_edges += other.frontier_edges;
        self.effort = self.effort.plus(other.effort);
        self.sums.iter_mut().zip(other.sums).for_each(|(mine, theirs)| *mine += theirs);
        self
    }
}

/// How long hosts have computed so far, and with how many edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Effort {
    /// Seconds of all hosts,
    pub seconds: f64,
    /// and their edges.
    pub edges: u64,
    /// Seconds of the host that computed longest,
    pub longest: f64,
    /// and its edges.
    pub of_longest: u64,
}

impl Effort {
    /// What one host did.
    pub fn of_one(seconds: f64, edges: u64) -> Effort {
        Effort { seconds, edges, longest: seconds, of_longest: edges }
    }

    /// Both together. Always called in the same order, as sums of doubles are rounded.
    pub fn plus(mut self, other: Effort) -> Effort {
        if other.longest > self.longest {
            (self.longest, self.of_longest) = (other.longest, other.of_longest);
        }
        self.seconds += other.seconds;
        self.edges += other.edges;
        self
    }
}

/// All hosts sum up after every round, and wait for each other to do so.
#[derive(Debug, Default)]
pub struct Vote;

impl Termination for Vote {
    fn total(&mut self, mine: Tally, substrate: &mut Substrate<'_>) -> Result<Tally> {
        let start = substrate.net().now();
        let total = substrate.net().all_reduce(mine, Tally::plus)?;
        substrate.rested_since(start);
        Ok(total)
    }
}
