//! Paces: whether hosts wait for each other in every round (BSP) or not (BASP, Gluon-Async), and when a
//! run changes from the one to the other.
//!
//! In BSP every host waits for the messages of a round. In BASP every host sends updated values, folds in the values
//! that have arrived, and goes on. A slow host then delays no other, but hosts do some work with values that are
//! about to be improved. BSP is better where hosts are equally fast and rounds are few, because all values of a round
//! arrive together. Only the run shows which case it is. So a governed run begins in BSP and leaves the rounds when
//! one host turns out to be slow, or after many rounds. All hosts sum up what decides this in every round, so all
//! decide the same between two rounds, when no message is under way.

pub(crate) mod speed;

use std::time::Duration;

use parton_sync::{Effort, Error, PendingTotal, Result, Substrate, Tally, Termination, Vote};

use crate::engine::Engine;
use crate::run::{Limits, Watch};
use speed::{Comparison, Speed, compare_by_trial};

/// When hosts wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// In every round: bulk-synchronous parallel.
    #[default]
    Bsp,
    /// Not any more, once one host turns out to be slow or there have been many rounds; an ungoverned
    /// run never waits. Bulk-asynchronous parallel.
    Basp,
    /// Like `Basp`, but like `Bsp` where the program needs rounds.
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

/// A pace, and how a run keeps to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// When hosts wait for each other.
    pub pace: Pace,
    /// Whether a BASP run waits where that promises to save work: it begins in rounds, later waits a
    /// little for messages, and throttles labels.
    pub governed: bool,
    /// Leave the rounds after this many, whatever they show; 0: at once. `None`: find out.
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

/// A BASP run leaves the rounds after this many: a deep graph costs round trips above all.
const MANY_ROUNDS: u64 = 16;

/// When hosts leave the rounds.
#[derive(Clone, Copy)]
enum Leaves {
    Never,
    After(u64),
    WhenBetter,
}

/// Keeps a run at its pace, and decides when it leaves the rounds.
pub(crate) struct Pacemaker {
    asked: Pacing,
    /// Why hosts cannot do without rounds.
    needs_rounds: Option<&'static str>,
    num_hosts: usize,
    /// When the run began: after all hosts were there. The trial of their speeds is part of the run.
    start: Duration,
    leaves: Leaves,
    termination: Box<dyn Termination>,
    /// What all hosts have done in rounds.
    effort: Effort,
    /// What this host has done.
    speed: Speed,
    /// Whether the run would have left the rounds if the engine did not gain from them.
    is_kept_by_engine: bool,
    /// The round after which hosts left the rounds, and why.
    left: Option<(u64, String)>,
}

impl Pacemaker {
    /// Begins at the pace that was asked for, when all hosts are there.
    pub(crate) fn new(
        asked: Pacing,
        limits: Limits,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Self> {
        let limited = "the number of rounds is limited, and hosts would each have their own";
        let is_limited = limits.max_rounds.is_some();
        let needs_rounds = engine.paced().err().or(is_limited.then_some(limited));
        if let (Pace::Basp, Some(why)) = (asked.pace, needs_rounds) {
            return Err(Error::NeedsRounds { why: why.into() });
        }
        let num_hosts = substrate.partition().num_hosts();
        let may_leave = asked.pace != Pace::Bsp && needs_rounds.is_none();
        let leave_after = asked.leave_after.or((!asked.governed).then_some(0));
        let leaves = match leave_after {
            _ if !may_leave => Leaves::Never,
            Some(rounds) => Leaves::After(rounds),
            None if num_hosts == 1 => Leaves::Never,
            None => Leaves::WhenBetter,
        };
        if let (Leaves::After(_) | Leaves::WhenBetter, Some(overlapped)) =
            (leaves, engine.overlapped())
        {
            overlapped.stop_overlapping();
        }
        let (effort, trial_time) = match (leaves, engine.paced()) {
            (Leaves::WhenBetter, Ok(paced)) if !paced.gains_from_rounds() => {
                paced.shorten_first_rounds();
                compare_by_trial(paced, substrate, watch)?
            }
            _ => Default::default(),
        };
        // Hosts have to meet before the first round anyway.
        let effort = substrate.net().all_reduce(effort, Effort::plus)?;
        let mut pacemaker = Pacemaker {
            asked,
            needs_rounds,
            num_hosts,
            start: substrate.net().now().saturating_sub(trial_time),
            leaves,
            termination: Box::new(Vote),
            effort,
            speed: Speed::default(),
            is_kept_by_engine: false,
            left: None,
        };
        pacemaker.close_round(0, engine, substrate)?;
        Ok(pacemaker)
    }

    /// When the run began.
    pub(crate) fn start(&self) -> Duration {
        self.start
    }

    /// Sums up what all hosts did in a round. This host did `mine`, and took this many seconds.
    pub(crate) fn total(
        &mut self,
        (mine, seconds): (Tally, f64),
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<Tally> {
        let mine = Tally { effort: self.speed.note(mine.edges, seconds), ..mine };
        let total = match engine.overlapped() {
            // Hosts of a vote work on until it is over.
            Some(overlapped) if self.left.is_none() => {
                let vote = PendingTotal::begin(mine, substrate)?;
                overlapped.work_ahead(&vote, substrate)?;
                vote.finish(substrate)?
            }
            _ => self.termination.total(mine, substrate)?,
        };
        if self.left.is_none() {
            self.effort = total.effort;
        }
        Ok(total)
    }

    /// Leaves the rounds after this one if that is due.
    pub(crate) fn close_round(
        &mut self,
        round: u64,
        engine: &mut dyn Engine,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        if self.left.is_some() {
            return Ok(());
        }
        let Ok(paced) = engine.paced() else { return Ok(()) };
        let why = match self.leaves {
            Leaves::Never => None,
            Leaves::After(rounds) => (round >= rounds).then(|| "as was asked for".into()),
            Leaves::WhenBetter => self.reason_to_leave(round, paced.gains_from_rounds()),
        };
        if let Some(why) = why {
            self.left = Some((round, why));
            paced.leave_rounds(self.asked.governed);
            self.termination = Box::new(substrate.begin_epoch(self.asked.governed)?);
        }
        Ok(())
    }

    /// Why hosts had better leave the rounds after this one, if they had.
    fn reason_to_leave(&mut self, round: u64, engine_gains_from_rounds: bool) -> Option<String> {
        let seen = self.comparison();
        let why = match seen.is_uneven(round == 0) {
            true => seen.to_string(),
            false if round >= MANY_ROUNDS => format!("{MANY_ROUNDS} rounds are many"),
            false => return None,
        };
        if engine_gains_from_rounds {
            self.is_kept_by_engine = true;
            return None;
        }
        Some(why)
    }

    fn comparison(&self) -> Comparison {
        Comparison::of(&self.effort, self.num_hosts)
    }

    /// The pace in the end, and why that one. The same on all hosts.
    pub(crate) fn verdict(&self, rounds: u64) -> (Pace, String) {
        let why = match (&self.left, self.needs_rounds) {
            _ if self.asked.pace == Pace::Bsp => "hosts wait for each other in every round".into(),
            (Some((round, why)), _) => format!("from round {} on: {why}", round + 1),
            (None, Some(why)) => why.into(),
            (None, None) if self.num_hosts == 1 => "there is nobody to wait for".into(),
            (None, None) if self.is_kept_by_engine => {
                "in rounds to the end: this engine looks at fewer edges in them".into()
            }
            (None, None) => {
                let judged_by = self.comparison();
                format!("in rounds to the end: {rounds} are few, and {judged_by}")
            }
        };
        (if self.left.is_some() { Pace::Basp } else { Pace::Bsp }, why)
    }
}
