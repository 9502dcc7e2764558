#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn text(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let name = "name";
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_constant_of_a_type(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = u32::BITS;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_macro_as_a_value(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = format!("{}", b[v]).len() as u32;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_closure(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let more = |x: u32| x + 1;
        a[v] = more(a[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_pair(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        let pair = (a[v], b[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn an_array(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in graph.vertices() {
        let two = [a[v], b[v]];
    }
    a
}

#[parton_macros::program(crate = surface)]
fn weights_of_none(graph: &Graph<()>) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            let w = e.weight;
        }
    }
    a
}

fn main() {}
