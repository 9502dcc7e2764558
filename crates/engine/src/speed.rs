//! How fast hosts are, as far as it shows.
//!
//! Whether it is worth waiting for a host depends on how fast it is, not on how much it has to do: on
//! what it takes for an edge. A slow processor shows at once, in a trial that takes next to nothing. What
//! a host has to share its processor with, or may not use of it, shows only in time: a thread that has to
//! leave its core is away for milliseconds, and whose turn that is, is chance at first. So work counts
//! only as far as it is more than chance.

use std::hint::black_box;
use std::time::Duration;

use parton_sync::{Effort, Result, Substrate};

use crate::run::Watch;

/// Rounds with fewer edges say nothing: what else a round takes matters more.
const ENOUGH: u64 = 1 << 11;
/// How many times as long as others a slow host takes, in all and for an edge.
const SLOW: f64 = 2.5;
/// So many seconds more than others take for as much work are not chance.
const NO_CHANCE: f64 = 0.01;

/// What hosts try first takes as long as so many edges. The clock tells that from twice as long.
const TRIAL: u64 = 1 << 8;
/// So many times, of which the best counts.
const TIMES: usize = 3;
/// Of so many times as many edges, it takes little.
const MUCH: u64 = 100;

/// What a host computes.
#[derive(Default)]
pub(crate) struct Speed {
    seconds: f64,
    edges: u64,
}

impl Speed {
    /// Takes note of a round; what this host has done so far.
    pub(crate) fn note(&mut self, edges: u64, seconds: f64) -> Effort {
        if edges >= ENOUGH {
            self.seconds += seconds;
            self.edges += edges;
        }
        Effort::of_one(self.seconds, self.edges)
    }
}

/// What was seen of hosts.
#[derive(Default)]
pub(crate) struct Comparison {
    /// How many times as long as a mean one of the others the host computed that computed longest.
    lateness: f64,
    /// How many times as long as others it took for an edge; 0 if it is not known.
    slowness: f64,
    /// How many seconds more than others take for as much work.
    more: f64,
}

impl Comparison {
    /// Compares what so many hosts did.
    pub(crate) fn of(all: &Effort, hosts: usize) -> Self {
        let (seconds, edges) = (all.seconds - all.longest, all.edges - all.of_longest);
        // Simulated work may take no time.
        if seconds <= 0.0 || edges == 0 || all.of_longest == 0 {
            return Comparison::default();
        }
        let lateness = all.longest * (hosts - 1) as f64 / seconds;
        let as_others = all.of_longest as f64 * seconds / edges as f64;
        Comparison { lateness, slowness: all.longest / as_others, more: all.longest - as_others }
    }

    /// Whether one host is slow; `tried`: where work was so little and so even that nothing is chance.
    pub(crate) fn is_uneven(&self, tried: bool) -> bool {
        self.lateness.min(self.slowness) >= SLOW && (tried || self.more >= NO_CHANCE)
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Comparison { lateness, slowness, .. } = self;
        match *slowness {
            0.0 => write!(f, "all hosts did little"),
            _ => write!(
                f,
                "one host computed {lateness:.1} times as long as others, and {slowness:.1} times as \
                 long for an edge"
            ),
        }
    }
}

/// Tries how fast this host is, before anybody has to wait for it; and how long that took. Nothing, if
/// there are so few edges that it would take longer than it could save: the same on all hosts.
pub(crate) fn try_out(
    substrate: &mut Substrate<'_>,
    watch: &mut dyn Watch,
) -> Result<(Effort, Duration)> {
    let partition = substrate.partition();
    if partition.num_edges() < MUCH * TRIAL * partition.num_hosts() as u64 {
        return Ok(Default::default());
    }
    let start = substrate.net().now();
    let times = [(); TIMES].map(|()| {
        let start = substrate.net().now();
        pretend_to_look(TRIAL);
        substrate.net().now() - start
    });
    let best = times.into_iter().min().unwrap_or_default();
    let longer = watch.worked(best, TRIAL);
    substrate.net().spend(longer)?;
    let effort = Effort::of_one((best + longer).as_secs_f64(), TRIAL);
    Ok((effort, substrate.net().now() - start))
}

/// Takes about as long as looking at so many edges does, with numbers that need no memory: edges
/// themselves are nearer to each other on some hosts than on others.
fn pretend_to_look(edges: u64) {
    (0..edges)
        .fold(0, |seen: u64, edge| black_box((seen ^ edge).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(hosts: &[(f64, u64)]) -> Comparison {
        let all = hosts.iter().map(|&(seconds, edges)| Effort::of_one(seconds, edges));
        Comparison::of(&all.reduce(Effort::plus).expect("some hosts"), hosts.len())
    }

    #[test]
    fn only_rounds_with_enough_edges_tell() {
        let mut speed = Speed::default();
        speed.note(ENOUGH - 1, 1.0);
        assert_eq!(speed.note(ENOUGH, 0.5), Effort::of_one(0.5, ENOUGH));
    }

    #[test]
    fn a_host_is_slow_that_takes_long_and_longer_for_an_edge() {
        assert!(compare(&[(0.1, 100), (0.4, 100), (0.1, 100)]).is_uneven(false));
        assert!(!compare(&[(0.1, 100), (0.4, 400), (0.1, 100)]).is_uneven(true), "it does more");
        assert!(!compare(&[(0.1, 400), (0.1, 100), (0.1, 400)]).is_uneven(true), "it does less");
        assert!(!compare(&[(0.0, 0), (0.4, 100), (0.0, 0)]).is_uneven(true), "it is alone");
    }

    #[test]
    fn what_may_be_chance_counts_only_where_it_was_tried() {
        let short = compare(&[(1e-5, 100), (4e-5, 100), (1e-5, 100)]);
        assert!(short.is_uneven(true) && !short.is_uneven(false));
    }
}
