//! The example with somebody else's graph library finds what the serial oracle finds.

#[path = "../examples/own_engine.rs"]
#[allow(dead_code)]
mod own_engine;

use parton::graph::generate::Spec;
use parton::graph::progress::Silent;
use parton::graph::reweigh::Weights;
use parton::graph::{GlobalId, Graph, LocalId};
use parton::net::{Cluster, Net};
use parton::partition::{Input, Partition, Plan, policies};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::{Algorithm, Options, Root, Values};

fn expected(graph: &Graph, root: u64) -> Vec<u32> {
    let root = Root::Original(root.to_string());
    let options = Options::default().with(SsspOptions { root, ..SsspOptions::default() });
    let columns = Sssp.reference(graph, &options).expect("an oracle that answers");
    match &columns[0].values {
        Values::U32(distances) => distances.clone(),
        other => panic!("short distances, not {other:?}"),
    }
}

#[test]
fn petgraph_on_four_hosts_agrees_with_the_oracle() {
    let mut cluster = Cluster::local(4).threads_per_host(1);
    for spec in ["rmat:10", "grid:30x20", "uniform:500,600", "path:40", "star:50"] {
        let graph = Spec::parse(spec).expect("a spec").generate(&Silent).expect("a graph");
        let graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 7 });
        let input = Input::from(graph.clone());
        for kind in policies::ALL.iter().filter(|kind| kind.argument.is_none()) {
            for root in [0, graph.num_vertices() as u64 / 2] {
                let search = |net: &mut Net| {
                    let part = Partition::build(net, &input, &Plan::new(kind.name))?;
                    let distances = own_engine::search(net, &part, GlobalId(root))?;
                    let vertices = (0..).map(|local| part.global(LocalId(local)).0 as usize);
                    Ok::<_, own_engine::Error>(vertices.zip(distances).collect::<Vec<_>>())
                };
                let hosts = cluster.launch(search).unwrap_or_else(|e| panic!("{spec}: {e}"));
                let mut found = vec![None; graph.num_vertices()];
                for (vertex, distance) in hosts.concat() {
                    assert_eq!(found[vertex].replace(distance), None, "one master each");
                }
                let expected: Vec<_> = expected(&graph, root).into_iter().map(Some).collect();
                assert_eq!(found, expected, "{spec}, {}, root {root}", kind.name);
            }
        }
    }
}
