//! Algorithms on devices: every algorithm that runs on one, with every engine, policy and pace, over any
//! number of hosts, on devices alone and on devices beside processors. The answer is the oracle's, with a
//! valid certificate, and hosts send each other what processors would.
//!
//! An emulated device runs a sample of this in which any two choices meet; `cargo xtask test --long` tries all.
//! With `PARTON_TEST_GPU=1` a GPU runs one setting of [`ONE_IN_ON_GPU`], or of as many as `PARTON_TEST_ONE_IN` says.

use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use parton_algorithms::{ALL, Algorithm, Options, check_devices};
use parton_engine::{Pace, Pacing, engines};
use parton_gpu::discover;
use parton_graph::Graph;
use parton_net::Cluster;
use parton_partition::Input;

use crate::common::compare::{agrees, settled};
use crate::common::nasty::nasty_graphs;
use crate::common::pairs;
use crate::common::{Devices, How, Outcome, all_policies, is_long, try_run};
use crate::device_bytes::sends_the_same;

/// As many settings as if graphs took turns.
const ONE_IN_ON_GPU: u64 = 16;
/// The most hosts of a run.
const MAX_HOSTS: usize = 7;
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

/// What is chosen for a run: numbers of hosts, and places in lists.
#[derive(Clone, Copy)]
struct Setting {
    hosts: usize,
    policy: usize,
    devices: Devices,
    graph: usize,
    run: usize,
}

/// All that settings choose from.
struct Choices {
    policies: Vec<&'static str>,
    graphs: Vec<(&'static str, Graph)>,
    runs: Vec<(&'static dyn Algorithm, Options)>,
}

impl Choices {
    fn new() -> Choices {
        let runs = [Pacing::default(), Pacing::AT_ONCE].map(runs_at).concat();
        Choices { policies: all_policies(), graphs: nasty_graphs(), runs }
    }

    /// The whole product.
    fn all(&self) -> Vec<Setting> {
        let mut product = Vec::new();
        for hosts in 1..=MAX_HOSTS {
            for policy in 0..self.policies.len() {
                for devices in [Devices::All, Devices::Odd] {
                    let runs = 0..self.runs.len();
                    for run in runs.filter(|&run| self.is_meant(hosts, devices, run)) {
                        let setting = |graph| Setting { hosts, policy, devices, graph, run };
                        product.extend((0..self.graphs.len()).map(setting));
                    }
                }
            }
        }
        product
    }

    /// Whether this run differs from others with these hosts.
    fn is_meant(&self, hosts: usize, devices: Devices, run: usize) -> bool {
        let options = &self.runs[run].1;
        match (hosts, devices) {
            // A host that is alone has nobody to wait for, or to differ from.
            (1, _) => devices == Devices::All && options.pacing.pace == Pace::Bsp,
            (_, Devices::All) => true,
            // Hosts that differ do without it.
            _ => options.engine != Some(engines::UNION),
        }
    }

    /// What a setting has of each kind.
    fn features(&self, setting: &Setting) -> [usize; 7] {
        let &Setting { hosts, policy, devices, graph, run } = setting;
        let (name, options) = (self.runs[run].0.name(), &self.runs[run].1);
        let mut runs = self.runs.iter();
        let algorithm = runs.clone().position(|(other, _)| other.name() == name);
        let engine = runs.position(|(_, other)| other.engine == options.engine);
        let [algorithm, engine] = [algorithm, engine].map(|first| first.expect("itself"));
        [hosts, policy, devices as usize, graph, algorithm, engine, options.pacing.pace as usize]
    }

    /// The settings that are tried.
    fn tried(&self) -> Vec<Setting> {
        let given = std::env::var("PARTON_TEST_ONE_IN").ok();
        let given = given.map(|number| number.parse().expect("PARTON_TEST_ONE_IN: a number"));
        let all = self.all();
        match given.or(is_gpu_wanted().then_some(ONE_IN_ON_GPU)) {
            _ if is_long() => all,
            None => pairs::sample(all, |setting| self.features(setting)),
            Some(one_in) => {
                let number = |setting: &Setting| pairs::shuffled(&self.features(setting)) >> 20;
                all.into_iter().filter(|setting| number(setting).is_multiple_of(one_in)).collect()
            }
        }
    }
}

/// Tries settings for this many hosts.
fn try_all(hosts: usize) {
    static TRIED: LazyLock<(Choices, Vec<Setting>)> = LazyLock::new(|| {
        let choices = Choices::new();
        let tried = choices.tried();
        (choices, tried)
    });
    let (choices, tried) = &*TRIED;
    let mut cluster = Cluster::local(hosts).threads_per_host(1).patience(PATIENCE);
    for setting in tried.iter().filter(|setting| setting.hosts == hosts) {
        let (name, graph) = &choices.graphs[setting.graph];
        let (run, policy) = (&choices.runs[setting.run], choices.policies[setting.policy]);
        compare(&mut cluster, (name, graph), run, policy, setting.devices);
    }
}

#[test]
fn any_two_choices_meet_in_the_sample() {
    let choices = Choices::new();
    let (all, features) = (choices.all(), |setting: &Setting| choices.features(setting));
    let sample = pairs::sample(all.clone(), features);
    assert_eq!(pairs::pairs(&sample, features), pairs::pairs(&all, features));
    assert!(sample.len() < 500, "{} of {}", sample.len(), all.len());
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
