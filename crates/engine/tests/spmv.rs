//! The engine `spmv`: every order of arrival gives the bits of `pull`, what is left out of rounds is right at
//! the end, and mistakes in the schedule are noticed.

mod columns;
mod declared;
mod rank;
mod suitable;
mod traps;

use crate::common;

use common::hosts::{all_policies, local, partition, random};
use parton_engine::{Edges, EngineInfo, Limits, Pacing, RunReport, VertexProgram, engines, run};
use parton_graph::{Csr, Graph, LocalId, Weight};
use parton_net::Cluster;
use parton_partition::Partition;
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

/// After the last round that a program expects no messages are sent, and a run that goes on is right, too.
#[test]
fn programs_may_take_more_or_fewer_rounds_than_they_expect() {
    let graph = graph(60);
    let parts = partition(&graph, "cvc", 4);
    let program = |expected_rounds, shares_source| Rank::<u32> {
        expected_rounds,
        shares_source,
        is_local: shares_source,
        ..Rank::new(7, 60)
    };
    let mut cluster = Cluster::sim(4, 0);
    for shares_source in [false, true] {
        let how = (engines::SPMV, Schedule { filter: shares_source, ..Schedule::default() });
        let sent = |cluster: &mut Cluster, program: &Rank| {
            let (states, report) =
                states(cluster, &parts, how, Limits::default(), program).expect("a run");
            (states.into_iter().map(f64::to_bits).collect::<Vec<_>>(), report.sent().total())
        };
        let (expected, fewest) = sent(&mut local(4), &program(7, shares_source));
        for expected_rounds in [0, 1, 4, 6, 8, u64::MAX] {
            for seed in 0..20 {
                cluster.set_seed(seed);
                let program = program(expected_rounds, shares_source);
                let (found, bytes) = sent(&mut cluster, &program);
                assert!(found == expected, "{expected_rounds} rounds expected, seed {seed}");
                assert!(bytes > fewest, "{bytes} of {fewest} bytes, {expected_rounds} rounds");
            }
        }
    }
}

/// Seeds of simulated schedules for each graph: 10,000 in a long run, `cargo xtask test --long`. `PARTON_SEEDS=20`
/// tries twenty times as many.
fn seeds() -> u64 {
    let times = std::env::var("PARTON_SEEDS").map_or(1, |times| times.parse().expect("a number"));
    let seeds = if std::env::var_os("PARTON_LONG").is_some() { 10_000 } else { 160 };
    times * seeds
}

/// Graphs where messages arrive in every order: one of all classes of vertices, a star whose hub everyone reads and
/// writes, and a long path across all hosts.
fn places() -> [(Graph, &'static str, usize); 4] {
    let star = (1..50).flat_map(|v| [(0, v, v % 7), (v, 0, v % 5)]);
    let path = (0..49).map(|v| (v * 7 % 50, (v + 1) * 7 % 50, v % 3));
    let [star, path]: [Vec<(u32, u32, u32)>; 2] = [star.collect(), path.collect()];
    let dense = |edges: &[_]| Graph::dense(Csr::from_edges(50, edges), "test");
    [
        (graph(60), "staggered", 4),
        (graph(80), "cvc", 6),
        (dense(&star), "hvc", 3),
        (dense(&path), "cvc", 4),
    ]
}

#[test]
fn messages_may_arrive_in_every_order() {
    for (graph, policy, hosts) in places() {
        let parts = partition(&graph, policy, hosts);
        let vertices = graph.num_vertices();
        let program = &Rank::<u32> { is_local: false, ..Rank::new(6, vertices) };
        let expected = bits(&mut local(hosts), &parts, (engines::PULL, UNFILTERED), program);
        let filtered = &Rank::<u32> { shares_source: true, ..Rank::new(6, vertices) };
        let how = (engines::SPMV, Schedule::default());
        let expected_filtered = bits(&mut local(hosts), &parts, how, filtered);
        let mut cluster = Cluster::sim(hosts, 0);
        for seed in 0..seeds() {
            cluster.set_seed(seed);
            let found = bits(&mut cluster, &parts, (engines::SPMV, UNFILTERED), program);
            assert!(found == expected, "{policy}, seed {seed}");
            let found = bits(&mut cluster, &parts, how, filtered);
            assert!(found == expected_filtered, "{policy}, filtered, seed {seed}");
        }
    }
}

/// What is left out of rounds is multiplied in a fixed order, too: on one partition the bits depend neither on
/// threads nor on overlap nor on the transport.
#[test]
fn filtered_sums_have_the_same_bits_however_a_partition_runs() {
    let graph = graph(300);
    for policy in all_policies() {
        for hosts in [1, 2, 4, 6] {
            let parts = partition(&graph, policy, hosts);
            for (edges, shares_source) in
                [(Edges::Out, true), (Edges::Out, false), (Edges::In, true)]
            {
                let program = &Rank::<()> { edges, shares_source, ..Rank::new(7, 300) };
                let how = |overlap| (engines::SPMV, Schedule { overlap, ..Schedule::default() });
                let expected = bits(&mut local(hosts), &parts, how(true), program);
                let mut clusters = [
                    Cluster::local(hosts).threads_per_host(3),
                    Cluster::sim(hosts, 7),
                    Cluster::sim(hosts, 8),
                ];
                for cluster in &mut clusters {
                    for overlap in [true, false] {
                        let found = bits(cluster, &parts, how(overlap), program);
                        assert!(found == expected, "{policy}, {hosts} hosts, {edges:?}, {overlap}");
                    }
                }
            }
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
