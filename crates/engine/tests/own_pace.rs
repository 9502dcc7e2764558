//! Programs on hosts that do not wait for each other: the same answers as in one thread, on every
//! engine and policy, under many schedules; and a clear word where that cannot be.

mod common;

use std::fmt::Debug;
use std::time::Duration;

use common::hosts::{all_policies, local, partition};
use common::programs::{Greatest, Hops, Near, Reach, Tokens};
use common::{How, engines, run_program, run_relaxation, serial};
use parton_engine::engines::Kind;
use parton_engine::{
    Edges, Limits, Pace, Pacing, Properties, Relaxation, Tally, Vertex, VertexProgram, Watch, run,
};
use parton_graph::{Csr, Graph};
use parton_net::Cluster;
use parton_partition::Partition;
use parton_sync::reduction::Sum;
use parton_sync::{Error, Optimize, Substrate, Volume};

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

fn pacing(pace: Pace) -> Pacing {
    pace.into()
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

fn how(engine: Kind, optimize: Optimize, governed: bool) -> How {
    let pacing = Pacing { governed, ..Pace::Basp.into() };
    How { optimize, pacing, limits: Limits::default(), ..How::new(engine) }
}

fn compare_relaxation<P>(cluster: &mut Cluster, (graph, parts): (&Graph, &[Partition]), program: &P)
where
    P: Relaxation<Label: PartialEq + Debug> + Clone,
{
    let (expected, _) = serial(graph, Limits::default(), program);
    for engine in [Kind::Push, Kind::Frontier, Kind::Delta, Kind::Pull] {
        let how = how(engine, Optimize::ALL, true);
        let (found, report) = run_relaxation(cluster, parts, how, program);
        assert_eq!(found, expected, "{engine:?}");
        assert!(report.converged && report.pace == Pace::Basp);
        if how.engine.is_general() {
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
        report.hosts.iter().map(|host| host.held.labels).sum::<u64>()
    };
    for engine in [Kind::Push, Kind::Frontier] {
        assert!(held(engine, true) > 0, "{engine:?}");
        assert_eq!(held(engine, false), 0, "{engine:?}");
    }
    assert_eq!(held(Kind::Delta, true), 0, "it has an order of its own");
}

#[test]
fn what_needs_rounds_is_refused_and_says_why() {
    let graph = tangle(20);
    let parts = partition(&graph, "cvc", 2);
    let refused = |program: Tokens<Sum<u64>>, limits: Limits| -> String {
        let launched = local(2).launch(|net| -> Result<_, Error> {
            let part = &parts[net.host().index()];
            let mut engine = Kind::Push.program(program.clone(), part);
            let mut substrate = Substrate::new(part, net, Optimize::ALL);
            run(&mut *engine, &mut substrate, pacing(Pace::Basp), limits, &mut ()).map(drop)
        });
        launched.expect_err("a program that counts rounds").to_string()
    };
    let tokens = Tokens::<Sum<u64>>::new(3);
    let forever = Limits::default();
    assert!(refused(tokens.clone(), forever).contains("the same in any order"));
    let stationary = Tokens { stationary: true, ..tokens };
    assert!(refused(stationary, forever).contains("every vertex takes part in every round"));

    let limited = How { pacing: pacing(Pace::Basp), ..How::new(Kind::Push) };
    let launched = local(2).launch(|net| -> Result<_, Error> {
        let part = &parts[net.host().index()];
        let mut engine = limited.engine.relaxation(&Hops, part);
        let mut substrate = Substrate::new(part, net, Optimize::ALL);
        run(&mut *engine, &mut substrate, limited.pacing, limited.limits, &mut ()).map(drop)
    });
    let refusal = launched.expect_err("a limit").to_string();
    assert!(refusal.contains("the number of rounds is limited"), "{refusal}");
}

/// Makes its host take far longer than the others, in every round.
struct Sleeper;

impl Watch for Sleeper {
    fn round(&mut self, _: u64, _: &Tally, _: &[Volume]) {}

    fn worked(&mut self, _: Duration, _: u64) -> Duration {
        Duration::from_millis(5)
    }
}

/// Left to itself, a run leaves its rounds where there are many and one host is slow, in the middle
/// of everything; the answer is the same. Where it may not or need not, it stays and says why.
#[test]
fn the_pace_is_found_on_the_way() {
    let path: Vec<_> = (0..60u32).map(|v| (v, v + 1, 1)).collect();
    let graph = Graph::dense(Csr::from_edges(61, &path), "test");
    let (expected, _) = serial(&graph, Limits::default(), &Paths);
    let hosts = 3;
    let parts = partition(&graph, "oec", hosts);
    let paths = |rounds: u64, slow: Option<u16>| {
        let launched = Cluster::sim(hosts, 7).launch(|net| -> Result<_, Error> {
            let (part, host) = (&parts[net.host().index()], net.host());
            let mut engine = Kind::Push.program(Paths, part);
            let mut substrate = Substrate::new(part, net, Optimize::ALL);
            let watch: &mut dyn Watch = if slow == Some(host.0) { &mut Sleeper } else { &mut () };
            let max_rounds = (rounds > 0).then_some(rounds);
            let limits = Limits { max_rounds };
            let report = run(&mut *engine, &mut substrate, pacing(Pace::Auto), limits, watch)?;
            Ok((engine.states().to_vec(), report))
        });
        launched.unwrap_or_else(|e| panic!("{e}"))
    };
    let outcome = paths(0, Some(1));
    let report = &outcome[0].1;
    assert_eq!(report.pace, Pace::Basp, "{}", report.pace_why);
    assert!(report.pace_why.contains("times the mean"), "{}", report.pace_why);
    assert!(report.local_rounds().0 >= 24, "they left the rounds together");
    for (part, (states, other)) in parts.iter().zip(&outcome) {
        assert_eq!(other, report, "one report");
        for (local, state) in (0..).zip(states) {
            let vertex = part.global(parton_graph::LocalId(local)).0 as usize;
            assert_eq!(state[0], expected[vertex][0]);
        }
    }
    let limited = &paths(1000, Some(1))[0].1;
    assert_eq!((limited.pace, &limited.pace_why[..10]), (Pace::Bsp, "the number"));
    let short = partition(&tangle(12), "oec", 2);
    let how = How { pacing: pacing(Pace::Auto), limits: Limits::default(), ..How::new(Kind::Push) };
    let (_, report) = run_relaxation(&mut local(2), &short, how, &Hops);
    assert_eq!(report.pace, Pace::Bsp);
    assert!(report.pace_why.contains("only"), "{}", report.pace_why);
}
