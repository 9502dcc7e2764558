//! Room to work in that threads pass on to each other.

use std::sync::{Mutex, PoisonError};

/// What threads need for a while, as many as work at the same time: fresh memory costs more than to go through
/// it once.
pub(crate) struct Spares<T>(Mutex<Vec<T>>);

impl<T> Spares<T> {
    /// None yet.
    pub(crate) fn new() -> Self {
        Spares(Mutex::default())
    }

    /// One that nobody needs just now, or a new one.
    pub(crate) fn take_or(&self, new: impl FnOnce() -> T) -> T {
        let unused = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        unused.unwrap_or_else(new)
    }

    /// Leaves one to others.
    pub(crate) fn leave(&self, one: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}
