//! Edges of some destinations that can still matter, and what a pull along them finds.

use std::ops::Range;

use parton_graph::{LocalId, Weight};
use parton_sync::Reduction;
use parton_sync::value::Number;

use super::is_as_good;
use crate::program::Relaxation;
use crate::state::edges::{EdgeRows, PREFETCH_EDGES_IN_ROW};
use crate::state::labels::Labels;

/// Edges of some destinations.
#[derive(Clone, Default)]
pub(super) struct Piece<W> {
    /// Destinations, and where their edges end.
    pub(super) rows: Vec<(LocalId, usize)>,
    /// Sources and weights.
    pub(super) edges: Vec<(LocalId, W)>,
    /// Edges that the next pull visits.
    visits: u64,
}

/// Better labels that a pull found.
pub(super) struct Found<L> {
    /// Vertices that have them and that edges leave, in parts.
    pub(super) vertices: Vec<Vec<LocalId>>,
    /// Number of edges that leave them.
    pub(super) edges: u64,
    pub(super) best: L,
}

/// Whether another label that comes along an edge improves this one.
#[inline(always)]
pub(super) fn improves<P: Relaxation>(
    labels: &Labels<'_, P>,
    label: P::Label,
    other: P::Label,
    weight: P::Weight,
) -> bool {
    !is_as_good::<P>(label, labels.program.relax(other, weight))
}

impl<W: Weight> Piece<W> {
    /// Replaces the piece by the edges of a task's vertices that can matter.
    pub(super) fn fill<P: Relaxation<Weight = W>>(
        &mut self,
        labels: &Labels<'_, P>,
        rows: EdgeRows<'_, W>,
        vertices: Range<usize>,
        bound: P::Label,
    ) {
        let cells = labels.field.cells();
        self.rows.clear();
        self.edges.clear();
        self.visits = 0;
        for vertex in vertices.map(|vertex| LocalId(vertex as u32)) {
            let label = cells.get(vertex);
            if is_as_good::<P>(label, bound) {
                continue;
            }
            self.visits += rows.degree(vertex);
            let start = self.edges.len();
            let matters = |weight| improves(labels, label, bound, weight);
            rows.each_with(vertex, matters, |end, weight| self.edges.push((end, weight)));
            if self.edges.len() > start {
                self.rows.push((vertex, self.edges.len()));
            }
        }
    }

    /// Pulls labels along these edges, and keeps the edges that can still matter. Returns what was found,
    /// and the number of edges visited.
    pub(super) fn pull<P: Relaxation<Weight = W>>(
        &mut self,
        labels: &Labels<'_, P>,
        bound: P::Label,
    ) -> (Found<P::Label>, u64) {
        let (cells, forward, field) = (labels.field.cells(), labels.forward.rows(), &labels.field);
        // No other thread has vertices of this piece.
        let (mut updated, is_shared) = (field.updated().inserter(), field.is_shared());
        let mut found = Found::nothing::<P>();
        let mut vertices = Vec::new();
        let (mut rows, mut edges, mut start) = (0, 0, 0);
        for row in 0..self.rows.len() {
            let (vertex, end) = self.rows[row];
            let old = cells.get(vertex);
            let mut label = old;
            for at in start..end {
                if let Some(&(later, _)) = self.edges.get(at + PREFETCH_EDGES_IN_ROW) {
                    cells.prefetch(later);
                }
                let (other, weight) = self.edges[at];
                label =
                    P::Reduction::combine(label, labels.program.relax(cells.get(other), weight));
            }
            if label != old {
                cells.put(vertex, label);
                updated.insert_if(vertex, is_shared);
                if labels.has_edges(vertex) {
                    vertices.push(vertex);
                    found.edges += forward.degree(vertex);
                    found.best = P::Reduction::combine(found.best, label);
                }
            }
            let first = edges;
            for at in start..end {
                let edge = self.edges[at];
                self.edges[edges] = edge;
                edges += usize::from(improves(labels, label, bound, edge.1));
            }
            if edges > first {
                self.rows[rows] = (vertex, edges);
                rows += 1;
            }
            start = end;
        }
        self.rows.truncate(rows);
        self.edges.truncate(edges);
        let visited = std::mem::replace(&mut self.visits, edges as u64);
        found.vertices.push(vertices);
        (found, visited)
    }
}

impl<L: Number> Found<L> {
    pub(super) fn nothing<P: Relaxation<Label = L>>() -> Self {
        Found { vertices: Vec::new(), edges: 0, best: P::Reduction::identity() }
    }

    pub(super) fn and<P: Relaxation<Label = L>>(mut self, other: Self) -> Self {
        self.vertices.extend(other.vertices);
        self.edges += other.edges;
        self.best = P::Reduction::combine(self.best, other.best);
        self
    }
}
