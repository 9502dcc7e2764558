//! Bytes on the wire, exact and repeatable, beside what D-Galois sent for the same work.

use parton_algorithms::{Algorithm, Error, Job, Options, by_name};
use parton_engine::{EngineInfo, engines};
use parton_graph::formats::{self, ReadOptions};
use parton_graph::source::Source;
use parton_graph::tidy::Tidy;
use parton_graph::{Graph, OriginalId, with_csr};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

use crate::option;
use crate::plot::Bars;

/// What D-Galois (Galois 6.0) reported for 4 hosts, bulk-synchronous: its own count of bytes that
/// were reduced and broadcast, and its rounds.
struct Row {
    graph: &'static str,
    algorithm: &'static str,
    policy: &'static str,
    rounds: usize,
    bytes: u64,
    unoptimized: u64,
}

const HOSTS: usize = 4;

const fn row(
    graph: &'static str,
    algorithm: &'static str,
    policy: &'static str,
    rounds: usize,
    bytes: u64,
    unoptimized: u64,
) -> Row {
    Row { graph, algorithm, policy, rounds, bytes, unoptimized }
}

const SLASHDOT: &str = "snap/soc-Slashdot0902/soc-Slashdot0902.txt.gz";
const CNR: &str = "law/cnr-2000/cnr-2000.txt.gz";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(SLASHDOT, "bfs", "oec", 6, 620_740, 2_040_944),
    row(SLASHDOT, "bfs", "cvc", 6, 493_672, 1_347_112),
    row(SLASHDOT, "bfs", "hvc", 6, 1_069_676, 2_005_072),
    row(SLASHDOT, "sssp", "oec", 16, 1_082_576, 3_348_000),
    row(SLASHDOT, "sssp", "cvc", 18, 898_300, 2_379_136),
    row(SLASHDOT, "sssp", "hvc", 16, 1_802_064, 3_288_816),
    row(SLASHDOT, "components", "oec", 4, 781_708, 2_359_656),
    row(SLASHDOT, "components", "cvc", 5, 819_972, 2_357_712),
    row(SLASHDOT, "components", "hvc", 5, 1_193_752, 2_350_224),
    row(CNR, "bfs", "oec", 24, 70_304, 193_872),
    row(CNR, "bfs", "cvc", 25, 121_272, 240_552),
    row(CNR, "bfs", "hvc", 24, 122_048, 193_120),
    row(CNR, "sssp", "oec", 33, 123_372, 370_888),
    row(CNR, "sssp", "cvc", 34, 235_236, 500_784),
    row(CNR, "sssp", "hvc", 33, 215_156, 366_944),
    row(CNR, "components", "oec", 14, 511_376, 1_712_648),
    row(CNR, "components", "cvc", 15, 725_412, 1_739_664),
    row(CNR, "components", "hvc", 14, 641_604, 1_220_752),
];

/// The graph of a row as D-Galois had it.
fn graph(folder: &str, row: &Row) -> Graph {
    let source = Source::find(&format!("{folder}/{}", row.graph)).expect("a data folder");
    let graph = formats::read(&source, None, &ReadOptions::default()).expect("a graph");
    let graph = graph.tidied(Tidy::SIMPLE);
    match row.algorithm {
        "components" => graph.undirected().tidied(Tidy::SIMPLE),
        "sssp" => {
            let Graph { adjacency, ids, direction, read_as } = graph;
            let id = |vertex: parton_graph::LocalId| match ids.get(vertex.index()) {
                OriginalId::Integer(id) => id,
                OriginalId::Name(_) => unreachable!("ids of both graphs are integers"),
            };
            let adjacency = with_csr!(adjacency, csr => {
                csr.reweighted(|u, v, _| ((31 * id(u) + 17 * id(v)) % 64) as u32 + 1).into()
            });
            Graph { adjacency, ids, direction, read_as }
        }
        _ => graph,
    }
}

/// Bytes and rounds of one run.
fn measure(
    input: &Input,
    algorithm: &dyn Algorithm,
    policy: &str,
    engine: Option<&'static EngineInfo>,
    optimize: Optimize,
) -> (u64, usize) {
    let options = Options { engine, ..Options::default() };
    let mut cluster = Cluster::local(HOSTS).threads_per_host(1);
    let mut reports = cluster
        .launch(|net| -> Result<_, Error> {
            let partition = Partition::build(net, input, &Plan::new(policy)).expect("a partition");
            let mut substrate = Substrate::new(&partition, net, optimize);
            let mut job = Job { substrate: &mut substrate, options: &options, watch: &mut () };
            Ok(algorithm.run(&mut job)?.report)
        })
        .expect("a run");
    let report = reports.swap_remove(0);
    (report.sent().total(), report.rounds.len())
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

pub fn run(options: &[&str]) {
    let folder = option(options, "--data").expect("--data: the folder of real graphs");
    println!(
        "| graph | algorithm | policy | D-Galois rounds | bytes | push: rounds | bytes | of D-Galois | none | none / all | auto: rounds | bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut ratios, mut savings, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for row in ROWS {
        let input = Input::from(graph(folder, row));
        let algorithm = by_name(row.algorithm).expect("an algorithm");
        let push = Some(engines::PUSH);
        let (bytes, rounds) = measure(&input, algorithm, row.policy, push, Optimize::ALL);
        let (none, _) = measure(&input, algorithm, row.policy, push, Optimize::NONE);
        let (auto, auto_rounds) = measure(&input, algorithm, row.policy, None, Optimize::ALL);
        let ratio = bytes as f64 / row.bytes as f64;
        ratios.push(ratio);
        savings.push(none as f64 / bytes as f64);
        let name = row.graph.split('/').nth(1).expect("a folder");
        let percent = |bytes: u64| 100.0 * bytes as f64 / row.bytes as f64;
        groups.push((
            format!("{name} {} {}", row.algorithm, row.policy),
            vec![100.0, percent(bytes), percent(auto)],
        ));
        println!(
            "| {} | {} | {} | {} | {} | {rounds} | {bytes} | {:.1} % | {none} | {:.1} | {auto_rounds} | {auto} |",
            name,
            row.algorithm,
            row.policy,
            row.rounds,
            row.bytes,
            100.0 * ratio,
            none as f64 / bytes as f64,
        );
    }
    if let Some(file) = option(options, "--plot") {
        let bars = Bars {
            title: "Bytes sent by 4 hosts, D-Galois = 100 %",
            series: &[
                ("D-Galois", "#bbb"),
                ("Parton, push", "#2166ac"),
                ("Parton, engine of its choice", "#67a9cf"),
            ],
            groups,
            unit: " %",
        };
        std::fs::write(file, bars.svg()).expect("a plot");
    }
    let dgalois: Vec<f64> =
        ROWS.iter().map(|row| row.unoptimized as f64 / row.bytes as f64).collect();
    println!("\nof D-Galois, geometric mean: {:.1} %", 100.0 * geometric_mean(&ratios));
    println!("largest: {:.1} %", 100.0 * ratios.iter().copied().fold(0.0, f64::max));
    println!(
        "none / all, geometric mean: {:.2} (D-Galois: {:.2})",
        geometric_mean(&savings),
        geometric_mean(&dgalois)
    );
}
