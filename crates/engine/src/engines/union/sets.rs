//! Disjoint sets of vertices that threads join: trees of parents, with path halving.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use parton_graph::{parallel, prefetch};

use super::joining::pieces;

/// Prefetch distance in vertices whose parents are read.
const PREFETCH_VERTICES: u32 = 16;
/// Vertices in the sample that finds the largest set.
const SAMPLE: usize = 1024;

/// Disjoint sets of vertices.
pub(super) struct DisjointSets {
    /// Of each vertex: a vertex of the same set, never a greater one. A representative is its own parent.
    parents: Vec<AtomicU32>,
    /// Whether there is only one thread.
    is_alone: bool,
}

impl DisjointSets {
    /// Each vertex alone.
    pub(super) fn new(vertices: usize) -> Self {
        let parents = parallel::generate(vertices, |vertex| AtomicU32::new(vertex as u32));
        DisjointSets { parents, is_alone: rayon::current_num_threads() == 1 }
    }

    /// Number of vertices.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The sets.
    pub(super) fn sets(&self) -> Sets<'_> {
        Sets { parents: &self.parents, is_alone: self.is_alone }
    }
}

/// The sets of a [`DisjointSets`]. Copy them out of their owner before a loop: the compiler then keeps them in
/// registers instead of loading them again after every write.
#[derive(Clone, Copy)]
pub(super) struct Sets<'j> {
    parents: &'j [AtomicU32],
    is_alone: bool,
}

impl Sets<'_> {
    /// The parent of a vertex: the representative of its set, if that is flat.
    #[inline]
    pub(super) fn parent(self, vertex: u32) -> u32 {
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// Prefetches a vertex's parent.
    #[inline(always)]
    pub(super) fn prefetch(self, vertex: u32) {
        prefetch(self.parents, vertex as usize);
    }

    /// The representative of a vertex's set. Halves the path to it.
    #[inline]
    pub(super) fn representative(self, mut vertex: u32) -> u32 {
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

    /// Joins two sets: the greater representative gets the lesser one as its parent.
    #[inline(always)]
    pub(super) fn join(self, a: u32, b: u32) {
        // Most pairs are joined already, and most of these have the same parent.
        if self.parent(a) != self.parent(b) {
            self.join_sets(a, b);
        }
    }

    /// Joins a vertex with each vertex that one of `others` stands for.
    #[inline(always)]
    pub(super) fn join_all<T>(self, vertex: u32, others: &[T], stands_for: impl Fn(&T) -> u32) {
        others.iter().for_each(|other| self.join(vertex, stands_for(other)));
    }

    /// Climbs from the vertex with the greater parent, and gives it the lesser one: both will be in one set,
    /// and the path is shorter from then on.
    #[inline]
    fn join_sets(self, mut a: u32, mut b: u32) {
        loop {
            let (above_a, above_b) = (self.parent(a), self.parent(b));
            if above_a == above_b {
                return;
            }
            let (high, above_high, low) = match above_a > above_b {
                true => (&mut a, above_a, above_b),
                false => (&mut b, above_b, above_a),
            };
            let (cell, relaxed) = (&self.parents[*high as usize], Ordering::Relaxed);
            if above_high != *high {
                cell.store(low, relaxed);
                *high = above_high;
            } else if self.is_alone {
                return cell.store(low, relaxed);
            } else if cell.compare_exchange(above_high, low, relaxed, relaxed).is_ok() {
                return;
            }
        }
    }

    /// Makes each of some vertices the child of its representative, and calls `visit` with both.
    pub(super) fn flatten(self, vertices: Range<u32>, visit: impl Fn(u32, u32) + Sync) {
        parallel::for_each(&pieces(&[vertices]), |piece| {
            let sets = self;
            for vertex in piece.clone() {
                let later = vertex.saturating_add(PREFETCH_VERTICES).min(piece.end - 1);
                sets.prefetch(sets.parent(later));
                let parent = sets.parent(vertex);
                let representative = match sets.parent(parent) == parent {
                    true => parent,
                    false => {
                        let representative = sets.representative(vertex);
                        sets.parents[vertex as usize].store(representative, Ordering::Relaxed);
                        representative
                    }
                };
                visit(vertex, representative);
            }
        });
    }

    /// The representative of the largest set among the first vertices, by a sample.
    pub(super) fn largest(self, vertices: u32) -> Option<u32> {
        most_frequent(vertices, |vertex| self.representative(vertex)).map(|(found, _)| found)
    }
}

/// The most frequent value of a sample of vertices below `vertices`, and how often the sample has it.
pub(super) fn most_frequent<T: PartialOrd + Copy>(
    vertices: u32,
    has: impl Fn(u32) -> T,
) -> Option<(T, usize)> {
    let step = (vertices as usize).div_ceil(SAMPLE).max(1);
    let mut found: Vec<T> = (0..vertices).step_by(step).map(has).collect();
    found.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let longest = found.chunk_by(|a, b| a == b).max_by_key(|run| run.len())?;
    Some((longest[0], longest.len()))
}
