//! Hashes that are the same on every machine and in every version, so that results may depend on
//! them.
//!
//! [`mix64`] is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
//! number generators", OOPSLA 2014), with the constants of Stafford's variant 13.

use crate::LocalId;
use crate::weight::Weight;

/// The step between two states of SplitMix64: 2⁶⁴ divided by the golden ratio, odd.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Turns every bit of the input into a change of about half the bits of the output; one-to-one.
#[inline]
pub fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The number that SplitMix64 gives after `state`; unlike [`mix64`] it is not 0 for 0.
#[inline]
pub fn splitmix64(state: u64) -> u64 {
    mix64(state.wrapping_add(GOLDEN_GAMMA))
}

/// A hash of an edge whose sum over many edges, wrapping around, does not depend on their order.
/// Weights of 0 and −0 are the same weight.
#[inline]
fn edge_hash(source: u32, destination: u32, weight: f64) -> u64 {
    let ends = u64::from(source) << 32 | u64::from(destination);
    let weight = (weight + 0.0).to_bits();
    splitmix64(ends.wrapping_add(weight.wrapping_mul(GOLDEN_GAMMA)))
}

/// What the ends of an edge are multiplied by: odd, and unlike each other.
const END_KEYS: [u64; 2] = [GOLDEN_GAMMA, 0xbf58_476d_1ce4_e5b9];

/// A hash with one multiplication. Odd, so that the product of several is never 0.
#[inline]
fn odd_hash(bits: u64, key: u64) -> u64 {
    let product = bits.wrapping_add(1).wrapping_mul(key);
    (product ^ product >> 32) << 1 | 1
}

/// The sum of a hash of the edges of one row, wrapping around. The sum over all rows of a graph is the same
/// as over the rows of its in-edges, where `is_turned`. The hash of an edge is the product of the hashes
/// of its source, its destination and its weight: a row costs one multiplication for each end.
#[inline]
pub(crate) fn row_sum<W: Weight>(
    vertex: u32,
    edges: impl Iterator<Item = (LocalId, W)>,
    is_turned: bool,
) -> u64 {
    let [row_key, end_key] = match is_turned {
        false => END_KEYS,
        true => [END_KEYS[1], END_KEYS[0]],
    };
    let ends = edges.fold(0, |sum: u64, (end, weight)| {
        let end = odd_hash(end.0.into(), end_key);
        // Weights of 0 and −0 are the same weight.
        sum.wrapping_add(match size_of::<W>() {
            0 => end,
            _ => end.wrapping_mul(odd_hash((weight.to_f64() + 0.0).to_bits(), GOLDEN_GAMMA)),
        })
    });
    ends.wrapping_mul(odd_hash(vertex.into(), row_key))
}

/// The difference between the hash of an edge and that of its mirror image. The sum over many
/// edges, wrapping around, is 0 if every edge has its mirror image among them; otherwise it is 0
/// only by an accident of 2⁻⁶⁴.
#[inline]
pub fn skewness(source: u32, destination: u32, weight: f64) -> u64 {
    let mirrored = edge_hash(destination, source, weight);
    edge_hash(source, destination, weight).wrapping_sub(mirrored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        let state = 1_234_567u64;
        assert_eq!([splitmix64(state), splitmix64(state.wrapping_add(GOLDEN_GAMMA))], published);
    }

    #[test]
    fn skewness_tells_mirrored_edges_from_others() {
        let sum = |edges: &[(u32, u32, f64)]| {
            edges.iter().fold(0u64, |sum, &(s, d, w)| sum.wrapping_add(skewness(s, d, w)))
        };
        assert_eq!(sum(&[(1, 2, 0.5), (3, 3, 7.0), (2, 1, 0.5), (4, 5, 0.0), (5, 4, -0.0)]), 0);
        for edges in [
            &[(1, 2, 0.5)][..],
            &[(1, 2, 0.5), (1, 2, 0.5)],
            &[(1, 2, 0.5), (2, 1, 0.25)],
            &[(1, 2, 1.0), (2, 3, 1.0), (3, 1, 1.0)],
            &[(1, 2, 1.0), (2, 1, 1.0), (1, 2, 1.0)],
            &[(1, 2, 2.0), (2, 1, 1.0), (1, 3, 1.0), (3, 1, 2.0)],
        ] {
            assert_ne!(sum(edges), 0, "{edges:?}");
        }
    }

    /// What edges add to the sum, each in a row of its own.
    fn sum(edges: &[(u32, u32, f64)], is_turned: bool) -> u64 {
        let of_edge = |&(source, destination, weight): &(u32, u32, f64)| {
            let (row, end) = if is_turned { (destination, source) } else { (source, destination) };
            row_sum(row, [(LocalId(end), weight)].into_iter(), is_turned)
        };
        edges.iter().map(of_edge).fold(0, u64::wrapping_add)
    }

    #[test]
    fn sums_of_rows_tell_graphs_apart() {
        let ids = [0, 1, 2, 3, 7, 1 << 16, (1 << 16) + 1, 1 << 31, u32::MAX - 1];
        for (a, b) in ids.iter().flat_map(|&a| ids.map(|b| (a, b))) {
            assert_eq!(sum(&[(a, b, 0.5)], false), sum(&[(a, b, 0.5)], true));
            assert_eq!(sum(&[(a, b, 0.0)], false), sum(&[(a, b, -0.0)], true));
            assert_ne!(sum(&[(a, b, 0.5)], false), sum(&[(a, b, 2.0)], true));
            if a != b {
                assert_ne!(sum(&[(a, b, 1.0)], false), sum(&[(b, a, 1.0)], true));
            }
            // Two edges that exchange their destinations.
            for (c, d) in ids.iter().flat_map(|&c| ids.map(|d| (c, d))) {
                if a != c && b != d {
                    let (before, after) = ([(a, b, 1.0), (c, d, 1.0)], [(a, d, 1.0), (c, b, 1.0)]);
                    assert_ne!(sum(&before, false), sum(&after, true), "{before:?}");
                }
            }
        }
    }
}
