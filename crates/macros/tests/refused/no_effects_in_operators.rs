#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn prints(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        println!("{}", a[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn calls(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = helper(b[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn allocates(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut list = Vec::new();
    for v in graph.vertices() {
        list.push(a[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn calls_outside(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    helper(k);
    a
}

#[parton_macros::program(crate = surface)]
fn has_no_effect(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[v] + 1;
    }
    a
}

fn main() {}
