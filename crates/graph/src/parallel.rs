//! Parallel loops whose machinery is compiled once.
//!
//! A loop over Rayon's iterators compiles the machinery that splits, steals and joins anew for its closure:
//! ten kilobytes of code in each loop of each engine for each program. Here that machinery sees a loop as
//! `&dyn Fn` and calls it once per task; only the loop inside a task is generic.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::huge;

/// Elements that a task makes or visits where each is a matter of nanoseconds.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// Calls `task` with each number below `count`.
fn run_tasks(count: usize, task: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => {}
        1 => task(0),
        _ => (0..count).into_par_iter().with_max_len(1).for_each(task),
    }
}

/// Calls `task` with each item.
pub fn for_each<I: Sync>(items: &[I], task: impl Fn(&I) + Sync) {
    run_tasks(items.len(), &|number| task(&items[number]));
}

/// What `task` makes of each item, in their order.
pub fn map<I: Sync, T: Send>(items: &[I], task: impl Fn(&I) -> T + Sync) -> Vec<T> {
    fill(Vec::with_capacity(items.len()), items.len(), 1, |number| task(&items[number]))
}

/// What `task` makes of each item and its number, in their order.
pub fn map_owned<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    task: impl Fn(usize, I) -> T + Sync,
) -> Vec<T> {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let take = |number: usize| items[number].lock().ok()?.take();
    fill(Vec::with_capacity(items.len()), items.len(), 1, |number| {
        task(number, take(number).expect("each item is taken once"))
    })
}

/// A vector of `len` elements on [large pages](huge), each made of its index.
pub fn generate<T: Send>(len: usize, element: impl Fn(usize) -> T + Sync) -> Vec<T> {
    fill(huge::vec_with_capacity(len), len, ELEMENTS_PER_TASK, element)
}

/// Calls `visit` with each number below `count`. Threads take many at a time.
pub fn for_each_index(count: usize, visit: impl Fn(usize) + Sync) {
    for_each(&pieces(0..count, ELEMENTS_PER_TASK), |piece| piece.clone().for_each(&visit));
}

/// The sum of `value` over all numbers below `count`.
pub fn sum(count: usize, value: impl Fn(usize) -> u64 + Sync) -> u64 {
    let sums =
        map(&pieces(0..count, ELEMENTS_PER_TASK), |piece| piece.clone().map(&value).sum::<u64>());
    sums.into_iter().sum()
}

/// Consecutive pieces of a range, of `len` numbers each but for the last.
pub fn pieces(range: Range<usize>, len: usize) -> Vec<Range<usize>> {
    let end = range.end;
    range.step_by(len).map(|first| first..end.min(first + len)).collect()
}

/// Fills an empty vector with room for `len` elements.
fn fill<T: Send>(
    mut vec: Vec<T>,
    len: usize,
    per_task: usize,
    element: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    /// Where elements go. Threads share the address, and each writes to places of its own.
    struct Places<T>(*mut MaybeUninit<T>);
    // SAFETY: a task moves values of `T` to the thread that owns the vector, which `T: Send` allows.
    unsafe impl<T: Send> Sync for Places<T> {}
    impl<T> Places<T> {
        /// # Safety
        /// The range lies in the vector's room, and no other thread has any of it.
        #[allow(clippy::mut_from_ref, reason = "ranges of different tasks do not overlap")]
        unsafe fn of(&self, range: Range<usize>) -> &mut [MaybeUninit<T>] {
            // SAFETY: see above.
            unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
        }
    }

    let places = Places(vec.spare_capacity_mut()[..len].as_mut_ptr());
    run_tasks(len.div_ceil(per_task), &|task| {
        let range = task * per_task..len.min((task + 1) * per_task);
        // SAFETY: the range ends at `len` at most, and tasks have different numbers.
        let places = unsafe { places.of(range.clone()) };
        for (place, index) in places.iter_mut().zip(range) {
            place.write(element(index));
        }
    });
    // SAFETY: the tasks together have written every element below `len`. If one panics, this is not
    // reached, and what has been written is leaked.
    unsafe { vec.set_len(len) };
    vec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_in_order_and_dropped_once() {
        let of_one = std::sync::Arc::new(());
        for len in [0, 1, 2, ELEMENTS_PER_TASK, 3 * ELEMENTS_PER_TASK + 5] {
            let all = generate(len, |index| (index, of_one.clone()));
            assert!(all.iter().map(|(index, _)| *index).eq(0..len));
            assert_eq!(std::sync::Arc::strong_count(&of_one), len + 1);
            let numbers = map(&all, |(index, _)| index * 2);
            assert!(numbers.into_iter().eq((0..len).map(|index| index * 2)));
            let owned = map_owned(all, |number, (index, one)| (number == index, one));
            assert!(owned.iter().all(|(is_same, _)| *is_same));
            assert_eq!(std::sync::Arc::strong_count(&of_one), len + 1);
        }
        assert_eq!(std::sync::Arc::strong_count(&of_one), 1);
    }

    #[test]
    fn pieces_cover_a_range() {
        assert_eq!(pieces(3..10, 3), [3..6, 6..9, 9..10]);
        assert!(pieces(5..5, 3).is_empty());
    }

    #[test]
    fn elements_without_size_are_counted() {
        assert_eq!(map(&[1, 2, 3], |_| ()).len(), 3);
    }
}
