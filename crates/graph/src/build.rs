//! Edges in any order → [`Csr`], by counting sort in two levels.
//!
//! A plain counting sort throws every edge at a random place of a large array: one cache miss per
//! edge. Here each *piece* of the input (a few hundred thousand edges, handled by one thread while
//! they are hot) is first split by the high bits of the source into buckets of 2¹⁶ vertices; then
//! every bucket, whose counters fit the cache, is counted and placed on its own. Inside a bucket a
//! source needs only 16 bits, so an unweighted edge waits in 6 bytes instead of 8.
//!
//! Buckets are stored in groups, and a group is freed as soon as it has been placed: at no time do
//! all waiting edges and the whole result exist together. Pieces carry their place in the input,
//! so the result is the same for any number of threads.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::rank::Rank;
use crate::weight::Weight;
use crate::{Csr, LocalId};

const BUCKET_BITS: u32 = 16;
const BUCKET_VERTICES: usize = 1 << BUCKET_BITS;
const GROUP_BUCKETS: usize = 8;

/// Edges of one piece of the input as parallel arrays, in input order.
#[derive(Clone, Debug)]
pub struct Edges<I, W> {
    /// Where each edge starts.
    pub sources: Vec<I>,
    /// Where each edge ends.
    pub destinations: Vec<I>,
    /// What each edge carries.
    pub weights: Vec<W>,
}

impl<I, W> Default for Edges<I, W> {
    fn default() -> Self {
        Edges { sources: Vec::new(), destinations: Vec::new(), weights: Vec::new() }
    }
}

impl<I, W> Edges<I, W> {
    /// Adds one edge.
    #[inline]
    pub fn push(&mut self, source: I, destination: I, weight: W) {
        self.sources.push(source);
        self.destinations.push(destination);
        self.weights.push(weight);
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Forgets all edges, keeps the memory.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.destinations.clear();
        self.weights.clear();
    }
}

/// Collects pieces of edges from any number of threads, then builds the graph.
pub struct CsrBuilder<W> {
    pieces: Mutex<Vec<Piece<W>>>,
}

/// One piece of the input, split by source.
struct Piece<W> {
    order: usize,
    groups: Vec<Group<W>>,
}

/// The edges of `GROUP_BUCKETS` neighbouring buckets of one piece.
struct Group<W> {
    /// Where each bucket's edges start, and the end of the last.
    starts: [u32; GROUP_BUCKETS + 1],
    /// Low bits of the sources.
    sources: Vec<u16>,
    destinations: Vec<u32>,
    weights: Vec<W>,
}

impl<W: Weight> Group<W> {
    fn with_len(len: usize) -> Self {
        Group {
            starts: [0; GROUP_BUCKETS + 1],
            sources: vec![0; len],
            destinations: vec![0; len],
            weights: vec![W::default(); len],
        }
    }

    /// Low source bits, destinations and weights of bucket `b` of this group.
    fn bucket(&self, b: usize) -> (&[u16], &[u32], &[W]) {
        let range = self.starts[b] as usize..self.starts[b + 1] as usize;
        (&self.sources[range.clone()], &self.destinations[range.clone()], &self.weights[range])
    }
}

impl<W: Weight> Default for CsrBuilder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Weight> CsrBuilder<W> {
    /// A builder without edges.
    pub fn new() -> Self {
        CsrBuilder { pieces: Mutex::new(Vec::new()) }
    }

    /// Takes the edges of piece number `order` of the input. At most 2³² edges per piece; a few
    /// hundred thousand are best.
    pub fn add(&self, order: usize, edges: &Edges<u32, W>) {
        self.add_mapped(order, edges, |id| id);
    }

    /// Takes edges whose ids `map` turns into builder ids.
    pub(crate) fn add_mapped<I: Copy>(
        &self,
        order: usize,
        edges: &Edges<I, W>,
        map: impl Fn(I) -> u32,
    ) {
        let piece = Piece { order, groups: split_by_source(edges, map) };
        self.pieces.lock().expect("no thread panicked holding this lock").push(piece);
    }

    /// Number of edges taken so far.
    pub fn num_edges(&self) -> usize {
        let pieces = self.pieces.lock().expect("no thread panicked holding this lock");
        pieces.iter().flat_map(|p| &p.groups).map(|g| g.sources.len()).sum()
    }

    /// The graph on vertices `0..vertices`.
    ///
    /// # Panics
    /// When an edge names a vertex that does not exist.
    pub fn build(self, vertices: usize) -> Csr<W> {
        self.build_converted(vertices, |weight| weight)
    }

    /// [`CsrBuilder::build`], with every weight replaced by what `convert` makes of it.
    pub fn build_converted<V: Weight>(
        self,
        vertices: usize,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        self.place(vertices, vertices, |id| id, |id| id, convert)
    }

    /// The graph on the vertices that `rank` counts: an edge's ids are replaced by their ranks,
    /// its weight by what `convert` makes of it.
    pub(crate) fn build_ranked<V: Weight>(
        self,
        rank: &Rank,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        let vertex = |id: u32| rank.below(id as usize) as u32;
        self.place(rank.universe(), rank.count(), |id| rank.below(id), vertex, convert)
    }

    /// Takes the pieces out again, each with its number, its edges sorted by source bucket.
    pub(crate) fn into_pieces(self) -> impl Iterator<Item = (usize, Edges<u32, W>)> {
        self.into_sorted_pieces().into_iter().map(|piece| (piece.order, piece.into_edges()))
    }

    /// Calls `visit` with the sources and destinations of all edges, in parallel, bucket by
    /// bucket: `visit(first id of the bucket, low bits of the sources, destinations)`.
    pub(crate) fn for_each_bucket(&self, visit: impl Fn(u32, &[u16], &[u32]) + Sync) {
        let pieces = self.pieces.lock().expect("no thread panicked holding this lock");
        pieces.par_iter().for_each(|piece| {
            for (g, group) in piece.groups.iter().enumerate() {
                for b in 0..GROUP_BUCKETS {
                    let (sources, destinations, _) = group.bucket(b);
                    let first = ((g * GROUP_BUCKETS + b) as u32) << BUCKET_BITS;
                    if !sources.is_empty() {
                        visit(first, sources, destinations);
                    }
                }
            }
        });
    }

    fn into_sorted_pieces(self) -> Vec<Piece<W>> {
        let mut pieces = self.pieces.into_inner().expect("no thread panicked holding this lock");
        pieces.sort_by_key(|piece| piece.order);
        pieces
    }

    /// Places every edge. Ids come from `0..universe`; `first_vertex(id)` is the number of
    /// vertices below `id`, `vertex(id)` the vertex that `id` names.
    fn place<V: Weight>(
        self,
        universe: usize,
        vertices: usize,
        first_vertex: impl Fn(usize) -> usize + Sync,
        vertex: impl Fn(u32) -> u32 + Sync,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        let mut pieces = self.into_sorted_pieces();
        let edges_in = |b: usize| -> usize {
            let groups = pieces.iter().filter_map(|p| p.groups.get(b / GROUP_BUCKETS));
            groups.map(|g| g.bucket(b % GROUP_BUCKETS).0.len()).sum()
        };
        let used = pieces.iter().map(|p| p.groups.len()).max().unwrap_or(0) * GROUP_BUCKETS;
        let buckets = universe.div_ceil(BUCKET_VERTICES);
        let stray = (buckets..used).find(|&b| edges_in(b) > 0);
        assert_eq!(stray, None, "an edge starts at a vertex that does not exist");
        let edge_counts: Vec<usize> = (0..buckets).map(edges_in).collect();
        let num_edges = edge_counts.iter().sum();

        let mut offsets = vec![0u64; vertices + 1];
        let mut targets = vec![LocalId(0); num_edges];
        let mut weights = vec![V::default(); num_edges];

        // Every bucket gets its own windows of the three arrays, so threads never meet.
        let (_, mut free_offsets) = offsets.split_at_mut(1);
        let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
        let mut first_edge = 0;
        let mut slots = Vec::with_capacity(buckets);
        for (b, &edges) in edge_counts.iter().enumerate() {
            let ids = b * BUCKET_VERTICES..((b + 1) * BUCKET_VERTICES).min(universe);
            let here = first_vertex(ids.end) - first_vertex(ids.start);
            slots.push(BucketSlot {
                bucket: b,
                first_edge,
                offsets: split_off_front(&mut free_offsets, here),
                targets: split_off_front(&mut free_targets, edges),
                weights: split_off_front(&mut free_weights, edges),
            });
            first_edge += edges as u64;
        }

        // Groups in turn, their buckets in parallel; largest bucket first.
        let mut slots = slots.into_iter();
        for g in 0..buckets.div_ceil(GROUP_BUCKETS) {
            let mut group_slots: Vec<_> = slots.by_ref().take(GROUP_BUCKETS).collect();
            group_slots.sort_by_key(|slot| std::cmp::Reverse(slot.targets.len()));
            let groups: Vec<Group<W>> = pieces
                .iter_mut()
                .filter_map(|p| p.groups.get_mut(g))
                .map(|group| std::mem::replace(group, Group::with_len(0)))
                .collect();
            group_slots.into_par_iter().with_max_len(1).for_each(|slot| {
                slot.fill(&groups, vertices, universe, &first_vertex, &vertex, &convert)
            });
        }
        Csr::from_parts(offsets.into(), targets.into(), weights.into())
    }
}

fn split_off_front<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (front, back) = std::mem::take(rest).split_at_mut(len);
    *rest = back;
    front
}

impl<W: Weight> Piece<W> {
    fn into_edges(self) -> Edges<u32, W> {
        let mut edges = Edges::default();
        for (g, group) in self.groups.into_iter().enumerate() {
            for b in 0..GROUP_BUCKETS {
                let first = ((g * GROUP_BUCKETS + b) << BUCKET_BITS) as u32;
                edges.sources.extend(group.bucket(b).0.iter().map(|&low| first | u32::from(low)));
            }
            edges.destinations.extend_from_slice(&group.destinations);
            edges.weights.extend_from_slice(&group.weights);
        }
        edges
    }
}

/// Where one bucket's vertices and edges go.
struct BucketSlot<'a, V> {
    bucket: usize,
    first_edge: u64,
    /// End offsets of the bucket's vertices.
    offsets: &'a mut [u64],
    targets: &'a mut [LocalId],
    weights: &'a mut [V],
}

impl<V: Weight> BucketSlot<'_, V> {
    fn fill<W: Weight>(
        self,
        groups: &[Group<W>],
        vertices: usize,
        universe: usize,
        first_vertex: &(impl Fn(usize) -> usize + Sync),
        vertex: &(impl Fn(u32) -> u32 + Sync),
        convert: &(impl Fn(W) -> V + Sync),
    ) {
        let first_id = self.bucket * BUCKET_VERTICES;
        let ids = BUCKET_VERTICES.min(universe - first_id);
        let bucket = self.bucket % GROUP_BUCKETS;

        // Counters are per id here, so a source is translated once per id, not once per edge.
        let mut next = vec![0u64; ids];
        for group in groups {
            for &low in group.bucket(bucket).0 {
                next[usize::from(low)] += 1;
            }
        }
        let base = first_vertex(first_id);
        let mut end = 0;
        for (i, slot) in next.iter_mut().enumerate() {
            let start = end;
            end += *slot;
            // An id that is no vertex has no edges and shares its rank with the next vertex,
            // which overwrites what is written here.
            let rank = first_vertex(first_id + i) - base;
            if rank < self.offsets.len() {
                self.offsets[rank] = self.first_edge + end;
            }
            *slot = start;
        }
        for group in groups {
            let (sources, destinations, weights) = group.bucket(bucket);
            for ((&low, &destination), &weight) in sources.iter().zip(destinations).zip(weights) {
                let slot = &mut next[usize::from(low)];
                let target = vertex(destination);
                assert!(
                    (target as usize) < vertices,
                    "an edge ends at a vertex that does not exist"
                );
                self.targets[*slot as usize] = LocalId(target);
                self.weights[*slot as usize] = convert(weight);
                *slot += 1;
            }
        }
    }
}

/// Splits a piece by the high bits of its sources; stable.
fn split_by_source<I: Copy, W: Weight>(
    edges: &Edges<I, W>,
    map: impl Fn(I) -> u32,
) -> Vec<Group<W>> {
    let bucket_of = |source: u32| (source >> BUCKET_BITS) as usize;
    let Some(last) = edges.sources.iter().map(|&s| bucket_of(map(s))).max() else {
        return Vec::new();
    };
    let mut counts = vec![0u32; (last / GROUP_BUCKETS + 1) * GROUP_BUCKETS];
    for &source in &edges.sources {
        counts[bucket_of(map(source))] += 1;
    }
    let mut groups: Vec<Group<W>> = Vec::with_capacity(counts.len() / GROUP_BUCKETS);
    for chunk in counts.chunks_exact_mut(GROUP_BUCKETS) {
        let mut group = Group::with_len(chunk.iter().map(|&c| c as usize).sum());
        let mut start = 0;
        for (b, count) in chunk.iter_mut().enumerate() {
            group.starts[b] = start;
            start += std::mem::replace(count, start);
        }
        group.starts[GROUP_BUCKETS] = start;
        groups.push(group);
    }
    let mut next = counts;
    for ((&source, &destination), &weight) in
        edges.sources.iter().zip(&edges.destinations).zip(&edges.weights)
    {
        let source = map(source);
        let bucket = bucket_of(source);
        let slot = next[bucket] as usize;
        next[bucket] += 1;
        let group = &mut groups[bucket / GROUP_BUCKETS];
        group.sources[slot] = source as u16;
        group.destinations[slot] = map(destination);
        group.weights[slot] = weight;
    }
    groups
}
