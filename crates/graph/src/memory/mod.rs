//! How much memory a process may use, and what happens where the system has none left for pages that no
//! allocator gives out.

pub mod limits;

use std::sync::OnceLock;

use crate::{Error, Result};
use limits::MemoryLimits;

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

/// Whether the system has room for this many further bytes, which are given back at once.
pub fn is_there(bytes: usize) -> bool {
    memmap2::MmapMut::map_anon(bytes).is_ok()
}

/// Refuses a graph of this name and size that takes at least `bytes` where this process may use less.
/// Otherwise the system would end the process, without a word, when memory runs out.
pub fn check(name: &str, vertices: u64, edges: u64, bytes: u128) -> Result<()> {
    let limit = MemoryLimits::of_process().least(0);
    let Some(limit) = limit.filter(|limit| bytes > u128::from(limit.bytes)) else {
        return Ok(());
    };
    Err(Error::Memory(format!(
        "{name}: {vertices} vertices and {edges} edges take at least {:.1} GB of memory, but this process \
         may use {:.1} GB ({})",
        bytes as f64 / 1e9,
        limit.bytes as f64 / 1e9,
        limit.source
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_fit_is_refused() {
        check("small", 1, 1, 1 << 10).unwrap();
        let refused = check("large", 1, 1 << 60, 1 << 62);
        if cfg!(target_os = "linux") {
            let message = refused.unwrap_err().to_string();
            assert!(message.starts_with("large: 1 vertices and 1152921504606846976 edges take"));
        }
    }

    #[test]
    fn room_is_found_where_there_is_some() {
        assert!(is_there(1 << 20));
        assert!(!is_there(1 << 60));
    }
}
