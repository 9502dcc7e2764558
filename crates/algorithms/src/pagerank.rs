//! PageRank: how often a random surfer visits every vertex.
//!
//! `rank(v) = (1 - d) / n + d · (Σ rank(u) / out-degree(u) over edges u → v + lost / n)`, where `lost` is the rank of
//! vertices without out-edges, which all vertices share, or which is dropped with [`Dangling::Drop`]. Ranks start at
//! `1 / n`; with `unnormalized` everything is `n` times that. Every edge counts, parallel ones and self-loops too.
//! The run ends when all ranks together change by no more than the tolerance (of normalised ranks). The number of
//! rounds follows `log tolerance / log d`, and each round visits every edge once.
//!
//! `1 / n` is the teleport distribution: where the surfer starts again. With *seeds* (personalised
//! PageRank: Haveliwala, WWW'02) it is `1 / seeds` for these and 0 for others, also in what vertices
//! get of lost rank and in what ranks start at. Vertices that no seed reaches have rank 0.
//!
//! LDBC Graphalytics counts rounds instead of waiting for ranks to settle: with `graphalytics` there
//! are exactly `max_rounds`, by default 10, of the same definition.
//!
//! That is the power method, which needs rounds: every vertex collects in each of them. The residual
//! method in `residual` finds the same ranks without, by passing on only what has changed.
//!
//! Ranks and sums are f64. What passes along edges, the bulk of what is moved in memory, is f32
//! where there are many vertices and stopping early costs far more than rounding does.

mod left_out;
mod options;
pub mod power;
mod precision;
pub mod residual;
mod teleport;
mod top;

use std::marker::PhantomData;
use std::time::Instant;

use parton_engine::degrees::out_degrees_at_hand;
use parton_engine::{
    DeviceType, Edges, EngineInfo, Filter, LeftOut, Limits, Measure, Pacing, Properties, RunReport,
    SharedSource, StationaryProgram, Tally, Vertex, VertexProgram, device, engines, run,
};
use parton_graph::{Graph, LocalId, parallel, with_csr};
use parton_program::Program;
use parton_program::plan::CompiledPlan;
use parton_sync::reduction::{Latest, Sum};
use parton_sync::value::Number;

use crate::algorithm::{Access, Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Meanings, Values};
use crate::error::Result;
use crate::memory_use::MemoryUse;
use crate::options::{OptionSet, Options};
use left_out::{LeftOutRanks, RoundSums};
pub use options::{Dangling, Formulation, PageRankOptions, Precision};
use options::{formulation, limits};
use precision::{SINGLE_ERROR, is_single};
use teleport::{Teleport, includes};
use top::top;

/// Vertices whose ranks are added up one after the other.
const VERTICES_PER_SUM: usize = 1 << 14;

/// PageRank.
pub struct PageRank;

/// Ranks that approach a fixed point. All ranks are normalised until they leave. Ranks and sums
/// are f64; what passes along edges is an `S`.
struct Ranks<'a, S> {
    /// Of masters: one by their out-degree in the whole graph; 0 where there are no out-edges.
    parts: &'a [f64],
    /// Ranks of masters before the first round; `None`: all the same.
    start: Option<&'a [f64]>,
    teleport: &'a Teleport,
    /// Masters that the surfer may start again at, one bit each; `None`: all masters.
    seeds: Option<&'a [u64]>,
    /// The probability of each of them.
    probability: f64,
    own: &'a PageRankOptions,
    damping: f64,
    /// What a vertex gets apart from its in-edges, where the surfer may start again.
    teleport_rank: f64,
    /// What stands in for vertices that are left out of rounds.
    left_out: LeftOutRanks,
    /// How much all ranks together changed in the last round, at most: of vertices that are left out a bound
    /// is known.
    change: f64,
    /// Rounds at most.
    rounds: u64,
    shares: PhantomData<S>,
}

#[device]
impl<S: Number + DeviceType> VertexProgram for Ranks<'_, S> {
    type State = f64;
    type Message = S;
    type Messages = Latest<S>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> f64 {
        match self.start {
            Some(start) => start[vertex.local.index()],
            None if includes(self.seeds, vertex.local) => self.probability,
            None => 0.0,
        }
    }

    #[inline]
    fn scatter(&self, vertex: Vertex<'_>, rank: &f64) -> Option<S> {
        Some(S::from_f64(rank * self.parts[vertex.local.index()]))
    }

    #[inline]
    fn along(&self, share: S, (): ()) -> f64 {
        share.to_f64()
    }

    #[inline]
    fn apply(&self, vertex: Vertex<'_>, rank: &mut f64, shares: f64, tally: &mut Tally) -> bool {
        let is_place = includes(self.seeds, vertex.local);
        let teleport_rank = if is_place { self.teleport_rank } else { 0.0 };
        let new = teleport_rank + self.damping * shares;
        tally.sums[0] += (new - *rank).abs();
        if self.parts[vertex.local.index()] == 0.0 {
            tally.sums[1] += new;
        }
        tally.sums[2] += new;
        *rank = new;
        true
    }

    fn properties(&self) -> Properties {
        let (stationary, last_message_wins) = (true, true);
        let rounds = self.rounds;
        Properties { stationary, last_message_wins, rounds, ..Properties::default() }
    }

    /// Vertices without in-edges get the same rank in every round, if the surfer may start anywhere.
    fn shared_source(&self) -> Option<SharedSource<f64>> {
        let is_shared = self.seeds.is_none() && self.start.is_none();
        is_shared.then_some(SharedSource { unit: 1.0, factor: self.left_out.source_rank })
    }

    fn scale(&self, shares: f64, rank: f64) -> f64 {
        shares * rank
    }

    fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out.vertices = Some(left_out);
    }

    fn apply_late(&self, _: Vertex<'_>, rank: &mut f64, shares: f64) {
        *rank = self.left_out.source_rank + self.damping * shares;
    }

    fn measure(&self) -> Option<Measure> {
        let goal = (!self.own.graphalytics).then_some(self.own.tolerance);
        Some(Measure { name: "residual", value: self.change, goal })
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        // The sums of `apply`: how much ranks changed, and the rank of vertices without out-edges.
        let [change, lost, sum, _] = total.sums;
        let sums = RoundSums { change, lost, sum };
        let RoundSums { change, lost, .. } =
            self.left_out.conclude(sums, self.damping, self.teleport_rank);
        self.change = change;
        self.teleport_rank = self.teleport.rank(self.own, lost);
        !self.own.graphalytics && change <= self.own.tolerance
    }
}

/// Ranks of this host's masters after a run.
struct Ranked {
    ranks: Vec<f64>,
    /// How much all ranks together changed in the last round, or would in another.
    change: f64,
    setup_seconds: f64,
    report: RunReport,
}

/// Runs the power method from given ranks, or from equal ones. Every host must call this.
fn rank<S: Number + DeviceType>(
    job: &mut Job<'_, '_>,
    engine: &EngineInfo,
    start: Option<&[f64]>,
    (pacing, limits): (Pacing, Limits),
) -> Result<Ranked> {
    let began = Instant::now();
    let partition = job.substrate.partition();
    let degrees = out_degrees_at_hand(job.substrate)?;
    let part = |degree: u64| if degree == 0 { 0.0 } else { 1.0 / degree as f64 };
    let parts = parallel::generate(partition.num_masters(), |master| part(degrees.of(master)));
    drop(degrees);
    let own = job.options.own::<PageRankOptions>();
    let teleport = Teleport::find(job.substrate, &own)?;
    let lost_at = |place: usize| match start {
        Some(start) => start[place],
        None => teleport.probability(LocalId(place as u32)),
    };
    // Sums are rounded piece by piece: pieces do not depend on the number of threads.
    let pieces = parallel::pieces(0..parts.len(), VERTICES_PER_SUM);
    let lost = parallel::map(&pieces, |piece| {
        let dangling = piece.clone().filter(|&place| parts[place] == 0.0);
        dangling.map(lost_at).sum::<f64>()
    });
    let lost = job.substrate.net().all_reduce(lost.iter().sum::<f64>(), |a, b| a + b)?;
    let program = Ranks::<S> {
        parts: &parts,
        start,
        teleport: &teleport,
        seeds: teleport.seeds(),
        probability: teleport.place_probability(),
        own: &own,
        damping: own.damping,
        teleport_rank: teleport.rank(&own, lost),
        left_out: LeftOutRanks::new(teleport.place_probability()),
        change: f64::INFINITY,
        rounds: limits.max_rounds.unwrap_or(u64::MAX),
        shares: PhantomData,
    };
    let mut engine = engines::vertex_program(engine, job.device, program, partition)?;
    let setup_seconds = began.elapsed().as_secs_f64();
    let report = run(&mut *engine, job.substrate, pacing, limits, job.watch)?;
    let (states, change) = (engine.states()?, engine.program().change);
    let ranks = parallel::generate(states.len(), |place| states[place]);
    Ok(Ranked { ranks, change, setup_seconds, report })
}

/// What ranks are multiplied with when they leave.
fn scale(own: &PageRankOptions, vertices: f64) -> f64 {
    if own.unnormalized { vertices } else { 1.0 }
}

impl Algorithm for PageRank {
    fn name(&self) -> &'static str {
        "pagerank"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["pr"]
    }

    fn about(&self) -> &'static str {
        "PageRank: how often a random surfer visits every vertex"
    }

    fn meanings(&self) -> Meanings {
        &[
            ("sum", "all ranks added up"),
            ("top", "the vertices of highest rank"),
            ("residual", "how much all ranks together changed in the last round"),
        ]
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(PageRankOptions::default())
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(6.5, 52.0, 8.0).with_copies(0.5)
    }

    fn needs_rounds(&self, options: &Options) -> Option<&'static str> {
        match formulation(options) {
            Formulation::Power => {
                Some("every vertex collects in every round; `formulation` residual does without")
            }
            Formulation::Residual => None,
        }
    }

    fn access(&self, options: &Options) -> Access {
        match formulation(options) {
            Formulation::Power => Access::Destinations,
            Formulation::Residual => Access::Sources,
        }
    }

    fn plans(&self) -> Vec<&'static CompiledPlan> {
        vec![power::power::compiled_plan(), residual::residuals::compiled_plan()]
    }

    fn accepts(&self, options: &Options) -> Result<()> {
        limits(options).map(drop)
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let limits = limits(job.options)?;
        let own = job.options.own::<PageRankOptions>();
        let degree = job.average_degree();
        let (engine, why, ranked) = match formulation(job.options) {
            Formulation::Power => {
                let vertices = job.substrate.partition().num_vertices();
                let single = is_single(vertices, &own, limits);
                let precision = if single { "single" } else { "double" };
                // Only seeds get rank from the teleport distribution: other vertices without in-edges have none to share.
                let shares_source = own.seeds.is_none();
                let ranks = StationaryProgram {
                    edges: Edges::Out,
                    filter: Filter { sinks: shares_source, sources: shares_source },
                    is_on_device: job.device.is_some(),
                };
                let (suits, because) = ranks.engine(job.substrate)?;
                let (engine, why) = job.engine(self, suits, || {
                    format!(
                        "all vertices send in all rounds, average degree {degree:.1}, \
                         {precision} precision{because}"
                    )
                })?;
                let how = (job.options.pacing, limits);
                let ranked = match single {
                    true => rank::<f32>(job, engine, None, how)?,
                    false => rank::<f64>(job, engine, None, how)?,
                };
                (engine, why, ranked)
            }
            Formulation::Residual => {
                let (engine, why) = job.engine(self, engines::FRONTIER, || {
                    format!("many or few have something to pass on, average degree {degree:.1}")
                })?;
                (engine, why, residual::rank(job, engine)?)
            }
        };
        let scale = scale(&own, job.substrate.partition().num_vertices() as f64);
        let ranks = parallel::generate(ranked.ranks.len(), |place| ranked.ranks[place] * scale);
        let pieces = parallel::pieces(0..ranks.len(), VERTICES_PER_SUM);
        let sums = parallel::map(&pieces, |piece| ranks[piece.clone()].iter().sum::<f64>());
        let sum = job.substrate.net().all_reduce(sums.iter().sum::<f64>(), |a, b| a + b)?;
        let top = top(job, &ranks)?;
        let mut report = ranked.report;
        // Graphalytics asks for a number of rounds, not for final ranks.
        report.converged |= own.graphalytics;
        Ok(Answer {
            columns: vec![Column { name: "rank", values: Values::F64(ranks) }],
            result: vec![
                ("sum", Fact::Real(sum)),
                ("top", Fact::Ranking(top)),
                ("residual", Fact::Real(ranked.change)),
            ],
            engine,
            why,
            setup_seconds: ranked.setup_seconds,
            report,
            notes: notes(&own),
        })
    }

    /// One more round must change ranks by no more than `d` times what the last one did: the
    /// rounds contract by that factor, whatever the ranks are. The residual method tells what
    /// another round would change.
    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::F64(ranks) = &answer.columns[0].values else {
            unreachable!("ranks are real numbers")
        };
        let change = answer.result.iter().find_map(|(name, fact)| match fact {
            Fact::Real(change) if *name == "residual" => Some(*change),
            _ => None,
        });
        let vertices = job.substrate.partition().num_vertices() as f64;
        let own = job.options.own::<PageRankOptions>();
        let scale = scale(&own, vertices);
        let start: Vec<f64> = ranks.iter().map(|rank| rank / scale).collect();
        let once = (Pacing::default(), Limits { max_rounds: Some(1) });
        let residual = rank::<f64>(job, engines::PULL, Some(&start), once)?.change;
        let (left, single) = match formulation(job.options) {
            Formulation::Power => {
                let single = is_single(vertices as u64, &own, limits(job.options)?);
                (own.damping, single)
            }
            Formulation::Residual => (1.0, false),
        };
        let rounding = if single { SINGLE_ERROR } else { 1e-13 };
        let expected = left * change.unwrap_or(f64::INFINITY).min(2.0);
        let teleport = Teleport::find(job.substrate, &own)?;
        let is_small = |(place, rank): (usize, &f64)| {
            let place = LocalId(place as u32);
            let least = (1.0 - own.damping) * teleport.probability(place);
            rank.is_nan() || *rank < least * (1.0 - 1e-9)
        };
        let too_small = start.iter().enumerate().filter(|&pair| is_small(pair)).count() as u64;
        let too_small = job.substrate.net().all_reduce(too_small, |a, b| a + b)?;
        Ok(if vertices == 0.0 {
            None
        } else if too_small > 0 {
            Some(format!("{too_small} ranks are less than a vertex gets without any in-edge"))
        } else if residual.is_nan() || residual > expected * (1.0 + 1e-6) + rounding {
            Some(format!(
                "another round changes the ranks by {residual:e}, but at most {expected:e} is left"
            ))
        } else {
            None
        })
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let limits = limits(options)?;
        let own = options.own::<PageRankOptions>();
        let vertices = graph.num_vertices();
        let teleport = Teleport::in_graph(graph, &own)?;
        let mut ranks = teleport.clone();
        for _ in 0..limits.max_rounds.unwrap_or(u64::MAX) {
            let mut new = vec![0.0; vertices];
            let mut lost = 0.0;
            with_csr!(&graph.adjacency, csr => {
                for source in csr.vertices() {
                    let rank = ranks[source.index()];
                    let targets = csr.targets(source);
                    if targets.is_empty() {
                        lost += rank;
                    }
                    for target in targets {
                        new[target.index()] += rank / targets.len() as f64;
                    }
                }
            });
            if own.dangling == Dangling::Drop {
                lost = 0.0;
            }
            let mut change = 0.0;
            for ((rank, sum), unit) in ranks.iter_mut().zip(new).zip(&teleport) {
                let new = (1.0 - own.damping) * unit + own.damping * (sum + lost * unit);
                change += (new - *rank).abs();
                *rank = new;
            }
            if change <= own.tolerance && !own.graphalytics {
                break;
            }
        }
        let scale = scale(&own, vertices as f64);
        ranks.iter_mut().for_each(|rank| *rank *= scale);
        Ok(vec![Column { name: "rank", values: Values::F64(ranks) }])
    }
}

/// What a user should know of the ranks.
fn notes(own: &PageRankOptions) -> Vec<String> {
    let Some(ids) = &own.seeds else { return Vec::new() };
    let lost = match own.dangling {
        Dangling::Redistribute => "which also share what vertices without out-edges lose",
        Dangling::Drop => "and what vertices without out-edges lose is lost",
    };
    let seeds = match &ids[..] {
        [one] => format!("vertex {one}"),
        more => format!("{} vertices", more.len()),
    };
    vec![format!("personalised: the surfer starts again at {seeds}, {lost}")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation::checks;
    use crate::translation::harness::Slot;

    fn check<S: Number + DeviceType + Slot>(start: Option<&[f64]>) {
        let own = PageRankOptions::default();
        let teleport = Teleport::uniform(5.0);
        for seeds in [None, Some(&[0b1010_u64][..])] {
            let program = Ranks::<S> {
                parts: &[0.0, 0.1, 1.0, 0.25, 1.0 / 3.0],
                start,
                teleport: &teleport,
                seeds,
                probability: teleport.place_probability(),
                own: &own,
                damping: own.damping,
                teleport_rank: 0.03,
                left_out: LeftOutRanks::new(0.2),
                change: 1.0,
                rounds: 10,
                shares: PhantomData,
            };
            checks::vertex_program(&program, &[9, 8, 7, 6, 5]);
            // Only the last messages matter, as the properties say.
            let vertex = Vertex::new(&[9, 8, 7, 6, 5], LocalId(2));
            let [a, b] = [0.1, 0.7].map(|mut rank| {
                program.apply(vertex, &mut rank, 0.3, &mut Tally::default());
                rank
            });
            assert_eq!(a, b);
        }
    }

    #[test]
    fn translation() {
        check::<f64>(None);
        check::<f32>(Some(&[0.1, 0.2, 0.3, 0.4, 0.5]));
    }
}
