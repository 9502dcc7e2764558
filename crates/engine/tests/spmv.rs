//! The engine `spmv`: every order of arrival gives the bits of `pull`, what is left out of rounds is right at
//! the end, and mistakes in the schedule are noticed.

mod rank;

use crate::common;

use common::hosts::{all_policies, local, partition, random};
use parton_engine::{
    Edges, EngineInfo, Filter, Limits, Pacing, Relaxation, RunReport, Vertex, VertexProgram,
    engines, run,
};
use parton_graph::{Csr, Graph, LocalId, Weight};
use parton_net::Cluster;
use parton_partition::Partition;
use parton_sync::reduction::{Min, Sum};
use parton_sync::{Error, Optimize, Schedule, ScheduleFault, Substrate};
use rank::Rank;

/// Sources, sinks, isolated vertices, self-loops, parallel edges, and edges between all parts.
fn graph(vertices: u32) -> Graph {
    let edge = |i: u64| {
        let [s, d, w] = [1, 2, 3].map(|salt| random(&[salt, i]) as u32);
        // The last tenth has no edges, a fifth only out-edges, two fifths only in-edges.
        let (tenth, linked) = (vertices / 10, vertices - vertices / 10);
        (s % (linked - 4 * tenth), 2 * tenth + d % (linked - 2 * tenth), w % 7)
    };
    let mut edges: Vec<_> = (0..5 * u64::from(vertices)).map(edge).collect();
    let inner = vertices / 3;
    edges.extend([(inner, inner, 2), (inner, inner, 2), (inner, inner + 1, 5), (0, inner, 1)]);
    Graph::dense(Csr::from_edges(vertices as usize, &edges), "test")
}

/// States of all vertices, and the report.
fn states<P: VertexProgram + Clone + Send>(
    cluster: &mut Cluster,
    parts: &[Partition],
    (engine, schedule): (&EngineInfo, Schedule),
    limits: Limits,
    program: &P,
) -> Result<(Vec<P::State>, RunReport), Error> {
    let host = |part: &Partition, substrate: &mut Substrate<'_>| {
        let mut engine = engines::vertex_program(engine, None, program.clone(), part)?;
        let report = run(&mut *engine, substrate, Pacing::default(), limits, &mut ())?;
        Ok::<_, Error>((engine.states()?.to_vec(), report))
    };
    let outcomes = cluster.launch(|net| {
        let part = &parts[net.host().index()];
        host(part, &mut Substrate::new(part, net, Optimize::ALL).with_schedule(schedule))
    });
    let outcomes = outcomes.unwrap_or_else(|error| panic!("{error}"));
    let mut all = Vec::new();
    let report = outcomes[0].1.clone();
    for (part, (states, _)) in parts.iter().zip(outcomes) {
        let globals = (0..).map(|local| part.global(LocalId(local)));
        all.extend(globals.zip(states));
    }
    all.sort_by_key(|(global, _)| *global);
    Ok((all.into_iter().map(|(_, state)| state).collect(), report))
}

fn bits<W: Weight>(
    cluster: &mut Cluster,
    parts: &[Partition],
    how: (&EngineInfo, Schedule),
    program: &Rank<W>,
) -> Vec<u64> {
    let found = states(cluster, parts, how, Limits::default(), program);
    found.expect("a run").0.into_iter().map(f64::to_bits).collect()
}

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

const UNFILTERED: Schedule =
    Schedule { overlap: true, any_order: false, filter: false, fault: None };

#[test]
fn sums_have_the_bits_of_pull_on_every_policy() {
    let graph = graph(300);
    // Without weights and with several rounds `pull` adds in the order of local ids, too (row blocks).
    for policy in all_policies() {
        for hosts in [1, 2, 3, 4, 6, 9] {
            let parts = partition(&graph, policy, hosts);
            for edges in [Edges::Out, Edges::In, Edges::Both] {
                let program = &Rank::<()> { edges, is_local: false, ..Rank::new(7, 300) };
                let mut cluster = local(hosts);
                let expected = bits(&mut cluster, &parts, (engines::PULL, UNFILTERED), program);
                for overlap in [true, false] {
                    let schedule = Schedule { overlap, ..UNFILTERED };
                    let found = bits(&mut cluster, &parts, (engines::SPMV, schedule), program);
                    assert!(found == expected, "{policy}, {hosts} hosts, {edges:?}, {overlap}");
                }
            }
        }
    }
}

/// Seeds of simulated schedules; `PARTON_SEEDS=20` tries twenty times as many.
fn seeds() -> u64 {
    let times = std::env::var("PARTON_SEEDS").ok().and_then(|times| times.parse().ok());
    500 * times.unwrap_or(1)
}

#[test]
fn messages_may_arrive_in_every_order() {
    let graph = graph(60);
    for (policy, hosts) in [("staggered", 4), ("cvc", 6), ("hvc", 3)] {
        let parts = partition(&graph, policy, hosts);
        let program = &Rank::<u32> { is_local: false, ..Rank::new(6, 60) };
        let expected = bits(&mut local(hosts), &parts, (engines::PULL, UNFILTERED), program);
        let filtered = &Rank::<u32> { shares_source: true, ..Rank::new(6, 60) };
        let how = (engines::SPMV, Schedule::default());
        let expected_filtered = bits(&mut local(hosts), &parts, how, filtered);
        let mut cluster = Cluster::sim(hosts, 0);
        for seed in 0..seeds() / 3 {
            cluster.set_seed(seed);
            let found = bits(&mut cluster, &parts, (engines::SPMV, UNFILTERED), program);
            assert!(found == expected, "{policy}, seed {seed}");
            let found = bits(&mut cluster, &parts, how, filtered);
            assert!(found == expected_filtered, "{policy}, filtered, seed {seed}");
        }
    }
}

/// Whether some seed shows another result than that of `pull`.
fn is_noticed(fault: ScheduleFault, program: &Rank, filter: bool) -> bool {
    let graph = graph(60);
    let parts = partition(&graph, "cvc", 4);
    let right = Schedule { filter, ..Schedule::default() };
    let expected = bits(&mut local(4), &parts, (engines::SPMV, right), program);
    let wrong = Schedule { fault: Some(fault), ..right };
    let mut cluster = Cluster::sim(4, 0);
    (0..200).any(|seed| {
        cluster.set_seed(seed);
        bits(&mut cluster, &parts, (engines::SPMV, wrong), program) != expected
    })
}

#[test]
fn a_tile_multiplied_before_its_messages_is_noticed() {
    assert!(is_noticed(ScheduleFault::MultiplyEarly, &Rank::new(5, 60), false));
}

#[test]
fn a_partial_sum_sent_early_is_noticed() {
    assert!(is_noticed(ScheduleFault::SendEarly, &Rank::new(5, 60), false));
}

#[test]
fn a_filtered_vertex_that_matters_is_noticed() {
    assert!(is_noticed(ScheduleFault::FilterReadVertex, &Rank::new(5, 60), true));
}

#[test]
fn folding_in_the_order_of_arrival_is_noticed() {
    let program = Rank { is_local: false, ..Rank::new(6, 60) };
    assert!(is_noticed(ScheduleFault::FoldOnArrival, &program, false));
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

/// T5, T7: what sources send is one number a round times a sum that never changes.
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

#[test]
fn timelines_show_what_hosts_did() {
    let graph = graph(300);
    let parts = partition(&graph, "cvc", 4);
    let how = (engines::SPMV, Schedule::default());
    let program = &Rank::<u32>::new(4, 300);
    let (_, report) =
        states(&mut local(4), &parts, how, Limits::default(), program).expect("a run");
    assert_eq!(report.timeline.hosts.len(), 4);
    for spans in &report.timeline.hosts {
        assert!(!spans.is_empty());
        assert!(spans.iter().all(|span| span.start <= span.end && span.round < 4));
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start + 1e-9), "in order");
    }
}

#[test]
fn sums_in_any_order_are_right_up_to_rounding() {
    let graph = graph(200);
    let parts = partition(&graph, "cvc", 4);
    let program = &Rank::<u32>::new(6, 200);
    let expected = bits(&mut local(4), &parts, (engines::PULL, UNFILTERED), program);
    let any_order = Schedule { any_order: true, ..UNFILTERED };
    let mut cluster = Cluster::sim(4, 0);
    for seed in 0..50 {
        cluster.set_seed(seed);
        let found = bits(&mut cluster, &parts, (engines::SPMV, any_order), program);
        for (a, b) in expected.iter().zip(found) {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(b));
            assert!((a - b).abs() <= 1e-13 * a, "seed {seed}: {a} {b}");
        }
    }
}

/// T2, T4, T6, T9: roots of every class, id 0 among them, and vertices that are never reached.
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

/// What a program declares holds: `apply` forgets the state before.
#[test]
fn the_last_message_wins_where_a_program_says_so() {
    let program = Rank::<u32>::new(3, 10);
    let states = [0.0, 0.1, -3.5, f64::MAX];
    assert!(common::properties::forgets_state(&program, &states, &[0.0, 0.2, 7.5]));
    let tokens = common::programs::Tokens::<Sum<u64>>::new(3);
    let mut heard = [common::programs::Heard::default(); 2];
    heard[1].history = 5;
    assert!(!common::properties::forgets_state(&tokens, &heard, &[1, 2]), "it adds up");
}
