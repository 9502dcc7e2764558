//! BSP beside BASP, with one slow host and without.
//!
//! The slow host does in a second what the others do in a quarter of one: after every stretch of work it
//! sleeps three times as long, or is busy if that is short. Nothing else differs, and all paces take
//! turns. With `--slow-host cgroup` the host does not sleep: the system gives it a quarter of its share
//! of the processors.
//!
//! `--simulated` runs the same code on simulated hosts, whose work takes virtual time by its edges. The
//! result depends neither on other load of the machine nor on its number of cores.

use std::path::Path;
use std::time::Duration;

use parton_algorithms::{Error, Job, Options, by_name};
use parton_engine::simulated::{SimulatedHost, TIME_PER_MESSAGE};
use parton_engine::{EngineInfo, engines};
use parton_engine::{Pace, Pacing, RunReport, Tally, Watch};
use parton_graph::formats::{self, ReadOptions};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_graph::source::Source;
use parton_graph::{Graph, WeightKind};
use parton_net::{Cluster, HostId, SimOptions};
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate, Volume};
use serde_json::{Value, json};

use crate::option;
use crate::quota::Quota;

const HOSTS: usize = 4;
/// The slow host, where there is one.
const SLOW_HOST: HostId = HostId(1);
/// Its speed; that of the others is 1.
const SLOW_HOST_SPEED: f64 = 0.25;

/// How hosts wait.
const PACES: [(&str, Pacing); 3] = [
    ("bsp", governed(Pace::Bsp)),
    ("basp", governed(Pace::Basp)),
    ("basp, no governor", Pacing { governed: false, ..governed(Pace::Basp) }),
];

const fn governed(pace: Pace) -> Pacing {
    Pacing { pace, governed: true, leave_after: None }
}

/// Algorithms and engines that may leave the rounds.
const RUNS: [(&str, &EngineInfo); 7] = [
    ("bfs", engines::FRONTIER),
    ("bfs", engines::PUSH),
    ("sssp", engines::DELTA),
    ("sssp", engines::FRONTIER),
    ("components", engines::FRONTIER),
    ("components", engines::PUSH),
    ("components", engines::UNION),
];

/// A shorter delay is spent busy at once; longer ones are added up and slept.
const MAX_BUSY_DELAY: Duration = Duration::from_micros(20);

/// A host and its speed.
struct Machine {
    speed: f64,
    /// Where time is virtual, work takes none by itself.
    simulated: bool,
    /// Sleep that is due: the system does not sleep for microseconds.
    due: Duration,
}

impl Watch for Machine {
    fn round(&mut self, _: u64, _: &Tally, _: &[Volume]) {}

    fn worked(&mut self, time: Duration, edges: u64) -> Duration {
        if self.simulated {
            return SimulatedHost(1.0 / self.speed).worked(time, edges);
        }
        let longer = time.mul_f64(1.0 / self.speed - 1.0);
        if longer < MAX_BUSY_DELAY {
            return longer;
        }
        self.due += longer;
        match self.due > Duration::from_micros(200) {
            true => std::mem::take(&mut self.due),
            false => Duration::ZERO,
        }
    }
}

pub fn run(options: &[&str]) {
    let turns: usize = option(options, "--turns").map_or(5, |n| n.parse().expect("a number"));
    let policy = option(options, "--policy").unwrap_or("oec");
    let simulated = options.contains(&"--simulated");
    let graphs: Vec<&str> = match option(options, "--graphs") {
        Some(list) => list.split('+').collect(),
        None => vec!["web:300000", "grid:600x500", "rmat:17"],
    };
    // One turn in virtual time is like the other.
    let turns = if simulated { 1 } else { turns };
    let quota = (option(options, "--slow-host") == Some("cgroup")).then(|| {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Quota::new(SLOW_HOST_SPEED * (cores as f64 / HOSTS as f64).min(1.0))
    });
    let runs = option(options, "--runs").map_or(Vec::new(), |list| list.split('+').collect());
    let how = How { policy, turns, simulated, quota, runs };
    let mut rows = Vec::new();
    for name in &graphs {
        measure(name, &how, &mut rows);
    }
    crate::save(options, &rows);
}

/// A file or a generated graph; with weights, if it has none.
fn graph(name: &str) -> Graph {
    let graph = match Path::new(name).exists() {
        true => {
            let source = Source::file(Path::new(name)).expect("a file");
            formats::read(&source, None, &ReadOptions::default()).expect("a graph")
        }
        false => Spec::parse(name).and_then(|spec| spec.generate(&Silent)).expect("a graph"),
    };
    match graph.adjacency.weight_kind() {
        WeightKind::None => graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 }),
        _ => graph,
    }
}

/// How to measure.
struct How<'a> {
    policy: &'a str,
    turns: usize,
    simulated: bool,
    /// What slows the slow host down, if it does not do so itself.
    quota: Option<Quota>,
    /// What to run; all, if it is empty.
    runs: Vec<&'a str>,
}

fn measure(name: &str, how: &How<'_>, rows: &mut Vec<Value>) {
    let input = &Input::from(graph(name));
    let mut local = Cluster::local(HOSTS).threads_per_host(1);
    let parts = local.launch(|net| Partition::build(net, input, &Plan::new(how.policy)));
    let parts = parts.expect("a partition");
    let options =
        SimOptions { calm: Some(TIME_PER_MESSAGE), step_limit: u64::MAX, ..SimOptions::default() };
    let mut cluster = if how.simulated { Cluster::sim_with(HOSTS, options) } else { local };
    let short = name.rsplit('/').next().unwrap_or(name);
    for (algorithm, engine) in RUNS {
        let run = format!("{algorithm}/{}", engine.name);
        if !how.runs.is_empty() && !how.runs.contains(&run.as_str()) {
            continue;
        }
        for slow in [true, false] {
            let mut best: Vec<Option<RunReport>> = vec![None; PACES.len()];
            for _ in 0..how.turns {
                for ((_, pacing), best) in PACES.iter().zip(&mut best) {
                    let report =
                        once(&mut cluster, &parts, algorithm, (engine, *pacing), (slow, how));
                    if best.as_ref().is_none_or(|best| report.seconds < best.seconds) {
                        *best = Some(report);
                    }
                }
            }
            let best: Vec<RunReport> = best.into_iter().flatten().collect();
            let paces: Vec<Value> =
                PACES.iter().zip(&best).map(|((pace, _), report)| row(pace, report)).collect();
            rows.push(json!({
                "graph": short,
                "algorithm": algorithm,
                "engine": engine.name,
                "slow_host": slow,
                "simulated": how.simulated,
                "turns": how.turns,
                "paces": paces,
            }));
            println!("{}", rows[rows.len() - 1]);
        }
    }
}

fn once(
    cluster: &mut Cluster,
    parts: &[Partition],
    algorithm: &str,
    (engine, pacing): (&'static EngineInfo, Pacing),
    (slow, how): (bool, &How<'_>),
) -> RunReport {
    let algorithm = by_name(algorithm).expect("an algorithm");
    let options = Options { engine: Some(engine), pacing, ..Options::default() };
    let reports = cluster.launch(|net| -> Result<_, Error> {
        let host = net.host();
        let mut substrate = Substrate::new(&parts[host.index()], net, Optimize::ALL);
        let quota = how.quota.as_ref().filter(|_| slow && host == SLOW_HOST);
        let speed =
            if slow && host == SLOW_HOST && quota.is_none() { SLOW_HOST_SPEED } else { 1.0 };
        let watch = &mut Machine { speed, simulated: how.simulated, due: Duration::ZERO };
        let mut job = Job { substrate: &mut substrate, options: &options, watch, device: None };
        let mut run = || algorithm.run(&mut job);
        let answer = if let Some(quota) = quota { quota.within(run) } else { run() };
        Ok(answer?.report)
    });
    reports.expect("a run").swap_remove(0)
}

/// The best run of one pace.
fn row(pace: &str, report: &RunReport) -> Value {
    let (fewest, most) = report.local_rounds();
    let sent = report.sent();
    let seconds =
        |of: fn(&parton_engine::HostReport) -> f64| report.hosts.iter().map(of).collect::<Vec<_>>();
    json!({
        "pace": pace,
        "seconds": report.seconds,
        "rounds": [fewest, most],
        "work": report.work(),
        "messages": sent.messages,
        "bytes": sent.total(),
        "compute_seconds": seconds(|host| host.compute_seconds),
        "pack_seconds": seconds(|host| host.pack_seconds),
        "wait_seconds": seconds(|host| host.wait_seconds),
    })
}
