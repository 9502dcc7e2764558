//! A [`VertexSet`] is a set: whatever is done to it, it holds what a `BTreeSet` would.

use std::collections::BTreeSet;
use std::ops::Range;

use parton_graph::{LocalId, VertexSet};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Action {
    Insert(u32),
    /// One by one, each if it is meant.
    InsertSome(Vec<(u32, bool)>),
    InsertRange(Range<u32>),
    RemoveRange(Range<u32>),
    Drain,
}

/// Ranges begin and end anywhere in a word, so that most of them share words with what must stay.
fn actions(len: u32) -> impl Strategy<Value = Vec<Action>> {
    let range = || (0..=len, 0..=len).prop_map(|(a, b)| a.min(b)..a.max(b));
    let short = move || (0..=len, 0..70u32).prop_map(move |(a, n)| a..(a + n).min(len));
    let action = prop_oneof![
        6 => (0..len).prop_map(Action::Insert),
        2 => prop::collection::vec((0..len, any::<bool>()), 0..80).prop_map(Action::InsertSome),
        2 => prop_oneof![range(), short()].prop_map(Action::InsertRange),
        4 => prop_oneof![range(), short()].prop_map(Action::RemoveRange),
        1 => Just(Action::Drain),
    ];
    prop::collection::vec(action, 0..60)
}

fn members(set: &VertexSet, range: Range<u32>) -> Vec<u32> {
    set.iter_range(range).map(|vertex| vertex.0).collect()
}

fn check(set: &VertexSet, model: &BTreeSet<u32>, len: u32, look: Range<u32>) {
    assert_eq!(set.len(), model.len());
    assert_eq!(set.is_empty(), model.is_empty());
    assert!(members(set, 0..len).iter().eq(model), "all, ascending");
    assert!(members(set, look.clone()).iter().eq(model.range(look.clone())), "those in a range");
    assert_eq!(set.count_range(look.clone()), model.range(look).count());
    assert!((0..len).all(|v| set.contains(LocalId(v)) == model.contains(&v)));
}

proptest! {
    #[test]
    fn it_is_a_set(
        (len, actions) in (1..400u32).prop_flat_map(|len| (Just(len), actions(len))),
        looks in prop::collection::vec((0..400u32, 0..400u32), 60),
    ) {
        let mut set = VertexSet::new(len as usize);
        let mut model = BTreeSet::new();
        for (action, look) in actions.into_iter().zip(looks) {
            match action {
                Action::Insert(v) => assert_eq!(set.insert(LocalId(v)), model.insert(v)),
                Action::InsertSome(some) => {
                    let mut inserter = set.inserter();
                    some.iter().for_each(|&(v, is_meant)| inserter.insert_if(LocalId(v), is_meant));
                    drop(inserter);
                    model.extend(some.iter().filter(|(_, is_meant)| *is_meant).map(|(v, _)| v));
                }
                Action::InsertRange(range) => {
                    set.insert_range(range.clone());
                    model.extend(range);
                }
                Action::RemoveRange(range) => {
                    set.remove_range(range.clone());
                    model.retain(|v| !range.contains(v));
                }
                Action::Drain => {
                    let drained: Vec<u32> = set.drain().into_iter().map(|v| v.0).collect();
                    assert!(drained.iter().eq(&std::mem::take(&mut model)));
                }
            }
            let (a, b) = (look.0.min(len), look.1.min(len));
            check(&set, &model, len, a.min(b)..a.max(b));
        }
    }

    /// Threads that insert the same vertices: all are in, and each was new to exactly one thread.
    #[test]
    fn threads_insert_at_once(
        len in 1..5000u32,
        stride in 1..9u32,
        before in prop::collection::vec(0..5000u32, 0..50),
    ) {
        let set = VertexSet::new(len as usize);
        // Words that were occupied and emptied again.
        before.iter().for_each(|v| _ = set.insert(LocalId(v % len)));
        set.remove_range(0..len);
        let insert = |thread: u32| {
            let mine = (0..len).filter(|v| v % stride != thread % stride);
            mine.filter(|&v| set.insert(LocalId(v))).count()
        };
        let insert = &insert;
        let new: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|t| scope.spawn(move || insert(t))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        let expected: BTreeSet<u32> =
            (0..len).filter(|v| (0..3).any(|t| v % stride != t % stride)).collect();
        check(&set, &expected, len, len / 3..len);
        prop_assert_eq!(new, expected.len());
    }
}

/// A range that ends inside a word leaves the rest of that word alone: masters and mirrors, whose
/// border falls anywhere, are removed apart.
#[test]
fn trap_33_ranges_that_share_a_word() {
    for border in 0..=192u32 {
        for (removed, kept) in [(0..border, border..192), (border..192, 0..border)] {
            let mut set = VertexSet::new(192);
            set.insert_range(0..192);
            set.remove_range(removed);
            assert_eq!(members(&set, 0..192), Vec::from_iter(kept.clone()));
            // What stays is still found by all that follows the summary.
            assert_eq!((set.len(), set.is_empty()), (kept.len(), kept.is_empty()));
            assert_eq!(set.drain().len(), kept.len());
            assert!(set.is_empty());
        }
    }
}

#[test]
fn an_empty_range_may_lie_anywhere() {
    let none = VertexSet::new(0);
    assert_eq!(none.iter_range(70..70).count(), 0);
    none.remove_range(70..70);
}
