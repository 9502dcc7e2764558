//! How much memory there is, and what happens where the system has none left for pages that no
//! allocator gives out.

use std::sync::OnceLock;

use crate::{Error, Result};

static END: OnceLock<fn(usize) -> !> = OnceLock::new();

/// From now on, the process ends by `end` where this many bytes cannot be had; otherwise that is a
/// panic. Only the first call in a process counts.
pub fn on_exhaustion(end: fn(usize) -> !) {
    let _ = END.set(end);
}

/// Ends the process, or panics, because this many bytes cannot be had.
pub(crate) fn exhausted(bytes: usize) -> ! {
    match END.get() {
        Some(end) => end(bytes),
        None => panic!("out of memory: {bytes} bytes cannot be had"),
    }
}

/// Refuses a graph of this name and size that takes at least `bytes` where the machine has less
/// free. Otherwise the system would end the process, without a word, when memory runs out.
pub fn check(name: &str, vertices: u64, edges: u64, bytes: u128) -> Result<()> {
    let Some(available) = available().filter(|&available| bytes > u128::from(available)) else {
        return Ok(());
    };
    Err(Error::Memory(format!(
        "{name}: {vertices} vertices and {edges} edges take at least {:.1} GB of memory, but {:.1} \
         GB are free",
        bytes as f64 / 1e9,
        available as f64 / 1e9
    )))
}

/// Bytes that processes can still get, swap included, if the system tells: those of the machine, or
/// the limit of its control group (cgroup version 2) where that is less.
fn available() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free = free_in(&told)?;
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|limit| limit.trim().parse().ok());
    Some(limit.map_or(free, |limit: u64| limit.min(free)))
}

/// Bytes free according to `/proc/meminfo`.
fn free_in(told: &str) -> Option<u64> {
    let bytes = |key: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib << 10)
    };
    Some(bytes("MemAvailable")? + bytes("SwapFree").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_what_the_system_tells() {
        let told = "MemTotal:  9 kB\nMemAvailable:   3 kB\nSwapFree: 2 kB\n";
        assert_eq!(free_in(told), Some(5 << 10));
        assert_eq!(free_in("MemAvailable: 3 kB\n"), Some(3 << 10));
        assert_eq!(free_in("MemTotal: 3 kB\n"), None);
    }

    #[test]
    fn only_what_cannot_fit_is_refused() {
        check("small", 1, 1, 1 << 10).unwrap();
        let refused = check("large", 1, 1 << 60, 1 << 62);
        if cfg!(target_os = "linux") {
            let message = refused.unwrap_err().to_string();
            assert!(message.starts_with("large: 1 vertices and 1152921504606846976 edges take"));
        }
    }
}
