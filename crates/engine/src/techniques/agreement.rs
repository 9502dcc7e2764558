//! Agreement of all hosts on the direction of a round.
//!
//! Where every edge is on the hosts of both its ends' masters, all hosts must choose the same direction:
//! an edge would otherwise be skipped by both. They choose by the sum of their frontiers' edges.

use crate::techniques::bottom_up;

/// A look at this many labels costs as much as a visit of an edge.
const LABELS_PER_EDGE: u64 = 4;

/// The direction that all hosts have agreed on.
pub(crate) struct DirectionAgreement {
    /// Number of edges that labels can travel along, on all hosts, or what a bottom-up step costs, in edges.
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

    /// From now on few of these vertices can find a label, along few edges: a bottom-up step is a look at all labels.
    pub(crate) fn lower_cost(&mut self, num_vertices: u64) {
        self.num_edges = self.num_edges.min(num_vertices / LABELS_PER_EDGE);
    }

    /// Top-down: hosts that do not wait for each other have no common frontier.
    pub(crate) fn leave_rounds(&mut self) {
        self.is_bottom_up = false;
    }
}
