//! Random numbers by position. The number for index `i` depends on the seed and `i` alone, so any thread or host can
//! make any slice of a sequence on its own.
//!
//! The numbers are those of SplitMix64, read at any place instead of one after the other. Integer
//! arithmetic only: the same numbers on every machine.

use crate::hash::{GOLDEN_GAMMA, mix64};

/// How many numbers one index may draw before it runs into the numbers of the next.
pub(super) const DRAWS_PER_INDEX: u32 = 16;

/// What numbers are for. Numbers for different purposes are unrelated even under one seed.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Edges = 1,
    Permutation,
    Weights,
    Sites,
    Documents,
    Chains,
}

/// All numbers of one seed and purpose.
#[derive(Clone, Copy)]
pub(super) struct Random {
    key: u64,
}

impl Random {
    pub(super) fn new(seed: u64, purpose: Purpose) -> Self {
        Random { key: mix64(mix64(seed).wrapping_add((purpose as u64).wrapping_mul(GOLDEN_GAMMA))) }
    }

    /// The numbers of one index.
    #[inline]
    pub(super) fn draws(self, index: u64) -> Draws {
        let steps = index.wrapping_mul(u64::from(DRAWS_PER_INDEX));
        Draws { state: self.key.wrapping_add(steps.wrapping_mul(GOLDEN_GAMMA)) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Random {
    /// Number `draw`, from 0, of each of consecutive indices: as [`Draws::bits`] gives it.
    #[inline(always)]
    pub(super) fn bits_of_indices(self, first: u64, draw: u32, bits: &mut [u64]) {
        const STEP: u64 = GOLDEN_GAMMA.wrapping_mul(DRAWS_PER_INDEX as u64);
        let before = GOLDEN_GAMMA.wrapping_mul(u64::from(draw) + 1);
        let state = self.key.wrapping_add(first.wrapping_mul(STEP)).wrapping_add(before);
        for (index, bits) in (0u64..).zip(bits) {
            *bits = mix64(state.wrapping_add(index.wrapping_mul(STEP)));
        }
    }
}

/// The numbers of one index, in turn.
pub(super) struct Draws {
    state: u64,
}

impl Draws {
    /// 64 random bits.
    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix64(self.state)
    }

    /// A number from `0..n`, all equally likely.
    #[inline]
    pub(super) fn below(&mut self, n: u64) -> u64 {
        scaled(self.bits(), u128::from(n))
    }

    /// A number from `0..n`, `n` at least 1, where `r` is about as likely as `1 / (r + 1)`: the
    /// same chance for every power of two, then for every number between it and the next.
    #[inline]
    pub(super) fn skewed(&mut self, n: u64) -> u64 {
        let first = 1 << self.below(u64::from(n.ilog2()) + 1);
        let last = (2 * (first - 1) + 1).min(n);
        first + self.below(last - first + 1) - 1
    }
}

/// Random bits as a number from `0..n`. The error of a chance is below n / 2⁶⁴.
#[inline]
pub(super) fn scaled(bits: u64, n: u128) -> u64 {
    ((u128::from(bits) * n) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_splitmix64() {
        let mut draws = Draws { state: 1_234_567 };
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([draws.bits(), draws.bits()], published);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let random = Random::new(1, Purpose::Edges);
        let mut counts = [0u32; 10];
        for i in 0..100_000 {
            counts[random.draws(i).below(10) as usize] += 1;
        }
        // The standard deviation is 95.
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 500), "{counts:?}");
    }

    #[test]
    fn skewed_gives_every_power_of_two_the_same_chance() {
        let random = Random::new(1, Purpose::Edges);
        let mut counts = [0u32; 5];
        for i in 0..100_000 {
            let r = random.draws(i).skewed(20);
            counts[(r + 1).ilog2() as usize] += 1;
            assert!(r < 20);
        }
        assert!(counts.iter().all(|&c| c.abs_diff(20_000) < 700), "{counts:?}");
        for n in [1, 2, u64::MAX - 1, u64::MAX] {
            assert!((0..1000).all(|i| random.draws(i).skewed(n) < n));
        }
    }

    #[test]
    fn seeds_and_purposes_differ() {
        let first = |seed, purpose| Random::new(seed, purpose).draws(0).bits();
        assert_ne!(first(1, Purpose::Edges), first(2, Purpose::Edges));
        assert_ne!(first(1, Purpose::Edges), first(1, Purpose::Sites));
    }
}
