//! Looking for neighbours that two lists have in common.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::lists::{Batch, Lists};

/// Vertices that a thread takes at a time.
const PIECE: usize = 1 << 7;
/// Looking something up in a list costs about as much as going past so many on it, for every
/// halving of the list.
const LOOK_UP: usize = 3;
/// Counts of a thread are added up before they can exceed 32 bits.
const MOST: u64 = 1 << 31;

/// What was found, by place in the order.
#[derive(Default)]
pub(super) struct Counter {
    totals: Vec<u64>,
}

/// What one thread has found, and what it looks for.
struct State<'c> {
    /// How often each vertex is a neighbour of the one whose turn it is.
    marks: Vec<u8>,
    counts: Vec<u32>,
    /// No count is greater.
    most: u64,
    totals: &'c [AtomicU64],
}

impl Counter {
    pub(super) fn new(len: usize) -> Self {
        Counter { totals: vec![0; len] }
    }

    /// Takes what was found.
    pub(super) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.totals)
    }

    /// Looks through the lists of a batch, and through those of this host if they are `new`; how
    /// many entries of lists that took.
    pub(super) fn run<const WEIGHTED: bool>(
        &mut self,
        lists: &Lists,
        batch: Option<&Batch>,
        new: bool,
    ) -> u64 {
        let len = self.totals.len();
        let totals: Vec<AtomicU64> =
            std::mem::take(&mut self.totals).into_iter().map(Into::into).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut state =
                State { marks: vec![0; len], counts: vec![0; len], most: 0, totals: &totals };
            let mut looked = 0;
            loop {
                let start = next.fetch_add(PIECE, Ordering::Relaxed);
                if start >= len {
                    break;
                }
                for vertex in start..(start + PIECE).min(len) {
                    looked += state.vertex::<WEIGHTED>(vertex as u32, lists, batch, new);
                }
            }
            state.flush();
            looked
        };
        let looked = match rayon::current_num_threads() {
            1 => work(),
            _ => rayon::broadcast(|_| work()).into_iter().sum(),
        };
        self.totals = totals.into_par_iter().map(|total| total.into_inner()).collect();
        looked
    }
}

impl State<'_> {
    fn vertex<const WEIGHTED: bool>(
        &mut self,
        vertex: u32,
        lists: &Lists,
        batch: Option<&Batch>,
        new: bool,
    ) -> u64 {
        let (own, own_weights) = lists.of(vertex);
        if own.len() < 2 {
            return 0;
        }
        // The first one on the list has no earlier one.
        let has = |other: u32| batch.is_some_and(|batch| batch.has(other));
        if !new && !own[1..].iter().any(|&other| has(other)) {
            return 0;
        }
        for (at, &other) in own.iter().enumerate() {
            self.marks[other as usize] = if WEIGHTED { own_weights[at] } else { 1 };
        }
        let (mut looked, mut closed) = (own.len() as u64, 0);
        for (before, &second) in own.iter().enumerate().skip(1) {
            let (list, weights) = match batch.and_then(|batch| batch.of(second)) {
                Some(list) => list,
                None if new => lists.of(second),
                None => continue,
            };
            let weight = if WEIGHTED { u32::from(own_weights[before]) } else { 1 };
            let halvings = (usize::BITS - list.len().leading_zeros()) as usize;
            let found = if before * halvings * LOOK_UP < list.len() {
                looked += (before * halvings) as u64;
                self.look_up::<WEIGHTED>(&own[..before], list, weights, weight)
            } else {
                looked += list.len() as u64;
                self.look_through::<WEIGHTED>(list, weights, weight)
            };
            self.counts[second as usize] += found.of_second;
            closed += u64::from(found.of_own);
        }
        for &other in own {
            self.marks[other as usize] = 0;
        }
        if closed > 0 {
            self.totals[vertex as usize].fetch_add(closed, Ordering::Relaxed);
        }
        // A vertex is second on a list once, and first at most once for every second; an edge
        // counts twice at most.
        self.most += 4 * own.len() as u64;
        if self.most > MOST {
            self.flush();
        }
        looked
    }

    /// Looks at every entry of a list whether it is marked.
    #[inline]
    fn look_through<const WEIGHTED: bool>(
        &mut self,
        list: &[u32],
        weights: &[u8],
        weight: u32,
    ) -> Common {
        let (marks, counts) = (&self.marks[..], &mut self.counts[..]);
        let mut common = Common::default();
        if WEIGHTED {
            for (&first, &other) in list.iter().zip(weights) {
                let mark = u32::from(marks[first as usize]);
                let is_common = u32::from(mark > 0);
                counts[first as usize] += is_common * weight;
                common.of_second += mark;
                common.of_own += is_common * u32::from(other);
            }
        } else {
            for &first in list {
                let mark = u32::from(marks[first as usize]);
                counts[first as usize] += mark;
                common.of_second += mark;
            }
            common.of_own = common.of_second;
        }
        common
    }

    /// Looks some vertices up on a list.
    #[inline]
    fn look_up<const WEIGHTED: bool>(
        &mut self,
        own: &[u32],
        mut list: &[u32],
        mut weights: &[u8],
        weight: u32,
    ) -> Common {
        let mut common = Common::default();
        for &first in own {
            let at = list.partition_point(|&entry| entry < first);
            list = &list[at..];
            weights = weights.get(at..).unwrap_or_default();
            if list.first() == Some(&first) {
                self.counts[first as usize] += weight;
                common.of_second += u32::from(self.marks[first as usize]);
                common.of_own += if WEIGHTED { u32::from(weights[0]) } else { 1 };
            }
        }
        common
    }

    /// Adds counts up.
    fn flush(&mut self) {
        self.most = 0;
        for (count, total) in self.counts.iter_mut().zip(self.totals) {
            if *count > 0 {
                total.fetch_add(u64::from(std::mem::take(count)), Ordering::Relaxed);
            }
        }
    }
}

/// What two lists have in common: edges that close wedges of the second vertex, and of the one whose
/// list it is on.
#[derive(Default)]
struct Common {
    of_second: u32,
    of_own: u32,
}
