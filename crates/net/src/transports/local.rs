//! Hosts as thread groups of one process: each has a queue of news, and a message moves into it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{News, Venue};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag, Transport};

/// The queues of all hosts.
pub(crate) struct Hub {
    wires: Arc<[Wire]>,
    /// The reading ends, until their hosts join.
    ends: Vec<Mutex<Option<Receiver<News>>>>,
    clock: Clock,
}

/// The way to one host.
struct Wire {
    queue: Sender<News>,
    /// Whether that host ended well. It will not miss messages that are sent to it afterwards.
    finished: AtomicBool,
}

impl Hub {
    /// A meeting place for that many hosts.
    pub(crate) fn new(hosts: usize) -> Self {
        let (wires, ends): (Vec<_>, Vec<_>) = (0..hosts)
            .map(|_| {
                let (queue, end) = channel();
                (Wire { queue, finished: AtomicBool::new(false) }, Mutex::new(Some(end)))
            })
            .unzip();
        Hub { wires: wires.into(), ends, clock: Clock::real() }
    }
}

impl Venue for Hub {
    fn join(&self, host: HostId) -> Box<dyn Transport> {
        let end = self.ends[host.index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        let news = end.expect("a host joins once");
        Box::new(Local { host, wires: self.wires.clone(), news })
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
}

impl Drop for Local {
    fn drop(&mut self) {
        let finished = self.wires[self.host.index()].finished.load(Ordering::Acquire);
        let departure = if finished { Departure::Finished } else { Departure::Lost };
        for peer in HostId::all(self.wires.len()).filter(|&peer| peer != self.host) {
            // A peer that went first needs no news.
            let _ = self.wires[peer.index()].queue.send(News::Gone(self.host, departure));
        }
    }
}
