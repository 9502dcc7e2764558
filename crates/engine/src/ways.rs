//! The edges messages take, from both ends.

use parton_graph::{LocalId, Weight};
use parton_partition::Partition;

use crate::edges::EdgeView;
use crate::program::Edges;

/// The edges that messages take: out-edges, in-edges, or both.
pub struct Ways<'a, W: Weight>(Vec<EdgeView<'a, W>>);

impl<'a, W: Weight> Ways<'a, W> {
    /// From where messages start.
    pub fn forth(partition: &'a Partition, edges: Edges) -> Self {
        let out = || EdgeView::new(partition.out_edges());
        let into = || EdgeView::new(partition.in_edges());
        Ways(match edges {
            Edges::Out => vec![out()],
            Edges::In => vec![into()],
            Edges::Both => vec![out(), into()],
        })
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

    /// Number of a vertex's edges.
    #[inline]
    pub fn degree(&self, vertex: LocalId) -> u64 {
        self.0.iter().map(|way| way.degree(vertex)).sum()
    }

    /// Number of all edges, those that are taken both ways twice.
    pub fn num_edges(&self) -> u64 {
        self.0.iter().map(EdgeView::num_edges).sum()
    }

    /// Calls `visit` with the other end and the weight of each of a vertex's edges.
    #[inline]
    pub fn each(&self, vertex: LocalId, mut visit: impl FnMut(LocalId, W)) {
        for way in &self.0 {
            way.each(vertex, &mut visit);
        }
    }

    /// The same until `visit` says that it has seen enough.
    #[inline]
    pub fn until(&self, vertex: LocalId, mut visit: impl FnMut(LocalId, W) -> bool) {
        for way in &self.0 {
            for (other, weight) in way.edges(vertex) {
                if visit(other, weight) {
                    return;
                }
            }
        }
    }
}
