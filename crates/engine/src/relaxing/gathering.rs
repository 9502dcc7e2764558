//! What the next round starts from, gathered from what has become active.

use std::ops::Range;

use parton_graph::{LocalId, Weight};
use parton_sync::Reduction;
use rayon::prelude::*;

use super::looking::ONE_IN;
use super::{PIECE, Relaxing};
use crate::program::Relaxation;
use crate::ways::WayRows;

/// A large frontier with more than one in so many vertices is not listed for an engine that pulls.
const MANY: usize = 8;
/// Vertices that are listed at a time.
const LIST_PIECE: u32 = 1 << 16;

impl<P: Relaxation> Relaxing<'_, P> {
    /// Makes what is active the frontier; whether that is anything.
    pub fn next_frontier(&mut self) -> bool {
        self.gather(1)
    }

    /// Makes what is active the frontier, at least `few` if so many wait; whether that is anything.
    pub(super) fn gather(&mut self, few: usize) -> bool {
        self.frontier.clear();
        self.labels.swap_active(&mut self.frontier);
        self.is_large = false;
        if let Some(noted) = self.noted.take() {
            self.frontier.clear();
            (self.list, self.list_edges) = (noted.vertices, noted.edges);
            return !self.list.is_empty();
        }
        self.list_frontier();
        if !self.is_large {
            self.take_turns(few);
        }
        self.is_large || !self.list.is_empty()
    }

    /// Lists the frontier, unless it is large and may not have to be.
    fn list_frontier(&mut self) {
        self.list.clear();
        self.list_edges = 0;
        let rows = 0..self.rows_end;
        let members = self.frontier.count_range(rows.clone());
        // Hosts that do not wait have frontiers of more than one level: whoever looks through its edges
        // looks at all of them, unless the first label wins.
        let may_pull = self.back.is_some()
            && (self.in_rounds || self.program.first_wins() && self.together.is_none());
        let all = || self.frontier.iter_range(rows.clone());
        let mut may_go = || self.waiting.as_mut().is_none_or(|waiting| waiting.let_through(all));
        let many = members > (rows.len() / MANY).max(PIECE);
        let may_look = self.looking.is_some() && self.in_rounds;
        self.is_large = many && (may_look || may_pull && may_go());
        match (self.is_large, may_pull) {
            (false, _) => self.list_members(),
            (true, true) => self.list_edges = self.num_edges(),
            (true, false) => {
                let edges = pieces(self.rows_end).map(|piece| {
                    let asked = self.frontier.iter_range(piece).step_by(ONE_IN);
                    asked.map(|vertex| self.forth.rows().degree(vertex)).sum::<u64>()
                });
                self.list_edges = ONE_IN as u64 * edges.sum::<u64>();
            }
        }
    }

    /// Lists the frontier after all, if it was too large for that.
    pub fn list_large(&mut self) {
        if std::mem::take(&mut self.is_large) {
            self.list_members();
        }
    }

    /// The best label of the frontier.
    pub fn best_of_frontier(&self) -> P::Label {
        match self.is_large {
            true => self.best_of_members(),
            false => self.best_of(self.list.iter().copied()),
        }
    }

    /// The best label of the frontier's members, where it is not only listed.
    pub(super) fn best_of_members(&self) -> P::Label {
        let best = pieces(self.labels.num_proxies() as u32)
            .map(|piece| self.best_of(self.frontier.iter_range(piece)));
        best.reduce(P::Reduction::identity, P::Reduction::combine)
    }

    /// Lists the frontier, but for those that no edge leaves.
    pub(super) fn list_members(&mut self) {
        let (frontier, forth, end) = (&self.frontier, self.forth.rows(), self.rows_end);
        let list = |range| Listed::new(frontier.iter_range(range).collect(), forth);
        if frontier.len() < LIST_PIECE as usize {
            let listed = list(0..end);
            (self.list, self.list_edges) = (listed.vertices, listed.edges);
        } else {
            let pieces: Vec<Listed> = pieces(end).map(list).collect();
            self.list_edges = pieces.iter().map(|piece| piece.edges).sum();
            self.list.par_extend(pieces.into_par_iter().flat_map_iter(|piece| piece.vertices));
        }
    }

    /// Leaves in the list whose turn it is, where hosts do not wait for each other.
    fn take_turns(&mut self, few: usize) {
        let Some(waiting) = &mut self.waiting else { return };
        // What is listed is all there is.
        self.frontier.clear();
        let (labels, forth) = (self.labels.cells(), self.forth.rows());
        let is_worse = |label, than| label != than && P::Reduction::combine(label, than) == than;
        let order = |a: &P::Label, b: &P::Label| is_worse(*a, *b).cmp(&is_worse(*b, *a));
        let degree = |vertex| forth.degree(vertex);
        waiting.choose(&mut self.list, few, |vertex| labels.get(vertex), order, degree);
        self.list_edges = self.list.iter().map(|&vertex| degree(vertex)).sum();
    }

    /// Whether anybody here has a label to spread, or may find one that a master elsewhere has.
    pub(super) fn has_frontier(&self) -> bool {
        let listed = self.is_large || !self.list.is_empty();
        listed || self.together.is_some() && !self.frontier.is_empty()
    }
}

/// The proxies below `end` in pieces.
fn pieces(end: u32) -> impl IndexedParallelIterator<Item = Range<u32>> {
    let firsts = (0..end).into_par_iter().step_by(LIST_PIECE as usize);
    firsts.map(move |first| first..end.min(first.saturating_add(LIST_PIECE)))
}

/// Some vertices that edges leave, and how many edges do.
#[derive(Default)]
pub(super) struct Listed {
    vertices: Vec<LocalId>,
    edges: u64,
}

impl Listed {
    /// Those of some vertices.
    pub(super) fn new<W: Weight>(mut vertices: Vec<LocalId>, forth: WayRows<'_, W>) -> Self {
        let (mut kept, mut edges) = (0, 0);
        for place in 0..vertices.len() {
            forth.prepare_degree(&vertices, place);
            let degree = forth.degree(vertices[place]);
            vertices[kept] = vertices[place];
            kept += usize::from(degree > 0);
            edges += degree;
        }
        vertices.truncate(kept);
        Listed { vertices, edges }
    }

    /// Adds others.
    pub(super) fn add(&mut self, mut other: Self) {
        self.edges += other.edges;
        match self.vertices.is_empty() {
            true => self.vertices = other.vertices,
            false => self.vertices.append(&mut other.vertices),
        }
    }
}
