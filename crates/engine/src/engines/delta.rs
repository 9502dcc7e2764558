//! Nearest first: labels are spread in the order of their buckets, so that few are spread in vain.
//!
//! Inside a host all buckets are worked off before hosts talk, as with `push`. Within a bucket
//! order does not matter and threads share the work. Vertices that an improvement puts back into
//! the current bucket are handled right away; a bucket with little in it is not worth a thread.

use parton_graph::LocalId;
use rayon::prelude::*;

use crate::program::Relaxation;
use crate::relaxing::{FEW_EDGES, FRONTIER_PIECE, Relaxing};
use crate::strategy::Strategy;

#[derive(Default)]
pub(super) struct Delta;

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

    /// Takes over what another has in its buckets, which are counted from `first`.
    fn append(&mut self, first: usize, other: Buckets) {
        if self.0.len() < first + other.0.len() {
            self.0.resize_with(first + other.0.len(), Vec::new);
        }
        for (mine, mut theirs) in self.0[first..].iter_mut().zip(other.0) {
            mine.append(&mut theirs);
        }
    }
}

impl Strategy for Delta {
    const PULLS: bool = false;

    fn relax<P: Relaxation>(&mut self, host: &mut Relaxing<'_, P>) -> u64 {
        let mut all = 0;
        let bucket_of = |vertex| host.program().bucket(host.label(vertex));
        let mut buckets = Buckets::default();
        host.frontier().iter().for_each(|&vertex| buckets.put(bucket_of(vertex), vertex));
        let mut current = 0;
        while current < buckets.0.len() {
            let mut batch = std::mem::take(&mut buckets.0[current]);
            // What has moved to an earlier bucket was handled there.
            batch.retain(|&vertex| bucket_of(vertex) == current);
            if batch.is_empty() {
                current += 1;
                continue;
            }
            let edges: u64 = batch.iter().map(|&vertex| host.degree(vertex)).sum();
            all += edges;
            // Labels only grow along edges, so nothing falls back behind the current bucket.
            let spread = |buckets: &mut Buckets, first: usize, vertex| {
                host.spread(vertex, |other, label| {
                    if host.degree(other) > 0 {
                        buckets.put(host.program().bucket(label) - first, other);
                    }
                });
            };
            if edges < FEW_EDGES {
                batch.iter().for_each(|&vertex| spread(&mut buckets, 0, vertex));
            } else {
                let pieces = batch.par_iter().with_max_len(FRONTIER_PIECE);
                let found = pieces.fold(Buckets::default, |mut buckets, &vertex| {
                    spread(&mut buckets, current, vertex);
                    buckets
                });
                let found: Vec<Buckets> = found.collect();
                found.into_iter().for_each(|found| buckets.append(current, found));
            }
        }
        all
    }
}
