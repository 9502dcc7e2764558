//! What algorithms do by other definitions, from other vertices and in other precision, and graphs that engines
//! have a way of their own for: the oracle's answer.

use crate::common;

use common::compare::{compare, settled};
use common::nasty::{self, nasty_graphs};
use common::{How, run, same, same_within};
use parton_algorithms::betweenness::BetweennessOptions;
use parton_algorithms::pagerank::{Dangling, PageRankOptions, Precision};
use parton_algorithms::{Options, Sources, by_name};
use parton_engine::{EngineInfo, Pace, Pacing, engines};
use parton_graph::Graph;
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_net::Cluster;
use parton_partition::Input;

fn options(engine: Option<&'static EngineInfo>) -> Options {
    Options { engine, ..Options::default() }
}

/// Few and many sources, in one batch and in several, drawn, listed, chosen by degree.
#[test]
fn sources() {
    let betweenness = by_name("betweenness").expect("it is there");
    let choices = |graph: &Graph| {
        let name = |vertex: usize| (vertex * 7 % graph.num_vertices()).to_string();
        let listed = (0..graph.num_vertices().min(5)).map(name).collect();
        let drawn = |count| Sources::Random { count, seed: 3 };
        let listed = Sources::Listed(listed);
        [Sources::All, Sources::Largest(1), Sources::Largest(2), drawn(9), drawn(1000), listed]
    };
    for hosts in [1, 3, 4] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in nasty_graphs().iter().filter(|(_, graph)| graph.num_vertices() > 0) {
            let runs = choices(graph).into_iter().flat_map(|sources| {
                betweenness.engines().iter().map(move |&engine| {
                    let sources = sources.clone();
                    (
                        betweenness,
                        options(Some(engine))
                            .with(BetweennessOptions { sources, ..Default::default() }),
                    )
                })
            });
            let runs: Vec<_> = runs.collect();
            for policy in ["oec", "cvc", "random"] {
                compare(&mut cluster, (name, graph), &runs, How::new(policy));
            }
        }
    }
}

/// Ranks of a surfer who starts again at a few vertices, with and without rounds, and ranks after
/// rounds that are counted.
#[test]
fn ranks_of_other_definitions() {
    let pagerank = by_name("pagerank").expect("it is there");
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in nasty_graphs().iter().filter(|(_, graph)| graph.num_vertices() > 0) {
            let last = graph.num_vertices() - 1;
            let one = vec![last.to_string()];
            let two = vec!["0".into(), (last / 2).to_string(), "0".into()];
            let mut runs = Vec::new();
            for &engine in pagerank.engines() {
                let options = settled(pagerank, options(Some(engine)));
                let tolerance = PageRankOptions::default().tolerance;
                let own = PageRankOptions { graphalytics: true, tolerance, ..options.own() };
                let counted = options.clone().with(own);
                runs.push((pagerank, counted.clone()));
                runs.push((pagerank, Options { max_rounds: None, ..counted }));
                for seeds in [&one, &two] {
                    for dangling in [Dangling::Redistribute, Dangling::Drop] {
                        let seeds = Some(seeds.clone());
                        let own = PageRankOptions { seeds, dangling, ..options.own() };
                        let in_rounds = options.clone().with(own);
                        let pacing = Pacing::AT_ONCE;
                        let without = Options { pacing, max_rounds: None, ..in_rounds.clone() };
                        runs.push((pagerank, settled(pagerank, without)));
                        runs.push((pagerank, in_rounds));
                    }
                }
            }
            for policy in ["oec", "cvc"] {
                // Each by itself: edges that one has turned around are at hand for the others.
                for one in runs.chunks(1) {
                    compare(&mut cluster, (name, graph), one, How::new(policy));
                }
            }
        }
    }
}

/// Components of a chain of cycles, which has to be cut in the middle, and long ways to trim.
#[test]
fn chains_of_strong_components() {
    let strong = by_name("strongly-connected").expect("it is there");
    let triangle = |i: u32| [(3 * i, 3 * i + 1), (3 * i + 1, 3 * i + 2), (3 * i + 2, 3 * i)];
    let bridges = |count: u32| (0..count - 1).map(|i| (3 * i + 1, 3 * i + 3));
    let rings = (0..200).flat_map(triangle).chain(bridges(200)).map(|(s, d)| (s, d, ()));
    let path = (0..999).map(|v| (v * 7 % 1000, (v + 1) * 7 % 1000, ()));
    let graphs = [
        ("rings", nasty::graph_of(600, &rings.collect::<Vec<_>>())),
        ("path", nasty::graph_of(1000, &path.collect::<Vec<_>>())),
    ];
    for hosts in [1, 2, 5] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in &graphs {
            for pacing in [Pace::Bsp.into(), Pace::Basp.into(), Pacing::AT_ONCE] {
                let options = Options { pacing, ..Options::default() };
                let runs = [(strong, options)];
                compare(&mut cluster, (name, graph), &runs, How::new("oec"));
                compare(&mut cluster, (name, graph), &runs, How::new("random"));
            }
        }
    }
}

#[test]
fn single_precision_along_edges_costs_only_the_last_digits() {
    let pagerank = by_name("pagerank").expect("it is there");
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in &nasty_graphs() {
            for &engine in pagerank.engines() {
                let options = settled(pagerank, options(Some(engine)));
                let own = PageRankOptions { precision: Precision::Single, ..options.own() };
                let single = options.with(own);
                let (run_of, input) = ((pagerank, single), Input::from(graph.clone()));
                let found =
                    &run(&mut cluster, &input, std::slice::from_ref(&run_of), How::new("cvc"))[0];
                let expected = pagerank.reference(graph, &run_of.1).expect("an answer");
                assert!(same_within(&found.columns, &expected, 1e-6), "{name}, {engine:?}");
                assert_eq!(found.complaint, None, "{name}, {engine:?}");
            }
        }
    }
}

/// Small graphs are near in memory whatever they look like; these are gone through in other ways.
#[test]
fn ranks_of_graphs_that_are_far_from_a_cache() {
    let pagerank = by_name("pagerank").expect("it is there");
    for spec in ["uniform:70000,100000", "uniform:40000,300000"] {
        let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect("a graph");
        let own = PageRankOptions { tolerance: 0.0, ..PageRankOptions::default() };
        let options = Options { max_rounds: Some(3), ..options(Some(engines::PULL)) };
        let options = options.with(own);
        let run_of = (pagerank, options);
        let expected = pagerank.reference(&graph, &run_of.1).expect("an answer");
        for (hosts, policy) in [(1, "oec"), (3, "iec"), (3, "oec"), (2, "cvc")] {
            let mut cluster = Cluster::local(hosts).threads_per_host(2);
            let input = Input::from(graph.clone());
            let found =
                &run(&mut cluster, &input, std::slice::from_ref(&run_of), How::new(policy))[0];
            assert!(same(&found.columns, &expected), "{spec}, {policy}");
        }
    }
}

/// Frontiers so large that they are asked for instead of spread, by each host or by all together, wherever
/// hosts leave the rounds; and that hosts which measure their speed do so first.
#[test]
fn large_frontiers_at_any_pace() {
    let graph = Spec::parse("rmat:15").and_then(|spec| spec.generate(&Silent)).expect("a graph");
    let leaving = [0, 2, 3].map(|after| Pacing { leave_after: Some(after), ..Pacing::AT_ONCE });
    let paces = [&leaving[..], &[Pace::Basp.into(), Pace::Bsp.into()]].concat();
    for (name, pacing) in paces.iter().flat_map(|p| ["bfs", "components"].map(|name| (name, *p))) {
        let algorithm = by_name(name).expect("it is there");
        let options = Options { pacing, ..options(Some(engines::FRONTIER)) };
        let run_of = (algorithm, options);
        let expected = algorithm.reference(&graph, &run_of.1).expect("an answer");
        for (hosts, policy) in [(2, "oec"), (3, "oec"), (2, "dual"), (3, "dual")] {
            let mut cluster = Cluster::local(hosts).threads_per_host(2);
            let input = Input::from(graph.clone());
            let found =
                &run(&mut cluster, &input, std::slice::from_ref(&run_of), How::new(policy))[0];
            assert!(same(&found.columns, &expected), "{name}, {hosts} hosts, {policy}, {pacing:?}");
        }
    }
}
