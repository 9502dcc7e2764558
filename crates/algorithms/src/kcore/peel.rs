//! Peeling inside a host: what has the fewest neighbours left goes first, and takes an edge from
//! each of its neighbours.
//!
//! Mirrors stay until their masters' hosts say when they go. On a host that is alone the level at which
//! a vertex goes is its coreness.
//!
//! Levels are skipped where nobody is; what is left is looked through once per level, which adds up
//! to the sum of all levels at most. Inside a level threads follow cascades without waiting for each
//! other.

use std::sync::atomic::{AtomicU32, Ordering};

use parton_engine::{EdgeRows, EdgeView};
use parton_graph::{LocalId, prefetch};
use parton_partition::Partition;
use rayon::prelude::*;

/// Vertices that a thread looks through at a time.
const PIECE: usize = 1 << 14;
/// Below so many vertices threads cost more than they bring.
const FEW: usize = 1 << 12;
/// The same of vertices that go at once, whose edges have to be looked at, too.
const FEW_AT_ONCE: usize = 1 << 6;
/// The level of a mirror that is not known to go.
const NEVER: u32 = u32::MAX;

/// A host's vertices while they are being peeled. Masters must have all their neighbours beside them.
pub(super) struct Peeling<'a> {
    /// Edges of masters.
    rows: EdgeView<'a, ()>,
    /// The same from their other ends.
    back: EdgeView<'a, ()>,
    num_masters: u32,
    /// Masters that are there: neighbours left. All others: the level at which they go.
    left: Vec<AtomicU32>,
    /// Everyone who goes at the next level or later, and some who went before.
    rest: Vec<Vec<LocalId>>,
    /// Levels below this one have been peeled.
    next: u32,
    /// The level after that at which anybody goes, and who does, if that is known.
    found: Option<(u32, Vec<LocalId>)>,
}

impl<'a> Peeling<'a> {
    /// Everyone is there, and nobody goes below level `lowest`.
    pub(super) fn new(partition: &'a Partition, lowest: u32) -> Self {
        let rows = EdgeView::new(partition.out_edges());
        let num_masters = partition.num_masters() as u32;
        let first = |proxy: u32| match proxy < num_masters {
            true => AtomicU32::new(lowest.max(rows.rows().degree(LocalId(proxy)) as u32)),
            false => AtomicU32::new(NEVER),
        };
        let left = (0..partition.num_proxies() as u32).into_par_iter().map(first).collect();
        let piece =
            |first: u32| (first..num_masters.min(first + PIECE as u32)).map(LocalId).collect();
        let rest = (0..num_masters).step_by(PIECE).map(piece).collect();
        let back = EdgeView::new(partition.in_edges());
        Peeling { rows, back, num_masters, left, rest, next: 0, found: None }
    }

    /// Rows that hold a proxy's edges: of a mirror those to masters.
    pub(super) fn rows_of(&self, proxy: LocalId) -> EdgeRows<'_, ()> {
        if proxy.0 < self.num_masters { self.rows.rows() } else { self.back.rows() }
    }

    /// Notes that a mirror goes at `level`; what was known before.
    pub(super) fn note(&mut self, mirror: LocalId, level: u32) -> u32 {
        std::mem::replace(self.left[mirror.index()].get_mut(), level)
    }

    /// The next level at which anybody here can go.
    pub(super) fn next_level(&mut self) -> Option<u32> {
        self.found = self.find();
        self.found.as_ref().map(|(level, _)| *level)
    }

    /// Lets mirrors go whose levels are noted: at the level that was peeled last, or later ones. Then
    /// peels what is below `cap`; how many edges that took. Calls `settle` with every master that
    /// goes, and the level.
    pub(super) fn peel(
        &mut self,
        mirrors: Vec<LocalId>,
        cap: u32,
        settle: impl Fn(LocalId, u32) + Sync,
    ) -> u64 {
        // Who goes next may be others, because of mirrors.
        let mut found = self.found.take().filter(|_| mirrors.is_empty());
        let level = |mirror: LocalId| self.left[mirror.index()].load(Ordering::Relaxed);
        let (late, early): (Vec<_>, Vec<_>) =
            mirrors.into_iter().partition(|mirror| level(*mirror) < self.next);
        self.rest.push(early);
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

    /// The next level at which anybody goes, and who does; those who went before are forgotten.
    fn find(&mut self) -> Option<(u32, Vec<LocalId>)> {
        let look = |piece: &mut Vec<LocalId>| {
            let (mut least, mut first) = (NEVER, Vec::new());
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
        self.rest.retain(|piece| !piece.is_empty());
        let all: usize = self.rest.iter().map(Vec::len).sum();
        let found: Vec<(u32, Vec<LocalId>)> = match all < FEW {
            true => self.rest.iter_mut().map(look).collect(),
            false => self.rest.par_iter_mut().map(look).collect(),
        };
        let least = found.iter().map(|(least, _)| *least).min().filter(|least| *least < NEVER)?;
        let first = found.into_iter().filter(|(of, _)| *of == least);
        Some((least, first.flat_map(|(_, first)| first).collect()))
    }

    fn layer<F>(&self, level: u32, settle: F) -> Layer<'_, F> {
        let (rows, back, left) = (self.rows.rows(), self.back.rows(), &self.left[..]);
        Layer { level, rows, back, num_masters: self.num_masters, left, settle }
    }
}

/// How to get through a level.
struct Layer<'a, F> {
    level: u32,
    rows: EdgeRows<'a, ()>,
    back: EdgeRows<'a, ()>,
    num_masters: u32,
    left: &'a [AtomicU32],
    settle: F,
}

impl<F: Fn(LocalId, u32) + Sync> Layer<'_, F> {
    /// Lets these go, and everyone who is left with too few because of that.
    fn peel(&self, first: Vec<LocalId>) -> u64 {
        let is_master = |proxy: &LocalId| proxy.0 < self.num_masters;
        let (masters, mirrors) = first.into_iter().partition(is_master);
        self.follow_all(mirrors) + self.follow_all(masters)
    }

    fn follow_all(&self, wave: Vec<LocalId>) -> u64 {
        if wave.len() < FEW_AT_ONCE || rayon::current_num_threads() == 1 {
            return self.follow_alone(wave);
        }
        let pieces = wave.par_chunks(FEW_AT_ONCE / 4).with_max_len(1);
        pieces.map(|piece| self.follow(piece.to_vec())).sum()
    }

    /// While nobody else is at work.
    fn follow_alone(&self, mut wave: Vec<LocalId>) -> u64 {
        let mut edges = 0;
        while !wave.is_empty() {
            let (seen, next) = self.let_go(&wave, |left| {
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

    /// While other threads do the same.
    fn follow(&self, mut wave: Vec<LocalId>) -> u64 {
        let mut edges = 0;
        while !wave.is_empty() {
            let (seen, mut next) = self.let_go(&wave, |left| {
                let one_less = |left: u32| (left > self.level).then(|| left - 1);
                let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
                before.unwrap_or_else(|before| before)
            });
            edges += seen;
            if next.len() > FEW_AT_ONCE {
                let half = next.split_off(next.len() / 2);
                let both = rayon::join(|| self.follow(next), || self.follow(half));
                return edges + both.0 + both.1;
            }
            wave = next;
        }
        edges
    }

    /// Lets all masters or all mirrors of a wave go. Calls `lose` with what each master among their
    /// neighbours has left, which takes one and tells what there was: whoever lost the one that was
    /// just too many is in the next wave. Also counts edges.
    #[inline(always)]
    fn let_go(&self, wave: &[LocalId], lose: impl Fn(&AtomicU32) -> u32) -> (u64, Vec<LocalId>) {
        let (num_masters, left) = (self.num_masters, self.left);
        let goes = wave[0].0 < num_masters;
        let rows = if goes { self.rows } else { self.back };
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
