#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn unknown_method(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = b[v].pow(2);
    }
    a
}

const LIMIT: u32 = 3;

#[parton_macros::program(crate = surface)]
fn unknown_constant(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = LIMIT;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn matches(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = match k {
            0 => 1,
            _ => 2,
        };
    }
    a
}

#[parton_macros::program(crate = surface)]
fn refers(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        let x = &a[v];
        b[v] = *x;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn weights_that_are_not_there(graph: &Graph<()>) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            let () = e.weight;
            a[e.target] += 1;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn macro_outside(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    println!("begins");
    a
}

fn main() {}
