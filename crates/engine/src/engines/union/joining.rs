//! Which edges hosts look at, and what they join.

use std::ops::Range;
use std::slice;

use parton_graph::LocalId;
use parton_partition::End;
use rayon::prelude::*;

use super::{Sight, Union, peers};
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
    fn join_rest_alone(&self) {
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

    /// Joins everything, whatever other hosts have joined.
    pub(super) fn join_all(&mut self) {
        self.join_first();
        if self.sight == Sight::BothEnds {
            return self.join_rest_alone();
        }
        // What is largest here need not be so elsewhere: two hosts would leave an edge to each other.
        self.sight = Sight::OneEnd;
        let (joined, proxies) = (self.joined.sets(), self.joined.len() as u32);
        joined.flatten(0..proxies, |_, _| ());
        let largest = joined.largest(proxies);
        self.outside.insert_where(0..proxies, |proxy| Some(joined.parent(proxy)) != largest);
        self.giant = largest;
        self.join_rest();
        // Nobody else knows of it.
        self.giant = None;
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

    /// Joins masters with the giant that have edges, but none from outside as far as anybody knows:
    /// they are outside no longer.
    pub(super) fn join_unsuspected(&mut self) {
        let Some(giant) = self.giant else { return };
        let (labels, joined) = (self.component_labels.cells(), self.joined.sets());
        let (outside, suspects) = (&self.outside.0, &self.suspects.0);
        let parts = self.partition.master_parts();
        for destinations in [0..parts.both, parts.read..parts.written] {
            pieces(slice::from_ref(&destinations)).for_each(|piece| {
                let unsuspected = |vertex: &LocalId| !suspects.contains(*vertex);
                for vertex in outside.iter_range(piece).filter(unsuspected) {
                    joined.join(giant, vertex.0);
                    labels.fold(LocalId(giant), labels.get(vertex));
                }
            });
            let suspected = suspects.iter_range(destinations.clone());
            let suspected: Vec<_> = suspected.filter(|it| outside.contains(*it)).collect();
            outside.remove_range(destinations);
            suspected.into_iter().for_each(|vertex| _ = outside.insert(vertex));
        }
    }

    /// Hosts know who is in the giant: joins everything else. Mirrors that turn out to be in it are
    /// noted.
    pub(super) fn join_outside(&mut self) {
        let is_known = |mirror: &u32| !self.outside.0.contains(LocalId(*mirror));
        if self.giant.is_none()
            && let Some(mirror) = self.mirrors().find(is_known)
        {
            self.giant = Some(mirror);
            self.told.speak_up(LocalId(mirror));
        }
        self.join_rest();
        let joined = self.joined.sets();
        let Some(giant) = self.giant.map(|giant| joined.representative(giant)) else { return };
        let is_member = |mirror: LocalId| joined.representative(mirror.0) == giant;
        self.reached.insert_of(&self.outside.0, self.mirrors(), is_member);
        // A host that has known nobody in it learns its label, too.
        for peer in peers(self.partition) {
            let mirrors = self.partition.routes(peer).mirrors(End::Either);
            let first = self.reached.0.iter_range(mirrors).next();
            first.into_iter().for_each(|mirror| self.told.speak_up(mirror));
        }
    }

    /// Joins masters with the giant whose mirrors have told so.
    pub(super) fn join_reached(&mut self) {
        for master in self.reached.0.iter_range(0..self.num_masters) {
            let giant = *self.giant.get_or_insert(master.0);
            self.joined.sets().join(giant, master.0);
        }
    }

    /// Joins the ends of all edges, but for those between known members of the giant, which is one for
    /// all of these.
    fn join_rest(&self) {
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
