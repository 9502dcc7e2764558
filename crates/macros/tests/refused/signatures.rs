#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn no_graph(k: &Field<u32>) -> Field<u32> {
    let a = Field::clone(k);
    a
}

#[parton_macros::program(crate = surface)]
fn generic<T>(graph: &Graph<T>) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    a
}

#[parton_macros::program(crate = surface)]
fn odd_weights(graph: &Graph<String>) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    a
}

#[parton_macros::program(crate = surface)]
fn odd_parameter(graph: &Graph<()>, k: &str) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    a
}

#[parton_macros::program(crate = surface)]
fn returns_a_number(graph: &Graph<()>) -> u32 {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    1
}

fn main() {}
