//! Algorithms on hosts that compute on devices, alone and beside ordinary hosts: the oracle's answer.
//!
//! Devices are emulated: the same kernels, on the processor. A variable `PARTON_TEST_GPU` of 1 asks for the GPU.

use parton_algorithms::kcore::{KCore, KCoreOptions};
use parton_algorithms::label_propagation::LabelPropagation;
use parton_algorithms::lcc::Lcc;
use parton_algorithms::triangles::Triangles;
use parton_algorithms::{Algorithm, Options};
use parton_engine::{Pace, Pacing};
use parton_graph::Graph;
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_net::Cluster;

use crate::common::nasty::nasty_graphs;
use crate::common::{Devices, How, all_policies, is_tried};
use crate::matrix::compare;

/// Small graphs with a structure, beside the nasty ones.
fn graphs() -> Vec<(&'static str, Graph)> {
    let specs = ["rmat:6,6,3", "grid:5x4,permute", "complete:9"];
    nasty_graphs().into_iter().chain(specs.map(generated)).collect()
}

fn generated(spec: &'static str) -> (&'static str, Graph) {
    let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent));
    (spec, graph.expect("a graph"))
}

/// Compares these runs on graphs with long rows, of all classes that kernels know.
fn try_long_rows(specs: &[&'static str], runs: &[(&dyn Algorithm, Options)]) {
    for (spec, (hosts, policy)) in
        specs.iter().zip([(1, "oec"), (2, "cvc"), (3, "iec"), (2, "hvc")])
    {
        let (name, graph) = generated(spec);
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        let devices = if hosts == 3 { Devices::Even } else { Devices::All };
        compare(&mut cluster, (name, &graph), runs, How { devices, ..How::new(policy) });
    }
}

/// Compares these runs on every graph. Numbers of hosts, policies and mixes of devices take turns.
fn try_all(runs: &[(&dyn Algorithm, Options)]) {
    let mixes = [Devices::All, Devices::Odd, Devices::Even];
    let policies = all_policies();
    for (h, hosts) in [1, 2, 3, 7].into_iter().enumerate() {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in graphs().iter().enumerate() {
            for (m, devices) in mixes.into_iter().enumerate() {
                let is_none = hosts == 1 && devices != Devices::All;
                if !is_none && is_tried(&[h, g, m], 3) {
                    let policy = policies[(h * 5 + g + m * 7) % policies.len()];
                    let how = How { devices, ..How::new(policy) };
                    compare(&mut cluster, (name, graph), runs, how);
                }
            }
        }
    }
}

#[test]
fn cores() {
    let core = |k, pacing| Options { pacing, ..Options::default() }.with(KCoreOptions { k });
    let of = |k, pacing| (&KCore as &dyn Algorithm, core(k, pacing));
    let (rounds, none) = (Pacing::default(), Pacing::AT_ONCE);
    try_all(&[
        of(None, rounds),
        of(Some(2), rounds),
        of(Some(3), none),
        of(None, Pace::Auto.into()),
    ]);
}

#[test]
fn triangles() {
    let runs: [(&dyn Algorithm, Options); 2] =
        [(&Triangles, Options::default()), (&Lcc, Options::default())];
    try_all(&runs);
    try_long_rows(&["complete:50", "rmat:8,16", "complete:40", "rmat:7,30"], &runs);
}

#[test]
fn labels() {
    let rounds = |max_rounds| Options { max_rounds, ..Options::default() };
    try_all(&[(&LabelPropagation, rounds(None)), (&LabelPropagation, rounds(Some(2)))]);
    let runs: [(&dyn Algorithm, Options); 1] = [(&LabelPropagation, rounds(Some(3)))];
    try_long_rows(&["star:3000", "rmat:8,40", "star:4000", "rmat:7,70"], &runs);
}
