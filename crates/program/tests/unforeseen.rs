//! Programs that nobody had in mind when the compiler was written: they agree with their functions on random graphs,
//! under every policy, on one to seven hosts, with and without devices, or they are refused with a reason.

use parton_compile::program::lower::lower;
use parton_compile::program::parse::parse;
use parton_partition::policies;
use parton_program::{Communication, Field, Graph, Vertex, Worklist, program};

use crate::common::{Hosts, agree, close, graph};
use crate::random::generate::Random;

/// Ranks that return to two seeds, one of which counts twice.
#[program(crate = parton_program)]
fn two_seeds(
    graph: &Graph<()>,
    first: Vertex,
    second: Vertex,
    damping: f64,
    rounds: u32,
) -> Field<f64> {
    let mut seed = graph.field(0.0);
    seed[first] = 2.0 / 3.0;
    seed[second] = 1.0 / 3.0;
    let mut rank = seed.clone();
    for _ in 0..rounds {
        let mut next = graph.field(0.0);
        for v in graph.vertices() {
            let share = damping * rank[v] / graph.out_degree(v) as f64;
            for edge in graph.out_edges(v) {
                next[edge.target] += share;
            }
        }
        for v in graph.vertices() {
            rank[v] = (1.0 - damping) * seed[v] + next[v];
        }
    }
    rank
}

/// What is heard of a vertex fades by a half with every edge, and is passed on while it is loud enough.
#[program(crate = parton_program)]
fn fading(graph: &Graph<()>, root: Vertex, least: f64) -> (Field<f64>, Field<u32>) {
    let mut heard = graph.field(0.0);
    let mut waits = graph.field(0.0);
    let mut since = graph.field(u32::MAX);
    waits[root] = 1.0;
    let mut round = 0;
    loop {
        let mut passed = 0u64;
        let mut arrives = graph.field(0.0);
        for v in graph.vertices() {
            if waits[v] > least {
                passed += 1;
                let half = waits[v] * 0.5;
                for edge in graph.out_edges(v) {
                    arrives[edge.target] += half;
                }
            }
        }
        for v in graph.vertices() {
            heard[v] += waits[v];
            if heard[v] > 0.0 && since[v] == u32::MAX {
                since[v] = round;
            }
            waits[v] = arrives[v];
        }
        round += 1;
        if passed == 0 || round > 12 {
            break;
        }
    }
    (heard, since)
}

/// The sum of weights at every vertex, in both directions, as a share of the greatest.
#[program(crate = parton_program)]
fn normalised_degrees(graph: &Graph<u32>) -> (Field<f64>, Field<u64>) {
    let mut weight = graph.field(0u64);
    let mut greatest = 0u64;
    for v in graph.vertices() {
        let mut sum = 0u64;
        for edge in graph.edges(v) {
            sum += edge.weight as u64;
        }
        weight[v] = sum;
    }
    for v in graph.vertices() {
        greatest = greatest.max(weight[v]);
    }
    let mut share = graph.field(0.0);
    for v in graph.vertices() {
        if greatest > 0 {
            share[v] = weight[v] as f64 / greatest as f64;
        }
    }
    (share, weight)
}

/// How many vertices are at most some hops away, at every vertex among them; and how many of its in-neighbours are.
#[program(crate = parton_program)]
fn near_by(graph: &Graph<()>, root: Vertex, hops: u32) -> (Field<u64>, Field<u32>) {
    let mut is_near = graph.field(false);
    is_near[root] = true;
    for _ in 0..hops {
        let mut is_next = graph.field(false);
        for v in graph.vertices() {
            if is_near[v] {
                for edge in graph.out_edges(v) {
                    is_next[edge.target] |= true;
                }
            }
        }
        for v in graph.vertices() {
            is_near[v] = is_near[v] || is_next[v];
        }
    }
    let mut count = 0u64;
    for v in graph.vertices() {
        if is_near[v] {
            count += 1;
        }
    }
    let mut all = graph.field(0u64);
    let mut friends = graph.field(0u32);
    for v in graph.vertices() {
        if is_near[v] {
            all[v] = count;
            let mut known = 0u32;
            for edge in graph.in_edges(v) {
                if is_near[edge.source] {
                    known += 1;
                }
            }
            friends[v] = known;
        }
    }
    (all, friends)
}

/// The mean degree of neighbours, and whether no neighbour has a higher degree.
#[program(crate = parton_program)]
fn company(graph: &Graph<()>) -> (Field<f64>, Field<bool>) {
    let degree = graph.field_with(|v| (graph.out_degree(v) + graph.in_degree(v)) as u32);
    let mut mean = graph.field(0.0);
    let mut is_top = graph.field(true);
    for v in graph.vertices() {
        let mut sum = 0u64;
        let mut highest = 0u32;
        for edge in graph.edges(v) {
            sum += degree[edge.target] as u64;
            highest = highest.max(degree[edge.target]);
        }
        if degree[v] > 0 {
            mean[v] = sum as f64 / degree[v] as f64;
        }
        is_top[v] = highest <= degree[v];
    }
    (mean, is_top)
}

/// The least sum of weights on a way to any vertex without out-edges.
#[program(crate = parton_program)]
fn way_out(graph: &Graph<u32>) -> Field<u32> {
    let mut left = graph.field_with(|v| if graph.out_degree(v) == 0 { 0 } else { u32::MAX });
    let mut work = graph.vertices().collect::<Worklist>();
    while let Some(v) = work.pop() {
        for edge in graph.in_edges(v) {
            if left.lower(edge.source, left[v].saturating_add(edge.weight)) {
                work.push(edge.source);
            }
        }
    }
    left
}

/// Vertices of which no two are neighbours, and that all others are neighbours of: in every round those join that
/// have the highest number of their free neighbours.
#[program(crate = parton_program)]
fn independent(graph: &Graph<()>) -> (Field<bool>, Field<bool>) {
    let mut is_in = graph.field(false);
    let mut is_out = graph.field(false);
    loop {
        let mut rival = graph.field(0u32);
        let mut joined = 0u64;
        for v in graph.vertices() {
            if !is_in[v] && !is_out[v] {
                let number = v.id() + 1;
                for edge in graph.edges(v) {
                    if edge.target != v {
                        rival[edge.target] = rival[edge.target].max(number);
                    }
                }
            }
        }
        let mut joins = graph.field(false);
        for v in graph.vertices() {
            if !is_in[v] && !is_out[v] && rival[v] < v.id() + 1 {
                joins[v] = true;
                joined += 1;
            }
        }
        for v in graph.vertices() {
            if joins[v] {
                is_in[v] = true;
                for edge in graph.edges(v) {
                    is_out[edge.target] |= edge.target != v;
                }
            }
        }
        if joined == 0 {
            break;
        }
    }
    (is_in, is_out)
}

/// Heat that flows along weighted edges, with one vertex kept hot.
#[program(crate = parton_program)]
fn heat(graph: &Graph<f32>, stove: Vertex, rounds: u32) -> Field<f64> {
    let mut warm = graph.field_with(|v| if v == stove { 1.0 } else { 0.0 });
    for _ in 0..rounds {
        let mut flow = graph.field(0.0);
        let mut width = graph.field(0.0);
        for v in graph.vertices() {
            for edge in graph.edges(v) {
                flow[v] += (warm[edge.target] - warm[v]) * edge.weight as f64;
                width[v] += edge.weight as f64;
            }
        }
        for v in graph.vertices() {
            if v != stove {
                warm[v] += flow[v] / (1.0 + width[v]);
            }
        }
    }
    warm
}

/// The heaviest in-edge of every vertex, how many in-edges are as heavy, and the sum of all that are.
#[program(crate = parton_program)]
fn heaviest(graph: &Graph<u32>) -> (Field<u32>, Field<u32>, Field<i64>) {
    let mut most = graph.field(0u32);
    let mut ties = graph.field(0u32);
    let mut margin = graph.field(0i64);
    for v in graph.vertices() {
        for edge in graph.out_edges(v) {
            most.raise(edge.target, edge.weight);
        }
    }
    let mut total = 0i64;
    for v in graph.vertices() {
        for edge in graph.in_edges(v) {
            if edge.weight == most[v] {
                ties[v] += 1;
                total += edge.weight as i64;
            }
        }
    }
    for v in graph.vertices() {
        margin[v] = total - most[v] as i64;
    }
    (most, ties, margin)
}

/// Colours by the parity of hops from a root along edges in either direction; those that two hosts of either colour
/// claim are in conflict.
#[program(crate = parton_program)]
fn parity(graph: &Graph<()>, root: Vertex) -> (Field<i32>, Field<bool>) {
    let mut colour = graph.field(0i32);
    let mut clash = graph.field(false);
    let mut work = Worklist::from([root]);
    let mut hops = graph.field(u32::MAX);
    hops[root] = 0;
    while let Some(v) = work.pop() {
        for edge in graph.edges(v) {
            if hops.lower(edge.target, hops[v].saturating_add(1)) {
                work.push(edge.target);
            }
        }
    }
    for v in graph.vertices() {
        if hops[v] < u32::MAX {
            colour[v] = if hops[v] % 2 == 1 { -1 } else { 1 };
        }
    }
    for v in graph.vertices() {
        for edge in graph.edges(v) {
            clash[v] |= colour[edge.target] == colour[v];
        }
    }
    (colour, clash)
}

/// The weights of edges that end at a vertex of a higher number, summed up over all edges and rounded by their order.
#[program(crate = parton_program)]
fn upward(graph: &Graph<f32>) -> (Field<f64>, Field<f64>) {
    let mut total: f64 = 0.0;
    let mut own = graph.field(0.0);
    for v in graph.vertices() {
        for edge in graph.out_edges(v) {
            if v.id() < edge.target.id() {
                total += edge.weight as f64 * 0.1;
                own[v] += edge.weight as f64 * 0.1;
            }
        }
    }
    let mut share = graph.field(0.0);
    for v in graph.vertices() {
        if total > 0.0 {
            share[v] = own[v] / total;
        }
    }
    (own, share)
}

#[test]
fn unforeseen_programs_agree_with_their_functions() {
    let random = &mut Random::of(0);
    let policies: Vec<_> =
        policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect();
    for number in 0..3 {
        let vertices = 2 + random.below(24);
        let edge = |_| {
            let [source, target] = [random.below(vertices) as u32, random.below(vertices) as u32];
            (source, target, random.below(9) as u32)
        };
        let mut edges: Vec<_> = (0..4 * vertices).map(edge).collect();
        edges.sort_by_key(|edge| edge.0);
        let input = &graph(vertices, &edges).into();
        for (place, policy) in policies.iter().enumerate() {
            for hosts in 1..=7 {
                let turn = number + place + hosts;
                // A program on devices is compiled once; with all hosts and policies that is still slow.
                let devices =
                    if turn.is_multiple_of(8) { 0b101_0110 ^ (turn as u32 % 2) } else { 0 };
                let (_, communication) = Communication::NAMES[turn % 3];
                let engine = (turn % 4 < 2 || devices != 0).then_some("steps");
                let venue = Hosts { hosts, policy, engine, communication, ..Hosts::new(input) };
                agree_on(&mut Hosts { devices, ..venue }, vertices, &edges);
            }
        }
    }
}

fn agree_on(venue: &mut Hosts<'_>, vertices: usize, edges: &[(u32, u32, u32)]) {
    let plain = Graph::new(vertices, &edges.iter().map(|e| (e.0, e.1, ())).collect::<Vec<_>>());
    let weighted = Graph::new(vertices, edges);
    let real = edges.iter().map(|e| (e.0, e.1, e.2 as f32)).collect::<Vec<_>>();
    let real = Graph::new(vertices, &real);
    let (root, other) = (Vertex(vertices as u32 / 2), Vertex(0));
    let name = &format!("{} on {}, {:b}", venue.policy, venue.hosts, venue.devices);
    let ranks = two_seeds::run(venue, root, other, 0.85, 5).unwrap();
    close(name, [ranks], [two_seeds(&plain, root, other, 0.85, 5)], 1e-9);
    agree(name, fading::run(venue, root, 0.01), fading(&plain, root, 0.01));
    agree(name, normalised_degrees::run(venue), normalised_degrees(&weighted));
    agree(name, near_by::run(venue, root, 2), near_by(&plain, root, 2));
    agree(name, company::run(venue), company(&plain));
    agree(name, way_out::run(venue), way_out(&weighted));
    agree(name, independent::run(venue), independent(&plain));
    close(name, [heat::run(venue, root, 4).unwrap()], [heat(&real, root, 4)], 1e-9);
    agree(name, heaviest::run(venue), heaviest(&weighted));
    agree(name, parity::run(venue, root), parity(&plain, root));
    let ((own, share), expected) = (upward::run(venue).unwrap(), upward(&real));
    close(name, [own, share], [expected.0, expected.1], 1e-9);
}

/// Programs that are refused, and what the refusal says.
const REFUSED: &[(&str, &str)] = &[
    (
        "fn triangles(graph: &Graph<()>) -> Field<u64> { let mut found = graph.field(0u64);
            for v in graph.vertices() { for a in graph.out_edges(v) { for b in graph.out_edges(a.target) {
                if b.target == v { found[v] += 1; } } } } found }",
        "two hops away",
    ),
    (
        "fn in_place(graph: &Graph<()>, rounds: u32) -> Field<f64> { let mut rank = graph.field(1.0);
            for _ in 0..rounds { for v in graph.vertices() { let mut sum = 0.0;
                for e in graph.in_edges(v) { sum += rank[e.source]; } rank[v] = 0.5 + 0.1 * sum; } } rank }",
        "the order of visits shows in `rank`",
    ),
    (
        "fn depth(graph: &Graph<()>, rounds: u32) -> Field<u32> { let mut depth = graph.field(0u32);
            for _ in 0..rounds { for v in graph.vertices() { for e in graph.out_edges(v) {
                depth.raise(e.target, depth[v] + 1); } } } depth }",
        "the order of visits shows in `depth`",
    ),
    (
        "fn greedy(graph: &Graph<()>) -> Field<u32> { let mut colour = graph.field(0u32);
            for v in graph.vertices() { let mut least = 1u32; for e in graph.edges(v) {
                if colour[e.target] == least { least += 1; } } colour[v] = least; } colour }",
        "is being folded over edges",
    ),
    (
        "fn last(graph: &Graph<()>) -> Field<u32> { let mut from = graph.field(0u32);
            for v in graph.vertices() { for e in graph.out_edges(v) { from[e.target] = v.id(); } } from }",
        "the last is any of them",
    ),
    (
        "fn jumps(graph: &Graph<()>) -> Field<u32> { let mut up = graph.field_with(|v| v.id());
            for v in graph.vertices() { let above = up[v]; up[v] = up[above]; } up }",
        "one edge at a time",
    ),
];

#[test]
fn what_depends_on_the_order_is_refused() {
    for (text, reason) in REFUSED {
        let function = syn::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        match parse(&function).and_then(lower) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => {
                println!("{error}");
                assert!(error.to_string().contains(reason), "{error}\n{text}");
            }
        }
    }
}
