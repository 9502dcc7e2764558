//! What hosts that compute on devices send each other, beside what processors send with the same policy and
//! engine: in every round the same bytes, where rounds follow from the program alone.

use parton_algorithms::bfs::Bfs;
use parton_algorithms::components::Components;
use parton_algorithms::pagerank::PageRank;
use parton_algorithms::sssp::Sssp;
use parton_algorithms::{Algorithm, Options};
use parton_engine::{EngineInfo, engines};
use parton_graph::Graph;
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_net::Cluster;
use parton_partition::Input;

use crate::common::{Devices, How, all_policies, run};

#[test]
fn explore() {
    let engines: [&EngineInfo; 5] =
        [engines::FRONTIER, engines::PULL, engines::PUSH, engines::DELTA, engines::UNION];
    let algorithms: [&dyn Algorithm; 4] = [&Bfs, &Sssp, &Components, &PageRank];
    for algorithm in algorithms {
        for engine in engines.iter().filter(|e| algorithm.engines().contains(e)) {
            let (mut same, mut rounds, mut total, mut first) = (0, 0, 0, None);
            for (number, policy) in all_policies().into_iter().enumerate() {
                let hosts = [2, 3, 4][number % 3];
                let mut cluster = Cluster::local(hosts).threads_per_host(1);
                let spec =
                    ["rmat:8,8", "grid:9x8,permute", "uniform:300,900", "rmat:7,30"][number % 4];
                let graph = Spec::parse(spec).and_then(|s| s.generate(&Silent)).unwrap();
                let graph: Graph = if number % 2 == 1 { graph.undirected() } else { graph };
                let mut options = Options { engine: Some(*engine), ..Options::default() };
                if algorithm.name() == "pagerank" {
                    options.max_rounds = Some(7);
                }
                let input = Input::from(graph).fitted(algorithm.needs(&options).fit());
                let one = [(algorithm, options)];
                let mut sent = |devices| {
                    let how = How { devices, ..How::new(policy) };
                    let report = run(&mut cluster, &input, &one, how).swap_remove(0).report;
                    report.rounds.iter().map(|r| r.sent.total()).collect::<Vec<_>>()
                };
                let (cpu, gpu) = (sent(Devices::None), sent(Devices::All));
                total += 1;
                same += usize::from(cpu == gpu);
                rounds += usize::from(cpu.len() == gpu.len());
                if cpu != gpu && first.is_none() {
                    first = Some((spec, policy, hosts, cpu, gpu));
                }
            }
            println!(
                "{} {}: same {same} rounds {rounds} of {total}; {first:?}",
                algorithm.name(),
                engine.name
            );
        }
    }
}
