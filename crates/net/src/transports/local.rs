//! Hosts as thread groups of one process: each has a queue of news, and a message moves into it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{News, Venue};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::handover::Handover;
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag, Transport};

/// The queues of all hosts.
pub(crate) struct Hub {
    wires: Arc<[Wire]>,
    /// The reading ends, until their hosts join.
    ends: Vec<Mutex<Option<Receiver<News>>>>,
    handover: Arc<Handover>,
    clock: Clock,
}

/// The way to one host.
struct Wire {
    queue: Sender<News>,
    /// Whether that host ended well. It will not miss messages that are sent to it afterwards.
    finished: AtomicBool,
    /// The time in nanoseconds since which that host waits and nothing was sent to it, or
    /// [`WORKING`].
    waiting_since: AtomicU64,
    /// Whether that host has ended, well or not.
    gone: AtomicBool,
}

/// The host computes, or is about to find a message.
const WORKING: u64 = u64::MAX;

impl Hub {
    /// A meeting place for that many hosts.
    pub(crate) fn new(hosts: usize) -> Self {
        let (wires, ends): (Vec<_>, Vec<_>) = (0..hosts)
            .map(|_| {
                let (queue, end) = channel();
                let wire = Wire {
                    queue,
                    finished: AtomicBool::new(false),
                    waiting_since: AtomicU64::new(WORKING),
                    gone: AtomicBool::new(false),
                };
                (wire, Mutex::new(Some(end)))
            })
            .unzip();
        Hub {
            wires: wires.into(),
            ends,
            handover: Arc::new(Handover::new(hosts)),
            clock: Clock::real(),
        }
    }
}

impl Venue for Hub {
    fn join(&self, host: HostId) -> Box<dyn Transport> {
        let end = self.ends[host.index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        let news = end.expect("a host joins once");
        Box::new(Local {
            host,
            wires: self.wires.clone(),
            news,
            handover: self.handover.clone(),
            clock: self.clock.clone(),
        })
    }

    fn finish(&self, host: HostId) {
        self.wires[host.index()].finished.store(true, Ordering::Release);
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }
}

/// One host's end.
struct Local {
    host: HostId,
    wires: Arc<[Wire]>,
    news: Receiver<News>,
    handover: Arc<Handover>,
    clock: Clock,
}

impl Transport for Local {
    fn host(&self) -> HostId {
        self.host
    }

    fn num_hosts(&self) -> usize {
        self.wires.len()
    }

    fn send(&mut self, to: HostId, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        let wire = &self.wires[to.index()];
        // Already now, lest a third host takes the receiver for idle before it wakes up.
        wire.waiting_since.store(WORKING, Ordering::Relaxed);
        let sent = wire.queue.send(News::Message(Message { from: self.host, tag, bytes }));
        // The queue's reading end goes away with its host.
        match sent {
            Err(_) if !wire.finished.load(Ordering::Acquire) => Err(Error::HostLost { host: to }),
            _ => Ok(()),
        }
    }

    fn poll(&mut self, wait: Duration) -> Result<Option<Message>> {
        let news = match wait.is_zero() {
            true => self.news.try_recv().ok(),
            false => self.news.recv_timeout(wait).ok(),
        };
        // The queue cannot be closed, since this end keeps a wire to itself: nothing is nothing yet.
        news.map_or(Ok(None), News::polled)
    }

    fn set_waiting(&mut self, is_waiting: bool) {
        let since = if is_waiting { self.clock.now().as_nanos() as u64 } else { WORKING };
        self.wires[self.host.index()].waiting_since.store(since, Ordering::Relaxed);
    }

    fn peers_idle_since(&self) -> Option<Duration> {
        let since = HostId::all(self.wires.len())
            .filter(|&peer| peer != self.host)
            .map(|peer| &self.wires[peer.index()])
            .filter(|wire| !wire.gone.load(Ordering::Relaxed))
            .map(|wire| wire.waiting_since.load(Ordering::Relaxed))
            .max();
        Some(match since {
            Some(WORKING) => self.clock.now(),
            since => Duration::from_nanos(since.unwrap_or(0)),
        })
    }

    fn handover(&self) -> Option<&Handover> {
        Some(&self.handover)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let finished = self.wires[self.host.index()].finished.load(Ordering::Acquire);
        let departure = if finished { Departure::Finished } else { Departure::Lost };
        self.wires[self.host.index()].gone.store(true, Ordering::Relaxed);
        for peer in HostId::all(self.wires.len()).filter(|&peer| peer != self.host) {
            // A peer that went first needs no news.
            let _ = self.wires[peer.index()].queue.send(News::Gone(self.host, departure));
        }
    }
}
