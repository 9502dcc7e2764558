//! Compiled programs beside the same written by hand: the same engine on the same partition runs both in turns.

use parton_algorithms::bfs::levels;
use parton_algorithms::components::least;
use parton_algorithms::sssp::narrow;
use parton_engine::{RunReport, engines};
use parton_graph::GlobalId;
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::Vertex;
use parton_sync::{Error, Optimize, Substrate};

use crate::option;

#[path = "../../crates/algorithms/tests/by_hand.rs"]
mod by_hand;

use by_hand::{Distances, Least, Levels, by_hand, compiled, ranks, ranks_by_hand};

/// Runs one of the two forms.
type Form = fn(&mut Substrate<'_>) -> Result<RunReport, Error>;

const ROOT: u32 = 3;

/// Algorithms with both their forms, the hand-written one first.
const TWINS: [(&str, [Form; 2]); 4] = [
    (
        "bfs, frontier",
        [
            |on| by_hand(engines::FRONTIER, &Levels(GlobalId(ROOT as u64)), on),
            |on| compiled(engines::FRONTIER, &levels { root: Vertex(ROOT) }, on),
        ],
    ),
    (
        "sssp, delta",
        [
            |on| by_hand(engines::DELTA, &Distances(GlobalId(ROOT as u64)), on),
            |on| compiled(engines::DELTA, &narrow { root: Vertex(ROOT) }, on),
        ],
    ),
    (
        "components, union",
        [|on| by_hand(engines::UNION, &Least, on), |on| compiled(engines::UNION, &least {}, on)],
    ),
    (
        "pagerank, pull",
        [ranks_by_hand, |on| compiled(engines::PULL, &ranks { tolerance: 1e-6 }, on)],
    ),
];

/// Seconds, rounds and bytes of the best of several turns.
type Cost = (f64, usize, u64);

pub fn run(options: &[&str]) {
    let graph = option(options, "--graph").unwrap_or("rmat:18");
    let turns: usize = option(options, "--turns").map_or(7, |n| n.parse().expect("a number"));
    let input = Input::open(graph).expect("a graph");
    println!(
        "| hosts | program | by hand, s | compiled, s | by hand ÷ compiled | rounds | bytes |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (hosts, threads) in [(1, 2), (4, 1)] {
        for (name, costs) in measured(&input, (hosts, threads), turns) {
            let [(hand, hand_rounds, hand_bytes), (own, rounds, bytes)] = costs;
            println!(
                "| {hosts} × {threads} | {name} | {hand:.5} | {own:.5} | {:.3} | {hand_rounds}, {rounds} | \
                 {hand_bytes}, {bytes} |",
                hand / own
            );
        }
    }
}

fn measured(
    input: &Input,
    (hosts, threads): (usize, usize),
    turns: usize,
) -> Vec<(&'static str, [Cost; 2])> {
    let mut cluster = Cluster::local(hosts).threads_per_host(threads);
    let measured = cluster.launch(|net| {
        let partition = Partition::build(net, input, &Plan::new("cvc")).expect("a partition");
        let mut all = Vec::new();
        for (name, forms) in TWINS {
            let mut best: [Cost; 2] = [(f64::INFINITY, 0, 0); 2];
            for turn in 0..2 * turns {
                let form = turn % 2;
                let report = forms[form](&mut Substrate::new(&partition, net, Optimize::ALL))?;
                if report.seconds < best[form].0 {
                    best[form] = (report.seconds, report.rounds.len(), report.sent().total());
                }
            }
            all.push((name, best));
        }
        Ok::<_, Error>(all)
    });
    measured.expect("a run").swap_remove(0)
}
