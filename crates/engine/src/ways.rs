//! The edges messages take, from both ends.

use parton_graph::{LocalId, Weight};
use parton_partition::Partition;

use crate::edges::{EdgeView, Rows};
use crate::program::Edges;

/// How many vertices before its turn a vertex is prepared, in each of three steps.
const STEP: usize = 6;
/// Ends of edges that are asked for before their vertex's turn.
const FIRST_ENDS: usize = 8;

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
        let out = || EdgeView::new(partition.out_edges());
        let into = || EdgeView::new(partition.in_edges());
        match edges {
            Edges::Out => Ways { first: out(), second: None },
            Edges::In => Ways { first: into(), second: None },
            Edges::Both => Ways { first: out(), second: Some(into()) },
        }
    }

    /// From where messages arrive.
    pub fn back(partition: &'a Partition, edges: Edges) -> Self {
        let turned = match edges {
            Edges::Out => Edges::In,
            Edges::In => Edges::Out,
            Edges::Both => Edges::Both,
        };
        Self::forth(partition, turned)
    }

    /// Number of all edges, those that are taken both ways twice.
    pub fn num_edges(&self) -> u64 {
        self.first.num_edges() + self.second.as_ref().map_or(0, EdgeView::num_edges)
    }

    /// Their rows.
    #[inline]
    pub fn rows(&self) -> WayRows<'_, W> {
        WayRows { first: self.first.rows(), second: self.second.as_ref().map(EdgeView::rows) }
    }
}

impl<'v, W: Weight> WayRows<'v, W> {
    #[inline(always)]
    fn all(self) -> impl Iterator<Item = Rows<'v, W>> {
        std::iter::once(self.first).chain(self.second)
    }

    /// Number of a vertex's edges.
    #[inline(always)]
    pub fn degree(self, vertex: LocalId) -> u64 {
        self.first.degree(vertex) + self.second.map_or(0, |second| second.degree(vertex))
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
        self.first.each(vertex, &mut soon, &mut visit);
        if let Some(second) = self.second {
            second.each(vertex, soon, visit);
        }
    }

    /// The same if the vertices after this one have their turn next.
    #[inline(always)]
    pub fn each_in_turn(
        self,
        vertex: LocalId,
        mut soon: impl FnMut(LocalId),
        mut visit: impl FnMut(LocalId, W),
    ) {
        self.first.each_in_turn(vertex, &mut soon, &mut visit);
        if let Some(second) = self.second {
            second.each_in_turn(vertex, soon, visit);
        }
    }

    /// Each edge until `visit` says that it has seen enough.
    #[inline(always)]
    pub fn until(self, vertex: LocalId, mut visit: impl FnMut(LocalId, W) -> bool) {
        for rows in self.all() {
            for (other, weight) in rows.edges(vertex) {
                if visit(other, weight) {
                    return;
                }
            }
        }
    }

    /// Prepares some of these vertices while it is the turn of the one at `place`: first where
    /// their edges are, then the edges, then, by `soon`, what is at the other ends.
    #[inline(always)]
    pub fn prepare(self, vertices: &[LocalId], place: usize, mut soon: impl FnMut(LocalId)) {
        for rows in self.all() {
            if let Some(&vertex) = vertices.get(place + 3 * STEP) {
                rows.prefetch_offset(vertex);
            }
            if let Some(&vertex) = vertices.get(place + 2 * STEP) {
                rows.prefetch_row(vertex);
            }
            if let Some(&vertex) = vertices.get(place + STEP) {
                rows.targets(vertex).iter().take(FIRST_ENDS).for_each(|&end| soon(end));
            }
        }
    }
}
