//! Labels of neighbours, counted on a device: the local work of label propagation.

use parton_sync::{Field, Result};

/// How many neighbours of a proxy have a label.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(C)]
pub struct Vote {
    /// The proxy.
    pub proxy: u32,
    /// The label.
    pub label: u32,
    /// How many of its neighbours on this host have it, at least 1.
    pub count: u32,
}

/// The votes of one round.
#[derive(Clone, Debug, Default)]
pub struct Votes {
    /// Of proxies whose masters have neighbours on several hosts, by proxy and label.
    pub shared: Vec<Vote>,
    /// Edges that were counted.
    pub edges: u64,
}

/// A device that has the labels of a host's proxies, at first the ids of their vertices.
pub trait Ballots {
    /// The labels of all proxies.
    fn labels(&mut self) -> &mut dyn Field;

    /// Counts the labels of neighbours, of all proxies if `everywhere`, else of those with a neighbour whose
    /// label changed in the round before. Chooses a label for masters with all their neighbours here: the
    /// most frequent, the least of those that are equally frequent.
    fn count(&mut self, everywhere: bool) -> Result<Votes>;

    /// Gives masters their labels: those that [`count`](Self::count) chose, and these pairs of a master and a
    /// label. Returns the number of masters whose label changed.
    fn decide(&mut self, chosen: &[[u32; 2]]) -> Result<u64>;

    /// Ends the round, after mirrors have learnt new labels. Returns whether any label changed here.
    fn close_round(&mut self) -> Result<bool>;

    /// The labels of masters.
    fn read_labels(&self) -> Result<Vec<u32>>;
}
