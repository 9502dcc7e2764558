//! Engines on a device, on one graph: every row is the best and the median of several runs on edges that
//! were uploaded once per engine.
//!
//! `parton bench --devices` measures whole commands; this program also starts searches at many roots and
//! gives the rates that GPU systems are compared by: edges of the graph per second of a run.

use parton_algorithms::options::Given;
use parton_algorithms::{ALL, Algorithm, Answer, Error, Job, Options};
use parton_engine::device::Device;
use parton_gpu::{GpuHost, discover};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

use crate::{option, save};

/// What is measured: an algorithm, and options of its own.
const ROWS: &str = "bfs/frontier bfs/push sssp/delta sssp/frontier sssp/push components/union \
                    pagerank/pull";

pub fn run(options: &[&str]) {
    let turns: usize = option(options, "--turns").map_or(5, |n| n.parse().expect("a number"));
    let num_roots: usize = option(options, "--roots").map_or(0, |n| n.parse().expect("a number"));
    let rows: Vec<&str> = option(options, "--runs").unwrap_or(ROWS).split([' ', '+']).collect();
    let device = option(options, "--device").unwrap_or("gpu");
    let mut results = Vec::new();
    println!("| graph | algorithm | engine | rounds | setup s | best ms | median ms | G edges/s |");
    println!("|---|---|---|---|---|---|---|---|");
    for graph in option(options, "--graphs").expect("--graphs GRAPH+GRAPH…").split('+') {
        let input = Input::open(graph).expect("a graph");
        let found = Cluster::local(1).launch(|net| -> Result<_, Error> {
            let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
            let host =
                (device != "cpu").then(|| GpuHost::new(discover::open(device).expect("a device")));
            let host = host.as_ref().map(|host| host as &dyn Device);
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            let mut found = Vec::new();
            for row in &rows {
                found.push(measure(row, turns, &mut substrate, host)?);
                if num_roots > 0 && row.starts_with("bfs") {
                    found.push(from_many_roots(row, num_roots, &mut substrate, host)?);
                }
            }
            Ok((partition.num_edges(), found))
        });
        let (edges, found) = found.expect("a run").swap_remove(0);
        for row in found {
            let Row { name, engine, rounds, setup, best, median } = row;
            let rate = edges as f64 / best / 1e9;
            println!(
                "| {graph} | {name} | {engine} | {rounds} | {setup:.2} | {:.3} | {:.3} | {rate:.1} |",
                best * 1e3,
                median * 1e3
            );
            results.push(serde_json::json!({
                "graph": graph, "edges": edges, "algorithm": name, "engine": engine,
                "rounds": rounds, "setup": setup, "best": best, "median": median,
            }));
        }
    }
    save(options, &results);
}

struct Row {
    name: String,
    engine: &'static str,
    rounds: usize,
    setup: f64,
    best: f64,
    median: f64,
}

impl Row {
    /// The row of some runs. Where each has a root of its own, the harmonic mean of their rates counts:
    /// the mean of their times.
    fn new(name: &str, answers: &[Answer], is_mean: bool) -> Row {
        let mut seconds: Vec<f64> = answers.iter().map(per_run).collect();
        seconds.sort_by(f64::total_cmp);
        let best = match is_mean {
            true => seconds.iter().sum::<f64>() / seconds.len() as f64,
            false => seconds[0],
        };
        let last = answers.last().expect("a run");
        Row {
            name: name.to_owned(),
            engine: last.engine.name,
            rounds: last.report.rounds.len(),
            setup: last.setup_seconds,
            best,
            median: seconds[seconds.len() / 2],
        }
    }
}

/// Seconds of a run, or of a round where every round visits every edge.
fn per_run(answer: &Answer) -> f64 {
    let is_stationary = answer.columns[0].name == "rank";
    answer.report.seconds / if is_stationary { answer.report.rounds.len() as f64 } else { 1.0 }
}

/// `bfs/frontier`, with options behind further slashes: `sssp/delta/delta=8`.
fn request(row: &str) -> (&'static dyn Algorithm, Options) {
    let mut words = row.split('/');
    let name = words.next().expect("an algorithm");
    let algorithm = *ALL.iter().find(|known| known.name() == name).expect("an algorithm");
    let mut options = Options::default();
    let engine = words.next().filter(|&word| word != "auto");
    options.engine = engine.map(|name| {
        *algorithm.engines().iter().find(|known| known.name == name).expect("an engine")
    });
    if name == "pagerank" {
        options.max_rounds = Some(20);
    }
    for setting in words {
        let (name, value) = setting.split_once('=').expect("NAME=VALUE");
        options.set(algorithm, name, Given::Text(value)).expect("an option");
    }
    (algorithm, options)
}

fn measure(
    row: &str,
    turns: usize,
    substrate: &mut Substrate<'_>,
    device: Option<&dyn Device>,
) -> Result<Row, Error> {
    let (algorithm, options) = request(row);
    let mut answers = Vec::new();
    for _ in 0..turns {
        answers.push(algorithm.run(&mut Job {
            substrate,
            options: &options,
            watch: &mut (),
            device,
        })?);
    }
    Ok(Row::new(row, &answers, false))
}

/// Searches from vertices with edges, spread over all ids.
fn from_many_roots(
    row: &str,
    num_roots: usize,
    substrate: &mut Substrate<'_>,
    device: Option<&dyn Device>,
) -> Result<Row, Error> {
    let (algorithm, mut options) = request(row);
    let partition = substrate.partition();
    let offsets = partition.out_edges().offsets();
    let has_edges = |vertex: &usize| offsets[vertex + 1] > offsets[*vertex];
    let step = partition.num_vertices() as usize / num_roots;
    let mut answers = Vec::new();
    for number in 0..num_roots {
        let Some(root) = (number * step..).find(has_edges) else { break };
        let root = partition.globals()[root].to_string();
        options.set(algorithm, "root", Given::Text(&root)).expect("a root");
        answers.push(algorithm.run(&mut Job {
            substrate,
            options: &options,
            watch: &mut (),
            device,
        })?);
    }
    Ok(Row::new(&format!("{row}, {num_roots} roots"), &answers, true))
}
