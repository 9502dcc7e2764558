//! Joining instead of spreading, for labels that edges pass on as they are, either way.
//!
//! A host joins the ends of all its edges once, without looking at labels. From then on a label
//! that arrives at one proxy is the label of the whole local component: it is noted at the
//! component's representative, and only those members are looked at that other hosts share. So the
//! number of rounds is the number of times a component crosses hosts, not its diameter.
//!
//! Most edges join what is joined already. After the first few edges of every vertex most vertices
//! are in one component. If edges can be seen from both ends its members need no further look;
//! else an edge between two of them costs a look at one bit.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use parton_graph::bits::BitSet;
use parton_graph::{LocalId, huge, prefetch};
use parton_net::HostId;
use parton_partition::{End, Partition};
use parton_sync::{CpuField, Delivery, Field, Reduction, Tally};
use rayon::prelude::*;

use crate::edges::EdgeView;
use crate::engine::Engine;
use crate::engines::Relaxer;
use crate::program::Relaxation;
use crate::relaxing::PIECE;

/// Edges of every vertex that are joined before looking for the largest component.
const FIRST_EDGES: usize = 2;
/// How many vertices before its turn a vertex's neighbour or parent is asked for.
const AHEAD: u32 = 16;
/// Vertices that are asked which component is the largest.
const ASKED: usize = 1024;

/// A relaxation whose labels go through edges as they are.
pub(super) struct Union<'a, P: Relaxation> {
    edges: EdgeView<'a, ()>,
    num_masters: u32,
    /// Whether every edge can be seen from both its ends.
    both_ends: bool,
    /// The edges from their other ends, if that takes no effort and is not the same.
    in_edges: Option<EdgeView<'a, ()>>,
    joined: Joined,
    /// The label of a component, at its representative.
    component_labels: CpuField<P::Reduction>,
    /// The labels of proxies that other hosts share.
    labels: CpuField<P::Reduction>,
    /// Those proxies; by component, once edges are joined.
    shared: Vec<LocalId>,
    has_joined: bool,
}

impl<'a, P: Relaxation> Union<'a, P> {
    pub(super) fn new(program: &'a P, partition: &'a Partition) -> Self {
        let proxies = partition.num_proxies();
        let start =
            |proxy| program.start(partition.global(proxy)).unwrap_or_else(P::Reduction::identity);
        let mut shared: Vec<LocalId> =
            (partition.num_masters()..proxies).map(|p| LocalId(p as u32)).collect();
        for peer in HostId::all(partition.num_hosts()) {
            shared.extend_from_slice(partition.routes(peer).masters(End::Either));
        }
        shared.sort_unstable();
        shared.dedup();
        let (out_edges, in_edges) = (partition.out_edges(), partition.in_edges_at_hand());
        Union {
            edges: EdgeView::new(out_edges),
            num_masters: partition.num_masters() as u32,
            both_ends: in_edges.is_some(),
            in_edges: in_edges.filter(|edges| !ptr::eq(*edges, out_edges)).map(EdgeView::new),
            joined: Joined::new(proxies),
            component_labels: CpuField::new(proxies, Delivery::Label, start),
            labels: CpuField::new(proxies, Delivery::Label, start),
            shared,
            has_joined: false,
        }
    }

    /// Joins the ends of all edges, then gives every component the best of its members' labels.
    fn join_all(&mut self) {
        let (edges, joined) = (self.edges.rows(), &self.joined);
        let num_vertices = joined.parents.len() as u32;
        let all = || (0..num_vertices).into_par_iter().with_max_len(PIECE).map(LocalId);
        let first = |vertex| edges.targets(vertex).iter().take(FIRST_EDGES);
        all().for_each(|vertex| {
            let later = LocalId(vertex.0.saturating_add(AHEAD).min(num_vertices - 1));
            first(later).for_each(|other| joined.prefetch(other.0));
            first(vertex).for_each(|other| joined.join(vertex.0, other.0));
        });
        joined.flatten(|_, _| ());
        let largest = joined.largest();
        let rest = |vertex| edges.targets(vertex).iter().skip(FIRST_EDGES);
        if self.both_ends {
            let in_edges = self.in_edges.as_ref().map(EdgeView::rows);
            // An edge into the largest component is seen from its other end, too.
            all().filter(|vertex| joined.parent(vertex.0) != largest).for_each(|vertex| {
                rest(vertex).for_each(|other| joined.join(vertex.0, other.0));
                let others = in_edges.map_or(&[][..], |edges| edges.targets(vertex));
                others.iter().for_each(|other| joined.join(vertex.0, other.0));
            });
        } else {
            let inside = joined.members(largest);
            all().for_each(|vertex| match inside.contains(vertex.index()) {
                true => rest(vertex)
                    .filter(|other| !inside.contains(other.index()))
                    .for_each(|other| joined.join(vertex.0, other.0)),
                false => rest(vertex).for_each(|other| joined.join(vertex.0, other.0)),
            });
        }
        let labels = self.component_labels.cells();
        joined.flatten(|vertex, representative| {
            if representative != vertex {
                labels.fold(LocalId(representative), labels.get(LocalId(vertex)));
            }
        });
        self.shared.sort_unstable_by_key(|proxy| (joined.parent(proxy.0), *proxy));
        self.tell(&self.shared);
    }

    /// Gives these shared proxies the labels of their components; what changes must be sent.
    fn tell(&self, shared: &[LocalId]) {
        for &proxy in shared {
            let label = self.component_labels.get(LocalId(self.joined.parent(proxy.0)));
            if self.labels.fold_alone(proxy, label) {
                self.labels.updated().insert(proxy);
            }
        }
    }

    /// The shared proxies of a component.
    fn members(&self, representative: u32) -> &[LocalId] {
        let before = |proxy: &LocalId| self.joined.parent(proxy.0) < representative;
        let start = self.shared.partition_point(before);
        let len =
            self.shared[start..].partition_point(|p| self.joined.parent(p.0) == representative);
        &self.shared[start..start + len]
    }
}

impl<P: Relaxation> Engine for Union<'_, P> {
    fn compute(&mut self) -> u64 {
        let mut edges = 0;
        if !self.has_joined {
            self.has_joined = true;
            self.join_all();
            edges = self.edges.num_edges();
        }
        // In the first round, too: hosts that are ahead may have told something already.
        let mut improved: Vec<u32> = Vec::new();
        for proxy in self.labels.drain_active() {
            let representative = self.joined.parent(proxy.0);
            if self.component_labels.fold_alone(LocalId(representative), self.labels.get(proxy)) {
                improved.push(representative);
            }
        }
        improved.sort_unstable();
        improved.dedup();
        improved.iter().for_each(|&representative| self.tell(self.members(representative)));
        edges
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.labels, End::Either)
    }

    fn apply(&mut self) -> Tally {
        let changed = self.labels.updated().iter_range(0..self.num_masters).count() as u64;
        Tally { changed, ..Tally::default() }
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.labels, End::Either)
    }

    fn is_active(&mut self) -> bool {
        !self.has_joined || !self.labels.active().is_empty()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }
}

impl<P: Relaxation> Relaxer<P> for Union<'_, P> {
    fn label(&self, proxy: LocalId) -> P::Label {
        self.component_labels.get(LocalId(self.joined.parent(proxy.0)))
    }
}

/// Sets of vertices that threads join.
struct Joined {
    /// A vertex of the same set, never a greater one; representatives have themselves.
    parents: Vec<AtomicU32>,
}

impl Joined {
    fn new(vertices: usize) -> Self {
        let mut parents = huge::vec_with_capacity(vertices);
        parents.par_extend((0..vertices as u32).into_par_iter().map(AtomicU32::new));
        Joined { parents }
    }

    #[inline]
    fn parent(&self, vertex: u32) -> u32 {
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// Tells memory that a vertex's parent will be needed soon.
    #[inline(always)]
    fn prefetch(&self, vertex: u32) {
        prefetch(&self.parents, vertex as usize);
    }

    /// The representative of a vertex's set; on the way every other vertex skips its parent.
    #[inline]
    fn representative(&self, mut vertex: u32) -> u32 {
        loop {
            let parent = self.parent(vertex);
            let grandparent = self.parent(parent);
            if parent == grandparent {
                return parent;
            }
            self.parents[vertex as usize].store(grandparent, Ordering::Relaxed);
            vertex = grandparent;
        }
    }

    /// Makes one set of two: the greater representative gets the lesser one as its parent.
    #[inline(always)]
    fn join(&self, a: u32, b: u32) {
        // Most are joined already, and most of those have the same parent.
        if self.parent(a) != self.parent(b) {
            self.join_sets(a, b);
        }
    }

    fn join_sets(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.representative(a), self.representative(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            let relaxed = Ordering::Relaxed;
            if self.parents[high as usize].compare_exchange(high, low, relaxed, relaxed).is_ok() {
                return;
            }
        }
    }

    /// Makes every vertex the child of its representative, and calls `visit` with both.
    fn flatten(&self, visit: impl Fn(u32, u32) + Sync) {
        let last = (self.parents.len() as u32).saturating_sub(1);
        (0..self.parents.len() as u32).into_par_iter().with_max_len(PIECE).for_each(|vertex| {
            self.prefetch(self.parent(vertex.saturating_add(AHEAD).min(last)));
            let parent = self.parent(vertex);
            let representative = match self.parent(parent) == parent {
                true => parent,
                false => {
                    let representative = self.representative(vertex);
                    self.parents[vertex as usize].store(representative, Ordering::Relaxed);
                    representative
                }
            };
            visit(vertex, representative);
        });
    }

    /// The vertices of a flat set.
    fn members(&self, representative: u32) -> BitSet {
        let word = |parents: &[AtomicU32]| {
            let bits = parents.iter().zip(0..).map(|(parent, bit)| {
                u64::from(parent.load(Ordering::Relaxed) == representative) << bit
            });
            bits.sum()
        };
        BitSet::from_words(self.parents.par_chunks(64).map(word).collect(), self.parents.len())
    }

    /// The representative that most of some evenly spread vertices have.
    fn largest(&self) -> u32 {
        let step = self.parents.len().div_ceil(ASKED).max(1);
        let asked = (0..self.parents.len()).step_by(step);
        let mut found: Vec<u32> = asked.map(|vertex| self.parent(vertex as u32)).collect();
        found.sort_unstable();
        let runs = found.chunk_by(|a, b| a == b);
        runs.max_by_key(|run| run.len()).map_or(0, |run| run[0])
    }
}
