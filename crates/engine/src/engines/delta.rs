//! Nearest first: labels are spread in the order of their buckets, so that few are spread in vain.
//!
//! Inside a host all buckets are worked off before hosts talk, as with `push`. Within a bucket
//! order does not matter: threads take pieces of it, and each keeps what it improves in buckets of
//! its own. What an improvement puts back into the current bucket, a thread handles right away as
//! long as it is little, without meeting the others; a bucket with little in it is not worth
//! meeting for at all.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use parton_graph::LocalId;

use crate::program::Relaxation;
use crate::relaxing::Relaxing;
use crate::strategy::Strategy;

/// Vertices that a thread takes at a time.
const PIECE: usize = 64;
/// So many vertices are left to one thread.
const LITTLE: usize = 1000;

/// Vertices by bucket, of each thread.
#[derive(Default)]
pub(super) struct Delta {
    threads: Vec<Mutex<Buckets>>,
}

/// Vertices by bucket. A vertex may wait in several; it belongs into the one its label says.
#[derive(Default)]
struct Buckets(Vec<Vec<LocalId>>);

impl Buckets {
    #[inline]
    fn put(&mut self, bucket: usize, vertex: LocalId) {
        if bucket >= self.0.len() {
            self.0.resize_with(bucket + 1, Vec::new);
        }
        self.0[bucket].push(vertex);
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
        host.spread::<ALONE>(vertices, due, |vertex, label| self.put(of(label), vertex))
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

    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64 {
        self.threads.resize_with(rayon::current_num_threads(), Mutex::default);
        let first = own(&mut self.threads[0]);
        for &vertex in host.frontier() {
            first.put(host.program().bucket(host.label(vertex)), vertex);
        }
        let (host, mut edges, mut current) = (&*host, 0, 0);
        // Labels only grow along edges, so nothing falls back behind the current bucket.
        while let Some(bucket) = self.next(current) {
            current = bucket;
            let batch = self.take(bucket);
            edges += if batch.len() < LITTLE || self.threads.len() == 1 {
                let first = own(&mut self.threads[0]);
                first.spread::<P, true>(host, bucket, &batch)
                    + first.finish::<P, true>(host, bucket)
            } else {
                self.spread_by_all(host, bucket, &batch)
            };
        }
        edges
    }
}

impl Delta {
    /// The first bucket from `from` on that is not empty.
    fn next(&mut self, from: usize) -> Option<usize> {
        self.threads.iter_mut().filter_map(|buckets| own(buckets).next(from)).min()
    }

    /// What all threads have in a bucket.
    fn take(&mut self, bucket: usize) -> Vec<LocalId> {
        let mut all = Vec::new();
        for buckets in &mut self.threads {
            if let Some(held) = own(buckets).0.get_mut(bucket) {
                match all.is_empty() {
                    true => all = std::mem::take(held),
                    false => all.append(held),
                }
            }
        }
        all
    }

    fn spread_by_all<P: Relaxation>(
        &self,
        host: &Relaxing<'_, P>,
        bucket: usize,
        batch: &[LocalId],
    ) -> u64 {
        let taken = AtomicUsize::new(0);
        let edges = rayon::broadcast(|thread| {
            let buckets = &self.threads[thread.index()];
            let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
            let mut edges = 0;
            loop {
                let start = taken.fetch_add(PIECE, Ordering::Relaxed);
                let Some(rest) = batch.get(start..) else { break };
                let piece = &rest[..rest.len().min(PIECE)];
                edges += buckets.spread::<P, false>(host, bucket, piece);
            }
            edges + buckets.finish::<P, false>(host, bucket)
        });
        edges.into_iter().sum()
    }
}

/// The buckets of a thread, when no other can be at them.
fn own(buckets: &mut Mutex<Buckets>) -> &mut Buckets {
    buckets.get_mut().unwrap_or_else(PoisonError::into_inner)
}
