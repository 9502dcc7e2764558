//! Label propagation (Raghavan, Albert, Kumara 2007): communities by the most frequent label among
//! neighbours.
//!
//! Every vertex starts with itself as its label. In each round all vertices at once take the label
//! that most of their neighbours have, the least of those that are equally frequent; one without
//! neighbours keeps its own. Neighbours along in-edges and out-edges count, so that one in both
//! directions counts twice; every parallel edge counts, and along a self-loop a vertex is its own
//! neighbour. Labels after `max_rounds` rounds, by default 10, are the answer: that is the definition
//! of LDBC Graphalytics, and there is no fixed point to wait for.
//! Work is at most rounds × edges. From the second round on, a vertex counts again only if a neighbour
//! changed.

mod ballot;
mod engine;
mod on_device;
mod remote;

use std::collections::HashMap;
use std::time::Instant;

use parton_engine::{Engine, EngineInfo, Limits, Pacing};
use parton_graph::{Graph, LocalId, with_csr};

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Meanings, Values};
use crate::components::sizes;
use crate::error::Result;
use crate::memory_use::MemoryUse;
use crate::options::Options;
use crate::phases::Phases;
use engine::{BALLOT, Propagation, Recount};
use on_device::DevicePropagation;

/// Label propagation.
pub struct LabelPropagation;

/// Rounds if `max_rounds` is not given.
const DEFAULT_ROUNDS: u64 = 10;
const NEEDS_ROUNDS: &str = "all vertices take the labels of the round before";

fn rounds(options: &Options) -> u64 {
    options.max_rounds.unwrap_or(DEFAULT_ROUNDS)
}

/// What computes for a host. All hosts of a run exchange the same things.
enum Host<'a> {
    Threads(Box<Propagation<'a>>),
    Device(Box<DevicePropagation<'a>>),
}

impl<'a> Host<'a> {
    fn engine(&mut self) -> &mut (dyn Engine + 'a) {
        match self {
            Host::Threads(engine) => &mut **engine,
            Host::Device(engine) => &mut **engine,
        }
    }

    fn labels(&self) -> Result<Vec<u32>> {
        match self {
            Host::Threads(engine) => Ok(engine.labels()),
            Host::Device(engine) => Ok(engine.labels()?),
        }
    }
}

impl Algorithm for LabelPropagation {
    fn name(&self) -> &'static str {
        "label-propagation"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["cdlp", "lp"]
    }

    fn about(&self) -> &'static str {
        "communities: the label most neighbours have, for 10 rounds (or `max_rounds`)"
    }

    fn meanings(&self) -> Meanings {
        &[("count", "communities"), ("largest", "vertices of the largest community")]
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[&BALLOT]
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(12.5, 95.0, 4.0).with_copies(0.2)
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        Some(NEEDS_ROUNDS)
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let (engine, why) =
            job.engine(self, &BALLOT, || "every vertex asks all its neighbours".into())?;
        let began = Instant::now();
        let partition = job.substrate.partition();
        let mut host = match job.device {
            Some(device) => {
                let recount = Recount::NearChanges;
                Host::Device(Box::new(DevicePropagation::new(device, partition, recount)?))
            }
            None => Host::Threads(Box::new(Propagation::new(partition, Recount::NearChanges))),
        };
        let setup_seconds = began.elapsed().as_secs_f64();
        let mut phases = Phases::default();
        let limits = Limits { max_rounds: Some(rounds(job.options)) };
        phases.run(job, host.engine(), Pacing::default(), limits)?;
        let labels = host.labels()?;
        let result = sizes(job, &labels)?;
        let mut report = phases.report();
        // The answer is defined by a number of rounds.
        report.converged = true;
        Ok(Answer {
            columns: vec![Column { name: "label", values: Values::Vertices(labels) }],
            result,
            engine,
            why,
            setup_seconds,
            report,
            notes: Vec::new(),
        })
    }

    /// Labels carry no proof: the check repeats all rounds, counts every vertex in each, and keeps no
    /// counts of other hosts.
    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::Vertices(labels) = &answer.columns[0].values else {
            unreachable!("labels are vertices")
        };
        let partition = job.substrate.partition();
        let mut program = Propagation::new(partition, Recount::Everywhere);
        let limits = Limits { max_rounds: Some(rounds(job.options)) };
        Phases::default().run(job, &mut program, Pacing::default(), limits)?;
        let again = program.labels();
        let wrong = labels.iter().zip(&again).filter(|(found, again)| found != again).count();
        let wrong = job.substrate.net().all_reduce(wrong as u64, |a, b| a + b)?;
        Ok((wrong > 0).then(|| format!("{wrong} vertices get another label in these rounds")))
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); graph.num_vertices()];
        with_csr!(&graph.adjacency, csr => {
            for source in csr.vertices() {
                for &LocalId(target) in csr.targets(source) {
                    neighbours[source.index()].push(target);
                    neighbours[target as usize].push(source.0);
                }
            }
        });
        let mut labels: Vec<u32> = (0..graph.num_vertices() as u32).collect();
        for _ in 0..rounds(options) {
            let choose = |(vertex, neighbours): (usize, &Vec<u32>)| {
                let mut counts: HashMap<u32, u64> = HashMap::new();
                for &neighbour in neighbours {
                    *counts.entry(labels[neighbour as usize]).or_default() += 1;
                }
                let best = counts
                    .into_iter()
                    .max_by_key(|&(label, count)| (count, std::cmp::Reverse(label)));
                best.map_or(labels[vertex], |(label, _)| label)
            };
            labels = neighbours.iter().enumerate().map(choose).collect();
        }
        Ok(vec![Column { name: "label", values: Values::Vertices(labels) }])
    }
}
