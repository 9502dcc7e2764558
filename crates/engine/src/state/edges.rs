//! A host's edges as a program wants to see them.

use std::borrow::Cow;
use std::ops::Range;

use parton_graph::{Adjacency, LocalId, Weight, parallel, prefetch, with_csr};
use parton_partition::Partition;
use parton_sync::Result;

/// Prefetch distance in edges, where rows follow each other.
const PREFETCH_EDGES: usize = 96;
/// Prefetch distance in edges inside a single row.
pub(crate) const PREFETCH_EDGES_IN_ROW: usize = 16;
/// Prefetch distance in vertices, for each of three steps: offset, edges, other ends.
pub(crate) const PREFETCH_VERTICES: usize = 6;
/// Ends of edges that are prefetched before their vertex's turn.
const PREFETCHED_ENDS: usize = 4;
/// Ends of edges in a cache line.
const ENDS_PER_LINE: usize = 16;
/// Weights that a thread checks at a time.
const WEIGHTS_PER_TASK: usize = 1 << 14;
/// Weights that are tested in one branch-free loop.
const WEIGHTS_PER_TEST: usize = 64;

/// A host's edges with the weights a program asks for. Weights it does not ask for are not
/// touched; edges without weights count as 1.
pub struct EdgeView<'a, W: Weight> {
    adjacency: &'a Adjacency,
    offsets: OwnOffsets<'a>,
    targets: &'a [LocalId],
    weights: Cow<'a, [W]>,
}

/// Where rows start, as 32-bit numbers where they fit.
enum OwnOffsets<'a> {
    Narrow(Vec<u32>),
    Wide(Cow<'a, [u64]>),
}

/// The rows of an [`EdgeView`]. Copy them out of their owner before a loop: the compiler then keeps them in
/// registers instead of loading them again after every write.
#[derive(Clone, Copy)]
pub struct EdgeRows<'v, W: Weight> {
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
    fn new(offsets: Cow<'a, [u64]>) -> Self {
        if u32::try_from(offsets[offsets.len() - 1]).is_err() {
            return OwnOffsets::Wide(offsets);
        }
        OwnOffsets::Narrow(parallel::generate(offsets.len(), |place| offsets[place] as u32))
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

    /// The vertex of an edge.
    fn vertex(self, edge: usize) -> LocalId {
        let rows_before = match self {
            Offsets::Narrow(offsets) => offsets.partition_point(|&start| start as usize <= edge),
            Offsets::Wide(offsets) => offsets.partition_point(|&start| start as usize <= edge),
        };
        LocalId(rows_before as u32 - 1)
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
    ///
    /// # Panics
    /// When a weight is not a `W`. [`engines`](crate::engines) check that before they build one.
    #[inline(never)]
    pub fn new(adjacency: &'a Adjacency) -> Self {
        let targets = adjacency.all_targets();
        let weights = with_csr!(adjacency, csr => weights_as(csr.all_weights(), targets.len()));
        let offsets = OwnOffsets::new(Cow::Borrowed(adjacency.offsets()));
        EdgeView { adjacency, offsets, targets, weights }
    }

    /// These degrees of rows that `edges` have once they are turned around. The rows themselves cannot be visited.
    pub(crate) fn degrees_of_turned(edges: &'a Adjacency, degrees: &[u64]) -> Self {
        let offsets = parallel::prefix_sums(degrees.len(), |vertex| degrees[vertex]);
        let (offsets, weights) = (OwnOffsets::new(Cow::Owned(offsets)), Cow::Borrowed(&[][..]));
        EdgeView { adjacency: edges, offsets, targets: &[], weights }
    }

    /// What is viewed.
    pub fn adjacency(&self) -> &'a Adjacency {
        self.adjacency
    }

    /// Its rows.
    #[inline]
    pub fn rows(&self) -> EdgeRows<'_, W> {
        EdgeRows { offsets: self.offsets.rows(), targets: self.targets, weights: &self.weights }
    }

    /// Number of edges.
    pub fn num_edges(&self) -> u64 {
        self.adjacency.num_edges()
    }

    /// Gives the memory of some vertices' edges back to the system: they will hardly be needed again.
    pub fn set_aside(&self, vertices: Range<usize>) {
        let offsets = &self.adjacency.offsets()[vertices.start..=vertices.end];
        self.adjacency.set_aside(offsets[0] as usize..offsets[vertices.len()] as usize);
    }
}

impl<'v, W: Weight> EdgeRows<'v, W> {
    /// Rows that begin at these edges, and the end of the last.
    pub(crate) fn from_parts(offsets: &'v [u64], targets: &'v [LocalId], weights: &'v [W]) -> Self {
        EdgeRows { offsets: Offsets::Wide(offsets), targets, weights }
    }

    /// Number of rows.
    #[inline]
    pub fn num_vertices(self) -> usize {
        match self.offsets {
            Offsets::Narrow(offsets) => offsets.len() - 1,
            Offsets::Wide(offsets) => offsets.len() - 1,
        }
    }

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

    /// A sample of this many edges at equal distances, if there are any: vertex and weight.
    pub fn sample(self, edges: usize) -> impl Iterator<Item = (LocalId, W)> + 'v {
        let edges = if self.targets.is_empty() { 0 } else { edges };
        (0..edges).map(move |place| {
            let edge = self.targets.len() * place / edges;
            (self.offsets.vertex(edge), self.weights[edge])
        })
    }

    /// The other ends of the edges of consecutive vertices.
    #[inline]
    pub(crate) fn targets_of(self, vertices: Range<u32>) -> &'v [LocalId] {
        match vertices.is_empty() {
            true => &[],
            false => {
                let (first, last) = (LocalId(vertices.start), LocalId(vertices.end - 1));
                &self.targets[self.offsets.row(first).start..self.offsets.row(last).end]
            }
        }
    }

    /// A vertex's edges: the other end and the weight.
    #[inline]
    pub fn edges(self, vertex: LocalId) -> impl ExactSizeIterator<Item = (LocalId, W)> + 'v {
        let row = self.offsets.row(vertex);
        let weights = self.weights[row.clone()].iter().copied();
        self.targets[row].iter().copied().zip(weights)
    }

    /// A vertex's edges: their other ends and their weights.
    #[inline(always)]
    pub fn row(self, vertex: LocalId) -> (&'v [LocalId], &'v [W]) {
        let row = self.offsets.row(vertex);
        (&self.targets[row.clone()], &self.weights[row])
    }

    /// Calls `visit` with the other end and the weight of each of a vertex's edges, and `prefetch_end` with
    /// ends some edges before their turn.
    #[inline(always)]
    pub fn each(
        self,
        vertex: LocalId,
        mut prefetch_end: impl FnMut(LocalId),
        mut visit: impl FnMut(LocalId, W),
    ) {
        let (ends, weights) = self.row(vertex);
        for (edge, &end) in ends.iter().enumerate() {
            if let Some(&later) = ends.get(edge + PREFETCH_EDGES_IN_ROW) {
                prefetch_end(later);
            }
            visit(end, weights[edge]);
        }
    }

    /// Calls `visit` with those of a vertex's edges whose weights pass a test that most do not.
    #[inline(always)]
    pub(crate) fn each_with(
        self,
        vertex: LocalId,
        passes: impl Fn(W) -> bool,
        mut visit: impl FnMut(LocalId, W),
    ) {
        let (ends, weights) = self.row(vertex);
        let mut places = [0u8; WEIGHTS_PER_TEST];
        for (ends, weights) in ends.chunks(WEIGHTS_PER_TEST).zip(weights.chunks(WEIGHTS_PER_TEST)) {
            for place in (0..ends.len()).step_by(ENDS_PER_LINE) {
                prefetch(ends, place);
            }
            // Branch-free: a branch would be mispredicted whenever a weight passes.
            let mut passed = 0;
            for (place, &weight) in weights.iter().enumerate() {
                places[passed] = place as u8;
                passed += usize::from(passes(weight));
            }
            for place in places[..passed].iter().map(|&place| usize::from(place)) {
                visit(ends[place], weights[place]);
            }
        }
    }

    /// Calls `visit` with those edges of consecutive vertices whose other ends pass a test that few do: vertex, other end
    /// and weight.
    #[inline(always)]
    pub(crate) fn each_to(
        self,
        vertices: Range<u32>,
        passes: impl Fn(LocalId) -> bool,
        mut visit: impl FnMut((LocalId, LocalId, W)),
    ) {
        let ends = self.targets_of(vertices.clone());
        let mut rows = vertices.map(LocalId).map(|vertex| (vertex, self.offsets.row(vertex)));
        let Some(mut row) = rows.next() else { return };
        // Rows are looked up only for ends that pass: the end of every short row would be mispredicted.
        for (edge, &end) in (row.1.start..).zip(ends).filter(|(_, end)| passes(**end)) {
            while row.1.end <= edge {
                row = rows.next().expect("every edge is in a row");
            }
            visit((row.0, end, self.weights[edge]));
        }
    }

    /// Combines the values of the edges of consecutive vertices from `first` on into the vertices' totals.
    /// Calls `prefetch_end` with ends some edges before their turn.
    #[inline(always)]
    pub fn combine<T: Copy>(
        self,
        first: LocalId,
        totals: &mut [T],
        prefetch_end: impl Fn(LocalId),
        value: impl Fn(LocalId, W) -> T,
        combine: impl Fn(T, T) -> T,
    ) {
        let fold = |total, end, weight| combine(total, value(end, weight));
        let offsets = first.index()..first.index() + totals.len() + 1;
        match self.offsets {
            Offsets::Narrow(all) => self.fold_rows(&all[offsets], totals, prefetch_end, fold),
            Offsets::Wide(all) => self.fold_rows(&all[offsets], totals, prefetch_end, fold),
        }
    }

    #[inline(always)]
    fn fold_rows<T: Copy, O: Copy + Into<u64>>(
        self,
        offsets: &[O],
        totals: &mut [T],
        mut prefetch_end: impl FnMut(LocalId),
        mut fold: impl FnMut(T, LocalId, W) -> T,
    ) {
        let at = |offset: O| -> usize { offset.into() as usize };
        let all = at(offsets[0])..at(offsets[offsets.len() - 1]);
        let mut now = &self.targets[all.clone()];
        // Near the very end there is nothing to look ahead to.
        let ahead = self.targets.get(all.start + PREFETCH_EDGES..all.end + PREFETCH_EDGES);
        let mut later = ahead.unwrap_or(now);
        let mut weights = &self.weights[all];
        for (ends, total) in offsets.windows(2).zip(totals) {
            let degree = at(ends[1]) - at(ends[0]);
            let (row, after) = now.split_at(degree);
            let (row_later, after_later) = later.split_at(degree);
            (now, later) = (after, after_later);
            let mut folded = *total;
            let edges = row.iter().zip(row_later);
            if size_of::<W>() == 0 {
                for (&end, &later) in edges {
                    prefetch_end(later);
                    folded = fold(folded, end, W::default());
                }
            } else {
                let (row_weights, after) = weights.split_at(degree);
                weights = after;
                for ((&end, &later), &weight) in edges.zip(row_weights) {
                    prefetch_end(later);
                    folded = fold(folded, end, weight);
                }
            }
            *total = folded;
        }
    }

    /// Calls `visit` with each of a vertex's edges until it returns true. Returns whether it did.
    #[inline(always)]
    pub fn until(self, vertex: LocalId, mut visit: impl FnMut(LocalId, W) -> bool) -> bool {
        let row = self.offsets.row(vertex);
        let ends = self.targets[row.clone()].iter();
        match size_of::<W>() {
            0 => ends.copied().any(|end| visit(end, W::default())),
            _ => ends.zip(&self.weights[row]).any(|(&end, &weight)| visit(end, weight)),
        }
    }

    /// Tells memory that a vertex's row will be looked up prefetch_end.
    #[inline(always)]
    pub fn prefetch_offset(self, vertex: LocalId) {
        self.offsets.prefetch(vertex);
    }

    /// Tells memory that a vertex's edges will be looked at prefetch_end.
    #[inline(always)]
    pub(crate) fn prefetch_edges(self, vertex: LocalId) {
        let start = self.offsets.row(vertex).start;
        prefetch(self.targets, start);
        if size_of::<W>() > 0 {
            prefetch(self.weights, start);
        }
    }

    /// Prefetches for later vertices while it is the turn of the one at `place`: first where their rows
    /// start, then their edges, then, by `prefetch_end`, what is at the other ends.
    #[inline(always)]
    pub fn prepare(self, vertices: &[LocalId], place: usize, prefetch_end: impl FnMut(LocalId)) {
        if let Some(&vertex) = vertices.get(place + 3 * PREFETCH_VERTICES) {
            self.prefetch_offset(vertex);
        }
        if let Some(&vertex) = vertices.get(place + 2 * PREFETCH_VERTICES) {
            self.prefetch_edges(vertex);
        }
        if let Some(&vertex) = vertices.get(place + PREFETCH_VERTICES) {
            // A fixed number, whatever the degree: one branch less to mispredict.
            let start = self.offsets.row(vertex).start;
            if let Some(ends) = self.targets.get(start..start + PREFETCHED_ENDS) {
                ends.iter().copied().for_each(prefetch_end);
            }
        }
    }
}

/// Whether a program can have the weights of a partition's edges as `W` without losing any.
#[inline(never)]
pub fn check_weights<W: Weight>(partition: &Partition) -> Result<()> {
    let edges = partition.edges();
    if size_of::<W>() == 0 || edges.weight_kind() == W::KIND {
        return Ok(());
    }
    with_csr!(edges, csr => check_all::<_, W>(csr.all_weights()))
}

fn check_all<V: Weight, W: Weight>(weights: &[V]) -> Result<()> {
    let pieces: Vec<_> = weights.chunks(WEIGHTS_PER_TASK).collect();
    let checked = parallel::map(&pieces, |piece| {
        piece.iter().try_for_each(|weight| W::try_from_f64(weight.to_f64()).map(drop))
    });
    Ok(checked.into_iter().collect::<std::result::Result<(), _>>()?)
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
