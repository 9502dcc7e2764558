//! Every partition of every graph by every policy over any number of hosts has what a partition
//! must have, and is the same on every run, for any number of threads, on any transport.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use parton_graph::formats::{self, WriteOptions};
use parton_graph::row_blocks::RowBlocks;
use parton_graph::{Adjacency, Csr, Direction, GlobalId, Graph, LocalId, Weight, with_csr};
use parton_net::{Cluster, HostId};
use parton_partition::{End, Fit, Input, Order, Partition, Plan, policies};
use proptest::prelude::*;

/// Every policy that needs no file.
fn all_policies() -> Vec<&'static str> {
    policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect()
}

fn build(cluster: Cluster, input: &Input, plan: &Plan) -> Vec<Partition> {
    let mut cluster = cluster;
    let parts = cluster.launch(|net| Partition::build(net, input, plan));
    parts.unwrap_or_else(|e| panic!("{plan:?}: {e}"))
}

type Edge = (u64, u64, u64);

/// Rows as pairs of what `global` calls their ends, with the bits of their weights.
fn pairs(adjacency: &Adjacency, global: impl Fn(LocalId) -> u64) -> Vec<Edge> {
    with_csr!(adjacency, csr => {
        let of = |v: LocalId| csr.edges(v).map(move |(t, w)| (v, t, w.to_f64().to_bits())).collect::<Vec<_>>();
        csr.vertices().flat_map(of).map(|(v, t, w)| (global(v), global(t), w)).collect()
    })
}

/// A host's edges between global ids.
fn edges_of(part: &Partition) -> Vec<Edge> {
    pairs(part.out_edges(), |v| part.global(v).0)
}

/// All in-edges of a host's masters between global ids, if it keeps them.
fn in_edges_of(part: &Partition) -> Vec<Edge> {
    let turned = part.in_edges_of_masters().map(|edges| pairs(edges, |v| part.global(v).0));
    turned.unwrap_or_default().into_iter().map(|(v, source, w)| (source, v, w)).collect()
}

fn edges_of_graph(graph: &Graph) -> Vec<Edge> {
    pairs(&graph.adjacency, |v| u64::from(v.0))
}

fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_unstable();
    edges
}

/// Checks everything that makes parts a partition of `graph`.
fn check(graph: &Graph, parts: &[Partition], order: Order) {
    let hosts = parts.len();
    let vertices = graph.num_vertices() as u64;
    let expected = edges_of_graph(graph);
    let all: Vec<Edge> = parts.iter().flat_map(edges_of).collect();
    assert_eq!(sorted(all), sorted(expected.clone()), "every edge on exactly one host");

    let mut master_of = BTreeMap::new();
    for part in parts {
        assert_eq!((part.num_vertices(), part.num_edges()), (vertices, graph.num_edges()));
        assert_eq!(part.num_hosts(), hosts);
        for local in 0..part.num_masters() as u32 {
            let before = master_of.insert(part.global(LocalId(local)).0, part.host());
            assert_eq!(before, None, "one master each");
        }
    }
    assert!(master_of.keys().copied().eq(0..vertices), "every vertex has a master");
    if parts[0].in_edges_of_masters().is_some() {
        let all: Vec<Edge> = parts.iter().flat_map(in_edges_of).collect();
        assert_eq!(sorted(all), sorted(expected.clone()), "every edge once more");
        for part in parts {
            assert!(edges_of(part).iter().all(|edge| master_of[&edge.0] == part.host()));
            assert!(in_edges_of(part).iter().all(|edge| master_of[&edge.1] == part.host()));
        }
    }

    let read: BTreeSet<u64> = expected.iter().map(|e| e.0).collect();
    let written: BTreeSet<u64> = expected.iter().map(|e| e.1).collect();
    for part in parts {
        check_layout(part, order, &master_of, &read, &written);
        for peer in parts {
            check_routes(part, peer);
        }
    }
}

fn check_layout(
    part: &Partition,
    order: Order,
    master_of: &BTreeMap<u64, HostId>,
    read: &BTreeSet<u64>,
    written: &BTreeSet<u64>,
) {
    let edges = edges_of(part);
    let [read_here, written_here] = ends_here(part);
    let globals: Vec<u64> =
        (0..part.num_proxies() as u32).map(|local| part.global(LocalId(local)).0).collect();
    let (masters, mirrors) = globals.split_at(part.num_masters());

    if part.num_hosts() == 1 && order == Order::Original {
        // A host that is alone may take the graph as it is.
        let ends = part.master_parts();
        if [ends.both, ends.read, ends.written].iter().all(|end| *end == ends.all) {
            assert!(masters.iter().copied().eq(0..master_of.len() as u64));
            return;
        }
    }
    // Masters in four parts by what they are anywhere; in each they ascend, or their degrees fall.
    let class = |v: &u64| match (read.contains(v), written.contains(v)) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    };
    let degree = |v: &u64| match order {
        Order::Original => 0,
        Order::Degree => edges.iter().map(|e| u32::from(e.0 == *v) + u32::from(e.1 == *v)).sum(),
    };
    let order: Vec<_> = masters.iter().map(|v| (class(v), Reverse(degree(v)), *v)).collect();
    assert!(order.is_sorted_by(|a, b| a < b), "masters by part, then degree, then id");
    let ends = part.master_parts();
    let count = |class: u32| order.iter().filter(|(c, ..)| *c <= class).count() as u32;
    assert_eq!([ends.both, ends.read, ends.written, ends.all], [0, 1, 2, 3].map(count));

    // A mirror exists if and only if an edge needs it; mirrors by master, part and id.
    let needed: BTreeSet<u64> = read_here.union(&written_here).copied().collect();
    let expected: BTreeSet<u64> =
        needed.into_iter().filter(|v| master_of[v] != part.host()).collect();
    assert_eq!(mirrors.iter().copied().collect::<BTreeSet<_>>(), expected);
    let class = |v: &u64| match (written_here.contains(v), read_here.contains(v)) {
        (true, false) => 0,
        (true, true) => 1,
        _ => 2,
    };
    let order: Vec<_> = mirrors.iter().map(|v| (master_of[v], class(v), *v)).collect();
    assert!(order.is_sorted_by(|a, b| a < b), "mirrors by master, part and id");
    for peer in HostId::all(part.num_hosts()) {
        let parts = part.routes(peer).mirror_parts();
        let count = |c: u32| order.iter().filter(|o| (o.0, o.1) == (peer, c)).count() as u32;
        assert_eq!([parts.written, parts.both, parts.read], [0, 1, 2].map(count));
    }
}

/// Vertices at the source of an edge of this host, and those at a destination. They are not told apart
/// where masters have all their edges.
fn ends_here(part: &Partition) -> [BTreeSet<u64>; 2] {
    let edges = [edges_of(part), in_edges_of(part)].concat();
    let ends = [edges.iter().map(|e| e.0).collect(), edges.iter().map(|e| e.1).collect()];
    match part.in_edges_of_masters() {
        Some(_) => [&ends[0] | &ends[1], &ends[0] | &ends[1]],
        None => ends,
    }
}

fn check_routes(part: &Partition, peer: &Partition) {
    let mine = part.routes(peer.host());
    let theirs = peer.routes(part.host());
    let [read_here, written_here] = ends_here(part);
    for end in [End::Source, End::Destination, End::Either] {
        let mirrors: Vec<_> = mine.mirrors(end).map(|local| part.global(LocalId(local))).collect();
        let masters: Vec<_> = theirs.masters(end).iter().map(|&local| peer.global(local)).collect();
        assert_eq!(mirrors, masters, "both ends list the same vertices in the same order");
        // The list has exactly the vertices at such an end.
        let belongs = |id: &GlobalId| match end {
            End::Source => read_here.contains(&id.0),
            End::Destination => written_here.contains(&id.0),
            End::Either => true,
        };
        let all = mine.mirrors(End::Either).map(|local| part.global(LocalId(local)));
        assert_eq!(mirrors, all.filter(belongs).collect::<Vec<_>>());
    }
    // By search, and by the lookup for callers that ask often.
    let listed = theirs.masters(End::Either);
    let places: BTreeMap<_, _> = listed.iter().copied().zip(0..).collect();
    for search in [true, false] {
        let are_few = |costs| costs < 100 || search;
        let finder = || theirs.finder(are_few, peer.globals());
        let finder = std::iter::repeat_with(finder).find_map(|made| made).expect("in time");
        for master in (0..peer.num_masters() as u32).map(LocalId) {
            assert_eq!(finder.place_of(master), places.get(&master).copied(), "search: {search}");
        }
    }
}

/// What a host holds, as text that differs if anything does.
fn print(parts: &[Partition]) -> Vec<String> {
    let globals = |part: &Partition| -> Vec<u64> {
        (0..part.num_proxies() as u32).map(|l| part.global(LocalId(l)).0).collect()
    };
    parts
        .iter()
        .map(|p| {
            let routes: Vec<_> = HostId::all(p.num_hosts()).map(|h| p.routes(h).clone()).collect();
            let edges = (p.out_edges(), p.in_edges_of_masters());
            format!("{:?} {:?} {edges:?} {routes:?}", p.master_parts(), globals(p))
        })
        .collect()
}

fn graph_of(vertices: usize, edges: &[(u32, u32)]) -> Graph {
    let weighted: Vec<_> = edges.iter().zip(1u32..).map(|(&(s, d), w)| (s, d, w)).collect();
    Graph::dense(Csr::from_edges(vertices, &weighted), "test")
}

fn nasty_graphs() -> Vec<Graph> {
    let star: Vec<_> = (1..40).map(|v| (0, v)).collect();
    let chain: Vec<_> = (0..30).map(|v| (v, v + 1)).collect();
    let hub: Vec<_> = (0..200).map(|v| (v % 3, v % 50)).chain((0..50).map(|v| (v, 7))).collect();
    vec![
        graph_of(0, &[]),
        graph_of(1, &[]),
        graph_of(1, &[(0, 0)]),
        graph_of(5, &[]),
        graph_of(2, &[(1, 0)]),
        graph_of(3, &[(0, 1), (0, 1), (1, 1), (2, 2), (1, 0)]),
        graph_of(40, &star),
        graph_of(31, &chain),
        graph_of(60, &hub),
        graph_of(60, &hub).undirected(),
    ]
}

fn plan(policy: &str) -> Plan {
    // A low threshold, so that small graphs have large vertices.
    Plan { threshold: 4, ..Plan::new(policy) }
}

#[test]
fn nasty_graphs_over_many_hosts() {
    for graph in nasty_graphs() {
        let input = Input::from(graph.clone());
        for policy in all_policies() {
            for hosts in [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17] {
                for order in [Order::Original, Order::Degree] {
                    let plan = Plan { order, ..plan(policy) };
                    let parts = build(Cluster::local(hosts).threads_per_host(1), &input, &plan);
                    check(&graph, &parts, order);
                }
            }
        }
    }
}

/// In-edges that a file keeps do instead of those that would have to travel, or be turned around.
#[test]
fn in_edges_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.parton");
    for graph in nasty_graphs() {
        for in_edges in [true, false] {
            let options = WriteOptions { in_edges, ..WriteOptions::default() };
            formats::write(&graph, &path, None, &options).unwrap();
            let file = Input::open(path.to_str().unwrap()).unwrap();
            for hosts in [2, 3, 7] {
                let build = |policy: &str, order| {
                    let plan = Plan { order, ..plan(policy) };
                    build(Cluster::local(hosts).threads_per_host(1), &file, &plan)
                };
                check(&graph, &build("dual", Order::Original), Order::Original);
                let are_kept = in_edges || graph.direction == Direction::Undirected;
                for order in [Order::Original, Order::Degree] {
                    let parts = build("iec", order);
                    for part in &parts {
                        assert_eq!(part.in_edges_at_hand().is_some(), are_kept);
                        assert_eq!(part.out_edges_at_hand().is_some(), !are_kept);
                        let turned = pairs(part.in_edges(), |v| part.global(v).0);
                        let turned = turned.into_iter().map(|(v, source, w)| (source, v, w));
                        assert_eq!(sorted(turned.collect()), sorted(edges_of(part)));
                    }
                    check(&graph, &parts, order);
                }
            }
        }
    }
}

/// Row blocks that a file keeps come to a host that is alone, as long as edges stay as they are.
#[test]
fn row_blocks_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.parton");
    let graph =
        Graph::dense(Csr::from_edges(3, &[(0, 1, 7u32), (1, 2, 8), (1, 2, 9), (2, 1, 1)]), "");
    // The steps from source to source in the upper half, rows in the lower.
    let entries = [1, 1 << 16 | 2, 2, 1 << 16 | 1];
    let blocks = RowBlocks::new([(0..3, &entries[..])]);
    let options = WriteOptions { row_blocks: Some(&blocks), ..WriteOptions::default() };
    formats::write(&graph, &path, None, &options).unwrap();
    let kept = |hosts: usize, fit: Fit, order| {
        let file = Input::open(path.to_str().unwrap()).unwrap().fitted(fit);
        let plan = Plan { order, ..plan("oec") };
        let parts = build(Cluster::local(hosts).threads_per_host(1), &file, &plan);
        let blocks = parts[0].row_blocks().unwrap();
        if let Some(blocks) = &blocks {
            assert_eq!(blocks[..], [(0..3, &entries[..])]);
        }
        blocks.is_some()
    };
    let as_it_is = Fit::AS_IT_IS;
    assert!(kept(1, as_it_is, Order::Original));
    assert!(kept(1, Fit { weights: false, ..as_it_is }, Order::Original));
    assert!(!kept(1, Fit { simple: true, ..as_it_is }, Order::Original));
    assert!(!kept(1, Fit { undirected: true, ..as_it_is }, Order::Original));
    assert!(!kept(1, as_it_is, Order::Degree));
    assert!(!kept(2, as_it_is, Order::Original));
}

/// Any master for every vertex, for `file:PATH`.
fn listed_masters(folder: &tempfile::TempDir, vertices: usize, hosts: usize, seed: u64) -> String {
    let path = folder.path().join(format!("{vertices}.part.{hosts}"));
    let host = |v: u64| (v.wrapping_mul(seed | 1) >> 7) % hosts as u64;
    let lines: String = (0..vertices as u64).map(|v| format!("{}\n", host(v))).collect();
    std::fs::write(&path, lines).unwrap();
    format!("file:{}", path.display())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_graphs(
        (vertices, edges) in (1..60usize).prop_flat_map(|n| {
            let id = 0..n as u32;
            (Just(n), prop::collection::vec((id.clone(), id), 0..150))
        }),
        hosts in 1..10usize,
        policy in 0..policies::ALL.len(),
        seed in any::<u64>(),
    ) {
        let graph = graph_of(vertices, &edges);
        let input = Input::from(graph.clone());
        let folder = tempfile::tempdir().unwrap();
        let policy = &policies::ALL[policy];
        let order = if seed % 2 == 0 { Order::Original } else { Order::Degree };
        let plan = match policy.argument {
            None => plan(policy.name),
            Some(_) => plan(&listed_masters(&folder, vertices, hosts, seed)),
        };
        let plan = Plan { order, ..plan };
        let parts = build(Cluster::local(hosts).threads_per_host(1), &input, &plan);
        check(&graph, &parts, order);
        let expected = print(&parts);
        prop_assert_eq!(&print(&build(Cluster::local(hosts).threads_per_host(3), &input, &plan)), &expected);
        prop_assert_eq!(&print(&build(Cluster::sim(hosts, seed), &input, &plan)), &expected);
    }
}

/// Small graphs with edges that look random.
fn random_looking(vertices: u32, edges: u32, seed: u32) -> Graph {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % vertices
    };
    graph_of(vertices as usize, &(0..edges).map(|_| (next(), next())).collect::<Vec<_>>())
}

#[test]
fn a_thousand_schedules_give_one_partition() {
    let folder = tempfile::tempdir().unwrap();
    let mut graphs = nasty_graphs();
    graphs.extend((1..6).map(|i| random_looking(7 * i, 25 * i, i)));
    let inputs: Vec<Input> = graphs.iter().cloned().map(Input::from).collect();
    // Seeds go through every policy on every graph, `file:PATH` too.
    let policies: Vec<_> = policies::ALL.iter().collect();
    let pairs = graphs.len() * policies.len();
    let mut expected: Vec<Option<Vec<String>>> = vec![None; pairs];
    let mut cluster = Cluster::local(3).threads_per_host(1);
    for seed in 0..1000 {
        let pair = seed as usize % pairs;
        let (graph, policy) = (pair / policies.len(), policies[pair % policies.len()]);
        let plan = match policy.argument {
            None => plan(policy.name),
            Some(_) => plan(&listed_masters(&folder, graphs[graph].num_vertices(), 3, 7)),
        };
        let input = &inputs[graph];
        let expected = expected[pair].get_or_insert_with(|| {
            print(&cluster.launch(|net| Partition::build(net, input, &plan)).unwrap())
        });
        let found = print(&build(Cluster::sim(3, seed), input, &plan));
        assert_eq!(&found, expected, "seed {seed}, graph {graph}, {}", policy.name);
    }
}
