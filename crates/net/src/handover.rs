//! Memory that hosts of one process hand over where it lies: a message then carries a ticket instead of a copy.

use std::any::Any;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::host::HostId;

/// What is handed over. Only the receiver knows what it is.
pub type Item = Arc<dyn Any + Send + Sync>;

/// Where hosts of one process leave things for each other.
#[derive(Default)]
pub struct Handover {
    /// The memory in which each host's values live, as the host has announced it; 0 for none.
    memories: Box<[AtomicU64]>,
    next_ticket: AtomicU64,
    items: Mutex<HashMap<u64, Item>>,
}

impl Handover {
    /// For that many hosts.
    pub(crate) fn new(hosts: usize) -> Self {
        Handover {
            memories: (0..hosts).map(|_| AtomicU64::new(0)).collect(),
            ..Handover::default()
        }
    }

    /// Tells the other hosts in which memory this host's values live. Equal numbers mean that each host can
    /// read what the other has there.
    pub fn announce(&self, host: HostId, memory: NonZeroU64) {
        self.memories[host.index()].store(memory.get(), Ordering::Release);
    }

    /// Whether a host has announced this memory.
    pub fn is_in(&self, host: HostId, memory: NonZeroU64) -> bool {
        self.memories[host.index()].load(Ordering::Acquire) == memory.get()
    }

    /// Keeps an item until it is asked for. Returns the ticket for it.
    pub fn leave(&self, item: Item) -> u64 {
        let ticket = self.next_ticket.fetch_add(1, Ordering::Relaxed);
        self.items.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket, item);
        ticket
    }

    /// The item of a ticket, once.
    pub fn collect(&self, ticket: u64) -> Option<Item> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).remove(&ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_collected_once() {
        let handover = Handover::new(2);
        let [first, second] = [1_u8, 2].map(|number| handover.leave(Arc::new(number)));
        let collect = |ticket| handover.collect(ticket).map(|item| *item.downcast::<u8>().unwrap());
        assert_eq!([second, first, first].map(collect), [Some(2), Some(1), None]);
    }

    #[test]
    fn hosts_share_what_both_announce() {
        let (handover, memory) = (Handover::new(2), NonZeroU64::new(7).unwrap());
        assert!(!handover.is_in(HostId(1), memory));
        handover.announce(HostId(1), memory);
        assert!(handover.is_in(HostId(1), memory) && !handover.is_in(HostId(0), memory));
        assert!(!handover.is_in(HostId(1), NonZeroU64::MIN));
    }
}
