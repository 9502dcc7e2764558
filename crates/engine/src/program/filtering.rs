//! Computation filtering: which vertices a program lets engines leave out of rounds (LA3: Ahmad et al.,
//! VLDB'18).
//!
//! Along the edges that a program's messages take, a *source* has no in-edges, a *sink* no out-edges, an
//! *isolated* vertex neither. No vertex reads a sink's state before the end, and what a source sends may be
//! known without computing it. What may be left out follows from several declared properties, never from one:
//!
//! | program | sinks | sources |
//! |---|---|---|
//! | stationary, last message wins, and either local or with a shared source | once, after the last round, from the messages of that round | once, if they share their state |
//! | not stationary | whenever something arrives | whenever they have something to send: once, by themselves |
//! | all others, such as programs that add up what arrives | in every round | in every round |
//!
//! A program that is not stationary visits an edge only when its source has news, so little is left to filter.

use super::{Edges, VertexProgram};

/// The state that all vertices without in-edges share: `factor` times the unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedSource<S> {
    /// A state whose messages and contributions scale with the factor.
    pub unit: S,
    /// The factor in the round that comes next.
    pub factor: f64,
}

/// Numbers of vertices of the whole graph that are left out of rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Without in-edges.
    pub sources: u64,
    /// Without out-edges.
    pub sinks: u64,
    /// Without either.
    pub isolated: u64,
}

/// What may be left out of the rounds of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Sinks, until the last round is over.
    pub sinks: bool,
    /// Sources, whose contributions are then known.
    pub sources: bool,
}

impl Filter {
    /// What the properties of a program allow.
    pub fn of<P: VertexProgram>(program: &P) -> Filter {
        let properties = program.properties();
        let shares_source = program.shared_source().is_some();
        // Along edges in both directions, a vertex with any edge is both.
        if properties.edges == Edges::Both || properties.turns {
            return Filter::default();
        }
        let sinks = properties.stationary
            && properties.last_message_wins
            && (properties.is_local || shares_source);
        Filter { sinks, sources: sinks && shares_source }
    }

    /// Whether anything may be left out.
    pub fn any(self) -> bool {
        self.sinks || self.sources
    }
}
