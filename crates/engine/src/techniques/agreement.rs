//! Agreement of all hosts on the direction of a round.
//!
//! Where every edge is on the hosts of both its ends' masters, all hosts must choose the same direction:
//! an edge would otherwise be skipped by both. They choose by the sum of their frontiers' edges.

use crate::techniques::bottom_up;

/// The direction that all hosts have agreed on.
pub(crate) struct DirectionAgreement {
    /// Number of edges that labels can travel along, on all hosts.
    num_edges: u64,
    is_bottom_up: bool,
}

impl DirectionAgreement {
    /// Top-down at first.
    pub(crate) fn new(num_edges: u64) -> Self {
        DirectionAgreement { num_edges, is_bottom_up: false }
    }

    /// Whether this round is bottom-up.
    pub(crate) fn is_bottom_up(&self) -> bool {
        self.is_bottom_up
    }

    /// Decides the direction of the next round. This many edges leave the frontiers of all hosts.
    pub(crate) fn decide(&mut self, frontier_edges: u64) {
        self.is_bottom_up = bottom_up::pays_off(frontier_edges, self.num_edges);
    }

    /// Top-down: hosts that do not wait for each other have no common frontier.
    pub(crate) fn leave_rounds(&mut self) {
        self.is_bottom_up = false;
    }
}
