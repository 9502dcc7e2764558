//! Certificates tell right answers from wrong ones: every planted error is found, whichever host
//! holds it, and nothing is said about answers that are right.

use crate::common;

use common::nasty::{graph_of, nasty_graphs};
use common::{How, partition};
use parton_algorithms::betweenness::Betweenness;
use parton_algorithms::bfs::Bfs;
use parton_algorithms::components::Components;
use parton_algorithms::kcore::KCore;
use parton_algorithms::label_propagation::LabelPropagation;
use parton_algorithms::lcc::Lcc;
use parton_algorithms::pagerank::PageRank;
use parton_algorithms::sssp::Sssp;
use parton_algorithms::strongly_connected::StronglyConnected;
use parton_algorithms::triangles::Triangles;
use parton_algorithms::{ALL, Algorithm, EdgeNeed, Error, Job, Options, Values};
use parton_graph::{Graph, LocalId, with_csr};
use parton_net::Cluster;
use parton_partition::Input;
use parton_sync::{Optimize, Substrate};

/// What is said about each of these columns, put in the place of the algorithm's own.
fn verdicts(
    cluster: &mut Cluster,
    graph: &Graph,
    algorithm: &dyn Algorithm,
    policy: &str,
    claims: &[Values],
) -> Vec<Option<String>> {
    let options = Options::default();
    let input = Input::from(graph.clone()).fitted(algorithm.needs(&options).fit());
    let launched = cluster.launch(|net| -> Result<_, Error> {
        let partition = partition(net, &input, How::new(policy))?;
        let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
        let mut job =
            Job { substrate: &mut substrate, options: &options, watch: &mut (), device: None };
        let mut answer = algorithm.run(&mut job)?;
        let mut verdicts = vec![algorithm.check(&mut job, &answer)?];
        let masters = (0..partition.num_masters() as u32).map(LocalId);
        let masters: Vec<_> = masters.map(|m| partition.global(m).0 as usize).collect();
        for claim in claims {
            answer.columns[0].values = pick(claim, &masters);
            verdicts.push(algorithm.check(&mut job, &answer)?);
        }
        Ok(verdicts)
    });
    let mut hosts = launched.unwrap_or_else(|e| panic!("{}, {policy}: {e}", algorithm.name()));
    assert!(hosts.iter().all(|verdicts| *verdicts == hosts[0]), "one verdict");
    let own = hosts[0].remove(0);
    assert_eq!(own, None, "{} on its own answer, {policy}", algorithm.name());
    hosts.swap_remove(0)
}

fn pick(values: &Values, places: &[usize]) -> Values {
    match values {
        Values::U32(all) => Values::U32(places.iter().map(|&p| all[p]).collect()),
        Values::U64(all) => Values::U64(places.iter().map(|&p| all[p]).collect()),
        Values::F64(all) => Values::F64(places.iter().map(|&p| all[p]).collect()),
        Values::Vertices(all) => Values::Vertices(places.iter().map(|&p| all[p]).collect()),
        Values::Vectors { width, elements } => {
            let of = |&place: &usize| &elements[place * width..][..*width];
            let elements = places.iter().flat_map(of).copied().collect();
            Values::Vectors { width: *width, elements }
        }
    }
}

/// The same values but for these; `None` is out of reach.
fn with(values: &Values, changes: &[(usize, Option<f64>)]) -> Values {
    let mut values = values.clone();
    for &(place, new) in changes {
        match &mut values {
            Values::U32(all) | Values::Vertices(all) => {
                all[place] = new.map_or(u32::MAX, |new| new as u32);
            }
            Values::U64(all) => all[place] = new.map_or(u64::MAX, |new| new as u64),
            Values::F64(all) => all[place] = new.unwrap_or(f64::INFINITY),
            Values::Vectors { .. } => panic!("factors have a test of their own"),
        }
    }
    values
}

/// Every way to have one wrong label: more, less, a neighbour's, none, some where there is none.
fn single_errors(graph: &Graph, right: &Values) -> Vec<Values> {
    let mut ends = Vec::new();
    with_csr!(&graph.adjacency, csr => {
        for source in csr.vertices() {
            ends.extend(csr.targets(source).iter().map(|target| (source.index(), target.index())));
        }
    });
    let mut errors = Vec::new();
    for vertex in 0..right.len() {
        let label = right.real(vertex);
        let mut others = vec![None, Some(0.0), Some(7.0), label.map(|label| label + 1.0)];
        others.push(label.filter(|&label| label >= 1.0).map(|label| label - 1.0));
        for &(s, d) in ends.iter().filter(|(s, d)| *s == vertex || *d == vertex) {
            others.push(right.real(if s == vertex { d } else { s }));
        }
        others.retain(|other| *other != label);
        others.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        others.dedup();
        errors.extend(others.into_iter().map(|other| with(right, &[(vertex, other)])));
    }
    errors
}

fn right_answer(graph: &Graph, algorithm: &dyn Algorithm) -> Values {
    let options = Options::default();
    let graph = algorithm.needs(&options).prepared(graph.clone());
    let columns = algorithm.reference(&graph, &options).expect("an oracle that answers");
    columns.into_iter().next().expect("one column").values
}

/// The right answer passes; each of these does not.
fn expect_errors(graph: &Graph, algorithm: &dyn Algorithm, errors: &[Values]) {
    let claims: Vec<_> = [right_answer(graph, algorithm)].iter().chain(errors).cloned().collect();
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for policy in ["oec", "iec", "hvc", "random"] {
            let verdicts = verdicts(&mut cluster, graph, algorithm, policy, &claims);
            let what = format!("{}, {hosts} hosts, {policy}", algorithm.name());
            assert_eq!(verdicts[0], None, "{what}: the right answer");
            for (verdict, claim) in verdicts.iter().zip(&claims).skip(1) {
                assert!(verdict.is_some(), "{what}: nothing is said about {claim:?}");
            }
        }
    }
}

/// Two components joined only by direction, weights that tie, and a vertex on its own.
fn map() -> Graph {
    let edges = [
        (0, 1, 2),
        (0, 2, 1),
        (2, 1, 1),
        (1, 3, 4),
        (2, 3, 5),
        (3, 4, 0),
        (4, 3, 0),
        (4, 5, 1),
        (5, 0, 3),
        (6, 5, 1),
        (7, 8, 1),
        (8, 7, 1),
        (8, 9, 2),
        (9, 9, 1),
        (7, 9, 3),
        (7, 9, 4),
    ];
    graph_of(11, &edges.map(|(s, d, w): (u32, u32, u32)| (s, d, w)))
}

#[test]
fn single_wrong_labels() {
    let others: [&dyn Algorithm; 3] = [&StronglyConnected, &LabelPropagation, &Betweenness];
    for algorithm in [&Bfs as &dyn Algorithm, &Sssp, &Components].into_iter().chain(others) {
        for graph in [map(), nasty_graphs().swap_remove(11).1] {
            if graph.num_vertices() > 20 && algorithm.name() != "sssp" {
                continue;
            }
            let mut errors = single_errors(&graph, &right_answer(&graph, algorithm));
            assert!(errors.len() > 20);
            // Of a large graph some: all are of the same few kinds.
            errors = errors.into_iter().step_by(1 + graph.num_vertices() / 12).collect();
            expect_errors(&graph, algorithm, &errors);
        }
    }
}

/// Vertices on a cycle of weight 0 vouch for each other's distance, but nothing leads there.
#[test]
fn distances_without_a_path() {
    let ring = [(2, 3, 0), (3, 4, 0), (4, 2, 0), (4, 5, 1)];
    let graph = graph_of(6, &[&[(0, 1, 3u32), (0, 1, 4), (0, 1, 5)][..], &ring].concat());
    let right = right_answer(&graph, &Sssp);
    let claim = |distance: f64| {
        let ring = [2, 3, 4].map(|vertex| (vertex, Some(distance)));
        let all: Vec<_> = ring.into_iter().chain([(5, Some(distance + 1.0))]).collect();
        with(&right, &all)
    };
    expect_errors(&graph, &Sssp, &[claim(0.0), claim(1.0), claim(3.0), claim(50.0)]);
}

/// Everything one step too far, or too near: each vertex but the root agrees with its neighbours.
#[test]
fn shifted_levels() {
    let graph = graph_of(5, &[(0, 1, ()), (1, 2, ()), (2, 3, ()), (3, 4, ()), (0, 2, ())]);
    let right = right_answer(&graph, &Bfs);
    let shifted = |by: f64| {
        let all = (1..5).map(|v| (v, right.real(v).map(|level| level + by)));
        with(&right, &all.collect::<Vec<_>>())
    };
    let none = with(&right, &[0, 1, 2, 3, 4].map(|vertex| (vertex, None)));
    expect_errors(&graph, &Bfs, &[shifted(1.0), shifted(-1.0), none]);
}

#[test]
fn components_merged_and_split() {
    let graph = map();
    let right = &right_answer(&graph, &Components);
    let members = |label: f64| (0..11).filter(move |&v| right.real(v) == Some(label));
    let name_all = |of: f64, label: f64| {
        with(right, &members(of).map(|vertex| (vertex, Some(label))).collect::<Vec<_>>())
    };
    let everything = with(right, &(0..11).map(|v| (v, Some(0.0))).collect::<Vec<_>>());
    // Parts that hang together by one edge, each named by its least vertex.
    let split = with(right, &[(5, Some(5.0)), (6, Some(5.0))]);
    let one_leaves = with(right, &[(6, Some(6.0))]);
    let errors =
        [name_all(7.0, 0.0), name_all(0.0, 7.0), name_all(7.0, 8.0), everything, split, one_leaves];
    expect_errors(&graph, &Components, &errors);
}

/// Every class hangs together and has the right name, but some are parts of a larger one; or a
/// class is joined of what only edges one way join.
#[test]
fn strong_components_merged_and_split() {
    let ring = |from: u32, len: u32| (0..len).map(move |v| (from + v, from + (v + 1) % len, ()));
    let bridges = [(0, 4, ()), (4, 8, ()), (8, 11, ()), (6, 3, ())];
    let edges: Vec<_> = ring(0, 4).chain(ring(4, 4)).chain(ring(8, 3)).chain(bridges).collect();
    let graph = graph_of(12, &edges);
    let right = right_answer(&graph, &StronglyConnected);
    let named = |members: std::ops::Range<usize>, label: f64| -> Vec<(usize, Option<f64>)> {
        members.map(|vertex| (vertex, Some(label))).collect()
    };
    let split = with(&right, &named(4..8, 4.0));
    let merged = with(&right, &named(8..11, 0.0));
    let all = with(&right, &named(0..12, 0.0));
    let misnamed = with(&right, &named(8..11, 9.0));
    let alone = with(&right, &(0..12).map(|v| (v, Some(v as f64))).collect::<Vec<_>>());
    expect_errors(&graph, &StronglyConnected, &[split, merged, all, misnamed, alone]);
}

/// Scores that sum up to the right number, but not where they belong.
#[test]
fn scores_that_moved() {
    let graph = map();
    let right = right_answer(&graph, &Betweenness);
    let by = |v: usize, change: f64| (v, right.real(v).map(|score| score + change));
    let moved = with(&right, &[by(3, 0.5), by(4, -0.5)]);
    let slightly = with(&right, &[by(3, 1e-6)]);
    expect_errors(&graph, &Betweenness, &[moved, slightly]);
}

/// Two cliques with a bridge, and a tail.
fn cliques() -> Graph {
    let clique = |first: u32, size: u32| {
        (first..first + size).flat_map(move |a| (first..a).map(move |b| (a, b, ())))
    };
    let rest = [(3, 4, ()), (8, 9, ()), (9, 10, ()), (3, 5, ())];
    let edges: Vec<_> = clique(0, 4).chain(clique(4, 5)).chain(rest).collect();
    graph_of(12, &edges)
}

#[test]
fn wrong_cores_and_triangles() {
    for algorithm in [&KCore as &dyn Algorithm, &Triangles, &Lcc] {
        for graph in [map(), cliques()] {
            let right = right_answer(&graph, algorithm);
            expect_errors(&graph, algorithm, &single_errors(&graph, &right));
        }
    }
}

/// All vertices vouch for each other, one level off.
#[test]
fn cores_moved_together() {
    let graph = cliques();
    let right = right_answer(&graph, &KCore);
    let changed = |change: &dyn Fn(f64) -> f64| {
        let all = (0..12).map(|v| (v, right.real(v).map(change)));
        with(&right, &all.collect::<Vec<_>>())
    };
    let errors = [
        changed(&|_| 0.0),
        changed(&|_| 1.0),
        changed(&|core| core + 1.0),
        changed(&|core| (core - 1.0).max(0.0)),
        changed(&|core| core.min(2.0)),
        changed(&|core| if core == 3.0 { 4.0 } else { core }),
    ];
    expect_errors(&graph, &KCore, &errors);
}

/// As many triangles in all, but not where they are.
#[test]
fn triangles_at_other_vertices() {
    let graph = cliques();
    let right = right_answer(&graph, &Triangles);
    let moved = |from: usize, to: usize| {
        with(
            &right,
            &[(from, right.real(from).map(|t| t - 1.0)), (to, right.real(to).map(|t| t + 1.0))],
        )
    };
    expect_errors(&graph, &Triangles, &[moved(0, 1), moved(4, 0), moved(8, 11), moved(5, 9)]);
}

#[test]
fn wrong_ranks() {
    let graph = map();
    let right = right_answer(&graph, &PageRank);
    let scaled = |vertex: usize, by: f64| {
        let Values::F64(ranks) = &right else { unreachable!("ranks are real numbers") };
        with(&right, &[(vertex, Some(ranks[vertex] * by))])
    };
    let all = |change: &dyn Fn(f64) -> f64| {
        let changed = (0..11).map(|v| (v, right.real(v).map(change)));
        with(&right, &changed.collect::<Vec<_>>())
    };
    let mut errors: Vec<_> =
        (0..11).flat_map(|v| [1.001, 0.999, 2.0, 0.0].map(|by| scaled(v, by))).collect();
    errors.push(all(&|rank| rank * 0.999));
    errors.push(all(&|rank| rank * 11.0));
    errors.push(all(&|_| 1.0 / 11.0));
    // As much in all, but not where it belongs.
    let moved = [(0, right.real(0).map(|r| r + 0.001)), (9, right.real(9).map(|r| r - 0.001))];
    errors.push(with(&right, &moved));
    errors.push(with(&right, &[(3, Some(f64::NAN))]));
    expect_errors(&graph, &PageRank, &errors);
}

#[test]
fn right_answers_pass() {
    for (_, graph) in nasty_graphs() {
        for algorithm in ALL {
            // What is learnt is judged by the error that was reported with it, which the oracle's
            // factors do not have to the last digit: `matrix_completion` has tests of its own.
            if algorithm.needs(&Options::default()).edges != EdgeNeed::Bipartite {
                expect_errors(&graph, *algorithm, &[]);
            }
        }
    }
}
