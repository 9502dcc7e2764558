//! The edges that messages travel along: forward from where they start, in reverse from where they arrive.

use std::ops::Range;

use parton_graph::{Adjacency, LocalId, Weight};
use parton_partition::Partition;

use super::edges::{EdgeRows, EdgeView, PREFETCH_VERTICES};
use crate::program::Edges;

/// The edges that messages travel along, by one of their ends: out-edges, in-edges, or both.
pub struct Directions<'a, W: Weight> {
    first: EdgeView<'a, W>,
    second: Option<EdgeView<'a, W>>,
}

/// The rows of [`Directions`]. Copy them before a loop, like [`EdgeRows`].
#[derive(Clone, Copy)]
pub struct DirectionRows<'v, W: Weight> {
    first: EdgeRows<'v, W>,
    second: Option<EdgeRows<'v, W>>,
}

impl<'a, W: Weight> Directions<'a, W> {
    /// By the end where messages start.
    #[inline(never)]
    pub fn forward(partition: &'a Partition, edges: Edges) -> Self {
        Self::along(edges, || partition.out_edges(), || partition.in_edges())
    }

    /// By the end where messages start, if these rows need not be made.
    pub(crate) fn forward_at_hand(partition: &'a Partition, edges: Edges) -> Option<Self> {
        Self::are_forward_at_hand(partition, edges).then(|| Self::forward(partition, edges))
    }

    /// Whether the rows by the end where messages start need not be made.
    pub(crate) fn are_forward_at_hand(partition: &Partition, edges: Edges) -> bool {
        let out = || partition.out_edges_at_hand().is_some();
        let into = || partition.in_edges_at_hand().is_some();
        match edges {
            Edges::Out => out(),
            Edges::In => into(),
            Edges::Both => out() && into(),
        }
    }

    /// By the end where messages arrive.
    pub fn reverse(partition: &'a Partition, edges: Edges) -> Self {
        Self::forward(partition, edges.reversed())
    }

    /// Like [`Directions::forward`], but with [all in-edges of masters](Partition::in_edges_of_masters)
    /// where hosts keep them. Then every edge is there from each of its ends once, on the hosts of their
    /// masters, and all hosts must visit it from the same end.
    #[inline(never)]
    pub fn forward_of_masters(partition: &'a Partition, edges: Edges) -> Self {
        let into = || partition.in_edges_of_masters().unwrap_or_else(|| partition.in_edges());
        Self::along(edges, || partition.out_edges(), into)
    }

    fn along(
        edges: Edges,
        out: impl FnOnce() -> &'a Adjacency,
        into: impl FnOnce() -> &'a Adjacency,
    ) -> Self {
        match edges {
            Edges::Out => EdgeView::new(out()).into(),
            Edges::In => EdgeView::new(into()).into(),
            Edges::Both => {
                Directions { first: EdgeView::new(out()), second: Some(EdgeView::new(into())) }
            }
        }
    }

    /// Number of edges; edges that messages travel both ways count twice.
    pub fn num_edges(&self) -> u64 {
        self.first.num_edges() + self.second.as_ref().map_or(0, EdgeView::num_edges)
    }

    /// Whether these are among the edges.
    pub fn has(&self, edges: &Adjacency) -> bool {
        let mut views = std::iter::once(&self.first).chain(&self.second);
        views.any(|view| std::ptr::eq(view.adjacency(), edges))
    }

    /// Whether others are the same edges by the same end, as where every edge has its mirror image.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let alone = |directions: &Self| directions.second.is_none();
        alone(self) && alone(other) && self.has(other.first.adjacency())
    }

    /// Gives the memory of some vertices' edges back to the system: they will hardly be needed again.
    pub fn set_aside(&self, vertices: Range<usize>) {
        self.first.set_aside(vertices.clone());
        if let Some(second) = &self.second {
            second.set_aside(vertices);
        }
    }

    /// Their rows.
    #[inline]
    pub fn rows(&self) -> DirectionRows<'_, W> {
        DirectionRows { first: self.first.rows(), second: self.second.as_ref().map(EdgeView::rows) }
    }
}

impl<'a, W: Weight> From<EdgeView<'a, W>> for Directions<'a, W> {
    fn from(edges: EdgeView<'a, W>) -> Self {
        Directions { first: edges, second: None }
    }
}

impl<'v, W: Weight> From<EdgeRows<'v, W>> for DirectionRows<'v, W> {
    fn from(rows: EdgeRows<'v, W>) -> Self {
        DirectionRows { first: rows, second: None }
    }
}

impl<'v, W: Weight> DirectionRows<'v, W> {
    /// Number of a vertex's edges.
    #[inline(always)]
    pub fn degree(self, vertex: LocalId) -> u64 {
        self.first.degree(vertex) + self.second.map_or(0, |second| second.degree(vertex))
    }

    /// The rows one after another.
    #[inline(always)]
    pub(crate) fn parts(self) -> impl Iterator<Item = EdgeRows<'v, W>> {
        std::iter::once(self.first).chain(self.second)
    }

    /// Calls `visit` with the other end and the weight of each of a vertex's edges, and `prefetch` with
    /// ends some edges before their turn.
    #[inline(always)]
    pub fn each(
        self,
        vertex: LocalId,
        mut prefetch: impl FnMut(LocalId),
        mut visit: impl FnMut(LocalId, W),
    ) {
        for rows in self.parts() {
            rows.each(vertex, &mut prefetch, &mut visit);
        }
    }

    /// [`EdgeRows::combine`] in both directions.
    #[inline(always)]
    pub fn combine<T: Copy>(
        self,
        first: LocalId,
        totals: &mut [T],
        prefetch: impl Fn(LocalId),
        value: impl Fn(LocalId, W) -> T,
        combine: impl Fn(T, T) -> T,
    ) {
        for rows in self.parts() {
            rows.combine(first, totals, &prefetch, &value, &combine);
        }
    }

    /// Visits each edge until `visit` returns true. Returns whether it did.
    #[inline(always)]
    pub fn until(self, vertex: LocalId, mut visit: impl FnMut(LocalId, W) -> bool) -> bool {
        self.first.until(vertex, &mut visit)
            || self.second.is_some_and(|second| second.until(vertex, visit))
    }

    /// Prefetches a vertex's edges.
    #[inline(always)]
    pub(crate) fn prefetch_edges(self, vertex: LocalId) {
        self.first.prefetch_edges(vertex);
        if let Some(second) = self.second {
            second.prefetch_edges(vertex);
        }
    }

    /// Prefetches the degree of a later vertex while it is the turn of the one at `place`.
    #[inline(always)]
    pub(crate) fn prepare_degree(self, vertices: &[LocalId], place: usize) {
        if let Some(&vertex) = vertices.get(place + 3 * PREFETCH_VERTICES) {
            self.prefetch_offset(vertex);
        }
    }

    #[inline(always)]
    fn prefetch_offset(self, vertex: LocalId) {
        self.first.prefetch_offset(vertex);
        if let Some(second) = self.second {
            second.prefetch_offset(vertex);
        }
    }

    /// Prefetches the degrees of the first of these vertices.
    #[inline(always)]
    pub(crate) fn prepare_first(self, vertices: &[LocalId]) {
        vertices
            .iter()
            .take(3 * PREFETCH_VERTICES)
            .for_each(|&vertex| self.prefetch_offset(vertex));
    }

    /// [`EdgeRows::prepare`] in both directions.
    #[inline(always)]
    pub fn prepare(self, vertices: &[LocalId], place: usize, mut prefetch: impl FnMut(LocalId)) {
        self.first.prepare(vertices, place, &mut prefetch);
        if let Some(second) = self.second {
            second.prepare(vertices, place, prefetch);
        }
    }
}
