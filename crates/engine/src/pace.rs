//! Whether hosts wait for each other in every round, and who decides that.
//!
//! BSP: they do. BASP: every host sends what it has updated, takes in what has arrived and goes on;
//! a slow host then slows nobody down, but some work may be done with values that are about to be
//! improved. Where hosts are equally fast and rounds are few, rounds are better: all news of a round are
//! there at once. Which it is shows in a run only. So hosts that may leave the rounds begin in them, unless
//! nobody governs them, and leave when one of them holds the others up because it is slow, or when there
//! have been many rounds. What decides is summed up by all hosts in every round, so that all decide the
//! same at the same time: between two rounds, when nothing is under way.

use std::time::Duration;

use parton_sync::{Effort, Error, Result, Substrate, Tally, Termination, Vote};

use crate::engine::Engine;
use crate::run::Watch;
use crate::speed::{Comparison, Speed, try_out};

/// When hosts wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// In every round.
    #[default]
    Bsp,
    /// Never, once it shows that one host is slow or rounds are many; at once, if nobody governs them.
    Basp,
    /// The same, and in every round where a program needs them.
    Auto,
}

impl Pace {
    /// Every pace: what users call it, and what it means.
    pub const ALL: &[(Pace, &str, &str)] = &[
        (Pace::Bsp, "bsp", "hosts wait for each other in every round"),
        (
            Pace::Basp,
            "basp",
            "hosts do not wait, once one is slow or rounds are many: they send, take what has \
             arrived, and go on",
        ),
        (Pace::Auto, "auto", "basp, or bsp where the algorithm needs rounds"),
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
    /// Whether hosts that need not wait do so where that promises to save work: in rounds at first, then a
    /// little; and let labels wait for better ones.
    pub governed: bool,
    /// To leave the rounds after so many whatever they show, instead of finding out; 0: at once.
    pub leave_after: Option<u64>,
}

impl Pacing {
    /// Hosts never wait in rounds, not even at first.
    pub const AT_ONCE: Pacing = Pacing { pace: Pace::Basp, governed: true, leave_after: Some(0) };
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

/// Rounds after which a graph counts as deep: what it costs is round trips.
const DEEP: u64 = 16;

/// When hosts leave the rounds.
#[derive(Clone, Copy)]
enum Leaves {
    Never,
    After(u64),
    WhenBetter,
}

/// Keeps to a pace, or finds one.
pub(crate) struct Pacemaker {
    asked: Pacing,
    /// Why hosts cannot do without rounds.
    needs_rounds: Option<&'static str>,
    hosts: usize,
    /// When the run began: what hosts did before is not part of it, nor is waiting for the last of
    /// them; trying how fast they are is.
    start: Duration,
    leaves: Leaves,
    /// What hosts have done in rounds.
    effort: Effort,
    /// What this host has done.
    speed: Speed,
    /// Whether they would have left, were it not for the engine.
    is_kept: bool,
    /// Round after which hosts left them, and why.
    left: Option<(u64, String)>,
}

impl Pacemaker {
    /// Begins at the pace that was asked for, when all hosts are there.
    pub(crate) fn new(
        asked: Pacing,
        is_limited: bool,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<(Self, Box<dyn Termination>)> {
        let limited = "the number of rounds is limited, and hosts would each have their own";
        let needs_rounds = engine.needs_rounds().or(is_limited.then_some(limited));
        if let (Pace::Basp, Some(why)) = (asked.pace, needs_rounds) {
            return Err(Error::NeedsRounds { why: why.into() });
        }
        let hosts = substrate.partition().num_hosts();
        let may_leave = asked.pace != Pace::Bsp && needs_rounds.is_none();
        let leave_after = asked.leave_after.or((!asked.governed).then_some(0));
        let leaves = match leave_after {
            _ if !may_leave => Leaves::Never,
            Some(rounds) => Leaves::After(rounds),
            None if hosts == 1 => Leaves::Never,
            None => Leaves::WhenBetter,
        };
        let (effort, tried) = match leaves {
            Leaves::WhenBetter if !engine.gains_from_rounds() => {
                engine.begin_short();
                try_out(substrate, watch)?
            }
            _ => Default::default(),
        };
        // Hosts have to meet before the first round anyway.
        let effort = substrate.net().all_reduce(effort, Effort::plus)?;
        let start = substrate.net().now().saturating_sub(tried);
        let (speed, is_kept, left) = (Speed::default(), false, None);
        let mut pacemaker =
            Pacemaker { asked, needs_rounds, hosts, start, leaves, effort, speed, is_kept, left };
        let termination = pacemaker.close_round(0, engine, substrate)?;
        Ok((pacemaker, termination.unwrap_or_else(|| Box::new(Vote))))
    }

    /// When the run began.
    pub(crate) fn start(&self) -> Duration {
        self.start
    }

    /// Takes note of what this host did in a round; what it has done so far.
    pub(crate) fn note(&mut self, edges: u64, seconds: f64) -> Effort {
        self.speed.note(edges, seconds)
    }

    /// Learns what all hosts have done.
    pub(crate) fn learn(&mut self, total: &Tally) {
        if self.left.is_none() {
            self.effort = total.effort;
        }
    }

    /// How to find the end from now on, if hosts leave the rounds after this one.
    pub(crate) fn close_round(
        &mut self,
        round: u64,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<Option<Box<dyn Termination>>> {
        let why = match self.leaves {
            _ if self.left.is_some() => None,
            Leaves::Never => None,
            Leaves::After(rounds) => (round >= rounds).then(|| "as was asked for".into()),
            Leaves::WhenBetter => self.find_out(round, engine),
        };
        let Some(why) = why else { return Ok(None) };
        self.left = Some((round, why));
        engine.leave_rounds(self.asked.governed);
        Ok(Some(Box::new(substrate.begin_epoch(self.asked.governed)?)))
    }

    /// Why hosts had better leave the rounds after this one, if it shows.
    fn find_out(&mut self, round: u64, engine: &mut dyn Engine) -> Option<String> {
        let seen = self.comparison();
        let why = match seen.is_uneven(round == 0) {
            true => seen.to_string(),
            false if round >= DEEP => format!("{DEEP} rounds are many"),
            false => return None,
        };
        if engine.gains_from_rounds() {
            self.is_kept = true;
            return None;
        }
        Some(why)
    }

    /// When hosts wait for each other now: in every round, or never.
    pub(crate) fn pace(&self) -> Pace {
        if self.left.is_some() { Pace::Basp } else { Pace::Bsp }
    }

    /// What was seen of hosts so far.
    fn comparison(&self) -> Comparison {
        Comparison::of(&self.effort, self.hosts)
    }

    /// The pace in the end, and why that one. The same on all hosts.
    pub(crate) fn verdict(&self, rounds: u64) -> (Pace, String) {
        let why = match (&self.left, self.needs_rounds) {
            _ if self.asked.pace == Pace::Bsp => "hosts wait for each other in every round".into(),
            (Some((round, why)), _) => format!("from round {} on: {why}", round + 1),
            (None, Some(why)) => why.into(),
            (None, None) if self.hosts == 1 => "there is nobody to wait for".into(),
            (None, None) if self.is_kept => {
                "in rounds to the end: this engine looks at fewer edges in them".into()
            }
            (None, None) => {
                let judged_by = self.comparison();
                format!("in rounds to the end: {rounds} are few, and {judged_by}")
            }
        };
        (self.pace(), why)
    }
}
