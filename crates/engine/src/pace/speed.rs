//! How fast hosts are, as far as a run shows it.
//!
//! Whether to wait for a host depends on how long it takes for an edge, not on how many edges it has. A slow
//! processor shows at once, in a trial of a few microseconds. A host that shares its processor with other work, or
//! has a quota of it, shows only after some time: the scheduler takes a thread off its core for milliseconds, and
//! picks the thread by chance. So computing time counts only where the difference is larger than chance.

use std::hint::black_box;
use std::time::Duration;

use parton_graph::hash::GOLDEN_GAMMA;
use parton_sync::{Effort, Result, Substrate};

use crate::engine::Paced;
use crate::run::Watch;

/// A round with fewer edges does not count: its fixed costs outweigh the time for edges.
const MIN_EDGES_OF_A_ROUND: u64 = 1 << 11;
/// A host is slow if it takes this many times as long as others, in all and for an edge,
const SLOW_FACTOR: f64 = 2.5;
/// and loses at least this many seconds by it: less may be chance.
const MIN_SECONDS_LOST: f64 = 0.01;

/// Edges of a trial. The clock can tell the time they take from twice that time.
const TRIAL_EDGES: u64 = 1 << 8;
/// Trials, of which the fastest counts.
const TRIALS: usize = 3;
/// Hosts try only if each has at least this many times the trial's edges.
const MIN_EDGES_PER_TRIAL_EDGE: u64 = 100;

/// What this host has computed so far.
#[derive(Default)]
pub(crate) struct Speed {
    seconds: f64,
    edges: u64,
}

impl Speed {
    /// Adds a round; returns what this host has done so far.
    pub(crate) fn note(&mut self, edges: u64, seconds: f64) -> Effort {
        if edges >= MIN_EDGES_OF_A_ROUND {
            self.seconds += seconds;
            self.edges += edges;
        }
        Effort::of_one(self.seconds, self.edges)
    }
}

/// The host that computed longest, compared with the others.
#[derive(Default)]
pub(crate) struct Comparison {
    /// Its computing time over the mean of the others.
    lateness: f64,
    /// Its time for an edge over that of the others; 0 if unknown.
    slowness: f64,
    /// Seconds it took longer than the others would for its edges.
    seconds_lost: f64,
}

impl Comparison {
    /// Compares what hosts did.
    pub(crate) fn of(all: &Effort, num_hosts: usize) -> Self {
        let (seconds, edges) = (all.seconds - all.longest, all.edges - all.of_longest);
        // Simulated work may take no time.
        if seconds <= 0.0 || edges == 0 || all.of_longest == 0 {
            return Comparison::default();
        }
        let at_others_speed = all.of_longest as f64 * seconds / edges as f64;
        Comparison {
            lateness: all.longest * (num_hosts - 1) as f64 / seconds,
            slowness: all.longest / at_others_speed,
            seconds_lost: all.longest - at_others_speed,
        }
    }

    /// Whether one host is slow. After a trial any difference counts: its work is equal on all hosts.
    pub(crate) fn is_uneven(&self, is_trial: bool) -> bool {
        let is_slow = self.lateness.min(self.slowness) >= SLOW_FACTOR;
        is_slow && (is_trial || self.seconds_lost >= MIN_SECONDS_LOST)
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

/// Tries how fast this host is before any host has to wait for it. Returns its effort and how long the
/// trial took; nothing on a graph so small that the trial would take longer than it could save, and nothing where
/// a host has a device. A device takes as long for the few edges of a trial as for thousands, and hosts
/// beside it get fewer edges since they are slower. That is the same on all hosts.
pub(crate) fn compare_by_trial(
    engine: &mut dyn Paced,
    substrate: &mut Substrate<'_>,
    watch: &mut dyn Watch,
) -> Result<(Effort, Duration)> {
    let partition = substrate.partition();
    let min_edges = MIN_EDGES_PER_TRIAL_EDGE * TRIAL_EDGES * partition.num_hosts() as u64;
    if partition.num_edges() < min_edges || partition.is_beside_devices() {
        return Ok(Default::default());
    }
    let start = substrate.net().now();
    let mut fastest = Duration::MAX;
    for _ in 0..TRIALS {
        let start = substrate.net().now();
        engine.trial(TRIAL_EDGES)?;
        fastest = fastest.min(substrate.net().now() - start);
    }
    let longer = watch.worked(fastest, TRIAL_EDGES);
    substrate.net().spend(longer)?;
    let effort = Effort::of_one((fastest + longer).as_secs_f64(), TRIAL_EDGES);
    Ok((effort, substrate.net().now() - start))
}

/// Takes about as long as visiting this many edges, without touching memory: real edges are closer to
/// each other in memory on some hosts than on others.
pub(crate) fn visit_no_edges(edges: u64) {
    (0..edges).fold(0, |seen: u64, edge| black_box((seen ^ edge).wrapping_mul(GOLDEN_GAMMA)));
}

#[cfg(test)]
mod tests {
    use parton_net::Cluster;
    use parton_partition::{Input, Partition, Plan};
    use parton_sync::Optimize;

    use super::*;

    /// Counts trials.
    struct Tried(usize);

    impl Paced for Tried {
        fn leave_rounds(&mut self, _: bool) {}

        fn trial(&mut self, _: u64) -> Result<()> {
            self.0 += 1;
            Ok(())
        }
    }

    #[test]
    fn hosts_beside_devices_are_not_tried_with_few_edges() {
        let input = Input::open("rmat:13").expect("a graph");
        let trials = Cluster::local(2).launch(|net| {
            let mut tried = [Tried(0), Tried(0)];
            for (has_device, engine) in [false, true].into_iter().zip(&mut tried) {
                let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a part");
                let partition = if has_device { partition.beside_devices() } else { partition };
                let substrate = &mut Substrate::new(&partition, net, Optimize::ALL);
                compare_by_trial(engine, substrate, &mut ())?;
            }
            Ok::<_, parton_sync::Error>(tried.map(|engine| engine.0))
        });
        assert_eq!(trials.expect("no failure"), [[TRIALS, 0]; 2]);
    }

    fn compare(hosts: &[(f64, u64)]) -> Comparison {
        let all = hosts.iter().map(|&(seconds, edges)| Effort::of_one(seconds, edges));
        Comparison::of(&all.reduce(Effort::plus).expect("some hosts"), hosts.len())
    }

    #[test]
    fn only_rounds_with_enough_edges_tell() {
        let mut speed = Speed::default();
        speed.note(MIN_EDGES_OF_A_ROUND - 1, 1.0);
        assert_eq!(
            speed.note(MIN_EDGES_OF_A_ROUND, 0.5),
            Effort::of_one(0.5, MIN_EDGES_OF_A_ROUND)
        );
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
