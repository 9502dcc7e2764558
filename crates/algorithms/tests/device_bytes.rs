//! What hosts that compute on devices send each other is what processors send with the same policy and engine:
//! the same bytes in every round, where rounds follow from the program alone.

use parton_algorithms::bfs::Bfs;
use parton_algorithms::components::Components;
use parton_algorithms::pagerank::PageRank;
use parton_algorithms::sssp::Sssp;
use parton_algorithms::{Algorithm, Options};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_net::Cluster;
use parton_partition::Input;

use crate::common::{Devices, How, all_policies, run};

/// Whether what hosts send in a round follows from the program alone, the same on devices and on processors.
///
/// `push` does: a host takes steps until none is left, in whatever order, and ends with the same labels. So do
/// searches level by level, but over `dual`, where processors agree on steps that devices do not take.
pub(crate) fn sends_the_same(algorithm: &str, engine: &str, policy: &str) -> bool {
    match (algorithm, engine) {
        ("bfs", "frontier") => policy != "dual",
        ("bfs", "pull" | "push") | ("sssp" | "components", "push") => true,
        ("pagerank", "frontier" | "pull" | "push") => true,
        _ => false,
    }
}

/// Compares all engines of an algorithm that send the same. Policies, numbers of hosts and graphs take turns.
fn compare(algorithm: &'static dyn Algorithm) {
    let specs = ["rmat:8,8", "grid:9x8,permute", "uniform:300,900", "rmat:7,30"];
    for (number, policy) in all_policies().into_iter().enumerate() {
        let spec = Spec::parse(specs[number % specs.len()]);
        let graph = spec.and_then(|spec| spec.generate(&Silent)).expect("a graph");
        let graph = if number % 2 == 1 { graph.undirected() } else { graph };
        let graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
        let mut cluster = Cluster::local([2, 3, 4][number % 3]).threads_per_host(1);
        for engine in algorithm.engines() {
            if !sends_the_same(algorithm.name(), engine.name, policy) {
                continue;
            }
            let max_rounds = (algorithm.name() == "pagerank").then_some(7);
            let options = Options { engine: Some(engine), max_rounds, ..Options::default() };
            let input = Input::from(graph.clone()).fitted(algorithm.needs(&options).fit());
            let one = [(algorithm as &dyn Algorithm, options)];
            let mut sent = |devices| {
                let how = How { devices, ..How::new(policy) };
                let report = run(&mut cluster, &input, &one, how).swap_remove(0).report;
                report.rounds.iter().map(|round| round.sent).collect::<Vec<_>>()
            };
            let expected = sent(Devices::None);
            assert!(expected.iter().any(|sent| sent.total() > 0));
            let what = format!("{} by {}, {policy}", algorithm.name(), engine.name);
            assert_eq!(sent(Devices::All), expected, "{what}");
        }
    }
}

#[test]
fn searches() {
    compare(&Bfs);
}

#[test]
fn paths() {
    compare(&Sssp);
}

#[test]
fn components() {
    compare(&Components);
}

#[test]
fn ranks() {
    compare(&PageRank);
}
