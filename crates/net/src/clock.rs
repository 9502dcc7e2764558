//! Time as hosts see it: real, or the simulator's.
//!
//! Every decision by time uses this clock, so that under the simulator it depends on the seed alone
//! and waiting costs nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A source of time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's time, since an instant.
    Real(Instant),
    /// Nanoseconds that the simulator advances.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's time, from now on.
    pub fn real() -> Self {
        Clock::Real(Instant::now())
    }

    /// Time since the clock was started.
    pub fn now(&self) -> Duration {
        match self {
            Clock::Real(start) => start.elapsed(),
            Clock::Virtual(nanoseconds) => {
                Duration::from_nanos(nanoseconds.load(Ordering::Relaxed))
            }
        }
    }
}
