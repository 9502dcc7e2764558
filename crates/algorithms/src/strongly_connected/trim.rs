//! Trimming: a vertex without in-edges or without out-edges is a component of its own, and its removal
//! may leave others without edges.
//!
//! Every master stores how many in- and out-edges it has left, without self-loops. A removed vertex takes
//! one off at the other end of each of its edges.

use parton_engine::{EdgeRows, EdgeView};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::{Result, Substrate};

use crate::removal::{Removal, Rule};

/// One in-edge, in a number that counts in-edges in its lower and out-edges in its upper half.
const IN_EDGE: u64 = 1;
/// One out-edge.
const OUT_EDGE: u64 = 1 << 32;

/// A vertex goes that has no in-edges or no out-edges left.
pub(super) struct Trimming<'a> {
    out_edges: EdgeView<'a, ()>,
    in_edges: EdgeView<'a, ()>,
}

/// The vertices that are left, and their numbers of edges among each other.
pub(super) type RemainingGraph<'a> = Removal<Trimming<'a>>;

impl<'a> Trimming<'a> {
    fn new(partition: &'a Partition) -> Self {
        Trimming {
            out_edges: EdgeView::new(partition.out_edges()),
            in_edges: EdgeView::new(partition.in_edges()),
        }
    }

    /// Counts in-edges and out-edges in one number; `count` yields a vertex's number in one direction.
    fn in_and_out(&self, count: impl Fn(EdgeRows<'_, ()>) -> u64) -> u64 {
        count(self.in_edges.rows()) * IN_EDGE + count(self.out_edges.rows()) * OUT_EDGE
    }
}

/// In-edges and out-edges in such a number.
fn split(left: u64) -> (u64, u64) {
    (left % OUT_EDGE, left / OUT_EDGE)
}

impl Rule for Trimming<'_> {
    const LOSING_END: End = End::Either;
    const REMOVED_END: End = End::Either;

    fn degree(&self, removed: LocalId) -> u64 {
        self.out_edges.rows().degree(removed) + self.in_edges.rows().degree(removed)
    }

    fn take_edges(&self, removed: LocalId, mut lose: impl FnMut(LocalId, u64)) {
        let (out, into) = (self.out_edges.rows(), self.in_edges.rows());
        out.targets(removed).iter().for_each(|&target| lose(target, IN_EDGE));
        into.targets(removed).iter().for_each(|&source| lose(source, OUT_EDGE));
    }

    fn goes(&self, _: LocalId, left: u64) -> bool {
        let (into, out) = split(left);
        into == 0 || out == 0
    }
}

impl<'a> RemainingGraph<'a> {
    /// All vertices. Every host must call this.
    pub(super) fn of_all(substrate: &mut Substrate<'a>) -> Result<Self> {
        let partition = substrate.partition();
        let mut remaining = Removal::new(partition, Trimming::new(partition));
        let counts_loops = !partition.is_simple();
        remaining.count(substrate, |edges, _, proxy| {
            edges.in_and_out(|rows| {
                let targets = if counts_loops { rows.targets(proxy) } else { &[] };
                let loops = targets.iter().filter(|&&target| target == proxy).count() as u64;
                rows.degree(proxy) - loops
            })
        })?;
        Ok(remaining)
    }

    /// Counts the edges between vertices that are left, after others were removed. Every host must call
    /// this.
    pub(super) fn recount(&mut self, substrate: &mut Substrate<'a>) -> Result<()> {
        self.announce(substrate)?;
        self.count(substrate, |edges, gone, proxy| {
            if gone.get(proxy) == 1 {
                return 0;
            }
            let stays = |&&end: &&LocalId| end != proxy && gone.get(end) == 0;
            edges.in_and_out(|rows| rows.targets(proxy).iter().filter(stays).count() as u64)
        })
    }

    /// In-edges and out-edges that a master has left.
    pub(super) fn edges_left(&self, master: LocalId) -> (u64, u64) {
        split(self.left(master))
    }
}
