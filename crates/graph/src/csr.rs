//! Compressed sparse rows: a graph as three arrays.
//!
//! `offsets[v]..offsets[v + 1]` are the positions of `v`'s out-edges in `targets` and `weights`.
//! Offsets are 64-bit because a host may hold more than 2³² edges; targets are 32-bit because
//! they are read far more often than anything else and no host holds more than 2³² vertices.

use std::ops::Range;

use crate::LocalId;
use crate::buffer::Buffer;
use crate::build::{CsrBuilder, EdgeBatch};
use crate::parallel::{self, Scratch};
use crate::transpose::transposed;
use crate::weight::{Weight, WeightKind};

/// The largest number of vertices of one `Csr`: the last id is kept free, so that a count of
/// vertices fits 32 bits too.
pub const MAX_VERTICES: u64 = u32::MAX as u64;

/// A graph with weights of type `W` (`()` for none).
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<W: Weight> {
    offsets: Buffer<u64>,
    targets: Buffer<LocalId>,
    weights: Buffer<W>,
}

impl<W: Weight> Csr<W> {
    /// A graph from its three arrays.
    ///
    /// The caller vouches for the contents: `offsets` starts at 0, never falls and ends at the
    /// number of edges; every target is a vertex. [`Csr::check`] verifies it.
    ///
    /// # Panics
    /// When the lengths of the arrays do not fit together.
    pub fn from_parts(offsets: Buffer<u64>, targets: Buffer<LocalId>, weights: Buffer<W>) -> Self {
        assert_eq!(offsets.last(), Some(&(targets.len() as u64)), "offsets end at the edge count");
        assert_eq!(targets.len(), weights.len(), "one weight per edge");
        Csr { offsets, targets, weights }
    }

    /// A graph of `vertices` vertices from edges in any order; each vertex's edges keep theirs.
    ///
    /// ```
    /// use parton_graph::{Csr, LocalId};
    ///
    /// let triangle = Csr::from_edges(3, &[(0, 1, 5u32), (1, 2, 7), (2, 0, 9)]);
    /// assert_eq!(triangle.targets(LocalId(1)), [LocalId(2)]);
    /// ```
    ///
    /// # Panics
    /// When an edge names a vertex that does not exist.
    pub fn from_edges(vertices: usize, edges: &[(u32, u32, W)]) -> Self {
        let builder = CsrBuilder::new();
        builder.add(
            0,
            &EdgeBatch {
                sources: edges.iter().map(|e| e.0).collect(),
                destinations: edges.iter().map(|e| e.1).collect(),
                weights: edges.iter().map(|e| e.2).collect(),
            },
        );
        builder.build(vertices)
    }

    /// Number of vertices.
    #[inline]
    pub fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges.
    #[inline]
    pub fn num_edges(&self) -> u64 {
        self.targets.len() as u64
    }

    /// All vertices, in order.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = LocalId> + use<W> {
        (0..self.num_vertices() as u32).map(LocalId)
    }

    /// Positions of `v`'s out-edges in the edge arrays.
    #[inline]
    pub(crate) fn edge_range(&self, v: LocalId) -> std::ops::Range<usize> {
        let offsets = &self.offsets[v.index()..];
        offsets[0] as usize..offsets[1] as usize
    }

    /// Number of out-edges of `v`.
    #[inline]
    pub fn degree(&self, v: LocalId) -> usize {
        self.edge_range(v).len()
    }

    /// Destinations of `v`'s out-edges.
    #[inline]
    pub fn targets(&self, v: LocalId) -> &[LocalId] {
        &self.targets[self.edge_range(v)]
    }

    /// Weights of `v`'s out-edges.
    #[inline]
    pub fn weights(&self, v: LocalId) -> &[W] {
        &self.weights[self.edge_range(v)]
    }

    /// `v`'s out-edges with their weights.
    #[inline]
    pub fn edges(&self, v: LocalId) -> impl ExactSizeIterator<Item = (LocalId, W)> + '_ {
        let range = self.edge_range(v);
        let weights = &self.weights[range.clone()];
        self.targets[range].iter().copied().zip(weights.iter().copied())
    }

    /// Where each vertex's edges start, and the end of the last.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Destinations of all edges.
    pub fn all_targets(&self) -> &[LocalId] {
        &self.targets
    }

    /// Weights of all edges.
    pub fn all_weights(&self) -> &[W] {
        &self.weights
    }

    /// [`Buffer::set_aside`] for some edges.
    pub fn set_aside(&self, edges: std::ops::Range<usize>) {
        self.targets.set_aside(edges.clone());
        self.weights.set_aside(edges);
    }

    /// The three arrays.
    pub(crate) fn into_parts(self) -> (Buffer<u64>, Buffer<LocalId>, Buffer<W>) {
        (self.offsets, self.targets, self.weights)
    }

    /// The same edges with other weights: `weigh(source, destination, old)`.
    pub fn reweighted<V: Weight>(self, weigh: impl Fn(LocalId, LocalId, W) -> V + Sync) -> Csr<V> {
        let mut weights = vec![V::default(); self.targets.len()];
        if V::KIND != WeightKind::None {
            self.each_vertex_with(&mut weights, |v, weights| {
                for (weight, (target, old)) in weights.iter_mut().zip(self.edges(v)) {
                    *weight = weigh(v, target, old);
                }
            });
        }
        Csr { offsets: self.offsets, targets: self.targets, weights: weights.into() }
    }

    /// Calls `visit(v, slots of v's edges)` for every vertex in parallel, over an array that has
    /// one slot per edge.
    fn each_vertex_with<T: Send>(&self, slots: &mut [T], visit: impl Fn(LocalId, &mut [T]) + Sync) {
        let chunk = self.num_vertices().div_ceil(rayon::current_num_threads() * 16).max(1);
        let mut chunks = Vec::new();
        let mut rest = slots;
        for first in (0..self.num_vertices()).step_by(chunk) {
            let end = (first + chunk).min(self.num_vertices());
            let edges = (self.offsets[end] - self.offsets[first]) as usize;
            let (mine, others) = rest.split_at_mut(edges);
            rest = others;
            chunks.push((first..end, mine));
        }
        parallel::for_each_owned(chunks, |_, (range, mut slots)| {
            for v in range.map(|v| LocalId(v as u32)) {
                let (mine, others) = slots.split_at_mut(self.degree(v));
                slots = others;
                visit(v, mine);
            }
        });
    }

    /// Every edge turned around. Each vertex's edges come out sorted by where they came from.
    pub fn transposed(&self) -> Self {
        transposed(self, |weight| weight)
    }

    /// [`Csr::transposed`], without weights.
    pub(crate) fn transposed_unweighted(&self) -> Csr<()> {
        transposed(self, |_| ())
    }

    /// Every edge in both directions; a self-loop stays single.
    pub fn symmetrised(&self) -> Self {
        self.symmetrised_with(|weight| weight)
    }

    /// Every edge in both directions, the added one with weight `turned(weight)`; a self-loop
    /// stays single.
    pub(crate) fn symmetrised_with(&self, turned: impl Fn(W) -> W + Sync) -> Self {
        self.rebuilt(|edges, source, destination, weight| {
            edges.push(source.0, destination.0, weight);
            if source != destination {
                edges.push(destination.0, source.0, turned(weight));
            }
        })
    }

    /// A new graph on the same vertices from what `emit` makes of each edge.
    fn rebuilt<V: Weight>(
        &self,
        emit: impl Fn(&mut EdgeBatch<u32, V>, LocalId, LocalId, W) + Sync,
    ) -> Csr<V> {
        /// Enough edges to fill every bucket's cache lines, few enough to stay in cache.
        const EDGES_PER_PIECE: u64 = 1 << 18;
        let mut cuts = vec![0];
        while let Some(&last) = cuts.last().filter(|&&last| last < self.num_vertices()) {
            let goal = self.offsets[last] + EDGES_PER_PIECE;
            cuts.push(
                self.offsets.partition_point(|&o| o < goal).clamp(last + 1, self.num_vertices()),
            );
        }
        let builder = CsrBuilder::new();
        let add = |order: usize, cut: &[usize], edges: &mut EdgeBatch<u32, V>| {
            edges.clear();
            for v in (cut[0]..cut[1]).map(|v| LocalId(v as u32)) {
                for (target, weight) in self.edges(v) {
                    emit(edges, v, target, weight);
                }
            }
            builder.add(order as u64, edges);
        };
        let scratch = Scratch::default();
        parallel::for_each_owned(cuts.windows(2), |order, cut| {
            scratch.with(|edges| add(order, cut, edges));
        });
        builder.build(self.num_vertices())
    }

    /// The sum of `value(source, target, weight)` over all edges, modulo 2^64.
    pub fn sum_of_edges(&self, value: impl Fn(LocalId, LocalId, W) -> u64 + Sync) -> u64 {
        let of_rows = |rows: Range<usize>| {
            let rows = rows.map(|row| LocalId(row as u32));
            let edges = rows.flat_map(|row| self.edges(row).map(move |(end, w)| (row, end, w)));
            edges.fold(0, |sum: u64, (row, end, w)| sum.wrapping_add(value(row, end, w)))
        };
        parallel::reduce(self.num_vertices(), of_rows, u64::wrapping_add).unwrap_or(0)
    }

    /// Whether the arrays form a graph; otherwise what is wrong, and at which vertex or edge.
    pub fn check(&self) -> Result<(), String> {
        if self.offsets[0] != 0 {
            return Err(format!("the first edge offset is {}, expected 0", self.offsets[0]));
        }
        let falling = parallel::find_first(self.num_vertices(), |v| {
            (self.offsets[v] > self.offsets[v + 1]).then_some(v)
        });
        if let Some(v) = falling {
            return Err(format!("the edges of vertex {v} end before they start"));
        }
        let vertices = self.num_vertices();
        let stray = parallel::find_first(self.targets.len(), |edge| {
            (self.targets[edge].index() >= vertices).then_some(edge)
        });
        if let Some(edge) = stray {
            let target = self.targets[edge];
            return Err(format!("edge {edge} leads to vertex {target}, but there are {vertices}"));
        }
        Ok(())
    }
}
