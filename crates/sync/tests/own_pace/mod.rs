//! Hosts that do not wait for each other, under thousands of schedules of a simulated network: the
//! code that runs in production, substrate and termination, with delays, stalls and reordering
//! drawn from a seed. Answers are exact, no message is lost or doubled, nobody ends early, and
//! everybody ends. That the simulation would notice is tested, too.
//!
//! `PARTON_SEEDS=20` tries twenty times as many seeds; `cargo xtask test --long` four times as many.

use crate::common;
mod faults;
mod latency;
mod work;

use common::all_policies;
use faults::Bug;
use parton_net::Cluster;
use parton_sync::Optimize;
use work::{How, Scene, judge};

/// Seeds for each number of hosts.
const SEEDS: u64 = 650;

/// Seeds among which every planted mistake shows.
const SEEDS_FOR_MISTAKES: u64 = 2600;

fn seeds() -> u64 {
    let long = if std::env::var_os("PARTON_LONG").is_some() { 4 } else { 1 };
    let times = std::env::var("PARTON_SEEDS").map_or(1, |times| times.parse().expect("a number"));
    SEEDS * long * times
}

fn scenes(hosts: usize) -> Vec<Scene> {
    let sizes = [9, 14];
    let policies = all_policies().into_iter().filter(|policy| *policy != "fennel");
    policies.flat_map(|policy| sizes.map(|vertices| Scene::new(vertices, policy, hosts))).collect()
}

/// One seed decides on the scene and on how it is run, too.
fn how(seed: u64, bug: Option<Bug>) -> How {
    let mixed = common::random(&[seed]);
    How {
        optimize: if mixed.is_multiple_of(8) {
            Optimize::NAMES[(mixed >> 8) as usize % 4].1
        } else {
            Optimize::ALL
        },
        places_per_message: if mixed.is_multiple_of(5) { 2 } else { usize::MAX },
        governed: (mixed >> 16).is_multiple_of(3),
        at_a_time: [1, 2, usize::MAX][(mixed >> 24) as usize % 3],
        bug,
    }
}

fn try_seeds(hosts: usize) {
    let scenes = scenes(hosts);
    let mut cluster = Cluster::sim(hosts, 0);
    for seed in 0..seeds() {
        cluster.set_seed(seed);
        let scene = &scenes[common::random(&[seed, 1]) as usize % scenes.len()];
        if let Err(wrong) = judge(&mut cluster, scene, how(seed, None)) {
            panic!("{hosts} hosts, {}, seed {seed}: {wrong}", scene.name);
        }
    }
}

#[test]
fn two_hosts_agree_under_every_seed() {
    try_seeds(2);
}

#[test]
fn three_hosts_agree_under_every_seed() {
    try_seeds(3);
}

#[test]
fn four_hosts_agree_under_every_seed() {
    try_seeds(4);
}

#[test]
fn five_hosts_agree_under_every_seed() {
    try_seeds(5);
}

/// Without this, the tests above might pass because they look away.
#[test]
fn every_planted_bug_is_found() {
    let scenes: Vec<(usize, Vec<Scene>)> = [2, 3].map(|hosts| (hosts, scenes(hosts))).into();
    let mut clusters = [2, 3].map(|hosts| Cluster::sim(hosts, 0));
    for bug in Bug::ALL {
        let found = (0..SEEDS_FOR_MISTAKES).find_map(|seed| {
            let which = seed as usize % 2;
            let (_, scenes) = &scenes[which];
            clusters[which].set_seed(seed);
            let scene = &scenes[common::random(&[seed, 1]) as usize % scenes.len()];
            judge(&mut clusters[which], scene, how(seed, Some(bug)))
                .err()
                .map(|wrong| (seed, wrong))
        });
        let (seed, wrong) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        eprintln!("{bug:?}: seed {seed}: {wrong}");
    }
}
