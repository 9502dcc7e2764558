//! Hosts that have edges by destination alone: few labels are spread by going through all edges, and edges are turned
//! around only where that happens often.

use crate::common;

use common::hosts::partition;
use common::programs::Near;
use common::{How, run_relaxation, serial};
use parton_engine::{Edges, Limits, Pace, Pacing, engines};
use parton_graph::Graph;
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_net::Cluster;
use parton_partition::Partition;

/// Undirected, so that hosts find in-edges in the graph.
fn weighted(spec: &str) -> Graph {
    let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect(spec);
    graph.undirected().reweighed(&Weights::Random { low: 1, high: 64, seed: 1 })
}

fn has_turned_edges(part: &Partition) -> bool {
    part.out_edges_at_hand().is_some()
}

#[test]
fn edges_are_turned_around_only_for_many_scans() {
    for (spec, is_long) in [("rmat:12,32", false), ("path:200", true)] {
        let graph = weighted(spec);
        let how = How::new(engines::DELTA);
        let program = Near(Edges::Out);
        let (expected, _) = serial(&graph, how.limits, &program);
        for (hosts, threads) in [(2, 2), (3, 1), (5, 1)] {
            let parts = partition(&graph, "iec", hosts);
            assert!(!parts.iter().any(has_turned_edges), "edges come by destination");
            let mut cluster = Cluster::local(hosts).threads_per_host(threads);
            let (distances, report) = run_relaxation(&mut cluster, &parts, how, &program);
            assert_eq!(distances, expected, "{spec}, {hosts} hosts");
            assert_eq!(
                parts.iter().any(has_turned_edges),
                is_long,
                "{spec}: {}",
                report.rounds.len()
            );
            // Hosts that do not wait for each other have rows of sources from then on.
            let pacing = Pacing { leave_after: Some(2), ..Pace::Basp.into() };
            let how = How { pacing, limits: Limits::default(), ..how };
            let (distances, _) = run_relaxation(&mut cluster, &parts, how, &program);
            assert_eq!(distances, expected, "{spec}, {hosts} hosts");
            assert!(parts.iter().all(has_turned_edges));
        }
    }
}

/// After most distances were pulled, hosts are told of mirrors that an edge leaves which can still matter.
#[test]
fn late_distances_are_told_to_few_mirrors() {
    let graph = weighted("rmat:12,32");
    let parts = partition(&graph, "iec", 4);
    let program = Near(Edges::Out);
    let mut cluster = Cluster::local(4);
    let (_, report) = run_relaxation(&mut cluster, &parts, How::new(engines::DELTA), &program);
    let most = report.rounds.iter().map(|round| round.edges).max();
    let pulled = report.rounds.iter().position(|round| Some(round.edges) == most).expect("a round");
    let late = &report.rounds[pulled + 1..];
    let sent: u64 = late.iter().map(|round| round.sent.total()).sum();
    let changed: u64 = late.iter().map(|round| round.changed).sum();
    assert!(changed > 4000 && sent < changed, "{sent} bytes, {changed} labels");
}
