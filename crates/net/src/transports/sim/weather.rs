//! The conditions that a seed stands for: how long messages take, how often hosts pause, which
//! host is slow.
//!
//! Seeds differ in kind, not only in detail. Under one everything is prompt and almost in order,
//! under another a host lags far behind or every other message is late: each kind finds other
//! mistakes. Integers only, so a seed means the same on every machine.

use std::time::Duration;

use crate::host::HostId;

/// Nanoseconds in a microsecond.
const MICRO: u64 = 1_000;
/// Nanoseconds in a millisecond.
const MILLI: u64 = 1_000_000;

/// The conditions under which one run takes place.
pub(super) struct Weather {
    random: Random,
    /// A host pauses at one step in this many: after a send, or before a look at its arrivals.
    pause_one_in: u64,
    /// Longest pause, in nanoseconds.
    pause: u64,
    /// Host whose pauses are a hundred times as long.
    slow: Option<HostId>,
    /// One pause in this many becomes a stall; 0 for none.
    stall_one_in: u64,
    /// Longest time a prompt message takes.
    delay: u64,
    /// One message in this many is late.
    late_one_in: u64,
    /// Longest time a late message takes.
    late: u64,
    /// The delay of every message, if nothing is left to chance.
    calm: Option<u64>,
}

/// Longest stall of a host, in nanoseconds.
const MAX_STALL: u64 = 100 * MILLI;

impl Weather {
    pub(super) fn new(seed: u64, hosts: usize, calm: Option<Duration>) -> Self {
        let mut random = Random::new(seed, 0);
        let mut pick = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
        let pause_one_in = pick(&[2, 4, 8, 16]);
        let pause = pick(&[MICRO, 10 * MICRO, 100 * MICRO]);
        let stall_one_in = pick(&[0, 0, 20, 100]);
        let delay = pick(&[100, 10 * MICRO, 200 * MICRO]);
        let late_one_in = pick(&[2, 4, 16, 64]);
        let late = delay * pick(&[2, 20, 200]);
        let slow = (random.below(2) == 0).then(|| HostId(random.below(hosts as u64) as u16));
        let calm = calm.map(|delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
        Weather { random, pause_one_in, pause, slow, stall_one_in, delay, late_one_in, late, calm }
    }

    /// Whether nothing is left to chance.
    pub(super) fn is_calm(&self) -> bool {
        self.calm.is_some()
    }

    /// How long a host takes before it starts.
    pub(super) fn start(&mut self) -> u64 {
        if self.is_calm() { 0 } else { self.random.below(self.pause * 4) }
    }

    /// How long a host pauses at a step: mostly not at all, which also keeps the simulation
    /// fast, since only a pause lets others run.
    pub(super) fn pause(&mut self, host: HostId) -> u64 {
        if self.is_calm() || !self.random.one_in(self.pause_one_in) {
            return 0;
        }
        if self.random.one_in(self.stall_one_in) {
            return 1 + self.random.below(MAX_STALL);
        }
        let slowness = if self.slow == Some(host) { 100 } else { 1 };
        1 + self.random.below(self.pause) * slowness
    }

    /// How long a message takes.
    pub(super) fn delay(&mut self) -> u64 {
        if let Some(delay) = self.calm {
            return delay;
        }
        let longest = if self.random.one_in(self.late_one_in) { self.late } else { self.delay };
        1 + self.random.below(longest)
    }
}

/// A stream of random numbers: SplitMix64.
pub(super) struct Random {
    state: u64,
}

/// 2⁶⁴ divided by the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The numbers of one seed; streams of one seed are unrelated.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Random { state: mix(mix(seed).wrapping_add(stream.wrapping_mul(STEP))) }
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from `0..n`; 0 if `n` is 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// True once in `n` times; never if `n` is 0.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }
}

/// Scatters bits: the finisher of SplitMix64.
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
