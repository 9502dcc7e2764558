//! Hosts that wait for each other beside hosts that do not, with one slow host among them and without.
//!
//! A slow host gets as much done in a second as the others in a quarter of one: after every stretch
//! of work it sleeps three times as long, or is busy if that is short. Nothing else differs, and all take turns. With `--slow-host cgroup`
//! it does not sleep: the system gives it a quarter of the processor time that is its part.
//!
//! `--simulated` runs the same code on simulated hosts, whose work takes virtual time by its edges: what
//! it shows depends on no other load of the machine, nor on how many cores it has.

use std::path::Path;
use std::time::Duration;

use parton_algorithms::{Error, Job, Options, by_name};
use parton_engine::{EngineInfo, engines};
use parton_engine::simulated::{MESSAGE, SimulatedHost};
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

use crate::option;
use crate::plot::Bars;
use crate::quota::Quota;

const HOSTS: usize = 4;
/// The slow host, where there is one.
const SLOW: HostId = HostId(1);
/// Its speed, of that of the others.
const SPEED: f64 = 0.25;

/// How hosts wait.
const PACES: [(&str, Pacing); 3] = [
    ("bsp", governed(Pace::Bsp)),
    ("basp", governed(Pace::Basp)),
    ("basp, no governor", Pacing { governed: false, ..governed(Pace::Basp) }),
];

const fn governed(pace: Pace) -> Pacing {
    Pacing { pace, governed: true, leave_after: None }
}

/// What is run: label propagation and searches that go through many rounds.
const RUNS: [(&str, &'static EngineInfo); 7] = [
    ("bfs", engines::FRONTIER),
    ("bfs", engines::PUSH),
    ("sssp", engines::DELTA),
    ("sssp", engines::FRONTIER),
    ("components", engines::FRONTIER),
    ("components", engines::PUSH),
    ("components", engines::UNION),
];

/// So much sleep is due at once: hosts wait for it, and need not sleep.
const AT_ONCE: Duration = Duration::from_micros(20);

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
        if longer < AT_ONCE {
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
        Quota::new(SPEED * (cores as f64 / HOSTS as f64).min(1.0))
    });
    let runs = option(options, "--runs").map_or(Vec::new(), |list| list.split('+').collect());
    let how = How { policy, turns, simulated, quota, runs };
    let mut rows = Vec::new();
    match simulated {
        true => println!("{HOSTS} simulated hosts, {policy}; virtual time\n"),
        false => println!("{HOSTS} hosts, {policy}; times are the best of {turns} turns\n"),
    }
    println!(
        "| graph | algorithm | engine | slow host | pace | s | ÷ bsp | rounds | work ÷ bsp | messages | MB | computing | packing | waiting |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for name in &graphs {
        measure(name, &how, &mut rows);
    }
    if let Some(file) = option(options, "--plot") {
        for (suffix, title, value) in PLOTS {
            let file = file.replace(".svg", &format!("{suffix}.svg"));
            std::fs::write(file, plot(&rows, title, value).svg()).expect("a file to write");
        }
    }
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

/// What was measured: what, with a slow host or not, and the best run of every pace.
type Row = (String, bool, Vec<RunReport>);

fn measure(name: &str, how: &How<'_>, rows: &mut Vec<Row>) {
    let input = &Input::from(graph(name));
    let mut local = Cluster::local(HOSTS).threads_per_host(1);
    let parts = local.launch(|net| Partition::build(net, input, &Plan::new(how.policy)));
    let parts = parts.expect("a partition");
    let options = SimOptions { calm: Some(MESSAGE), step_limit: u64::MAX, ..SimOptions::default() };
    let mut cluster = if how.simulated { Cluster::sim_with(HOSTS, options) } else { local };
    let short = name.rsplit('/').next().unwrap_or(name);
    for (algorithm, engine) in RUNS {
        let run = format!("{algorithm}/{}", engine.name());
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
            for ((pace, _), report) in PACES.iter().zip(&best) {
                let what = format!(
                    "| {short} | {algorithm} | {} | {} |",
                    engine.name(),
                    if slow { "yes" } else { "no" }
                );
                println!("{what} {pace} {}", line(report, &best[0]));
            }
            rows.push((format!("{algorithm}, {}, {short}", engine.name()), slow, best));
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
        let quota = how.quota.as_ref().filter(|_| slow && host == SLOW);
        let speed = if slow && host == SLOW && quota.is_none() { SPEED } else { 1.0 };
        let watch = &mut Machine { speed, simulated: how.simulated, due: Duration::ZERO };
        let mut job = Job { substrate: &mut substrate, options: &options, watch };
        let mut run = || algorithm.run(&mut job);
        let answer = if let Some(quota) = quota { quota.within(run) } else { run() };
        Ok(answer?.report)
    });
    reports.expect("a run").swap_remove(0)
}

fn line(report: &RunReport, bsp: &RunReport) -> String {
    let (fewest, most) = report.local_rounds();
    let rounds = if fewest == most { format!("{most}") } else { format!("{fewest}–{most}") };
    let range = |seconds: fn(&parton_engine::HostReport) -> f64| {
        let all = || report.hosts.iter().map(seconds);
        format!("{:.3}–{:.3}", all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max))
    };
    let sent = report.sent();
    format!(
        "| {:.4} | {:.2} | {rounds} | {:.2} | {} | {:.2} | {} | {} | {} |",
        report.seconds,
        report.seconds / bsp.seconds,
        report.work() as f64 / bsp.work().max(1) as f64,
        sent.messages,
        sent.total() as f64 / 1e6,
        range(|host| host.compute_seconds),
        range(|host| host.pack_seconds),
        range(|host| host.wait_seconds),
    )
}

/// Something that a report shows.
type Shown = fn(&RunReport) -> f64;

/// What is shown of all runs, of that of hosts that wait for each other: what is added to the name of
/// the file, a title, and the value.
const PLOTS: [(&str, &str, Shown); 3] = [
    ("", "Time of a run, of that of hosts that wait for each other", |report| report.seconds),
    ("-rounds", "Most rounds of a host, of those of hosts that wait for each other", |report| {
        report.local_rounds().1 as f64
    }),
    ("-work", "Edges that were looked at, of those of hosts that wait for each other", |report| {
        report.work() as f64
    }),
];

fn plot(rows: &[Row], title: &'static str, value: Shown) -> Bars<'static> {
    let groups = rows.iter().map(|(what, slow, reports)| {
        let name = format!("{what}{}", if *slow { ", one slow" } else { "" });
        let bsp = value(&reports[0]).max(f64::MIN_POSITIVE);
        (name, reports.iter().map(|report| 100.0 * value(report) / bsp).collect())
    });
    Bars {
        title,
        series: &[("bsp", "#777777"), ("basp", "#1b6ca8"), ("basp, no governor", "#8fc1e3")],
        groups: groups.collect(),
        unit: " %",
    }
}
