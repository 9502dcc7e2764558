//! Several runs of engines as one: a joint report, with rounds numbered through.

use std::time::Duration;

use parton_engine::{Engine, Limits, Measure, Pacing, RunReport, Tally, Watch, run};
use parton_sync::Volume;

use crate::algorithm::Job;
use crate::error::Result;

/// The runs so far.
#[derive(Default)]
pub(crate) struct Phases {
    report: Option<RunReport>,
}

impl Phases {
    /// Runs an engine after all that ran before. Every host must call this.
    pub(crate) fn run(
        &mut self,
        job: &mut Job<'_, '_>,
        engine: &mut dyn Engine,
        pacing: Pacing,
        limits: Limits,
    ) -> Result<()> {
        let before = self.report.as_ref().map_or(0, |report| report.rounds.len() as u64);
        let watch = &mut OffsetWatch { watch: job.watch, before };
        let next = run(engine, job.substrate, pacing, limits, watch)?;
        match &mut self.report {
            Some(report) => report.append(next),
            None => self.report = Some(next),
        }
        Ok(())
    }

    /// All runs as one.
    pub(crate) fn report(self) -> RunReport {
        self.report.unwrap_or_default()
    }
}

/// Numbers the rounds of one run after those of earlier runs.
struct OffsetWatch<'w> {
    watch: &'w mut dyn Watch,
    before: u64,
}

impl Watch for OffsetWatch<'_> {
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]) {
        self.watch.round(self.before + round, total, sent);
    }

    fn measured(&mut self, round: u64, measure: Measure) {
        self.watch.measured(self.before + round, measure);
    }

    fn advanced(&mut self, done: u64, all: u64, what: &'static str) {
        self.watch.advanced(done, all, what);
    }

    fn worked(&mut self, time: Duration, edges: u64) -> Duration {
        self.watch.worked(time, edges)
    }
}
