#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn one_vertex_folded(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    a[root] += 1;
    a
}

#[parton_macros::program(crate = surface)]
fn a_whole_field_set(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    a = b;
    b = graph.field(1);
    a
}

#[parton_macros::program(crate = surface)]
fn a_field_as_a_value(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let all = &a;
        let x = a;
        a = x;
    }
    a
}

fn main() {}
