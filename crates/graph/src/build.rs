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
mod place;

use std::sync::{Arc, Mutex, TryLockError};

use groups::{GROUP_BUCKETS, Group, first_id, split_by_source};
use place::{Universe, place};

use crate::Csr;
use crate::dense_index::DenseIndex;
use crate::hash::mix64;
use crate::parallel;
use crate::weight::Weight;

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
    #[inline(never)]
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
        // Threads start at different groups, and leave one that another thread has for later.
        let first = mix64(order) as usize % count.max(1);
        let mut left: Vec<usize> = (0..count).map(|g| (g + first) % count).collect();
        while let Some(&next) = left.first() {
            let before = left.len();
            left.retain(|&g| match groups[g].try_lock() {
                Err(TryLockError::WouldBlock) => true,
                group => {
                    let mut group = group.expect("no thread panicked holding this lock");
                    group.append(order, &piece, g);
                    false
                }
            });
            if left.len() == before {
                let mut group = groups[next].lock().expect("no thread panicked holding this lock");
                group.append(order, &piece, next);
                left.remove(0);
            }
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
    #[inline(never)]
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
        place(self.into_groups(), ids, |id| id, |id| id, |weight| weight)
    }

    /// [`CsrBuilder::build`], with every weight replaced by what `convert` makes of it.
    pub(crate) fn build_converted<V: Weight>(
        self,
        vertices: usize,
        convert: impl Fn(W) -> V + Sync,
    ) -> Csr<V> {
        let ids = Universe { sources: vertices, rows: vertices, destinations: vertices };
        place(self.into_groups(), ids, |id| id, |id| id, convert)
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
        place(self.into_groups(), ids, |id| index.below(id), vertex, convert)
    }

    /// Takes the edges out again, in parts that carry the number of their piece, by all threads; a vertex's
    /// edges from one piece are in one part. A group's memory is given back when `visit` has had its parts.
    pub(crate) fn try_for_each_part<E: Send>(
        self,
        visit: impl Fn(u64, EdgeBatch<u32, W>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let parts_of = |g: usize, group: Group<W>| {
            group.segments.iter().try_for_each(|segment| {
                let mut edges = EdgeBatch::default();
                for b in 0..GROUP_BUCKETS {
                    let (sources, destinations, weights) = group.bucket(segment, b);
                    let first = first_id(g, b);
                    edges.sources.extend(sources.iter().map(|&low| first | u32::from(low)));
                    edges.destinations.extend_from_slice(destinations);
                    edges.weights.extend_from_slice(weights);
                }
                visit(segment.order, edges)
            })
        };
        parallel::map_owned(self.into_groups(), parts_of).into_iter().collect()
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
}

/// Takes the first `len` elements off a slice.
pub(crate) fn split_off_front<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    rest.split_off_mut(..len).expect("as much as was counted")
}
