//! Programs on hosts that do not wait for each other: the same answers as in one thread, on every
//! engine and policy, under many schedules; and a clear word where that cannot be.

use crate::common;

use std::fmt::Debug;

use common::hosts::{all_policies, local, partition};
use common::programs::{Greatest, Hops, Near, Reach, Tokens};
use common::{How, engines, run_program, run_relaxation, serial};
use parton_engine::simulated::TIME_PER_MESSAGE;
use parton_engine::{
    Edges, Limits, Pace, Pacing, Properties, Relaxation, RunReport, Tally, Vertex, VertexProgram,
    run,
};
use parton_engine::{EngineInfo, engines};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_graph::{Csr, Graph};
use parton_net::{Cluster, SimOptions};
use parton_partition::Partition;
use parton_sync::reduction::{Min, Sum};
use parton_sync::{Error, Optimize, Substrate};

/// How many paths end at a vertex, in a graph without cycles: what arrives is added up and passed
/// on, each contribution exactly once.
#[derive(Clone)]
struct Paths;

/// How many are known, and how many have just arrived.
type Known = [u64; 2];

impl VertexProgram for Paths {
    type State = Known;
    type Message = u64;
    type Messages = Sum<u64>;
    type Reduction = Sum<u64>;
    type Weight = u32;

    fn init(&self, _: Vertex) -> Known {
        [1, 1]
    }

    fn scatter(&self, _: Vertex, [_, new]: &Known) -> Option<u64> {
        Some(*new)
    }

    fn along(&self, paths: u64, weight: u32) -> u64 {
        paths.wrapping_mul(weight.into())
    }

    fn apply(&self, _: Vertex, [all, new]: &mut Known, arrived: u64, _: &mut Tally) -> bool {
        (*all, *new) = (all.wrapping_add(arrived), arrived);
        true
    }

    fn properties(&self) -> Properties {
        Properties { any_order: true, ..Properties::default() }
    }
}

/// Edges from lower to higher vertices, parallel ones too.
fn without_cycles(vertices: u32) -> Graph {
    let edges = (0..4 * vertices).map(|i| {
        let (a, b) = (i * 7 % vertices, (i * i + 3) % vertices);
        (a.min(b), a.max(b), 1 + i % 3)
    });
    let edges: Vec<_> = edges.filter(|(a, b, _)| a < b).collect();
    Graph::dense(Csr::from_edges(vertices as usize, &edges), "test")
}

fn tangle(vertices: u32) -> Graph {
    let edges = common::hosts::tangle(vertices);
    let weigh = |(s, d): (u32, u32)| (s, d, (s * 31 + d * 17) % 64);
    let edges: Vec<_> = edges.into_iter().map(weigh).collect();
    Graph::dense(Csr::from_edges(vertices as usize, &edges), "test")
}

fn how(engine: &'static EngineInfo, optimize: Optimize, governed: bool) -> How {
    let pacing = Pacing { governed, ..Pacing::AT_ONCE };
    How { optimize, pacing, limits: Limits::default(), ..How::new(engine) }
}

fn compare_relaxation<P>(cluster: &mut Cluster, (graph, parts): (&Graph, &[Partition]), program: &P)
where
    P: Relaxation<Label: PartialEq + Debug> + Clone,
{
    let (expected, _) = serial(graph, Limits::default(), program);
    for engine in [engines::PUSH, engines::FRONTIER, engines::DELTA, engines::PULL] {
        let how = how(engine, Optimize::ALL, true);
        let (found, report) = run_relaxation(cluster, parts, how, program);
        assert_eq!(found, expected, "{engine:?}");
        assert!(report.converged && report.pace == Pace::Basp);
        if engines::GENERAL.contains(&how.engine) {
            let (found, _) = run_program(cluster, parts, how, || program.clone());
            assert_eq!(found, expected, "{engine:?}, as any program");
        }
    }
}

fn compare_all(cluster: &mut Cluster, graphs: &[(Graph, Vec<Partition>); 2], governed: bool) {
    let [(acyclic, acyclic_parts), (graph, parts)] = graphs;
    let (expected, _) = serial(acyclic, Limits::default(), &Paths);
    let all = |states: &[Known]| states.iter().map(|[all, _]| *all).collect::<Vec<_>>();
    for engine in engines() {
        let how = how(engine, Optimize::ALL, governed);
        let (found, _) = run_program(cluster, acyclic_parts, how, || Paths);
        assert_eq!(all(&found), all(&expected), "{engine:?}");
    }
    for edges in [Edges::Out, Edges::In, Edges::Both] {
        compare_relaxation(cluster, (graph, parts), &Reach(edges));
        compare_relaxation(cluster, (graph, parts), &Greatest(edges));
        compare_relaxation(cluster, (graph, parts), &Near(edges));
    }
    compare_relaxation(cluster, (graph, parts), &Hops);
}

fn graphs(policy: &str, hosts: usize) -> [(Graph, Vec<Partition>); 2] {
    [without_cycles(23), tangle(26)].map(|graph| {
        let parts = partition(&graph, policy, hosts);
        (graph, parts)
    })
}

#[test]
fn every_policy_and_number_of_hosts() {
    for hosts in [1, 2, 3, 4, 7] {
        let mut cluster = local(hosts);
        for policy in all_policies() {
            compare_all(&mut cluster, &graphs(policy, hosts), true);
        }
    }
}

#[test]
fn simulated_networks() {
    for hosts in [2, 3, 5] {
        let mut cluster = Cluster::sim(hosts, 0);
        for (number, policy) in all_policies().into_iter().enumerate() {
            let graphs = graphs(policy, hosts);
            for seed in 0..6 {
                cluster.set_seed(seed + 100 * number as u64);
                compare_all(&mut cluster, &graphs, seed % 2 == 0);
            }
        }
    }
}

#[test]
fn labels_wait_for_better_ones_where_a_governor_may_hold_them() {
    let parts = partition(&tangle(2000), "oec", 3);
    let held = |engine, governed| {
        let how = how(engine, Optimize::ALL, governed);
        let (_, report) = run_relaxation(&mut Cluster::sim(3, 1), &parts, how, &Near(Edges::Out));
        report.hosts.iter().map(|host| host.throttled.labels).sum::<u64>()
    };
    for engine in [engines::PUSH, engines::FRONTIER] {
        assert!(held(engine, true) > 0, "{engine:?}");
        assert_eq!(held(engine, false), 0, "{engine:?}");
    }
    assert_eq!(held(engines::DELTA, true), 0, "it has an order of its own");
}

#[test]
fn what_needs_rounds_is_refused_and_says_why() {
    let graph = tangle(20);
    let parts = partition(&graph, "cvc", 2);
    let refused = |program: Tokens<Sum<u64>>, limits: Limits| -> String {
        let launched = local(2).launch(|net| -> Result<_, Error> {
            let part = &parts[net.host().index()];
            let mut engine = engines::vertex_program(engines::PUSH, None, program.clone(), part)?;
            let mut substrate = Substrate::new(part, net, Optimize::ALL);
            run(&mut *engine, &mut substrate, Pace::Basp.into(), limits, &mut ()).map(drop)
        });
        launched.expect_err("a program that counts rounds").to_string()
    };
    let tokens = Tokens::<Sum<u64>>::new(3);
    let forever = Limits::default();
    assert!(refused(tokens.clone(), forever).contains("the same in any order"));
    let stationary = Tokens { stationary: true, ..tokens };
    assert!(refused(stationary, forever).contains("every vertex takes part in every round"));

    let limited = How { pacing: Pace::Basp.into(), ..How::new(engines::PUSH) };
    let launched = local(2).launch(|net| -> Result<_, Error> {
        let part = &parts[net.host().index()];
        let mut engine = engines::relaxation(limited.engine, None, &Hops, part)?;
        let mut substrate = Substrate::new(part, net, Optimize::ALL);
        run(&mut *engine, &mut substrate, limited.pacing, limited.limits, &mut ()).map(drop)
    });
    let refusal = launched.expect_err("a limit").to_string();
    assert!(refusal.contains("the number of rounds is limited"), "{refusal}");
}

/// What is joined: all vertices have work from the beginning.
#[derive(Clone, Copy)]
struct Joined;

impl Relaxation for Joined {
    type Label = u64;
    type Reduction = Min<u64>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u64> {
        let vertex = vertex.id().0;
        Some(vertex)
    }

    fn relax(&self, vertex: u64, (): ()) -> u64 {
        vertex
    }

    fn edges(&self) -> Edges {
        Edges::Both
    }

    fn passes_unchanged(&self) -> bool {
        true
    }
}

/// Finds its pace: the report, if the answer is right.
fn find_pace<P>(graph: &Graph, program: &P, how: How) -> RunReport
where
    P: Relaxation<Label: PartialEq + Debug> + Clone,
{
    let parts = partition(graph, "oec", 4);
    let calm = SimOptions { calm: Some(TIME_PER_MESSAGE), ..SimOptions::default() };
    let (found, report) = run_relaxation(&mut Cluster::sim_with(4, calm), &parts, how, program);
    assert!(found == serial(graph, Limits::default(), program).0, "{how:?}");
    report
}

/// Hosts leave their rounds where one of them is slow, or where there are many, in the middle of
/// everything; the answer is the same. Where they need not, they stay, and say why.
#[test]
fn the_pace_is_found_on_the_way() {
    let generate =
        |spec: &str| Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect("a graph");
    let graph = generate("rmat:16");
    let how = |engine, pace: Pace, slowness| {
        let slowness = Some(slowness);
        How { pacing: pace.into(), limits: Limits::default(), slowness, ..How::new(engine) }
    };
    for engine in [engines::PUSH, engines::FRONTIER, engines::UNION] {
        for pace in [Pace::Basp, Pace::Auto] {
            let even = find_pace(&graph, &Joined, how(engine, pace, 1.0));
            assert_eq!(even.pace, Pace::Bsp, "{engine:?}: {}", even.pace_why);
            assert!(even.pace_why.contains("are few"), "{}", even.pace_why);
            let uneven = find_pace(&graph, &Joined, how(engine, pace, 4.0));
            if engine == engines::UNION {
                assert_eq!(uneven.pace, Pace::Bsp, "it looks at fewer edges in rounds");
                continue;
            }
            assert_eq!(uneven.pace, Pace::Basp, "{engine:?}: {}", uneven.pace_why);
            assert!(uneven.pace_why.starts_with("from round 1 on"), "{}", uneven.pace_why);
        }
    }
    // A graph too small for a trial before the first round.
    let small = generate("rmat:12").reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
    let uneven = find_pace(&small, &Near(Edges::Out), how(engines::FRONTIER, Pace::Basp, 40.0));
    assert!(uneven.pace_why.contains("as long for an edge"), "{}", uneven.pace_why);
    assert!(!uneven.pace_why.contains("from round 1 on"), "{}", uneven.pace_why);
    let deep = find_pace(&path(100), &Hops, how(engines::FRONTIER, Pace::Basp, 1.0));
    assert_eq!(deep.pace, Pace::Basp, "{}", deep.pace_why);
    assert_eq!(deep.pace_why, "from round 17 on: 16 rounds are many");
    assert!(deep.local_rounds().0 >= 16, "they left the rounds together");
}

/// What arrives in rounds and what arrives later is added up, each contribution once.
#[test]
fn sums_survive_the_end_of_rounds() {
    let graph = path(60);
    let (expected, _) = serial(&graph, Limits::default(), &Paths);
    let parts = partition(&graph, "oec", 3);
    let limits = |max_rounds| Limits { max_rounds };
    let how = |limits| How { pacing: Pace::Auto.into(), limits, ..How::new(engines::PUSH) };
    let (found, report) = run_program(&mut Cluster::sim(3, 7), &parts, how(limits(None)), || Paths);
    let all = |states: &[Known]| states.iter().map(|[all, _]| *all).collect::<Vec<_>>();
    assert_eq!((all(&found), report.pace), (all(&expected), Pace::Basp));
    let limited = how(limits(Some(1000)));
    let (_, report) = run_program(&mut Cluster::sim(3, 7), &parts, limited, || Paths);
    assert_eq!((report.pace, &report.pace_why[..10]), (Pace::Bsp, "the number"));
}

#[test]
fn a_host_that_is_alone_waits_for_nobody() {
    let parts = partition(&tangle(12), "oec", 1);
    let how =
        How { pacing: Pace::Basp.into(), limits: Limits::default(), ..How::new(engines::PUSH) };
    let (_, report) = run_relaxation(&mut local(1), &parts, how, &Hops);
    assert_eq!(report.pace_why, "there is nobody to wait for");
}

fn path(edges: u32) -> Graph {
    let path: Vec<_> = (0..edges).map(|v| (v, v + 1, 1)).collect();
    Graph::dense(Csr::from_edges(edges as usize + 1, &path), "test")
}
