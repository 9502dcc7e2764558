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

use std::time::Instant;

use parton_engine::degrees::out_degrees;
use parton_engine::{
    DeviceType, EngineInfo, Properties, Tally, Vertex, VertexProgram, device, engines, run,
};
use parton_sync::reduction::Sum;

use super::teleport::includes;
use super::{Dangling, PageRankOptions, Ranked, Teleport};
use crate::algorithm::Job;
use crate::error::Result;

/// Runs until nothing that waits is worth passing on. Every host must call this.
pub(super) fn rank(job: &mut Job<'_, '_>, engine: &EngineInfo) -> Result<Ranked> {
    let began = Instant::now();
    let partition = job.substrate.partition();
    let out_degrees = out_degrees(job.substrate)?;
    let vertices = partition.num_vertices() as f64;
    let own = job.options.own::<PageRankOptions>();
    let teleport = Teleport::find(job.substrate, &own)?;
    let program = Residuals::new(&own, &out_degrees, vertices, &teleport);
    let mut engine = engines::vertex_program(engine, job.device, program, partition)?;
    let setup_seconds = began.elapsed().as_secs_f64();
    let report = run(&mut *engine, job.substrate, job.options.pacing, job.limits(), job.watch)?;
    let flows = engine.states()?;
    let mine = [flows.iter().map(Flow::rank).sum(), flows.iter().map(Flow::residual).sum()];
    let all = job.substrate.net().all_reduce(mine, |a, b: [f64; 2]| [a[0] + b[0], a[1] + b[1]])?;
    let [sum, residual] = all;
    // Another round passes on what waits; where ranks are scaled, ranks change once more by as much.
    let (scale, times) = match own.dangling {
        Dangling::Redistribute => (1.0 / sum, 2.0),
        Dangling::Drop => (1.0, 1.0),
    };
    let ranks = flows.iter().map(|flow| flow.rank() * scale).collect();
    let change = if vertices > 0.0 { times * scale * own.damping * residual } else { 0.0 };
    Ok(Ranked { ranks, change, setup_seconds, report })
}

/// Rank that flows on.
struct Residuals<'a> {
    /// Of masters, in the whole graph.
    out_degrees: &'a [u64],
    /// Masters that the surfer may start again at, one bit each; `None`: all masters.
    seeds: Option<&'a [u64]>,
    /// The probability of each of them.
    probability: f64,
    damping: f64,
    /// Residuals up to this size are not passed on.
    threshold: f64,
}

/// The rank of a vertex.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Flow {
    rank: f64,
    /// What has arrived and was not passed on.
    residual: f64,
    /// The residual that is passed on in this round.
    passing: f64,
}

impl<'a> Residuals<'a> {
    fn new(
        own: &PageRankOptions,
        out_degrees: &'a [u64],
        vertices: f64,
        teleport: &'a Teleport,
    ) -> Self {
        // Another round would change ranks by what waits, at most `vertices` thresholds; scaling
        // makes that up to 1 / (1 - d) times as much, and moves as much the other way.
        let share = match own.dangling {
            Dangling::Drop => 1.0,
            Dangling::Redistribute => (1.0 - own.damping) / 2.0,
        };
        let threshold = own.tolerance * share / vertices;
        let (seeds, probability) = (teleport.seeds(), teleport.place_probability());
        Residuals { out_degrees, seeds, probability, damping: own.damping, threshold }
    }
}

impl Flow {
    /// The rank, with what has not been passed on.
    fn rank(&self) -> f64 {
        self.rank + self.residual
    }

    /// What has arrived and was not passed on.
    fn residual(&self) -> f64 {
        self.residual
    }
}

#[device]
impl VertexProgram for Residuals<'_> {
    type State = Flow;
    type Message = f64;
    type Messages = Sum<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, vertex: Vertex) -> Flow {
        let is_place = includes(self.seeds, vertex.local);
        let probability = if is_place { self.probability } else { 0.0 };
        let rank = (1.0 - self.damping) * probability;
        Flow { rank, residual: 0.0, passing: rank }
    }

    fn scatter(&self, vertex: Vertex, flow: &Flow) -> Option<f64> {
        match self.out_degrees[vertex.local.index()] {
            0 => None,
            _ if flow.passing == 0.0 => None,
            degree => Some(self.damping * flow.passing / degree as f64),
        }
    }

    #[inline]
    fn along(&self, share: f64, (): ()) -> f64 {
        share
    }

    fn apply(&self, vertex: Vertex, flow: &mut Flow, shares: f64, _: &mut Tally) -> bool {
        if self.out_degrees[vertex.local.index()] == 0 {
            flow.rank += shares;
            return false;
        }
        flow.residual += shares;
        if flow.residual <= self.threshold {
            return false;
        }
        flow.passing = std::mem::take(&mut flow.residual);
        flow.rank += flow.passing;
        true
    }

    fn properties(&self) -> Properties {
        Properties { any_order: true, ..Properties::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation::checks::{self, State};
    use crate::translation::harness::Random;

    impl State for Flow {
        fn random(random: &mut Random) -> Self {
            Flow { rank: random.value(), residual: random.value(), passing: random.value() }
        }

        fn state_slots(&self) -> Vec<u64> {
            [self.rank, self.residual, self.passing].map(f64::to_bits).to_vec()
        }

        fn known(slots: &[u64]) -> Vec<u64> {
            f64::known(slots)
        }
    }

    #[test]
    fn translation() {
        for seeds in [None, Some(&[0b1010_u64][..])] {
            let program = Residuals {
                out_degrees: &[0, 1, 7, u64::MAX, 1 << 40],
                seeds,
                probability: 0.2,
                damping: 0.85,
                threshold: 1e-3,
            };
            checks::vertex_program(&program, &[9, 8, 7, 6, 5]);
        }
    }
}
