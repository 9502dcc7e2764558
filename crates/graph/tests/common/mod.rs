//! What the tests with hostile inputs share.

pub(crate) mod judge;
pub(crate) mod samples;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use parton_graph::formats::{self, Format, ReadOptions};
use parton_graph::source::Source;

/// Reads bytes as `format`, or as what they look like: whether they are a graph, or how that
/// breaks the rule of [`judge`].
pub(crate) fn examine(
    format: Option<&dyn Format>,
    name: &str,
    bytes: &[u8],
) -> Result<bool, String> {
    judge::judge(name, judge::allowance(bytes.len()), || {
        formats::read(&Source::memory(name, bytes)?, format, &ReadOptions::default())
    })
    .map_err(|complaint| {
        let told = format.map_or("any format", |format| format.name());
        format!("{name} read as {told}: {complaint}: {}", bytes.escape_ascii())
    })
}

/// Calls `check` for every number below `count`, on every core; the first few complaints.
///
/// Every core gets a pool of its own: inputs are too small to share, and what a pool of one thread
/// allocates can be told from what the others do.
pub(crate) fn on_every_core(
    count: usize,
    check: impl Fn(usize) -> Result<bool, String> + Sync,
) -> Vec<String> {
    const ENOUGH: usize = 5;
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        let _pool = pool.build().expect("a pool of this thread");
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count || complaints.lock().expect("not poisoned").len() >= ENOUGH {
                break;
            }
            if let Err(complaint) = check(i) {
                complaints.lock().expect("not poisoned").push(complaint);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(work);
        }
    });
    complaints.into_inner().expect("not poisoned")
}
