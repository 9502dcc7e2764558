//! How many buckets of delta-stepping a host works off before it exchanges labels.
//!
//! A host that runs ahead spends less time on exchanges, and spreads more labels that others improve later. As long
//! as few edges are visited again, it goes twice as far the next time, else half as far.

/// Most buckets at a time: there are not that many.
const MAX_BUCKETS: u64 = u64::MAX / 4;
/// More than one redundant edge in this many is too much,
const EDGES_PER_REDUNDANT_EDGE: u64 = 4;
/// unless there are fewer than this many: an exchange costs as much.
const EDGES_PER_EXCHANGE: u64 = 1 << 14;

/// The buckets of a round.
#[derive(Clone, Copy, Debug, Default)]
pub struct BucketWindow {
    /// Buckets to work off before an exchange, after the first.
    extra: u64,
    /// The first bucket that has not been worked off.
    front: u64,
}

/// What a round has worked off.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkedOff {
    /// Edges that were visited,
    pub edges: u64,
    /// and those of them that had been visited before.
    pub again: u64,
}

impl BucketWindow {
    /// How many buckets a round may work off.
    pub fn num_buckets(&self) -> u64 {
        self.extra + 1
    }

    /// Counts edges that leave vertices of a bucket.
    pub fn count(&self, done: &mut WorkedOff, bucket: u64, edges: u64) {
        done.edges += edges;
        done.again += if bucket < self.front { edges } else { 0 };
    }

    /// A round has ended, with this bucket as its last.
    pub fn close_round(&mut self, done: WorkedOff, last_bucket: u64) {
        let redundant = (done.edges / EDGES_PER_REDUNDANT_EDGE).max(EDGES_PER_EXCHANGE);
        self.extra = match done.again > redundant {
            true => self.extra / 2,
            false => (2 * self.extra + 1).min(MAX_BUCKETS),
        };
        self.front = self.front.max(last_bucket + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_until_too_many_edges_are_visited_again() {
        let mut window = BucketWindow::default();
        let mut lengths = Vec::new();
        for (bucket, edges) in
            [(0, 1 << 20), (2, 1 << 20), (6, 1 << 20), (3, 1 << 20), (9, 1 << 20)]
        {
            lengths.push(window.num_buckets());
            let mut done = WorkedOff::default();
            window.count(&mut done, bucket, edges);
            window.close_round(done, bucket);
        }
        // The fourth round went back behind the seventh bucket.
        assert_eq!(lengths, [1, 2, 4, 8, 4]);
    }

    #[test]
    fn few_redundant_edges_cost_less_than_an_exchange() {
        let mut window = BucketWindow { extra: 7, front: 5 };
        let mut done = WorkedOff::default();
        window.count(&mut done, 1, EDGES_PER_EXCHANGE);
        assert_eq!(done.again, EDGES_PER_EXCHANGE);
        window.close_round(done, 1);
        assert_eq!((window.num_buckets(), window.front), (16, 5));
    }
}
