//! The relaxations of all algorithms are what they declare to be, and give the same labels when
//! they are run as general programs.

use crate::engine_common as common;

use std::fmt::Debug;

use common::hosts::{local, partition, random};
use common::properties::{check_relaxation, numbers};
use common::{How, engines, run_program, run_relaxation};
use parton_algorithms::bfs::Levels;
use parton_algorithms::components::Least;
use parton_algorithms::sssp::{Distance, Distances};
use parton_engine::{DeviceType, Relaxation};
use parton_graph::{Adjacency, Csr, GlobalId, Graph, Weight};

const ROOT: Option<GlobalId> = Some(GlobalId(3));

#[test]
fn relaxations_of_algorithms_are_relaxations() {
    let labels: Vec<u32> = numbers(1, 2000).map(|n| n as u32 / 2).collect();
    let weights: Vec<u32> = numbers(2, 999).map(|n| n as u32).chain([0, u32::MAX]).collect();
    // With the greatest weights distances saturate.
    let wide: Vec<u64> = numbers(3, 2000).chain([u64::MAX - 1]).collect();
    let reals: Vec<f64> = numbers(4, 2000).map(|n| n as f64 / 1e9).collect();
    let real_weights: Vec<f64> = numbers(5, 999).map(|n| n as f64 / 1e12).chain([0.0]).collect();
    let f32_weights: Vec<f32> = real_weights.iter().map(|&w| w as f32).collect();
    check_relaxation(&Levels { root: ROOT }, &labels, &[()]);
    check_relaxation(&Levels { root: None }, &labels, &[()]);
    check_relaxation(&Least { symmetric: true }, &labels, &[()]);
    check_relaxation(&Least { symmetric: false }, &labels, &[()]);
    check_relaxation(&Distances::<u32, ()>::new(ROOT), &labels, &[()]);
    check_relaxation(&Distances::<u32, u32>::new(ROOT), &labels, &weights);
    check_relaxation(&Distances::<u64, u32>::new(ROOT), &wide, &weights);
    check_relaxation(&Distances::<f64, f32>::new(ROOT), &reals, &f32_weights);
    check_relaxation(&Distances::<f64, f64>::new(ROOT), &reals, &real_weights);
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

fn distances<D: Distance + Debug, W: Weight + DeviceType>(graph: &Graph) {
    both_ways(graph, || Distances::<D, W>::new(ROOT));
}

#[test]
fn relaxations_are_programs() {
    let plain = graph(|_| ());
    both_ways(&plain, || Levels { root: ROOT });
    both_ways(&plain, || Least { symmetric: false });
    distances::<u32, ()>(&plain);
    distances::<u32, u32>(&graph(|bits| bits as u32 % 50));
    distances::<u64, u32>(&graph(|bits| bits as u32));
    distances::<f64, f64>(&graph(|bits| (bits % 50) as f64 / 8.0));
}
