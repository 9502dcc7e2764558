//! Answers compared with the oracle's, with their certificates.

use parton_algorithms::betweenness::BetweennessOptions;
use parton_algorithms::matrix_completion::MatrixCompletionOptions;
use parton_algorithms::pagerank::{PageRankOptions, Precision};
use parton_algorithms::{
    Algorithm, Column, EdgeNeed, Fact, Needs, Options, Sources, Values, WeightNeed,
};
use parton_engine::{Pace, Pacing};
use parton_graph::reweigh::Weights;
use parton_graph::{Graph, LocalId, Weight, WeightKind, with_csr};
use parton_net::Cluster;
use parton_partition::Input;

use super::nasty::as_ratings;
use super::{How, run, same};

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
