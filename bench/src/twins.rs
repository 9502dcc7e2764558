//! Compiled programs beside the same written by hand: on the same partition both run in turns.

use std::time::Instant;

use parton_algorithms::bfs::levels;
use parton_algorithms::components::least;
use parton_algorithms::kcore::core::core;
use parton_algorithms::kcore::{KCore, KCoreOptions};
use parton_algorithms::pagerank::residual::residuals;
use parton_algorithms::pagerank::{Dangling, PageRank, PageRankOptions};
use parton_algorithms::sssp::narrow;
use parton_algorithms::{Algorithm, Error, Job, Options};
use parton_engine::{RunReport, engines};
use parton_graph::GlobalId;
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::Vertex;
use parton_sync::{Optimize, Substrate};
use serde_json::json;

use crate::{option, save};

#[path = "../../crates/algorithms/tests/by_hand.rs"]
mod by_hand;

use by_hand::{
    Distances, Least, Levels, by_hand, compiled, core_by_hand, ranks, ranks_by_hand,
    residuals_by_hand,
};

/// Runs one of the two forms.
type Form = fn(&mut Substrate<'_>) -> Result<RunReport, Error>;

const ROOT: u32 = 3;
const TOLERANCE: f64 = 1e-6;
/// What a vertex of the residual method keeps.
const THRESHOLD: f64 = 1e-9;
/// Which core.
const K: u32 = 10;

/// Algorithms with both their forms, the hand-written one first.
const TWINS: [(&str, [Form; 2]); 6] = [
    (
        "bfs, frontier",
        [
            |on| Ok(by_hand(engines::FRONTIER, &Levels(GlobalId(ROOT as u64)), on)?),
            |on| Ok(compiled(engines::FRONTIER, &levels { root: Vertex(ROOT) }, on)?),
        ],
    ),
    (
        "sssp, delta",
        [
            |on| Ok(by_hand(engines::DELTA, &Distances(GlobalId(ROOT as u64)), on)?),
            |on| Ok(compiled(engines::DELTA, &narrow { root: Vertex(ROOT) }, on)?),
        ],
    ),
    (
        "components, union",
        [
            |on| Ok(by_hand(engines::UNION, &Least, on)?),
            |on| Ok(compiled(engines::UNION, &least {}, on)?),
        ],
    ),
    ("pagerank, pull", [|on| Ok(ranks_by_hand(on)?), compiled_ranks]),
    ("pagerank, the algorithm's own", [algorithms_ranks, compiled_ranks]),
    (
        "residual method, frontier",
        [
            |on| Ok(residuals_by_hand(engines::FRONTIER, THRESHOLD, on)?),
            |on| {
                let program = residuals { damping: 0.85, threshold: THRESHOLD, seeds: Vec::new() };
                Ok(compiled(engines::FRONTIER, &program, on)?)
            },
        ],
    ),
];

/// The same for undirected simple graphs.
const UNDIRECTED_TWINS: [(&str, [Form; 2]); 2] = [
    ("one core, frontier", [|on| Ok(core_by_hand(engines::FRONTIER, K, on)?), compiled_core]),
    ("one core, the algorithm's own", [algorithms_core, compiled_core]),
];

fn compiled_core(on: &mut Substrate<'_>) -> Result<RunReport, Error> {
    Ok(compiled(engines::FRONTIER, &core { k: K }, on)?)
}

fn compiled_ranks(on: &mut Substrate<'_>) -> Result<RunReport, Error> {
    Ok(compiled(engines::PULL, &ranks { tolerance: TOLERANCE }, on)?)
}

/// Ranks as `parton run pagerank --dangling drop` finds them.
fn algorithms_ranks(on: &mut Substrate<'_>) -> Result<RunReport, Error> {
    let (tolerance, dangling) = (TOLERANCE, Dangling::Drop);
    let own = PageRankOptions { tolerance, dangling, ..PageRankOptions::default() };
    algorithm(&PageRank, Options::default().with(own), on)
}

/// One core as `parton run kcore --k` finds it.
fn algorithms_core(on: &mut Substrate<'_>) -> Result<RunReport, Error> {
    algorithm(&KCore, Options::default().with(KCoreOptions { k: Some(K) }), on)
}

/// Runs an algorithm.
fn algorithm(
    algorithm: &dyn Algorithm,
    options: Options,
    substrate: &mut Substrate<'_>,
) -> Result<RunReport, Error> {
    let job = &mut Job { substrate, options: &options, watch: &mut (), device: None };
    Ok(algorithm.run(job)?.report)
}

/// What the best of several turns took.
#[derive(Clone, Copy)]
struct Cost {
    /// From the first round to the last.
    rounds_seconds: f64,
    /// From the partition to the answer.
    seconds: f64,
    rounds: usize,
    bytes: u64,
}

impl Cost {
    const NONE: Cost =
        Cost { rounds_seconds: f64::INFINITY, seconds: f64::INFINITY, rounds: 0, bytes: 0 };

    fn json(self) -> serde_json::Value {
        let Cost { rounds_seconds, seconds, rounds, bytes } = self;
        json!({ "rounds_seconds": rounds_seconds, "seconds": seconds, "rounds": rounds, "bytes": bytes })
    }
}

pub fn run(options: &[&str]) {
    let graph = option(options, "--graph").unwrap_or("rmat:18");
    let turns: usize = option(options, "--turns").map_or(7, |n| n.parse().expect("a number"));
    let input = Input::open(graph).expect("a graph");
    let needs = KCore.needs(&Options::default());
    let undirected = Input::open(graph).expect("a graph").fitted(needs.fit());
    let mut rows = Vec::new();
    for (hosts, threads) in [(1, 2), (4, 1)] {
        let mut measured = measured(&input, &TWINS, (hosts, threads), turns);
        measured.extend(self::measured(&undirected, &UNDIRECTED_TWINS, (hosts, threads), turns));
        for (name, [by_hand, compiled]) in measured {
            println!(
                "{hosts} × {threads} {name}: by hand ÷ compiled {:.3} in rounds, {:.3} in all; rounds {}, {}; bytes {}, {}",
                by_hand.rounds_seconds / compiled.rounds_seconds,
                by_hand.seconds / compiled.seconds,
                by_hand.rounds,
                compiled.rounds,
                by_hand.bytes,
                compiled.bytes,
            );
            rows.push(json!({
                "graph": graph, "hosts": hosts, "threads": threads, "program": name, "turns": turns,
                "by_hand": by_hand.json(), "compiled": compiled.json(),
            }));
        }
    }
    save(options, &rows);
}

fn measured(
    input: &Input,
    twins: &[(&'static str, [Form; 2])],
    (hosts, threads): (usize, usize),
    turns: usize,
) -> Vec<(&'static str, [Cost; 2])> {
    let mut cluster = Cluster::local(hosts).threads_per_host(threads);
    let measured = cluster.launch(|net| {
        let partition = Partition::build(net, input, &Plan::new("cvc")).expect("a partition");
        let mut all = Vec::new();
        for (name, forms) in twins {
            let mut best = [Cost::NONE; 2];
            for turn in 0..2 * turns {
                let form = turn % 2;
                net.barrier()?;
                let began = Instant::now();
                let report = forms[form](&mut Substrate::new(&partition, net, Optimize::ALL))?;
                let known = best[form];
                best[form] = Cost {
                    rounds_seconds: known.rounds_seconds.min(report.seconds),
                    seconds: known.seconds.min(began.elapsed().as_secs_f64()),
                    rounds: report.rounds.len(),
                    bytes: report.sent().total(),
                };
            }
            all.push((*name, best));
        }
        Ok::<_, Error>(all)
    });
    measured.expect("a run").swap_remove(0)
}
