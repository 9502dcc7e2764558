//! Room to work in that threads pass on to each other.

use std::sync::{Mutex, PoisonError};

/// What threads need for a while, as many as work at the same time. Fresh memory costs more than to go through
/// it once.
pub(crate) struct Spares<T>(Mutex<Vec<T>>);

impl<T> Spares<T> {
    /// None yet.
    pub(crate) fn new() -> Self {
        Spares(Mutex::default())
    }

    /// Works with one that nobody needs just now, or with a new one.
    pub(crate) fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = all().pop();
        let mut one = unused.unwrap_or_else(new);
        let result = work(&mut one);
        all().push(one);
        result
    }
}
