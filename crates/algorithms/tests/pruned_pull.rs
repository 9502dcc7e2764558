//! Pruned pull: shortest paths on a graph dense enough that hosts pull along the few in-edges that can
//! still improve a distance, instead of pushing along all out-edges.

use crate::common;

use common::{How, run, same};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::{Algorithm, Options};
use parton_engine::engines;
use parton_engine::{Pace, Pacing};
use parton_graph::formats::{self, WriteOptions};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_graph::{Graph, WeightKind};
use parton_net::Cluster;
use parton_partition::Input;

fn generated(low: u32, high: u32) -> Graph {
    // Self-loops, parallel edges and vertices without edges are in it.
    let spec = "rmat:14,32";
    let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect(spec);
    graph.reweighed(&Weights::Random { low, high, seed: 1 })
}

/// With buckets so wide that many relaxations are redundant.
fn search(pacing: Pacing) -> [(&'static dyn Algorithm, Options); 1] {
    let own = SsspOptions { delta: Some(2.0), ..SsspOptions::default() };
    let options = Options { engine: Some(engines::DELTA), pacing, ..Options::default() };
    [(&Sssp, options.with(own))]
}

/// Hosts that read a file with in-edges visit fewer edges in BSP rounds than hosts that read one without.
/// All find the same distances, after whichever round they leave BSP.
#[test]
fn pruned_pull_visits_fewer_edges() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.parton");
    let integers = generated(1, 64);
    let reals = integers.clone().with_weight_kind(WeightKind::F64).expect("weights are numbers");
    // With weights of 0, many vertices are as near as the nearest unsettled one.
    for graph in [integers.clone(), reals, integers.undirected(), generated(0, 9)] {
        let expected = Sssp.reference(&graph, &Options::default()).expect("an answer");
        let edges_with = |in_edges, hosts: usize, threads, pacing: Pacing| {
            let options = WriteOptions { in_edges, ..WriteOptions::default() };
            formats::write(&graph, &path, None, &options).expect("a file");
            let input = Input::open(path.to_str().expect("a name")).expect("a graph");
            let mut cluster = Cluster::local(hosts).threads_per_host(threads);
            let found = run(&mut cluster, &input, &search(pacing), How::new("iec")).swap_remove(0);
            let what =
                format!("{hosts} hosts, {threads} threads, in-edges: {in_edges}, {pacing:?}");
            assert_eq!(found.complaint, None, "{what}");
            assert!(same(&found.columns, &expected), "{what}");
            found.report.work()
        };
        for (hosts, threads) in [(1, 1), (1, 3), (2, 2), (4, 1), (7, 1)] {
            let [pulling, pushing] = [true, false]
                .map(|in_edges| edges_with(in_edges, hosts, threads, Pacing::default()));
            if graph.direction == parton_graph::Direction::Directed {
                assert!(pulling < pushing, "{hosts} hosts: {pulling} and {pushing} edges");
            }
            for rounds in 0..if hosts > 1 { 10 } else { 1 } {
                let pacing = Pacing { leave_after: Some(rounds), ..Pace::Basp.into() };
                edges_with(true, hosts, threads, pacing);
            }
        }
    }
}
