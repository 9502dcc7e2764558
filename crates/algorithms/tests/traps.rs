//! What has gone wrong in graph algorithms over many hosts, one test each; the numbers are those
//! of our list of traps. Those about the proxies of a vertex are in `parton-sync`.

use crate::common;

use common::nasty::graph_of;
use common::{How, Outcome, all_policies, run, same, try_run};
use parton_algorithms::bfs::{Bfs, BfsOptions};
use parton_algorithms::components::Components;
use parton_algorithms::pagerank::{Dangling, PageRank, PageRankOptions};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::{Algorithm, Fact, Id, Options, Root, Values};
use parton_engine::{Tally, engines};
use parton_graph::{Graph, with_csr};
use parton_net::Cluster;
use parton_partition::Input;

fn local(hosts: usize) -> Cluster {
    Cluster::local(hosts).threads_per_host(1)
}

fn find(
    cluster: &mut Cluster,
    graph: &Graph,
    policy: &str,
    algorithm: &dyn Algorithm,
    options: &Options,
) -> Outcome {
    let input = Input::from(graph.clone());
    let runs = [(algorithm, options.clone())];
    let outcome = run(cluster, &input, &runs, How::new(policy)).swap_remove(0);
    assert_eq!(outcome.complaint, None, "{} with {policy}", algorithm.name());
    outcome
}

/// The oracle's answer, for some policies and numbers of hosts.
fn agree(graph: &Graph, policies: &[&str], hosts: &[usize], algorithm: &dyn Algorithm) {
    // Fixed rounds, so that rounding cannot decide when ranks are final.
    let options = match algorithm.name() {
        "pagerank" => {
            let own = PageRankOptions { tolerance: 0.0, ..PageRankOptions::default() };
            Options { max_rounds: Some(30), ..Options::default() }.with(own)
        }
        _ => Options::default(),
    };
    let expected = algorithm.reference(graph, &options).expect("an oracle that answers");
    for &hosts in hosts {
        for policy in policies {
            let found = find(&mut local(hosts), graph, policy, algorithm, &options);
            let what = format!("{}, {policy}, {hosts} hosts", algorithm.name());
            assert!(same(&found.columns, &expected), "{what}: {:?}", found.columns);
        }
    }
}

fn from(root: &str) -> Options {
    Options::default().with(BfsOptions { root: Root::Original(root.into()) })
}

fn paths_from(root: &str) -> Options {
    let root = Root::Original(root.into());
    Options::default().with(SsspOptions { root, ..SsspOptions::default() })
}

fn transposed(graph: &Graph) -> Graph {
    with_csr!(&graph.adjacency, csr => Graph::dense(csr.transposed(), "turned"))
}

/// A hub that reaches all and is reached by all, with weights that differ by direction.
fn hub() -> Graph {
    let edges: Vec<_> =
        (1..40u32).flat_map(|v| [(0, v, v), (v, 0, 3), (v, v * 7 % 40, v * 5 % 11)]).collect();
    graph_of(40, &edges)
}

/// Grids of prime size are one host wide, and edges may point either way.
#[test]
fn trap_14_and_15_either_orientation_on_prime_numbers_of_hosts() {
    let edges: Vec<_> = (0..90u32).map(|i| (i * 13 % 50, i * i % 47, i % 9)).collect();
    let graph = graph_of(50, &edges);
    for graph in [transposed(&graph), graph] {
        for algorithm in [&Bfs as &dyn Algorithm, &Sssp, &Components, &PageRank] {
            agree(&graph, &["oec", "iec", "cvc", "hvc"], &[5, 6, 11, 13], algorithm);
        }
    }
}

/// Every host sums a part of the hub's in-edges; damping and dividing come after the sum is whole.
#[test]
fn trap_16_partial_sums_are_joined_before_they_are_used() {
    let policies = all_policies();
    agree(&hub(), &policies, &[2, 4, 7], &PageRank);
}

/// The root's edges are on many hosts, and each of its proxies starts.
#[test]
fn trap_20_every_proxy_of_the_root_starts() {
    for policy in all_policies() {
        let found = find(&mut local(6), &hub(), policy, &Bfs, &from("0"));
        let expected: Vec<u32> = (0..40).map(|v| u32::from(v > 0)).collect();
        assert_eq!(found.columns[0].values, Values::U32(expected), "{policy}");
        // Nothing comes later: all are found in the first round, and the second ends it.
        assert!(found.report.rounds.len() <= 2, "{policy}: {} rounds", found.report.rounds.len());
    }
    let lonely = graph_of(4, &[(0, 1, ()), (1, 2, ())]);
    let found = find(&mut local(3), &lonely, "cvc", &Bfs, &from("3"));
    assert_eq!(found.fact("reached"), &Fact::Integer(1));
    assert!(found.notes.iter().any(|note| note.contains("vertex 3 has no out-edges")));
    for missing in ["4", "-1", "", "x"] {
        let input = Input::from(lonely.clone());
        let runs: [(&dyn Algorithm, Options); 1] = [(&Bfs, from(missing))];
        let Err(error) = try_run(&mut local(3), &input, &runs, How::new("cvc")) else {
            panic!("there is no vertex {missing:?}");
        };
        assert!(error.to_string().contains(&format!("no vertex {missing}")), "{error}");
    }
}

/// Of several vertices with the most out-edges the lowest; in-edges do not count, parallel ones do.
#[test]
fn trap_21_the_root_of_most_out_edges() {
    let to_0 = (1..9).map(|v| (v, 0, ()));
    let edges: Vec<_> =
        to_0.chain([(7, 1, ()), (7, 1, ()), (5, 2, ()), (5, 5, ()), (6, 3, ())]).collect();
    for policy in all_policies() {
        for hosts in [1, 3, 4] {
            let graph = graph_of(9, &edges);
            let found = find(&mut local(hosts), &graph, policy, &Bfs, &Options::default());
            assert_eq!(found.fact("root"), &Fact::Vertex(Some(Id::Integer(5))), "{policy}");
            let found =
                find(&mut local(hosts), &transposed(&graph), policy, &Bfs, &Options::default());
            assert_eq!(found.fact("root"), &Fact::Vertex(Some(Id::Integer(0))), "{policy}, turned");
        }
    }
}

/// Vertices without edges have values, on hosts without edges too, and without vertices.
#[test]
fn trap_22_lone_vertices_and_empty_hosts() {
    let graph = graph_of(12, &[(3, 9, 2u32)]);
    for algorithm in [&Bfs as &dyn Algorithm, &Sssp, &Components, &PageRank] {
        agree(&graph, &all_policies(), &[1, 5, 16], algorithm);
    }
}

/// Components follow edges both ways, also where the graph has them one way only.
#[test]
fn trap_23_components_of_a_directed_graph() {
    let inward = graph_of(9, &[(8, 4, ()), (6, 4, ()), (6, 2, ()), (1, 2, ()), (7, 3, ())]);
    for graph in [transposed(&inward), inward] {
        for hosts in [1, 2, 5] {
            let found = find(&mut local(hosts), &graph, "hvc", &Components, &Options::default());
            let expected = vec![0, 1, 1, 3, 1, 5, 1, 3, 1];
            assert_eq!(found.columns[0].values, Values::Vertices(expected));
            assert_eq!(found.fact("count"), &Fact::Integer(4));
            assert_eq!(found.fact("largest"), &Fact::Integer(5));
        }
    }
}

/// Distances as large as what stands for "out of reach" in 32 bits, and larger: none wraps, none
/// is taken for unreached.
#[test]
fn trap_24_distances_beyond_32_bits() {
    let most = u32::MAX;
    let graph = graph_of(5, &[(0, 1, most), (1, 2, most), (2, 3, most), (0, 2, most - 1)]);
    for hosts in [1, 3] {
        let found = find(&mut local(hosts), &graph, "cvc", &Sssp, &paths_from("0"));
        let most = u64::from(most);
        let expected = vec![0, most, most - 1, 2 * most - 1, u64::MAX];
        assert_eq!(found.columns[0].values, Values::U64(expected));
        assert_eq!(found.fact("reached"), &Fact::Integer(4));
        assert_eq!(found.fact("max"), &Fact::Integer(2 * most - 1));
    }
}

/// What hosts count together does not wrap to "nothing left to do".
#[test]
fn trap_25_counts_of_all_hosts_are_wide() {
    let (active, edges, sums) = (1 << 31, u64::MAX / 2, [0.5; 4]);
    let many = Tally { active, changed: active, edges, sums, ..Tally::default() };
    let all = many.plus(many);
    assert_eq!((all.active, all.changed), (1 << 32, 1 << 32));
    assert_eq!((all.edges, all.sums), (u64::MAX - 1, [1.0; 4]));
}

/// A run that was cut short says so.
#[test]
fn trap_26_a_limit_is_never_silent() {
    let chain: Vec<_> = (0..30).map(|v| (v, v + 1, ())).collect();
    let graph = graph_of(31, &chain);
    for (max_rounds, converged) in [(Some(4), false), (None, true)] {
        let engine = Some(engines::FRONTIER);
        let options = Options { max_rounds, engine, ..from("0") };
        let input = Input::from(graph.clone());
        let runs: [(&dyn Algorithm, Options); 1] = [(&Bfs, options)];
        let outcome = run(&mut local(3), &input, &runs, How::new("oec")).swap_remove(0);
        assert_eq!(outcome.report.converged, converged);
        assert_eq!(outcome.complaint.is_none(), converged, "what is unfinished is not right");
        assert_eq!(outcome.report.rounds.len(), if converged { 30 } else { 4 });
    }
}

/// Ranks are the same to the last bit in every run, for any number of threads, on any network.
#[test]
fn trap_27_ranks_are_the_same_to_the_last_bit() {
    let edge = |i: u32| (i.wrapping_mul(2_654_435_761) % 900 / (1 + i % 5), i * 7 % 1000, ());
    let graph = graph_of(1000, &(0..30_000).map(edge).collect::<Vec<_>>());
    for engine in PageRank.engines() {
        let options = Options { engine: Some(*engine), max_rounds: Some(8), ..Options::default() };
        for (hosts, policy) in [(1, "oec"), (3, "hvc")] {
            let ranks = |cluster: &mut Cluster| -> Vec<u64> {
                let found = find(cluster, &graph, policy, &PageRank, &options);
                let Values::F64(ranks) = &found.columns[0].values else {
                    panic!("ranks are real numbers")
                };
                ranks.iter().map(|rank| rank.to_bits()).collect()
            };
            let expected = ranks(&mut local(hosts));
            for threads in 1..=3 {
                let mut cluster = Cluster::local(hosts).threads_per_host(threads);
                for run in 0..7 {
                    assert!(ranks(&mut cluster) == expected, "{engine:?}, {threads}, run {run}");
                }
            }
            for seed in 0..5 {
                let found = ranks(&mut Cluster::sim(hosts, seed));
                assert!(found == expected, "{engine:?}, {policy}, seed {seed}");
            }
        }
    }
}

/// Which definition of ranks: they are 1 in all unless rank is dropped, and scale with all vertices.
#[test]
fn trap_28_ranks_are_as_defined() {
    // Vertex 2 passes nothing on.
    let graph = graph_of(4, &[(0, 1, ()), (0, 2, ()), (1, 0, ()), (3, 2, ()), (3, 3, ())]);
    let total = |own: PageRankOptions| {
        let options = Options::default().with(own);
        match find(&mut local(3), &graph, "hvc", &PageRank, &options).fact("sum") {
            Fact::Real(sum) => *sum,
            other => panic!("a sum of {other:?}"),
        }
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-5;
    let usual = PageRankOptions::default();
    assert!(close(total(usual.clone()), 1.0));
    assert!(close(total(PageRankOptions { unnormalized: true, ..usual.clone() }), 4.0));
    assert!(total(PageRankOptions { dangling: Dangling::Drop, ..usual }) < 0.9);
}

/// Edges without weights count 1, and a weight that no path may have is an error that names it.
#[test]
fn trap_38_weights_that_are_missing_or_wrong() {
    let edges = [(0, 1), (1, 2), (0, 2), (2, 3)];
    let plain = graph_of(5, &edges.map(|(s, d)| (s, d, ())));
    let unit = graph_of(5, &edges.map(|(s, d)| (s, d, 1u32)));
    let negative = graph_of(5, &edges.map(|(s, d)| (s, d, if d == 3 { -0.5f64 } else { 1.0 })));
    for hosts in [1, 3] {
        let of = |graph: &Graph, algorithm: &dyn Algorithm, options| {
            find(&mut local(hosts), graph, "iec", algorithm, &options).columns[0].values.clone()
        };
        let levels = of(&plain, &Bfs, from("0"));
        assert_eq!(of(&plain, &Sssp, paths_from("0")), levels);
        assert_eq!(of(&unit, &Sssp, paths_from("0")), levels);
        let runs: [(&dyn Algorithm, Options); 1] = [(&Sssp, paths_from("0"))];
        let input = Input::from(negative.clone());
        let Err(error) = try_run(&mut local(hosts), &input, &runs, How::new("iec")) else {
            panic!("weights of at least 0");
        };
        assert!(error.to_string().contains("weight -0.5"), "{error}");
    }
}
