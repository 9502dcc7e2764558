//! Scratch memory that threads pass on to each other.

use std::sync::{Mutex, PoisonError};

/// Scratch memory, one piece for each thread that works at the same time. Fresh memory costs more than one
/// pass over it.
pub(crate) struct Spares<T>(Mutex<Vec<T>>);

impl<T> Spares<T> {
    /// None yet.
    pub(crate) fn new() -> Self {
        Spares(Mutex::default())
    }

    /// An unused piece, or a new one.
    pub(crate) fn take_or(&self, new: impl FnOnce() -> T) -> T {
        let unused = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        unused.unwrap_or_else(new)
    }

    /// Leaves a piece to other threads.
    pub(crate) fn leave(&self, one: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}
