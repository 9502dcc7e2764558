#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn writes_one_vertex(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[root] = 1;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn reads_one_vertex(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    n = a[root];
    a
}

#[parton_macros::program(crate = surface)]
fn follows_a_pointer(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[Vertex(b[v])] = 1;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn two_hops(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            for f in graph.out_edges(e.target) {
                a[f.target] += 1;
            }
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn pairs(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for w in graph.vertices() {
            a[v] += b[w];
        }
    }
    a
}

fn main() {}
