//! How long the end takes to be noticed: at most three snapshots, however many hosts there are.
//!
//! A snapshot lasts from when the first host takes it until every host has heard of all others' and
//! can take the next.

use std::collections::BTreeMap;
use std::time::Duration;

use parton_net::{Cluster, SimAction, SimOptions, SimReport};
use parton_sync::Optimize;

use super::work::{How, Scene, judge};

/// When the first and the last host took each snapshot, by its number.
fn snapshots(report: &SimReport) -> BTreeMap<u64, (Duration, Duration)> {
    // As laid out in `epoch.rs`.
    let number = |bits: u64| (bits >> 47 == 0x22).then_some(bits & ((1 << 31) - 1));
    let mut took: BTreeMap<(u64, u16), Duration> = BTreeMap::new();
    for event in &report.trace {
        if let SimAction::Send { tag, .. } = event.action
            && let Some(number) = number(tag.bits())
        {
            took.entry((number, event.host.0)).or_insert(event.time);
        }
    }
    let mut all = BTreeMap::new();
    for ((number, _), time) in took {
        let (first, last) = all.entry(number).or_insert((time, time));
        (*first, *last) = (time.min(*first), time.max(*last));
    }
    all
}

/// Runs a few seeds; how many snapshots the end took at most.
fn most_snapshots(vertices: u32, hosts: usize, seeds: u64) -> usize {
    let scene = Scene::new(vertices, "cvc", hosts);
    let how = How {
        optimize: Optimize::ALL,
        places_per_message: usize::MAX,
        governed: false,
        at_a_time: 2,
        bug: None,
    };
    let mut most = 0;
    for seed in 0..seeds {
        let options = SimOptions { seed, keep_trace: true, ..SimOptions::default() };
        let mut cluster = Cluster::sim_with(hosts, options);
        let found = judge(&mut cluster, &scene, how).unwrap_or_else(|wrong| panic!("{wrong}"));
        let quiet = found.iter().map(|host| host.quiet).max().expect("hosts");
        let ended = found.iter().map(|host| host.ended).max().expect("hosts");
        let snapshots = snapshots(cluster.sim_report().expect("a simulation"));
        // The newest that had begun when nothing was left to do, and all that follow.
        let begun = snapshots.iter().rev().find(|(_, (first, _))| *first <= quiet);
        let newest = begun.map_or(0, |(number, _)| *number);
        let ends = |number: u64| snapshots.get(&(number + 1)).map_or(ended, |(_, last)| *last);
        let left: Vec<_> = snapshots
            .range(newest..)
            .map(|(&number, &(first, _))| (first, ends(number)))
            .filter(|(_, end)| *end > quiet)
            .collect();
        let longest = left.iter().map(|(first, end)| *end - *first).max().expect("a snapshot");
        assert!(
            ended - quiet <= 3 * longest,
            "{hosts} hosts, seed {seed}: {:?}, snapshots {left:?}, quiet since {quiet:?}",
            ended - quiet
        );
        most = most.max(left.len());
    }
    most
}

#[test]
fn the_end_is_noticed_within_three_snapshots() {
    let most = [2, 3, 5, 16].map(|hosts| most_snapshots(24, hosts, 150));
    assert!(most.iter().all(|most| *most <= 3), "{most:?}");
    assert!(most.contains(&3), "the bound is sharp: {most:?}");
}

#[test]
fn the_end_is_noticed_within_three_snapshots_by_64_hosts() {
    assert!(most_snapshots(200, 64, 8) <= 3);
}
