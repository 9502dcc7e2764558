//! What one can ask of PageRank, and which requests make no sense.

use parton_engine::{Limits, Pace};

use crate::error::{Error, Result};
use crate::options::{Choice, Options};

crate::options! {
    /// What one can ask of PageRank.
    pub struct PageRankOptions {
        /// Ranks are final when all together change by no more than this.
        tolerance: f64 = 1e-6, value_name = "CHANGE";
        /// How much of a rank is passed on.
        damping: f64 = 0.85, value_name = "SHARE";
        /// What becomes of the rank of vertices without out-edges.
        dangling: Dangling = Dangling::Redistribute;
        /// Ranks that are 1 on average instead of 1 in all.
        unnormalized: bool = false;
        /// How ranks are found.
        formulation: Option<Formulation> = None, unset = "power, but residual with `pace` basp";
        /// How exactly shares of ranks are kept and sent; auto is single precision where the
        /// difference is negligible.
        precision: Precision = Precision::Auto;
        /// Ranks after exactly `max_rounds` rounds (10 if not given), as LDBC Graphalytics defines
        /// them.
        graphalytics: bool = false;
        /// Personalised ranks: the surfer starts again at these vertices only, and they share what is
        /// lost; original ids, or a file with one per line.
        seeds: Option<Vec<String>> = None;
    }
}

/// What becomes of the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dangling {
    /// All vertices get their share of it, or all seeds where there are some.
    Redistribute,
    /// It is lost, as in GAP and Gluon.
    Drop,
}

impl Choice for Dangling {
    const NAMES: &'static [(&'static str, Self)] =
        &[("redistribute", Dangling::Redistribute), ("drop", Dangling::Drop)];
}

/// How ranks are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formulation {
    /// The power method: every vertex collects from all its neighbours in every round.
    Power,
    /// The residual method: vertices pass on what has changed, once it is enough.
    Residual,
}

impl Choice for Formulation {
    const NAMES: &'static [(&'static str, Self)] =
        &[("power", Formulation::Power), ("residual", Formulation::Residual)];
}

/// The precision of what passes along edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single precision where the difference is negligible, else double.
    Auto,
    /// Single precision.
    Single,
    /// Double precision.
    Double,
}

impl Choice for Precision {
    const NAMES: &'static [(&'static str, Self)] =
        &[("auto", Precision::Auto), ("single", Precision::Single), ("double", Precision::Double)];
}

/// Rounds of Graphalytics, unless the user says otherwise.
const GRAPHALYTICS_ROUNDS: u64 = 10;
/// Rounds beyond the number that suffices in exact arithmetic.
const SPARE_ROUNDS: u64 = 10;

/// The method that was asked for, or that suits the pace.
pub(super) fn formulation(options: &Options) -> Formulation {
    options.own::<PageRankOptions>().formulation.unwrap_or(match options.pacing.pace {
        Pace::Basp => Formulation::Residual,
        Pace::Bsp | Pace::Auto => Formulation::Power,
    })
}

/// Checks what the user asked for, and finds how many rounds must be enough.
pub(super) fn limits(options: &Options) -> Result<Limits> {
    let PageRankOptions { tolerance, damping, graphalytics, seeds, .. } = options.own();
    let refuse = |problem: String| Err(Error::Request(problem));
    if seeds.is_some_and(|seeds| seeds.is_empty()) {
        return refuse("`seeds` names no vertices: expected at least 1".into());
    }
    if !(0.0..1.0).contains(&damping) {
        return refuse(format!("`damping` {damping}: expected a number from 0 up to, but not, 1"));
    }
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        return refuse(format!("`tolerance` {tolerance}: expected a number of at least 0"));
    }
    if graphalytics {
        check_graphalytics(options)?;
        let rounds = options.max_rounds.unwrap_or(GRAPHALYTICS_ROUNDS);
        return Ok(Limits { max_rounds: Some(rounds) });
    }
    if tolerance == 0.0 && options.max_rounds.is_none() {
        return refuse("`tolerance` 0: ranks may never count as final: give `max_rounds`".into());
    }
    // All ranks together change by at most 2 d^k in round k; rounding may keep them from settling.
    let enough = (tolerance / 2.0).ln() / damping.max(1e-300).ln();
    let enough = if enough.is_finite() { enough.max(0.0) as u64 + SPARE_ROUNDS } else { u64::MAX };
    Ok(Limits { max_rounds: Some(options.max_rounds.unwrap_or(enough)) })
}

/// Refuses what contradicts Graphalytics's definition.
fn check_graphalytics(options: &Options) -> Result<()> {
    let own = options.own::<PageRankOptions>();
    let contradicts = [
        ("`dangling` drop", own.dangling == Dangling::Drop),
        ("`unnormalized`", own.unnormalized),
        ("`seeds`", own.seeds.is_some()),
        ("`tolerance`", own.tolerance != PageRankOptions::default().tolerance),
        ("`formulation` residual", formulation(options) == Formulation::Residual),
    ];
    match contradicts.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::Request(format!(
            "`graphalytics` and {option}: Graphalytics defines ranks that sum up to 1, shared out \
             among all vertices in a fixed number of rounds"
        ))),
    }
}
