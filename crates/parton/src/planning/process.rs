//! What a process takes without a graph: its code, which depends on how it was built and what was loaded, hosts and
//! threads.

use std::sync::OnceLock;

/// Bytes of this process when it began.
static AT_START: OnceLock<f64> = OnceLock::new();

/// How much a process grows until it has run an algorithm on a graph of nothing: code that is used for the first
/// time, of which the system maps as much around each page as at the start,
const GROWTH: f64 = 2.3;
/// and the beginnings of heaps.
const HEAPS: f64 = 5.8e6;
/// Each further host of a process, and each thread.
const HOST: f64 = 0.25e6;
const THREAD: f64 = 0.06e6;
/// The library of a launcher, which each rank loads, and its buffers.
pub(super) const RANK: f64 = 12.5e6;
/// A process at its start, where the system does not tell.
const USUAL: f64 = 5e6;

/// Notes what this process takes by itself. Plans count from there; without this call, from the first plan on.
pub(crate) fn note_start() {
    AT_START.get_or_init(resident);
}

/// Bytes of a process with this many hosts and threads, apart from what hosts need for a graph.
pub(super) fn process(hosts: usize, threads: usize) -> f64 {
    let start = AT_START.get_or_init(resident);
    HEAPS + GROWTH * start + HOST * (hosts - 1) as f64 + THREAD * threads as f64
}

/// Bytes of memory that this process has now.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib = line.trim().strip_suffix("kB").and_then(|number| number.trim().parse::<f64>().ok());
    kib.map_or(USUAL, |kib| 1024.0 * kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_threads_are_added_to_the_process() {
        let alone = process(1, 1);
        // A few megabytes at least, and not the machine.
        assert!((2e6..4e9).contains(&alone), "{alone}");
        assert!((process(3, 5) - alone - 2.0 * HOST - 4.0 * THREAD).abs() < 1.0);
    }
}
