//! The loop of rounds. There is no other.

use std::time::Instant;

use parton_sync::{Result, Substrate, Volume};

use crate::engine::{Engine, Tally};
use crate::report::{RoundRecord, RunReport};

/// When to stop although the program has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After so many rounds; `None`: never.
    pub max_rounds: Option<u64>,
}

/// Told of every round as it ends.
pub trait Watch {
    /// Round number `round` has ended: what all hosts did in it, and what this host sent to each.
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]);
}

/// Nobody watches.
impl Watch for () {
    fn round(&mut self, _: u64, _: &Tally, _: &[Volume]) {}
}

/// Runs one program on all hosts: every host calls this with its part of the same engine.
pub fn run(
    engine: &mut dyn Engine,
    substrate: &mut Substrate<'_>,
    limits: Limits,
    watch: &mut dyn Watch,
) -> Result<RunReport> {
    let start = Instant::now();
    let mut records: Vec<RoundRecord> = Vec::new();
    let mut sent_to = vec![Volume::default(); substrate.partition().num_hosts()];
    // What happened before the first round is not part of it.
    substrate.take_sent();
    let (field, read) = engine.messages();
    substrate.broadcast(field, read)?;
    engine.is_active();
    let converged = loop {
        if limits.max_rounds.is_some_and(|most| records.len() as u64 >= most) {
            break false;
        }
        let began = Instant::now();
        let edges = engine.compute();
        let computed = Instant::now();
        let (field, written) = engine.accumulators();
        substrate.reduce(field, written)?;
        let reduced = Instant::now();
        let tally = engine.apply();
        let applied = Instant::now();
        let (field, read) = engine.messages();
        substrate.broadcast(field, read)?;
        let told = Instant::now();
        let tally = Tally { active: u64::from(engine.is_active()), edges, ..tally };
        let gathered = told.elapsed();
        let total = substrate.net().all_reduce(tally, Tally::plus)?;
        let sent = substrate.take_sent();
        watch.round(records.len() as u64 + 1, &total, &sent);
        let mut volume = Volume::default();
        for (all, sent) in sent_to.iter_mut().zip(&sent) {
            *all += *sent;
            volume += *sent;
        }
        records.push(RoundRecord {
            compute_seconds: ((computed - began) + (applied - reduced) + gathered).as_secs_f64(),
            total_seconds: began.elapsed().as_secs_f64(),
            edges,
            changed: total.changed,
            sent: volume,
        });
        if engine.conclude(&total) {
            break true;
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    Ok(RunReport::gather(substrate.net(), converged, seconds, &records, &sent_to)?)
}
