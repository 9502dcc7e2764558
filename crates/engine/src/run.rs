//! The loop of rounds. There is no other.
//!
//! Hosts that wait for each other and hosts that do not go through the same loop: what differs is
//! how the substrate exchanges values, and who tells that all is done.

use std::time::Duration;

use parton_sync::{Result, Substrate, Tally, Volume};

use crate::engine::{Engine, Measure};
use crate::pace::{Pace, Pacemaker, Pacing};
use crate::report::{HostRecord, RoundRecord, RunReport};

/// When to stop although the program has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After so many rounds; `None`: never.
    pub max_rounds: Option<u64>,
}

/// Told of every round as it ends.
pub trait Watch {
    /// Round number `round` of this host has ended: what hosts did in it, as far as this one
    /// knows, and what this host sent to each.
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]);

    /// What the round that ended is judged by, where the program has such a thing.
    fn measured(&mut self, _round: u64, _measure: Measure) {}

    /// This host has worked for `time` since it was last told so, not counting waits, and looked at
    /// so many edges. How much longer it shall take: where a slow host is wanted, or a simulated
    /// one, whose work takes no time.
    fn worked(&mut self, _time: Duration, _edges: u64) -> Duration {
        Duration::ZERO
    }
}

/// Nobody watches.
impl Watch for () {
    fn round(&mut self, _: u64, _: &Tally, _: &[Volume]) {}
}

/// Runs one program on all hosts: every host calls this with its part of the same engine.
pub fn run(
    engine: &mut dyn Engine,
    substrate: &mut Substrate<'_>,
    pacing: Pacing,
    limits: Limits,
    watch: &mut dyn Watch,
) -> Result<RunReport> {
    let mut records: Vec<RoundRecord> = Vec::new();
    let mut measures: Vec<Measure> = Vec::new();
    let mut sent_to = vec![Volume::default(); substrate.partition().num_hosts()];
    // What happened before the first round is not part of it.
    substrate.take_sent();
    substrate.take_rested();
    let (mut pacemaker, mut termination) =
        Pacemaker::new(pacing, limits.max_rounds.is_some(), engine, substrate, watch)?;
    engine.broadcast(substrate)?;
    engine.is_active();
    let mut packing = Duration::ZERO;
    let converged = loop {
        if limits.max_rounds.is_some_and(|most| records.len() as u64 >= most) {
            break false;
        }
        let began = substrate.net().now();
        engine.trade(substrate)?;
        let traded = substrate.net().now();
        let edges = engine.compute();
        let longer = watch.worked(substrate.net().now() - traded + packing, edges);
        if !longer.is_zero() {
            substrate.net().spend(longer)?;
        }
        let computed = substrate.net().now();
        engine.reduce(substrate)?;
        let reduced = substrate.net().now();
        let tally = engine.apply();
        let applied = substrate.net().now();
        engine.broadcast(substrate)?;
        let told = substrate.net().now();
        let active = u64::from(engine.is_active());
        let gathered = substrate.net().now() - told;
        let compute_seconds = ((computed - traded) + (applied - reduced) + gathered).as_secs_f64();
        let effort = pacemaker.note(edges, compute_seconds);
        let frontier_edges = engine.frontier_edges();
        let mine = Tally { active, edges, frontier_edges, effort, ..tally };
        let total = termination.total(mine, substrate)?;
        let rested = substrate.take_rested();
        let round_time = substrate.net().now() - began;
        packing = (round_time - (computed - traded)).saturating_sub(rested);
        let sent = substrate.take_sent();
        watch.round(records.len() as u64 + 1, &total, &sent);
        let mut volume = Volume::default();
        for (all, sent) in sent_to.iter_mut().zip(&sent) {
            *all += *sent;
            volume += *sent;
        }
        records.push(RoundRecord {
            compute_seconds,
            wait_seconds: rested.as_secs_f64(),
            total_seconds: round_time.as_secs_f64(),
            edges,
            changed: tally.changed,
            sent: volume,
        });
        let (ended, round) = (engine.conclude(&total), records.len() as u64);
        pacemaker.learn(&total);
        if let Some(measure) = engine.measure() {
            watch.measured(round, measure);
            measures.push(measure);
        }
        if ended {
            let in_rounds = pacemaker.pace() == Pace::Bsp;
            if !(in_rounds && engine.begin_phase(substrate.net())?) {
                break true;
            }
        }
        termination = pacemaker.close_round(round, engine, substrate)?.unwrap_or(termination);
    };
    let host = HostRecord {
        seconds: (substrate.net().now() - pacemaker.start()).as_secs_f64(),
        waits: substrate.end_epoch()?,
        held: engine.held(),
    };
    let (pace, pace_why) = pacemaker.verdict(records.len() as u64);
    let report = RunReport { converged, pace, pace_why, ..RunReport::default() };
    Ok(report.gather(substrate.net(), host, &records, &sent_to)?.with_measures(&measures))
}
