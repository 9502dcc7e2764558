//! What the loop of rounds asks of an engine.

use std::time::Duration;

use parton_sync::{PendingTotal, Phase, Result, Substrate, Tally};

use crate::pace::speed;
use crate::techniques::throttle::Throttled;

/// One host's part of a program: its vertices' data, on whatever device, and a way through its
/// edges. [`run`](crate::run()) calls the methods of a round in the order in which they stand here.
pub trait Engine {
    /// Prepares the run, before its time begins to count: data that depends on what other hosts have. Every
    /// host calls this.
    fn prepare(&mut self, _: &mut Substrate<'_>) -> Result<()> {
        Ok(())
    }

    /// Prepares the first round: mirrors learn what masters start with.
    fn begin(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        self.exchange(Phase::Broadcast, substrate)?;
        self.next().map(drop)
    }

    /// Works through what is active on this host. Returns the number of edges it visited.
    fn compute(&mut self) -> Result<u64>;

    /// Brings contributions to masters, or what masters have to say to mirrors. All hosts call this
    /// for both phases of a round, so an engine that has nothing to exchange must skip it on all of
    /// them. [`Substrate::ship`] moves contributions that have no fixed size.
    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()>;

    /// Applies at masters what has arrived. The tally holds what hosts sum up over the whole graph.
    fn apply(&mut self) -> Result<Tally>;

    /// Gathers what the next round computes.
    fn next(&mut self) -> Result<Next>;

    /// Learns what all hosts summed up in this round, and prepares the next one unless the program
    /// has ended. The answer must be the same on all hosts. What this sends counts for the next
    /// round.
    fn conclude(&mut self, total: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        Ok(Conclusion::when_idle(total))
    }

    /// What the engine does where hosts do not wait for each other (BASP). `Err` says why hosts have
    /// to wait in every round.
    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err("nothing says that it can do without rounds")
    }

    /// What the engine does where it overlaps computation with communication. `None`: the loop does one after
    /// the other. Must be the same on all hosts.
    fn overlapped(&mut self) -> Option<&mut dyn Overlapped> {
        None
    }
}

/// What an engine that overlaps computation with communication does outside of the methods of a round.
pub trait Overlapped {
    /// Begins the next round while the vote on this one is under way. Nothing may be applied: the program
    /// does not know yet what all hosts summed up, and may have ended.
    fn work_ahead(&mut self, vote: &PendingTotal, substrate: &mut Substrate<'_>) -> Result<()>;

    /// Hosts may leave the rounds of this run: from now on no message may be under way when a round ends.
    fn stop_overlapping(&mut self);

    /// Number of edges visited outside of `compute` since the last call, and the time that computing took there.
    fn take_work(&mut self) -> (u64, Duration);

    /// The run is over: takes in what is still under way, and does what was left for the end. Every host
    /// calls this.
    fn finish(&mut self, substrate: &mut Substrate<'_>) -> Result<()>;
}

/// What an engine that can leave the rounds does differently for it.
pub trait Paced {
    /// True if this engine does less work in BSP rounds. A governed BASP run then stays in BSP until
    /// the engine says otherwise. Must be equal on all hosts.
    fn gains_from_rounds(&self) -> bool {
        false
    }

    /// Makes the first rounds short, so that a slow host shows before much of the run is over.
    fn shorten_first_rounds(&mut self) {}

    /// From here on hosts do not wait for each other. If `is_governed`, the engine may hold labels back
    /// where that promises to save redundant relaxations.
    fn leave_rounds(&mut self, is_governed: bool);

    /// What the engine has held back since it left the rounds.
    fn throttled(&self) -> Throttled {
        Throttled::default()
    }

    /// Takes about as long as visiting this many edges. The loop times this to find a slow host before the first
    /// round, where threads compute for all hosts.
    fn trial(&mut self, edges: u64) -> Result<()> {
        speed::visit_no_edges(edges);
        Ok(())
    }
}

/// What an engine has gathered for the next round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Whether this host has anything to compute.
    pub is_active: bool,
    /// Number of edges that leave what is active, for engines that choose a direction by the sum over
    /// all hosts.
    pub frontier_edges: u64,
}

impl Next {
    /// For an engine that does not choose a direction.
    pub fn new(is_active: bool) -> Self {
        Next { is_active, frontier_edges: 0 }
    }
}

/// How a round ended, the same on all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// Whether the program has ended.
    pub has_ended: bool,
    /// The value by which the round is judged, if the program has one.
    pub measure: Option<Measure>,
}

impl Conclusion {
    /// The program ends when no host has anything to compute.
    pub fn when_idle(total: &Tally) -> Self {
        Conclusion::new(total.active == 0)
    }

    /// Without a measure.
    pub fn new(has_ended: bool) -> Self {
        Conclusion { has_ended, measure: None }
    }
}

/// The value by which a round is judged: an error that falls, a sum that settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// What it measures.
    pub name: &'static str,
    /// Its value after one round.
    pub value: f64,
    /// The value at which the run ends, if it ends at one.
    pub goal: Option<f64>,
}
