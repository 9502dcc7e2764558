//! The intersection of ordered neighbour lists, by scan or by binary search.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::lists::{Batch, Lists};

/// Vertices per task of a thread.
const VERTICES_PER_TASK: usize = 1 << 7;
/// One step of a binary search costs as much as scanning this many entries.
const ENTRIES_PER_SEARCH_STEP: usize = 3;
/// A thread adds its counts to the totals before one can exceed 32 bits.
const MAX_UNFLUSHED_COUNT: u64 = 1 << 31;

/// Counts by position in the degree order.
#[derive(Default)]
pub(super) struct Counter {
    totals: Vec<u64>,
}

/// The marks and counts of one thread.
struct State<'c> {
    /// The multiplicity of each vertex on the current list; 0 if it is not on it.
    marks: Vec<u8>,
    counts: Vec<u32>,
    /// An upper bound on every count.
    most: u64,
    totals: &'c [AtomicU64],
}

impl Counter {
    pub(super) fn new(len: usize) -> Self {
        Counter { totals: vec![0; len] }
    }

    /// Takes the counts.
    pub(super) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.totals)
    }

    /// Intersects with the lists of a batch, and with those of this host if they are `new`. Returns
    /// the number of entries visited.
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
            let mut scanned = 0;
            loop {
                let start = next.fetch_add(VERTICES_PER_TASK, Ordering::Relaxed);
                if start >= len {
                    break;
                }
                for vertex in start..(start + VERTICES_PER_TASK).min(len) {
                    scanned += state.vertex::<WEIGHTED>(vertex as u32, lists, batch, new);
                }
            }
            state.flush();
            scanned
        };
        let scanned = match rayon::current_num_threads() {
            1 => work(),
            _ => rayon::broadcast(|_| work()).into_iter().sum(),
        };
        self.totals = totals.into_par_iter().map(|total| total.into_inner()).collect();
        scanned
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
        // The first entry has no earlier one to form a triangle with.
        let has = |other: u32| batch.is_some_and(|batch| batch.has(other));
        if !new && !own[1..].iter().any(|&other| has(other)) {
            return 0;
        }
        for (at, &other) in own.iter().enumerate() {
            self.marks[other as usize] = if WEIGHTED { own_weights[at] } else { 1 };
        }
        let (mut scanned, mut closed) = (own.len() as u64, 0);
        for (before, &second) in own.iter().enumerate().skip(1) {
            let (list, weights) = match batch.and_then(|batch| batch.of(second)) {
                Some(list) => list,
                None if new => lists.of(second),
                None => continue,
            };
            let weight = if WEIGHTED { u32::from(own_weights[before]) } else { 1 };
            let halvings = (usize::BITS - list.len().leading_zeros()) as usize;
            let found = if before * halvings * ENTRIES_PER_SEARCH_STEP < list.len() {
                scanned += (before * halvings) as u64;
                self.intersect_by_search::<WEIGHTED>(&own[..before], list, weights, weight)
            } else {
                scanned += list.len() as u64;
                self.intersect_by_scan::<WEIGHTED>(list, weights, weight)
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
        if self.most > MAX_UNFLUSHED_COUNT {
            self.flush();
        }
        scanned
    }

    /// Scans a list for marked entries.
    #[inline]
    fn intersect_by_scan<const WEIGHTED: bool>(
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

    /// Searches a list for each entry of a much shorter one.
    #[inline]
    fn intersect_by_search<const WEIGHTED: bool>(
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

    /// Adds the counts of this thread to the totals.
    fn flush(&mut self) {
        self.most = 0;
        for (count, total) in self.counts.iter_mut().zip(self.totals) {
            if *count > 0 {
                total.fetch_add(u64::from(std::mem::take(count)), Ordering::Relaxed);
            }
        }
    }
}

/// The edges that an intersection found: those that close wedges of the second vertex, and those that
/// close wedges of the vertex whose list it is on.
#[derive(Default)]
struct Common {
    of_second: u32,
    of_own: u32,
}
