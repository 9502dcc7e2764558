//! How threads share the work on one message. The bytes do not depend on it.

use std::ops::Range;

use parton_graph::parallel;

/// Fewer values, or places of a route, are handled before another thread has woken up.
const MIN_PER_TASK: usize = 1 << 13;

/// Tasks for each thread, so that a thread that starts late takes fewer.
const TASKS_PER_THREAD: usize = 4;

/// How many of `count` values or places a task handles: a multiple of 64, so that the bits of each task
/// begin a byte and its places begin a word.
pub(super) fn numbers_per_task(count: usize) -> usize {
    let per_task = match rayon::current_num_threads() {
        1 => count.max(1),
        threads => count.div_ceil(TASKS_PER_THREAD * threads).max(MIN_PER_TASK),
    };
    per_task.next_multiple_of(u64::BITS as usize)
}

/// The numbers below `count` in tasks.
pub(super) fn tasks(count: usize) -> Vec<Range<usize>> {
    parallel::pieces(0..count, numbers_per_task(count))
}

/// The lists that `of_task` makes of the numbers below `count`, one after the other.
pub(super) fn concat<T: Copy + Send + Sync>(
    count: usize,
    of_task: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Vec<T> {
    let mut lists = parallel::map_owned(tasks(count), |_, task| of_task(task));
    match lists.len() {
        0 | 1 => lists.pop().unwrap_or_default(),
        _ => parallel::concat(&lists),
    }
}
