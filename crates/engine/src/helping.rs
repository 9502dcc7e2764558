//! Threads that help one of them through many short steps.
//!
//! A thread that goes to sleep takes longer to wake than a short step takes. Here helpers stay awake for a
//! while after each step, and nobody waits for one that has not come: a step is over when whoever takes
//! part in it is done, and the thread that leads may as well have done it all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long a thread stays awake with nothing to do.
const AWAKE: Duration = Duration::from_micros(200);
/// How often it looks again before it lets others have its core.
const LOOKS: u32 = 64;

/// Calls `lead` with a function that takes one step: `step` is called by this thread, as number 0, and at the
/// same time by any others of its pool that have nothing to do, each with a number of its own up to that
/// of threads in the pool. They come only if there is a step to take.
pub(crate) fn with_helpers<R>(
    step: impl Fn(usize) + Sync,
    lead: impl FnOnce(&mut dyn FnMut()) -> R,
) -> R {
    let (steps, step) = (&Steps::default(), &step);
    let leader = rayon::current_thread_index();
    rayon::in_place_scope(|scope| {
        let _end = End(steps);
        let mut called = false;
        lead(&mut || {
            if !std::mem::replace(&mut called, true) {
                scope.spawn_broadcast(move |_, thread| {
                    if Some(thread.index()) != leader {
                        steps.help(|| step(thread.index() + 1));
                    }
                });
            }
            steps.lead(|| step(0));
        })
    })
}

/// Steps that a thread leads and others join.
#[derive(Default)]
struct Steps {
    /// The number of the last step, whether it can be joined, whether it was the last of all, and how many
    /// have joined it and are not done yet.
    state: AtomicU64,
    asleep: AtomicU64,
    lock: Mutex<()>,
    bell: Condvar,
}

/// How many have joined.
const JOINED: u64 = (1 << 16) - 1;
/// Whether the step can be joined.
const OPEN: u64 = 1 << 16;
/// Whether there is no step any more.
const OVER: u64 = 1 << 17;
/// The number of steps goes up by one.
const NEXT: u64 = 1 << 18;

impl Steps {
    fn lead(&self, step: impl FnOnce()) {
        let open = (self.state.load(Ordering::Relaxed) & !JOINED) + (NEXT | OPEN);
        self.set(open);
        let _close = Close(self);
        step();
    }

    /// Joins every step until the last is over.
    fn help(&self, step: impl Fn()) {
        let mut last = 0;
        loop {
            let is_news =
                |state: u64| state & OVER != 0 || state & OPEN != 0 && state / NEXT != last;
            let state = self.wait(is_news);
            if state & OVER != 0 {
                return;
            }
            let joined = Ordering::SeqCst;
            if self.state.compare_exchange(state, state + 1, joined, Ordering::Relaxed).is_ok() {
                last = state / NEXT;
                let _leave = Leave(self);
                step();
            }
        }
    }

    fn set(&self, state: u64) {
        self.state.store(state, Ordering::SeqCst);
        self.ring();
    }

    /// Wakes whoever waits for the state to change.
    fn ring(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    /// Waits for a state.
    fn wait(&self, is_it: impl Fn(u64) -> bool) -> u64 {
        let look = || Some(self.state.load(Ordering::SeqCst)).filter(|&state| is_it(state));
        for _ in 0..LOOKS {
            if let Some(state) = look() {
                return state;
            }
            std::hint::spin_loop();
        }
        let began = Instant::now();
        while began.elapsed() < AWAKE {
            if let Some(state) = look() {
                return state;
            }
            yield_now();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever changes the state after this sees that somebody is asleep.
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let state = loop {
            match look() {
                Some(state) => break state,
                None => guard = self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner),
            }
        };
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        state
    }
}

/// Ends a step when the thread that leads is done, however that ends.
struct Close<'s>(&'s Steps);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_and(!OPEN, Ordering::SeqCst);
        self.0.wait(|state| state & JOINED == 0);
    }
}

/// Leaves a step.
struct Leave<'s>(&'s Steps);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_sub(1, Ordering::SeqCst);
        self.0.ring();
    }
}

/// Sends helpers away.
struct End<'s>(&'s Steps);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.set(OVER);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Threads take numbers until there are none left; every step is complete before the next begins.
    #[test]
    fn all_of_a_step_is_done_when_it_is_over() {
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let step = |thread: usize| {
                assert!(thread <= threads);
                while next.fetch_add(1, Ordering::Relaxed) < 100 {
                    sum.fetch_add(1, Ordering::Relaxed);
                }
            };
            let lead = |take_step: &mut dyn FnMut()| {
                for number in 1..500 {
                    next.store(0, Ordering::Relaxed);
                    take_step();
                    assert_eq!(sum.load(Ordering::Relaxed), 100 * number);
                    // Helpers fall asleep now and then.
                    if number % 100 == 0 {
                        std::thread::sleep(2 * AWAKE);
                    }
                }
                "led"
            };
            assert_eq!(pool.install(|| with_helpers(step, lead)), "led");
        }
    }

    #[test]
    fn others_do_help() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let came = AtomicUsize::new(0);
        let step = |thread: usize| {
            if thread > 0 {
                came.fetch_add(1, Ordering::SeqCst);
            } else {
                while came.load(Ordering::SeqCst) == 0 {
                    yield_now();
                }
            }
        };
        pool.install(|| with_helpers(step, |take_step| take_step()));
        assert_eq!(came.into_inner(), 1);
    }

    #[test]
    fn whoever_fails_keeps_nobody_waiting() {
        for failing in [0, 1] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            let came = AtomicUsize::new(0);
            let step = |thread: usize| {
                came.fetch_or(1 << thread.min(1), Ordering::SeqCst);
                while came.load(Ordering::SeqCst) != 3 {
                    yield_now();
                }
                assert_ne!(thread.min(1), failing, "as planned");
            };
            let run = || pool.install(|| with_helpers(step, |take_step| take_step()));
            let run = std::panic::AssertUnwindSafe(run);
            assert!(std::panic::catch_unwind(run).is_err());
        }
    }
}
