//! What a run is going to need, before it begins: memory, bytes on the wire, time.
//!
//! ```text
//! input ─ Survey (sizes, a sample) ─ sketch of the cut (mirrors, edges of each host) ─┬─ memory of each stage
//!                                                        trial of the algorithm ─────┴─ bytes, time, engine
//! ```
//!
//! Everything is an estimate with a [`Range`]. A survey looks at a bounded number of edges, so that the plan of
//! a graph that could never be read takes as long as that of a small one.

mod advice;
mod memory;
mod process;
mod trial;

use parton_algorithms::MemoryUse;
use parton_partition::quality::{Quality, Share};
use parton_partition::{Input, Plan, Survey};

use crate::error::Result;
pub use advice::{Advice, Candidate, advise};
pub use memory::Need;
pub(crate) use process::note_start;
pub use trial::Trial;

/// An estimate, and between what the truth should lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Hardly less than this.
    pub low: f64,
    /// The estimate.
    pub likely: f64,
    /// Hardly more than this.
    pub high: f64,
}

impl Range {
    /// An estimate that is off by these factors at most.
    pub fn around(likely: f64, below: f64, above: f64) -> Self {
        Range { low: likely * below, likely, high: likely * above }
    }
}

/// How far memory is from its estimate.
const MEMORY_ERROR: [f64; 2] = [0.75, 1.25];

/// Bytes of a message beside its values: what it costs that two hosts talk at all, as small graphs show.
const MESSAGE_HEAD: f64 = 12.0;

/// What one way of running an algorithm is going to need.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Number of hosts.
    pub hosts: usize,
    /// The policy that cuts the graph.
    pub policy: String,
    /// The cut.
    pub quality: Quality,
    /// Most memory of a host that is a process of its own, on the fullest host.
    pub host_peak: Range,
    /// Its memory between rounds.
    pub host_steady: Range,
    /// Most memory of one process that runs all hosts.
    pub process_peak: Range,
    /// Bytes that all hosts send in a round.
    pub bytes_per_round: Range,
}

/// Forecasts for one algorithm on one input.
pub struct Planner<'p> {
    algorithm: MemoryUse,
    survey: &'p Survey,
}

impl<'p> Planner<'p> {
    /// Plans for an algorithm that holds this, or for a partition alone ([`MemoryUse::NONE`]), from the survey of
    /// an input that was made to fit the algorithm.
    pub fn new(algorithm: MemoryUse, survey: &'p Survey) -> Self {
        Planner { algorithm, survey }
    }

    /// What the algorithm needs on hosts that a plan makes, with this many threads each.
    pub fn forecast(&self, plan: &Plan, hosts: usize, threads: usize) -> Result<Forecast> {
        let quality = self.survey.sketch(plan, hosts)?;
        let what = (self.algorithm, &*plan.policy);
        let replication = quality.replication();
        let need = |share: &Share| Need::of_host(self.survey, (share, replication), what, hosts);
        let needs: Vec<Need> = quality.hosts.iter().map(need).collect();
        let memory = |bytes: f64| Range::around(bytes, MEMORY_ERROR[0], MEMORY_ERROR[1]);
        let most = |what: fn(&Need) -> f64| needs.iter().map(what).fold(0.0, f64::max);
        let base = process::process(1, threads) + if hosts > 1 { process::RANK } else { 0.0 };
        let all = needs.iter().fold(Need::default(), |all, need| all.plus(need));
        let dense = dense_bytes(self.algorithm, &quality);
        Ok(Forecast {
            hosts,
            policy: plan.policy.clone(),
            host_peak: memory(base + most(Need::peak)),
            host_steady: memory(base + most(|need| need.running)),
            process_peak: memory(process::process(hosts, hosts * threads) + all.peak()),
            // Places are few beside values; where little is updated, little travels.
            bytes_per_round: Range { low: 0.0, likely: dense, high: dense * 1.1 },
            quality,
        })
    }
}

/// Bytes that hosts send in a round in which every shared value travels.
fn dense_bytes(algorithm: MemoryUse, quality: &Quality) -> f64 {
    let values = quality.hosts.iter().map(|host| host.values).sum::<u64>();
    algorithm.value * values as f64 + MESSAGE_HEAD * quality.messages_per_round() as f64
}

impl Forecast {
    /// The forecast with the bytes of a round that [trials](Trial::expected_bytes) let expect. Programs that send
    /// lists of neighbours send several times as much as all shared values.
    pub fn with_bytes(mut self, likely: f64) -> Self {
        let dense = self.bytes_per_round.likely;
        self.bytes_per_round =
            Range { low: 0.5 * likely, likely, high: (1.1 * dense).max(2.0 * likely) };
        self
    }
}

/// A survey of an input for a plan that may take a second: all of a small input, a part of a larger one.
pub fn survey(input: &Input) -> Result<Survey> {
    let is_large = |(vertices, edges): (u64, u64)| vertices.saturating_add(edges) > 2 * MOST_EDGES;
    let most = if input.size().is_some_and(is_large) { MOST_EDGES / 8 } else { MOST_EDGES };
    Ok(Survey::of(input, most)?)
}

/// Edges that a survey looks at if they are all.
const MOST_EDGES: u64 = 1 << 21;

/// Edges that all trials of a plan look at together, and the bounds of what one of them does.
const TRIED_EDGES: u64 = 1 << 22;
const LEAST_TRIED: u64 = 1 << 14;
const MOST_TRIED: u64 = 1 << 19;

/// A survey of an input for a plan with this many [`Trial`]s: the fewer they are, the more each of them sees.
pub fn trial_survey(input: &Input, trials: usize) -> Result<Survey> {
    let each = TRIED_EDGES / trials.max(1) as u64;
    Ok(Survey::of(input, each.clamp(LEAST_TRIED, MOST_TRIED))?)
}

/// A survey of an input for a plan that must take milliseconds.
pub fn quick_survey(input: &Input) -> Result<Survey> {
    Ok(Survey::of(input, 1 << 16)?)
}

/// Bytes that a process with this many hosts and threads takes on any graph, about.
pub fn floor(hosts: usize, threads: usize) -> f64 {
    process::process(hosts, threads)
}

/// More bytes than any run on an input takes that has at most this many vertices and edges: if these are there,
/// no plan is needed.
pub fn ceiling(vertices: f64, edges: f64, hosts: usize) -> f64 {
    let mirrors = (2.0 * edges).min(vertices * (hosts - 1) as f64);
    process::process(hosts, hosts)
        + MOST_PER_EDGE * 2.0 * edges
        + MOST_PER_PROXY * (vertices + mirrors)
}

/// More bytes than any stage takes for an edge or a proxy.
const MOST_PER_EDGE: f64 = 128.0;
const MOST_PER_PROXY: f64 = 256.0;
