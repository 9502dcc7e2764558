//! Panics of the Parquet library, turned into errors.
//!
//! The library asserts where it should check, so a damaged file can make it panic. Only calls into
//! the library go through here: a panic of ours is a bug and stays loud.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use parquet::errors::{ParquetError, Result};

thread_local! {
    /// Whether this thread is inside [`contained`].
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the library; a panic becomes an error, without a message on the terminal.
///
/// What `work` has changed must not be used again after an error.
pub(super) fn contained<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    hush_contained_panics();
    let before = CONTAINED.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(before);
    outcome.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Err(ParquetError::General(format!("damaged: {}", text.unwrap_or_default())))
    })
}

/// The panic hook belongs to the whole process, so the new one steps in only for a thread that is
/// inside [`contained`], and otherwise does what the old one did. Set once, never taken back.
fn hush_contained_panics() {
    static HUSHED: Once = Once::new();
    // A hook cannot be changed while its thread panics; then the messages simply appear.
    if !std::thread::panicking() {
        HUSHED.call_once(|| {
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !CONTAINED.try_with(Cell::get).unwrap_or(false) {
                    usual(info);
                }
            }));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_and_the_thread_goes_on() {
        let error = contained::<()>(|| panic!("index {} out of range", 7)).unwrap_err();
        assert_eq!(error.to_string(), "Parquet error: damaged: index 7 out of range");
        assert_eq!(contained(|| Ok(5)).unwrap(), 5);
        assert!(!CONTAINED.get());
    }
}
