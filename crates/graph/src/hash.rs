//! Hashes that are the same on every machine and in every version, so that results may depend on
//! them.
//!
//! [`mix64`] is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
//! number generators", OOPSLA 2014), with the constants of Stafford's variant 13.

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
pub(crate) fn edge_hash(source: u32, destination: u32, weight: f64) -> u64 {
    let ends = u64::from(source) << 32 | u64::from(destination);
    let weight = (weight + 0.0).to_bits();
    splitmix64(ends.wrapping_add(weight.wrapping_mul(GOLDEN_GAMMA)))
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
}
