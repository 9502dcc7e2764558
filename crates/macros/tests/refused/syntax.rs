#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn if_without_else(graph: &Graph<()>, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        a[v] = if k > 1 { 2 } else if k > 0 { 1 } else { let x = 3; x };
    }
    a
}

#[parton_macros::program(crate = surface)]
fn binds_two(graph: &Graph<()>, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let (x, y) = (k, k);
        a[v] = x + y;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn holds_an_item(graph: &Graph<()>) -> Field<u32> {
    const THREE: u32 = 3;
    let mut a = graph.field(THREE);
    a
}

#[parton_macros::program(crate = surface)]
fn counts_down(graph: &Graph<()>, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    for round in (0..k).rev() {
        for v in graph.vertices() {
            a[v] += round;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn knows_the_nearest(graph: &Graph<u32>) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let mut best = u32::MAX;
        let mut who = 0u32;
        for e in graph.in_edges(v) {
            if e.weight < best {
                best = e.weight;
                who = e.source.id();
            }
        }
        a[v] = who;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn reads_a_fold_inside(graph: &Graph<u32>) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        let mut sum = 0u32;
        for e in graph.in_edges(v) {
            sum += e.weight + sum;
        }
        a[v] = sum;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn ends_without_fields(graph: &Graph<()>) -> Field<u32> {
    let mut a = graph.field(0u32);
    for v in graph.vertices() {
        a[v] += 1;
    }
    return a;
}

fn main() {}
