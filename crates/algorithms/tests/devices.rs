//! Algorithms on hosts that compute on devices, alone and beside ordinary hosts: the oracle's answer.
//!
//! Devices are emulated: the same kernels, on the processor. A variable `PARTON_TEST_GPU` of 1 asks for the GPU.

use parton_algorithms::kcore::{KCore, KCoreOptions};
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
    let generated = ["rmat:6,6,3", "grid:5x4,permute", "complete:9"];
    let generate = |spec: &'static str| {
        let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent));
        (spec, graph.expect("a graph"))
    };
    nasty_graphs().into_iter().chain(generated.map(generate)).collect()
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
