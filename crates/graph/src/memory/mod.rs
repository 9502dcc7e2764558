//! How much memory a process may use, and what happens where the system has none left for pages that no
//! allocator gives out.

pub mod limits;

use std::fmt;
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
        "{name}: {vertices} vertices and {edges} edges take at least {} of memory, but this process \
         may use {} ({})",
        Amount(bytes),
        Amount(limit.bytes.into()),
        limit.source
    )))
}

/// Bytes as people read them, with at most four digits where that can be: `12.3 MB`. Printing asks for
/// no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub u128);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = ["kB", "MB", "GB", "TB"].into_iter().peekable();
        let (mut scaled, mut unit) = (self.0 as f64, None);
        while scaled >= 999.95 && units.peek().is_some() {
            scaled /= 1e3;
            unit = units.next();
        }
        match unit {
            None => write!(f, "{} bytes", self.0),
            Some(unit) => write!(f, "{scaled:.1} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_unit_that_fits() {
        let shown = [0, 999, 1000, 12_345_678, 999_999_999, 5_000_000_000_000_000];
        let shown = shown.map(|bytes| Amount(bytes).to_string());
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "12.3 MB", "1.0 GB", "5000.0 TB"]);
    }

    #[test]
    fn only_what_cannot_fit_is_refused() {
        check("small", 1, 1, 1 << 10).unwrap();
        let refused = check("large", 1, 1 << 60, 1 << 62);
        if cfg!(target_os = "linux") {
            let message = refused.unwrap_err().to_string();
            let sizes =
                "large: 1 vertices and 1152921504606846976 edges take at least 4611686.0 TB";
            assert!(message.starts_with(sizes), "{message}");
        }
    }

    #[test]
    fn room_is_found_where_there_is_some() {
        assert!(is_there(1 << 20));
        assert!(!is_there(1 << 60));
    }
}
