//! Pruned pull: shortest paths on a graph dense enough that hosts pull along the few in-edges that can
//! still improve a distance, instead of pushing along all out-edges.

use crate::common;

use common::{How, run, same};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::{Algorithm, Column, Options};
use parton_engine::engines;
use parton_engine::{Pace, Pacing};
use parton_graph::formats::{self, WriteOptions};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_graph::{Direction, Graph, WeightKind};
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

/// A graph in a file, and its distances.
struct Case {
    graph: Graph,
    expected: Vec<Column>,
    folder: tempfile::TempDir,
}

impl Case {
    fn new(graph: Graph) -> Self {
        let expected = Sssp.reference(&graph, &Options::default()).expect("an answer");
        Case { graph, expected, folder: tempfile::tempdir().expect("a folder") }
    }

    /// Edges that hosts of some threads each visit before they find the distances.
    fn edges(&self, in_edges: bool, how: How, hosts: [usize; 2], pacing: Pacing) -> u64 {
        let path = self.folder.path().join("g.parton");
        let options = WriteOptions { in_edges, ..WriteOptions::default() };
        formats::write(&self.graph, &path, None, &options).expect("a file");
        let input = Input::open(path.to_str().expect("a name")).expect("a graph");
        let [hosts, threads] = hosts;
        let mut cluster = Cluster::local(hosts).threads_per_host(threads);
        let what = format!("{hosts} hosts, {threads} threads, in-edges: {in_edges}, {pacing:?}");
        let found = run(&mut cluster, &input, &search(pacing), how).swap_remove(0);
        assert_eq!(found.complaint, None, "{what}");
        assert!(same(&found.columns, &self.expected), "{what}");
        found.report.work()
    }

    /// Whatever round hosts leave BSP after, they find the distances.
    fn leave_after_any_round(&self, in_edges: bool, policy: &str, hosts: [usize; 2]) {
        for rounds in 0..if hosts[0] > 1 { 10 } else { 1 } {
            let pacing = Pacing { leave_after: Some(rounds), ..Pace::Basp.into() };
            self.edges(in_edges, How::new(policy), hosts, pacing);
        }
    }
}

const CLUSTERS: [[usize; 2]; 5] = [[1, 1], [1, 3], [2, 2], [4, 1], [7, 1]];

/// Hosts that read a file with in-edges visit fewer edges in BSP rounds than hosts that read one without.
/// All find the same distances, after whichever round they leave BSP.
#[test]
fn pruned_pull_visits_fewer_edges() {
    let integers = generated(1, 64);
    let reals = integers.clone().with_weight_kind(WeightKind::F64).expect("weights are numbers");
    // With weights of 0, many vertices are as near as the nearest unsettled one.
    for graph in [integers.clone(), reals, integers.undirected(), generated(0, 9)] {
        let case = Case::new(graph);
        for hosts in CLUSTERS {
            let [pulling, pushing] = [true, false]
                .map(|in_edges| case.edges(in_edges, How::new("iec"), hosts, Pacing::default()));
            if case.graph.direction == Direction::Directed {
                assert!(pulling < pushing, "{hosts:?}: {pulling} and {pushing} edges");
            }
            case.leave_after_any_round(true, "iec", hosts);
        }
    }
}

/// Where each edge has its mirror image and lives with its source, masters pull along their out-edges: with fewer
/// edges than where that is not known of the same edges.
#[test]
fn masters_of_an_undirected_graph_pull_along_their_out_edges() {
    for graph in [generated(1, 64).undirected(), generated(0, 9).undirected()] {
        let undirected = Case::new(graph.clone());
        let unknown = Case::new(Graph { direction: Direction::Directed, ..graph });
        for hosts in CLUSTERS.into_iter().filter(|[hosts, _]| *hosts > 1) {
            let [pulling, pushing] = [&undirected, &unknown]
                .map(|case| case.edges(false, How::new("oec"), hosts, Pacing::default()));
            assert!(10 * pulling < 9 * pushing, "{hosts:?}: {pulling} and {pushing} edges");
            undirected.leave_after_any_round(false, "oec", hosts);
        }
        let [kept, pushing] = ["dual", "oec"]
            .map(|policy| unknown.edges(false, How::new(policy), [4, 1], Pacing::default()));
        assert!(10 * kept < 9 * pushing, "{kept} and {pushing} edges");
        // Mirrors have edges of their own: no host pulls.
        undirected.edges(false, How::new("cvc"), [4, 1], Pacing::default());
    }
}
