//! The edges messages take, from both ends.

use std::ops::Range;

use parton_graph::{Adjacency, LocalId, Weight};
use parton_net::HostId;
use parton_partition::{End, Partition};

use crate::edges::{EdgeView, Rows, STEP};
use crate::program::Edges;

/// The edges that messages take: out-edges, in-edges, or both.
pub struct Ways<'a, W: Weight> {
    first: EdgeView<'a, W>,
    second: Option<EdgeView<'a, W>>,
}

/// The rows of [`Ways`], to be copied before a loop like [`Rows`].
#[derive(Clone, Copy)]
pub struct WayRows<'v, W: Weight> {
    first: Rows<'v, W>,
    second: Option<Rows<'v, W>>,
}

impl<'a, W: Weight> Ways<'a, W> {
    /// From where messages start.
    pub fn forth(partition: &'a Partition, edges: Edges) -> Self {
        Self::along(edges, || partition.out_edges(), || partition.in_edges())
    }

    /// From where messages arrive.
    pub fn back(partition: &'a Partition, edges: Edges) -> Self {
        Self::forth(partition, edges.turned())
    }

    /// As [`Ways::forth`], but with [all in-edges](Partition::whole_in_edges) of masters, and of
    /// nobody else, where hosts keep them. Then an edge is there from each of its ends once, on
    /// whatever hosts these are, and hosts have to agree from which of them to go along it.
    pub fn whole(partition: &'a Partition, edges: Edges) -> Self {
        let into = || partition.whole_in_edges().unwrap_or_else(|| partition.in_edges());
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
                Ways { first: EdgeView::new(out()), second: Some(EdgeView::new(into())) }
            }
        }
    }

    /// Number of all edges, those that are taken both ways twice.
    pub fn num_edges(&self) -> u64 {
        self.first.num_edges() + self.second.as_ref().map_or(0, EdgeView::num_edges)
    }

    /// Whether messages take these edges.
    pub fn has(&self, edges: &Adjacency) -> bool {
        let mut views = std::iter::once(&self.first).chain(&self.second);
        views.any(|view| std::ptr::eq(view.adjacency(), edges))
    }

    /// Says that the edges of some vertices will hardly be needed again.
    pub fn set_aside(&self, vertices: Range<usize>) {
        self.first.set_aside(vertices.clone());
        if let Some(second) = &self.second {
            second.set_aside(vertices);
        }
    }

    /// Their rows.
    #[inline]
    pub fn rows(&self) -> WayRows<'_, W> {
        WayRows { first: self.first.rows(), second: self.second.as_ref().map(EdgeView::rows) }
    }
}

impl<'a, W: Weight> From<EdgeView<'a, W>> for Ways<'a, W> {
    fn from(edges: EdgeView<'a, W>) -> Self {
        Ways { first: edges, second: None }
    }
}

impl<'v, W: Weight> WayRows<'v, W> {
    /// Number of a vertex's edges.
    #[inline(always)]
    pub fn degree(self, vertex: LocalId) -> u64 {
        self.first.degree(vertex) + self.second.map_or(0, |second| second.degree(vertex))
    }

    /// The rows one after another.
    #[inline(always)]
    pub(crate) fn parts(self) -> impl Iterator<Item = Rows<'v, W>> {
        std::iter::once(self.first).chain(self.second)
    }

    /// Calls `visit` with the other end and the weight of each of a vertex's edges, and before with
    /// `soon` the ends that come somewhat later.
    #[inline(always)]
    pub fn each(
        self,
        vertex: LocalId,
        mut soon: impl FnMut(LocalId),
        mut visit: impl FnMut(LocalId, W),
    ) {
        for rows in self.parts() {
            rows.each(vertex, &mut soon, &mut visit);
        }
    }

    /// [`Rows::combine`] for the edges of both ways.
    #[inline(always)]
    pub fn combine<T: Copy>(
        self,
        first: LocalId,
        totals: &mut [T],
        soon: impl Fn(LocalId),
        value: impl Fn(LocalId, W) -> T,
        combine: impl Fn(T, T) -> T,
    ) {
        for rows in self.parts() {
            rows.combine(first, totals, &soon, &value, &combine);
        }
    }

    /// Each edge until `visit` says that it has seen enough; whether it did.
    #[inline(always)]
    pub fn until(self, vertex: LocalId, mut visit: impl FnMut(LocalId, W) -> bool) -> bool {
        self.first.until(vertex, &mut visit)
            || self.second.is_some_and(|second| second.until(vertex, visit))
    }

    /// Tells memory that a vertex's edges will be looked at soon.
    #[inline(always)]
    pub fn prefetch_edges(self, vertex: LocalId) {
        self.first.prefetch_edges(vertex);
        if let Some(second) = self.second {
            second.prefetch_edges(vertex);
        }
    }

    /// Prepares the degree of one of these vertices while it is the turn of the one at `place`.
    #[inline(always)]
    pub fn prepare_degree(self, vertices: &[LocalId], place: usize) {
        if let Some(&vertex) = vertices.get(place + 3 * STEP) {
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

    /// Prepares the degrees of the first of these vertices.
    #[inline(always)]
    pub fn prepare_first(self, vertices: &[LocalId]) {
        vertices.iter().take(3 * STEP).for_each(|&vertex| self.prefetch_offset(vertex));
    }

    /// [`Rows::prepare`] for the edges of both ways.
    #[inline(always)]
    pub fn prepare(self, vertices: &[LocalId], place: usize, mut soon: impl FnMut(LocalId)) {
        self.first.prepare(vertices, place, &mut soon);
        if let Some(second) = self.second {
            second.prepare(vertices, place, soon);
        }
    }
}

/// Whether nothing is ever written at mirrors.
pub(crate) fn is_complete(partition: &Partition, written: End) -> bool {
    HostId::all(partition.num_hosts()).all(|peer| {
        let routes = partition.routes(peer);
        routes.mirrors(written).is_empty() && routes.masters(written).is_empty()
    })
}
