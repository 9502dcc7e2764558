//! Running one closure on every host, and finding the host that failed first.
//!
//! When one host fails, all others fail soon after, because they miss it. Only the first failure
//! tells the cause, and "first" needs no guessing from error messages: a host's failure is recorded
//! *before* its end of the transport is dropped, and its peers cannot learn of it earlier. A
//! host that fails because of another is therefore recorded after it.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuildError};

use crate::host::{HostId, MAX_HOSTS};
use crate::net::Net;
use crate::transports::Venue;

/// Why a launch gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError<E> {
    /// A cluster of no hosts, or of too many.
    #[error("a cluster has 1 to {MAX_HOSTS} hosts, not {asked}")]
    Hosts {
        /// Hosts asked for.
        asked: usize,
    },
    /// The system gave no threads to a host.
    #[error("host {host}: cannot start {threads} threads: {source}")]
    Start {
        /// The host.
        host: HostId,
        /// Threads asked for.
        threads: usize,
        /// The system's own words.
        source: ThreadPoolBuildError,
    },
    /// A host returned an error; it was the first.
    #[error("host {host}: {error}{}", Replay(*seed))]
    Failed {
        /// The host.
        host: HostId,
        /// The seed that replays it, if the cluster is simulated.
        seed: Option<u64>,
        /// Its error.
        #[source]
        error: E,
    },
    /// A host panicked before any other failed.
    #[error("host {host} panicked: {message}{}", Replay(*seed))]
    Panicked {
        /// The host.
        host: HostId,
        /// The seed that replays it, if the cluster is simulated.
        seed: Option<u64>,
        /// What the panic said.
        message: String,
    },
}

/// How to see it again.
struct Replay(Option<u64>);

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |seed| write!(f, " (simulated with seed {seed})"))
    }
}

/// Runs the closure on the hosts of a venue that this process runs, each inside its thread pool;
/// they are numbered from `first`.
pub(crate) fn run<R, E, F>(
    venue: &dyn Venue,
    first: HostId,
    pools: &[ThreadPool],
    seed: Option<u64>,
    patience: Duration,
    closure: F,
) -> Result<Vec<R>, LaunchError<E>>
where
    R: Send,
    E: Send,
    F: Fn(&mut Net) -> Result<R, E> + Sync,
{
    let results = Mutex::new(pools.iter().map(|_| None).collect::<Vec<Option<R>>>());
    let first_failure = Mutex::new(None);
    let host_body = |host: HostId| {
        let mut net = Net::new(venue.join(host), venue.clock());
        net.set_patience(patience);
        // The closure is not seen again after a panic, and the net only to be dropped.
        let outcome = catch_unwind(AssertUnwindSafe(|| closure(&mut net)));
        let failure = match outcome {
            Ok(Ok(result)) => {
                lock(&results)[host.index() - first.index()] = Some(result);
                venue.finish(host);
                return;
            }
            Ok(Err(error)) => LaunchError::Failed { host, seed, error },
            Err(panic) => LaunchError::Panicked { host, seed, message: message(&*panic) },
        };
        lock(&first_failure).get_or_insert(failure);
    };
    start_all(first, pools, &host_body);
    match into_inner(first_failure) {
        Some(failure) => Err(failure),
        None => Ok(into_inner(results).into_iter().flatten().collect()),
    }
}

/// Hosts started by one thread; each takes a stack frame of it.
const HOSTS_PER_STARTER: usize = 256;

/// Runs `body` once in every pool, all at the same time; returns when all have returned.
fn start_all(first: HostId, pools: &[ThreadPool], body: &(dyn Fn(HostId) + Sync)) {
    let hosts: Vec<_> = HostId::all(MAX_HOSTS).skip(first.index()).zip(pools).collect();
    let (mine, others) = hosts.split_at(hosts.len().min(HOSTS_PER_STARTER));
    std::thread::scope(|scope| {
        for group in others.chunks(HOSTS_PER_STARTER) {
            scope.spawn(|| start_group(group, body));
        }
        start_group(mine, body);
    });
}

/// A scope for each pool, one inside the other: the bodies may then borrow, and no thread has to
/// sit beside each pool just to wait for it.
fn start_group(group: &[(HostId, &ThreadPool)], body: &(dyn Fn(HostId) + Sync)) {
    if let Some(((host, pool), rest)) = group.split_first() {
        pool.in_place_scope(|scope| {
            scope.spawn(|_| body(*host));
            start_group(rest, body);
        });
    }
}

/// The text of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or("no message".into())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
