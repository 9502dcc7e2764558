//! Engines on a GPU beside those on the processor: every row is the best and the median of several runs.
//!
//! `parton bench --devices` measures whole commands; this program also starts searches at many roots and
//! gives the rates that GPU systems are compared by: edges of the graph per second of a run.

use std::path::Path;

use parton_algorithms::options::Given;
use parton_algorithms::{ALL, Algorithm, Answer, Error, Job, Options};
use parton_engine::device::Device;
use parton_gpu::{GpuHost, discover};
use parton_graph::WeightKind;
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

use crate::{option, save};

/// What is measured on graphs without weights, and on graphs with weights.
const ROWS: [&str; 2] = ["bfs/frontier+components/union+pagerank/pull", "sssp/delta"];

pub fn run(options: &[&str]) {
    let devices = option(options, "--devices").unwrap_or("gpu+cpu");
    let mut results = Vec::new();
    println!("| graph | device | algorithm | rounds | setup s | best ms | median ms | G edges/s |");
    println!("|---|---|---|---|---|---|---|---|");
    for graph in option(options, "--graphs").expect("--graphs GRAPH+GRAPH…").split('+') {
        let name = Path::new(graph).file_stem().map_or(graph.into(), |stem| stem.to_string_lossy());
        for device in devices.split('+') {
            let (edges, found) = on_device(graph, device, options);
            for row in found {
                let Row { algorithm, rounds, setup, best, median } = row;
                let (best_ms, median_ms) = (best * 1e3, median * 1e3);
                let rate = edges as f64 / best / 1e9;
                println!(
                    "| {name} | {device} | {algorithm} | {rounds} | {setup:.2} | {best_ms:.3} | \
                     {median_ms:.3} | {rate:.1} |"
                );
                results.push(serde_json::json!({
                    "graph": name, "edges": edges, "device": device, "algorithm": algorithm,
                    "rounds": rounds, "setup": setup, "best": best, "median": median,
                }));
            }
        }
    }
    save(options, &results);
}

/// Measures all rows of one graph. Returns its number of edges, too.
fn on_device(graph: &str, device: &str, options: &[&str]) -> (u64, Vec<Row>) {
    let turns: usize = option(options, "--turns").map_or(5, |n| n.parse().expect("a number"));
    let num_roots: usize = option(options, "--roots").map_or(0, |n| n.parse().expect("a number"));
    let input = Input::open(graph).expect("a graph");
    let found = Cluster::local(1).launch(|net| -> Result<_, Error> {
        let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
        let host =
            (device != "cpu").then(|| GpuHost::new(discover::open(device).expect("a device")));
        let host = host.as_ref().map(|host| host as &dyn Device);
        let has_weights = partition.out_edges().weight_kind() != WeightKind::None;
        let rows = option(options, "--runs").unwrap_or(ROWS[usize::from(has_weights)]);
        let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
        let mut found = Vec::new();
        for row in rows.split('+') {
            found.push(measure(row, turns, &mut substrate, host)?);
            if num_roots > 0 && row.starts_with("bfs") {
                found.push(from_many_roots(row, num_roots, &mut substrate, host)?);
            }
        }
        Ok((partition.num_edges(), found))
    });
    found.expect("a run").swap_remove(0)
}

struct Row {
    algorithm: String,
    rounds: usize,
    setup: f64,
    best: f64,
    median: f64,
}

impl Row {
    /// The row of some runs. Where each has a root of its own, the harmonic mean of their rates counts:
    /// the mean of their times.
    fn new(algorithm: &str, answers: &[Answer], is_mean: bool) -> Row {
        let mut seconds: Vec<f64> = answers.iter().map(per_run).collect();
        seconds.sort_by(f64::total_cmp);
        let best = match is_mean {
            true => seconds.iter().sum::<f64>() / seconds.len() as f64,
            false => seconds[0],
        };
        let last = answers.last().expect("a run");
        Row {
            algorithm: algorithm.to_owned(),
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
