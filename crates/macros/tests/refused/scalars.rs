#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn sets_a_scalar(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        n = a[v];
    }
    a
}

#[parton_macros::program(crate = surface)]
fn reads_what_it_adds_up(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        n += 1;
        a[v] = n;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn folds_two_ways(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        n += 1;
        n = n.max(a[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn hides_an_effect(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            n += 1;
            let ok = k > 1 && a.lower(e.target, 3);
            if ok {
                n += 1;
            }
        }
    }
    a
}

fn main() {}
