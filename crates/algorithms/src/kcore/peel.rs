//! Peeling inside a host (Batagelj, Zaveršnik 2003; in parallel as ParK, Dasari et al. 2014): the
//! vertices with fewest neighbours left are removed first, and take an edge from each neighbour.
//!
//! Mirrors stay until the host of their master sends the level at which they are removed. On a single
//! host, the level at which a vertex is removed is its coreness.
//!
//! Empty levels are skipped. The pending vertices are scanned once per level, in total at most the sum
//! of all levels. Inside a level, threads follow cascades of removals without waiting for each other.

use std::sync::atomic::{AtomicU32, Ordering};

use parton_engine::{EdgeRows, EdgeView};
use parton_graph::{LocalId, parallel, prefetch};
use parton_partition::Partition;
use rayon::prelude::*;

/// Vertices that one task scans.
const VERTICES_PER_TASK: usize = 1 << 14;
/// Several threads scan faster from this many vertices on.
const MIN_PARALLEL_VERTICES: usize = 1 << 12;
/// Several threads remove vertices faster from this many on.
const MIN_PARALLEL_WAVE: usize = 1 << 6;
/// The level of a mirror whose removal is not known.
const NO_LEVEL: u32 = u32::MAX;

/// A host's vertices while they are peeled. The host must hold all edges of its masters.
pub(super) struct Peeling<'a> {
    /// Edges of masters.
    rows: EdgeView<'a, ()>,
    /// The same edges, indexed by their other ends.
    reverse: EdgeView<'a, ()>,
    num_masters: u32,
    /// Neighbours left of masters that are present; the level of removal of all other proxies.
    left: Vec<AtomicU32>,
    /// All vertices that are removed at the next level or later, and some that are gone.
    pending: Vec<Vec<LocalId>>,
    /// Levels below this one have been peeled.
    next: u32,
    /// The next level with a removal and the vertices removed there, if known.
    found: Option<(u32, Vec<LocalId>)>,
}

impl<'a> Peeling<'a> {
    /// All vertices present; none is removed below level `lowest`.
    pub(super) fn new(partition: &'a Partition, lowest: u32) -> Self {
        let rows = EdgeView::new(partition.out_edges());
        let num_masters = partition.num_masters() as u32;
        let first = |proxy| match proxy < num_masters as usize {
            true => AtomicU32::new(lowest.max(rows.rows().degree(LocalId(proxy as u32)) as u32)),
            false => AtomicU32::new(NO_LEVEL),
        };
        let left = parallel::generate(partition.num_proxies(), first);
        let piece = |first: u32| {
            (first..num_masters.min(first + VERTICES_PER_TASK as u32)).map(LocalId).collect()
        };
        let pending = (0..num_masters).step_by(VERTICES_PER_TASK).map(piece).collect();
        let reverse = EdgeView::new(partition.in_edges());
        Peeling { rows, reverse, num_masters, left, pending, next: 0, found: None }
    }

    /// Rows that hold a proxy's edges: of a mirror those to masters.
    pub(super) fn rows_of(&self, proxy: LocalId) -> EdgeRows<'_, ()> {
        if proxy.0 < self.num_masters { self.rows.rows() } else { self.reverse.rows() }
    }

    /// Sets the level at which a mirror is removed. Returns the one set before.
    pub(super) fn set_mirror_level(&mut self, mirror: LocalId, level: u32) -> u32 {
        std::mem::replace(self.left[mirror.index()].get_mut(), level)
    }

    /// The next level at which a vertex here can be removed.
    pub(super) fn next_level(&mut self) -> Option<u32> {
        self.found = self.find();
        self.found.as_ref().map(|(level, _)| *level)
    }

    /// Removes mirrors whose levels are set: at the level that was peeled last, or at later ones. Then
    /// peels all levels below `cap`. Calls `settle` with every removed master and its level. Returns
    /// the number of edges visited.
    pub(super) fn peel(
        &mut self,
        mirrors: Vec<LocalId>,
        cap: u32,
        settle: impl Fn(LocalId, u32) + Sync,
    ) -> u64 {
        // Removed mirrors may change the next level.
        let mut found = self.found.take().filter(|_| mirrors.is_empty());
        let level = |mirror: LocalId| self.left[mirror.index()].load(Ordering::Relaxed);
        let (late, early): (Vec<_>, Vec<_>) =
            mirrors.into_iter().partition(|mirror| level(*mirror) < self.next);
        self.pending.push(early);
        let mut edges = 0;
        if !late.is_empty() {
            edges += self.layer(self.next - 1, &settle).peel(late);
        }
        while self.next < cap {
            match found.take().or_else(|| self.find()) {
                Some((level, first)) if level < cap => {
                    edges += self.layer(level, &settle).peel(first);
                    self.next = level + 1;
                }
                _ => self.next = cap,
            }
        }
        edges
    }

    /// The next level with a removal and the vertices removed there. Drops gone vertices from the
    /// pending ones.
    fn find(&mut self) -> Option<(u32, Vec<LocalId>)> {
        let scan = |piece: &mut Vec<LocalId>| {
            let (mut least, mut first) = (NO_LEVEL, Vec::new());
            piece.retain(|&vertex| {
                let left = self.left[vertex.index()].load(Ordering::Relaxed);
                if left < self.next {
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
        self.pending.retain(|piece| !piece.is_empty());
        let all: usize = self.pending.iter().map(Vec::len).sum();
        let found: Vec<(u32, Vec<LocalId>)> = match all < MIN_PARALLEL_VERTICES {
            true => self.pending.iter_mut().map(scan).collect(),
            false => self.pending.par_iter_mut().map(scan).collect(),
        };
        let least =
            found.iter().map(|(least, _)| *least).min().filter(|least| *least < NO_LEVEL)?;
        let first = found.into_iter().filter(|(of, _)| *of == least);
        Some((least, first.flat_map(|(_, first)| first).collect()))
    }

    fn layer<F>(&self, level: u32, settle: F) -> Layer<'_, F> {
        let (rows, reverse, left) = (self.rows.rows(), self.reverse.rows(), &self.left[..]);
        Layer { level, rows, reverse, num_masters: self.num_masters, left, settle }
    }
}

/// The peeling of one level.
struct Layer<'a, F> {
    level: u32,
    rows: EdgeRows<'a, ()>,
    reverse: EdgeRows<'a, ()>,
    num_masters: u32,
    left: &'a [AtomicU32],
    settle: F,
}

impl<F: Fn(LocalId, u32) + Sync> Layer<'_, F> {
    /// Removes these vertices, and all that have too few neighbours left because of that.
    fn peel(&self, first: Vec<LocalId>) -> u64 {
        let is_master = |proxy: &LocalId| proxy.0 < self.num_masters;
        let (masters, mirrors) = first.into_iter().partition(is_master);
        self.cascade_all(mirrors) + self.cascade_all(masters)
    }

    fn cascade_all(&self, wave: Vec<LocalId>) -> u64 {
        if wave.len() < MIN_PARALLEL_WAVE || rayon::current_num_threads() == 1 {
            return self.cascade_serial(wave);
        }
        let pieces = wave.par_chunks(MIN_PARALLEL_WAVE / 4).with_max_len(1);
        pieces.map(|piece| self.cascade(piece.to_vec())).sum()
    }

    /// Follows a cascade without atomic updates: no other thread may be at work.
    fn cascade_serial(&self, mut wave: Vec<LocalId>) -> u64 {
        let mut edges = 0;
        while !wave.is_empty() {
            let (seen, next) = self.remove_wave(&wave, |left| {
                let before = left.load(Ordering::Relaxed);
                if before > self.level {
                    left.store(before - 1, Ordering::Relaxed);
                }
                before
            });
            edges += seen;
            wave = next;
        }
        edges
    }

    /// Follows a cascade while other threads do the same.
    fn cascade(&self, mut wave: Vec<LocalId>) -> u64 {
        let mut edges = 0;
        while !wave.is_empty() {
            let (seen, mut next) = self.remove_wave(&wave, |left| {
                let one_less = |left: u32| (left > self.level).then(|| left - 1);
                let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
                before.unwrap_or_else(|before| before)
            });
            edges += seen;
            if next.len() > MIN_PARALLEL_WAVE {
                let half = next.split_off(next.len() / 2);
                let both = rayon::join(|| self.cascade(next), || self.cascade(half));
                return edges + both.0 + both.1;
            }
            wave = next;
        }
        edges
    }

    /// Removes a wave, which is all masters or all mirrors. Calls `lose` on the neighbours left of each
    /// adjacent master; `lose` takes one and returns the number before. A master that drops to the
    /// level is in the next wave. Returns the number of edges visited, too.
    #[inline(always)]
    fn remove_wave(
        &self,
        wave: &[LocalId],
        lose: impl Fn(&AtomicU32) -> u32,
    ) -> (u64, Vec<LocalId>) {
        let (num_masters, left) = (self.num_masters, self.left);
        let goes = wave[0].0 < num_masters;
        let rows = if goes { self.rows } else { self.reverse };
        let soon = |soon: LocalId| {
            if soon.0 < num_masters {
                prefetch(left, soon.index());
            }
        };
        let (mut edges, mut next) = (0, Vec::new());
        for (place, &proxy) in wave.iter().enumerate() {
            rows.prepare(wave, place, soon);
            if goes {
                (self.settle)(proxy, self.level);
            }
            rows.each(proxy, soon, |other, ()| {
                if other.0 < num_masters && lose(&left[other.index()]) == self.level + 1 {
                    next.push(other);
                }
            });
            edges += rows.degree(proxy);
        }
        (edges, next)
    }
}
