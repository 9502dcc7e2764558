//! Cores. The k-core of an undirected simple graph is its largest part in which every vertex has at least k
//! neighbours. The coreness of a vertex is the greatest k whose core it is in.
//!
//! Found by peeling, level by level (Matula, Beck, JACM 1983; Batagelj, Zaveršnik 2003), if hosts wait
//! for each other; else by upper bounds that fall to the h-index of the neighbours' bounds
//! (Montresor, De Pellegrini, Miorandi 2013). Work follows the edges, or how often bounds fall.

mod bounds;
mod certificate;
pub mod core;
mod peel;
mod removal;

use std::time::Instant;

use parton_engine::degrees::out_degrees;
use parton_engine::{EngineInfo, Pace, RunReport, engines, run};
use parton_graph::{Graph, LocalId, with_csr};
use parton_partition::End;
use parton_program::Program;
use parton_program::plan::CompiledPlan;

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Meanings, Values};
use crate::error::Result;
use crate::memory_use::MemoryUse;
use crate::needs::Needs;
use crate::neighbours;
use crate::options::{OptionSet, Options};
use bounds::{Bounds, PEEL};
use certificate::CoreClaim;
use removal::CoreRemoval;

/// Coreness, or membership in one core.
pub struct KCore;

/// What users read where hosts with devices take part.
const BY_PROGRAM: &str = "some host computes on a device: all hosts peel by a vertex program";

/// Why one core is found by its compiled form.
const NEEDS_NO_NEIGHBOURS: &str = "neighbours of a vertex are on several hosts: to find one core takes less time than to bring \
                                   them together";

crate::options! {
    /// What one can ask of cores.
    pub struct KCoreOptions {
        /// Which core: only say who is in it.
        k: Option<u32> = None, value_name = "K", unset = "the coreness of every vertex";
    }
}

/// Coreness of this host's masters; with a core given, only whether it is less.
struct Cores {
    cores: Vec<u32>,
    setup_seconds: f64,
    report: RunReport,
    notes: Vec<String>,
}

/// Peels on hosts that have all edges of their masters. Every host must call this.
fn peel(job: &mut Job<'_, '_>, k: Option<u32>) -> Result<Cores> {
    let start = Instant::now();
    let (near, notes) = neighbours::gather(job)?;
    let mut bounds = Bounds::new(near.partition(), k);
    let setup_seconds = start.elapsed().as_secs_f64();
    let (limits, pacing) = (job.limits(), job.options.pacing);
    let substrate = &mut job.substrate.over(near.partition());
    let report = run(&mut bounds, substrate, pacing, limits, job.watch)?;
    Ok(Cores { cores: bounds.of_masters(), setup_seconds, report, notes })
}

/// Peels level by level with a vertex program. Every host must call this.
fn remove(job: &mut Job<'_, '_>, engine: &EngineInfo) -> Result<Cores> {
    let start = Instant::now();
    let degrees = out_degrees(job.substrate)?;
    let (program, partition) = (CoreRemoval::new(&degrees), job.substrate.partition());
    let mut engine = engines::vertex_program(engine, job.device, program, partition)?;
    let setup_seconds = start.elapsed().as_secs_f64();
    let (limits, pacing) = (job.limits(), job.options.pacing);
    let report = run(&mut *engine, job.substrate, pacing, limits, job.watch)?;
    let cores = engine.states()?.iter().map(|state| state.level).collect();
    Ok(Cores { cores, setup_seconds, report, notes: Vec::new() })
}

/// Whether neighbours of a vertex are on other hosts than it: to peel, they have to be brought together. Every host must
/// call this.
fn has_spread_neighbours(job: &mut Job<'_, '_>) -> Result<bool> {
    let partition = job.substrate.partition();
    let is_shared = |end| u64::from(partition.shares_proxies_at(end));
    let mine = [is_shared(End::Source), is_shared(End::Destination)];
    let net = job.substrate.net();
    // They are at hand where all edges leave masters, or all arrive there.
    let [sources, destinations] = net.all_reduce(mine, |a, b| [a[0] | b[0], a[1] | b[1]])?;
    Ok(sources > 0 && destinations > 0)
}

impl Algorithm for KCore {
    fn name(&self) -> &'static str {
        "kcore"
    }

    fn about(&self) -> &'static str {
        "coreness of every vertex, or who is in the k-core: the largest part of the undirected \
         simple graph in which everyone has k neighbours"
    }

    fn meanings(&self) -> Meanings {
        &[
            ("degeneracy", "the greatest k whose core has vertices"),
            ("size", "vertices of the k-core"),
        ]
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(KCoreOptions::default())
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[&PEEL, engines::FRONTIER]
    }

    fn needs(&self, _: &Options) -> Needs {
        Needs::UNDIRECTED_SIMPLE
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(5.0, 24.0, 4.0)
    }

    fn needs_rounds(&self, options: &Options) -> Option<&'static str> {
        let is_coreness = options.own::<KCoreOptions>().k.is_none();
        (is_coreness && options.engine == Some(engines::FRONTIER))
            .then_some("with engine frontier the next level follows when no removal is under way")
    }

    fn needs_threads(&self, options: &Options) -> Option<&'static str> {
        let k = options.own::<KCoreOptions>().k;
        (k.is_none() && options.pacing.pace == Pace::Basp)
            .then_some("without rounds only a single core: give `k`, or another `pace`")
    }

    fn plans(&self) -> Vec<&'static CompiledPlan> {
        vec![core::core::compiled_plan()]
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let k = job.options.own::<KCoreOptions>().k;
        let has_devices = job.has_devices(self)?;
        let is_removal = k.is_some() && !has_devices && has_spread_neighbours(job)?;
        let (suits, why) = match is_removal {
            true => (engines::FRONTIER, NEEDS_NO_NEIGHBOURS),
            false => (&PEEL, "vertices with the fewest neighbours left are peeled first"),
        };
        let (engine, why) = job.engine(self, suits, || why.into())?;
        let by_program = if engine == &PEEL { engines::PUSH } else { engine };
        let Cores { cores, setup_seconds, report, mut notes } = match k {
            _ if engine == &PEEL && !has_devices => peel(job, k)?,
            Some(k) => core::find(job, by_program, k)?,
            None => remove(job, by_program)?,
        };
        notes.extend((engine == &PEEL && has_devices).then(|| BY_PROGRAM.into()));
        let net = job.substrate.net();
        let (column, fact) = match k {
            None => {
                let most = cores.iter().copied().max().unwrap_or(0);
                let degeneracy = net.all_reduce(u64::from(most), std::cmp::max)?;
                (Column { name: "core", values: Values::U32(cores) }, ("degeneracy", degeneracy))
            }
            Some(k) => {
                let members: Vec<u32> = cores.iter().map(|&core| u32::from(core >= k)).collect();
                let mine = members.iter().map(|&member| u64::from(member)).sum::<u64>();
                let size = net.all_reduce(mine, |a, b| a + b)?;
                (Column { name: "member", values: Values::U32(members) }, ("size", size))
            }
        };
        let result = vec![(fact.0, Fact::Integer(fact.1))];
        Ok(Answer { columns: vec![column], result, engine, why, setup_seconds, report, notes })
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::U32(values) = &answer.columns[0].values else {
            unreachable!("cores and members are small counts")
        };
        let k = job.options.own::<KCoreOptions>().k;
        let claim = |&value: &u32| match k {
            None => CoreClaim { level: value, is_supported: true, must_go: true },
            Some(k) if value > 0 => CoreClaim { level: k, is_supported: true, must_go: false },
            // Of those outside it is only said that they are below.
            Some(k) => CoreClaim { level: k.saturating_sub(1), is_supported: false, must_go: true },
        };
        let outside = |k| k == 0 && values.contains(&0);
        let bad = u64::from(k.is_some_and(outside));
        if job.substrate.net().all_reduce(bad, std::cmp::max)? > 0 {
            return Ok(Some("every vertex is in the 0-core".into()));
        }
        let claims: Vec<CoreClaim> = values.iter().map(claim).collect();
        certificate::check(job, &claims)
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let cores = with_csr!(&graph.adjacency, csr => {
            let targets = |vertex| csr.targets(LocalId(vertex)).iter().map(|other| other.0);
            cores(csr.num_vertices(), targets)
        });
        Ok(vec![match options.own::<KCoreOptions>().k {
            None => Column { name: "core", values: Values::U32(cores) },
            Some(k) => {
                let members = cores.iter().map(|&core| u32::from(core >= k)).collect();
                Column { name: "member", values: Values::U32(members) }
            }
        }])
    }
}

/// Coreness by taking one vertex of least degree after the other, kept in order of their degrees.
fn cores<I: Iterator<Item = u32>>(vertices: usize, neighbours: impl Fn(u32) -> I) -> Vec<u32> {
    let mut degrees: Vec<u32> =
        (0..vertices as u32).map(|vertex| neighbours(vertex).count() as u32).collect();
    let most = degrees.iter().copied().max().unwrap_or(0) as usize;
    // Where the vertices of each degree start among all, in order of their degrees.
    let mut starts = vec![0; most + 2];
    degrees.iter().for_each(|&degree| starts[degree as usize + 1] += 1);
    for degree in 1..starts.len() {
        starts[degree] += starts[degree - 1];
    }
    let mut order: Vec<u32> = (0..vertices as u32).collect();
    order.sort_by_key(|&vertex| degrees[vertex as usize]);
    let mut places = vec![0; vertices];
    order.iter().zip(0..).for_each(|(&vertex, place)| places[vertex as usize] = place);
    for at in 0..vertices {
        let vertex = order[at];
        let degree = degrees[vertex as usize];
        for other in neighbours(vertex) {
            let other_degree = degrees[other as usize];
            if other_degree > degree {
                // It changes places with the first of its degree, then belongs to those before.
                let start = starts[other_degree as usize].max(at + 1);
                let (from, first) = (places[other as usize], order[start]);
                order.swap(from, start);
                (places[other as usize], places[first as usize]) = (start, from);
                starts[other_degree as usize] = start + 1;
                degrees[other as usize] -= 1;
            }
        }
    }
    degrees
}
