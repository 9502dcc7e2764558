//! Plans beside runs: what `parton plan` says of memory and bytes, and what `parton run` then took.
//!
//! Every run is a process of its own, so that its peak is that of the work alone.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Graphs of the data folder.
const FILES: [&str; 8] = [
    "snap/soc-Slashdot0902/soc-Slashdot0902.txt.gz",
    "law/cnr-2000/cnr-2000.txt.gz",
    "dimacs9/USA-road-d.NY/USA-road-d.NY.gr.gz",
    "dimacs9/NW/NW.gr.gz",
    "dimacs9/rome99/rome99.gr",
    "fb100/Cornell5/Cornell5.txt.gz",
    "libgrape-lite/p2p-31/p2p-31.e.gz",
    "networkit/wiki-Vote/wiki-Vote.txt",
];
/// Graphs that are generated, and two that are read from files of rows.
const GENERATED: [&str; 6] = [
    "rmat:17",
    "rmat:19,8",
    "web:150000",
    "grid:900x700",
    "uniform:300000,2500000",
    "grid:500x500,permute",
];
const ROWS: [&str; 2] = ["rmat:18", "web:200000"];
const ALGORITHMS: [&str; 6] = ["bfs", "sssp", "components", "pagerank", "kcore", "triangles"];
/// Numbers of hosts, and policies on several of them.
const HOSTS: [&str; 3] = ["1", "2", "4"];
const POLICIES: [&str; 5] = ["oec", "iec", "cvc", "hvc", "random"];

fn call(parton: &str, arguments: &[&str]) -> Option<Value> {
    let output = Command::new(parton).args(arguments).args(["--json", "--quiet"]).output();
    let output = output.expect("the parton command");
    eprintln!("parton {}", arguments.join(" "));
    match output.status.code() {
        Some(0 | 3) => serde_json::from_slice(&output.stdout).ok(),
        _ => {
            eprintln!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
            None
        }
    }
}

/// The runs of one graph, each beside its plan. Of every algorithm, policies take turns over numbers of hosts, so
/// that each is met with each.
fn of_graph(parton: &str, graph: &str, number: usize) -> Vec<Value> {
    let name = graph.rsplit('/').next().unwrap_or(graph);
    let mut rows = Vec::new();
    for (turn, algorithm) in ALGORITHMS.iter().enumerate() {
        let hosts = HOSTS[(turn + number) % HOSTS.len()];
        let policies = if hosts == "1" { &POLICIES[..1] } else { &POLICIES[..] };
        let named = policies.join(",");
        let plan = ["plan", graph, "--algorithm", algorithm, "--hosts", hosts, "--no-trial"];
        let plan = [&plan[..], &["--policy", &named]].concat();
        let Some(plan) = call(parton, &plan) else { continue };
        for planned in plan["plans"].as_array().into_iter().flatten() {
            let policy = planned["policy"].as_str().unwrap_or_default();
            let limit = if *algorithm == "pagerank" { &["--max-rounds", "10"][..] } else { &[] };
            let run = ["run", algorithm, graph, "--hosts", hosts, "--policy", policy];
            let Some(report) = call(parton, &[&run[..], limit].concat()) else { continue };
            let rounds = report["rounds"].as_f64().unwrap_or(1.0).max(1.0);
            let row = json!({
                "graph": name,
                "algorithm": algorithm,
                "hosts": report["hosts"],
                "policy": policy,
                "planned_bytes": planned["memory"]["process_peak"]["likely"],
                "measured_bytes": report["memory_peak_bytes"],
                "planned_traffic": planned["bytes_per_round"]["likely"],
                "measured_traffic": report["bytes"]["total"].as_f64().map(|bytes| bytes / rounds),
            });
            rows.push(row);
        }
    }
    rows
}

/// Plans and runs all of them; `data` is a folder of real graphs.
pub(super) fn runs(parton: &str, data: Option<&str>) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut graphs: Vec<String> = GENERATED.iter().map(|spec| (*spec).to_owned()).collect();
    for spec in ROWS {
        let file = folder.path().join(format!("{}.parton", spec.replace(':', "-")));
        let file = file.to_string_lossy().into_owned();
        call(parton, &["generate", spec, &file]);
        graphs.push(file);
    }
    if let Some(data) = data {
        let files = FILES.iter().map(|file| format!("{data}/{file}"));
        graphs.extend(files.filter(|file| Path::new(file).exists()));
    }
    graphs.iter().enumerate().flat_map(|(at, graph)| of_graph(parton, graph, at)).collect()
}
