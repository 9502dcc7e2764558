//! Programs of every shape on every engine, policy and number of hosts do what they do in one
//! thread.

use crate::common;

use std::fmt::Debug;

use common::hosts::{all_policies, local, partition};
use common::programs::{Greatest, Heard, Hops, Near, Reach, Tokens};
use common::{How, engines, run_program, run_relaxation, serial};
use parton_engine::{Edges, Limits, Relaxation, VertexProgram};
use parton_graph::{Csr, Graph};
use parton_net::Cluster;
use parton_partition::Partition;
use parton_sync::reduction::{Max, Min, Or, Sum};
use parton_sync::{Optimize, Reduction, Volume};
use proptest::prelude::*;

const ALL_EDGES: [Edges; 3] = [Edges::Out, Edges::In, Edges::Both];

fn graph_of(vertices: usize, edges: &[(u32, u32, u32)]) -> Graph {
    Graph::dense(Csr::from_edges(vertices, edges), "test")
}

/// With a hub, parallel edges, self-loops, cycles, and vertices without edges.
fn tangle(vertices: u32) -> Graph {
    let edges = common::hosts::tangle(vertices);
    let weigh = |(s, d): (u32, u32)| (s, d, (s * 31 + d * 17) % 64);
    graph_of(vertices as usize, &edges.into_iter().map(weigh).collect::<Vec<_>>())
}

struct Setting<'a> {
    graph: &'a Graph,
    parts: &'a [Partition],
    optimize: Optimize,
    name: &'a str,
}

/// A program gives the same states on every engine as in one thread, after as many rounds.
fn compare<P>(cluster: &mut Cluster, setting: &Setting<'_>, program: &P)
where
    P: VertexProgram<State: PartialEq + Debug> + Clone,
{
    let (expected, rounds) = serial(setting.graph, Limits::default(), program);
    for engine in engines() {
        let how = How { optimize: setting.optimize, ..How::new(engine) };
        let (found, report) = run_program(cluster, setting.parts, how, || program.clone());
        let what = format!("{engine:?}, {}, {}", setting.name, setting.optimize.name());
        assert_eq!(found, expected, "{what}");
        assert_eq!((report.converged, report.rounds.len() as u64), (true, rounds), "{what}");
    }
}

/// So does a relaxation, both ways that it can be run.
fn compare_relaxation<P>(cluster: &mut Cluster, setting: &Setting<'_>, program: &P)
where
    P: Relaxation<Label: PartialEq + Debug> + Clone,
{
    compare(cluster, setting, program);
    let (expected, _) = serial(setting.graph, Limits::default(), program);
    for engine in engines() {
        let how = How { optimize: setting.optimize, ..How::new(engine) };
        let (found, report) = run_relaxation(cluster, setting.parts, how, program);
        assert_eq!(found, expected, "{engine:?}, {}, {}", setting.name, setting.optimize.name());
        assert!(report.converged);
    }
}

/// Tokens folded in one way, along all kinds of edges, told once and in every round.
fn compare_tokens<R: Reduction<Value = u64>>(cluster: &mut Cluster, setting: &Setting<'_>) {
    let walks = Tokens::<R>::new(5);
    for edges in ALL_EDGES {
        compare(cluster, setting, &Tokens { edges, ..walks.clone() });
    }
    // From a few vertices only, so that frontiers are small.
    let few = |vertex| (vertex % 7 == 1).then_some(1u64 << (vertex % 13));
    compare(cluster, setting, &Tokens { start: few, ..walks.clone() });
    let changed = |token: u64, weight: u32| token.wrapping_mul(5).wrapping_add(weight.into());
    compare(cluster, setting, &Tokens { start: few, along: changed, ..walks.clone() });
    compare(cluster, setting, &Tokens { along: changed, stationary: true, ..walks.clone() });
    // What arrives may be nothing to the reduction, but has arrived all the same.
    compare(cluster, setting, &Tokens { along: |_, _| R::identity(), ..walks.clone() });
    compare(cluster, setting, &Tokens { along: |_, weight| u64::from(weight % 2), ..walks });
}

fn compare_all(cluster: &mut Cluster, setting: &Setting<'_>) {
    compare_tokens::<Sum<u64>>(cluster, setting);
    compare_tokens::<Or<u64>>(cluster, setting);
    compare_tokens::<Min<u64>>(cluster, setting);
    compare_tokens::<Max<u64>>(cluster, setting);
    for edges in ALL_EDGES {
        compare_relaxation(cluster, setting, &Reach(edges));
        compare_relaxation(cluster, setting, &Greatest(edges));
        compare_relaxation(cluster, setting, &Near(edges));
    }
    compare_relaxation(cluster, setting, &Hops);
}

#[test]
fn every_policy() {
    let graph = tangle(37);
    for hosts in [1, 2, 3, 4, 7] {
        let mut cluster = local(hosts);
        for name in all_policies() {
            let parts = partition(&graph, name, hosts);
            let setting = Setting { graph: &graph, parts: &parts, optimize: Optimize::ALL, name };
            compare_all(&mut cluster, &setting);
        }
    }
}

#[test]
fn simulated_networks() {
    let graph = tangle(26);
    let policies = all_policies();
    let mut cluster = Cluster::sim(3, 0);
    for seed in 0..20 {
        cluster.set_seed(seed);
        let name = policies[seed as usize % policies.len()];
        let optimize = Optimize::NAMES[seed as usize % 4].1;
        let parts = partition(&graph, name, 3);
        compare_all(&mut cluster, &Setting { graph: &graph, parts: &parts, optimize, name });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_graphs(
        (vertices, edges) in (1..50usize).prop_flat_map(|n| {
            let id = 0..n as u32;
            (Just(n), prop::collection::vec((id.clone(), id, 0..9u32), 0..160))
        }),
        hosts in prop::sample::select(vec![1, 2, 3, 4, 7]),
        name in prop::sample::select(all_policies()),
        optimize in prop::sample::select(Optimize::NAMES.map(|(_, optimize)| optimize).to_vec()),
    ) {
        let graph = graph_of(vertices, &edges);
        let parts = partition(&graph, name, hosts);
        compare_all(&mut local(hosts), &Setting { graph: &graph, parts: &parts, optimize, name });
    }
}

/// Enough edges for threads to share a round, and for both directions of it.
#[test]
fn many_threads() {
    let edges: Vec<_> = (0..40_000u64)
        .map(|i| {
            let [s, d, w] = [1, 2, 3].map(|salt| common::hosts::random(&[salt, i]) as u32);
            (s % 3000 % (1 + d % 3000), d % 3000, w % 9)
        })
        .collect();
    let graph = graph_of(3000, &edges);
    for (hosts, name) in [(1, "oec"), (2, "cvc"), (3, "hvc")] {
        let parts = partition(&graph, name, hosts);
        let setting = Setting { graph: &graph, parts: &parts, optimize: Optimize::ALL, name };
        let mut cluster = Cluster::local(hosts).threads_per_host(3);
        compare(&mut cluster, &setting, &Tokens::<Sum<u64>>::new(4));
        compare(&mut cluster, &setting, &Tokens::<Or<u64>>::new(4));
        compare_relaxation(&mut cluster, &setting, &Reach(Edges::Both));
        compare_relaxation(&mut cluster, &setting, &Near(Edges::Out));
    }
}

/// What the second implementation is worth: walks counted by hand.
#[test]
fn walks_are_counted() {
    // Two edges from 0 to 1, a loop at 1, and one edge on to 2.
    let graph = graph_of(3, &[(0, 1, 1), (0, 1, 1), (1, 1, 1), (1, 2, 1)]);
    let heard = |rounds| -> Vec<u64> {
        let (states, _) = serial(&graph, Limits::default(), &Tokens::<Sum<u64>>::new(rounds));
        states.iter().map(|state: &Heard| state.history).collect()
    };
    let event = |round: u64, tokens: u64| {
        (3 * tokens + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(round) | 1)
    };
    let sum = |events: &[u64]| events.iter().fold(0u64, |a, b| a.wrapping_add(*b));
    assert_eq!(heard(1), [0, event(1, 3), event(1, 1)]);
    let second = [0, sum(&[event(1, 3), event(2, 3)]), sum(&[event(1, 1), event(2, 3)])];
    assert_eq!(heard(2), second);
}

#[test]
fn a_limit_ends_a_run_after_exactly_so_many_rounds() {
    let chain: Vec<_> = (0..40).map(|v| (v, v + 1, 1)).collect();
    let graph = graph_of(41, &chain);
    for hosts in [1, 3] {
        let parts = partition(&graph, "cvc", hosts);
        let mut cluster = local(hosts);
        for most in [0, 1, 5, 39, 40, 41, 60] {
            let limits = Limits { max_rounds: Some(most) };
            let how = How { limits, ..How::new(parton_engine::engines::FRONTIER) };
            // One round per level; whether the last one has edges to go is known at its end.
            let converged = most >= 40;
            let rounds = most.min(40);
            let (labels, report) = run_relaxation(&mut cluster, &parts, how, &Hops);
            assert_eq!((report.converged, report.rounds.len() as u64), (converged, rounds));
            let expected = |v: u32| if u64::from(v) <= rounds { v } else { u32::MAX };
            assert_eq!(labels, (0..41).map(expected).collect::<Vec<_>>(), "at most {most}");
            for engine in engines() {
                let how = How { engine, ..how };
                let (_, report) =
                    run_program(&mut cluster, &parts, how, || Tokens::<Sum<u64>>::new(50));
                assert_eq!(report.rounds.len() as u64, rounds, "{engine:?}");
                assert_eq!(report.converged, converged, "{engine:?}");
            }
        }
    }
}

#[test]
fn reports_add_up() {
    let graph = tangle(60);
    for hosts in [1, 2, 4] {
        for policy in ["oec", "cvc", "hvc"] {
            let parts = partition(&graph, policy, hosts);
            for engine in engines() {
                let how = How { ..How::new(engine) };
                let tokens = Tokens::<Sum<u64>>::new(4);
                let (_, report) = run_program(&mut local(hosts), &parts, how, || tokens.clone());
                assert_eq!((report.hosts.len(), report.rounds.len()), (hosts, 4));
                let mut of_hosts = Volume::default();
                let sent = report.hosts.iter().flat_map(|host| &host.sent_to);
                sent.for_each(|volume| of_hosts += *volume);
                assert_eq!(report.sent(), of_hosts, "by host as by round");
                assert_eq!(report.sent().total() > 0, hosts > 1);
                let by_host: u64 = report.hosts.iter().map(|host| host.edges).sum();
                let by_round: u64 = report.rounds.iter().map(|round| round.edges).sum();
                assert_eq!(by_host, by_round);
                assert!(by_round > 0 && by_round <= 4 * graph.num_edges());
                for (host, part) in report.hosts.iter().zip(&parts) {
                    assert_eq!(host.sent_to[part.host().index()], Volume::default(), "itself");
                    assert!(host.compute_seconds >= 0.0 && host.other_seconds() >= 0.0);
                }
                // Every token arrives in the first round: a vertex with an in-edge changes.
                let (_, first) = common::serial(&graph, Limits::default(), &tokens);
                assert_eq!(first, 4);
                assert!(report.rounds[0].changed > 0);
                assert!(report.rounds[0].edges == graph.num_edges(), "all told something");
                assert!(report.imbalance() >= 1.0 - 1e-12, "{}", report.imbalance());
                assert!(report.rounds.iter().all(|round| round.compute_seconds <= round.seconds));
            }
        }
    }
}
