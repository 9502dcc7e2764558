//! Adding up rows of numbers along edges, for several searches at once: the heart of both sweeps.
//!
//! Sums of doubles are rounded, so they are made in an order that does not depend on threads: a
//! proxy collects along its edges in turn, or what is pushed is sorted by groups of proxies first,
//! and each group is delivered by one thread.

use std::ops::Range;

use parton_engine::EdgeRows;
use parton_graph::{LocalId, VertexSet, prefetch};
use parton_sync::lane_field::{LaneArrays, Lanes};
use rayon::prelude::*;

/// Below so many edges or vertices threads cost more than they bring.
pub(super) const FEW: u64 = 1 << 11;
/// Proxies that a thread takes at a time.
pub(super) const PIECE: usize = 1 << 12;
/// Edges whose contributions wait to be delivered at a time.
const EDGES_PER_BATCH: u64 = 1 << 20;
/// Edges of one part of a batch.
const EDGES_PER_PART: u64 = 1 << 15;
/// Groups of proxies that threads deliver to at the same time.
const GROUPS: usize = 64;

/// Proxies, and the searches in which they are meant.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) vertices: Vec<LocalId>,
    pub(super) lanes: Vec<Lanes>,
}

impl Level {
    pub(super) fn push(&mut self, vertex: LocalId, lanes: Lanes) {
        self.vertices.push(vertex);
        self.lanes.push(lanes);
    }

    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Puts what was added in any order into that of ids.
    pub(super) fn sort(&mut self) {
        if !self.vertices.is_sorted() {
            let mut all: Vec<_> = self.iter().collect();
            all.sort_unstable_by_key(|(vertex, _)| *vertex);
            (self.vertices, self.lanes) = all.into_iter().unzip();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (LocalId, Lanes)> + '_ {
        self.vertices.iter().copied().zip(self.lanes.iter().copied())
    }

    /// Those of a level in ascending order that lie in a range.
    pub(super) fn within(&self, range: Range<u32>) -> LevelPart<'_> {
        let before = |end: u32| self.vertices.partition_point(|vertex| vertex.0 < end);
        let places = before(range.start)..before(range.end);
        LevelPart { vertices: &self.vertices[places.clone()], lanes: &self.lanes[places] }
    }

    /// One level of the pieces of all threads, in their order.
    pub(super) fn concat(pieces: Vec<Level>) -> Level {
        let mut all = Level::default();
        let count = pieces.iter().map(Level::len).sum();
        all.vertices.reserve_exact(count);
        all.lanes.reserve_exact(count);
        for piece in pieces {
            all.vertices.extend(piece.vertices);
            all.lanes.extend(piece.lanes);
        }
        all
    }

    /// Number of edges of all its vertices.
    pub(super) fn edges(&self, rows: EdgeRows<'_, ()>) -> u64 {
        let degree = |(place, &vertex): (usize, &LocalId)| {
            if let Some(&later) = self.vertices.get(place + 16) {
                rows.prefetch_offset(later);
            }
            rows.degree(vertex)
        };
        match (self.len() as u64) < FEW {
            true => self.vertices.iter().enumerate().map(degree).sum(),
            false => self.vertices.par_iter().enumerate().with_min_len(PIECE).map(degree).sum(),
        }
    }
}

/// Some consecutive members of a [`Level`].
#[derive(Clone, Copy)]
pub(super) struct LevelPart<'l> {
    pub(super) vertices: &'l [LocalId],
    pub(super) lanes: &'l [Lanes],
}

/// Who collects, and in which lanes.
#[derive(Clone, Copy)]
pub(super) enum Listening<'l> {
    /// These, in ascending order.
    Level(&'l Level),
    /// All proxies that want anything.
    Wanting(&'l [Lanes]),
}

impl Listening<'_> {
    /// Calls `visit` with those in a range.
    fn within<R>(self, range: Range<u32>, visit: impl FnOnce(LevelPart<'_>) -> R) -> R {
        match self {
            Listening::Level(level) => visit(level.within(range)),
            Listening::Wanting(wanted) => {
                let mut level = Level::default();
                for proxy in range.filter(|&proxy| wanted[proxy as usize] != 0) {
                    level.push(LocalId(proxy), wanted[proxy as usize]);
                }
                visit(level.within(0..u32::MAX))
            }
        }
    }
}

/// What is told, and along which edges.
#[derive(Clone, Copy)]
pub(super) struct Telling<'t, const L: usize> {
    pub(super) rows: EdgeRows<'t, ()>,
    /// What every proxy has to tell; nothing where it is not its turn.
    pub(super) told: &'t [[f64; L]],
}

/// Consecutive proxies that sums are made for, by one thread.
struct Piece<'p, const L: usize> {
    first: u32,
    sums: &'p mut [[f64; L]],
    lanes: &'p mut [Lanes],
}

impl<const L: usize> Piece<'_, L> {
    /// Adds to some lanes of a proxy; whether it has got nothing before.
    #[inline(always)]
    fn add(&mut self, proxy: LocalId, lanes: Lanes, row: &[f64; L]) -> bool {
        let place = (proxy.0 - self.first) as usize;
        let sums = &mut self.sums[place];
        for lane in 0..L {
            // What is not for it is nothing.
            let value = if lanes >> lane & 1 == 1 { row[lane] } else { 0.0 };
            sums[lane] += value;
        }
        let before = self.lanes[place];
        self.lanes[place] = before | lanes;
        before == 0
    }
}

impl<const L: usize> Telling<'_, L> {
    /// Lets some proxies tell all their neighbours, who listen in the lanes they want.
    pub(super) fn push(
        self,
        from: &Level,
        edges: u64,
        wanted: &[Lanes],
        into: LaneArrays<'_, f64, L>,
    ) {
        let LaneArrays { rows: sums, lanes, updated } = into;
        if edges < FEW {
            let mut all = Piece { first: 0, sums, lanes };
            for (vertex, lanes) in from.iter() {
                let row = &self.told[vertex.index()];
                for &target in self.rows.targets(vertex) {
                    let heard = lanes & wanted[target.index()];
                    if heard != 0 && all.add(target, heard, row) {
                        updated.insert_alone(target);
                    }
                }
            }
            return;
        }
        let per_group = sums.len().div_ceil(GROUPS).next_multiple_of(64);
        for batch in self.cut(from, 0..from.len(), EDGES_PER_BATCH) {
            let parts: Vec<_> = self.cut(from, batch, EDGES_PER_PART).collect();
            let sort = |part: Range<usize>| self.sort(from, part, wanted, per_group);
            let sorted: Vec<_> = parts.into_par_iter().map(sort).collect();
            let pieces = sums.par_chunks_mut(per_group).zip(lanes.par_chunks_mut(per_group));
            pieces.enumerate().with_max_len(1).for_each(|(group, (sums, lanes))| {
                let mut piece = Piece { first: (group * per_group) as u32, sums, lanes };
                for part in &sorted {
                    let pairs = &part[group];
                    for (at, &(target, place)) in pairs.iter().enumerate() {
                        if let Some(&(later, source)) = pairs.get(at + 8) {
                            prefetch(piece.sums, (later.0 - piece.first) as usize);
                            prefetch(self.told, from.vertices[source as usize].index());
                        }
                        let heard = from.lanes[place as usize] & wanted[target.index()];
                        let row = &self.told[from.vertices[place as usize].index()];
                        if piece.add(target, heard, row) {
                            updated.insert(target);
                        }
                    }
                }
            });
        }
    }

    /// Who is told by whom, by groups of who is.
    fn sort(
        self,
        from: &Level,
        part: Range<usize>,
        wanted: &[Lanes],
        per_group: usize,
    ) -> Vec<Vec<(LocalId, u32)>> {
        let mut groups = vec![Vec::new(); GROUPS];
        for place in part {
            self.rows.prepare(&from.vertices, place, |end| prefetch(wanted, end.index()));
            let lanes = from.lanes[place];
            let soon = |end: LocalId| prefetch(wanted, end.index());
            self.rows.each(from.vertices[place], soon, |target, ()| {
                if lanes & wanted[target.index()] != 0 {
                    groups[target.index() / per_group].push((target, place as u32));
                }
            });
        }
        groups
    }

    /// Consecutive parts of a level with about so many edges each.
    fn cut<'f>(
        self,
        from: &'f Level,
        places: Range<usize>,
        edges: u64,
    ) -> impl Iterator<Item = Range<usize>> + 'f
    where
        Self: 'f,
    {
        let (mut start, end) = (places.start, places.end);
        std::iter::from_fn(move || {
            let (mut sum, first) = (0, start);
            while start < end && sum < edges {
                sum += self.rows.degree(from.vertices[start]);
                start += 1;
            }
            (first < start).then_some(first..start)
        })
    }

    /// Lets proxies collect from all their neighbours.
    pub(super) fn pull(self, listening: Listening<'_>, edges: u64, into: LaneArrays<'_, f64, L>) {
        let LaneArrays { rows: sums, lanes, updated } = into;
        if edges < FEW {
            let all = 0..sums.len() as u32;
            let piece = Piece { first: 0, sums, lanes };
            return listening.within(all, |level| self.collect(level, piece, updated));
        }
        let pieces = sums.par_chunks_mut(PIECE).zip(lanes.par_chunks_mut(PIECE)).enumerate();
        pieces.with_max_len(1).for_each(|(piece, (sums, lanes))| {
            let first = (piece * PIECE) as u32;
            let range = first..first + sums.len() as u32;
            let piece = Piece { first, sums, lanes };
            listening.within(range, |level| self.collect(level, piece, updated));
        });
    }

    /// Lets the proxies of a piece collect, in turn.
    fn collect(self, listening: LevelPart<'_>, piece: Piece<'_, L>, updated: &VertexSet) {
        let soon = |end: LocalId| prefetch(self.told, end.index());
        for (place, &proxy) in listening.vertices.iter().enumerate() {
            self.rows.prepare(listening.vertices, place, soon);
            let mut sum = [0.0; L];
            self.rows.each(proxy, soon, |neighbour, ()| {
                let row = &self.told[neighbour.index()];
                for lane in 0..L {
                    sum[lane] += row[lane];
                }
            });
            let (wanted, mut got) = (listening.lanes[place], 0);
            for (lane, value) in sum.iter_mut().enumerate() {
                if wanted >> lane & 1 == 0 {
                    *value = 0.0;
                }
                got |= Lanes::from(*value != 0.0) << lane;
            }
            if got != 0 {
                let at = (proxy.0 - piece.first) as usize;
                piece.sums[at] = sum;
                piece.lanes[at] = got;
                updated.insert(proxy);
            }
        }
    }
}
