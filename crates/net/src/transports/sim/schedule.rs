//! Who runs when, and what arrives when: the state of a simulated network.
//!
//! Times are nanoseconds of virtual time. A host that runs spends none, unless the weather makes
//! it pause; a host that waits goes on when something arrives or its wait ends. The host whose time
//! comes first runs next, so time never goes back.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::trace::{SimAction, SimReport, Trace, digest};
use super::weather::{Random, Weather};
use super::{Faults, SimOptions};
use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag};
use crate::transports::News;

pub(super) struct Schedule {
    seed: u64,
    weather: Weather,
    luck: Random,
    faults: Faults,
    step_limit: u64,
    steps: u64,
    clock: Arc<AtomicU64>,
    hosts: Vec<Host>,
    /// News put under way so far; breaks ties in the order of sending.
    sent: u64,
    /// When the latest message of each channel arrives, if that is to come: the next must not
    /// overtake it.
    latest: HashMap<(HostId, HostId, Tag), u64>,
    trace: Trace,
}

struct Host {
    /// When it goes on.
    wakes: u64,
    /// Whether news may wake it earlier, and from what time on.
    waits: Option<u64>,
    /// Empty polls in a row.
    idle: u32,
    /// Messages under way to it, by time of arrival and order of sending.
    arriving: BTreeMap<(u64, u64), News>,
    gone: Option<Departure>,
    /// Whether its thread still has to be given turns: a crashed host must see its error.
    runs: bool,
}

/// Nanoseconds that the second empty poll in a row takes; each further one takes twice as long, up
/// to 2¹⁰ times: hosts that poll in a loop must let time pass, and not too slowly.
const EMPTY_POLL_NANOS: u64 = 1_000;

impl Schedule {
    pub(super) fn new(hosts: usize, options: &SimOptions, clock: Arc<AtomicU64>) -> Self {
        let mut weather = Weather::new(options.seed, hosts, options.calm);
        let host = |_| Host {
            wakes: weather.start(),
            waits: None,
            idle: 0,
            arriving: BTreeMap::new(),
            gone: None,
            runs: true,
        };
        let hosts = (0..hosts).map(host).collect();
        Schedule {
            seed: options.seed,
            weather,
            luck: Random::new(options.seed, 1),
            faults: options.faults.clone(),
            step_limit: options.step_limit,
            steps: 0,
            clock,
            hosts,
            sent: 0,
            latest: HashMap::new(),
            trace: Trace { keep: options.keep_trace, ..Trace::default() },
        }
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// The host that runs now, and sets the clock to its time. `None` when all are done.
    pub(super) fn next(&mut self) -> Option<HostId> {
        let running = self.hosts.iter().enumerate().filter(|(_, host)| host.runs);
        let (next, host) = running.min_by_key(|(_, host)| host.wakes)?;
        self.clock.store(host.wakes.max(self.now()), Ordering::Relaxed);
        Some(HostId(next as u16))
    }

    /// Counts a step of a host and lets the crashes happen that are due.
    pub(super) fn step(&mut self, host: HostId) -> Result<()> {
        self.steps += 1;
        let steps = self.steps;
        let due = |&mut (_, after): &mut (HostId, u64)| after < steps;
        let crashes: Vec<_> = self.faults.crashes.extract_if(.., due).collect();
        for (crashed, _) in crashes {
            if self.hosts.get(crashed.index()).is_some_and(|host| host.gone.is_none()) {
                self.depart(crashed, Departure::Lost);
                self.hosts[crashed.index()].runs = true;
            }
        }
        self.check(host)
    }

    /// Whether the host may go on.
    pub(super) fn check(&self, host: HostId) -> Result<()> {
        if self.hosts[host.index()].gone.is_some() {
            return Err(Error::HostLost { host });
        }
        if self.steps > self.step_limit {
            return Err(Error::Endless { host, steps: self.step_limit });
        }
        Ok(())
    }

    /// Puts a message under way.
    pub(super) fn send(
        &mut self,
        from: HostId,
        to: HostId,
        tag: Tag,
        bytes: Vec<u8>,
    ) -> Result<()> {
        let now = self.now();
        let host = &mut self.hosts[from.index()];
        host.idle = 0;
        host.wakes = now.saturating_add(self.weather.pause(from));
        let length = bytes.len();
        let delivered = match self.hosts[to.index()].gone {
            None => !self.luck.one_in(self.faults.lose_one_in),
            Some(Departure::Finished) => false,
            Some(Departure::Lost) => return Err(Error::HostLost { host: to }),
        };
        let mut arrives = None;
        if delivered {
            let mut message = Message { from, tag, bytes };
            if self.luck.one_in(self.faults.duplicate_one_in) {
                self.deliver(to, message.clone());
            }
            if self.luck.one_in(self.faults.corrupt_one_in) {
                let bit = self.luck.below(8 * length as u64) as usize;
                if let Some(byte) = message.bytes.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            arrives = Some(Duration::from_nanos(self.deliver(to, message)));
        }
        self.trace.add(now, from, SimAction::Send { to, tag, bytes: length, arrives });
        Ok(())
    }

    /// Draws the time at which a message arrives, never before its predecessors.
    fn deliver(&mut self, to: HostId, message: Message) -> u64 {
        let drawn = self.now().saturating_add(self.weather.delay());
        let latest = self.latest.entry((message.from, to, message.tag)).or_default();
        *latest = drawn.max(*latest);
        let time = *latest;
        self.announce(to, time, News::Message(message));
        time
    }

    /// Puts news under way, and wakes the host in time if it waits.
    fn announce(&mut self, to: HostId, time: u64, news: News) {
        let host = &mut self.hosts[to.index()];
        host.arriving.insert((time, self.sent), news);
        self.sent += 1;
        if let Some(ready) = host.waits {
            host.wakes = host.wakes.min(time.max(ready));
        }
    }

    /// Lets a host wait for news, after a pause if the weather says so.
    pub(super) fn wait(&mut self, host: HostId, wait: Duration) {
        let now = self.now();
        let pause = self.weather.pause(host);
        let entry = &mut self.hosts[host.index()];
        let backoff = match entry.idle {
            0 => 0,
            _ if self.weather.is_calm() => EMPTY_POLL_NANOS,
            idle => EMPTY_POLL_NANOS << (idle - 1),
        };
        let ready = now.saturating_add(pause).saturating_add(backoff);
        let end = now.saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
        let arrival = entry.arriving.first_key_value().map_or(u64::MAX, |(&(time, _), _)| time);
        entry.waits = Some(ready);
        entry.wakes = end.min(arrival).max(ready);
    }

    /// What a host finds when it looks.
    pub(super) fn receive(&mut self, host: HostId) -> Result<Option<Message>> {
        let now = self.now();
        let entry = &mut self.hosts[host.index()];
        entry.waits = None;
        let first = entry.arriving.first_entry().filter(|first| first.key().0 <= now);
        let Some(first) = first else {
            entry.idle = (entry.idle + 1).min(11);
            self.trace.add(now, host, SimAction::Nothing);
            return Ok(None);
        };
        entry.idle = 0;
        let news = first.remove();
        let action = match &news {
            News::Gone(of, _) => SimAction::Hear { of: *of },
            News::Message(Message { from, tag, bytes }) => {
                let channel = (*from, host, *tag);
                // A later message of the channel arrives later than now anyway.
                if self.latest.get(&channel).is_some_and(|&latest| latest <= now) {
                    self.latest.remove(&channel);
                }
                let digest = digest(bytes);
                SimAction::Receive { from: *from, tag: *tag, bytes: bytes.len(), digest }
            }
        };
        self.trace.add(now, host, action);
        news.polled()
    }

    /// A host goes away, and its peers get an event. A finished host's event comes after its messages. The messages
    /// of a lost host that arrive after its event are lost, too.
    pub(super) fn depart(&mut self, host: HostId, departure: Departure) {
        let (now, entry) = (self.now(), &mut self.hosts[host.index()]);
        entry.runs = false;
        entry.wakes = now;
        entry.waits = None;
        if entry.gone.is_some() {
            return;
        }
        entry.gone = Some(departure);
        entry.arriving.clear();
        let action = match departure {
            Departure::Finished => SimAction::Finish,
            Departure::Lost => SimAction::Fail,
        };
        self.trace.add(now, host, action);
        for peer in HostId::all(self.hosts.len()).filter(|&peer| peer != host) {
            let mut time = now.saturating_add(self.weather.delay());
            let arriving = &mut self.hosts[peer.index()].arriving;
            let of_host = |news: &News| matches!(news, News::Message(m) if m.from == host);
            match departure {
                Departure::Finished => {
                    let last = arriving.iter().rev().find(|(_, news)| of_host(news));
                    time = time.max(last.map_or(0, |(&(last, _), _)| last));
                }
                Departure::Lost => {
                    arriving.retain(|&(arrival, _), news| arrival <= time || !of_host(news));
                }
            }
            if self.hosts[peer.index()].gone.is_none() {
                self.announce(peer, time, News::Gone(host, departure));
            }
        }
    }

    pub(super) fn report(&mut self) -> SimReport {
        SimReport {
            seed: self.seed,
            steps: self.steps,
            time: Duration::from_nanos(self.now()),
            trace_hash: self.trace.hash,
            trace: std::mem::take(&mut self.trace.events),
        }
    }
}
