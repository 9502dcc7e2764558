#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn edges_in_both_branches(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        if a[v] > 3 {
            for e in graph.out_edges(v) {
                b[e.target] += 1;
            }
        } else {
            for e in graph.in_edges(v) {
                b[e.source] += 2;
            }
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn an_endless_range(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut n = 0u32;
    for i in 0.. {
        n = i;
        if n > 3 {
            break;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn an_outer_loop_left(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    'outer: loop {
        loop {
            break 'outer;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_return_in_a_loop(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    loop {
        return a;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn calls_itself(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    if k > 0 {
        a = calls_itself(graph, root, k - 1);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn calls_itself_at_every_vertex(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = calls_itself_at_every_vertex(graph, v, k)[root];
    }
    a
}

fn main() {}
