//! Compiled programs send no more than the hand-written ones that say the same.

use parton_algorithms::bfs::Levels;
use parton_algorithms::sssp::Distances;
use parton_engine::{Limits, Pacing, Relaxation, engines, run};
use parton_graph::GlobalId;
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::{
    Communication, Field, Graph, HostShare, Improve, Program, Vertex, Worklist, program,
};
use parton_sync::{Error, Optimize, Substrate};

#[program(crate = parton_program)]
fn levels(graph: &Graph<()>, root: Vertex) -> Field<u32> {
    let mut level = graph.field(u32::MAX);
    level[root] = 0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for edge in graph.out_edges(v) {
            if level.lower(edge.target, level[v] + 1) {
                work.push(edge.target);
            }
        }
    }
    level
}

#[program(crate = parton_program)]
fn distances(graph: &Graph<u32>, root: Vertex) -> Field<u32> {
    let mut distance = graph.field(u32::MAX);
    distance[root] = 0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for edge in graph.out_edges(v) {
            let through = distance[v].saturating_add(edge.weight);
            if distance[edge.target].lower(through) {
                work.push(edge.target);
            }
        }
    }
    distance
}

/// Rounds and bytes of a relaxation on engine `push`.
fn cost(
    input: &Input,
    relax: impl Fn(&mut Substrate<'_>) -> Result<(u64, u64), Error> + Sync,
) -> (u64, u64) {
    let costs = Cluster::local(4).threads_per_host(1).launch(|net| {
        let partition = Partition::build(net, input, &Plan::new("cvc")).expect("a partition");
        relax(&mut Substrate::new(&partition, net, Optimize::ALL))
    });
    costs.expect("a run")[0]
}

fn by_hand<P: Relaxation>(program: &P, substrate: &mut Substrate<'_>) -> Result<(u64, u64), Error> {
    let mut engine = engines::relaxation(engines::PUSH, None, program, substrate.partition())?;
    let report = run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())?;
    Ok((report.rounds.len() as u64, report.sent().total()))
}

fn compiled<P: Program>(program: &P, substrate: &mut Substrate<'_>) -> Result<(u64, u64), Error> {
    let share = HostShare {
        engine: Some("push"),
        communication: Communication::default(),
        pacing: Pacing::default(),
        limits: Limits::default(),
        device: None,
    };
    let report = share.run(program, substrate, &mut ())?.report;
    Ok((report.rounds.len() as u64, report.sent().total()))
}

#[test]
fn compiled_relaxations_cost_what_hand_written_ones_do() {
    let (vertex, root) = (Some(GlobalId(3)), Vertex(3));
    let input = Input::open("rmat:10,8").expect("a generator");
    let hand = cost(&input, |substrate| by_hand(&Levels { root: vertex }, substrate));
    assert_eq!(cost(&input, |substrate| compiled(&levels { root }, substrate)), hand);
    let hand = cost(&input, |substrate| by_hand(&Distances::<u32, u32>::new(vertex), substrate));
    assert_eq!(cost(&input, |substrate| compiled(&distances { root }, substrate)), hand);
}
