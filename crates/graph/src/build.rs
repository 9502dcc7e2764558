//! Edges in any order → [`Csr`], by counting sort in two levels.
//!
//! A plain counting sort throws every edge at a random place of a large array: one cache miss per edge. So a thread
//! first splits each *piece* of the input, a few hundred thousand edges, by the high bits of the source into buckets
//! of 2¹⁶ vertices. Then every bucket is counted and placed on its own, with counters that fit the cache. Inside a
//! bucket a source needs only 16 bits, so an unweighted edge waits in 6 bytes instead of 8.
//!
//! Buckets are kept in groups, and a group's memory goes back to the system as soon as the group has been placed. All
//! waiting edges and the whole result are never in memory at the same time. Pieces carry their place in the input, so
//! the result is the same for any number of threads.

mod groups;

use std::sync::{Arc, Mutex};

use groups::{BUCKET_VERTICES, GROUP_BUCKETS, Group, first_id, split_by_source};

use crate::dense_index::DenseIndex;
use crate::huge;
use crate::parallel;
use crate::weight::Weight;
use crate::{Csr, LocalId};

/// Edges of one piece of the input as parallel arrays, in input order.
#[derive(Clone, Debug)]
pub struct EdgeBatch<I, W> {
    /// Where each edge starts.
    pub sources: Vec<I>,
    /// Where each edge ends.
    pub destinations: Vec<I>,
    /// What each edge carries.
    pub weights: Vec<W>,
}

impl<I, W> Default for EdgeBatch<I, W> {
    fn default() -> Self {
        EdgeBatch { sources: Vec::new(), destinations: Vec::new(), weights: Vec::new() }
    }
}

impl<I, W> EdgeBatch<I, W> {
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
    groups: Mutex<Vec<Arc<Mutex<Group<W>>>>>,
}

impl<W: Weight> Default for CsrBuilder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Weight> CsrBuilder<W> {
    /// A builder without edges.
    pub fn new() -> Self {
        CsrBuilder { groups: Mutex::default() }
    }

    /// Takes the edges of piece number `order` of the input. At most 2³² edges per piece; a few
    /// hundred thousand are best.
    pub fn add(&self, order: u64, edges: &EdgeBatch<u32, W>) {
        let EdgeBatch { sources, destinations, weights } = edges;
        self.add_mapped(order, sources, destinations, |edge| weights[edge], |id| id);
    }

    /// Takes edges whose ids `map` turns into builder ids; `weight` gives the weight of each.
    pub(crate) fn add_mapped<I: Copy>(
        &self,
        order: u64,
        sources: &[I],
        destinations: &[I],
        weight: impl Fn(usize) -> W,
        map: impl Fn(I) -> u32,
    ) {
        let piece = split_by_source(sources, destinations, weight, map);
        let count = piece.starts.len() / GROUP_BUCKETS;
        let groups = {
            let mut groups = self.groups.lock().expect("no thread panicked holding this lock");
            while groups.len() < count {
                groups.push(Arc::new(Mutex::new(Group::new())));
            }
            groups[..count].to_vec()
        };
        // Threads start at different groups so that they do not queue behind one another.
        for g in (0..count).map(|g| (g + order as usize) % count) {
            let mut group = groups[g].lock().expect("no thread panicked holding this lock");
            group.append(order, &piece, g);
        }
    }

    /// Number of edges taken so far.
    pub fn num_edges(&self) -> usize {
        let groups = self.groups.lock().expect("no thread panicked holding this lock");
        let edges_in = |group: &Arc<Mutex<Group<W>>>| {
            group.lock().expect("no thread panicked holding this lock").num_edges()
        };
        groups.iter().map(edges_in).sum()
    }

    /// The graph on vertices `0..vertices`.
    ///
    /// # Panics
    /// When an edge names a vertex that does not exist.
    pub fn build(self, vertices: usize) -> Csr<W> {
        self.build_converted(vertices, |weight| weight)
    }

    /// Rows `0..sources` of edges that lead to `0..destinations`: a part of a graph whose
    /// destinations are numbered as in the whole. Targets are then no rows.
    ///
    /// # Panics
    /// When an edge starts or ends outside.
    pub fn build_rows(self, sources: usize, destinations: usize) -> Csr<W> {
        let ids = Universe { sources, rows: sources, destinations };
        self.place(ids, |id| id, |id| id, |weight| weight)
    }

    /// [`CsrBuilder::build`], with every weight replaced by what `convert` makes of it.
    pub(crate) fn build_converted<V: Weight>(
        self,
        vertices: usize,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        let ids = Universe { sources: vertices, rows: vertices, destinations: vertices };
        self.place(ids, |id| id, |id| id, convert)
    }

    /// The graph on the vertices that `index` counts: an edge's ids are replaced by their dense indices,
    /// its weight by what `convert` makes of it.
    pub(crate) fn build_indexed<V: Weight>(
        self,
        index: &DenseIndex,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        let vertex = |id: u32| index.below(id as usize) as u32;
        let (sources, count) = (index.universe(), index.count());
        let ids = Universe { sources, rows: count, destinations: count };
        self.place(ids, |id| index.below(id), vertex, convert)
    }

    /// Takes the edges out again, in parts that carry the number of their piece; a vertex's edges
    /// from one piece are in one part.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = (u64, EdgeBatch<u32, W>)> {
        self.into_groups().into_iter().enumerate().flat_map(|(g, group)| {
            let parts: Vec<_> = group
                .segments
                .iter()
                .map(|segment| {
                    let mut edges = EdgeBatch::default();
                    for b in 0..GROUP_BUCKETS {
                        let (sources, destinations, weights) = group.bucket(segment, b);
                        let first = first_id(g, b);
                        edges.sources.extend(sources.iter().map(|&low| first | u32::from(low)));
                        edges.destinations.extend_from_slice(destinations);
                        edges.weights.extend_from_slice(weights);
                    }
                    (segment.order, edges)
                })
                .collect();
            parts
        })
    }

    /// Calls `visit` with the sources and destinations of all edges, in parallel, bucket by
    /// bucket: `visit(first id of the bucket, low bits of the sources, destinations)`.
    pub(crate) fn for_each_bucket(&self, visit: impl Fn(u32, &[u16], &[u32]) + Sync) {
        let groups = self.groups.lock().expect("no thread panicked holding this lock");
        groups.iter().enumerate().for_each(|(g, group)| {
            let group = group.lock().expect("no thread panicked holding this lock");
            parallel::for_each(&group.segments, |segment| {
                for b in 0..GROUP_BUCKETS {
                    let (sources, destinations, _) = group.bucket(segment, b);
                    if !sources.is_empty() {
                        visit(first_id(g, b), sources, destinations);
                    }
                }
            });
        });
    }

    /// The groups, each with its segments in input order.
    fn into_groups(self) -> Vec<Group<W>> {
        let groups = self.groups.into_inner().expect("no thread panicked holding this lock");
        groups
            .into_iter()
            .map(|group| {
                let group = Arc::into_inner(group).expect("no thread adds edges any more");
                let mut group = group.into_inner().expect("no thread panicked holding this lock");
                group.segments.sort_by_key(|segment| segment.order);
                group
            })
            .collect()
    }

    /// Places every edge. `first_vertex(id)` is the number of rows below `id`, `vertex(id)` the
    /// vertex that `id` names as a destination.
    fn place<V: Weight>(
        self,
        ids: Universe,
        first_vertex: impl Fn(usize) -> usize + Sync,
        vertex: impl Fn(u32) -> u32 + Sync,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        let groups = self.into_groups();
        let edges_in = |b: usize| -> usize {
            let group = groups.get(b / GROUP_BUCKETS);
            group.map_or(0, |group| group.buckets(b % GROUP_BUCKETS).map(|e| e.0.len()).sum())
        };
        let buckets = ids.sources.div_ceil(BUCKET_VERTICES);
        let stray = (buckets..groups.len() * GROUP_BUCKETS).find(|&b| edges_in(b) > 0);
        assert_eq!(stray, None, "an edge starts at a vertex that does not exist");
        let bucket_numbers: Vec<usize> = (0..buckets).collect();
        let edge_counts = parallel::map(&bucket_numbers, |&b| edges_in(b));
        let num_edges = edge_counts.iter().sum();

        // Zeroed by the system, page by page as they are first touched.
        let mut offsets: Vec<u64> = huge::zeroed_vec(ids.rows + 1);
        let mut targets: Vec<LocalId> = huge::zeroed_vec(num_edges);
        let mut weights: Vec<V> = huge::zeroed_vec(num_edges);

        // Every bucket gets its own windows of the three arrays, so threads never meet.
        let (_, mut free_offsets) = offsets.split_at_mut(1);
        let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
        let mut first_edge = 0;
        let mut slots = Vec::with_capacity(buckets);
        for (b, &edges) in edge_counts.iter().enumerate() {
            let end = ((b + 1) * BUCKET_VERTICES).min(ids.sources);
            let here = first_vertex(end) - first_vertex(b * BUCKET_VERTICES);
            slots.push(BucketSlot {
                bucket: b,
                first_edge,
                offsets: split_off_front(&mut free_offsets, here),
                targets: split_off_front(&mut free_targets, edges),
                weights: split_off_front(&mut free_weights, edges),
            });
            first_edge += edges as u64;
        }

        // Buckets in parallel, group after group, the largest of a group first. No thread waits for the last
        // bucket of a group; the thread that places it frees the group.
        let mut slots = slots.into_iter();
        let mut groups = groups.into_iter();
        let mut tasks = Vec::with_capacity(buckets);
        for _ in 0..buckets.div_ceil(GROUP_BUCKETS) {
            let group = Arc::new(groups.next().unwrap_or_else(Group::new));
            let mut group_slots: Vec<_> = slots.by_ref().take(GROUP_BUCKETS).collect();
            group_slots.sort_by_key(|slot| std::cmp::Reverse(slot.targets.len()));
            tasks.extend(group_slots.into_iter().map(|slot| (slot, group.clone())));
        }
        parallel::for_each_in_turn(tasks, |_, (slot, group)| {
            slot.fill(&group, ids, &first_vertex, &vertex, &convert);
        });
        Csr::from_parts(offsets.into(), targets.into(), weights.into())
    }
}

/// Takes the first `len` elements off a slice.
pub(crate) fn split_off_front<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    rest.split_off_mut(..len).expect("as much as was counted")
}

/// What ids can be: sources are below `sources` and make `rows` rows, vertices that edges lead to
/// are below `destinations`.
#[derive(Clone, Copy)]
struct Universe {
    sources: usize,
    rows: usize,
    destinations: usize,
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
        group: &Group<W>,
        ids: Universe,
        first_vertex: &(impl Fn(usize) -> usize + Sync),
        vertex: &(impl Fn(u32) -> u32 + Sync),
        convert: &(impl Fn(W) -> V + Sync),
    ) {
        if self.targets.is_empty() {
            // A few far ids leave many buckets like this one.
            self.offsets.fill(self.first_edge);
            return;
        }
        let first_id = self.bucket * BUCKET_VERTICES;
        let ids_here = BUCKET_VERTICES.min(ids.sources - first_id);
        let bucket = self.bucket % GROUP_BUCKETS;

        // Counters are per id here, so a source is translated once per id, not once per edge.
        let mut next = vec![0u64; ids_here];
        for (sources, ..) in group.buckets(bucket) {
            for &low in sources {
                next[usize::from(low)] += 1;
            }
        }
        let base = first_vertex(first_id);
        let mut end = 0;
        for (i, slot) in next.iter_mut().enumerate() {
            let start = end;
            end += *slot;
            // An id that is no vertex has no edges and shares its index with the next vertex,
            // which overwrites what is written here.
            let index = first_vertex(first_id + i) - base;
            if index < self.offsets.len() {
                self.offsets[index] = self.first_edge + end;
            }
            *slot = start;
        }
        for (sources, destinations, weights) in group.buckets(bucket) {
            for ((&low, &destination), &weight) in sources.iter().zip(destinations).zip(weights) {
                let slot = &mut next[usize::from(low)];
                let target = vertex(destination);
                assert!(
                    (target as usize) < ids.destinations,
                    "an edge ends at a vertex that does not exist"
                );
                self.targets[*slot as usize] = LocalId(target);
                self.weights[*slot as usize] = convert(weight);
                *slot += 1;
            }
        }
    }
}
