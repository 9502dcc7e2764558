//! Components that a single edge joins, or does not, where sampling is unlikely to find it.

use crate::common;

use common::nasty::graph_of;
use common::{How, all_policies, run, same};
use parton_algorithms::components::Components;
use parton_algorithms::{Algorithm, Options};
use parton_engine::engines;
use parton_engine::{Pace, Pacing};
use parton_graph::Graph;
use parton_net::Cluster;
use parton_partition::{Input, Order};
use proptest::prelude::*;

const LOW: u32 = 12;
const HIGH: u32 = 24;

/// Two cliques, of 2 to 11 and of 12 to 23, and the edge 11–12 between them. It is the last one of
/// vertex 11 and the third of vertex 12, whose first two lead to 0 and 1. `lonely` more vertices
/// have no edge.
fn bridged_cliques(lonely: u32) -> Graph {
    let clique =
        |from: u32, to: u32| (from..to).flat_map(move |a| (a + 1..to).map(move |b| (a, b)));
    let bridges = [(0, LOW), (1, LOW), (LOW - 1, LOW)];
    let edges = clique(2, LOW).chain(clique(LOW, HIGH)).chain(bridges);
    let edges: Vec<(u32, u32, ())> = edges.map(|(a, b)| (a, b, ())).collect();
    graph_of((HIGH + lonely) as usize, &edges)
}

/// Each clique is the largest component of its host, until hosts talk; with many vertices without
/// edges, and where hosts never wait, they talk after they have joined everything.
#[test]
fn a_bridge_between_the_largest_components_of_two_hosts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("parts");
    let mut cluster = Cluster::local(2).threads_per_host(1);
    for (lonely, undirected) in [(0, true), (60, true), (0, false), (60, false)] {
        let directed = bridged_cliques(lonely);
        let graph = if undirected { directed.undirected() } else { directed };
        let host = |vertex: usize| u32::from(vertex >= LOW as usize);
        let lines = (0..graph.num_vertices()).map(|vertex| format!("{}\n", host(vertex)));
        std::fs::write(&file, lines.collect::<String>()).expect("a file");
        let policy = format!("file:{}", file.display());
        let expected = Components.reference(&graph, &Options::default()).expect("an answer");
        for pace in [Pace::Bsp, Pace::Basp] {
            let options = Options {
                engine: Some(engines::UNION),
                pacing: Pacing { governed: false, ..pace.into() },
                ..Options::default()
            };
            let runs = [(&Components as &dyn Algorithm, options)];
            let input = Input::from(graph.clone());
            let found = run(&mut cluster, &input, &runs, How::new(&policy)).swap_remove(0);
            let what = format!("{lonely} lonely, undirected: {undirected}, {}", pace.name());
            assert_eq!(found.complaint, None, "{what}");
            assert!(same(&found.columns, &expected), "{what}: {:?}", found.columns);
        }
    }
}

/// A prime: numbers times another one are all different.
const VERTICES: u32 = 101;
const CORE: u32 = 48;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Many edges within a core, which hosts soon find to be the largest component; few between other
    /// vertices, and few from or to the core. A single edge on any host decides whether a vertex
    /// belongs to the core's component.
    #[test]
    fn few_edges_around_the_largest_component(
        inner in prop::collection::vec((0..CORE, 0..CORE), 8 * VERTICES as usize),
        outer in prop::collection::vec((CORE..VERTICES, CORE..VERTICES), 0..40),
        leaving in prop::collection::vec((0..CORE, CORE..VERTICES), 0..20),
        entering in prop::collection::vec((CORE..VERTICES, 0..CORE), 0..3),
        hosts in 2..8usize,
        threads in 1..3usize,
        order in prop::sample::select(vec![Order::Original, Order::Degree]),
        pace in prop::sample::select(vec![Pace::Bsp, Pace::Basp]),
    ) {
        let edges = inner.iter().chain(&outer).chain(&leaving).chain(&entering);
        let mixed = |vertex: u32| vertex * 37 % VERTICES;
        let edges: Vec<_> = edges.map(|&(a, b)| (mixed(a), mixed(b), ())).collect();
        let graph = graph_of(VERTICES as usize, &edges);
        let engine = Some(engines::UNION);
        let options = Options { engine, pacing: pace.into(), ..Options::default() };
        let expected = Components.reference(&graph, &options).expect("an answer");
        let mut cluster = Cluster::local(hosts).threads_per_host(threads);
        let runs = [(&Components as &dyn Algorithm, options)];
        for policy in all_policies() {
            let input = Input::from(graph.clone());
            let how = How { order, ..How::new(policy) };
            let found = run(&mut cluster, &input, &runs, how).swap_remove(0);
            prop_assert_eq!(&found.complaint, &None, "{} {}", hosts, policy);
            prop_assert!(same(&found.columns, &expected), "{} {}", hosts, policy);
        }
    }
}
