//! Graphs that hosts make fit, each its own rows: the same as if the whole had been changed before.

use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_graph::tidy::Tidy;
use parton_graph::{Csr, Direction, Graph, LocalId, Weight, WeightKind, with_csr};
use parton_net::Cluster;
use parton_partition::{Fit, Input, Partition, Plan};

/// All edges with their weights, in order.
fn edges_of(graph: &Graph) -> Vec<(u64, u64, u64)> {
    let mut edges = Vec::new();
    with_csr!(&graph.adjacency, csr => for source in csr.vertices() {
        for (target, weight) in csr.edges(source) {
            edges.push((u64::from(source.0), u64::from(target.0), weight.to_f64().to_bits()));
        }
    });
    edges.sort_unstable();
    edges
}

fn edges_on(parts: &[Partition]) -> Vec<(u64, u64, u64)> {
    let mut edges = Vec::new();
    for part in parts {
        with_csr!(part.out_edges(), csr => for source in csr.vertices() {
            for (target, weight) in csr.edges(source) {
                let ends = [source, target].map(|local: LocalId| part.global(local).0);
                edges.push((ends[0], ends[1], weight.to_f64().to_bits()));
            }
        });
    }
    edges.sort_unstable();
    edges
}

fn graphs() -> Vec<Graph> {
    let generated = |spec: &str| Spec::parse(spec).unwrap().generate(&Silent).unwrap();
    let weights = Weights::parse("random:1..9,5").unwrap();
    let loops = [(0, 1, 5u32), (0, 1, 3), (1, 1, 2), (2, 0, 7), (0, 2, 6), (3, 3, 1)];
    let mut symmetric = Graph::dense(Csr::from_edges(5, &loops), "").undirected();
    symmetric.direction = Direction::Directed;
    vec![
        Graph::dense(Csr::<()>::from_edges(0, &[]), ""),
        Graph::dense(Csr::from_edges(1, &[(0, 0, ())]), ""),
        Graph::dense(Csr::from_edges(5, &loops), ""),
        symmetric,
        generated("rmat:8,6"),
        generated("rmat:8,6").reweighed(&weights),
        generated("grid:7x5"),
        generated("star:40"),
    ]
}

#[test]
fn hosts_change_their_own_rows() {
    for hosts in [1, 2, 3, 7] {
        let mut cluster = Cluster::local(hosts).threads_per_host(2);
        for graph in graphs() {
            for (undirected, simple) in [(false, true), (true, false), (true, true)] {
                let fit = Fit { undirected, simple, weights: true };
                let tidy = if simple { Tidy::SIMPLE } else { Tidy::default() };
                let expected = graph.clone().tidied(Tidy { undirected, ..tidy });
                let input = Input::from(graph.clone()).fitted(fit);
                let build = |net: &mut _| Partition::build(net, &input, &Plan::new("cvc"));
                let parts = cluster.launch(build).unwrap();
                assert_eq!(edges_on(&parts), edges_of(&expected), "{hosts} hosts, {fit:?}");
                for part in &parts {
                    assert_eq!(part.is_simple(), simple);
                    assert!(part.is_symmetric() || !undirected);
                    assert_eq!(part.changes(), parts[0].changes(), "the same on all hosts");
                }
                let changed = edges_of(&graph) != edges_of(&expected);
                assert_eq!(!parts[0].changes().is_empty(), changed, "{:?}", parts[0].changes());
            }
        }
    }
}

#[test]
fn weights_are_dropped_and_files_remember() {
    let graph = graphs().swap_remove(5);
    let fit = Fit { undirected: true, simple: true, weights: false };
    let input = Input::from(graph).fitted(fit);
    let folder = tempfile::tempdir().unwrap();
    for policy in ["oec", "iec", "dual"] {
        let saved = Cluster::local(3).launch(|net| {
            let part = Partition::build(net, &input, &Plan::new(policy))?;
            part.save(net, folder.path(), policy)?;
            net.barrier()?;
            Partition::load(net, folder.path()).map(|again| (part, again))
        });
        for (part, again) in saved.unwrap() {
            // By whichever end edges came, they are saved.
            assert_eq!(again.in_edges_at_hand(), part.in_edges_at_hand());
            assert_eq!(again.in_edges_at_hand().is_some(), policy == "iec");
            assert_eq!(part.edges().weight_kind(), WeightKind::None);
            assert_eq!(part.changes()[0], "weights are ignored");
            assert_eq!((again.is_simple(), again.is_symmetric()), (true, true));
            assert_eq!(again.out_edges(), part.out_edges());
            assert_eq!(again.in_edges_of_masters(), part.in_edges_of_masters());
            assert_eq!(again.in_edges_of_masters().is_some(), policy == "dual");
        }
    }
}

/// All neighbours of a master beside it, whatever the policy.
#[test]
fn neighbourhoods_are_whole() {
    let simple = Fit { undirected: false, simple: true, weights: true };
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for graph in graphs() {
            for policy in ["oec", "iec", "dual", "cvc", "hvc", "random"] {
                for undirected in [true, false] {
                    let fit = Fit { undirected, ..simple };
                    let input = Input::from(graph.clone()).fitted(fit);
                    let tidied = graph.clone().tidied(Tidy { undirected, ..Tidy::SIMPLE });
                    let mut expected: Vec<_> = edges_of(&tidied)
                        .into_iter()
                        .flat_map(|(a, b, _)| [(a, b), (b, a)])
                        .collect();
                    expected.sort_unstable();
                    let hosts = cluster.launch(|net| {
                        let part = Partition::build(net, &input, &Plan::new(policy))?;
                        let near = part.neighbourhoods(net)?;
                        let whole = near.partition();
                        let mut edges = Vec::new();
                        with_csr!(whole.out_edges(), csr => for source in csr.vertices() {
                            assert!(csr.degree(source) == 0 || source.index() < whole.num_masters());
                            for (target, weight) in csr.edges(source) {
                                let ends = [source, target].map(|local| whole.global(local).0);
                                // Where both directions were there, an edge is expected twice.
                                let times = if near.is_counted() { weight.to_f64() as usize } else { 2 };
                                edges.extend(std::iter::repeat_n((ends[0], ends[1]), times));
                            }
                        });
                        Ok::<_, parton_partition::Error>(edges)
                    });
                    let mut found: Vec<_> = hosts.unwrap().concat();
                    found.sort_unstable();
                    assert_eq!(found, expected, "{policy}, undirected: {undirected}");
                }
            }
        }
    }
}
