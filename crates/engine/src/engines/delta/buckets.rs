//! Vertices by the buckets of their labels.

use std::sync::{Mutex, MutexGuard, PoisonError};

use parton_graph::LocalId;
use parton_sync::Reduction;

use crate::program::Relaxation;
use crate::state::labels::Labels;

/// A bucket with fewer vertices is left to one thread.
pub(super) const MIN_VERTICES_TO_SHARE: usize = 500;

/// Vertices by bucket. A vertex may be in several; the bucket of its label is the one that counts.
#[derive(Default)]
pub(super) struct Buckets(Vec<Vec<LocalId>>);

impl Buckets {
    #[inline]
    fn bucket(&mut self, bucket: usize) -> &mut Vec<LocalId> {
        if bucket >= self.0.len() {
            self.0.resize_with(bucket + 1, Vec::new);
        }
        &mut self.0[bucket]
    }

    #[inline]
    pub(super) fn put(&mut self, bucket: usize, vertex: LocalId) {
        self.bucket(bucket).push(vertex);
    }

    /// The first bucket from `from` on that is not empty.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let rest = self.0.get(from..)?;
        Some(from + rest.iter().position(|bucket| !bucket.is_empty())?)
    }

    /// Takes what a bucket holds, if that is little but not nothing.
    fn take_little(&mut self, bucket: usize) -> Option<Vec<LocalId>> {
        let held = self.0.get_mut(bucket)?;
        (1..MIN_VERTICES_TO_SHARE).contains(&held.len()).then(|| std::mem::take(held))
    }

    /// Relaxes the edges of those vertices whose labels belong into the bucket. Returns the number of edges
    /// visited.
    pub(super) fn relax<P: Relaxation, const EXCLUSIVE: bool>(
        &mut self,
        labels: &Labels<'_, P>,
        bucket: usize,
        vertices: &[LocalId],
    ) -> u64 {
        let bucket_of = |label| labels.program.bucket(label);
        // A vertex that has moved to an earlier bucket was relaxed there.
        let is_due = |label| bucket_of(label) == bucket;
        labels.relax_edges_of::<EXCLUSIVE>(vertices, is_due, |vertex, label| {
            if labels.has_edges(vertex) {
                self.put(bucket_of(label), vertex);
            }
        })
    }

    /// Works off what falls back into the bucket meanwhile.
    pub(super) fn fuse<P: Relaxation, const EXCLUSIVE: bool>(
        &mut self,
        labels: &Labels<'_, P>,
        bucket: usize,
    ) -> u64 {
        let mut edges = 0;
        while let Some(again) = self.take_little(bucket) {
            edges += self.relax::<P, EXCLUSIVE>(labels, bucket, &again);
        }
        edges
    }
}

/// The buckets of each thread.
#[derive(Default)]
pub(super) struct ThreadBuckets(Vec<Mutex<Buckets>>);

impl ThreadBuckets {
    /// Makes buckets for this many threads, if there are none.
    pub(super) fn resize(&mut self, threads: usize) {
        self.0.resize_with(threads, Mutex::default);
    }

    pub(super) fn of(&self, thread: usize) -> MutexGuard<'_, Buckets> {
        locked(&self.0[thread])
    }

    /// The first bucket of any thread from `from` on that is not empty.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        self.0.iter().filter_map(|buckets| locked(buckets).next(from)).min()
    }

    /// The sum of a quantity of what each thread has in a bucket.
    pub(super) fn sum_of(&self, bucket: usize, of_list: impl Fn(&[LocalId]) -> u64) -> u64 {
        let of_thread = |buckets: &Mutex<Buckets>| {
            locked(buckets).0.get(bucket).map_or(0, |vertices| of_list(vertices))
        };
        self.0.iter().map(of_thread).sum()
    }

    /// Takes what each thread has in a bucket.
    pub(super) fn take(&self, bucket: usize) -> Vec<Vec<LocalId>> {
        let held = |buckets: &Mutex<Buckets>| {
            locked(buckets).0.get_mut(bucket).map(std::mem::take).unwrap_or_default()
        };
        self.0.iter().map(held).collect()
    }

    /// Gives back what was taken.
    pub(super) fn put_back(&self, bucket: usize, lists: Vec<Vec<LocalId>>) {
        for (buckets, list) in self.0.iter().zip(lists) {
            *locked(buckets).bucket(bucket) = list;
        }
    }

    /// The best label that belongs into the bucket its vertex is in.
    pub(super) fn best<P: Relaxation>(&self, labels: &Labels<'_, P>) -> P::Label {
        let buckets: Vec<_> = self.0.iter().map(locked).collect();
        let num_buckets = buckets.iter().map(|buckets| buckets.0.len()).max().unwrap_or(0);
        let identity = P::Reduction::identity();
        let of_bucket = |bucket| {
            let all = buckets.iter().filter_map(|buckets| buckets.0.get(bucket)).flatten();
            let is_due = |vertex: &LocalId| labels.program.bucket(labels.get(*vertex)) == bucket;
            labels.best_of(all.copied().filter(is_due))
        };
        (0..num_buckets).map(of_bucket).find(|best| *best != identity).unwrap_or(identity)
    }
}

fn locked(buckets: &Mutex<Buckets>) -> MutexGuard<'_, Buckets> {
    buckets.lock().unwrap_or_else(PoisonError::into_inner)
}
