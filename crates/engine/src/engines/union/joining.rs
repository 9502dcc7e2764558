//! Which edges hosts look at, and what they join.

use std::ops::Range;
use std::slice;

use parton_graph::LocalId;
use rayon::prelude::*;

use super::{Sight, Union};
use crate::program::Relaxation;
use crate::relaxing::PIECE;

/// Edges of every vertex that are joined before looking for the largest component.
pub(super) const FIRST_EDGES: usize = 2;
/// How many vertices before its turn a vertex's neighbour is asked for.
const AHEAD: u32 = 16;
/// Edges that are looked at before anything is decided about one of them.
const AT_ONCE: usize = 16;

impl<P: Relaxation> Union<'_, P> {
    /// Joins the ends of the first edges of every vertex.
    pub(super) fn join_first(&self) {
        pieces(&self.sources).for_each(|piece| {
            let (edges, joined) = (self.edges.rows(), self.joined.sets());
            let first = |vertex| edges.targets(LocalId(vertex)).iter().take(FIRST_EDGES);
            let after =
                |vertex: u32, steps| vertex.saturating_add(steps * AHEAD).min(piece.end - 1);
            for vertex in piece.clone() {
                edges.prefetch_edges(LocalId(after(vertex, 2)));
                let later = after(vertex, 1);
                first(later).for_each(|other| joined.prefetch(other.0));
                first(vertex).for_each(|other| joined.join(vertex, other.0));
            }
        });
    }

    /// Joins the ends of the other edges of all vertices that are not in the largest component.
    pub(super) fn join_rest_alone(&self) {
        let (joined, proxies) = (self.joined.sets(), self.joined.len() as u32);
        let Some(largest) = joined.largest(proxies) else { return };
        joined.flatten(0..proxies, |vertex, representative| {
            if representative != largest && representative != joined.representative(largest) {
                let others = self.edges.rows().targets(LocalId(vertex));
                joined.join_all(vertex, &others[FIRST_EDGES.min(others.len())..], |other| other.0);
                if let Some(in_edges) = &self.in_edges {
                    let sources = in_edges.rows().targets(LocalId(vertex));
                    joined.join_all(vertex, sources, |source| source.0);
                }
            }
        });
    }

    /// Notes who has an edge from a master outside; how many edges were looked at.
    pub(super) fn suspect(&self) -> u64 {
        let edges = |vertex: LocalId| {
            let others = self.edges.rows().targets(vertex);
            others.iter().for_each(|other| _ = self.suspects.0.insert(*other));
            others.len() as u64
        };
        pieces(&self.sources[..1])
            .map(|piece| self.outside.0.iter_range(piece).map(edges).sum::<u64>())
            .sum()
    }

    /// Joins the ends of all edges, but for those between known members of the giant, which is one for
    /// all of these.
    pub(super) fn join_rest(&self) {
        let all = 0..self.joined.len() as u32;
        let looked_at = match self.sight {
            Sight::OneEnd => &self.sources[..],
            Sight::BothEnds | Sight::BothEndsSomewhere => slice::from_ref(&all),
        };
        pieces(looked_at).for_each(|piece| {
            self.outside.0.iter_range(piece).for_each(|vertex| self.join_edges(vertex));
        });
        if let (Sight::OneEnd, Some(giant)) = (self.sight, self.giant) {
            self.join_neighbours(giant);
        }
    }

    /// Joins a vertex outside the giant with the other ends of its edges, those into it included if
    /// they are at hand.
    fn join_edges(&self, vertex: LocalId) {
        let outside = self.outside.0.members();
        let stand_in = |&other: &LocalId| match self.giant {
            Some(giant) if !outside.contains(other) => giant,
            _ => {
                self.suspects.0.insert(other);
                other.0
            }
        };
        let join = |others: &[LocalId]| {
            if !others.is_empty() {
                self.suspects.0.insert(vertex);
            }
            self.joined.sets().join_all(vertex.0, others, stand_in);
        };
        join(self.edges.rows().targets(vertex));
        if let Some(in_edges) = &self.in_edges {
            join(in_edges.rows().targets(vertex));
        }
    }

    /// Joins the giant with those outside who have an edge from a member, after those outside have
    /// been joined with each other.
    fn join_neighbours(&self, giant: u32) {
        let (joined, outside) = (self.joined.sets(), &self.outside.0);
        let suspects = &self.suspects;
        // A mirror is here because of an edge: if that is nobody's outside, it comes from a member.
        pieces(&[self.mirrors()]).for_each(|piece| {
            let mirrors = outside.iter_range(piece);
            let neighbours = mirrors.filter(|&mirror| !suspects.0.contains(mirror));
            neighbours.for_each(|mirror| joined.join(giant, mirror.0));
        });
        suspects.insert_of(outside, 0..self.num_masters, |_| true);
        if suspects.0.is_empty() {
            return;
        }
        pieces(&self.sources).for_each(|piece| {
            let mut found = Vec::new();
            let mut first = piece.start;
            for vertex in outside.iter_range(piece.clone()) {
                self.find_suspects(first..vertex.0, &mut found);
                first = vertex.0 + 1;
            }
            self.find_suspects(first..piece.end, &mut found);
            joined.join_all(giant, &found, |other| *other);
        });
    }

    /// Finds neighbours of consecutive members of the giant that may be outside. They are to be joined
    /// when memory has had time to fetch them.
    fn find_suspects(&self, members: Range<u32>, found: &mut Vec<u32>) {
        let (suspects, joined) = (self.suspects.0.members(), self.joined.sets());
        for others in self.edges.rows().targets_of(members).chunks(AT_ONCE) {
            // Hardly ever: all are looked at before anything is decided.
            if others.iter().fold(false, |any, other| any | suspects.contains(*other)) {
                for other in others.iter().filter(|other| suspects.contains(**other)) {
                    joined.prefetch(other.0);
                    found.push(other.0);
                }
            }
        }
    }
}

/// Ranges of vertices, as threads take them.
pub(super) fn pieces(ranges: &[Range<u32>]) -> impl ParallelIterator<Item = Range<u32>> {
    let cut = |range: &Range<u32>| {
        let end = range.end;
        range
            .clone()
            .step_by(PIECE)
            .map(move |first| first..end.min(first.saturating_add(PIECE as u32)))
    };
    ranges.iter().flat_map(cut).collect::<Vec<_>>().into_par_iter().with_max_len(1)
}
