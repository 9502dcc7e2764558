//! The loop of rounds. There is no other.
//!
//! Hosts that wait for each other and hosts that do not go through the same loop: the substrate
//! exchanges values differently, and another protocol detects the end.

use std::time::Duration;

use parton_sync::{Phase, Result, Substrate, Tally, Volume};

use crate::engine::{Engine, Measure};
use crate::meter::Meter;
use crate::pace::{Pacemaker, Pacing};
use crate::report::RunReport;

/// When to stop although the program has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Most rounds; `None`: no limit.
    pub max_rounds: Option<u64>,
}

/// Gets a call at the end of every round.
pub trait Watch {
    /// Round number `round` of this host has ended: what hosts did in it, as far as this one
    /// knows, and what this host sent to each.
    fn round(&mut self, round: u64, total: &Tally, sent: &[Volume]);

    /// The value by which the round that ended is judged, if the program has one.
    fn measured(&mut self, _round: u64, _measure: Measure) {}

    /// A run of several parts, such as searches from sources, has done `done` of `all` of them.
    fn advanced(&mut self, _done: u64, _all: u64, _what: &'static str) {}

    /// This host has worked for `time` since the last call, waits excluded, and has visited `edges`
    /// edges. Returns how much longer it shall take: tests slow a host down this way, and simulated
    /// hosts, whose work takes no virtual time, spend some.
    fn worked(&mut self, _time: Duration, _edges: u64) -> Duration {
        Duration::ZERO
    }
}

/// Watches nothing.
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
    let mut meter = Meter::new(substrate);
    meter.prepare(engine, substrate)?;
    let mut pacemaker = Pacemaker::new(pacing, limits, engine, substrate, watch)?;
    meter.start(substrate);
    engine.begin(substrate)?;
    let converged = loop {
        if limits.max_rounds.is_some_and(|most| meter.num_rounds() >= most) {
            break false;
        }
        meter.compute(engine, substrate, watch)?;
        engine.exchange(Phase::Reduce, substrate)?;
        let tally = meter.time(substrate, || engine.apply())?;
        engine.exchange(Phase::Broadcast, substrate)?;
        let next = meter.time(substrate, || engine.next())?;
        let mine = meter.tally(tally, next, engine);
        let total = pacemaker.total(mine, engine, substrate)?;
        meter.close_round(&total, substrate, watch);
        let conclusion = engine.conclude(&total, substrate)?;
        meter.judge(conclusion.measure, watch);
        if conclusion.has_ended {
            break true;
        }
        pacemaker.close_round(meter.num_rounds(), engine, substrate)?;
    };
    meter.finish(engine, substrate)?;
    meter.report(converged, &pacemaker, engine, substrate)
}
