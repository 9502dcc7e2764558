//! What counts on a host: its threads, or its device.

use parton_engine::device::intersections::ListBatch;
use parton_engine::device::{Device, Intersections};
use parton_sync::Result;

use super::count::Counter;
use super::lists::{Batch, Lists};

/// Counts by position in the degree order.
pub(super) enum Counting<'a> {
    Threads(Counter),
    Device(Box<dyn Intersections + 'a>),
}

impl<'a> Counting<'a> {
    /// Counts for `len` positions of one of `num_hosts` hosts.
    pub(super) fn new(
        device: Option<&'a dyn Device>,
        lists: &Lists,
        (len, num_hosts): (usize, usize),
    ) -> Result<Self> {
        Ok(match device {
            Some(device) => Counting::Device(device.intersections(lists.sorted(), num_hosts)?),
            None => Counting::Threads(Counter::new(len)),
        })
    }

    /// Intersects with the lists of a batch, and with those of this host if they are `new`. Returns
    /// the number of entries visited.
    pub(super) fn run(&mut self, lists: &Lists, batch: Option<&Batch>, new: bool) -> Result<u64> {
        match self {
            Counting::Threads(counter) => Ok(match lists.is_weighted() {
                true => counter.run::<true>(lists, batch, new),
                false => counter.run::<false>(lists, batch, new),
            }),
            Counting::Device(device) => device.count(batch.map(Batch::parts), new),
        }
    }

    /// Takes the counts.
    pub(super) fn take(&mut self) -> Result<Vec<u64>> {
        match self {
            Counting::Threads(counter) => Ok(counter.take()),
            Counting::Device(device) => device.totals(),
        }
    }
}

impl Batch {
    /// The batch as a device sees it.
    fn parts(&self) -> ListBatch<'_> {
        ListBatch { which: self.which(), lists: self.lists().sorted() }
    }
}
