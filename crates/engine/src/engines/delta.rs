//! Nearest first: labels are spread in the order of their buckets, so that few are spread in vain.
//!
//! Before hosts talk, each works off as many buckets as promises to be right: a host that runs ahead
//! spends less time talking, and spreads more labels that others improve later. As long as what
//! arrives leaves most of what was done as it is, hosts go twice as far the next time, else half as
//! far, and never long where they do not wait for each other. A host that is alone works off all.
//!
//! Within a bucket order does not matter: threads take pieces of it, and each keeps what it improves
//! in buckets of its own. What an improvement puts back into the current bucket, a thread handles right away as
//! long as it is little, without meeting the others; a bucket with little in it is not worth
//! meeting for at all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use parton_graph::LocalId;
use parton_sync::Reduction;

use crate::program::Relaxation;
use crate::relaxing::Relaxing;
use crate::strategy::Strategy;

/// Vertices that a thread takes at a time.
const PIECE: usize = 128;
/// So many vertices are left to one thread.
const LITTLE: usize = 500;

/// Never more buckets at a time: there are not that many.
const FARTHEST: usize = usize::MAX / 4;
/// To look at more than one edge in so many again is too much,
const AGAIN: u64 = 4;
/// unless it is less work than talking to other hosts.
const TALKING: u64 = 1 << 14;

#[derive(Default)]
pub(super) struct Delta {
    /// Vertices by bucket, of each thread.
    threads: Vec<Mutex<Buckets>>,
    /// Buckets to work off before talking, less one.
    further: usize,
    /// The first bucket that has not been worked off.
    front: usize,
    /// Whether vertices are left in later buckets,
    has_more: bool,
    /// and about how many edges leave the first of these, where that matters.
    edges_ahead: u64,
}

/// Vertices by bucket. A vertex may wait in several; it belongs into the one its label says.
#[derive(Default)]
struct Buckets(Vec<Vec<LocalId>>);

impl Buckets {
    #[inline]
    fn bucket(&mut self, bucket: usize) -> &mut Vec<LocalId> {
        if bucket >= self.0.len() {
            self.0.resize_with(bucket + 1, Vec::new);
        }
        &mut self.0[bucket]
    }

    #[inline]
    fn put(&mut self, bucket: usize, vertex: LocalId) {
        self.bucket(bucket).push(vertex);
    }

    /// The first bucket from `from` on that is not empty.
    fn next(&self, from: usize) -> Option<usize> {
        let rest = self.0.get(from..)?;
        Some(from + rest.iter().position(|bucket| !bucket.is_empty())?)
    }

    /// What a bucket holds, if it holds anything and that is little.
    fn take_little(&mut self, bucket: usize) -> Option<Vec<LocalId>> {
        let held = self.0.get_mut(bucket)?;
        (1..LITTLE).contains(&held.len()).then(|| std::mem::take(held))
    }

    /// Spreads those labels of the vertices that belong into the bucket; how many edges that took.
    fn spread<P: Relaxation, const ALONE: bool>(
        &mut self,
        host: &Relaxing<'_, P>,
        bucket: usize,
        vertices: &[LocalId],
    ) -> u64 {
        let of = |label| host.program().bucket(label);
        // What has moved to an earlier bucket was handled there.
        let due = |label| of(label) == bucket;
        host.spread::<ALONE>(vertices, due, |vertex, label| {
            if host.leads(vertex) {
                self.put(of(label), vertex);
            }
        })
    }

    /// Goes on with what comes into the same bucket meanwhile.
    fn finish<P: Relaxation, const ALONE: bool>(
        &mut self,
        host: &Relaxing<'_, P>,
        bucket: usize,
    ) -> u64 {
        let mut edges = 0;
        while let Some(again) = self.take_little(bucket) {
            edges += self.spread::<P, ALONE>(host, bucket, &again);
        }
        edges
    }
}

impl Strategy for Delta {
    const PULLS: bool = false;
    const SORTS: bool = true;
    const LOOKS: bool = true;

    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64 {
        self.edges_ahead = 0;
        if let Some(edges) = host.look() {
            self.threads.clear();
            self.has_more = host.has_found();
            return edges;
        }
        host.list_large();
        self.threads.resize_with(host.helpers().num_threads(), Mutex::default);
        let mut first = locked(&self.threads[0]);
        let found = host.take_found();
        for &vertex in found.iter().flatten().chain(host.frontier()) {
            first.put(host.program().bucket(host.label(vertex)), vertex);
        }
        drop(first);
        let host = &*host;
        let Some(first) = self.next(0) else {
            self.has_more = false;
            return 0;
        };
        let Done { edges, again, last } = self.work_off(host, first);
        self.further = match again > (edges / AGAIN).max(TALKING) {
            true => self.further / 2,
            false => (2 * self.further + 1).min(FARTHEST),
        };
        self.front = self.front.max(last + 1);
        let next = self.next(last);
        self.has_more = next.is_some();
        if let Some(bucket) = next {
            let ahead = |buckets: &Mutex<Buckets>| {
                locked(buckets).0.get(bucket).map_or(0, |vertices| host.edges_ahead(vertices))
            };
            self.edges_ahead = self.threads.iter().map(ahead).sum();
        }
        edges
    }

    fn edges_ahead(&self) -> u64 {
        self.edges_ahead
    }

    fn best<P: Relaxation>(&self, host: &Relaxing<'_, P>) -> P::Label {
        let buckets: Vec<_> = self.threads.iter().map(locked).collect();
        let num_buckets = buckets.iter().map(|buckets| buckets.0.len()).max().unwrap_or(0);
        let identity = P::Reduction::identity();
        // What waits in a bucket may have moved to an earlier one.
        let of_bucket = |bucket| {
            let all = buckets.iter().filter_map(|buckets| buckets.0.get(bucket)).flatten();
            let is_due = |vertex: &LocalId| host.program().bucket(host.label(*vertex)) == bucket;
            host.best_of(all.copied().filter(is_due))
        };
        let waiting = (0..num_buckets).map(of_bucket).find(|best| *best != identity);
        let new = host.best_of_frontier();
        let best = P::Reduction::combine(new, host.best_found());
        waiting.map_or(best, |waiting| P::Reduction::combine(waiting, best))
    }

    fn has_more(&self) -> bool {
        self.has_more
    }
}

/// What has been worked off.
struct Done {
    /// Edges that were looked at,
    edges: u64,
    /// and those of them that were before.
    again: u64,
    /// The last bucket.
    last: usize,
}

impl Delta {
    /// The first bucket from `from` on that is not empty.
    fn next(&self, from: usize) -> Option<usize> {
        self.threads.iter().filter_map(|buckets| locked(buckets).next(from)).min()
    }

    /// What each thread has in a bucket.
    fn take(&self, bucket: usize) -> Vec<Vec<LocalId>> {
        let held = |buckets: &Mutex<Buckets>| {
            locked(buckets).0.get_mut(bucket).map(std::mem::take).unwrap_or_default()
        };
        self.threads.iter().map(held).collect()
    }

    /// Works off buckets from this one on until it is time to talk.
    fn work_off<P: Relaxation>(&self, host: &Relaxing<'_, P>, first: usize) -> Done {
        let end = if host.is_alone() { usize::MAX } else { first.saturating_add(1 + self.further) };
        let mut done = Done { edges: 0, again: 0, last: first };
        // Labels only grow along edges, so nothing falls back behind the current bucket.
        while let Some(bucket) = self.next(done.last).filter(|bucket| *bucket < end)
            && !host.should_talk(done.edges)
        {
            done.last = bucket;
            let batch = self.take(bucket);
            let is_much = batch.iter().map(Vec::len).sum::<usize>() >= LITTLE;
            let edges_ahead = || batch.iter().map(|list| host.edges_ahead(list)).sum();
            if done.edges > 0 && is_much && host.should_ask(edges_ahead()) {
                for (buckets, list) in self.threads.iter().zip(batch) {
                    *locked(buckets).bucket(bucket) = list;
                }
                break;
            }
            let looked = if is_much && !host.helpers().is_empty() {
                self.spread_by_all(host, bucket, &batch)
            } else {
                let mut buckets = locked(&self.threads[0]);
                let lists = batch.iter().map(|list| buckets.spread::<P, true>(host, bucket, list));
                lists.sum::<u64>() + buckets.finish::<P, true>(host, bucket)
            };
            done.edges += looked;
            done.again += if bucket < self.front { looked } else { 0 };
        }
        done
    }

    fn spread_by_all<P: Relaxation>(
        &self,
        host: &Relaxing<'_, P>,
        bucket: usize,
        batch: &[Vec<LocalId>],
    ) -> u64 {
        let edges = AtomicU64::new(0);
        host.helpers().share_out(batch, PIECE, |thread, pieces| {
            let mut buckets = locked(&self.threads[thread]);
            let spread = pieces.map(|piece| buckets.spread::<P, false>(host, bucket, piece));
            let looked = spread.sum::<u64>() + buckets.finish::<P, false>(host, bucket);
            edges.fetch_add(looked, Ordering::Relaxed);
        });
        edges.into_inner()
    }
}

/// The buckets of a thread.
fn locked(buckets: &Mutex<Buckets>) -> MutexGuard<'_, Buckets> {
    buckets.lock().unwrap_or_else(PoisonError::into_inner)
}
