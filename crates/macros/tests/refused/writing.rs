#![allow(unused)]

#[path = "surface/mod.rs"]
mod surface;
use surface::*;

#[parton_macros::program(crate = surface)]
fn a_scalar_folded_two_ways(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
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
fn edges_in_both_branches(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        if a[v] > 3 {
            for e in graph.out_edges(v) {
                b[e.target] += 1;
            }
        } else {
            for e in graph.in_edges(v) {
                b[e.source] += 2;
            }
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn the_lesser_truth(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
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
    let mut b = graph.field(0u32);
    let mut n = 0u32;
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
    let mut b = graph.field(0u32);
    let mut n = 0u32;
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
    let mut b = graph.field(0u32);
    let mut n = 0u32;
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
    let mut n = 0u32;
    for v in graph.vertices() {
        let mut y = 0u32;
        for e in graph.out_edges(v) {
            y += e.weight;
            b[e.target] += y;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_local_less_its_edges(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        let mut y = 9u32;
        for e in graph.out_edges(v) {
            y -= e.weight;
        }
        a[v] = y;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn an_endless_range(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for i in 0.. {
        n = i;
        if n > 3 {
            break;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn one_vertex_folded(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    a[root] += 1;
    a
}

#[parton_macros::program(crate = surface)]
fn a_whole_field_set(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    a = b;
    b = graph.field(1);
    a
}

#[parton_macros::program(crate = surface)]
fn text(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        let name = "name";
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_field_as_a_value(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        let all = &a;
        let x = a;
        a = x;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_constant_of_a_type(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        a[v] = u32::BITS;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_macro_as_a_value(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    for v in graph.vertices() {
        a[v] = format!("{}", b[v]).len() as u32;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_closure(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
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
    let mut n = 0u32;
    for v in graph.vertices() {
        let pair = (a[v], b[v]);
    }
    a
}

#[parton_macros::program(crate = surface)]
fn an_outer_loop_left(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    'outer: loop {
        loop {
            break 'outer;
        }
    }
    a
}

#[parton_macros::program(crate = surface)]
fn a_return_in_a_loop(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
    loop {
        return a;
    }
    a
}

#[parton_macros::program(crate = surface)]
fn an_array(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<u32> {
    let mut a = graph.field(0u32);
    let mut b = graph.field(0u32);
    let mut n = 0u32;
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
