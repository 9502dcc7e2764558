//! A host's edges as a program wants to see them.

use std::borrow::Cow;
use std::ops::Range;

use parton_graph::{Adjacency, LocalId, Weight, huge, prefetch, with_csr};
use rayon::prelude::*;

/// How many edges before its turn an edge's end is asked for, where rows follow each other.
const AHEAD: usize = 96;
/// The same inside a row.
const WITHIN: usize = 16;

/// A host's edges with the weights a program asks for. Weights it does not ask for are not
/// touched; edges without weights count as 1.
pub struct EdgeView<'a, W: Weight> {
    offsets: OwnOffsets<'a>,
    targets: &'a [LocalId],
    weights: Cow<'a, [W]>,
}

/// Where rows start: in half the memory where that is enough.
enum OwnOffsets<'a> {
    Narrow(Vec<u32>),
    Wide(&'a [u64]),
}

/// The rows of an [`EdgeView`]. To be copied out of whatever holds it before a loop: what lies in
/// registers need not be looked up again after every write.
#[derive(Clone, Copy)]
pub struct Rows<'v, W: Weight> {
    offsets: Offsets<'v>,
    targets: &'v [LocalId],
    weights: &'v [W],
}

#[derive(Clone, Copy)]
enum Offsets<'v> {
    Narrow(&'v [u32]),
    Wide(&'v [u64]),
}

impl<'a> OwnOffsets<'a> {
    fn new(offsets: &'a [u64]) -> Self {
        if u32::try_from(offsets[offsets.len() - 1]).is_err() {
            return OwnOffsets::Wide(offsets);
        }
        let mut narrow = huge::vec_with_capacity(offsets.len());
        narrow.par_extend(offsets.par_iter().map(|&offset| offset as u32));
        OwnOffsets::Narrow(narrow)
    }

    fn rows(&self) -> Offsets<'_> {
        match self {
            OwnOffsets::Narrow(offsets) => Offsets::Narrow(offsets),
            OwnOffsets::Wide(offsets) => Offsets::Wide(offsets),
        }
    }
}

impl Offsets<'_> {
    #[inline(always)]
    fn row(self, vertex: LocalId) -> Range<usize> {
        let at = vertex.index();
        match self {
            Offsets::Narrow(offsets) => offsets[at] as usize..offsets[at + 1] as usize,
            Offsets::Wide(offsets) => offsets[at] as usize..offsets[at + 1] as usize,
        }
    }

    #[inline(always)]
    fn prefetch(self, vertex: LocalId) {
        match self {
            Offsets::Narrow(offsets) => prefetch(offsets, vertex.index()),
            Offsets::Wide(offsets) => prefetch(offsets, vertex.index()),
        }
    }
}

impl<'a, W: Weight> EdgeView<'a, W> {
    /// A view of the edges, with their weights as `W`.
    pub fn new(adjacency: &'a Adjacency) -> Self {
        let targets = adjacency.all_targets();
        let weights = with_csr!(adjacency, csr => weights_as(csr.all_weights(), targets.len()));
        EdgeView { offsets: OwnOffsets::new(adjacency.offsets()), targets, weights }
    }

    /// Its rows.
    #[inline]
    pub fn rows(&self) -> Rows<'_, W> {
        Rows { offsets: self.offsets.rows(), targets: self.targets, weights: &self.weights }
    }

    /// Number of edges.
    pub fn num_edges(&self) -> u64 {
        self.targets.len() as u64
    }
}

impl<'v, W: Weight> Rows<'v, W> {
    /// Number of a vertex's edges.
    #[inline]
    pub fn degree(self, vertex: LocalId) -> u64 {
        self.offsets.row(vertex).len() as u64
    }

    /// The other ends of a vertex's edges.
    #[inline]
    pub fn targets(self, vertex: LocalId) -> &'v [LocalId] {
        &self.targets[self.offsets.row(vertex)]
    }

    /// A vertex's edges: the other end and the weight.
    #[inline]
    pub fn edges(self, vertex: LocalId) -> impl ExactSizeIterator<Item = (LocalId, W)> + 'v {
        let row = self.offsets.row(vertex);
        let weights = self.weights[row.clone()].iter().copied();
        self.targets[row].iter().copied().zip(weights)
    }

    /// Calls `visit` with each of a vertex's edges: the other end and the weight; and before with
    /// `soon` those ends that come somewhat later.
    #[inline(always)]
    pub fn each(self, vertex: LocalId, soon: impl FnMut(LocalId), visit: impl FnMut(LocalId, W)) {
        let row = self.offsets.row(vertex);
        let end = row.end;
        self.walk(row, WITHIN, end, soon, visit);
    }

    /// The same if the vertices after this one have their turn next: what is theirs comes soon.
    #[inline(always)]
    pub fn each_in_turn(
        self,
        vertex: LocalId,
        soon: impl FnMut(LocalId),
        visit: impl FnMut(LocalId, W),
    ) {
        self.walk(self.offsets.row(vertex), AHEAD, self.targets.len(), soon, visit);
    }

    #[inline(always)]
    fn walk(
        self,
        row: Range<usize>,
        ahead: usize,
        end: usize,
        mut soon: impl FnMut(LocalId),
        mut visit: impl FnMut(LocalId, W),
    ) {
        let targets = &self.targets[..end];
        for edge in row {
            if let Some(&later) = targets.get(edge + ahead) {
                soon(later);
            }
            let weight = if size_of::<W>() > 0 { self.weights[edge] } else { W::default() };
            visit(targets[edge], weight);
        }
    }

    /// Tells memory that a vertex's row will be looked up soon.
    #[inline(always)]
    pub fn prefetch_offset(self, vertex: LocalId) {
        self.offsets.prefetch(vertex);
    }

    /// Tells memory that a vertex's first edges will be needed soon.
    #[inline(always)]
    pub fn prefetch_row(self, vertex: LocalId) {
        let start = self.offsets.row(vertex).start;
        prefetch(self.targets, start);
        if size_of::<W>() > 0 {
            prefetch(self.weights, start);
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
