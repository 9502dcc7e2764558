//! Hosts that are devices, alone and beside ordinary hosts in one run: the loop, the substrate and the reports
//! ask nothing of them but bulk calls.

use std::fmt::Debug;

use parton_engine::{Edges, Limits, Pacing, Relaxation, VertexProgram, engines, run};
use parton_graph::{Csr, Graph};
use parton_net::{Cluster, LaunchError};
use parton_partition::Partition;
use parton_sync::reduction::{Max, Min, Or, Sum};
use parton_sync::{Error, Optimize, Substrate};

use crate::common::device::DeviceRelaxation;
use crate::common::hosts::{all_policies, local, partition, tangle};
use crate::common::programs::{Greatest, Hops, Near, Reach, Tokens};
use crate::common::{Devices, How, run_program, run_relaxation, serial};

fn graph() -> Graph {
    let weigh = |(s, d): (u32, u32)| (s, d, (s * 31 + d * 17) % 64);
    let edges: Vec<_> = tangle(37).into_iter().map(weigh).collect();
    Graph::dense(Csr::from_edges(37, &edges), "test")
}

struct Setting<'a> {
    graph: &'a Graph,
    parts: &'a [Partition],
    how: How,
    policy: &'a str,
}

fn compare<P>(cluster: &mut Cluster, setting: &Setting<'_>, program: &P)
where
    P: VertexProgram<State: PartialEq + Debug> + Clone,
{
    let (expected, rounds) = serial(setting.graph, Limits::default(), program);
    let how = setting.how;
    let (found, report) = run_program(cluster, setting.parts, how, || program.clone());
    assert_eq!(found, expected, "{how:?}, {}", setting.policy);
    assert_eq!((report.converged, report.rounds.len() as u64), (true, rounds), "{how:?}");
}

fn compare_relaxation<P>(cluster: &mut Cluster, setting: &Setting<'_>, program: &P)
where
    P: Relaxation<Label: PartialEq + Debug> + Clone,
{
    let (expected, _) = serial(setting.graph, Limits::default(), program);
    for pacing in [Pacing::default(), Pacing::AT_ONCE] {
        let limits = Limits::default();
        let how = How { pacing, limits, ..setting.how };
        let (found, report) = run_relaxation(cluster, setting.parts, how, program);
        assert_eq!(found, expected, "{how:?}, {}", setting.policy);
        assert!(report.converged);
    }
}

fn compare_all(cluster: &mut Cluster, setting: &Setting<'_>) {
    for edges in [Edges::Out, Edges::In, Edges::Both] {
        compare(cluster, setting, &Tokens { edges, ..Tokens::<Sum<u64>>::new(5) });
        compare(cluster, setting, &Tokens { edges, ..Tokens::<Or<u64>>::new(5) });
        compare_relaxation(cluster, setting, &Reach(edges));
        compare_relaxation(cluster, setting, &Greatest(edges));
        compare_relaxation(cluster, setting, &Near(edges));
    }
    let few = |vertex| (vertex % 7 == 1).then_some(1u64 << (vertex % 13));
    compare(cluster, setting, &Tokens { start: few, ..Tokens::<Min<u64>>::new(5) });
    compare(cluster, setting, &Tokens { stationary: true, ..Tokens::<Sum<u64>>::new(5) });
    compare(cluster, setting, &Tokens { stationary: true, ..Tokens::<Max<u64>>::new(5) });
    compare_relaxation(cluster, setting, &Hops);
}

#[test]
fn devices_alone_and_beside_ordinary_hosts() {
    let graph = graph();
    for hosts in [1, 2, 3, 4, 7] {
        let mut cluster = local(hosts);
        for (number, policy) in all_policies().into_iter().enumerate() {
            let parts = partition(&graph, policy, hosts);
            let optimize = Optimize::NAMES[(number + hosts) % 4].1;
            for devices in [Devices::Mixed, Devices::All] {
                let how = How { devices, optimize, ..How::new(engines::PUSH) };
                let setting = Setting { graph: &graph, parts: &parts, how, policy };
                compare_all(&mut cluster, &setting);
            }
        }
    }
}

#[test]
fn devices_on_a_simulated_network() {
    let graph = graph();
    let mut cluster = Cluster::sim(3, 0);
    for seed in 0..20 {
        cluster.set_seed(seed);
        let policies = all_policies();
        let policy = policies[seed as usize % policies.len()];
        let parts = partition(&graph, policy, 3);
        let optimize = Optimize::NAMES[seed as usize % 4].1;
        let how = How { devices: Devices::Mixed, optimize, ..How::new(engines::PUSH) };
        compare_all(&mut cluster, &Setting { graph: &graph, parts: &parts, how, policy });
    }
}

/// Whatever call a device is lost in, the run ends on every host with the device's own error as the cause.
#[test]
fn a_lost_device_ends_the_run() {
    let graph = graph();
    let parts = partition(&graph, "cvc", 3);
    let mut was_lost = 0;
    for calls in 0..200 {
        let run_host = |part: &Partition, substrate: &mut Substrate<'_>| -> Result<(), Error> {
            let calls = if part.host().index() == 1 { calls } else { u64::MAX };
            let mut engine = DeviceRelaxation::new(&Hops, part, calls);
            run(&mut engine, substrate, Pacing::default(), Limits::default(), &mut ()).map(drop)
        };
        let launched = local(3).launch(|net| {
            let part = &parts[net.host().index()];
            run_host(part, &mut Substrate::new(part, net, Optimize::ALL))
        });
        match launched {
            Ok(_) => break,
            Err(LaunchError::Failed { error: Error::Device { .. }, .. }) => was_lost += 1,
            Err(error) => panic!("after {calls} calls: {error}"),
        }
    }
    assert!((5..200).contains(&was_lost), "{was_lost} calls, then the run is over");
}
