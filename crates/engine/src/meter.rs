//! Times and volumes of rounds, kept outside the loop.

use std::time::Duration;

use parton_sync::{Activity, Result, Substrate, Tally, Volume};

use crate::engine::{Engine, Measure, Next};
use crate::pace::Pacemaker;
use crate::report::timeline::SpanRecord;
use crate::report::{HostRecord, RoundRecord, RunReport};
use crate::run::Watch;

/// This host's account of a run.
pub(crate) struct Meter {
    rounds: Vec<RoundRecord>,
    measures: Vec<Measure>,
    sent_to: Vec<Volume>,
    /// When the current round began: when the one before it ended.
    round_began: Duration,
    /// Edges that the engine has visited in the current round.
    edges: u64,
    /// Masters of this host that changed in the current round.
    changed: u64,
    /// Time in the engine in the current round, and the part of it in `compute`.
    computing: Duration,
    in_compute: Duration,
    /// Time of the last round that was neither in `compute` nor waiting.
    packing: Duration,
    /// Time in which the engine prepared the run.
    preparing: Duration,
    /// When the first round began, and what this host did from then on.
    run_began: Duration,
    timeline: Vec<SpanRecord>,
}

impl Meter {
    /// An account of a run that is about to begin. What was sent before is not part of it.
    pub(crate) fn new(substrate: &mut Substrate<'_>) -> Self {
        substrate.take_sent();
        substrate.take_rested();
        substrate.take_spans();
        Meter {
            rounds: Vec::new(),
            measures: Vec::new(),
            sent_to: vec![Volume::default(); substrate.partition().num_hosts()],
            round_began: Duration::ZERO,
            edges: 0,
            changed: 0,
            computing: Duration::ZERO,
            in_compute: Duration::ZERO,
            packing: Duration::ZERO,
            preparing: Duration::ZERO,
            run_began: Duration::ZERO,
            timeline: Vec::new(),
        }
    }

    /// Lets the engine prepare the run. What that sends is not part of it.
    pub(crate) fn prepare(
        &mut self,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        let start = substrate.net().now();
        engine.prepare(substrate)?;
        self.preparing = substrate.net().now() - start;
        substrate.take_sent();
        substrate.take_rested();
        Ok(())
    }

    /// The first round begins now.
    pub(crate) fn start(&mut self, substrate: &mut Substrate<'_>) {
        self.round_began = substrate.net().now();
        self.run_began = self.round_began;
        substrate.take_spans();
    }

    /// Number of rounds that have ended.
    pub(crate) fn num_rounds(&self) -> u64 {
        self.rounds.len() as u64
    }

    /// Lets the engine compute.
    pub(crate) fn compute(
        &mut self,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<()> {
        let start = substrate.net().now();
        self.edges = engine.compute()?;
        let worked = substrate.net().now() - start + self.packing;
        let longer = watch.worked(worked, self.edges);
        if !longer.is_zero() {
            substrate.net().spend(longer)?;
        }
        self.in_compute = substrate.net().now() - start;
        substrate.log_span(Activity::Compute, start);
        self.computing = self.in_compute;
        Ok(())
    }

    /// Times another part of the engine's round.
    pub(crate) fn time<T>(
        &mut self,
        substrate: &mut Substrate<'_>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let start = substrate.net().now();
        let done = work()?;
        self.computing += substrate.net().now() - start;
        substrate.log_span(Activity::Compute, start);
        Ok(done)
    }

    /// What this host adds to the sums of a round, and how long it has computed.
    pub(crate) fn tally(
        &mut self,
        applied: Tally,
        next: Next,
        engine: &mut dyn Engine,
    ) -> (Tally, f64) {
        if let Some(overlapped) = engine.overlapped() {
            let (edges, time) = overlapped.take_work();
            self.edges += edges;
            self.computing += time;
            self.in_compute += time;
        }
        let Next { is_active, frontier_edges } = next;
        self.changed = applied.changed;
        let tally =
            Tally { active: u64::from(is_active), edges: self.edges, frontier_edges, ..applied };
        (tally, self.computing.as_secs_f64())
    }

    /// Closes the books of a round.
    pub(crate) fn close_round(
        &mut self,
        total: &Tally,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) {
        let rested = substrate.take_rested();
        let now = substrate.net().now();
        let round_time = now - std::mem::replace(&mut self.round_began, now);
        self.packing = round_time.saturating_sub(self.in_compute + rested);
        self.take_spans(substrate);
        let sent = substrate.take_sent();
        watch.round(self.num_rounds() + 1, total, &sent);
        let mut volume = Volume::default();
        for (all, sent) in self.sent_to.iter_mut().zip(&sent) {
            *all += *sent;
            volume += *sent;
        }
        self.rounds.push(RoundRecord {
            compute_seconds: self.computing.as_secs_f64(),
            wait_seconds: rested.as_secs_f64(),
            total_seconds: round_time.as_secs_f64(),
            edges: self.edges,
            changed: self.changed,
            sent: volume,
        });
    }

    /// Moves what the substrate has recorded into the timeline of the current round.
    fn take_spans(&mut self, substrate: &mut Substrate<'_>) {
        let (round, start) = (self.num_rounds() as u32, self.run_began);
        let spans = substrate.take_spans();
        self.timeline.extend(spans.into_iter().map(|span| SpanRecord::new(round, span, start)));
    }

    /// Lets an engine that overlaps rounds finish the last one, to which it counts.
    pub(crate) fn finish(
        &mut self,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        let Some(overlapped) = engine.overlapped() else { return Ok(()) };
        let start = substrate.net().now();
        overlapped.finish(substrate)?;
        let (edges, _) = overlapped.take_work();
        let time = substrate.net().now() - start;
        let rested = substrate.take_rested();
        let sent = substrate.take_sent();
        if let Some(round) = self.rounds.last_mut() {
            round.edges += edges;
            round.total_seconds += time.as_secs_f64();
            round.wait_seconds += rested.as_secs_f64();
            for (all, sent) in self.sent_to.iter_mut().zip(&sent) {
                *all += *sent;
                round.sent += *sent;
            }
        }
        Ok(())
    }

    /// Notes the value by which the last round is judged.
    pub(crate) fn judge(&mut self, measure: Option<Measure>, watch: &mut dyn Watch) {
        if let Some(measure) = measure {
            watch.measured(self.num_rounds(), measure);
            self.measures.push(measure);
        }
    }

    /// The accounts of all hosts. Every host must call this.
    pub(crate) fn report(
        self,
        converged: bool,
        pacemaker: &Pacemaker,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<RunReport> {
        let host = HostRecord {
            setup_seconds: self.preparing.as_secs_f64(),
            seconds: (substrate.net().now() - pacemaker.start()).as_secs_f64(),
            waits: substrate.end_epoch()?,
            throttled: engine
                .paced()
                .map_or_else(|_| Default::default(), |paced| paced.throttled()),
        };
        let (pace, pace_why) = pacemaker.verdict(self.num_rounds());
        let report = RunReport { converged, pace, pace_why, ..RunReport::default() };
        let report = report.gather(substrate.net(), host, &self.rounds, &self.sent_to)?;
        let report = report.with_timeline(substrate.net(), &self.timeline)?;
        Ok(report.with_measures(&self.measures))
    }
}
