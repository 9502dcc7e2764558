//! Bytes on the wire, exact and repeatable, beside what D-Galois sent for the same work.
//!
//! Parton's side is the `parton` command on a file that holds the graph as D-Galois had it.

use std::path::Path;
use std::process::Command;

use parton_graph::formats::{self, ReadOptions, WriteOptions};
use parton_graph::source::Source;
use parton_graph::tidy::Tidy;
use parton_graph::{Direction, Graph, OriginalId, with_csr};
use serde_json::{Value, json};

use crate::option;

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

const HOSTS: &str = "4";

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
    let source = Source::find(format!("{folder}/{}", row.graph)).expect("a data folder");
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
fn measure(parton: &str, file: &Path, row: &Row, engine: &str, optimize: &str) -> Value {
    let output = Command::new(parton)
        .args(["run", row.algorithm])
        .arg(file)
        .args(["--hosts", HOSTS, "--threads", "1", "--policy", row.policy])
        .args(["--engine", engine, "--optimize", optimize, "--json", "--quiet"])
        .output()
        .expect("the parton command");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    json!({ "bytes": report["bytes"]["total"], "rounds": report["rounds"] })
}

/// Measures every row that D-Galois was measured on.
pub fn run(options: &[&str]) {
    let folder = option(options, "--data").expect("--data: the folder of real graphs");
    let parton = option(options, "--parton").expect("--parton: the command to measure");
    let temporary = tempfile::tempdir().expect("a folder");
    let rows = ROWS.iter().map(|row| {
        let name = row.graph.split('/').nth(1).expect("a folder");
        let file = temporary.path().join(format!("{name}-{}.parton", row.algorithm));
        if !file.exists() {
            let graph = graph(folder, row);
            // The in-edges of an undirected graph are its out-edges.
            let in_edges = graph.direction == Direction::Undirected;
            let options = WriteOptions { in_edges, ..WriteOptions::default() };
            formats::write(&graph, &file, None, &options).expect("a file");
        }
        let measured = json!({
            "graph": name,
            "algorithm": row.algorithm,
            "policy": row.policy,
            "dgalois": { "bytes": row.bytes, "rounds": row.rounds, "unoptimized": row.unoptimized },
            "push": measure(parton, &file, row, "push", "all"),
            "push_unoptimized": measure(parton, &file, row, "push", "none"),
            "auto": measure(parton, &file, row, "auto", "all"),
        });
        println!("{measured}");
        measured
    });
    crate::save(options, &rows.collect::<Vec<Value>>());
}
