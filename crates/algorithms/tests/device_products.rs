//! Algorithms on devices: every algorithm that runs on one, with every engine, policy and pace, over any
//! number of hosts, on devices alone and on devices beside processors. The answer is the oracle's, with a
//! valid certificate, and hosts send each other what processors would.
//!
//! An emulated device runs a sample of this; `cargo xtask test --long` tries all. With `PARTON_TEST_GPU=1`
//! a GPU runs everything, or one setting of as many as `PARTON_TEST_ONE_IN` says.

use std::io::Write;
use std::time::Duration;

use parton_algorithms::{ALL, Algorithm, Options, check_devices};
use parton_engine::{Pace, Pacing, engines};
use parton_gpu::discover;
use parton_graph::Graph;
use parton_net::Cluster;
use parton_partition::Input;

use crate::common::nasty::nasty_graphs;
use crate::common::{Devices, How, Outcome, all_policies, is_long, try_run};
use crate::device_bytes::sends_the_same;
use crate::matrix::{agrees, settled};

/// One setting of this many is tried on an emulated device.
const ONE_IN: usize = 24;
/// How long a host waits for another. A device that compiles a kernel takes seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// True if tests shall run on a GPU. A line says why they do not.
fn is_gpu_wanted() -> bool {
    static SAID: std::sync::Once = std::sync::Once::new();
    let is_wanted = std::env::var("PARTON_TEST_GPU").as_deref() == Ok("1");
    SAID.call_once(|| {
        let reason = match (is_wanted, discover::list()) {
            (true, _) => return,
            (false, Ok(_)) => "set PARTON_TEST_GPU=1".to_owned(),
            (false, Err(reason)) => reason.to_string(),
        };
        // Seen even if the test passes.
        let _ = writeln!(std::io::stderr(), "\nalgorithms were not tested on a GPU: {reason}");
    });
    is_wanted
}

/// One setting of this many is tried.
fn one_in() -> usize {
    let given = std::env::var("PARTON_TEST_ONE_IN").ok();
    let tried = if is_long() || is_gpu_wanted() { 1 } else { ONE_IN };
    given.map_or(tried, |number| number.parse().expect("PARTON_TEST_ONE_IN: a number"))
}

/// Every algorithm that runs on devices, with every engine that it has there.
fn runs_at(pacing: Pacing) -> Vec<(&'static dyn Algorithm, Options)> {
    let mut runs: Vec<(&'static dyn Algorithm, Options)> = Vec::new();
    for &algorithm in ALL {
        for engine in algorithm.engines() {
            let options = Options { pacing, engine: Some(engine), ..Options::default() };
            let can = pacing.pace != Pace::Basp || algorithm.needs_rounds(&options).is_none();
            if can && check_devices(algorithm, &options).is_ok() {
                runs.push((algorithm, settled(algorithm, options)));
            }
        }
    }
    runs
}

/// The processors that send in every round what these hosts do. Some agree with each other on more than they do beside
/// devices.
fn alike(algorithm: &str, engine: &str, policy: &str) -> Option<Devices> {
    match (algorithm, engine) {
        _ if sends_the_same(algorithm, engine, policy) => Some(Devices::None),
        ("bfs", "frontier") | ("pagerank", _) => Some(Devices::Elsewhere),
        _ => None,
    }
}

/// Runs on devices and on processors, and compares both with the oracle and with each other.
fn compare(
    cluster: &mut Cluster,
    (name, graph): (&str, &Graph),
    (algorithm, options): &(&'static dyn Algorithm, Options),
    policy: &str,
    devices: Devices,
) {
    let hosts = cluster.num_hosts();
    if devices != Devices::All && hosts > 1 && options.engine == Some(engines::UNION) {
        // Hosts that differ do without it.
        return;
    }
    let how = How { devices, ..How::new(policy) };
    let needs = algorithm.needs(options);
    let input = Input::from(graph.clone()).fitted(needs.fit());
    let oracle = needs.prepared(graph.clone());
    let one = [(*algorithm as &dyn Algorithm, options.clone())];
    let (name_of_algorithm, pace) = (algorithm.name(), options.pacing.pace);
    let engine = options.engine.map_or("auto", |engine| engine.name);
    let what = format!(
        "{name_of_algorithm} by {engine} on {name}, {hosts} hosts, {policy}, {devices:?}, {pace:?}"
    );
    let mut run = |how| -> Outcome {
        try_run(cluster, &input, &one, how).unwrap_or_else(|e| panic!("{what}: {e}")).swap_remove(0)
    };
    let found = run(how);
    let columns = &found.columns;
    assert!(agrees(hosts, *algorithm, &oracle, options, columns), "{what}: {columns:?}");
    assert_eq!(found.complaint, None, "{what}");
    assert!(found.report.converged || options.max_rounds.is_some(), "{what}: unfinished");
    let alike = alike(name_of_algorithm, engine, policy);
    if let Some(devices) = alike.filter(|_| hosts > 1 && pace == Pace::Bsp) {
        let expected = run(How { devices, ..How::new(policy) });
        let [found, expected] = [found, expected].map(|outcome| outcome.report.rounds);
        // Ranks are final a little earlier or later, as sums are rounded.
        assert!(found.len() == expected.len() || name_of_algorithm == "pagerank", "{what}");
        for (round, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found.sent, expected.sent, "{what}: sent in round {round}");
        }
    }
}

/// All settings, or a sample of them, for this many hosts.
fn try_all(hosts: usize) {
    let graphs = nasty_graphs();
    let paces = [Pacing::default(), Pacing::AT_ONCE].map(runs_at);
    let mut cluster = Cluster::local(hosts).threads_per_host(1).patience(PATIENCE);
    let (one_in, mut turn) = (one_in(), hosts);
    for (p, policy) in all_policies().into_iter().enumerate() {
        for (m, devices) in [Devices::All, Devices::Odd].into_iter().enumerate() {
            for (pace, runs) in paces.iter().enumerate() {
                // A host that is alone has nobody to wait for, or to differ from.
                if hosts == 1 && (m, pace) != (0, 0) {
                    continue;
                }
                for (number, one) in runs.iter().enumerate() {
                    if !(hosts + p + m + pace + number).is_multiple_of(one_in) {
                        continue;
                    }
                    // Graphs take turns, but in a long run.
                    turn += 1;
                    let count = if is_long() { graphs.len() } else { 1 };
                    for (name, graph) in graphs.iter().cycle().skip(turn * 5 % 16).take(count) {
                        compare(&mut cluster, (name, graph), one, policy, devices);
                    }
                }
            }
        }
    }
}

#[test]
fn one_host() {
    try_all(1);
}

#[test]
fn two_hosts() {
    try_all(2);
}

#[test]
fn three_hosts() {
    try_all(3);
}

#[test]
fn four_hosts() {
    try_all(4);
}

#[test]
fn five_hosts() {
    try_all(5);
}

#[test]
fn six_hosts() {
    try_all(6);
}

#[test]
fn seven_hosts() {
    try_all(7);
}
