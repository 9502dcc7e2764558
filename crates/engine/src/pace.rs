//! Whether hosts wait for each other in every round, and who decides that.
//!
//! BSP: they do. BASP: every host sends what it has updated, takes in what has arrived and goes on;
//! a slow host then slows nobody down, but some work may be done with values that are about to be
//! improved. Which is better shows in a run only: with *auto*, hosts begin in rounds, and leave them
//! when there have been many and one host has been slower than the others. What decides is summed
//! up by all hosts in every round, so that all decide the same at the same time: between two rounds,
//! when nothing is under way.

use parton_sync::{Error, Result, Substrate, Tally, Termination, Vote};

use crate::engine::Engine;

/// When hosts wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// In every round.
    #[default]
    Bsp,
    /// Never.
    Basp,
    /// In every round, until it shows that one host is slower than the others.
    Auto,
}

impl Pace {
    /// Every pace: what users call it, and what it means.
    pub const ALL: &[(Pace, &str, &str)] = &[
        (Pace::Bsp, "bsp", "hosts wait for each other in every round"),
        (Pace::Basp, "basp", "hosts never wait: they send, take what has arrived, and go on"),
        (Pace::Auto, "auto", "bsp, then basp where there are many rounds and hosts are uneven"),
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        let (_, name, _) =
            Self::ALL.iter().find(|(pace, ..)| *pace == self).expect("all are listed");
        name
    }

    /// The pace of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(pace, ..)| *pace)
    }
}

/// How to go about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// When hosts wait for each other.
    pub pace: Pace,
    /// Whether hosts that need not wait do so a little, and let labels wait for better ones, where that
    /// promises to save work.
    pub governed: bool,
    /// At [`Pace::Auto`], to leave the rounds after so many whatever they show, instead of finding out.
    pub leave_after: Option<u64>,
}

impl Default for Pacing {
    fn default() -> Self {
        Pacing { pace: Pace::Bsp, governed: true, leave_after: None }
    }
}

impl From<Pace> for Pacing {
    fn from(pace: Pace) -> Self {
        Pacing { pace, ..Pacing::default() }
    }
}

/// Rounds after which a graph counts as deep.
const DEEP: u64 = 24;
/// Computing time of the slowest host over that of a mean one, from which on waiting is worth
/// avoiding.
const UNEVEN: f64 = 1.25;

/// Keeps to a pace, or finds one.
pub(crate) struct Pacemaker {
    asked: Pacing,
    pace: Pace,
    /// Why hosts cannot do without rounds.
    needs_rounds: Option<&'static str>,
    /// Round after which hosts left them.
    left_after: Option<u64>,
    /// Computing time of all hosts, and of the slowest in each round.
    seconds: f64,
    slowest: f64,
    hosts: usize,
}

impl Pacemaker {
    /// Begins at the pace that was asked for.
    pub(crate) fn new(
        asked: Pacing,
        is_limited: bool,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<(Self, Box<dyn Termination>)> {
        let limited = "the number of rounds is limited, and hosts would each have their own";
        let needs_rounds = engine.needs_rounds().or(is_limited.then_some(limited));
        let hosts = substrate.partition().num_hosts();
        let (pace, seconds, slowest, left_after) = (Pace::Bsp, 0.0, 0.0, None);
        let mut pacemaker =
            Pacemaker { asked, pace, needs_rounds, left_after, seconds, slowest, hosts };
        let termination: Box<dyn Termination> = match (asked.pace, needs_rounds) {
            (Pace::Bsp | Pace::Auto, _) => Box::new(Vote),
            (Pace::Basp, None) => pacemaker.leave_rounds(engine, substrate)?,
            (Pace::Basp, Some(why)) => return Err(Error::NeedsRounds { why: why.into() }),
        };
        Ok((pacemaker, termination))
    }

    fn leave_rounds(
        &mut self,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<Box<dyn Termination>> {
        self.pace = Pace::Basp;
        engine.leave_rounds(self.asked.governed);
        Ok(Box::new(substrate.begin_epoch(self.asked.governed)?))
    }

    /// Learns what all hosts did in a round that has ended; how to find the end from now on, if
    /// hosts leave the rounds here.
    pub(crate) fn close_round(
        &mut self,
        round: u64,
        total: &Tally,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<Option<Box<dyn Termination>>> {
        if self.pace == Pace::Basp {
            return Ok(None);
        }
        self.seconds += total.seconds;
        self.slowest += total.slowest;
        let may = self.asked.pace == Pace::Auto && self.needs_rounds.is_none() && self.hosts > 1;
        let is_time = match self.asked.leave_after {
            Some(rounds) => round >= rounds,
            None => round >= DEEP && self.unevenness() >= UNEVEN,
        };
        if !(may && is_time) {
            return Ok(None);
        }
        self.left_after = Some(round);
        self.leave_rounds(engine, substrate).map(Some)
    }

    /// When hosts wait for each other now: in every round, or never.
    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    /// Computing time of the slowest host in each round over that of a mean one.
    fn unevenness(&self) -> f64 {
        if self.seconds > 0.0 { self.slowest * self.hosts as f64 / self.seconds } else { 1.0 }
    }

    /// The pace in the end, and why that one. The same on all hosts.
    pub(crate) fn verdict(&self, rounds: u64) -> (Pace, String) {
        let uneven = self.unevenness();
        let why = match (self.asked.pace, self.needs_rounds, self.left_after) {
            (Pace::Bsp, ..) => "hosts wait for each other in every round".into(),
            (Pace::Basp, ..) => "hosts never wait for each other".into(),
            (_, _, Some(round)) if self.asked.leave_after.is_some() => {
                format!("from round {} on, as was asked for", round + 1)
            }
            (_, _, Some(round)) => format!(
                "from round {} on: it takes many, and the slowest host computed for {uneven:.2} \
                 times the mean",
                round + 1
            ),
            (_, Some(why), None) => why.into(),
            _ if self.hosts == 1 => "there is nobody to wait for".into(),
            _ if rounds < DEEP => format!("there were only {rounds} rounds"),
            _ => format!("hosts are even: the slowest computed for {uneven:.2} times the mean"),
        };
        (self.pace, why)
    }
}
