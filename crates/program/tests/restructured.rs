//! Operators that were split between two loops over edges, and loops that were fused, do what they say.

use parton_program::{Field, Graph, Vertex, program};

use crate::common::{GRAPHS, graph, on_all};

/// Three loops over edges in one operator; locals live from one to the next.
#[program(crate = parton_program)]
fn passed_on(graph: &Graph<u32>, scale: u64) -> (Field<u64>, Field<u64>, Field<u32>) {
    let mut given = graph.field_with(|v| v.id() as u64 + 1);
    let mut received = graph.field(0u64);
    let mut least = graph.field(u32::MAX);
    let mut rounds = 0u64;
    let mut total = 0u64;
    while rounds < 3 {
        for v in graph.vertices() {
            let mut sum = 0u64;
            let own = given[v] % 5 + scale;
            for edge in graph.in_edges(v) {
                sum += given[edge.source] % 3 + edge.weight as u64;
            }
            let mut share = sum + own;
            if share > 9 {
                share %= 7;
            }
            for edge in graph.out_edges(v) {
                received[edge.target] += share;
            }
            share += 1;
            for edge in graph.edges(v) {
                least.lower(edge.target, share as u32 + edge.weight);
            }
            total += share + own;
        }
        for v in graph.vertices() {
            given[v] += received[v] % 4;
        }
        for v in graph.vertices() {
            given[v] = given[v] * 3 + 1;
        }
        rounds += 1;
    }
    for v in graph.vertices() {
        received[v] += total;
    }
    (given, received, least)
}

/// A list of vertices decides where things begin.
#[program(crate = parton_program)]
fn around(graph: &Graph<u32>, seeds: &[Vertex], rounds: u32) -> Field<u64> {
    let mut heat = graph.field(if seeds.is_empty() { 1u64 } else { 0 });
    let mut next = graph.field(0u64);
    let mut extra = seeds.len() as u64;
    for &seed in seeds {
        heat[seed] = extra;
        extra += 2;
    }
    for _ in 0..rounds {
        for v in graph.vertices() {
            let mut sum = 0u64;
            for edge in graph.in_edges(v) {
                sum += heat[edge.source];
            }
            next[v] = heat[v] + sum % 1000;
        }
        std::mem::swap(&mut heat, &mut next);
    }
    heat
}

#[test]
fn operators_between_whose_loops_vertices_meet_are_those_of_the_function() {
    let text = passed_on::explain();
    assert_eq!(text.matches("visits all vertices").count(), 5, "three, two fused, one: {text}");
    for (name, vertices, edges) in GRAPHS {
        let weighted = Graph::new(*vertices, edges);
        on_all(&graph(*vertices, edges), |venue| {
            let found = passed_on::run(venue, 2).unwrap();
            assert_eq!(found, passed_on(&weighted, 2), "{name}");
        });
    }
}

#[test]
fn lists_of_vertices_are_parameters() {
    for (name, vertices, edges) in GRAPHS.iter().filter(|(_, vertices, _)| *vertices > 1) {
        let weighted = Graph::new(*vertices, edges);
        let last = Vertex(*vertices as u32 - 1);
        on_all(&graph(*vertices, edges), |venue| {
            for seeds in [&[][..], &[last], &[Vertex(1), Vertex(0), last, Vertex(1)]] {
                let found = around::run(venue, seeds, 3).unwrap();
                assert_eq!(found, around(&weighted, seeds, 3), "{name} {seeds:?}");
            }
        });
    }
}
