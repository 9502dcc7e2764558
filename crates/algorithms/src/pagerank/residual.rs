//! PageRank without rounds, by residuals (push: Andersen, Chung, Lang, FOCS'06; data-driven PageRank:
//! Whang et al., Euro-Par'15).
//!
//! Every vertex starts with its teleport rank, `(1 - d) / n` without seeds, and passes on `d` times
//! that. Rank that arrives at a vertex is its *residual* until the residual exceeds a threshold; then
//! it is added to the rank, and `d` times it goes on along the edges. In the end the ranks `y` fulfil
//! `y = (1 - d) / n + d · Σ y(u) / out-degree(u)` but for residuals. Contributions are sums of
//! events: each counts once, in any order, in any portions.
//!
//! The rank of vertices without out-edges needs no sums over all hosts on the way. Redistributed, it
//! acts like more teleport rank, and ranks are proportional to that; so ranks are scaled to sum up
//! to 1 in the end.

use parton_engine::{EngineInfo, RunReport};
use parton_graph::GlobalId;
use parton_program::{Field, Graph, Improve, Typed, Vertex, Worklist, program};

use super::{Dangling, PageRankOptions, Ranked, teleport};
use crate::algorithm::Job;
use crate::compiled;
use crate::error::Result;

/// Ranks, and what has arrived and was not worth passing on. Without seeds the surfer starts again anywhere.
#[program(crate = parton_program)]
pub fn residuals(
    graph: &Graph<()>,
    damping: f64,
    threshold: f64,
    seeds: &[Vertex],
) -> (Field<f64>, Field<f64>) {
    let mut rank = graph.field(0.0);
    let mut residual = graph.field(0.0);
    let mut work = Worklist::new();
    if seeds.is_empty() {
        let everywhere = (1.0 - damping) / graph.num_vertices() as f64;
        for v in graph.vertices() {
            residual[v] = everywhere;
            work.push(v);
        }
    } else {
        let at_seeds = (1.0 - damping) / seeds.len() as f64;
        for &seed in seeds {
            residual[seed] = at_seeds;
            work.push(seed);
        }
    }
    while let Some(v) = work.pop() {
        let passing = residual[v].take();
        rank[v] += passing;
        let share = damping * passing / graph.out_degree(v) as f64;
        for edge in graph.out_edges(v) {
            residual[edge.target] += share;
            if residual[edge.target] > threshold {
                work.push(edge.target);
            }
        }
    }
    (rank, residual)
}

/// Runs until nothing that waits is worth passing on. Every host must call this.
pub(super) fn rank(job: &mut Job<'_, '_>, engine: &'static EngineInfo) -> Result<Ranked> {
    let own = job.options.own::<PageRankOptions>();
    let seeds = teleport::seeds(job.substrate, &own)?.unwrap_or_default();
    let vertices = job.substrate.partition().num_vertices() as f64;
    // Another round would change ranks by what waits, at most `vertices` thresholds; scaling
    // makes that up to 1 / (1 - d) times as much, and moves as much the other way.
    let share = match own.dangling {
        Dangling::Drop => 1.0,
        Dangling::Redistribute => (1.0 - own.damping) / 2.0,
    };
    let threshold = own.tolerance * share / vertices;
    let seeds = seeds.iter().map(|seed: &GlobalId| Vertex(seed.0 as u32)).collect();
    let program = residuals { damping: own.damping, threshold, seeds };
    let answered = compiled::run_part(job, engine, &program)?;
    let (setup_seconds, report): (f64, RunReport) = (answered.setup_seconds, answered.report);
    let mut columns = answered.columns.into_iter().map(f64::of_values);
    let mut next = || columns.next().expect("the program returns two fields");
    let (mut ranks, residuals) = (next(), next());
    // What waits is rank, too.
    ranks.iter_mut().zip(&residuals).for_each(|(rank, residual)| *rank += residual);
    let mine = [ranks.iter().sum::<f64>(), residuals.iter().sum()];
    let all = job.substrate.net().all_reduce(mine, |a, b: [f64; 2]| [a[0] + b[0], a[1] + b[1]])?;
    let [sum, residual] = all;
    // Another round passes on what waits; where ranks are scaled, ranks change once more by as much.
    let (scale, times) = match own.dangling {
        Dangling::Redistribute => (1.0 / sum, 2.0),
        Dangling::Drop => (1.0, 1.0),
    };
    ranks.iter_mut().for_each(|rank| *rank *= scale);
    let change = if vertices > 0.0 { times * scale * own.damping * residual } else { 0.0 };
    Ok(Ranked { ranks, change, setup_seconds, report })
}
