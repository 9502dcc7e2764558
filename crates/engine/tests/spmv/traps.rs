//! What a re-implementation of LA3 must settle (Ahmad et al., VLDB'18): the numbers are those of our list of its
//! traps. Each test fails where the engine does as LA3's code does.

use std::marker::PhantomData;

use super::rank::Rank;
use super::{UNFILTERED, bits, graph, is_noticed, states};
use crate::common;

use common::hosts::{local, partition};
use common::programs::Tokens;
use parton_engine::program::Accumulated;
use parton_engine::{
    Edges, Filter, Limits, Pacing, Properties, Relaxation, Tally, Vertex, VertexProgram, engines,
    run,
};
use parton_graph::{Csr, Graph, LocalId};
use parton_net::Cluster;
use parton_sync::reduction::{Latest, Max, Min, Sum};
use parton_sync::{Error, Optimize, Schedule, ScheduleFault, Substrate};

/// Number of edges from a root.
#[derive(Clone, Copy)]
struct Level {
    root: u64,
}

impl Relaxation for Level {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id().0 == self.root).then_some(0)
    }

    fn relax(&self, level: u32, (): ()) -> u32 {
        level.saturating_add(1)
    }
}

#[test]
fn t1_sinks_fed_from_the_round_after_the_last_are_noticed() {
    assert!(is_noticed(ScheduleFault::LateSinks, &Rank::new(3, 60), true));
}

/// Filtered and unfiltered states agree up to rounding after any number of rounds.
fn compare_filtered(program: impl Fn(u64) -> Rank, rounds: &[u64]) {
    let graph = graph(200);
    for (policy, hosts) in [("oec", 1), ("cvc", 4), ("staggered", 6), ("iec", 3), ("hvc", 2)] {
        let parts = partition(&graph, policy, hosts);
        for &rounds in rounds {
            let limits = Limits { max_rounds: Some(rounds) };
            let program = program(rounds);
            let run = |schedule| {
                let how = (engines::SPMV, schedule);
                states(&mut local(hosts), &parts, how, limits, &program).expect("a run")
            };
            let ((expected, whole), (found, filtered)) =
                (run(UNFILTERED), run(Schedule::default()));
            let edges = graph.num_edges();
            for (vertex, (a, b)) in expected.iter().zip(&found).enumerate() {
                let is_close = (a - b).abs() <= 1e-14 * a.abs();
                assert!(is_close, "{policy}, {rounds} rounds, vertex {vertex}: {a} {b}");
            }
            assert!(whole.rounds.iter().all(|round| round.edges == edges));
            // Sinks are multiplied after the last round, and count to it.
            let before_last = filtered.rounds.iter().rev().skip(1);
            assert!(before_last.into_iter().all(|round| round.edges < edges * 7 / 10), "{policy}");
        }
    }
}

/// T1: sinks hold the round that was asked for; T6, T9: roots and id 0 of every class are among the vertices.
#[test]
fn t1_sinks_hold_the_last_round_after_any_number_of_rounds() {
    compare_filtered(|rounds| Rank::new(rounds, 200), &[0, 1, 2, 3, 8]);
}

/// T7: what sources send is one number a round times a sum that never changes.
#[test]
fn t7_sources_share_one_state() {
    let program = |rounds| Rank { shares_source: true, ..Rank::new(rounds, 200) };
    compare_filtered(program, &[0, 1, 2, 3, 8]);
}

/// T14: classes follow the direction that messages take.
#[test]
fn t14_classes_depend_on_the_direction() {
    compare_filtered(|rounds| Rank { edges: Edges::In, ..Rank::new(rounds, 200) }, &[1, 4]);
    let both = Rank::<u32> { edges: Edges::Both, ..Rank::new(3, 10) };
    assert_eq!(Filter::of(&both), Filter::default(), "every vertex with an edge is regular");
}

/// T3: what may be left out follows from several properties; a program that lacks one is not filtered.
#[test]
fn t3_only_programs_that_declare_it_are_filtered() {
    let filtered = Rank::<u32>::new(3, 10);
    assert_eq!(Filter::of(&filtered), Filter { sinks: true, sources: false });
    let shared = Rank { shares_source: true, ..filtered.clone() };
    assert_eq!(Filter::of(&shared), Filter { sinks: true, sources: true });
    let sums = Rank { is_local: false, ..filtered };
    assert_eq!(Filter::of(&sums), Filter::default(), "sums over all vertices need all of them");
    let accumulates = common::programs::Tokens::<Sum<u64>>::new(3);
    assert_eq!(Filter::of(&accumulates), Filter::default(), "each round adds to the state");
    let stationary = common::programs::Tokens::<Sum<u64>> { stationary: true, ..accumulates };
    assert_eq!(Filter::of(&stationary), Filter::default(), "the state keeps what came before");
}

/// T10: a stationary program takes part from the first round on; T13: all of a host's masters count.
#[test]
fn t10_the_first_round_is_complete() {
    let graph = graph(100);
    let parts = partition(&graph, "staggered", 4);
    let how = (engines::SPMV, UNFILTERED);
    let limits = Limits { max_rounds: Some(1) };
    let (found, report) =
        states(&mut local(4), &parts, how, limits, &Rank::<u32>::new(9, 100)).expect("a run");
    let (expected, _) = common::serial(&graph, limits, &Rank::<u32>::new(9, 100));
    assert_eq!(report.rounds[0].edges, graph.num_edges());
    assert_eq!(report.rounds[0].changed, 100);
    for (a, b) in expected.iter().zip(&found) {
        assert!((a - b).abs() <= 1e-14 * a.abs());
    }
}

/// T6: roots of every class, id 0 among them, and vertices that are never reached.
#[test]
fn t6_roots_may_be_sources_sinks_or_isolated() {
    let graph = graph(100);
    for (policy, hosts) in [("oec", 1), ("cvc", 4), ("staggered", 6)] {
        let parts = partition(&graph, policy, hosts);
        for root in [0, 5, 25, 33, 60, 89, 95, 99] {
            let program = Level { root };
            let (expected, _) = common::serial(&graph, Limits::default(), &program);
            let how = common::How::new(engines::SPMV);
            let (found, report) = common::run_relaxation(&mut local(hosts), &parts, how, &program);
            assert_eq!(found, expected, "{policy}, root {root}");
            assert!(report.converged);
        }
    }
}

/// T9: labels have more than eight bits; activity filtering visits every edge of a path once.
#[test]
fn t9_deep_graphs_cost_what_is_active() {
    let edges: Vec<_> = (0..400).map(|v| (v, v + 1, ())).collect();
    let path = Graph::dense(Csr::from_edges(401, &edges), "test");
    let parts = partition(&path, "cvc", 4);
    let how = common::How::new(engines::SPMV);
    let (found, report) = common::run_relaxation(&mut local(4), &parts, how, &Level { root: 0 });
    assert_eq!(found, (0..401).collect::<Vec<u32>>());
    assert_eq!(report.work(), 400, "only columns of vertices with news are multiplied");
}

/// T12: a route may take several messages.
#[test]
fn t12_routes_come_in_pieces() {
    let graph = graph(60);
    let parts = partition(&graph, "cvc", 4);
    let program = &Rank::<()> { is_local: false, ..Rank::new(6, 60) };
    let expected = bits(&mut local(4), &parts, (engines::PULL, UNFILTERED), program);
    let mut cluster = Cluster::sim(4, 0);
    for seed in 0..50 {
        cluster.set_seed(seed);
        let found = cluster.launch(|net| {
            let part = &parts[net.host().index()];
            let substrate = Substrate::new(part, net, Optimize::ALL).with_schedule(UNFILTERED);
            let substrate = &mut substrate.with_places_per_message(2);
            let mut engine = engines::vertex_program(engines::SPMV, None, program.clone(), part)?;
            run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())?;
            Ok::<_, Error>(engine.states()?.to_vec())
        });
        for (part, states) in parts.iter().zip(found.expect("a run")) {
            for (master, state) in (0..).map(LocalId).zip(states) {
                let vertex = part.global(master).0 as usize;
                assert_eq!(state.to_bits(), expected[vertex], "seed {seed}, vertex {vertex}");
            }
        }
    }
}

/// Where programs run in these tests.
const PLACES: [(&str, usize); 4] = [("oec", 1), ("cvc", 4), ("staggered", 6), ("hvc", 3)];

/// A program on these places has the states of a serial run, however many rounds it takes.
fn compare_with_serial<P>(graph: &Graph, program: impl Fn(u64) -> P)
where
    P: VertexProgram<State: PartialEq + std::fmt::Debug> + Clone + Send,
{
    for (policy, hosts) in PLACES {
        let parts = partition(graph, policy, hosts);
        for rounds in [1, 2, 3, 6] {
            let limits = Limits { max_rounds: Some(rounds) };
            let program = program(rounds);
            let (expected, _) = common::serial(graph, limits, &program);
            let how = (engines::SPMV, Schedule::default());
            let found = states(&mut local(hosts), &parts, how, limits, &program).expect("a run");
            assert_eq!(found.0, expected, "{policy}, {hosts} hosts, {rounds} rounds");
        }
    }
}

/// Whether anything reaches a vertex from the root. Messages have no contents, and the state forgets the one
/// before: of all properties only that it is not stationary keeps its sinks in the rounds.
#[derive(Clone, Copy)]
struct Reached {
    root: u64,
}

impl VertexProgram for Reached {
    type State = bool;
    type Message = u32;
    type Messages = Latest<u32>;
    type Reduction = Max<u32>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> bool {
        vertex.id().0 == self.root
    }

    fn scatter(&self, _: Vertex<'_>, is_reached: &bool) -> Option<u32> {
        is_reached.then_some(0)
    }

    fn along(&self, _: u32, (): ()) -> u32 {
        1
    }

    fn apply(&self, _: Vertex<'_>, is_reached: &mut bool, _: u32, _: &mut Tally) -> bool {
        !std::mem::replace(is_reached, true)
    }

    fn properties(&self) -> Properties {
        Properties { last_message_wins: true, is_local: true, ..Properties::default() }
    }
}

/// T2: a message from a vertex that was never reached would mark every sink.
#[test]
fn t2_sinks_that_nothing_reaches_stay_as_they_are() {
    let graph = graph(100);
    for root in [0, 25, 40, 70] {
        compare_with_serial(&graph, |_| Reached { root });
    }
}

/// The round in which a vertex is reached from the root, and the least of the vertices that reached it then.
#[derive(Clone, Copy)]
struct FirstParent {
    root: u64,
    round: u64,
}

impl VertexProgram for FirstParent {
    type State = Option<(u64, u64)>;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Min<u64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> Self::State {
        (vertex.id().0 == self.root).then_some((0, self.root))
    }

    fn scatter(&self, vertex: Vertex<'_>, state: &Self::State) -> Option<u64> {
        state.map(|_| vertex.id().0)
    }

    fn along(&self, parent: u64, (): ()) -> u64 {
        parent
    }

    fn apply(
        &self,
        _: Vertex<'_>,
        state: &mut Self::State,
        parent: Accumulated<Self>,
        _: &mut Tally,
    ) -> bool {
        let is_new = state.is_none();
        if is_new {
            *state = Some((self.round + 1, parent));
        }
        is_new
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.round += 1;
        total.active == 0
    }
}

/// T4: neighbours of several levels never speak to a sink at once.
#[test]
fn t4_parents_of_sinks_are_of_the_level_before() {
    let graph = graph(100);
    compare_with_serial(&graph, |_| FirstParent { root: 0, round: 0 });
    compare_with_serial(&graph, |_| FirstParent { root: 33, round: 0 });
}

/// T5: what a source says once counts once where contributions add up, and in the round in which it says it.
#[test]
fn t5_sources_of_programs_that_add_up_count_once() {
    compare_with_serial(&graph(100), Tokens::<Sum<u64>>::new);
}

/// T8: mirrors follow their masters in every round, not in the first alone.
#[test]
fn t8_mirrors_follow_their_masters_in_every_round() {
    let along = |token: u64, weight: u32| token.wrapping_mul(3).wrapping_add(u64::from(weight));
    let program = |rounds| Tokens::<Sum<u64>> { stationary: true, along, ..Tokens::new(rounds) };
    compare_with_serial(&graph(100), program);
}

/// T11: weights of another type are converted, and one that cannot be is an error.
#[test]
fn t11_weights_fit_the_program_or_are_refused() {
    let weighing = |last: f64| {
        let edges = [(0, 1, 2.0), (1, 2, 3.0), (2, 0, 1.0), (0, 3, last)];
        Graph::dense(Csr::from_edges(4, &edges), "test")
    };
    let program = Rank::<u32> { weight: PhantomData, ..Rank::new(3, 4) };
    let run = |graph: &Graph, program: &Rank<u32>| {
        let parts = partition(graph, "cvc", 2);
        bits(&mut local(2), &parts, (engines::SPMV, UNFILTERED), program)
    };
    let whole = [(0, 1, 2u32), (1, 2, 3), (2, 0, 1), (0, 3, 6)];
    let whole = Graph::dense(Csr::from_edges(4, &whole), "test");
    assert_eq!(run(&weighing(6.0), &program), run(&whole, &program));
    let parts = partition(&weighing(0.5), "cvc", 2);
    let refused = parts.iter().map(|part| {
        let engine = engines::vertex_program(engines::SPMV, None, program.clone(), part);
        engine.err().map(|error| error.to_string())
    });
    let refused: Vec<_> = refused.flatten().collect();
    assert!(refused.len() == 1 && refused[0].contains("0.5"), "{refused:?}");
}

/// T13: one piece of a host's masters that has something to say is enough, also if the last has nothing.
#[test]
fn t13_any_piece_of_masters_keeps_a_run_going() {
    let vertices = 20_000;
    let edges: Vec<_> = (0..9).chain(9_990..vertices - 1).map(|v| (v, v + 1, ())).collect();
    let graph = Graph::dense(Csr::from_edges(vertices as usize, &edges), "test");
    for (policy, hosts) in [("oec", 1), ("oec", 2), ("cvc", 4)] {
        let parts = partition(&graph, policy, hosts);
        let how = common::How::new(engines::SPMV);
        let (found, _) = common::run_relaxation(&mut local(hosts), &parts, how, &Level { root: 0 });
        assert!((0..10).all(|v| found[v] == v as u32), "{policy}, {hosts} hosts");
        assert!(found[10..].iter().all(|level| *level == u32::MAX));
    }
}
