//! Whether a run can fit the memory that it may use: a plan in milliseconds, before anything is read.

use crate::algorithms::MemoryUse;
use crate::cli::exit::Failure;
use crate::cli::team::Team;
use crate::cli::{memory, show};
use crate::graph::memory::limits::MemoryLimit;
use crate::partition::{Input, Plan};
use crate::planning::{self, Forecast, Planner};

/// What is going to run.
pub(crate) struct Budget<'b> {
    /// What users call the work and the graph.
    pub(crate) work: String,
    /// What the algorithm holds.
    pub(crate) algorithm: MemoryUse,
    pub(crate) input: &'b Input,
    pub(crate) plan: &'b Plan,
    /// Number of hosts, and of threads of each.
    pub(crate) hosts: usize,
    pub(crate) threads: usize,
    /// Bytes of the input where its edges are not counted; `None` if that is not known.
    pub(crate) text_bytes: Option<u64>,
}

/// What a plan may be off below its range: with the range's 0.75, a limit below 0.6 of the estimate refuses a run. A run
/// above it goes ahead, and ends with a sentence where it does not fit.
const DOUBT: f64 = 0.8;
/// The same beside an estimate that is no range.
const MOST_DOUBT: f64 = 0.6;
/// An edge of a text takes this many bytes at least.
const LEAST_BYTES_OF_EDGE: f64 = 4.0;
/// Hosts cut by several machines need so much more than their share.
const OVERHEAD_OF_CUT: f64 = 1.3;

impl Budget<'_> {
    /// Refuses what cannot fit. What surely fits is not planned.
    pub(crate) fn check(&self, team: &Team) -> Result<(), Failure> {
        let is_distributed = team.is_distributed();
        let here = if is_distributed { 1 } else { self.hosts };
        let limits = memory::limits(team.processes_here());
        let Some(limit) = limits.least(here * self.threads) else { return Ok(()) };
        let counts = self.input.size().map(|(vertices, edges)| (vertices as f64, edges as f64));
        let of_text = self.text_bytes.map(|bytes| {
            let edges = bytes as f64 / LEAST_BYTES_OF_EDGE;
            (2.0 * edges, edges)
        });
        let fits_surely = |(vertices, edges): (f64, f64)| {
            planning::ceiling(vertices, edges, here) <= limit.bytes as f64
        };
        if counts.or(of_text).is_some_and(fits_surely) {
            return Ok(());
        }
        // Where not even the process fits, neither would its plan.
        let floor = planning::floor(here, here * self.threads);
        if floor * MOST_DOUBT > limit.bytes as f64 {
            return Err(Failure::out_of_memory(format!(
                "{} needs more than {} of memory, but {} may be used ({}): raise the limit; --force goes ahead",
                self.work,
                show::bytes(floor as u64),
                show::bytes(limit.bytes),
                limit.source,
            )));
        }
        let forecast = match self.forecast() {
            // Even the threads of the plan have no room.
            Err(error) if memory::lacks_stacks() => {
                return Err(Failure::out_of_memory(format!(
                    "{}: not enough memory: {error}: {} may be used ({})",
                    self.work,
                    show::bytes(limit.bytes),
                    limit.source
                )));
            }
            forecast => forecast?,
        };
        let need = if is_distributed { forecast.host_peak } else { forecast.process_peak };
        if need.low * DOUBT > limit.bytes as f64 {
            let help = self.help(limit, &forecast, is_distributed);
            return Err(Failure::out_of_memory(format!(
                "{} needs about {} of memory{}, but {} may be used ({}): {help}; --force goes ahead",
                self.work,
                show::bytes(need.likely as u64),
                if is_distributed { " for each rank" } else { "" },
                show::bytes(limit.bytes),
                limit.source,
            )));
        }
        memory::plan_for(need.likely as u64);
        Ok(())
    }

    fn forecast(&self) -> crate::Result<Forecast> {
        let survey = planning::quick_survey(self.input)?;
        let planner = Planner::new(self.algorithm, &survey);
        planner.forecast(self.plan, self.hosts, self.threads)
    }

    /// What would help.
    fn help(&self, limit: MemoryLimit, forecast: &Forecast, is_distributed: bool) -> String {
        let limit = limit.bytes as f64;
        let one_host = planning::ceiling(0.0, 0.0, 1);
        // What ranks have to share, and what is left to each beside its process.
        let all = match is_distributed {
            true => forecast.host_peak.likely * self.hosts as f64,
            false => forecast.process_peak.likely,
        };
        let ranks = OVERHEAD_OF_CUT * all / (limit - one_host);
        match ranks {
            ranks if limit > one_host && ranks.ceil() <= f64::from(u16::MAX) => {
                let ranks =
                    (ranks.ceil() as usize).max(if is_distributed { self.hosts + 1 } else { 2 });
                format!(
                    "raise the limit, or start about {ranks} ranks with as much each (mpirun -n {ranks})"
                )
            }
            _ => "raise the limit".into(),
        }
    }
}
