//! Sleeps that are as short as they are meant to be.
//!
//! Systems wake a thread up to 50 µs late, so that several wake together. That is as long as a
//! message takes: a thread that naps between looks at its messages asks to be woken in time.

use std::time::Duration;

/// How late a thread that naps may be woken.
#[cfg(target_os = "linux")]
const SLACK: Duration = Duration::from_micros(1);

thread_local! {
    /// Made when a thread naps for the first time.
    static IN_TIME: () = ask_to_be_woken_in_time();
}

/// Sleeps.
pub(super) fn nap(time: Duration) {
    IN_TIME.with(|()| std::thread::sleep(time));
}

/// Where the system refuses, naps are longer.
#[cfg(target_os = "linux")]
fn ask_to_be_woken_in_time() {
    // SAFETY: takes numbers only, and concerns the calling thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, SLACK.as_nanos() as libc::c_ulong) };
}

#[cfg(not(target_os = "linux"))]
fn ask_to_be_woken_in_time() {}
