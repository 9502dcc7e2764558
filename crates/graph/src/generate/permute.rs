//! `,permute`: vertices under shuffled ids, without an array of ids.
//!
//! An id is cut into a high and a low part, and each part in turn is combined with a hash of the
//! other (a Feistel network). Every such step can be undone, so the whole is a bijection of
//! `0..2^bits`, the smallest such range that holds the ids. A number outside the ids goes on
//! from there until back inside (cycle walking): less than two walks on average.

use std::fmt;
use std::ops::Range;

use crate::Direction;
use crate::build::EdgeBatch;

use super::Generator;
use super::random::{Purpose, Random};

/// How often each part is changed. Twice would do with a perfect hash (Luby and Rackoff 1988);
/// the third time makes up for a cheap one.
const ROUNDS: usize = 3;

/// A bijection of `0..n`.
struct Permutation {
    n: u64,
    /// Number of bits of the low part; the high part has as many or one more.
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    /// For each round the keys of the low and the high part.
    keys: [(u64, u64); ROUNDS],
}

impl Permutation {
    fn new(n: u64, seed: u64) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        let low_bits = bits / 2;
        let mut draws = Random::new(seed, Purpose::Permutation).draws(0);
        Permutation {
            n,
            low_bits,
            low_mask: (1 << low_bits) - 1,
            high_mask: (1 << (bits - low_bits)) - 1,
            keys: std::array::from_fn(|_| (draws.bits(), draws.bits())),
        }
    }

    /// Where `id` goes; `id` is below `n`.
    #[inline]
    fn apply(&self, mut id: u64) -> u64 {
        loop {
            id = self.walk(id);
            if id < self.n {
                return id;
            }
        }
    }

    /// One walk through the network.
    #[inline]
    fn walk(&self, id: u64) -> u64 {
        let (mut low, mut high) = (id & self.low_mask, id >> self.low_bits);
        for (low_key, high_key) in self.keys {
            low ^= hash(high, low_key) & self.low_mask;
            high ^= hash(low, high_key) & self.high_mask;
        }
        high << self.low_bits | low
    }
}

/// 32 bits that depend on all of `part`, which has at most 32.
#[inline]
fn hash(part: u64, key: u64) -> u64 {
    // The upper half of a product depends on every bit of its factors.
    (part ^ key).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32
}

/// A generator whose vertices got other ids.
pub(super) struct Permuted {
    inner: Box<dyn Generator>,
    permutation: Permutation,
    seed: u64,
}

impl Permuted {
    pub(super) fn new(inner: Box<dyn Generator>, seed: u64) -> Self {
        Permuted { permutation: Permutation::new(inner.num_vertices(), seed), inner, seed }
    }
}

impl fmt::Display for Permuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},permute={}", self.inner, self.seed)
    }
}

impl Generator for Permuted {
    fn num_vertices(&self) -> u64 {
        self.inner.num_vertices()
    }

    fn num_edges(&self) -> u64 {
        self.inner.num_edges()
    }

    fn edge(&self, index: u64) -> (u64, u64) {
        let (source, destination) = self.inner.edge(index);
        (self.permutation.apply(source), self.permutation.apply(destination))
    }

    fn direction(&self) -> Direction {
        self.inner.direction()
    }

    /// In bulk, so that the inner generator is not called through a pointer for every edge.
    fn edges(&self, indices: Range<u64>, edges: &mut EdgeBatch<u64, ()>) {
        let first = edges.len();
        self.inner.edges(indices, edges);
        for id in edges.sources[first..].iter_mut().chain(&mut edges.destinations[first..]) {
            *id = self.permutation.apply(*id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(n: u64, seed: u64) -> Vec<u64> {
        let permutation = Permutation::new(n, seed);
        (0..n).map(|id| permutation.apply(id)).collect()
    }

    #[test]
    fn every_permutation_is_a_bijection() {
        for n in (1..=300).chain([1 << 16, (1 << 16) + 1, 100_003, (1 << 20) - 1]) {
            for seed in [0, 1, u64::MAX] {
                let mut ids = image(n, seed);
                ids.sort_unstable();
                assert!(ids.into_iter().eq(0..n), "n = {n}, seed = {seed}");
            }
        }
    }

    #[test]
    fn the_network_can_be_undone_at_full_width() {
        for n in [(1 << 32) - 1, 1 << 32, (1 << 33) + 1, u64::MAX] {
            let permutation = Permutation::new(n, 5);
            for id in (0..1000).flat_map(|i| [i, n - 1 - i, i * (n / 1000)]) {
                let image = permutation.walk(id);
                let (mut low, mut high) =
                    (image & permutation.low_mask, image >> permutation.low_bits);
                for (low_key, high_key) in permutation.keys.into_iter().rev() {
                    high ^= hash(low, high_key) & permutation.high_mask;
                    low ^= hash(high, low_key) & permutation.low_mask;
                }
                assert_eq!(high << permutation.low_bits | low, id);
                assert!(permutation.apply(id) < n);
            }
        }
    }

    /// Neighbours must part: the low ids of R-MAT are its hubs, and must not stay together.
    #[test]
    fn ids_are_spread() {
        for n in [1000, 4096, 100_000, 1 << 17] {
            let ids = image(n, 1);
            let tenth = n / 10;
            for first in (0..n - tenth).step_by(tenth as usize) {
                let part = &ids[first as usize..(first + tenth) as usize];
                let low = part.iter().filter(|&&id| id < n / 2).count() as f64;
                let deviation = (tenth as f64 / 4.0).sqrt();
                assert!((low - tenth as f64 / 2.0).abs() < 5.0 * deviation, "n = {n}, at {first}");
            }
            let kept = ids.windows(2).filter(|w| w[0].abs_diff(w[1]) == 1).count();
            assert!(kept < 15, "{kept} of {n} neighbours stayed together");
        }
    }

    #[test]
    fn seeds_differ() {
        assert_eq!(image(1000, 1), image(1000, 1));
        assert_ne!(image(1000, 1), image(1000, 2));
    }
}
