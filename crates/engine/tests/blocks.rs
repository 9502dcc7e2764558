//! The engine of blocks: every edge is visited once, with both its ends, in the order it promises.

use std::sync::Mutex;

use parton_engine::engines::blocks::{BlockEngine, VisitOrder};
use parton_engine::sides::{Side, Sides};
use parton_engine::{EdgeProgram, Limits, Pacing, Tip, run};
use parton_graph::{Csr, GlobalId, Graph, LocalId};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Error, Optimize, Substrate};

const USERS: u32 = 500;
const ITEMS: u32 = 300;

/// Users with ratings of items; some edges twice, some vertices without any.
fn edges(count: u32) -> Vec<(u32, u32, u32)> {
    let edge = |i: u32| {
        let item = u64::from(i) * u64::from(i) * 31 + u64::from(i);
        ((i * 7919) % (USERS - 3), USERS + (item % u64::from(ITEMS - 5)) as u32, i)
    };
    (0..count).map(edge).collect()
}

/// Writes down the weights it sees, and counts at both ends.
struct Counting<'s> {
    seen: &'s Mutex<Vec<u32>>,
    rounds: u64,
}

impl EdgeProgram for Counting<'_> {
    fn width(&self) -> usize {
        2
    }

    fn init(&self, vertex: GlobalId, vector: &mut [f32]) {
        vector.copy_from_slice(&[vertex.0 as f32, 0.0]);
    }

    fn visit(&self, source: Tip<'_>, destination: Tip<'_>, weight: f32) -> f64 {
        source.vector[1] += 1.0;
        destination.vector[1] += 1.0;
        self.seen.lock().expect("no thread panicked").push(weight as u32);
        f64::from(weight)
    }

    fn conclude(&mut self, total: f64) -> bool {
        assert!(total > 0.0);
        self.rounds -= 1;
        self.rounds == 0
    }
}

#[test]
fn every_edge_is_visited_once_in_every_round() {
    // Few edges are one block, many are eight.
    for count in [40, 120_000] {
        let edges = edges(count);
        let graph = Graph::dense(Csr::from_edges((USERS + ITEMS) as usize, &edges), "test");
        let degree = |v: u32| edges.iter().filter(|(s, d, _)| *s == v || *d == v).count() as f32;
        let degrees: Vec<f32> = (0..USERS + ITEMS).map(degree).collect();
        let input = Input::from(graph);
        for (hosts, threads, policy) in [(1, 1, "oec"), (1, 3, "oec"), (3, 2, "cvc")] {
            let seen = Mutex::new(Vec::new());
            let mut cluster = Cluster::local(hosts).threads_per_host(threads);
            let launched = cluster.launch(|net| -> Result<_, Error> {
                let plan = Plan::new(policy);
                let partition = Partition::build(net, &input, &plan).expect("a partition");
                let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
                let sides = Sides::find(&mut substrate)?;
                let program = Counting { seen: &seen, rounds: 2 };
                let order = VisitOrder::new(partition.num_edges(), 3);
                let mut blocks = BlockEngine::new(program, &partition, &sides, order)?;
                let limits = Limits::default();
                let report = run(&mut blocks, &mut substrate, Pacing::default(), limits, &mut ())?;
                assert!(report.converged);
                assert_eq!(report.rounds.len(), 2);
                let masters = (0..partition.num_masters() as u32).map(LocalId);
                let known = masters.map(|master| {
                    let side = sides.of(master);
                    (partition.global(master).0, side, blocks.vector(master).to_vec())
                });
                Ok(known.collect::<Vec<_>>())
            });
            let mut seen = seen.into_inner().expect("no thread panicked");
            seen.sort_unstable();
            let twice: Vec<u32> = (0..count).flat_map(|i| [i, i]).collect();
            assert_eq!(seen, twice, "{hosts} hosts, {threads} threads");
            for (vertex, side, vector) in launched.expect("no host fails").into_iter().flatten() {
                let degree = degrees[vertex as usize];
                let expected = match (degree > 0.0, vertex < USERS.into()) {
                    (false, _) => Side::Neither,
                    (true, true) => Side::Source,
                    (true, false) => Side::Destination,
                };
                assert_eq!(side, expected, "vertex {vertex}");
                if side == Side::Neither {
                    assert_eq!(vector, [0.0, 0.0]);
                    continue;
                }
                // A mean of equals, and on one host nobody else counts.
                assert!((vector[0] - vertex as f32).abs() <= 1e-3, "{vector:?}");
                if hosts == 1 {
                    assert_eq!(vector[1], 2.0 * degree, "vertex {vertex}");
                } else {
                    assert!(vector[1] > 0.0 && vector[1] <= 2.0 * degree + 1e-2, "{vertex}");
                }
            }
        }
    }
}

/// One thread and one host visit edges in the order of their keys.
#[test]
fn edges_come_in_the_order_of_their_keys() {
    let edges = edges(20_000);
    let graph = Graph::dense(Csr::from_edges((USERS + ITEMS) as usize, &edges), "test");
    let order = VisitOrder::new(20_000, 11);
    let mut expected: Vec<_> = edges
        .iter()
        .map(|&(s, d, w)| (order.key(GlobalId(s.into()), GlobalId(d.into())), w))
        .collect();
    // Parallel edges have the same key, and come as they are given.
    expected.sort_by_key(|(key, _)| *key);
    let seen = Mutex::new(Vec::new());
    let input = Input::from(graph);
    let mut cluster = Cluster::local(1).threads_per_host(1);
    let launched = cluster.launch(|net| -> Result<_, Error> {
        let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
        let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
        let sides = Sides::find(&mut substrate)?;
        let program = Counting { seen: &seen, rounds: 1 };
        let mut blocks = BlockEngine::new(program, &partition, &sides, order)?;
        let limits = Limits::default();
        run(&mut blocks, &mut substrate, Pacing::default(), limits, &mut ())?;
        Ok(())
    });
    launched.expect("no host fails");
    let expected: Vec<u32> = expected.into_iter().map(|(_, weight)| weight).collect();
    assert!(seen.into_inner().expect("no thread panicked") == expected);
}

/// A path of three vertices: the one in the middle is both a source and a destination.
#[test]
fn a_vertex_on_both_sides_is_an_error() {
    let input = Input::from(Graph::dense(Csr::from_edges(3, &[(0, 1, 5u32), (1, 2, 5)]), "test"));
    let launched = Cluster::local(2).launch(|net| -> Result<_, Error> {
        let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
        let sides = Sides::find(&mut Substrate::new(&partition, net, Optimize::ALL))?;
        let program = Counting { seen: &Mutex::default(), rounds: 1 };
        let order = VisitOrder::new(partition.num_edges(), 1);
        Ok(BlockEngine::new(program, &partition, &sides, order).err())
    });
    for error in launched.expect("no host fails") {
        assert!(matches!(error, Some(Error::Misfit { engine: "blocks", .. })), "{error:?}");
    }
}
