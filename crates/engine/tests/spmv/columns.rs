//! Programs that are not stationary: sums leave as soon as they are final, labels that are no news stay at home,
//! searches look bottom-up, and messages may turn round.

use std::sync::Mutex;

use super::graph;
use crate::common;

use common::hosts::{all_policies, local, partition, random};
use common::programs::{Hops, Near};
use parton_engine::{Edges, Limits, Properties, Round, Tally, Vertex, VertexProgram, engines};
use parton_graph::{Csr, Graph, LocalId};
use parton_net::Cluster;
use parton_partition::Partition;
use parton_sync::Schedule;
use parton_sync::reduction::{Latest, Sum};

/// What a host did first.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// It took a message along an edge.
    Along { from: u64 },
    /// It applied at a vertex.
    Apply { vertex: u64 },
}

/// Every vertex sends its number once, and the order of events is noted.
#[derive(Clone)]
struct Noted<'a>(&'a Mutex<Vec<Event>>);

impl Noted<'_> {
    fn note(&self, event: Event) {
        self.0.lock().expect("no panic").push(event);
    }
}

impl VertexProgram for Noted<'_> {
    type State = u64;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Sum<u64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> u64 {
        vertex.id().0
    }

    fn scatter(&self, _: Vertex<'_>, &state: &u64) -> Option<u64> {
        Some(state)
    }

    fn along(&self, from: u64, (): ()) -> u64 {
        self.note(Event::Along { from });
        from + 1
    }

    fn apply(&self, vertex: Vertex<'_>, state: &mut u64, sum: u64, _: &mut Tally) -> bool {
        self.note(Event::Apply { vertex: vertex.id().0 });
        *state = sum;
        false
    }
}

/// The vertex that each of four hosts masters: of more than one the first.
fn first_masters(parts: &[Partition]) -> Vec<u32> {
    parts.iter().map(|part| part.global(LocalId(0)).0 as u32).collect()
}

/// Host 0 of a square of four sends host 2 what it contributes there before host 1's message has arrived: no edge
/// leads from that message to those vertices.
#[test]
fn partial_sums_leave_before_the_last_message_arrives() {
    // All masters have edges both ways, so that the hosts of a second graph have the same masters.
    let ring: Vec<_> = (0..8u32).map(|v| (v, (v + 1) % 8, ())).collect();
    let ring = Graph::dense(Csr::from_edges(8, &ring), "test");
    let [own, beside, below, across] = first_masters(&partition(&ring, "cvc", 4))[..] else {
        panic!("four hosts")
    };
    // On host 0: one edge from its own vertex to host 2's, one from host 1's vertex to its own.
    let edges = [(own, below, ()), (beside, own, ()), (below, across, ()), (across, beside, ())];
    let parts = partition(&Graph::dense(Csr::from_edges(8, &edges), "test"), "cvc", 4);
    let masters = first_masters(&parts);
    assert_eq!(masters[..2], [own, beside], "the masters are the same");
    let mut cluster = Cluster::sim(4, 0);
    let mut is_early = |overlap| {
        (0..200).any(|seed| {
            cluster.set_seed(seed);
            let events = Mutex::new(Vec::new());
            let how = (engines::SPMV, Schedule { overlap, ..Schedule::default() });
            let limits = Limits { max_rounds: Some(1) };
            super::states(&mut cluster, &parts, how, limits, &Noted(&events)).expect("a run");
            let events = events.into_inner().expect("no panic");
            let place = |event| events.iter().position(|&other| other == event).expect("noted");
            let applied = place(Event::Apply { vertex: u64::from(below) });
            applied < place(Event::Along { from: u64::from(beside) })
        })
    };
    assert!(is_early(true), "the sum has arrived before the last message has");
    assert!(!is_early(false), "without overlap all messages come first");
}

/// A search stops looking where a vertex has its level, and gives every vertex the level it has anyway.
#[test]
fn searches_look_bottom_up_where_that_is_less_work() {
    let edge = |i: u64| {
        let [source, end] = [1, 2].map(|salt| (random(&[salt, i]) % 2000) as u32);
        (source, end, ())
    };
    let edges: Vec<_> = (0..40_000).map(edge).collect();
    let graph = Graph::dense(Csr::from_edges(2000, &edges), "test");
    let (expected, _) = common::serial(&graph, Limits::default(), &Hops);
    for (policy, hosts) in [("oec", 1), ("cvc", 4), ("staggered", 6), ("hvc", 3), ("iec", 2)] {
        let parts = partition(&graph, policy, hosts);
        let work = |engine| {
            let how = common::How::new(engine);
            let (found, report) = common::run_relaxation(&mut local(hosts), &parts, how, &Hops);
            assert_eq!(found, expected, "{policy}, {hosts} hosts, {}", engine.name);
            report.work()
        };
        let (all, spmv) = (work(engines::PUSH), work(engines::SPMV));
        assert!(spmv < all * 3 / 4, "{policy}, {hosts} hosts: {spmv} of {all} edges");
    }
}

/// A mirror sends a label only if it is better than all that it has sent or got.
#[test]
fn labels_that_are_no_news_are_not_sent() {
    let graph = graph(1000);
    let (expected, _) = common::serial(&graph, Limits::default(), &Near(Edges::Both));
    for (policy, hosts) in [("cvc", 4), ("staggered", 6), ("oec", 3)] {
        let parts = partition(&graph, policy, hosts);
        // As a program like any other every contribution is sent.
        let relaxation = Near(Edges::Both);
        let how = common::How::new(engines::SPMV);
        let (found, labels) = common::run_relaxation(&mut local(hosts), &parts, how, &relaxation);
        assert_eq!(found, expected, "{policy}");
        let (found, events) = common::run_program(&mut local(hosts), &parts, how, || relaxation);
        assert_eq!(found, expected, "{policy}");
        let bytes = [labels.sent().total(), events.sent().total()];
        assert!(bytes[0] * 10 < bytes[1] * 9, "{policy}: {bytes:?}");
    }
}

/// Labels arrive in every order.
#[test]
fn labels_may_arrive_in_every_order() {
    for (graph, policy, hosts) in super::places() {
        let parts = partition(&graph, policy, hosts);
        let near = Near(Edges::Out);
        let (distances, _) = common::serial(&graph, Limits::default(), &near);
        let (levels, _) = common::serial(&graph, Limits::default(), &Hops);
        let mut cluster = Cluster::sim(hosts, 0);
        for seed in 0..super::seeds() / 4 {
            cluster.set_seed(seed);
            let how = common::How::new(engines::SPMV);
            let (found, _) = common::run_relaxation(&mut cluster, &parts, how, &near);
            assert_eq!(found, distances, "{policy}, seed {seed}");
            let (found, _) = common::run_relaxation(&mut cluster, &parts, how, &Hops);
            assert_eq!(found, levels, "{policy}, seed {seed}");
        }
    }
}

/// Every vertex counts its in-edges, and then what its out-neighbours have counted.
#[derive(Clone, Copy)]
struct ThereAndBack {
    round: u64,
}

impl VertexProgram for ThereAndBack {
    type State = [u64; 2];
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Sum<u64>;
    type Weight = ();

    fn init(&self, _: Vertex<'_>) -> [u64; 2] {
        [0; 2]
    }

    fn scatter(&self, _: Vertex<'_>, counts: &[u64; 2]) -> Option<u64> {
        Some(if self.round == 0 { 1 } else { counts[0] })
    }

    fn along(&self, count: u64, (): ()) -> u64 {
        count
    }

    fn apply(&self, _: Vertex<'_>, counts: &mut [u64; 2], sum: u64, _: &mut Tally) -> bool {
        match self.round {
            0 => counts[0] = sum,
            1 => {}
            _ => counts[1] = sum,
        }
        // In the second round nothing arrives, and everyone sends.
        self.round == 1
    }

    fn properties(&self) -> Properties {
        Properties { turns: true, ..Properties::default() }
    }

    fn round(&self) -> Round {
        Round { applies_everywhere: self.round == 1, is_reversed: self.round > 0 }
    }

    fn conclude(&mut self, _: &Tally) -> bool {
        self.round += 1;
        self.round == 3
    }
}

/// Masters wait for contributions from the hosts of both ends of edges.
#[test]
fn programs_that_turn_round_get_all_contributions() {
    let graph = graph(120);
    let csr = match &graph.adjacency {
        parton_graph::Adjacency::U32(csr) => csr,
        _ => panic!("weights of 32 bits"),
    };
    let edges = || csr.vertices().flat_map(|v| csr.targets(v).iter().map(move |&to| (v, to)));
    let mut expected = vec![[0u64; 2]; graph.num_vertices()];
    edges().for_each(|(_, to)| expected[to.index()][0] += 1);
    edges().for_each(|(from, to)| expected[from.index()][1] += expected[to.index()][0]);
    for policy in all_policies() {
        let parts = partition(&graph, policy, 4);
        let mut cluster = Cluster::sim(4, 0);
        for seed in 0..20 {
            cluster.set_seed(seed);
            let how = (engines::SPMV, Schedule::default());
            let program = ThereAndBack { round: 0 };
            let found = super::states(&mut cluster, &parts, how, Limits::default(), &program);
            assert_eq!(found.expect("a run").0, expected, "{policy}, seed {seed}");
        }
    }
}
