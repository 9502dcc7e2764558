#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn sets_a_neighbour(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[e.target] = b[v];
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn sets_itself_by_edges(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[v] = e.weight;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn sets_a_local_by_edges(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        let mut x = 0u32;
        for e in graph.out_edges(v) {
            x = e.weight;
        }
        a[v] = x;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn reads_what_neighbours_change(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[e.target] += a[v];
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn reads_what_it_changed(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[e.target] += 1;
            b[v] += a[e.target];
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn multiplies(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[e.target] *= 2;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn two_folds(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            a[e.target] += 1;
            a.lower(e.target, 3);
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn remembers_who(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            if a.lower(e.target, 3) {
                b[e.target] = v.id();
            }
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn gets_better_as_it_gets_worse(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    loop {
        let mut changed = false;
        for v in graph.vertices() {
            for e in graph.out_edges(v) {
                changed |= a.lower(e.target, 9 - a[v]);
            }
        }
        if !changed {
            break;
        }
    }
    a
}

fn main() {}
