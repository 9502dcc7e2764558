//! What hosts gain that do not wait for each other, in virtual time: as much as is promised beside a
//! slow host, and next to nothing is lost without one.

use parton_algorithms::{Error, Job, Options, by_name};
use parton_engine::Pace;
use parton_engine::simulated::{SimulatedHost, TIME_PER_MESSAGE};
use parton_engine::{EngineInfo, engines};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_net::{Cluster, SimOptions};
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

const HOSTS: usize = 4;

fn partition(spec: &str) -> Vec<Partition> {
    let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect(spec);
    let input = Input::from(graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 }));
    let parts =
        Cluster::local(HOSTS).launch(|net| Partition::build(net, &input, &Plan::new("oec")));
    parts.unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// Time of hosts that do not wait for each other over that of hosts that do, where host 1 takes
/// `slowness` times as long as others.
fn gain(
    parts: &[Partition],
    (algorithm, engine): (&str, &'static EngineInfo),
    slowness: f64,
) -> f64 {
    let algorithm = by_name(algorithm).expect("an algorithm");
    let calm =
        SimOptions { calm: Some(TIME_PER_MESSAGE), step_limit: u64::MAX, ..SimOptions::default() };
    let mut cluster = Cluster::sim_with(HOSTS, calm);
    let [basp, bsp] = [Pace::Basp, Pace::Bsp].map(|pace| {
        let options = Options { engine: Some(engine), pacing: pace.into(), ..Options::default() };
        let reports = cluster.launch(|net| -> Result<_, Error> {
            let host = net.host().index();
            let mut substrate = Substrate::new(&parts[host], net, Optimize::ALL);
            let watch = &mut SimulatedHost(if host == 1 { slowness } else { 1.0 });
            let mut job = Job { substrate: &mut substrate, options: &options, watch, device: None };
            Ok(algorithm.run(&mut job)?.report)
        });
        reports.unwrap_or_else(|e| panic!("{e}"))[0].seconds
    });
    basp / bsp
}

#[test]
fn a_slow_host_slows_others_down_less_than_in_rounds() {
    let promised = 1.0 / 1.5;
    for graph in ["grid:200x300", "grid:400x450", "web:100000,chains=500"] {
        let parts = partition(graph);
        for (run, most) in [
            (("bfs", engines::FRONTIER), promised),
            (("sssp", engines::FRONTIER), promised),
            (("sssp", engines::DELTA), promised),
            (("components", engines::PUSH), promised),
            // The slow host's own work alone is more than half of the time.
            (("bfs", engines::PUSH), 0.8),
        ] {
            let gain = gain(&parts, run, 4.0);
            assert!(gain <= most, "{graph}, {run:?}: {gain:.2} of the time in rounds");
        }
    }
}

#[test]
fn equal_hosts_lose_next_to_nothing_on_a_graph_of_few_levels() {
    // The first is too small to try how fast hosts are before the first round.
    for graph in ["rmat:12", "rmat:13", "rmat:15"] {
        let parts = partition(graph);
        for run in [
            ("bfs", engines::PUSH),
            ("bfs", engines::FRONTIER),
            ("sssp", engines::DELTA),
            ("sssp", engines::FRONTIER),
            ("components", engines::PUSH),
            ("components", engines::FRONTIER),
            ("components", engines::UNION),
        ] {
            let gain = gain(&parts, run, 1.0);
            assert!(gain <= 1.05, "{graph}, {run:?}: {gain:.2} of the time in rounds");
        }
    }
}
