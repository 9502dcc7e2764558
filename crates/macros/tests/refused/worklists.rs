#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn counts_visits(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        a[v] += 1;
        if a[v] < k {
            work.push(v);
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn loops_over_a_list(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    for v in [root] {
        a[v] += 1;
    }
    a
}

fn main() {}
