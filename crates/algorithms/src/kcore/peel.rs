//! Peeling inside a host: what has the fewest neighbours left goes first, and takes an edge from
//! each of its neighbours.
//!
//! Proxies of other hosts' vertices go, too, each when its bound says so, whatever happens here. So
//! masters end with the greatest bounds that each other's and those of mirrors allow; on a host that
//! is alone that is the coreness.
//!
//! Levels are skipped where nobody is; what is left is looked through once per level, which adds up
//! to the sum of all bounds at most. Inside a level threads follow cascades without waiting for each
//! other.

use std::sync::atomic::{AtomicU32, Ordering};

use parton_engine::edges::Rows;
use parton_graph::{LocalId, prefetch};
use rayon::prelude::*;

/// Vertices that a thread looks through at a time.
const PIECE: usize = 1 << 14;
/// Below so many vertices threads cost more than they bring.
const FEW: usize = 1 << 12;
/// The same of vertices that go at once, whose edges have to be looked at, too.
const FEW_AT_ONCE: usize = 1 << 6;

/// A host's vertices while they are being peeled.
pub(super) struct Peeling<'a> {
    /// Edges of masters.
    pub(super) rows: Rows<'a, ()>,
    /// Edges of mirrors, to masters.
    pub(super) back: Rows<'a, ()>,
    pub(super) num_masters: u32,
    /// Masters: neighbours left, and the bound once they are gone. Mirrors: their bounds.
    pub(super) left: &'a [AtomicU32],
    /// Nobody goes at this level or above it.
    pub(super) cap: u32,
}

impl Peeling<'_> {
    /// Peels all there is; how many edges that took.
    pub(super) fn run(&self) -> u64 {
        let proxies = self.left.len();
        let pieces = (0..proxies as u32).step_by(PIECE);
        let mut rest: Vec<Vec<u32>> = pieces
            .map(|first| (first..proxies.min(first as usize + PIECE) as u32).collect())
            .collect();
        let mut gone = None;
        let mut edges = 0;
        while let Some((level, first)) = self.next_level(&mut rest, gone) {
            edges += self.peel_level(level, first);
            gone = Some(level);
        }
        let masters = &self.left[..self.num_masters as usize];
        masters.par_iter().with_min_len(PIECE).for_each(|left| {
            left.fetch_min(self.cap, Ordering::Relaxed);
        });
        edges
    }

    /// The next level at which anybody goes, and who does; those of the level before are forgotten.
    fn next_level(&self, rest: &mut Vec<Vec<u32>>, gone: Option<u32>) -> Option<(u32, Vec<u32>)> {
        let look = |piece: &mut Vec<u32>| {
            let (mut least, mut first) = (u32::MAX, Vec::new());
            piece.retain(|&vertex| {
                let left = self.left[vertex as usize].load(Ordering::Relaxed);
                if gone.is_some_and(|gone| left <= gone) {
                    return false;
                }
                if left < least {
                    least = left;
                    first.clear();
                }
                if left == least {
                    first.push(vertex);
                }
                true
            });
            (least, first)
        };
        rest.retain(|piece| !piece.is_empty());
        let all: usize = rest.iter().map(Vec::len).sum();
        let found: Vec<(u32, Vec<u32>)> = match all < FEW {
            true => rest.iter_mut().map(look).collect(),
            false => rest.par_iter_mut().map(look).collect(),
        };
        let least = found.iter().map(|(least, _)| *least).min()?;
        let is_level = least < self.cap;
        is_level.then(|| {
            let first = found.into_iter().filter(|(of, _)| *of == least);
            (least, first.flat_map(|(_, first)| first).collect())
        })
    }

    /// Lets these go at a level, and everyone who is left with too few because of that.
    fn peel_level(&self, level: u32, mut first: Vec<u32>) -> u64 {
        if first.len() < FEW_AT_ONCE || rayon::current_num_threads() == 1 {
            return self.follow_alone(level, &mut first);
        }
        let pieces = first.par_chunks(FEW_AT_ONCE / 4).with_max_len(1);
        pieces.map(|piece| self.follow(level, piece.to_vec())).sum()
    }

    /// Calls `visit` with every master that loses a neighbour when `vertex` goes.
    #[inline(always)]
    fn each_neighbour(&self, vertex: u32, mut visit: impl FnMut(u32)) -> u64 {
        let (num_masters, left) = (self.num_masters, self.left);
        let rows = if vertex < num_masters { self.rows } else { self.back };
        rows.each(
            LocalId(vertex),
            |soon| prefetch(left, soon.index()),
            |other, ()| {
                if other.0 < num_masters {
                    visit(other.0);
                }
            },
        );
        rows.degree(LocalId(vertex))
    }

    /// While nobody else is at work.
    fn follow_alone(&self, level: u32, stack: &mut Vec<u32>) -> u64 {
        let mut edges = 0;
        while let Some(vertex) = stack.pop() {
            edges += self.each_neighbour(vertex, |other| {
                let left = &self.left[other as usize];
                let before = left.load(Ordering::Relaxed);
                if before > level {
                    left.store(before - 1, Ordering::Relaxed);
                    if before == level + 1 {
                        stack.push(other);
                    }
                }
            });
        }
        edges
    }

    /// While other threads do the same.
    fn follow(&self, level: u32, mut stack: Vec<u32>) -> u64 {
        let mut edges = 0;
        while let Some(vertex) = stack.pop() {
            edges += self.each_neighbour(vertex, |other| {
                // Whoever takes the last neighbour that was one too many lets it go.
                let one_less = |left: u32| (left > level).then(|| left - 1);
                let left = &self.left[other as usize];
                let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
                if before == Ok(level + 1) {
                    stack.push(other);
                }
            });
            if stack.len() > FEW_AT_ONCE {
                let half = stack.split_off(stack.len() / 2);
                let both = rayon::join(|| self.follow(level, stack), || self.follow(level, half));
                return edges + both.0 + both.1;
            }
        }
        edges
    }
}
