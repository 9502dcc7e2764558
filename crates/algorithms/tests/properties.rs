//! The relaxations of all algorithms are what they declare to be, and give the same labels when
//! they are run as general programs.

use crate::engine_common as common;

use std::fmt::Debug;

use common::hosts::{local, partition, random};
use common::properties::{check_relaxation, numbers};
use common::{How, engines, run_program, run_relaxation};
use parton_algorithms::bfs::levels;
use parton_algorithms::components::least;
use parton_algorithms::sssp::{double, narrow, single, wide};
use parton_engine::Relaxation;
use parton_graph::{Adjacency, Csr, Graph, Weight};
use parton_program::{Program, RelaxSetting, Vertex};

const ROOT: Vertex = Vertex(3);

fn relaxed<P: Program>(program: &P, is_symmetric: bool) -> P::Relaxed {
    let setting = RelaxSetting { is_symmetric, ..RelaxSetting::default() };
    program.relaxed(setting).expect("a relaxation")
}

#[test]
fn relaxations_of_algorithms_are_relaxations() {
    let labels: Vec<u32> = numbers(1, 2000).map(|n| n as u32 / 2).collect();
    let weights: Vec<u32> = numbers(2, 999).map(|n| n as u32).chain([0, u32::MAX]).collect();
    // With the greatest weights distances saturate.
    let wide_labels: Vec<u64> = numbers(3, 2000).chain([u64::MAX - 1]).collect();
    let reals: Vec<f64> = numbers(4, 2000).map(|n| n as f64 / 1e9).collect();
    let real_weights: Vec<f64> = numbers(5, 999).map(|n| n as f64 / 1e12).chain([0.0]).collect();
    let f32_weights: Vec<f32> = real_weights.iter().map(|&w| w as f32).collect();
    check_relaxation(&relaxed(&levels { root: ROOT }, false), &labels, &[()]);
    check_relaxation(&relaxed(&least {}, true), &labels, &[()]);
    check_relaxation(&relaxed(&least {}, false), &labels, &[()]);
    check_relaxation(&relaxed(&narrow { root: ROOT }, false), &labels, &weights);
    check_relaxation(&relaxed(&wide { root: ROOT }, false), &wide_labels, &weights);
    check_relaxation(&relaxed(&single { root: ROOT }, false), &reals, &f32_weights);
    check_relaxation(&relaxed(&double { root: ROOT }, false), &reals, &real_weights);
}

/// Runs a relaxation both ways.
fn both_ways<P: Relaxation<Label: Debug>>(graph: &Graph, program: impl Fn() -> P + Sync) {
    for (hosts, policy) in [(1, "oec"), (3, "hvc"), (4, "cvc")] {
        let parts = partition(graph, policy, hosts);
        for engine in engines() {
            let how = How::new(engine);
            let (direct, first) = run_relaxation(&mut local(hosts), &parts, how, &program());
            let (general, second) = run_program(&mut local(hosts), &parts, how, &program);
            assert_eq!(direct, general, "{engine:?}, {hosts} hosts");
            assert!(first.converged && second.converged, "{engine:?}, {hosts} hosts");
        }
    }
}

fn graph<W: Weight>(weigh: impl Fn(u64) -> W) -> Graph
where
    Adjacency: From<Csr<W>>,
{
    let edge = |i| {
        let [s, d, w] = [1, 2, 3].map(|salt| random(&[salt, i]));
        ((s % 70) as u32, (d % 75) as u32, weigh(w))
    };
    Graph::dense(Csr::from_edges(80, &(0..200).map(edge).collect::<Vec<_>>()), "test")
}

#[test]
fn relaxations_are_programs() {
    let plain = graph(|_| ());
    both_ways(&plain, || relaxed(&levels { root: ROOT }, false));
    both_ways(&plain, || relaxed(&least {}, false));
    both_ways(&graph(|bits| bits as u32 % 50), || relaxed(&narrow { root: ROOT }, false));
    both_ways(&graph(|bits| bits as u32), || relaxed(&wide { root: ROOT }, false));
    let reals = graph(|bits| (bits % 50) as f64 / 8.0);
    both_ways(&reals, || relaxed(&double { root: ROOT }, false));
}
