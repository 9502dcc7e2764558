//! The options of the engine `spmv`: what each leaves out, overlaps and orders, as a user sees it.

use crate::common;
use crate::real;

use std::path::Path;

use common::{folder, parton, text};
use serde_json::Value;

/// The report of a run.
fn report(folder: &Path, arguments: &[&str]) -> Value {
    let output = parton(folder, &[&["run"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// PageRank with a fixed number of rounds by `spmv` on four hosts, with more options.
fn ranks(folder: &Path, graph: &str, more: &[&str]) -> Value {
    let fixed = "--directed --hosts 4 --threads 1 --policy cvc --engine spmv --max-rounds 12 \
                 --tolerance 0";
    let fixed: Vec<&str> = fixed.split_whitespace().collect();
    report(folder, &[&["pagerank", graph], &fixed[..], more].concat())
}

/// Edges that are looked at in each round.
fn edges(report: &Value) -> Vec<u64> {
    let rounds = report["per_round"].as_array().expect("rounds");
    rounds.iter().map(|round| round["edges"].as_u64().expect("a number")).collect()
}

fn bytes(report: &Value) -> u64 {
    report["bytes"]["total"].as_u64().expect("a number")
}

/// Each filter leaves out what it names, and nothing else.
#[test]
fn filters_leave_out_what_they_name() {
    let folder = folder();
    let of = |filter| ranks(folder.path(), "web:5000", &["--filter", filter]);
    let [all, computation, communication, none] =
        ["all", "computation", "communication", "none"].map(of);
    let in_graph = none["graph"]["edges"].as_u64().expect("a number");
    assert_eq!(edges(&none), [in_graph; 12], "every edge in every round");
    assert_eq!(edges(&communication), [in_graph; 12]);
    assert_eq!(edges(&all), edges(&computation));
    assert!(edges(&all)[..11].iter().all(|&edges| edges < in_graph * 97 / 100), "{all}");
    // How many values that nobody reads go out depends on what has arrived when others are sent.
    assert!(bytes(&communication) < bytes(&none));
    assert!(bytes(&all) < bytes(&communication), "vertices that are left out send nothing");
    let default = ranks(folder.path(), "web:5000", &[]);
    assert_eq!(edges(&default), edges(&all), "all is the default");
    assert_eq!(bytes(&default), bytes(&all));
}

/// Overlap changes when things happen, not what comes out: bits, bytes and edges are the same.
#[test]
fn overlap_and_the_order_of_sums_change_no_work() {
    let folder = folder();
    let of = |name: &str, more: &[&str]| {
        let file = format!("{name}.npy");
        let report = ranks(folder.path(), "rmat:10", &[more, &["--output", &file][..]].concat());
        (report, std::fs::read(folder.path().join(file)).expect("ranks"))
    };
    let (on, on_ranks) = of("on", &["--overlap", "on"]);
    let (off, off_ranks) = of("off", &["--overlap", "off"]);
    let (any, any_ranks) = of("any", &["--sums", "any-order"]);
    assert!(on_ranks == off_ranks, "bit by bit");
    assert_eq!(any_ranks.len(), on_ranks.len());
    for other in [&off, &any] {
        assert_eq!(edges(other), edges(&on));
    }
    // After the last round that is expected an overlapping run sends no messages.
    assert!(bytes(&on) < bytes(&off));
}

#[test]
fn mistyped_options_are_refused() {
    let folder = folder();
    for wrong in [["--filter", "some"], ["--overlap", "maybe"], ["--sums", "never"]] {
        let arguments = [&["run", "pagerank", "path:9", "--engine", "spmv"], &wrong[..]].concat();
        let output = parton(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains(wrong[1]), "{}", text(&output.stderr));
    }
}

/// Three quarters of the vertices of this graph are sinks: a round looks at no more than two edges of five.
#[test]
fn rounds_on_a_peer_to_peer_network_look_at_two_edges_of_five() {
    let Some(data) = real::data() else { return };
    let graph = data.join("libgrape-lite/p2p-31/p2p-31.e.gz");
    assert!(graph.is_file(), "{} is missing", graph.display());
    let folder = folder();
    let report = ranks(folder.path(), graph.to_str().expect("a path"), &[]);
    let in_graph = report["graph"]["edges"].as_u64().expect("a number");
    let edges = edges(&report);
    let (last, before) = edges.split_last().expect("rounds");
    assert!(before.iter().all(|&edges| edges * 100 <= in_graph * 40), "{edges:?} of {in_graph}");
    assert!(*last > before[0], "the last round has the sinks");
}
