//! Gathers are filtered where a round leaves nothing behind but what arrived in it: sinks wait until the last round is over.

#![expect(clippy::assign_op_pattern, reason = "programs are written in every way")]

use parton_engine::{Limits, Pacing, RunReport, engines};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::{
    Communication, Delta, Field, FieldValues, Graph, HostShare, Program, program,
};
use parton_sync::{Optimize, Schedule, Substrate};

/// Nothing but the ranks of the round before matters.
#[program(crate = parton_program)]
fn shares(graph: &Graph<()>) -> Field<f64> {
    let n = graph.num_vertices() as f64;
    let base = 0.15 / n;
    let mut rank = graph.field(1.0 / n);
    let mut next = graph.field(0.0);
    for _ in 0..6 {
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += rank[edge.source] / graph.out_degree(edge.source) as f64;
            }
            next[v] = base + 0.85 * sum;
        }
        std::mem::swap(&mut rank, &mut next);
    }
    rank
}

/// A vertex adds to what it had.
#[program(crate = parton_program)]
fn heard(graph: &Graph<()>) -> (Field<f64>, Field<f64>) {
    let mut rank = graph.field(1.0);
    let mut next = graph.field(0.0);
    let mut heard = graph.field(0.0);
    for _ in 0..6 {
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += rank[edge.source];
            }
            next[v] = 0.01 * sum;
            heard[v] = heard[v] + sum;
        }
        std::mem::swap(&mut rank, &mut next);
    }
    (rank, heard)
}

/// What a vertex adds follows the number of rounds.
#[program(crate = parton_program)]
fn fading(graph: &Graph<()>) -> Field<f64> {
    let mut weight = 1.0;
    let mut rank = graph.field(1.0);
    let mut next = graph.field(0.0);
    for _ in 0..6 {
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += rank[edge.source];
            }
            next[v] = weight + 0.01 * sum;
        }
        std::mem::swap(&mut rank, &mut next);
        weight = weight * 0.5;
    }
    rank
}

/// The columns of all hosts, and the report.
fn run<P: Program>(engine: &'static str, filter: bool, program: &P) -> (Vec<Vec<f64>>, RunReport) {
    let input = Input::open("web:2000").expect("a generator");
    let schedule = Schedule { filter, ..Schedule::default() };
    let hosts = Cluster::local(4).threads_per_host(1).launch(|net| {
        let partition = Partition::build(net, &input, &Plan::new("cvc")).expect("a partition");
        let mut substrate = Substrate::new(&partition, net, Optimize::ALL).with_schedule(schedule);
        let share = HostShare {
            engine: Some(engine),
            communication: Communication::default(),
            pacing: Pacing::default(),
            limits: Limits::default(),
            delta: Delta::new(4.0),
            sums_fit: false,
            device: None,
        };
        let answered = share.run(program, &mut substrate, &mut ())?;
        let columns = answered.columns.into_iter().map(|values| match values {
            FieldValues::F64(values) => values,
            other => panic!("real numbers, not {other:?}"),
        });
        Ok::<_, parton_sync::Error>((columns.flatten().collect(), answered.report))
    });
    let (columns, mut reports): (Vec<_>, Vec<_>) = hosts.expect("a run").into_iter().unzip();
    (columns, reports.swap_remove(0))
}

/// Whether sinks are left out of rounds. The answer is right, whether or not.
fn is_filtered<P: Program>(program: &P) -> bool {
    let (expected, _) = run("steps", true, program);
    let [(filtered, few), (whole, all)] =
        [true, false].map(|filter| run(engines::SPMV.name, filter, program));
    for columns in [filtered, whole] {
        for (found, expected) in columns.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} {expected}");
        }
    }
    assert_eq!(few.rounds.len(), all.rounds.len());
    few.work() < all.work()
}

#[test]
fn gathers_that_forget_are_filtered() {
    assert!(is_filtered(&shares {}), "sinks wait until the last round is over");
    assert!(!is_filtered(&heard {}), "what was heard adds up");
    assert!(!is_filtered(&fading {}), "what is added changes from round to round");
}
