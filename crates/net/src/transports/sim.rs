//! A simulated network: one seed is one schedule, replayed exactly.
//!
//! The hosts are the same threads running the same code as in a local cluster, but only one runs at
//! a time: they pass a baton (`baton`). Every send and every poll is a step, after which it is
//! decided who runs next (`schedule`). It is a discrete-event simulation: each host has a time at
//! which it goes on, each message one at which it arrives, all drawn from the seed (`weather`); the
//! earliest goes first. Messages overtake each other across peers and tags, hosts pause and stall,
//! one may be slow, and all of it happens again under the same seed.
//!
//! Time is virtual, so a wait costs nothing. When every host waits and nothing is under way, the shortest patience
//! ends at once, so a deadlock is an error in a millisecond.
//!
//! What hosts share besides their nets (locks, channels of their own) is not simulated; a host that
//! blocks on another one outside its net blocks the simulation.

mod baton;
mod schedule;
mod trace;
mod weather;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use trace::{SimAction, SimEvent, SimReport};

use super::Venue;
use crate::clock::Clock;
use crate::error::Result;
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag, Transport};
use baton::Baton;
use schedule::Schedule;

/// What to simulate.
#[derive(Clone, Debug)]
pub struct SimOptions {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// What goes wrong. Nothing, unless asked for.
    pub faults: Faults,
    /// Every message takes exactly this long, and no host pauses: for measuring in virtual time
    /// ([`Net::spend`](crate::Net::spend)), not for finding mistakes.
    pub calm: Option<Duration>,
    /// Sends and polls of all hosts after which a program is taken to be endless.
    pub step_limit: u64,
    /// Whether [`SimReport::trace`] keeps every event.
    pub keep_trace: bool,
}

impl Default for SimOptions {
    fn default() -> Self {
        let faults = Faults::default();
        SimOptions { seed: 0, faults, calm: None, step_limit: 10_000_000, keep_trace: false }
    }
}

/// What goes wrong in a simulated network, on top of delays that any network has. Until the first
/// fault strikes, a run is the same as without.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// One message in this many is lost; 0 for none.
    pub lose_one_in: u64,
    /// One message in this many arrives twice; 0 for none.
    pub duplicate_one_in: u64,
    /// One message in this many arrives with a flipped bit; 0 for none.
    pub corrupt_one_in: u64,
    /// Hosts that fail, each after a number of steps of all hosts. What they had under way may be
    /// lost with them.
    pub crashes: Vec<(HostId, u64)>,
}

/// The simulated network of one launch.
pub(crate) struct World {
    shared: Arc<Shared>,
    clock: Arc<AtomicU64>,
}

struct Shared {
    /// Touched by the host that has the baton only, so the lock is always free.
    schedule: Mutex<Schedule>,
    baton: Baton,
    hosts: usize,
}

impl World {
    /// A network for that many hosts. The first to run is chosen already.
    pub(crate) fn new(hosts: usize, options: &SimOptions) -> Self {
        let clock = Arc::new(AtomicU64::new(0));
        let mut schedule = Schedule::new(hosts, options, clock.clone());
        let baton = Baton::new(hosts);
        if let Some(first) = schedule.next() {
            baton.pass(first);
        }
        let shared = Arc::new(Shared { schedule: Mutex::new(schedule), baton, hosts });
        World { shared, clock }
    }

    /// What happened.
    pub(crate) fn report(&self) -> SimReport {
        self.shared.lock().report()
    }
}

impl Venue for World {
    fn join(&self, host: HostId) -> Box<dyn Transport> {
        self.shared.baton.wait(host);
        Box::new(Sim { host, shared: self.shared.clone() })
    }

    fn finish(&self, host: HostId) {
        self.shared.lock().depart(host, Departure::Finished);
    }

    fn clock(&self) -> Clock {
        Clock::Virtual(self.clock.clone())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the hosts run whose time comes before this one's; returns when it is this one's turn.
    fn take_turns<'a>(
        &'a self,
        host: HostId,
        mut schedule: MutexGuard<'a, Schedule>,
    ) -> MutexGuard<'a, Schedule> {
        match schedule.next() {
            Some(next) if next != host => {
                drop(schedule);
                self.baton.pass(next);
                self.baton.wait(host);
                self.lock()
            }
            _ => schedule,
        }
    }
}

/// One host's end.
struct Sim {
    host: HostId,
    shared: Arc<Shared>,
}

impl Transport for Sim {
    fn host(&self) -> HostId {
        self.host
    }

    fn num_hosts(&self) -> usize {
        self.shared.hosts
    }

    fn send(&mut self, to: HostId, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        let mut schedule = self.shared.lock();
        schedule.step(self.host)?;
        schedule.send(self.host, to, tag, bytes)?;
        drop(self.shared.take_turns(self.host, schedule));
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Option<Message>> {
        let mut schedule = self.shared.lock();
        schedule.step(self.host)?;
        schedule.wait(self.host, wait);
        let mut schedule = self.shared.take_turns(self.host, schedule);
        schedule.check(self.host)?;
        schedule.receive(self.host)
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let mut schedule = self.shared.lock();
        // Does nothing if the host has finished.
        schedule.depart(self.host, Departure::Lost);
        if let Some(next) = schedule.next() {
            drop(schedule);
            self.shared.baton.pass(next);
        }
    }
}
