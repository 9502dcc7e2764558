//! What scores and words mean: the definitions of the field, by graphs small enough to count on paper, and
//! what the facts of every algorithm are called.

use crate::common;

use common::nasty::graph_of;
use common::{How, run};
use parton_algorithms::betweenness::{Betweenness, BetweennessOptions};
use parton_algorithms::hits::{Hits, HitsOptions};
use parton_algorithms::{ALL, Algorithm, EdgeNeed, Options, Sources, Values};
use parton_graph::tidy::Tidy;
use parton_graph::{Direction, Graph};
use parton_net::Cluster;
use parton_partition::Input;

/// Two triangles with an edge between them.
const DUMBBELL: [(u32, u32); 7] = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)];

fn directed(vertices: usize, edges: &[(u32, u32)]) -> Graph {
    let edges: Vec<_> = edges.iter().map(|&(source, target)| (source, target, ())).collect();
    graph_of(vertices, &edges)
}

fn undirected(vertices: usize, edges: &[(u32, u32)]) -> Graph {
    let graph = directed(vertices, edges).tidied(Tidy { undirected: true, ..Tidy::SIMPLE });
    assert_eq!(graph.direction, Direction::Undirected);
    graph
}

fn scores(graph: &Graph, own: BetweennessOptions, hosts: usize) -> Vec<f64> {
    let options = Options::default().with(own);
    let reference = Betweenness.reference(graph, &options).expect("an oracle that answers");
    let runs: [(&dyn Algorithm, Options); 1] = [(&Betweenness, options)];
    let cluster = &mut Cluster::local(hosts).threads_per_host(1);
    let found = run(cluster, &Input::from(graph.clone()), &runs, How::new("cvc")).swap_remove(0);
    assert_eq!(found.complaint, None);
    let [Values::F64(found), Values::F64(reference)] =
        [&found.columns[0].values, &reference[0].values]
    else {
        panic!("scores are real numbers")
    };
    for (found, reference) in found.iter().zip(reference) {
        assert!((found - reference).abs() < 1e-9, "{found} {reference}");
    }
    found.clone()
}

/// The values are those of NetworkX 3, which were compared with these by hand.
#[test]
fn betweenness_is_that_of_the_field() {
    let dumbbell = undirected(6, &DUMBBELL);
    let turning = directed(6, &[&DUMBBELL[..], &[(0, 3)]].concat());
    let star: Vec<(u32, u32)> = (1..7).map(|leaf| (0, leaf)).collect();
    let star = undirected(7, &star);
    let whole = |normalized| BetweennessOptions { normalized, ..BetweennessOptions::default() };
    let listed = |ids: &[u32]| BetweennessOptions {
        sources: Sources::Listed(ids.iter().map(u32::to_string).collect()),
        ..BetweennessOptions::default()
    };
    for (graph, own, expected) in [
        (&dumbbell, whole(false), vec![0.0, 0.0, 6.0, 6.0, 0.0, 0.0]),
        (&dumbbell, whole(true), vec![0.0, 0.0, 0.6, 0.6, 0.0, 0.0]),
        (&turning, whole(false), vec![1.0, 1.0, 4.0, 7.0, 4.0, 1.0]),
        (&turning, whole(true), vec![0.05, 0.05, 0.2, 0.35, 0.2, 0.05]),
        // One pair after the other: 6 · 5 / 2 of them.
        (&star, whole(false), [vec![15.0], vec![0.0; 6]].concat()),
        (&star, whole(true), [vec![1.0], vec![0.0; 6]].concat()),
        // Each path once, from where it starts: from 0 to 3, 4, 5 and from 4 to 0, 1, 2.
        (&dumbbell, listed(&[0, 4]), vec![0.0, 0.0, 5.0, 5.0, 0.0, 0.0]),
    ] {
        for hosts in [1, 3] {
            let found = scores(graph, own.clone(), hosts);
            let close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(close, "{own:?}: {found:?}, expected {expected:?}");
        }
    }
    // As many sources as there are vertices, drawn at random, are all of them.
    let sources = Sources::Random { count: 6, seed: 1 };
    let all = BetweennessOptions { sources, ..BetweennessOptions::default() };
    assert_eq!(scores(&dumbbell, all, 2), scores(&dumbbell, whole(false), 2));
    // Nothing is between two vertices, or in a graph of one.
    for vertices in [1, 2] {
        let tiny = undirected(vertices, &[(0, vertices as u32 - 1)]);
        assert_eq!(scores(&tiny, whole(true), 1), vec![0.0; vertices]);
    }
}

#[test]
fn every_word_of_a_result_has_a_meaning() {
    let graph = undirected(6, &DUMBBELL);
    let ratings = [(0, 3, 5u32), (0, 4, 1), (1, 4, 2), (1, 5, 4), (2, 5, 3)];
    let bipartite = graph_of(6, &ratings);
    for algorithm in ALL {
        let needs = algorithm.needs(&Options::default());
        let graph = if needs.edges == EdgeNeed::Bipartite { &bipartite } else { &graph };
        let input = Input::from(graph.clone()).fitted(needs.fit());
        let runs = [(*algorithm, Options { max_rounds: None, ..Options::default() })];
        let cluster = &mut Cluster::local(2).threads_per_host(1);
        let found = run(cluster, &input, &runs, How::new("oec"));
        for (name, _) in &found[0].result {
            let known = algorithm.meanings().iter().any(|(known, _)| known == name);
            assert!(known, "{}: what is {name}?", algorithm.name());
        }
    }
}

/// After `k` rounds hubs point along `(A Aᵀ)ᵏ 1`, authorities along `Aᵀ (A Aᵀ)ᵏ⁻¹ 1`: here multiplied out with a dense
/// matrix, and made as long as 1 at the end alone.
#[test]
fn hubs_and_authorities_are_powers_of_the_adjacency_matrix() {
    const N: usize = 6;
    let edges = [&DUMBBELL[..], &[(0, 3), (0, 3), (1, 1), (5, 0)]].concat();
    let mut matrix = [[0.0; N]; N];
    edges.iter().for_each(|&(source, target)| matrix[source as usize][target as usize] += 1.0);
    let times = |vector: [f64; N], is_transposed: bool| {
        let entry = |row: usize, column: usize| match is_transposed {
            false => matrix[row][column],
            true => matrix[column][row],
        };
        std::array::from_fn(|row| (0..N).map(|column| entry(row, column) * vector[column]).sum())
    };
    let unit = |vector: [f64; N]| {
        let length = vector.iter().map(|part| part * part).sum::<f64>().sqrt();
        vector.map(|part: f64| part / length)
    };
    let mut hubs = [1.0; N];
    for rounds in 1..=12 {
        let authorities = times(hubs, true);
        hubs = times(authorities, false);
        let expected = [unit(hubs), unit(authorities)];
        let runs: [(&dyn Algorithm, Options); 1] =
            [(&Hits, Options::default().with(HitsOptions { rounds }))];
        let cluster = &mut Cluster::local(3).threads_per_host(1);
        let input = Input::from(directed(N, &edges));
        let found = run(cluster, &input, &runs, How::new("cvc")).swap_remove(0);
        for (column, expected) in found.columns.iter().zip(expected) {
            let Values::F64(found) = &column.values else { panic!("scores are real numbers") };
            let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(is_close, "{} after {rounds}: {found:?}, not {expected:?}", column.name);
        }
    }
}
