//! Algorithms on hosts that compute on devices, alone and beside ordinary hosts: the oracle's answer.
//!
//! Devices are emulated: the same kernels, on the processor. A variable `PARTON_TEST_GPU` of 1 asks for the GPU.

use parton_algorithms::betweenness::{Betweenness, BetweennessOptions};
use parton_algorithms::bfs::Bfs;
use parton_algorithms::components::Components;
use parton_algorithms::hits::{Hits, HitsOptions};
use parton_algorithms::kcore::{KCore, KCoreOptions};
use parton_algorithms::label_propagation::LabelPropagation;
use parton_algorithms::lcc::Lcc;
use parton_algorithms::matrix_completion::MatrixCompletion;
use parton_algorithms::pagerank::{PageRank, PageRankOptions, Precision};
use parton_algorithms::sssp::Sssp;
use parton_algorithms::strongly_connected::StronglyConnected;
use parton_algorithms::triangles::Triangles;
use parton_algorithms::widest_path::WidestPath;
use parton_algorithms::{ALL, Algorithm, Options, Sources, check_devices};
use parton_engine::{EngineInfo, Pace, Pacing, engines};
use parton_graph::Graph;
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_net::Cluster;
use parton_program::STEPS;

use crate::common::compare::compare;
use crate::common::compiled_ranks::Ranks;
use crate::common::nasty::nasty_graphs;
use crate::common::{Devices, How, all_policies, is_tried};

/// Small graphs with a structure, beside the nasty ones.
fn graphs() -> Vec<(&'static str, Graph)> {
    let specs = ["rmat:6,6,3", "grid:5x4,permute", "complete:9"];
    nasty_graphs().into_iter().chain(specs.map(generated)).collect()
}

fn generated(spec: &'static str) -> (&'static str, Graph) {
    let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent));
    (spec, graph.expect("a graph"))
}

/// Compares these runs on graphs with long rows, of all classes that kernels know, also by offsets of 64 bits.
fn try_long_rows(specs: &[&'static str], runs: &[(&dyn Algorithm, Options)]) {
    for (spec, (hosts, policy)) in
        specs.iter().zip([(1, "oec"), (2, "cvc"), (3, "iec"), (2, "hvc")])
    {
        let (name, graph) = generated(spec);
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        let devices = match (hosts, policy) {
            (3, _) => Devices::Even,
            (_, "cvc") => Devices::Wide,
            _ => Devices::All,
        };
        compare(&mut cluster, (name, &graph), runs, How { devices, ..How::new(policy) });
    }
}

/// Compares these runs on every graph. Numbers of hosts, policies and mixes of devices take turns. Any two of them, and
/// algorithms with their usual options, meet in `device_products`.
fn try_all(runs: &[(&dyn Algorithm, Options)]) {
    let mixes = [Devices::All, Devices::Odd, Devices::Even];
    let policies = all_policies();
    for (h, hosts) in [1, 2, 3, 7].into_iter().enumerate() {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in graphs().iter().enumerate() {
            for (m, devices) in mixes.into_iter().enumerate() {
                let is_none = hosts == 1 && devices != Devices::All;
                if !is_none && is_tried(&[h, g, m], 12) {
                    let policy = policies[(h * 5 + g + m * 7) % policies.len()];
                    let how = How { devices, ..How::new(policy) };
                    compare(&mut cluster, (name, graph), runs, how);
                }
            }
        }
    }
}

#[test]
fn cores() {
    let core = |k, pacing| Options { pacing, ..Options::default() }.with(KCoreOptions { k });
    let of = |k, pacing| (&KCore as &dyn Algorithm, core(k, pacing));
    let (rounds, none) = (Pacing::default(), Pacing::AT_ONCE);
    try_all(&[
        of(None, rounds),
        of(Some(2), rounds),
        of(Some(3), none),
        of(None, Pace::Auto.into()),
    ]);
}

#[test]
fn triangles() {
    let runs: [(&dyn Algorithm, Options); 2] =
        [(&Triangles, Options::default()), (&Lcc, Options::default())];
    try_all(&runs);
    try_long_rows(&["complete:50", "rmat:8,16", "complete:40", "rmat:7,30"], &runs);
}

#[test]
fn labels() {
    let rounds = |max_rounds| Options { max_rounds, ..Options::default() };
    try_all(&[(&LabelPropagation, rounds(None)), (&LabelPropagation, rounds(Some(2)))]);
    let runs: [(&dyn Algorithm, Options); 1] = [(&LabelPropagation, rounds(Some(3)))];
    try_long_rows(&["star:3000", "rmat:8,40", "star:4000", "rmat:7,70"], &runs);
}

/// Relaxations by every engine: dense and symmetric graphs too, on which hosts without devices would agree on
/// directions and on the largest component.
#[test]
fn relaxations() {
    let by_all = |algorithm: &'static dyn Algorithm| {
        let of = move |engine: &&'static EngineInfo| {
            (algorithm, Options { engine: Some(*engine), ..Options::default() })
        };
        algorithm.engines().iter().map(of)
    };
    let runs = by_all(&Bfs).chain(by_all(&Sssp)).chain(by_all(&Components));
    let runs: Vec<_> = runs.chain(by_all(&WidestPath)).chain(by_all(&Ranks)).collect();
    let mut cluster = Cluster::local(3).threads_per_host(1);
    for (number, policy) in all_policies().into_iter().enumerate() {
        let (name, graph) = generated(["rmat:6,20", "complete:30", "uniform:60,900"][number % 3]);
        let graph = if number % 2 == 0 { graph.undirected() } else { graph };
        let devices = [Devices::Odd, Devices::Even, Devices::All, Devices::Wide][number / 2 % 4];
        // Hosts that differ do without `union`.
        let differs = matches!(devices, Devices::Odd | Devices::Even);
        let is_run = |options: &Options| !differs || options.engine != Some(engines::UNION);
        let runs = runs.iter().enumerate();
        let runs = runs.filter(|(place, one)| is_run(&one.1) && is_tried(&[number, *place], 3));
        let runs: Vec<_> = runs.map(|(_, one)| one.clone()).collect();
        compare(&mut cluster, (name, &graph), &runs, How { devices, ..How::new(policy) });
    }
}

/// Operator by operator: sums of real numbers over rows of all classes, and into scalars.
#[test]
fn hubs() {
    let of = |rounds| (&Hits as &dyn Algorithm, Options::default().with(HitsOptions { rounds }));
    try_all(&[of(4)]);
    try_long_rows(&["star:3000", "rmat:8,40", "star:4000", "rmat:7,70"], &[of(3)]);
}

#[test]
fn betweenness() {
    let sources =
        |sources| Options::default().with(BetweennessOptions { sources, ..Default::default() });
    let random = |count| Sources::Random { count, seed: 5 };
    try_all(&[(&Betweenness, sources(random(3))), (&Betweenness, sources(random(1)))]);
}

#[test]
fn strong_components() {
    let paced = |pacing| Options { pacing, ..Options::default() };
    try_all(&[
        (&StronglyConnected, paced(Pacing::default())),
        (&StronglyConnected, paced(Pacing::AT_ONCE)),
    ]);
}

/// Sums of ranks in the fixed order of rows, and residuals.
#[test]
fn ranks() {
    let power =
        PageRankOptions { tolerance: 0.0, precision: Precision::Double, ..Default::default() };
    let power = Options { max_rounds: Some(20), ..Options::default() }.with(power);
    let residual = PageRankOptions { tolerance: 1e-9, ..Default::default() };
    let residual = Options { pacing: Pacing::AT_ONCE, ..Options::default() }.with(residual);
    try_all(&[(&PageRank, power), (&PageRank, residual)]);
}

/// Ranks of a surfer who starts again at some vertices, by both formulations.
#[test]
fn personal_ranks() {
    let seeds = Some(vec!["3".to_string(), "17".to_string()]);
    let own =
        PageRankOptions { tolerance: 0.0, precision: Precision::Double, ..Default::default() };
    let power = PageRankOptions { seeds: seeds.clone(), ..own };
    let power = Options { max_rounds: Some(20), ..Options::default() }.with(power);
    let residual = PageRankOptions { seeds, tolerance: 1e-9, ..Default::default() };
    let residual = Options { pacing: Pacing::AT_ONCE, ..Options::default() }.with(residual);
    let runs: [(&dyn Algorithm, Options); 2] = [(&PageRank, power), (&PageRank, residual)];
    try_long_rows(&["rmat:6,6,3", "rmat:7,8", "grid:6x5", "star:40"], &runs);
}

#[test]
fn refusals() {
    let refused = |algorithm: &dyn Algorithm, options: &Options| {
        let error = check_devices(algorithm, options).expect_err("no form for devices");
        error.to_string()
    };
    assert_eq!(
        refused(&MatrixCompletion, &Options::default()),
        "matrix-completion does not run on devices: ratings of one user or item are learnt one after \
         the other"
    );
    let basp = Options { pacing: Pace::Basp.into(), ..Options::default() };
    assert!(refused(&KCore, &basp).contains("give `k`"));
    assert!(check_devices(&KCore, &basp.with(KCoreOptions { k: Some(2) })).is_ok());
    let by_steps = Options { engine: Some(STEPS), ..Options::default() };
    assert!(check_devices(&Bfs, &by_steps).is_ok());
    for algorithm in ALL.iter().filter(|algorithm| algorithm.name() != "matrix-completion") {
        assert!(check_devices(*algorithm, &Options::default()).is_ok(), "{}", algorithm.name());
    }
}
