//! Partitioning: one R-MAT file over one host and over four, by every policy that promises to be
//! fast, and what the parts weigh.

use std::path::Path;
use std::time::Instant;

use parton_graph::formats::{self, ReadOptions, WriteOptions};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::source::Source;
use parton_net::Cluster;
use parton_partition::quality::Quality;
use parton_partition::{Error, Input, Partition, Plan};
use serde_json::{Value, json};

const POLICIES: [&str; 6] = ["oec", "iec", "cvc", "hvc", "staggered", "random"];

/// Prepares the file, then partitions it in turns.
pub fn run(options: &[&str]) {
    let option = |name: &str| crate::option(options, name);
    let scale = option("--scale").unwrap_or("22");
    let turns: usize = option("--turns").unwrap_or("3").parse().expect("a number of turns");
    let hosts: usize = option("--hosts").unwrap_or("4").parse().expect("a number of hosts");
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = option("--folder").map_or(temporary.path(), Path::new);
    let path = folder.join(format!("rmat{scale}.gr"));
    if !path.exists() {
        let spec = Spec::parse(&format!("rmat:{scale}")).expect("a spec");
        let graph = spec.generate(&Silent).expect("a graph");
        formats::write(&graph, &path, None, &WriteOptions::default()).expect("a file");
    }
    let name = path.to_string_lossy().into_owned();

    let runs: Vec<(usize, &str)> =
        std::iter::once((1, "oec")).chain(POLICIES.map(|policy| (hosts, policy))).collect();
    let mut best: Vec<Option<(f64, Quality)>> = vec![None; runs.len()];
    let mut copy = f64::MAX;
    let mut build = f64::MAX;
    for turn in 0..turns {
        eprintln!("turn {} of {turns}", turn + 1);
        let start = Instant::now();
        let source = Source::find(&name).expect("the file");
        let graph = formats::read(&source, None, &ReadOptions::default()).expect("a graph");
        let targets = graph.adjacency.all_targets().to_vec();
        copy = copy.min(start.elapsed().as_secs_f64());
        drop(targets);
        let start = Instant::now();
        let sorted = parton_graph::with_csr!(&graph.adjacency, csr => csr.transposed().num_edges());
        std::hint::black_box(sorted);
        build = build.min(start.elapsed().as_secs_f64());
        drop(graph);
        for (&(hosts, policy), best) in runs.iter().zip(&mut best) {
            let (seconds, quality) = partition(&name, hosts, policy);
            if best.as_ref().is_none_or(|(before, _)| seconds < *before) {
                *best = Some((seconds, quality));
            }
        }
    }
    let rows = runs.iter().zip(&best).filter_map(|(&(hosts, policy), best)| {
        let (seconds, quality) = best.as_ref()?;
        let proxies = quality.replication() * quality.vertices as f64;
        Some(json!({
            "policy": policy,
            "hosts": hosts,
            "seconds": seconds,
            "replication": quality.replication(),
            "edge_imbalance": quality.edge_imbalance(),
            "bytes": quality.hosts.iter().map(|host| host.bytes).sum::<u64>(),
            "peak_bytes": quality.hosts.iter().map(|host| host.peak_bytes).sum::<u64>(),
            // One CSR with as many vertices as there are proxies.
            "csr_bytes": 8.0 * proxies + 4.0 * quality.edges as f64,
        }))
    });
    let mut rows: Vec<Value> = rows.collect();
    // The yardstick: reading the file into memory of one's own, and a counting sort of all edges.
    rows.push(json!({ "policy": null, "copy_seconds": copy, "sort_seconds": build }));
    rows.iter().for_each(|row| println!("{row}"));
    crate::save(options, &rows);
}

fn partition(name: &str, hosts: usize, policy: &str) -> (f64, Quality) {
    let threads = rayon::current_num_threads().div_ceil(hosts);
    let mut cluster = Cluster::local(hosts).threads_per_host(threads);
    // The first launch starts the threads.
    cluster.launch(|net| net.barrier()).expect("hosts");
    let start = Instant::now();
    let input = Input::open(name).expect("the input");
    let plan = Plan::new(policy);
    let parts = cluster.launch(|net| -> Result<_, Error> {
        let partition = Partition::build(net, &input, &plan)?;
        net.barrier()?;
        let seconds = start.elapsed().as_secs_f64();
        Ok((seconds, Quality::measure(net, &partition)?))
    });
    parts.expect("a partition").swap_remove(0)
}
