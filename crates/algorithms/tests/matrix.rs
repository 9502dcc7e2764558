//! Every algorithm on every small nasty graph with every policy, engine and optimisation, over
//! any number of hosts, in process and on a simulated network, hosts that wait for each other and
//! hosts that do not: the oracle's answer, with a valid certificate. The whole product takes minutes
//! (`cargo xtask test --long`); a short run tries a sample of it.

use crate::common;

use common::nasty::{self, as_ratings, nasty_graphs};
use common::{How, all_policies, is_long, is_tried, run, same, same_within};
use parton_algorithms::betweenness::BetweennessOptions;
use parton_algorithms::kcore::KCoreOptions;
use parton_algorithms::matrix_completion::MatrixCompletionOptions;
use parton_algorithms::pagerank::{Dangling, Formulation, PageRankOptions, Precision};
use parton_algorithms::{
    ALL, Algorithm, Column, EdgeNeed, Fact, Needs, Options, Sources, Values, WeightNeed, by_name,
};
use parton_engine::{EngineInfo, Pace, Pacing, engines};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_graph::{Graph, LocalId, Weight, WeightKind, with_csr};
use parton_net::Cluster;
use parton_partition::{Input, Order};
use parton_sync::Optimize;
use proptest::prelude::*;

fn options(engine: Option<&'static EngineInfo>) -> Options {
    Options { engine, ..Options::default() }
}

/// Fixed rounds, so that rounding cannot decide when ranks are final; where there are none, ranks
/// that are close to final.
pub(crate) fn settled(algorithm: &dyn Algorithm, options: Options) -> Options {
    match (algorithm.name(), options.pacing.pace) {
        ("pagerank", Pace::Basp) => {
            let own = PageRankOptions { tolerance: TOLERANCE, ..options.own() };
            options.with(own)
        }
        ("matrix-completion", _) => {
            let own = MatrixCompletionOptions { width: 3, ..Default::default() };
            Options { max_rounds: Some(5), ..options }.with(own)
        }
        ("pagerank", _) => {
            // The oracle's shares are doubles.
            let precision = Precision::Double;
            let own = PageRankOptions { tolerance: 0.0, precision, ..options.own() };
            Options { max_rounds: Some(25), ..options }.with(own)
        }
        // Searches from all vertices of all graphs, over and over, would take minutes: see `sources`.
        ("betweenness", _) => options.with(BetweennessOptions {
            sources: Sources::Random { count: 3, seed: 5 },
            ..Default::default()
        }),
        _ => options,
    }
}

/// Of ranks found without rounds.
const TOLERANCE: f64 = 1e-9;

/// What factors may cost more than those of the start or the oracle. Steps for one rating are no way
/// down for all: of 17,000 random cases the worst cost 1.045 times as much.
const ASTRAY: f64 = 1.25;

/// Whether the answer is the oracle's: to the last bit but for rounding, or, of ranks found without
/// rounds, as close as was asked for in all together.
///
/// Several hosts learn factors in another order than one, with other steps, so after a few rounds they
/// are elsewhere: but not much worse than where they started or where one host gets, as means of
/// vectors that lost a part, or have one twice, would be. How good they are in the end has tests of
/// its own.
pub(crate) fn agrees(
    hosts: usize,
    algorithm: &dyn Algorithm,
    graph: &Graph,
    options: &Options,
    found: &[Column],
) -> bool {
    let reference = |options| algorithm.reference(graph, options).expect("an oracle that answers");
    match (&found[0].values, algorithm.name(), options.pacing.pace) {
        (Values::F64(found), "pagerank", Pace::Basp | Pace::Auto) => {
            let own = PageRankOptions { tolerance: 0.0, ..options.own() };
            let exact = Options { max_rounds: Some(300), ..options.clone() }.with(own.clone());
            let expected = reference(&exact).swap_remove(0).values;
            let Values::F64(expected) = expected else { panic!("ranks are real numbers") };
            let apart: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).sum();
            found.len() == expected.len() && apart <= TOLERANCE / (1.0 - own.damping)
        }
        (Values::Vectors { .. }, ..) if hosts > 1 => {
            let start = Options { max_rounds: Some(0), ..options.clone() };
            let own = options.own::<MatrixCompletionOptions>();
            let cost = |factors: &[Column]| cost_of(graph, &factors[0], own.regularization);
            cost(found) <= ASTRAY * cost(&reference(&start)).max(cost(&reference(options)))
        }
        _ => same(found, &reference(options)),
    }
}

/// What factors cost, by the definition of what is sought.
fn cost_of(graph: &Graph, factors: &Column, regularization: f64) -> f64 {
    let Values::Vectors { width, elements } = &factors.values else { panic!("factors") };
    let vector = |vertex: LocalId| &elements[vertex.index() * width..][..*width];
    let squared = |vector: &[f32]| vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
    let mut sum = 0.0;
    with_csr!(&graph.adjacency, csr => {
        for user in csr.vertices() {
            for (item, rating) in csr.edges(user) {
                let (p, q) = (vector(user), vector(item));
                let product: f32 = p.iter().zip(q).map(|(p, q)| p * q).sum();
                sum += (rating.to_f64() - f64::from(product)).powi(2);
                sum += regularization * (squared(p) + squared(q));
            }
        }
    });
    sum
}

/// Runs and compares what is defined on the same kind of graph together: hosts make the graph fit,
/// the oracle gets one that was made to fit before.
pub(crate) fn compare(
    cluster: &mut Cluster,
    (name, graph): (&str, &Graph),
    runs: &[(&dyn Algorithm, Options)],
    how: How<'_>,
) {
    let mut kinds: Vec<Needs> = Vec::new();
    for (algorithm, options) in runs {
        let needs = algorithm.needs(options);
        if !kinds.contains(&needs) {
            kinds.push(needs);
        }
    }
    for needs in kinds {
        let ratings = (needs.edges == EdgeNeed::Bipartite).then(|| as_ratings(graph));
        // Without ratings there is nothing to learn from, which is tried elsewhere; and masters in
        // a file are those of the vertices as they were.
        let unfit = |ratings: &Graph| ratings.num_edges() == 0 || how.policy.starts_with("file:");
        if ratings.as_ref().is_some_and(unfit) {
            continue;
        }
        let graph = ratings.as_ref().unwrap_or(graph);
        let unweighted = graph.adjacency.weight_kind() == WeightKind::None;
        let given = match needs.weights == WeightNeed::Needed && unweighted {
            true => &graph.clone().reweighed(&Weights::Unit),
            false => graph,
        };
        let same = runs.iter().filter(|(algorithm, options)| algorithm.needs(options) == needs);
        let runs: Vec<_> = same.cloned().collect();
        let input = Input::from(given.clone()).fitted(needs.fit());
        compare_on(cluster, (name, &needs.prepared(given.clone())), &input, &runs, how);
    }
}

fn compare_on(
    cluster: &mut Cluster,
    (name, graph): (&str, &Graph),
    input: &Input,
    runs: &[(&dyn Algorithm, Options)],
    how: How<'_>,
) {
    let outcomes = run(cluster, input, runs, how);
    for (found, (algorithm, options)) in outcomes.iter().zip(runs) {
        let what = format!(
            "{} on {name}, {} hosts, {}, {:?}, {}, {}, devices {:?}",
            algorithm.name(),
            cluster.num_hosts(),
            how.policy,
            options.engine,
            how.optimize.name(),
            options.pacing.pace.name(),
            how.devices
        );
        let columns = &found.columns;
        let hosts = cluster.num_hosts();
        assert!(agrees(hosts, *algorithm, graph, options, columns), "{what}: {columns:?}");
        let rounds = found.report.rounds.len() as u64;
        let left = match options.pacing {
            Pacing { pace: Pace::Bsp, .. } => Some(false),
            // Its rounds are those of many runs.
            Pacing { leave_after: Some(1..), .. } if algorithm.name() == "strongly-connected" => {
                None
            }
            Pacing { leave_after, .. } => leave_after.map(|after| after < rounds.max(1)),
        };
        let pace = found.report.pace;
        assert!(left.is_none_or(|left| left == (pace == Pace::Basp)), "{what}: {rounds} rounds");
        assert_eq!(found.complaint, None, "{what}");
        assert!(found.report.converged || options.max_rounds.is_some(), "{what}: unfinished");
        let values = &columns[0].values;
        let reached = (0..values.len()).filter(|&vertex| values.real(vertex).is_some()).count();
        let said = found.result.iter().find(|(name, _)| *name == "reached");
        assert!(
            said.is_none_or(|(_, fact)| *fact == Fact::Integer(reached as u64)),
            "{what}: {said:?}, but {reached} are"
        );
    }
}

/// Every algorithm with every engine.
fn all_runs() -> Vec<(&'static dyn Algorithm, Options)> {
    runs_at(Pace::Bsp.into())
}

/// Every algorithm with every engine, at one pace.
fn runs_at(pacing: Pacing) -> Vec<(&'static dyn Algorithm, Options)> {
    let mut runs: Vec<(&'static dyn Algorithm, Options)> = Vec::new();
    for &algorithm in ALL {
        for &engine in algorithm.engines() {
            let options = Options { pacing, ..options(Some(engine)) };
            if pacing.pace == Pace::Basp && algorithm.needs_rounds(&options).is_some() {
                continue;
            }
            if algorithm.name() == "kcore" {
                // Most of these graphs have hardly more than one.
                runs.push((algorithm, options.clone().with(KCoreOptions { k: Some(2) })));
            }
            runs.push((algorithm, settled(algorithm, options)));
        }
    }
    runs
}

#[test]
fn all_engines_policies_and_hosts() {
    for (h, hosts) in [1, 2, 3, 4, 7].into_iter().enumerate() {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
            for (p, policy) in all_policies().into_iter().enumerate() {
                for (o, (_, optimize)) in Optimize::NAMES.into_iter().enumerate() {
                    let how = How { optimize, ..How::new(policy) };
                    if is_tried(&[h, g, p, o], 6) {
                        compare(&mut cluster, (name, graph), &all_runs(), how);
                    }
                }
            }
        }
    }
}

/// Hosts that do not wait for each other, for real. How they are optimised takes turns.
#[test]
fn hosts_at_their_own_pace() {
    let mut turn = 0;
    for (h, hosts) in [1, 2, 3, 4, 7].into_iter().enumerate() {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
            for (p, policy) in all_policies().into_iter().enumerate() {
                let optimize = Optimize::NAMES[turn % 4].1;
                let places_per_message = if turn % 5 == 4 { 3 } else { 1 << 20 };
                turn += 1;
                let how = How { optimize, places_per_message, ..How::new(policy) };
                if is_tried(&[h, g, p], 3) {
                    compare(&mut cluster, (name, graph), &runs_at(Pacing::AT_ONCE), how);
                }
            }
        }
    }
}

#[test]
fn masters_that_a_file_gives() {
    let hosts = 3;
    let mut cluster = Cluster::local(hosts).threads_per_host(1);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, graph) in &nasty_graphs() {
        let parts = (0..graph.num_vertices()).map(|vertex| format!("{}\n", vertex * 7 % hosts));
        let file = folder.path().join("parts");
        std::fs::write(&file, parts.collect::<String>()).expect("a file");
        let policy = format!("file:{}", file.display());
        compare(&mut cluster, (name, graph), &all_runs(), How::new(&policy));
    }
}

#[test]
fn more_hosts_than_vertices() {
    let mut cluster = Cluster::local(20).threads_per_host(1);
    for (name, graph) in nasty_graphs().iter().filter(|(_, graph)| graph.num_vertices() < 20) {
        for policy in ["oec", "cvc", "hvc"] {
            compare(&mut cluster, (name, graph), &all_runs(), How::new(policy));
        }
    }
}

#[test]
fn routes_in_many_messages() {
    let mut cluster = Cluster::local(4).threads_per_host(1);
    for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
        for (p, policy) in ["oec", "iec", "cvc", "hvc"].into_iter().enumerate() {
            for (o, (_, optimize)) in Optimize::NAMES.into_iter().enumerate() {
                let how = How { optimize, places_per_message: 3, ..How::new(policy) };
                if is_tried(&[g, p, o], 2) {
                    compare(&mut cluster, (name, graph), &all_runs(), how);
                }
            }
        }
    }
}

#[test]
fn many_schedules_of_a_simulated_network() {
    try_schedules(&all_runs(), 300);
}

#[test]
fn many_schedules_of_hosts_at_their_own_pace() {
    try_schedules(&runs_at(Pacing::AT_ONCE), 400);
    try_schedules(&runs_at(Pacing { governed: false, ..Pace::Basp.into() }), 200);
}

#[test]
fn many_schedules_of_hosts_that_find_their_pace() {
    try_schedules(&runs_at(Pace::Basp.into()), 200);
}

fn try_schedules(runs: &[(&dyn Algorithm, Options)], seeds: u64) {
    let graphs = nasty_graphs();
    let policies = all_policies();
    let seeds = if is_long() { seeds } else { seeds / 2 };
    for hosts in [2, 3, 5] {
        let mut cluster = Cluster::sim(hosts, 0);
        for seed in 0..seeds {
            cluster.set_seed(seed);
            // Digits of one number, so that everything meets everything sooner or later.
            let mut rest = (seed * 3 + hosts as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let mut pick = |count: usize| {
                let picked = rest % count as u64;
                rest /= count as u64;
                picked as usize
            };
            let (name, graph) = &graphs[pick(graphs.len())];
            let optimize = Optimize::NAMES[pick(Optimize::NAMES.len())].1;
            let how = How { optimize, ..How::new(policies[pick(policies.len())]) };
            let which = pick(runs.len());
            compare(&mut cluster, (name, graph), &runs[which..=which], how);
        }
    }
}

#[test]
fn masters_by_degree() {
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in &nasty_graphs() {
            for policy in ["oec", "cvc", "hvc"] {
                let how = How { order: Order::Degree, ..How::new(policy) };
                compare(&mut cluster, (name, graph), &all_runs(), how);
            }
        }
    }
}

/// Both directions of an edge may be on two hosts, and engines leave in-edges to those after them.
#[test]
fn undirected_graphs() {
    for hosts in [1, 2, 7] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in nasty_graphs() {
            let graph = graph.undirected();
            for policy in ["oec", "cvc", "random"] {
                compare(&mut cluster, (name, &graph), &all_runs(), How::new(policy));
            }
        }
    }
}

/// Graphs on which threads share the work of a round: hubs, and long ways.
#[test]
fn many_threads() {
    let read =
        |spec: &str| Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect("a graph");
    let weights = Weights::parse("random:1..20,3").expect("weights");
    let specs = ["rmat:12,16", "grid:90x70,permute", "rmat:11,24"];
    let graphs = specs.map(|spec| (spec, read(spec).reweighed(&weights)));
    for hosts in [1, 2] {
        let mut cluster = Cluster::local(hosts).threads_per_host(3);
        for (spec, graph) in &graphs {
            compare(&mut cluster, (spec, graph), &all_runs(), How::new("oec"));
        }
    }
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
    let pagerank =
        ALL.iter().find(|algorithm| algorithm.name() == "pagerank").expect("it is there");
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (name, graph) in &nasty_graphs() {
            for &engine in pagerank.engines() {
                let options = settled(*pagerank, options(Some(engine)));
                let own = PageRankOptions { precision: Precision::Single, ..options.own() };
                let single = options.with(own);
                let (run_of, input) = ((*pagerank, single), Input::from(graph.clone()));
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
    let pagerank =
        ALL.iter().find(|algorithm| algorithm.name() == "pagerank").expect("it is there");
    for spec in ["uniform:70000,100000", "uniform:40000,300000"] {
        let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect("a graph");
        let own = PageRankOptions { tolerance: 0.0, ..PageRankOptions::default() };
        let options = Options { max_rounds: Some(3), ..options(Some(engines::PULL)) };
        let options = options.with(own);
        let run_of = (*pagerank, options);
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
        let algorithm = ALL.iter().find(|algorithm| algorithm.name() == name).expect("it is there");
        let options = Options { pacing, ..options(Some(engines::FRONTIER)) };
        let run_of = (*algorithm, options);
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

/// Hosts that begin in rounds and leave them, wherever they are in what they do.
#[test]
fn hosts_that_leave_rounds_anywhere() {
    // A clique, and for each of its vertices one neighbour of degree 1.
    let many = (0..40u32)
        .flat_map(|v| (0..40).filter(move |&w| w != v).chain([v + 40]).map(move |w| (v, w, 1)));
    let dense = nasty::graph_of(80, &many.collect::<Vec<_>>());
    let graphs = [("dense", dense.clone()), ("dense both ways", dense.undirected())];
    let graphs: Vec<_> = nasty_graphs().into_iter().chain(graphs).collect();
    let mut cluster = Cluster::local(3).threads_per_host(1);
    for after in 1..=6 {
        let runs = runs_at(Pacing::AT_ONCE).into_iter().map(|(algorithm, options)| {
            let pace = if after % 2 == 0 { Pace::Basp } else { Pace::Auto };
            let pacing = Pacing { leave_after: Some(after), ..pace.into() };
            let options = Options { pacing, ..options };
            match algorithm.name() {
                "pagerank" => {
                    let formulation = Some(Formulation::Residual);
                    let own = PageRankOptions { formulation, ..options.own() };
                    (algorithm, options.with(own))
                }
                _ => (algorithm, options),
            }
        });
        let runs: Vec<_> = runs.collect();
        for (g, (name, graph)) in graphs.iter().enumerate() {
            for (p, policy) in ["oec", "cvc", "dual"].into_iter().enumerate() {
                // Each by itself: edges that one has turned around are at hand for the others.
                for (r, one) in runs.chunks(1).enumerate() {
                    if is_tried(&[after as usize, g, p, r], 3) {
                        compare(&mut cluster, (name, graph), one, How::new(policy));
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_graphs(
        (vertices, edges) in (1..80usize).prop_flat_map(|n| {
            let id = 0..n as u32;
            (Just(n), prop::collection::vec((id.clone(), id, 0..50u32), 0..250))
        }),
        hosts in 1..8usize,
        policy in prop::sample::select(all_policies()),
        optimize in prop::sample::select(Optimize::NAMES.to_vec()),
        threads in 1..3usize,
        undirected in any::<bool>(),
        pacing in prop::sample::select(vec![Pace::Bsp.into(), Pace::Basp.into(), Pacing::AT_ONCE]),
    ) {
        let graph = nasty::graph_of(vertices, &edges);
        let graph = if undirected { graph.undirected() } else { graph };
        let mut cluster = Cluster::local(hosts).threads_per_host(threads);
        let how = How { optimize: optimize.1, ..How::new(policy) };
        compare(&mut cluster, ("random", &graph), &runs_at(pacing), how);
    }
}
