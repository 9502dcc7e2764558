//! Random integer weights: a weight is a hash of the edge's two ids, so it needs no storage, is
//! the same on every host, and both directions of an edge weigh the same.

use super::random::{Purpose, Random, scaled};

/// The weight of an edge, from `low..=high`, all equally likely. Parallel edges weigh the same.
///
/// The caller sees to it that `low` is not above `high` and `high` fits 32 bits; otherwise `low`
/// counts, and what does not fit becomes `u32::MAX`.
#[inline]
pub(crate) fn edge_weight(
    low: u64,
    high: u64,
    seed: u64,
    source_id: u64,
    destination_id: u64,
) -> u32 {
    let (first, second) = (source_id.min(destination_id), source_id.max(destination_id));
    let edge_seed = Random::new(seed, Purpose::Weights).draws(first).bits();
    let bits = Random::new(edge_seed, Purpose::Weights).draws(second).bits();
    let choices = u128::from(high.saturating_sub(low)) + 1;
    let weight = low.saturating_add(scaled(bits, choices));
    u32::try_from(weight).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_weigh_the_same() {
        for i in 0..1000 {
            let (a, b) = (i * 7, i * i);
            assert_eq!(edge_weight(1, 1 << 30, 3, a, b), edge_weight(1, 1 << 30, 3, b, a));
        }
    }

    #[test]
    fn every_weight_is_equally_likely() {
        let mut counts = [0u32; 8];
        for (source, destination) in (0..300).flat_map(|s| (s..300).map(move |d| (s, d))) {
            counts[edge_weight(3, 10, 7, source, destination) as usize - 3] += 1;
        }
        // 45150 edges: 5644 each, with a standard deviation of 70.
        assert!(counts.iter().all(|&c| c.abs_diff(5644) < 350), "{counts:?}");
    }

    #[test]
    fn the_bounds_hold_and_odd_ones_do_no_harm() {
        let max = u64::from(u32::MAX);
        assert_eq!(edge_weight(5, 5, 1, 2, 3), 5);
        assert_eq!(edge_weight(9, 2, 1, 2, 3), 9);
        assert_eq!(edge_weight(max, max, 1, 2, 3), u32::MAX);
        assert_eq!(edge_weight(u64::MAX, u64::MAX, 1, 2, 3), u32::MAX);
        let any: Vec<u32> = (0..100).map(|i| edge_weight(0, max, 1, i, i + 1)).collect();
        assert!(any.iter().any(|&w| w > u32::MAX / 2) && any.iter().any(|&w| w < u32::MAX / 2));
        assert!((0..100).all(|i| edge_weight(0, u64::MAX, 1, i, i) > 0));
    }

    #[test]
    fn seeds_differ() {
        let weights =
            |seed| (0..50).map(|i| edge_weight(1, 100, seed, i, i + 1)).collect::<Vec<_>>();
        assert_ne!(weights(1), weights(2));
    }
}
