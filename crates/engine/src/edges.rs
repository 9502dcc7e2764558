//! A host's edges as a program wants to see them.

use std::borrow::Cow;

use parton_graph::{Adjacency, LocalId, Weight, with_csr};

/// Rows of edges with the weights a program asks for. Weights it does not ask for are not touched;
/// edges without weights count as 1.
pub struct EdgeView<'a, W: Weight> {
    offsets: &'a [u64],
    targets: &'a [LocalId],
    weights: Cow<'a, [W]>,
}

impl<'a, W: Weight> EdgeView<'a, W> {
    /// A view of the edges, with their weights as `W`.
    pub fn new(adjacency: &'a Adjacency) -> Self {
        let targets = adjacency.all_targets();
        let weights = with_csr!(adjacency, csr => weights_as(csr.all_weights(), targets.len()));
        EdgeView { offsets: adjacency.offsets(), targets, weights }
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges.
    pub fn num_edges(&self) -> u64 {
        self.targets.len() as u64
    }

    /// Number of a vertex's edges.
    #[inline]
    pub fn degree(&self, vertex: LocalId) -> u64 {
        self.offsets[vertex.index() + 1] - self.offsets[vertex.index()]
    }

    /// A vertex's edges: the other end and the weight.
    #[inline]
    pub fn edges(&self, vertex: LocalId) -> impl ExactSizeIterator<Item = (LocalId, W)> + '_ {
        let (start, end) = (self.offsets[vertex.index()], self.offsets[vertex.index() + 1]);
        let range = start as usize..end as usize;
        let weights = self.weights[range.clone()].iter().copied();
        self.targets[range].iter().copied().zip(weights)
    }

    /// Calls `visit` with each of a vertex's edges: the other end and the weight.
    #[inline]
    pub fn each(&self, vertex: LocalId, mut visit: impl FnMut(LocalId, W)) {
        if size_of::<W>() > 0 {
            return self.edges(vertex).for_each(|(other, weight)| visit(other, weight));
        }
        let (start, end) = (self.offsets[vertex.index()], self.offsets[vertex.index() + 1]);
        for &other in &self.targets[start as usize..end as usize] {
            visit(other, W::default());
        }
    }
}

/// Weights as another type; the same type is not copied, and `()` takes no memory.
fn weights_as<V: Weight, W: Weight>(weights: &[V], edges: usize) -> Cow<'_, [W]> {
    if size_of::<W>() == 0 {
        Cow::Owned(vec![W::default(); edges])
    } else if V::KIND == W::KIND {
        Cow::Borrowed(bytemuck::cast_slice(weights))
    } else {
        weights.iter().map(|weight| W::from_f64(weight.to_f64())).collect()
    }
}
