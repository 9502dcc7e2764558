//! Betweenness: how many shortest paths lead through every vertex.
//!
//! `betweenness(v) = Σ paths(s, t, v) / paths(s, t)` over all pairs of vertices `s`, `t` other than `v`,
//! where `paths(s, t)` counts the paths of fewest edges from `s` to `t` and `paths(s, t, v)` those of them
//! with `v` on the way (Freeman 1977; Brandes 2008). In a directed graph pairs are ordered; in an
//! undirected one each pair counts once. `normalized` divides by the number of pairs without `v`:
//! `(n - 1) (n - 2)`, in an undirected graph half of that. Parallel edges are different paths; weights mean
//! nothing.
//!
//! Brandes's algorithm (J. Math. Sociol. 2001): a search from every source counts paths, and a sweep
//! back from the farthest vertices sums up dependencies, in time that follows sources × edges. Up to
//! eight searches share rounds, messages and passes over edges (`search`): two rounds per level of
//! the deepest search.
//! Some sources give the part of the sum that starts at them, in which the paths of a pair count as often as
//! they start there, in undirected graphs, too. Sources that are drawn at random give an estimate of the
//! whole: the part times vertices / sources, of undirected graphs half of that.

mod dependencies;
pub mod one_source;
mod search;
mod sweep;

use std::collections::VecDeque;
use std::time::Instant;

use parton_engine::{EngineInfo, Limits, Pacing, RunReport, engines};
use parton_graph::{Direction, GlobalId, Graph, LocalId, parallel, with_csr};
use parton_program::Program;
use parton_program::plan::CompiledPlan;

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Meanings, Values};
use crate::bfs;
use crate::error::{Error, Result};
use crate::memory_use::MemoryUse;
use crate::options::{OptionSet, Options};
use crate::phases::Phases;
use crate::sources::Sources;
use crate::traversal;
use dependencies::Dependencies;
use search::{BRANDES, BRANDES_PULL, BRANDES_PUSH, Search};

/// Betweenness.
pub struct Betweenness;

crate::options! {
    /// What one can ask of betweenness.
    pub struct BetweennessOptions {
        /// Where paths start: at all vertices, at N of most out-edges, at N drawn at random (then sums
        /// are scaled by vertices / N), or at original ids (a single one: `ID,`), also from a file with
        /// one per line.
        // From all sources a benchmark of a large graph would take days.
        sources: Sources = Sources::All, measured = "4";
        /// Divide by the number of pairs that a vertex can be between.
        normalized: bool = false;
    }
}

/// The option that names the sources, for messages.
const SOURCES: &str = "sources";
const NEEDS_ROUNDS: &str = "paths are counted level by level";
/// Rounding makes two sums of the same numbers differ by less than this, relative to the sum.
const MAX_RELATIVE_ERROR: f64 = 1e-9;
/// Masters among which a thread looks for sources at a time.
const MASTERS_PER_TASK: usize = 1 << 14;
/// The check searches from each source by itself up to this many sources.
const MAX_SEARCHED_SOURCES: usize = 64;

/// Scores of this host's masters, with the report of the run.
struct Scores {
    scores: Vec<f64>,
    setup_seconds: f64,
    report: RunReport,
}

/// The same as a vertex program, on devices and beside them. Every host must call this.
fn score_by_program(job: &mut Job<'_, '_>, sources: &[GlobalId]) -> Result<Scores> {
    let began = Instant::now();
    let (program, partition) = (Dependencies::new(sources), job.substrate.partition());
    let mut engine = engines::vertex_program(engines::FRONTIER, job.device, program, partition)?;
    let setup_seconds = began.elapsed().as_secs_f64();
    let mut phases = Phases::default();
    phases.run(job, &mut *engine, Pacing::default(), Limits::default())?;
    check_paths(engine.program().overflows())?;
    let scores = engine.states()?.iter().map(|state| state.score).collect();
    Ok(Scores { scores, setup_seconds, report: phases.report() })
}

fn check_paths(overflow: bool) -> Result<()> {
    match overflow {
        false => Ok(()),
        true => Err(Error::Data(
            "there are more than 1.8e308 shortest paths between some vertices: betweenness cannot be \
             computed in double precision"
                .into(),
        )),
    }
}

/// Sums up what depends on every vertex in searches from these sources. Every host must call this.
fn score(job: &mut Job<'_, '_>, sources: &[GlobalId], engine: &EngineInfo) -> Result<Scores> {
    match sources.len() {
        0 | 1 => score_in_lanes::<1>(job, sources, engine),
        2 => score_in_lanes::<2>(job, sources, engine),
        3 | 4 => score_in_lanes::<4>(job, sources, engine),
        _ => score_in_lanes::<8>(job, sources, engine),
    }
}

fn score_in_lanes<const L: usize>(
    job: &mut Job<'_, '_>,
    sources: &[GlobalId],
    engine: &EngineInfo,
) -> Result<Scores> {
    let began = Instant::now();
    let partition = job.substrate.partition();
    // The sources that this host masters, in the order of `sources`.
    let mut order: Vec<u32> = (0..sources.len() as u32).collect();
    order.sort_unstable_by_key(|&place| sources[place as usize]);
    let place_of = |global: &u32| {
        let known = |&place: &u32| sources[place as usize].0;
        order.binary_search_by_key(&u64::from(*global), known).ok().map(|at| order[at] as usize)
    };
    let here = |master| Some((place_of(&partition.globals()[master])?, LocalId(master as u32)));
    let pieces = parallel::pieces(0..partition.num_masters(), MASTERS_PER_TASK);
    let mine = parallel::map(&pieces, |piece| piece.clone().filter_map(here).collect::<Vec<_>>());
    let mut mine = mine.concat();
    mine.sort_unstable();
    let mut search = Search::<L>::new(partition, engine);
    let setup_seconds = began.elapsed().as_secs_f64();
    let mut phases = Phases::default();
    let mut mine = mine.into_iter().peekable();
    // Without sources, one empty batch still yields a report.
    for first in (0..sources.len().max(1)).step_by(L) {
        let batch = std::iter::from_fn(|| {
            let (place, source) = mine.next_if(|(place, _)| *place < first + L)?;
            Some((place - first, source))
        });
        let mut forward = search.forward_sweep(batch);
        phases.run(job, &mut forward, Pacing::default(), Limits::default())?;
        check_paths(forward.overflows())?;
        // With levels 0 and 1 alone no vertex is between others.
        if search.depth() > 1 {
            phases.run(job, &mut search.backward_sweep(), Pacing::default(), Limits::default())?;
        }
        let done = sources.len().min(first + L);
        job.watch.advanced(done as u64, sources.len() as u64, "sources");
    }
    Ok(Scores { scores: search.into_scores(), setup_seconds, report: phases.report() })
}

/// What the scores are about: all that decides what sums over sources are multiplied with.
struct Scaling<'a> {
    own: &'a BetweennessOptions,
    /// Sources that were searched from.
    sources: usize,
    vertices: u64,
    is_undirected: bool,
}

impl Scaling<'_> {
    /// The factor, and what to say of the scores.
    fn factor(&self) -> (f64, String) {
        let Scaling { sources, vertices, .. } = *self;
        // A sum over all sources has each pair of an undirected graph twice.
        let (whole, pairs) = match self.is_undirected {
            true => (0.5, "all pairs, each once"),
            false => (1.0, "all ordered pairs"),
        };
        let (mut factor, mut note) = match &self.own.sources {
            _ if sources as u64 == vertices => (whole, format!("exact: paths between {pairs}")),
            Sources::Random { seed, .. } => (
                whole * vertices as f64 / sources as f64,
                format!(
                    "an estimate of paths between {pairs}: those that start at {sources} vertices drawn \
                     at random (seed {seed}), times {vertices} / {sources}"
                ),
            ),
            Sources::Largest(_) => (
                1.0,
                format!("paths that start at the {sources} vertices of most out-edges, not scaled"),
            ),
            Sources::All | Sources::Listed(_) => {
                (1.0, format!("paths that start at {sources} vertices, not scaled"))
            }
        };
        if self.own.normalized {
            // A smaller graph has no vertex that is between two others.
            let others = vertices.saturating_sub(1) as f64 * vertices.saturating_sub(2) as f64;
            factor /= (others * whole).max(1.0);
            note += ", divided by the number of pairs";
        } else {
            note += ", not normalised";
        }
        (factor, note)
    }
}

/// What scores of this job are about.
fn scaling<'a>(job: &Job<'_, '_>, own: &'a BetweennessOptions, sources: usize) -> Scaling<'a> {
    let partition = job.substrate.partition();
    let (vertices, is_undirected) = (partition.num_vertices(), partition.is_symmetric());
    Scaling { own, sources, vertices, is_undirected }
}

impl Algorithm for Betweenness {
    fn name(&self) -> &'static str {
        "betweenness"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["bc"]
    }

    fn about(&self) -> &'static str {
        "betweenness: how many shortest paths lead through every vertex, by fewest edges"
    }

    fn meanings(&self) -> Meanings {
        &[("max", "the greatest score"), ("sum", "the scores of all vertices added up")]
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(BetweennessOptions::default())
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[&BRANDES, &BRANDES_PUSH, &BRANDES_PULL]
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(10.0, 120.9, 8.0).with_copies(0.5)
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        Some(NEEDS_ROUNDS)
    }

    fn needs_threads(&self, options: &Options) -> Option<&'static str> {
        let is_other = options.engine.is_some_and(|engine| *engine != BRANDES);
        is_other.then_some("there the engine is brandes")
    }

    fn plans(&self) -> Vec<&'static CompiledPlan> {
        vec![one_source::one_source::compiled_plan()]
    }

    fn accepts(&self, options: &Options) -> Result<()> {
        let refuse = |problem: &str| Err(Error::Request(problem.into()));
        match (options.own::<BetweennessOptions>().sources, options.max_rounds) {
            (_, Some(_)) => refuse("`max_rounds`: betweenness has no scores before its last round"),
            (Sources::Largest(0) | Sources::Random { count: 0, .. }, _) => {
                refuse("`sources`: expected at least 1")
            }
            (Sources::Listed(ids), _) if ids.is_empty() => {
                refuse("`sources` names no vertices: expected at least 1")
            }
            _ => Ok(()),
        }
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        self.accepts(job.options)?;
        let (engine, why) = job.engine(self, &BRANDES, || {
            let degree = job.average_degree();
            format!("level by level, average degree {degree:.1}: along fewest edges")
        })?;
        let began = Instant::now();
        let own = job.options.own::<BetweennessOptions>();
        let sources = own.sources.find(job.substrate, SOURCES)?;
        let choosing = began.elapsed().as_secs_f64();
        let Scores { mut scores, setup_seconds, report } = match job.has_devices(self)? {
            true => score_by_program(job, &sources)?,
            false => score(job, &sources, engine)?,
        };
        let (scale, note) = scaling(job, &own, sources.len()).factor();
        scores.iter_mut().for_each(|score| *score *= scale);
        let net = job.substrate.net();
        let max = net.all_reduce(scores.iter().copied().fold(0.0, f64::max), f64::max)?;
        let sum = net.all_reduce(scores.iter().sum::<f64>(), |a, b| a + b)?;
        Ok(Answer {
            columns: vec![Column { name: "betweenness", values: Values::F64(scores) }],
            result: vec![("max", Fact::Real(max)), ("sum", Fact::Real(sum))],
            engine,
            why,
            setup_seconds: setup_seconds + choosing,
            report,
            notes: vec![note],
        })
    }

    /// Scores are computed again with the opposite direction: by push after pull, by pull after push.
    /// With few sources, a breadth-first search from each gives distances too. The scores must then sum
    /// up to distance − 1 over all reached pairs: the inner vertices of one shortest path.
    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::F64(scores) = &answer.columns[0].values else {
            unreachable!("scores are real numbers")
        };
        let own = job.options.own::<BetweennessOptions>();
        let sources = own.sources.find(job.substrate, SOURCES)?;
        let (scale, _) = scaling(job, &own, sources.len()).factor();
        let other = if *answer.engine == BRANDES_PUSH { &BRANDES_PULL } else { &BRANDES_PUSH };
        let again = score(job, &sources, other)?.scores;
        let is_wrong = |(found, again): (&f64, &f64)| {
            let expected = again * scale;
            let close = (found - expected).abs() <= MAX_RELATIVE_ERROR * expected;
            !(found == &expected || close)
        };
        let wrong = scores.iter().zip(&again).filter(|&pair| is_wrong(pair)).count() as u64;
        let wrong = job.substrate.net().all_reduce(wrong, |a, b| a + b)?;
        if wrong > 0 {
            return Ok(Some(format!("{wrong} vertices have another score when it is found again")));
        }
        if sources.len() > MAX_SEARCHED_SOURCES {
            return Ok(None);
        }
        let mut between = 0;
        for source in sources {
            let found = traversal::label(job, &bfs::search(source), engines::FRONTIER)?;
            let levels = found.labels.iter().filter(|&&level| level > 0 && level != u32::MAX);
            between += levels.map(|&level| u64::from(level) - 1).sum::<u64>();
        }
        let mine = [between as f64 * scale, scores.iter().sum()];
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let [expected, found] = job.substrate.net().all_reduce(mine, add)?;
        let close = (expected - found).abs() <= MAX_RELATIVE_ERROR * expected;
        Ok((!close).then(|| {
            format!("scores sum up to {found}, but {expected} vertices are between others")
        }))
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let vertices = graph.num_vertices();
        let mut scores = vec![0.0; vertices];
        let own = options.own::<BetweennessOptions>();
        let sources = own.sources.find_in(graph, SOURCES)?;
        for source in &sources {
            let (mut levels, mut paths) = (vec![u32::MAX; vertices], vec![0.0; vertices]);
            let (mut queue, mut order) = (VecDeque::new(), Vec::new());
            let source = source.0 as usize;
            (levels[source], paths[source]) = (0, 1.0);
            queue.push_back(source);
            let mut dependencies = vec![0.0; vertices];
            with_csr!(&graph.adjacency, csr => {
                while let Some(vertex) = queue.pop_front() {
                    order.push(vertex);
                    for target in csr.targets(LocalId(vertex as u32)).iter().map(|t| t.index()) {
                        if levels[target] == u32::MAX {
                            levels[target] = levels[vertex] + 1;
                            queue.push_back(target);
                        }
                        if levels[target] == levels[vertex] + 1 {
                            paths[target] += paths[vertex];
                        }
                    }
                }
                for vertex in order.into_iter().rev() {
                    for target in csr.targets(LocalId(vertex as u32)).iter().map(|t| t.index()) {
                        if levels[target] == levels[vertex] + 1 {
                            dependencies[vertex] +=
                                paths[vertex] / paths[target] * (1.0 + dependencies[target]);
                        }
                    }
                    if vertex != source {
                        scores[vertex] += dependencies[vertex];
                    }
                }
            });
        }
        let is_undirected = graph.direction == Direction::Undirected;
        let (vertices, sources) = (vertices as u64, sources.len());
        let (scale, _) = Scaling { own: &own, sources, vertices, is_undirected }.factor();
        scores.iter_mut().for_each(|score| *score *= scale);
        Ok(vec![Column { name: "betweenness", values: Values::F64(scores) }])
    }
}
