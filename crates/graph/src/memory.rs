//! What happens where the system has no memory left for pages that no allocator gives out.

use std::sync::OnceLock;

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
