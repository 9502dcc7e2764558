//! One host's way to the others: sending, receiving by tag and sender, patience, counting.
//!
//! A [`Net`] turns a transport's stream of arrivals into answers to "the next message of that phase
//! from that host". Other messages wait in the inbox. No call waits for ever: a peer
//! that is gone ends a wait for it at once, a silent one after the patience.

use std::time::Duration;

use crate::clock::Clock;
use crate::collective::Calls;
use crate::error::{Error, Result};
use crate::handover::Handover;
use crate::host::HostId;
use crate::inbox::Inbox;
use crate::transport::{Message, Tag, Transport};

/// How long a host waits for a silent peer by default.
pub(crate) const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// One host's end of a cluster.
pub struct Net {
    transport: Box<dyn Transport>,
    clock: Clock,
    patience: Duration,
    pub(crate) inbox: Inbox,
    pub(crate) calls: Calls,
    traffic: Vec<Traffic>,
    /// Peers that went away, and how.
    gone: Vec<Option<Departure>>,
    /// Epochs begun so far; see [`Net::next_epoch`].
    pub(crate) epochs: u64,
}

/// How a host went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// It did all it had to.
    Finished,
    /// It failed, or the way to it is cut.
    Lost,
}

/// Messages and bytes between this host and another, collectives included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages sent.
    pub messages_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Messages that arrived, asked for or not.
    pub messages_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
}

impl Net {
    /// A host that talks through `transport` and measures its patience by `clock`.
    pub fn new(transport: Box<dyn Transport>, clock: Clock) -> Self {
        let hosts = transport.num_hosts();
        Net {
            transport,
            clock,
            patience: DEFAULT_PATIENCE,
            inbox: Inbox::default(),
            calls: Calls::default(),
            traffic: vec![Traffic::default(); hosts],
            gone: vec![None; hosts],
            epochs: 0,
        }
    }

    /// This host.
    pub fn host(&self) -> HostId {
        self.transport.host()
    }

    /// Number of hosts, this one included.
    pub fn num_hosts(&self) -> usize {
        self.gone.len()
    }

    /// The other hosts, beginning with the next one, so that not all hosts send to host 0 first.
    pub fn peers(&self) -> impl Iterator<Item = HostId> + use<> {
        let (hosts, me) = (self.num_hosts(), self.host().index());
        (1..hosts).map(move |step| HostId(((me + step) % hosts) as u16))
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Time since the hosts started: virtual in a simulated cluster. Decide by this clock only.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// How long a receive waits for a silent host.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Changes how long a receive waits for a silent host.
    ///
    /// Between hosts of one process, patience only counts while no peer works: a host that computes
    /// is never given up, and hosts that wait for each other in a circle are. Elsewhere patience must
    /// exceed the longest time that a host computes between two messages.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Where hosts of one process leave memory for each other; `None` elsewhere.
    pub fn handover(&self) -> Option<&Handover> {
        self.transport.handover()
    }

    /// What went to and came from one host; its own entry counts what it sent to itself.
    pub fn traffic(&self, host: HostId) -> Traffic {
        self.traffic.get(host.index()).copied().unwrap_or_default()
    }

    /// What went to and came from all other hosts together.
    pub fn total_traffic(&self) -> Traffic {
        self.peers().map(|peer| self.traffic(peer)).fold(Traffic::default(), |a, b| Traffic {
            messages_sent: a.messages_sent + b.messages_sent,
            bytes_sent: a.bytes_sent + b.bytes_sent,
            messages_received: a.messages_received + b.messages_received,
            bytes_received: a.bytes_received + b.bytes_received,
        })
    }

    /// Sends a message, without waiting for it to be read. A host may send to itself.
    pub fn send(&mut self, to: HostId, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.check_host(to)?;
        if self.gone[to.index()] == Some(Departure::Lost) {
            return Err(Error::HostLost { host: to });
        }
        let length = bytes.len() as u64;
        if to == self.host() {
            let message = Message { from: to, tag, bytes };
            self.count_received(&message);
            self.inbox.put(message);
        } else {
            self.transport.send(to, tag, bytes)?;
        }
        let traffic = &mut self.traffic[to.index()];
        traffic.messages_sent += 1;
        traffic.bytes_sent += length;
        Ok(())
    }

    /// The next message from `from` under `tag`; waits for it at most the patience.
    pub fn receive(&mut self, from: HostId, tag: Tag) -> Result<Vec<u8>> {
        self.check_host(from)?;
        Ok(self.wait(Some(from), tag)?.bytes)
    }

    /// The next message under `tag` from any host; waits for it at most the patience.
    ///
    /// Since any host might be the one that is waited for, the loss of any ends the wait.
    pub fn receive_any(&mut self, tag: Tag) -> Result<(HostId, Vec<u8>)> {
        let message = self.wait(None, tag)?;
        Ok((message.from, message.bytes))
    }

    /// The next message under `tag`, if one is there. Does not wait; tells of lost hosts.
    pub fn try_receive(&mut self, tag: Tag) -> Result<Option<(HostId, Vec<u8>)>> {
        let mut found = self.inbox.take(None, tag);
        while found.is_none() {
            match self.poll(Duration::ZERO)? {
                None => return self.none_lost().map(|()| None),
                Some(message) if message.tag == tag => found = Some(message),
                Some(other) => self.inbox.put(other),
            }
        }
        Ok(found.map(|message| (message.from, message.bytes)))
    }

    /// Waits for a message from one host or any, at most the patience.
    fn wait(&mut self, from: Option<HostId>, tag: Tag) -> Result<Message> {
        if let Some(message) = self.inbox.take(from, tag) {
            return Ok(message);
        }
        if self.waits_for_itself(from) {
            return Err(self.silent(from, tag, Duration::ZERO));
        }
        let message = self.wait_for_arrival(from, tag);
        self.transport.set_waiting(false);
        message
    }

    fn wait_for_arrival(&mut self, from: Option<HostId>, tag: Tag) -> Result<Message> {
        let start = self.clock.now();
        self.transport.set_waiting(true);
        loop {
            self.can_still_come(from)?;
            let left = self.patience_left(start);
            match self.poll(left)? {
                Some(message) if message.tag == tag && from.is_none_or(|f| f == message.from) => {
                    return Ok(message);
                }
                Some(other) => {
                    self.inbox.put(other);
                    // The arrival ended one wait, and another begins.
                    self.transport.set_waiting(true);
                }
                None if left.is_zero() => {
                    return Err(self.silent(from, tag, self.clock.now() - start));
                }
                None => {}
            }
        }
    }

    /// How much longer to wait, if this wait began at `start`.
    pub(crate) fn patience_left(&self, start: Duration) -> Duration {
        let idle_since = self.transport.peers_idle_since().unwrap_or(start);
        let end = start.max(idle_since).saturating_add(self.patience);
        end.saturating_sub(self.clock.now())
    }

    /// See [`Transport::set_waiting`].
    pub(crate) fn set_waiting(&mut self, is_waiting: bool) {
        self.transport.set_waiting(is_waiting);
    }

    /// The next arrival. A departure is noted and reads as "nothing arrived".
    pub(crate) fn poll(&mut self, wait: Duration) -> Result<Option<Message>> {
        let (host, departure) = match self.transport.poll(wait) {
            Ok(Some(message)) => {
                self.count_received(&message);
                self.check_call(&message)?;
                return Ok(Some(message));
            }
            Ok(None) => return Ok(None),
            Err(Error::HostLost { host }) if host != self.host() => (host, Departure::Lost),
            Err(Error::HostFinished { host }) => (host, Departure::Finished),
            Err(error) => return Err(error),
        };
        if let Some(gone) = self.gone.get_mut(host.index()) {
            *gone = Some(departure);
        }
        Ok(None)
    }

    /// Whether the wait can never end: no other host could send the message.
    fn waits_for_itself(&self, from: Option<HostId>) -> bool {
        from == Some(self.host()) || self.num_hosts() == 1
    }

    /// Whether a message from one host or any may still arrive. A collective needs every host, so
    /// inside one the loss of any host is the loss of the one waited for.
    pub(crate) fn can_still_come(&self, from: Option<HostId>) -> Result<()> {
        if from.is_none() || self.calls.inside() {
            self.none_lost()?;
        }
        match from {
            Some(host) => match self.gone[host.index()] {
                Some(Departure::Lost) => Err(Error::HostLost { host }),
                Some(Departure::Finished) => Err(Error::HostFinished { host }),
                None => Ok(()),
            },
            None => match self.peers().find(|peer| self.gone[peer.index()].is_none()) {
                Some(_) => Ok(()),
                None => {
                    self.peers().next().map_or(Ok(()), |host| Err(Error::HostFinished { host }))
                }
            },
        }
    }

    pub(crate) fn none_lost(&self) -> Result<()> {
        let lost = self.gone.iter().position(|gone| *gone == Some(Departure::Lost));
        lost.map_or(Ok(()), |host| Err(Error::HostLost { host: HostId(host as u16) }))
    }

    pub(crate) fn check_host(&self, to: HostId) -> Result<()> {
        let (host, hosts) = (self.host(), self.num_hosts());
        if to.index() < hosts { Ok(()) } else { Err(Error::NoSuchHost { host, to, hosts }) }
    }

    fn silent(&self, from: Option<HostId>, tag: Tag, waited: Duration) -> Error {
        Error::Silent { host: self.host(), from, tag, seconds: waited.as_secs_f64() }
    }

    fn count_received(&mut self, message: &Message) {
        if let Some(traffic) = self.traffic.get_mut(message.from.index()) {
            traffic.messages_received += 1;
            traffic.bytes_received += message.bytes.len() as u64;
        }
    }
}
