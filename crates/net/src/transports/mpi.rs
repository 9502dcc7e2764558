//! Hosts as ranks of a launcher's MPI: each process is one host.
//!
//! MPI moves bytes only while a thread calls it, and its calls that wait occupy a core. So a host
//! that polls drives the post office itself. Between two looks it sleeps for a small part of the
//! time it has waited, which delays it little and leaves the core free. While the host computes, a
//! second thread, the *pulse*, drives the post office every other millisecond. The two threads never
//! call MPI at the same time, so `MPI_THREAD_SERIALIZED` is enough; full threading is slow or
//! erratic in some MPIs.
//!
//! The pulse also tells the peers that this rank is alive while its host computes. It finds lost
//! peers: a process of this machine that has ended, or a rank that is silent for five seconds. A
//! rank that computes for hours is not silent; a stopped one is.

mod frame;
mod launcher;
mod library;
mod nap;
mod peer;
mod placement;
mod post;
mod siblings;
mod start;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use launcher::Launcher;
pub use library::CallError;
pub use placement::Placement;
pub use siblings::WAITING_THREAD;
pub use start::StartError;

use super::{News, Venue};
use crate::clock::Clock;
use crate::error::Result;
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Tag, Transport};
use placement::{Card, Watched};
use post::Post;

/// How often the pulse drives the post office while the host computes.
const PULSE_INTERVAL: Duration = Duration::from_millis(2);
/// Processes of this machine that the pulse checks each time.
const MAX_CHECKS_PER_PULSE: usize = 16;
/// How often a rank tells its peers that it is alive. Patience is counted in these.
const BEAT_INTERVAL: Duration = Duration::from_millis(250);
/// How long a waiting host spins before it sleeps, if it has a core to itself.
const SPIN_TIME: Duration = Duration::from_micros(50);
/// After that it sleeps for a sixteenth of the time it has waited, within limits.
const NAP_DIVISOR: u32 = 16;
const MIN_NAP: Duration = Duration::from_micros(20);
const MAX_NAP: Duration = Duration::from_micros(250);

/// All ranks, as one of them sees them. MPI ends when this is dropped, and waits for the others.
pub(crate) struct Ranks {
    shared: Arc<Shared>,
    pulse: Option<JoinHandle<()>>,
    host: HostId,
    hosts: usize,
    finished: Arc<AtomicBool>,
    clock: Clock,
}

struct Shared {
    /// `None` once MPI has ended.
    post: Mutex<Option<Post>>,
    /// Whether a host polls, so that the pulse need not.
    driven: AtomicBool,
    /// Whether each waiting host has a core to itself.
    roomy: AtomicBool,
    closing: AtomicBool,
    /// Processes of other ranks on this machine.
    visible: Mutex<VecDeque<(HostId, Watched)>>,
}

/// News of a rank that is gone for good.
pub struct Loss {
    host: HostId,
    shared: Arc<Shared>,
}

impl Loss {
    /// The rank that is gone.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// Has the launcher end all ranks, also those that hang, with an exit code. If MPI does as the
    /// standard says this does not return.
    pub fn abort(&self, code: u8) {
        // The other thread may hang inside MPI for good. Then MPI cannot be called at all.
        for _ in 0..100 {
            match self.shared.post.try_lock() {
                Ok(mut post) => return post.iter_mut().for_each(|post| post.mpi().abort(code)),
                Err(TryLockError::Poisoned(post)) => {
                    return post.into_inner().iter_mut().for_each(|post| post.mpi().abort(code));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Ranks {
    /// Loads the MPI that the launcher belongs to and starts it. `on_loss` is called, by a thread of
    /// this transport, for each rank that is gone for good.
    pub(crate) fn start(
        launcher: &Launcher,
        on_loss: impl Fn(Loss) + Send + 'static,
    ) -> Result<Self, StartError> {
        let mpi = start::start(launcher)?;
        let (rank, size) = (mpi.rank(), mpi.size());
        let shared = Arc::new(Shared {
            post: Mutex::new(Some(Post::new(mpi))),
            driven: AtomicBool::new(false),
            roomy: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            visible: Mutex::default(),
        });
        let pulse = {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name("pulse".into())
                .spawn(move || pulse(&shared, on_loss))
                .map_err(|error| StartError::Meeting(format!("cannot start a thread: {error}")))?
        };
        Ok(Ranks {
            shared,
            pulse: Some(pulse),
            host: HostId(rank as u16),
            hosts: size,
            finished: Arc::default(),
            clock: Clock::real(),
        })
    }

    /// The host that this process is.
    pub(crate) fn host(&self) -> HostId {
        self.host
    }

    /// Number of ranks.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts
    }

    /// What this rank tells the others of itself.
    pub(crate) fn card(&self) -> Vec<u8> {
        Card::own().to_bytes()
    }

    /// Finds out from all ranks' cards which of them share this machine.
    pub(crate) fn meet(&self, cards: &[Vec<u8>]) -> Placement {
        let cards: Vec<_> = cards.iter().map(|card| Card::from_bytes(card)).collect();
        let placement = Placement::of(self.host.index(), &cards);
        let visible = placement.visible.iter();
        let visible = visible.filter_map(|(host, process)| Some((*host, process.watch()?)));
        *lock(&self.shared.visible) = visible.collect();
        placement
    }

    /// Says whether each waiting host has a core to itself.
    pub(crate) fn set_roomy(&self, roomy: bool) {
        self.shared.roomy.store(roomy, Ordering::Relaxed);
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        if let Some(pulse) = self.pulse.take() {
            let _ = pulse.join();
        }
        let post = lock(&self.shared.post).take();
        // MPI_Finalize waits for all ranks: with a rank lost, for ever.
        if let Some(post) = post.filter(|post| !post.any_dead()) {
            let _ = post.into_mpi().finish();
        }
    }
}

/// Keeps this rank's messages moving and its peers informed, until MPI ends.
fn pulse(shared: &Arc<Shared>, on_loss: impl Fn(Loss)) {
    let mut last_beat = Instant::now();
    let mut closing = false;
    while !closing {
        std::thread::sleep(PULSE_INTERVAL);
        // Read first, so that a loss before the end is reported before the end.
        closing = shared.closing.load(Ordering::Acquire);
        let beats = last_beat.elapsed() >= BEAT_INTERVAL && !closing;
        let ended = shared.ended();
        if !beats && !closing && ended.is_empty() && shared.driven.load(Ordering::Relaxed) {
            continue;
        }
        let mut guard = lock(&shared.post);
        let Some(post) = guard.as_mut() else { return };
        // An error of MPI shows again when the host calls it.
        let _ = post.progress();
        if beats {
            last_beat = Instant::now();
            post.beat();
        }
        ended.into_iter().for_each(|host| post.lose(host.index()));
        let dead = post.take_dead();
        drop(guard);
        dead.into_iter().for_each(|host| on_loss(Loss { host, shared: shared.clone() }));
    }
}

impl Shared {
    /// Ranks of this machine whose processes have ended. Each call checks the next few processes.
    fn ended(&self) -> Vec<HostId> {
        let mut visible = lock(&self.visible);
        let looks = visible.len().min(MAX_CHECKS_PER_PULSE);
        let ended = visible.iter().take(looks).filter(|(_, process)| process.has_ended());
        let ended = ended.map(|(host, _)| *host).collect();
        visible.rotate_left(looks);
        ended
    }

    /// Drives the post office until `attempt` gives a result or the time is up.
    fn drive<R>(
        &self,
        limit: Option<Duration>,
        mut attempt: impl FnMut(&mut Post) -> Option<R>,
    ) -> Result<Option<R>> {
        let _driven = Driven::new(&self.driven);
        let mut start: Option<Instant> = None;
        loop {
            let moved = {
                let mut guard = lock(&self.post);
                // No host outlives its ranks.
                let Some(post) = guard.as_mut() else { return Ok(None) };
                if let Some(result) = attempt(post) {
                    return Ok(Some(result));
                }
                let moved = post.progress()?;
                if let Some(result) = attempt(post) {
                    return Ok(Some(result));
                }
                moved
            };
            let waited = start.get_or_insert_with(Instant::now).elapsed();
            let left = match limit {
                Some(limit) if limit <= waited => return Ok(None),
                Some(limit) => limit - waited,
                None => MAX_NAP,
            };
            // Yielding the core would cost a time slice per message where ranks share cores.
            if moved || waited < SPIN_TIME && self.roomy.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            } else {
                let nap = (waited / NAP_DIVISOR).clamp(MIN_NAP, MAX_NAP);
                nap::nap(nap.min(left));
            }
        }
    }
}

/// Says that a host drives the post office, while it lives.
struct Driven<'d>(&'d AtomicBool);

impl<'d> Driven<'d> {
    fn new(flag: &'d AtomicBool) -> Self {
        flag.store(true, Ordering::Relaxed);
        Driven(flag)
    }
}

impl Drop for Driven<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Venue for Ranks {
    fn join(&self, host: HostId) -> Box<dyn Transport> {
        self.finished.store(false, Ordering::Relaxed);
        lock(&self.shared.post).iter_mut().for_each(Post::begin);
        let (shared, finished) = (self.shared.clone(), self.finished.clone());
        Box::new(End { host, hosts: self.hosts, shared, finished })
    }

    fn finish(&self, _: HostId) {
        self.finished.store(true, Ordering::Relaxed);
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }
}

/// This host's end for one launch.
struct End {
    host: HostId,
    hosts: usize,
    shared: Arc<Shared>,
    finished: Arc<AtomicBool>,
}

impl Transport for End {
    fn host(&self) -> HostId {
        self.host
    }

    fn num_hosts(&self) -> usize {
        self.hosts
    }

    fn send(&mut self, to: HostId, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        let mut bytes = Some(bytes);
        let length = bytes.as_ref().map_or(0, Vec::len);
        let mut give = |post: &mut Post| match post.is_full(length) {
            true => {
                post.take_all(true);
                None
            }
            false => {
                post.take_all(false);
                Some(post.send(to, tag, bytes.take().unwrap_or_default()))
            }
        };
        if let Some(sent) = lock(&self.shared.post).as_mut().and_then(&mut give) {
            return sent;
        }
        self.shared.drive(None, give)?.unwrap_or(Ok(()))
    }

    fn poll(&mut self, wait: Duration) -> Result<Option<Message>> {
        let news = self.shared.drive(Some(wait), Post::next)?;
        news.map_or(Ok(None), News::polled)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let departure = match self.finished.load(Ordering::Relaxed) {
            true => Departure::Finished,
            false => Departure::Lost,
        };
        lock(&self.shared.post).iter_mut().for_each(|post| post.depart(departure));
        // All hosts leave together, so that nothing of this launch is heard in the next.
        let _ = self.shared.drive(None, |post| post.is_over().then_some(()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
