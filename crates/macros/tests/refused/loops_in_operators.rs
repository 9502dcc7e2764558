#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn ends_early(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        if a[v] > 1 {
            break;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn returns(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        if a[v] > 1 {
            return a;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn repeats(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        while a[v] > 1 {
            a[v] -= 1;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn counts(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for i in 0..3 {
            a[v] += i;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn visits_twice(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        if k > 1 {
            for e in graph.out_edges(v) { a[e.target] += 1; }
        }
        for e in graph.in_edges(v) {
            b[e.source] += 1;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn goes_on_after_some(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        if a[v] > 1 {
            for e in graph.out_edges(v) {
                b[e.target] += 1;
            }
        }
        a[v] = 2;
    }
    a
}

fn main() {}
