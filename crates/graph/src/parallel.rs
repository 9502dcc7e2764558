//! Parallel loops whose machinery is compiled once.
//!
//! A loop over Rayon's iterators compiles the machinery that splits, steals and joins anew for its closure:
//! ten kilobytes of code in each loop of each engine for each program. Here that machinery sees a loop as
//! `&dyn Fn` and calls it once per task; only the loop inside a task is generic.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::huge;

/// Elements that a task makes or visits where each is a matter of nanoseconds.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// Elements that make a task worthwhile where some cost far more than others, as rows of edges do.
const MIN_ELEMENTS_PER_TASK: usize = 1 << 6;

/// Bytes of a task that copies: copying fewer takes less time than waking a thread.
const BYTES_PER_COPY: usize = 1 << 20;

/// Calls `task` with each number below `count`.
fn run_tasks(count: usize, task: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => {}
        1 => task(0),
        _ => (0..count).into_par_iter().with_max_len(1).for_each(task),
    }
}

/// Memory that a task uses for a while and leaves to later tasks.
#[derive(Default)]
pub struct Scratch<S>(Mutex<Vec<S>>);

impl<S: Default> Scratch<S> {
    /// Calls `task` with what another task has left, or a default.
    pub fn with<T>(&self, task: impl FnOnce(&mut S) -> T) -> T {
        let lock = || self.0.lock().expect("no thread panicked holding this lock");
        let mut scratch = lock().pop().unwrap_or_default();
        let made = task(&mut scratch);
        lock().push(scratch);
        made
    }

    /// What all tasks have left.
    pub(crate) fn into_all(self) -> Vec<S> {
        self.0.into_inner().expect("no thread panicked holding this lock")
    }
}

/// Calls `task` with each item.
pub fn for_each<I: Sync>(items: &[I], task: impl Fn(&I) + Sync) {
    run_tasks(items.len(), &|number| task(&items[number]));
}

/// Copies bytes, by all threads if there are many.
pub fn copy(from: &[u8], to: &mut [u8]) {
    let pieces = to.chunks_mut(BYTES_PER_COPY).zip(from.chunks(BYTES_PER_COPY));
    for_each_owned(pieces, |_, (to, from)| to.copy_from_slice(from));
}

/// Appends bytes, by all threads if there are many.
pub fn extend(bytes: &mut Vec<u8>, more: &[u8]) {
    let len = bytes.len() + more.len();
    bytes.reserve(more.len());
    let room = &mut bytes.spare_capacity_mut()[..more.len()];
    let pieces = room.chunks_mut(BYTES_PER_COPY).zip(more.chunks(BYTES_PER_COPY));
    for_each_owned(pieces, |_, (to, from)| _ = to.write_copy_of_slice(from));
    // SAFETY: every byte up to there was written.
    unsafe { bytes.set_len(len) };
}

/// Calls `task` with each item and its number.
pub fn for_each_owned<I: Send>(items: impl IntoIterator<Item = I>, task: impl Fn(usize, I) + Sync) {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    run_tasks(items.len(), &|number| task(number, take(&items[number])));
}

/// Calls `task` as often as the pool has threads.
pub(crate) fn for_each_thread(task: impl Fn() + Sync) {
    run_tasks(rayon::current_num_threads(), &|_| task());
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
    fill(Vec::with_capacity(items.len()), items.len(), 1, |number| {
        task(number, take(&items[number]))
    })
}

/// The item that one task owns.
fn take<I>(item: &Mutex<Option<I>>) -> I {
    item.lock().ok().and_then(|mut item| item.take()).expect("each item is taken once")
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

/// The sums of all `value`s before each number up to `count`: an array of offsets, on [large pages](huge).
pub fn prefix_sums(count: usize, value: impl Fn(usize) -> u64 + Sync) -> Vec<u64> {
    let parts =
        pieces(0..count, count.div_ceil(4 * rayon::current_num_threads()).max(ELEMENTS_PER_TASK));
    let mut before = 0;
    let mut starts = map(&parts, |part| part.clone().map(&value).sum::<u64>());
    for start in &mut starts {
        before += std::mem::replace(start, before);
    }
    let mut sums: Vec<u64> = huge::zeroed_vec(count + 1);
    let mut free = &mut sums[1..];
    let room = parts.iter().map(|part| free.split_off_mut(..part.len()).expect("room for all"));
    let tasks: Vec<_> = room.zip(&parts).zip(starts).collect();
    for_each_owned(tasks, |_, ((room, part), mut sum)| {
        for (place, number) in room.iter_mut().zip(part.clone()) {
            sum += value(number);
            *place = sum;
        }
    });
    sums
}

/// All elements of some lists, one list after the other.
#[inline(never)]
pub fn concat<T: Copy + Send + Sync>(lists: &[Vec<T>]) -> Vec<T> {
    let len = lists.iter().map(Vec::len).sum();
    if len * size_of::<T>() < BYTES_PER_COPY {
        return lists.concat();
    }
    let mut all = huge::vec_with_capacity(len);
    let mut free = &mut all.spare_capacity_mut()[..len];
    let room = lists.iter().map(|list| free.split_off_mut(..list.len()).expect("room for all"));
    let tasks: Vec<_> = room.zip(lists).collect();
    for_each_owned(tasks, |_, (room, list)| _ = room.write_copy_of_slice(list));
    // SAFETY: every element up to there was written.
    unsafe { all.set_len(len) };
    all
}

/// What `combine` makes of the values that `of_piece` has for pieces of the numbers below `count`: in
/// order, `None` if there are none.
pub fn reduce<T: Send>(
    count: usize,
    of_piece: impl Fn(Range<usize>) -> T + Sync,
    combine: impl Fn(T, T) -> T,
) -> Option<T> {
    map(&shares(count), |piece| of_piece(piece.clone())).into_iter().reduce(combine)
}

/// Whether `holds` is true of all numbers below `count`. Tasks that have not started when it is found
/// false do not ask it.
pub fn all(count: usize, holds: impl Fn(usize) -> bool + Sync) -> bool {
    find_first(count, |number| (!holds(number)).then_some(())).is_none()
}

/// Whether `holds` is true of all items, which may be many and cheap to ask about.
pub fn all_of<I: Sync>(items: &[I], holds: impl Fn(&I) -> bool + Sync) -> bool {
    let shares = shares(items.len());
    let fails = |share: usize| !items[shares[share].clone()].iter().all(&holds);
    find_first_task(shares.len(), |share| fails(share).then_some(())).is_none()
}

/// What `find` finds at the least number below `count` where it finds anything.
pub fn find_first<T: Send>(count: usize, find: impl Fn(usize) -> Option<T> + Sync) -> Option<T> {
    let shares = shares(count);
    find_first_task(shares.len(), |share| shares[share].clone().find_map(&find))
}

/// As [`find_first`], for few numbers that take long: each is a task.
pub(crate) fn find_first_task<T: Send>(
    count: usize,
    find: impl Fn(usize) -> Option<T> + Sync,
) -> Option<T> {
    let least = AtomicUsize::new(usize::MAX);
    let found: Mutex<Option<(usize, T)>> = Mutex::new(None);
    run_tasks(count, &|number| {
        if number < least.load(Ordering::Relaxed)
            && let Some(value) = find(number)
        {
            let mut found = found.lock().expect("no thread panicked holding this lock");
            if found.as_ref().is_none_or(|&(before, _)| number < before) {
                *found = Some((number, value));
                least.fetch_min(number, Ordering::Relaxed);
            }
        }
    });
    let found = found.into_inner().expect("no thread panicked holding this lock");
    found.map(|(_, value)| value)
}

/// The numbers below `count` in pieces, several for each thread where there are enough.
fn shares(count: usize) -> Vec<Range<usize>> {
    let even = count / (16 * rayon::current_num_threads());
    pieces(0..count, even.clamp(MIN_ELEMENTS_PER_TASK, ELEMENTS_PER_TASK))
}

/// Calls `task` with each item. Threads take items one after the other from the front, so that few are begun
/// and not done at any time.
pub(crate) fn for_each_in_turn<I: Send>(
    items: impl IntoIterator<Item = I>,
    task: impl Fn(usize, I) + Sync,
) {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let next = AtomicUsize::new(0);
    run_tasks(rayon::current_num_threads().min(items.len()), &|_| {
        while let Some(number) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < items.len())
        {
            task(number, take(&items[number]));
        }
    });
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
    fn the_first_of_several_finds_is_the_answer() {
        for count in [0, 1, 2, 100, 3 * ELEMENTS_PER_TASK + 5] {
            for first in [0, 1, count / 2, count] {
                let find = |number: usize| (number >= first).then_some(number);
                let expected = (first < count).then_some(first);
                assert_eq!(find_first(count, find), expected);
                assert_eq!(find_first_task(count, find), expected);
                assert_eq!(all(count, |number| number != first), expected.is_none());
                let numbers: Vec<usize> = (0..count).collect();
                assert_eq!(all_of(&numbers, |&number| number != first), expected.is_none());
            }
            let bounds = reduce(
                count,
                |piece| (piece.start, piece.end),
                |a, b| {
                    assert_eq!(a.1, b.0, "pieces in order, without a gap");
                    (a.0, b.1)
                },
            );
            assert_eq!(bounds, (count > 0).then_some((0, count)));
        }
    }

    #[test]
    fn loops_for_effect_visit_all() {
        let sum = AtomicUsize::new(0);
        for_each_owned(vec![Box::new(10), Box::new(20)], |number, item| {
            sum.fetch_add(number + *item, Ordering::Relaxed);
        });
        let scratch: Scratch<Vec<usize>> = Scratch::default();
        for_each_owned(0..100, |_, number| {
            scratch.with(|numbers| {
                numbers.clear();
                numbers.push(number);
                sum.fetch_add(numbers.iter().sum(), Ordering::Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), 31 + 4950);
    }

    #[test]
    fn sums_and_lists_are_put_together() {
        for count in [0, 1, 7, 3 * ELEMENTS_PER_TASK + 5, 40 * ELEMENTS_PER_TASK] {
            let value = |number: usize| (number % 5) as u64;
            let mut sum = 0;
            let mut expected = vec![0];
            expected.extend((0..count).map(|number| {
                sum += value(number);
                sum
            }));
            assert_eq!(prefix_sums(count, value), expected);
            let lists: Vec<Vec<usize>> =
                pieces(0..count, 1000).into_iter().map(|piece| piece.collect()).collect();
            assert!(concat(&lists).into_iter().eq(0..count));
        }
        assert!(concat::<u8>(&[vec![], vec![]]).is_empty());
    }

    #[test]
    fn items_in_turn_are_all_visited() {
        for count in [0, 1, 100] {
            let sum = AtomicUsize::new(0);
            for_each_in_turn(0..count, |number, item: usize| {
                assert_eq!(number, item);
                sum.fetch_add(item + 1, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), count * (count + 1) / 2);
        }
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
