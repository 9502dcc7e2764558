//! Threads of the pool that help one of them, the leader, through many short steps.
//!
//! Waking a sleeping thread takes longer than a short step. So helpers spin for a while after each step before they
//! sleep. A step is over when all helpers that joined it are done. The leader waits for no other helper, and may do a
//! whole step alone. Between steps helpers run other tasks of the pool.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a helper spins with nothing to do.
const SPIN_TIME: Duration = Duration::from_micros(200);
/// How often a thread checks for what it waits for before it yields.
const CHECKS_PER_YIELD: u32 = 64;

/// Threads that join steps.
pub(crate) struct Helpers {
    /// Held by the leader of a step.
    leading: Mutex<()>,
    steps: Arc<Steps>,
}

impl Helpers {
    /// The threads of this thread's pool. They join when there is a step.
    pub(crate) fn of_pool() -> Self {
        let present = (0..rayon::current_num_threads()).map(|_| AtomicBool::new(false));
        let steps = Steps { present: present.collect(), ..Steps::default() };
        Helpers { leading: Mutex::default(), steps: Arc::new(steps) }
    }

    /// Whether the pool has no other thread.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.present.len() == 1
    }

    /// Numbers that threads have in a step are below this. The leader need not be in the pool.
    pub(crate) fn num_threads(&self) -> usize {
        1 + self.steps.present.len()
    }

    /// Takes a step in which threads share out the elements of some lists, `at_once` at a time: each thread
    /// calls `part` with its number and its pieces. A thread begins with the list of its number, which is in
    /// its cache if the thread made it. No more threads join than there are pieces.
    pub(crate) fn share_out<T: Sync>(
        &self,
        lists: &[impl AsRef<[T]>],
        at_once: usize,
        part: impl Fn(usize, Pieces<'_, T>) + Sync,
    ) {
        let lists = lists.iter().map(AsRef::as_ref);
        let lists = lists.map(|elements| List { elements, taken: AtomicUsize::new(0) });
        let lists: Vec<List<'_, T>> = lists.collect();
        let pieces = lists.iter().map(|list| list.elements.len().div_ceil(at_once)).sum();
        let pieces_of = |thread| Pieces { lists: &lists, thread, passed: 0, at_once };
        self.step(pieces, &|thread| part(thread, pieces_of(thread)));
    }

    /// Takes a step: the leader calls `part` with 0, and helpers that join call it with numbers of their own
    /// below [`num_threads`](Self::num_threads). They find out through shared data what is left to do; `part`
    /// must not use the pool. No more threads than `wanted` take part: each that does not has nothing to do, and
    /// would only keep the others from what they share.
    fn step(&self, wanted: usize, part: &Part<'_>) {
        if wanted <= 1 {
            return part(0);
        }
        let _leading = locked(&self.leading);
        let steps = &self.steps;
        // SAFETY: only the lifetime changes. Helpers call `part` between joining a step and leaving it, and
        // join only while the step is open. `Close` closes it and waits until all have left, however this
        // call ends, and `part` lives until then. No other thread leads meanwhile.
        let part: &'static Part<'static> = unsafe { std::mem::transmute(part) };
        *steps.part.write().unwrap_or_else(PoisonError::into_inner) = Some(part);
        steps.wanted.store(wanted, Ordering::SeqCst);
        steps.state.fetch_add(NEXT | OPEN, Ordering::SeqCst);
        let close = Close(steps);
        steps.call();
        part(0);
        drop(close);
        if let Some(failure) = locked(&steps.failure).take() {
            resume_unwind(failure);
        }
    }
}

/// Elements that threads take, and how many are taken.
struct List<'p, T> {
    elements: &'p [T],
    taken: AtomicUsize,
}

/// The pieces that a thread takes.
pub(crate) struct Pieces<'p, T> {
    lists: &'p [List<'p, T>],
    thread: usize,
    /// Number of lists that are used up, from the thread's own on.
    passed: usize,
    at_once: usize,
}

impl<'p, T> Iterator for Pieces<'p, T> {
    type Item = &'p [T];

    fn next(&mut self) -> Option<&'p [T]> {
        while self.passed < self.lists.len() {
            let list = &self.lists[(self.thread + self.passed) % self.lists.len()];
            let start = list.taken.fetch_add(self.at_once, Ordering::Relaxed);
            if start < list.elements.len() {
                let rest = &list.elements[start..];
                return Some(&rest[..rest.len().min(self.at_once)]);
            }
            self.passed += 1;
        }
        None
    }
}

/// What a thread does in a step.
type Part<'p> = dyn Fn(usize) + Sync + 'p;

/// Steps that a thread leads and others join.
#[derive(Default)]
struct Steps {
    /// The number of the last step, whether it can be joined, and how many helpers are in it.
    state: AtomicU64,
    /// How many threads take part in the step.
    wanted: AtomicUsize,
    /// All helpers read it at once.
    part: RwLock<Option<&'static Part<'static>>>,
    /// The panic of a helper.
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    /// Which threads of the pool look for steps, or have been called to.
    present: Vec<AtomicBool>,
}

/// The helpers in the step.
const JOINED: u64 = (1 << 16) - 1;
/// Whether the step can be joined.
const OPEN: u64 = 1 << 16;
/// The number of steps goes up by one.
const NEXT: u64 = 1 << 17;

impl Steps {
    /// Whether the step is for a thread of the pool.
    fn is_for(&self, thread: usize) -> bool {
        thread < self.wanted.load(Ordering::SeqCst)
    }

    /// Calls the threads that the step is for and that do not look for steps.
    fn call(self: &Arc<Self>) {
        let leader = rayon::current_thread_index();
        let is_helper = |thread| Some(thread) != leader && self.is_for(thread);
        let mut helpers = (0..self.present.len()).filter(|&thread| is_helper(thread));
        if helpers.all(|thread| self.present[thread].load(Ordering::SeqCst)) {
            return;
        }
        let present = self.present.iter().enumerate();
        let is_called = present
            .map(|(thread, present)| is_helper(thread) && !present.swap(true, Ordering::SeqCst));
        let (steps, is_called) = (Arc::clone(self), is_called.collect::<Vec<_>>());
        rayon::spawn_broadcast(move |thread| {
            if is_called[thread.index()] {
                steps.attend(thread.index());
            }
        });
    }

    /// Lets a thread of the pool help as long as there are steps.
    fn attend(&self, thread: usize) {
        let (present, mut last) = (&self.present[thread], 0);
        loop {
            self.help(thread, &mut last);
            present.store(false, Ordering::SeqCst);
            // The leader of a new step may have seen this thread present.
            if self.open(thread, last).is_none() || present.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    /// Joins steps after the last one while there are any.
    fn help(&self, thread: usize, last: &mut u64) {
        while let Some(state) = self.find(thread, *last) {
            let (joined, failed) = (Ordering::SeqCst, Ordering::Relaxed);
            if self.state.compare_exchange(state, state + 1, joined, failed).is_ok() {
                *last = state / NEXT;
                let part = *self.part.read().unwrap_or_else(PoisonError::into_inner);
                if let Some(part) = part
                    && let Err(failure) = catch_unwind(AssertUnwindSafe(|| part(1 + thread)))
                {
                    *locked(&self.failure) = Some(failure);
                }
                self.state.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// A step that a thread can join, other than the last one.
    fn open(&self, thread: usize, last: u64) -> Option<u64> {
        let state = self.state.load(Ordering::SeqCst);
        (state & OPEN != 0 && state / NEXT != last && self.is_for(thread)).then_some(state)
    }

    /// Waits a while for such a step.
    fn find(&self, thread: usize, last: u64) -> Option<u64> {
        let mut began = None;
        loop {
            let step = look(|| self.open(thread, last));
            if step.is_some() {
                return step;
            }
            if *began.get_or_insert_with(Instant::now) + SPIN_TIME < Instant::now() {
                return None;
            }
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => began = None,
                _ => thread::yield_now(),
            }
        }
    }
}

/// Ends a step when the leader is done, also if it panics.
struct Close<'s>(&'s Steps);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        let steps = self.0;
        steps.state.fetch_and(!OPEN, Ordering::SeqCst);
        let all_have_left = || (steps.state.load(Ordering::SeqCst) & JOINED == 0).then_some(());
        while look(all_have_left).is_none() {
            thread::yield_now();
        }
        *steps.part.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Checks a few times for something.
fn look<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    (0..CHECKS_PER_YIELD).find_map(|_| {
        find().or_else(|| {
            std::hint::spin_loop();
            None
        })
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pool(threads: usize, test: impl FnOnce(&Helpers) + Send) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| test(&Helpers::of_pool()));
    }

    /// Every step is complete before the next begins.
    #[test]
    fn all_of_a_step_is_done_when_it_is_over() {
        for threads in [1, 2, 3, 8] {
            in_pool(threads, |helpers| {
                for number in 0..500 {
                    // Dropped when the step is over.
                    let (numbers, sum) = ((0..number).collect::<Vec<_>>(), AtomicUsize::new(0));
                    let (some, others) = numbers.split_at(number / 3);
                    helpers.share_out(&[some, &[], others], 7, |thread, pieces| {
                        assert!(thread < helpers.num_threads());
                        let sums = pieces.map(|piece| piece.iter().sum::<usize>());
                        sum.fetch_add(sums.sum(), Ordering::Relaxed);
                    });
                    assert_eq!(sum.into_inner(), numbers.iter().sum::<usize>());
                    // Helpers leave now and then.
                    if number % 100 == 0 {
                        thread::sleep(2 * SPIN_TIME);
                    }
                }
            });
        }
    }

    #[test]
    fn others_do_help_and_are_still_in_the_pool() {
        in_pool(2, |helpers| {
            for number in 0..1000 {
                let came = AtomicUsize::new(0);
                let meet = || {
                    came.fetch_add(1, Ordering::SeqCst);
                    while came.load(Ordering::SeqCst) < 2 {
                        thread::yield_now();
                    }
                };
                helpers.step(2, &|_| meet());
                came.store(0, Ordering::SeqCst);
                rayon::join(meet, meet);
                // Some leave just when they are wanted again.
                thread::sleep(SPIN_TIME * (number % 8) / 4);
            }
        });
    }

    #[test]
    fn no_more_threads_join_than_have_something_to_do() {
        in_pool(8, |helpers| {
            for number in 0..100 {
                let joined = AtomicUsize::new(0);
                helpers.share_out(&[[(); 3]], 1, |_, pieces| {
                    joined.fetch_add(1, Ordering::SeqCst);
                    pieces.for_each(|_| thread::sleep(SPIN_TIME));
                });
                assert!((1..=3).contains(&joined.into_inner()), "step {number}");
            }
        });
    }

    #[test]
    fn a_panic_blocks_no_thread_and_reaches_the_leader() {
        for fails in [|thread| thread == 0, |thread| thread != 0] {
            in_pool(2, |helpers| {
                let came = AtomicUsize::new(0);
                let part = |thread: usize| {
                    came.fetch_add(1, Ordering::SeqCst);
                    while came.load(Ordering::SeqCst) != 2 {
                        thread::yield_now();
                    }
                    assert!(!fails(thread), "as planned");
                };
                assert!(catch_unwind(AssertUnwindSafe(|| helpers.step(2, &part))).is_err());
                // And the next step goes on as if nothing had been.
                helpers.step(2, &|_| ());
            });
        }
    }
}
