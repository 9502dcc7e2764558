#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn a_scalar_folded_two_ways(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        n += a[v];
    }
    for v in graph.vertices() {
        n = n.max(a[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn the_lesser_truth(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut d = graph.field(true);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            d.lower(e.target, false);
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn where_the_least_is(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let mut least = 99;
        let mut who = 0;
        for e in graph.out_edges(v) {
            if e.weight < least {
                least = e.weight;
                who = e.target.id();
            }
        }
        a[v] = who;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_local_folded_two_ways(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let mut y = 0u32;
        for e in graph.out_edges(v) {
            y += e.weight;
            y = y.max(3);
        }
        a[v] = y;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_field_folded_two_ways(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[e.target] += e.weight;
            a.raise(e.target, 3);
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_fold_that_is_read(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        let mut y = 0u32;
        for e in graph.out_edges(v) {
            y += e.weight;
            b[e.target] += y;
        }
    }
    a
}

fn main() {}
