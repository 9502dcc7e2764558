//! Sets of vertices that threads join: each is a tree of parents, flat where it is looked at often.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use parton_graph::{huge, prefetch};
use rayon::prelude::*;

use super::joining::pieces;

/// How many vertices before its turn a vertex's parent is asked for.
const AHEAD: u32 = 16;
/// Vertices that are asked which set is the largest.
const ASKED: usize = 1024;

/// Sets of vertices that threads join.
pub(super) struct Joined {
    /// A vertex of the same set, never a greater one; representatives have themselves.
    parents: Vec<AtomicU32>,
    /// Whether there is but one thread.
    is_alone: bool,
}

impl Joined {
    /// Each vertex alone.
    pub(super) fn new(vertices: usize) -> Self {
        let mut parents = huge::vec_with_capacity(vertices);
        parents.par_extend((0..vertices as u32).into_par_iter().map(AtomicU32::new));
        Joined { parents, is_alone: rayon::current_num_threads() == 1 }
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

/// The sets of a [`Joined`]. To be copied out of whatever holds it before a loop: what lies in registers
/// need not be looked up again after every write.
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

    /// Tells memory that a vertex's parent will be needed soon.
    #[inline(always)]
    pub(super) fn prefetch(self, vertex: u32) {
        prefetch(self.parents, vertex as usize);
    }

    /// The representative of a vertex's set; on the way every other vertex skips its parent.
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

    /// Makes one set of two: the greater representative gets the lesser one as its parent.
    #[inline(always)]
    pub(super) fn join(self, a: u32, b: u32) {
        // Most are joined already, and most of those have the same parent.
        if self.parent(a) != self.parent(b) {
            self.join_sets(a, b);
        }
    }

    /// Joins a vertex with whoever `others` stand for.
    #[inline(always)]
    pub(super) fn join_all<T>(self, vertex: u32, others: &[T], stands_for: impl Fn(&T) -> u32) {
        others.iter().for_each(|other| self.join(vertex, stands_for(other)));
    }

    /// Goes up from whichever has the greater parent. On the way that gets the lesser one: both will be in
    /// one set, and the way is shorter from then on.
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
        // A loop of its own for every piece: what is called for each vertex may not become part of one.
        pieces(&[vertices]).for_each(|piece| {
            let sets = self;
            for vertex in piece.clone() {
                let later = vertex.saturating_add(AHEAD).min(piece.end - 1);
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

    /// The representative that most of some evenly spread ones of the first vertices have, if
    /// there are any.
    pub(super) fn largest(self, vertices: u32) -> Option<u32> {
        most_frequent(vertices, |vertex| self.representative(vertex)).map(|(found, _)| found)
    }
}

/// What most of some evenly spread vertices below `vertices` have, and how many of those asked.
pub(super) fn most_frequent<T: PartialOrd + Copy>(
    vertices: u32,
    has: impl Fn(u32) -> T,
) -> Option<(T, usize)> {
    let step = (vertices as usize).div_ceil(ASKED).max(1);
    let mut found: Vec<T> = (0..vertices).step_by(step).map(has).collect();
    found.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let longest = found.chunk_by(|a, b| a == b).max_by_key(|run| run.len())?;
    Some((longest[0], longest.len()))
}
