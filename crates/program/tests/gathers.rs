//! Stationary gathers: by every engine for vertex programs, and the same as their sequential functions.

use parton_partition::Input;
use parton_program::{Field, Graph, Vertex, program};

use crate::common::{GRAPHS, Hosts, close, graph};

/// Rank that vertices without out-edges lose is shared out; the sum of it looks ahead.
#[program(crate = parton_program)]
fn personalised(graph: &Graph<()>, seed: Vertex, damping: f64, tolerance: f64) -> Field<f64> {
    let mut rank = graph.field_with(|v| if v == seed { 1.0 } else { 0.0 });
    let mut next = graph.field(0.0);
    loop {
        let mut lost = 0.0;
        for v in graph.vertices() {
            if graph.out_degree(v) == 0 {
                lost += rank[v];
            }
        }
        let mut change = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += (rank[edge.source] / graph.out_degree(edge.source) as f64) as f32 as f64;
            }
            let home = if v == seed { 1.0 - damping + damping * lost } else { 0.0 };
            next[v] = home + damping * sum;
            change += (next[v] - rank[v]).abs();
        }
        std::mem::swap(&mut rank, &mut next);
        if change < tolerance {
            break;
        }
    }
    rank
}

/// Vertices push; some are latched; whole numbers, a truth value and an edge's weight take part.
#[program(crate = parton_program)]
fn heard(graph: &Graph<u32>, rounds: u32) -> (Field<u64>, Field<bool>, Field<u32>) {
    let mut given = graph.field(0u64);
    let mut is_loud = graph.field(false);
    let mut level = graph.field_with(|v| v.id() % 3 + 1);
    let mut total = 0u64;
    for round in 0..rounds {
        for v in graph.vertices() {
            for edge in graph.out_edges(v) {
                given[edge.target] += (level[v] * edge.weight) as u64;
            }
        }
        for v in graph.vertices() {
            if given[v] > 40 {
                is_loud[v] = true;
                total += 1;
            } else {
                level[v] = level[v] % 7 + round;
            }
        }
        if total > 100 {
            break;
        }
    }
    (given, is_loud, level)
}

/// Collects the least over all edges, in either direction, of a weight and a neighbour's value.
#[program(crate = parton_program)]
fn calm(graph: &Graph<f32>, rounds: u32) -> Field<f32> {
    let mut value = graph.field_with(|v| v.id() as f32);
    let mut next = graph.field(0.0f32);
    for _ in 0..rounds {
        for v in graph.vertices() {
            let mut least = f32::MAX;
            for edge in graph.edges(v) {
                least = least.min(value[edge.target] * 0.5 + edge.weight);
            }
            next[v] = if least < value[v] { least } else { value[v] * 0.75 };
        }
        for v in graph.vertices() {
            value[v] = next[v];
        }
    }
    value
}

#[test]
fn gathers_are_those_of_the_sequential_function() {
    for text in [personalised::explain(), heard::explain(), calm::explain()] {
        assert!(text.contains("a stationary gather"), "{text}");
    }
    for (name, vertices, edges) in GRAPHS.iter().filter(|(_, vertices, _)| *vertices > 0) {
        let unweighted =
            Graph::new(*vertices, &edges.iter().map(|e| (e.0, e.1, ())).collect::<Vec<_>>());
        let weighted = Graph::new(*vertices, edges);
        let real = Graph::new(
            *vertices,
            &edges.iter().map(|e| (e.0, e.1, e.2 as f32)).collect::<Vec<_>>(),
        );
        let input: &Input = &graph(*vertices, edges).into();
        let seed = Vertex(*vertices as u32 / 2);
        for (number, policy) in ["oec", "iec", "cvc", "hvc", "random"].into_iter().enumerate() {
            for hosts in [1, 2, 3, 4, 7] {
                let engine = [Some("pull"), Some("push"), Some("frontier"), Some("steps"), None];
                let engine = engine[(number + hosts) % 5];
                let venue = &mut Hosts { hosts, policy, engine, ..Hosts::new(input) };
                close(
                    name,
                    [personalised::run(venue, seed, 0.85, 1e-6).unwrap()],
                    [personalised(&unweighted, seed, 0.85, 1e-6)],
                    1e-5,
                );
                for rounds in [0, 1, 5] {
                    assert_eq!(
                        heard::run(venue, rounds).unwrap(),
                        heard(&weighted, rounds),
                        "{name}"
                    );
                    assert_eq!(calm::run(venue, rounds).unwrap(), calm(&real, rounds), "{name}");
                }
            }
        }
    }
}
