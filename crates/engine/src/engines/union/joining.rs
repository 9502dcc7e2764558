//! Which edges a host visits to join their ends.

use std::ops::Range;
use std::slice;

use parton_graph::{LocalId, parallel};
use parton_partition::{Coverage, End};

use super::{UnionFind, peers};
use crate::program::Relaxation;
use crate::techniques::VERTICES_PER_TASK;

/// Edges of every vertex that are joined before the largest component is looked for.
pub(super) const SAMPLED_EDGES: usize = 2;
/// Prefetch distance in vertices.
const PREFETCH_VERTICES: u32 = 16;
/// Edges that are tested in one branch-free loop.
const EDGES_PER_TEST: usize = 16;

impl<P: Relaxation> UnionFind<'_, P> {
    /// Joins the ends of the first edges of every vertex.
    pub(super) fn join_sample(&self) {
        parallel::for_each(&pieces(&self.sources), |piece| {
            let (edges, sets) = (self.edges.rows(), self.sets.sets());
            let first = |vertex| edges.targets(LocalId(vertex)).iter().take(SAMPLED_EDGES);
            let after = |vertex: u32, steps| {
                vertex.saturating_add(steps * PREFETCH_VERTICES).min(piece.end - 1)
            };
            for vertex in piece.clone() {
                edges.prefetch_edges(LocalId(after(vertex, 2)));
                let later = after(vertex, 1);
                first(later).for_each(|other| sets.prefetch(other.0));
                first(vertex).for_each(|other| sets.join(vertex, other.0));
            }
        });
    }

    /// Joins the ends of the edges beyond the sample, of all vertices outside the largest component.
    fn join_rest_alone(&self) {
        let (sets, proxies) = (self.sets.sets(), self.sets.len() as u32);
        let Some(largest) = sets.largest(proxies) else { return };
        sets.flatten(0..proxies, |vertex, representative| {
            if representative != largest && representative != sets.representative(largest) {
                let others = self.edges.rows().targets(LocalId(vertex));
                sets.join_all(vertex, &others[SAMPLED_EDGES.min(others.len())..], |other| other.0);
                if let Some(in_edges) = &self.in_edges {
                    let sources = in_edges.rows().targets(LocalId(vertex));
                    sets.join_all(vertex, sources, |source| source.0);
                }
            }
        });
    }

    /// Joins the ends of all edges, on a host that knows nothing of other hosts' components.
    pub(super) fn join_all(&mut self) {
        self.join_sample();
        if self.coverage == Coverage::BothEndsHere {
            return self.join_rest_alone();
        }
        // Two hosts with different largest components would leave an edge to each other.
        self.coverage = Coverage::OneEnd;
        let (sets, proxies) = (self.sets.sets(), self.sets.len() as u32);
        sets.flatten(0..proxies, |_, _| ());
        let largest = sets.largest(proxies);
        self.largest.outside.insert_where(0..proxies, |proxy| Some(sets.parent(proxy)) != largest);
        self.largest.member = largest;
        self.join_rest();
        // No other host knows this component.
        self.largest.member = None;
    }

    /// Marks the vertices to which an edge leads from a master outside. Returns the number of visited edges.
    pub(super) fn mark_candidates(&self) -> u64 {
        let edges = |vertex: LocalId| {
            let others = self.edges.rows().targets(vertex);
            others.iter().for_each(|other| _ = self.largest.candidates.insert(*other));
            others.len() as u64
        };
        let visited = parallel::map(&pieces(&self.sources[..1]), |piece| {
            self.largest.outside.iter_range(piece.clone()).map(edges).sum::<u64>()
        });
        visited.into_iter().sum()
    }

    /// Joins masters with the largest component that have edges, but none from outside on any host. They are no
    /// longer outside.
    pub(super) fn join_non_candidates(&mut self) {
        let Some(largest) = self.largest.member else { return };
        let (labels, sets) = (self.component_labels.cells(), self.sets.sets());
        let (outside, candidates) = (&self.largest.outside, &self.largest.candidates);
        let parts = self.partition.master_parts();
        for destinations in [0..parts.both, parts.read..parts.written] {
            parallel::for_each(&pieces(slice::from_ref(&destinations)), |piece| {
                let is_no_candidate = |vertex: &LocalId| !candidates.contains(*vertex);
                for vertex in outside.iter_range(piece.clone()).filter(is_no_candidate) {
                    sets.join(largest, vertex.0);
                    labels.fold(LocalId(largest), labels.get(vertex));
                }
            });
            let kept = candidates.iter_range(destinations.clone());
            let kept: Vec<_> = kept.filter(|it| outside.contains(*it)).collect();
            outside.remove_range(destinations);
            kept.into_iter().for_each(|vertex| _ = outside.insert(vertex));
        }
    }

    /// Joins everything outside the largest component, which hosts know by now, and marks the mirrors that turn
    /// out to be in it.
    pub(super) fn join_outside(&mut self) {
        let is_known = |mirror: &u32| !self.largest.outside.contains(LocalId(*mirror));
        if self.largest.member.is_none()
            && let Some(mirror) = self.mirrors().find(is_known)
        {
            self.largest.member = Some(mirror);
            self.shared.send_label(LocalId(mirror));
        }
        self.join_rest();
        let sets = self.sets.sets();
        let Some(largest) = self.largest.member.map(|largest| sets.representative(largest)) else {
            return;
        };
        let is_member = |mirror: LocalId| sets.representative(mirror.0) == largest;
        self.largest.reached.insert_of(&self.largest.outside, self.mirrors(), is_member);
        // A host that had no member of it learns its label this way, too.
        for peer in peers(self.partition) {
            let mirrors = self.partition.routes(peer).mirrors(End::Either);
            let first = self.largest.reached.iter_range(mirrors).next();
            first.into_iter().for_each(|mirror| self.shared.send_label(mirror));
        }
    }

    /// Joins masters with the largest component that a mirror has found to be members.
    pub(super) fn join_reached(&mut self) {
        for master in self.largest.reached.iter_range(0..self.num_masters) {
            let largest = *self.largest.member.get_or_insert(master.0);
            self.sets.sets().join(largest, master.0);
        }
    }

    /// Joins the ends of all edges except edges between known members of the largest component.
    fn join_rest(&self) {
        let all = 0..self.sets.len() as u32;
        let visited = match self.coverage {
            Coverage::OneEnd => &self.sources[..],
            Coverage::BothEndsHere | Coverage::BothEndsSomewhere => slice::from_ref(&all),
        };
        parallel::for_each(&pieces(visited), |piece| {
            self.largest
                .outside
                .iter_range(piece.clone())
                .for_each(|vertex| self.join_edges(vertex));
        });
        if let (Coverage::OneEnd, Some(largest)) = (self.coverage, self.largest.member) {
            self.join_neighbours(largest);
        }
    }

    /// Joins a vertex outside the largest component with the other ends of its out-edges, and of its in-edges if
    /// this host has these.
    fn join_edges(&self, vertex: LocalId) {
        let outside = self.largest.outside.members();
        let stand_in = |&other: &LocalId| match self.largest.member {
            Some(largest) if !outside.contains(other) => largest,
            _ => {
                self.largest.candidates.insert(other);
                other.0
            }
        };
        let join = |others: &[LocalId]| {
            if !others.is_empty() {
                self.largest.candidates.insert(vertex);
            }
            self.sets.sets().join_all(vertex.0, others, stand_in);
        };
        join(self.edges.rows().targets(vertex));
        if let Some(in_edges) = &self.in_edges {
            join(in_edges.rows().targets(vertex));
        }
    }

    /// Joins the largest component with the vertices outside it to which an edge leads from a member. The vertices
    /// outside have been joined with each other before.
    fn join_neighbours(&self, largest: u32) {
        let (sets, outside) = (self.sets.sets(), &self.largest.outside);
        let candidates = &self.largest.candidates;
        // A mirror is here because of an edge. If none comes from a vertex outside, one comes from a member.
        parallel::for_each(&pieces(&[self.mirrors()]), |piece| {
            let mirrors = outside.iter_range(piece.clone());
            let neighbours = mirrors.filter(|&mirror| !candidates.contains(mirror));
            neighbours.for_each(|mirror| sets.join(largest, mirror.0));
        });
        candidates.insert_of(outside, 0..self.num_masters, |_| true);
        if candidates.is_empty() {
            return;
        }
        parallel::for_each(&pieces(&self.sources), |piece| {
            let mut found = Vec::new();
            let mut first = piece.start;
            for vertex in outside.iter_range(piece.clone()) {
                self.find_candidates(first..vertex.0, &mut found);
                first = vertex.0 + 1;
            }
            self.find_candidates(first..piece.end, &mut found);
            sets.join_all(largest, &found, |other| *other);
        });
    }

    /// Finds neighbours of consecutive members of the largest component that may be outside, and prefetches their
    /// sets. The caller joins them later, when these have arrived.
    fn find_candidates(&self, members: Range<u32>, found: &mut Vec<u32>) {
        let (candidates, sets) = (self.largest.candidates.members(), self.sets.sets());
        for others in self.edges.rows().targets_of(members).chunks(EDGES_PER_TEST) {
            // A candidate is rare: one branch tests all edges of the chunk.
            if others.iter().fold(false, |any, other| any | candidates.contains(*other)) {
                for other in others.iter().filter(|other| candidates.contains(**other)) {
                    sets.prefetch(other.0);
                    found.push(other.0);
                }
            }
        }
    }
}

/// Ranges of vertices, as threads take them.
pub(super) fn pieces(ranges: &[Range<u32>]) -> Vec<Range<u32>> {
    let cut = |range: &Range<u32>| {
        let end = range.end;
        range
            .clone()
            .step_by(VERTICES_PER_TASK)
            .map(move |first| first..end.min(first.saturating_add(VERTICES_PER_TASK as u32)))
    };
    ranges.iter().flat_map(cut).collect()
}
