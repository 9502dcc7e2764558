//! Sums of rows of numbers along edges, one number per search: the inner loop of both sweeps.
//!
//! Sums of doubles are rounded, so the order of additions must not depend on threads. In a pull, a
//! proxy adds along its edges in turn. In a push, contributions are first grouped by target
//! (propagation blocking: Beamer, Asanović, Patterson, IPDPS'17), and one thread adds up each group.

use std::ops::Range;

use parton_engine::EdgeRows;
use parton_graph::{LocalId, VertexSet, parallel, prefetch};
use parton_sync::lane_field::{LaneArrays, Lanes};

/// Several threads are faster from this many edges or vertices on.
pub(super) const MIN_PARALLEL_ITEMS: u64 = 1 << 11;
/// Proxies per task of a thread.
pub(super) const PROXIES_PER_TASK: usize = 1 << 12;
/// Edges whose contributions are grouped before they are added.
const EDGES_PER_BATCH: u64 = 1 << 20;
/// Edges that one task groups.
const EDGES_PER_PART: u64 = 1 << 15;
/// Groups of target proxies; one thread adds up each.
const NUM_TARGET_GROUPS: usize = 64;

/// Proxies, each with the lanes of the searches that reached it.
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

    /// Sorts the level by proxy.
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

    /// The members of a sorted level in a range of proxies.
    pub(super) fn within(&self, range: Range<u32>) -> LevelPart<'_> {
        let before = |end: u32| self.vertices.partition_point(|vertex| vertex.0 < end);
        let places = before(range.start)..before(range.end);
        LevelPart { vertices: &self.vertices[places.clone()], lanes: &self.lanes[places] }
    }

    /// Joins the pieces of all threads, in order.
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
        match (self.len() as u64) < MIN_PARALLEL_ITEMS {
            true => self.vertices.iter().enumerate().map(degree).sum(),
            false => parallel::sum(self.len(), |place| degree((place, &self.vertices[place]))),
        }
    }
}

/// Some consecutive members of a [`Level`].
#[derive(Clone, Copy)]
pub(super) struct LevelPart<'l> {
    pub(super) vertices: &'l [LocalId],
    pub(super) lanes: &'l [Lanes],
}

/// The proxies that pull, each with its lanes.
#[derive(Clone, Copy)]
pub(super) enum Receivers<'l> {
    /// The members of a sorted level.
    Level(&'l Level),
    /// All proxies with a lane set.
    Lanes(&'l [Lanes]),
}

impl Receivers<'_> {
    /// Calls `visit` with the receivers in a range.
    fn within<R>(self, range: Range<u32>, visit: impl FnOnce(LevelPart<'_>) -> R) -> R {
        match self {
            Receivers::Level(level) => visit(level.within(range)),
            Receivers::Lanes(wanted_lanes) => {
                let mut level = Level::default();
                for proxy in range.filter(|&proxy| wanted_lanes[proxy as usize] != 0) {
                    level.push(LocalId(proxy), wanted_lanes[proxy as usize]);
                }
                visit(level.within(0..u32::MAX))
            }
        }
    }
}

/// Values to add up along edges.
#[derive(Clone, Copy)]
pub(super) struct Accumulation<'t, const L: usize> {
    pub(super) rows: EdgeRows<'t, ()>,
    /// The value of every proxy; 0 in lanes in which it does not send in this round.
    pub(super) values: &'t [[f64; L]],
}

/// Consecutive proxies whose sums one thread computes.
struct Piece<'p, const L: usize> {
    first: u32,
    sums: &'p mut [[f64; L]],
    lanes: &'p mut [Lanes],
}

impl<const L: usize> Piece<'_, L> {
    /// Adds to some lanes of a proxy. Returns whether this is its first contribution.
    #[inline(always)]
    fn add(&mut self, proxy: LocalId, lanes: Lanes, row: &[f64; L]) -> bool {
        let place = (proxy.0 - self.first) as usize;
        let sums = &mut self.sums[place];
        for lane in 0..L {
            // Adding 0 to the other lanes avoids a branch.
            let value = if lanes >> lane & 1 == 1 { row[lane] } else { 0.0 };
            sums[lane] += value;
        }
        let before = self.lanes[place];
        self.lanes[place] = before | lanes;
        before == 0
    }
}

impl<const L: usize> Accumulation<'_, L> {
    /// Adds the values of `from` to all their neighbours, in the lanes that these want.
    pub(super) fn push(
        self,
        from: &Level,
        edges: u64,
        wanted_lanes: &[Lanes],
        into: LaneArrays<'_, f64, L>,
    ) {
        let LaneArrays { rows: sums, lanes, updated } = into;
        if edges < MIN_PARALLEL_ITEMS {
            let mut all = Piece { first: 0, sums, lanes };
            for (vertex, lanes) in from.iter() {
                let row = &self.values[vertex.index()];
                for &target in self.rows.targets(vertex) {
                    let shared_lanes = lanes & wanted_lanes[target.index()];
                    if shared_lanes != 0 && all.add(target, shared_lanes, row) {
                        updated.insert_alone(target);
                    }
                }
            }
            return;
        }
        let per_group = sums.len().div_ceil(NUM_TARGET_GROUPS).next_multiple_of(64);
        for batch in self.cut(from, 0..from.len(), EDGES_PER_BATCH) {
            let parts: Vec<_> = self.cut(from, batch, EDGES_PER_PART).collect();
            let sorted = parallel::map(&parts, |part| {
                self.sort(from, part.clone(), wanted_lanes, per_group)
            });
            let pieces = sums.chunks_mut(per_group).zip(lanes.chunks_mut(per_group));
            parallel::for_each_owned(pieces, |group, (sums, lanes)| {
                let mut piece = Piece { first: (group * per_group) as u32, sums, lanes };
                for part in &sorted {
                    let pairs = &part[group];
                    for (at, &(target, place)) in pairs.iter().enumerate() {
                        if let Some(&(later, source)) = pairs.get(at + 8) {
                            prefetch(piece.sums, (later.0 - piece.first) as usize);
                            prefetch(self.values, from.vertices[source as usize].index());
                        }
                        let shared_lanes =
                            from.lanes[place as usize] & wanted_lanes[target.index()];
                        let row = &self.values[from.vertices[place as usize].index()];
                        if piece.add(target, shared_lanes, row) {
                            updated.insert(target);
                        }
                    }
                }
            });
        }
    }

    /// Groups the edges of a part by target: pairs of a target and the place of its sender.
    fn sort(
        self,
        from: &Level,
        part: Range<usize>,
        wanted_lanes: &[Lanes],
        per_group: usize,
    ) -> Vec<Vec<(LocalId, u32)>> {
        let mut groups = vec![Vec::new(); NUM_TARGET_GROUPS];
        for place in part {
            self.rows.prepare(&from.vertices, place, |end| prefetch(wanted_lanes, end.index()));
            let lanes = from.lanes[place];
            let soon = |end: LocalId| prefetch(wanted_lanes, end.index());
            self.rows.each(from.vertices[place], soon, |target, ()| {
                if lanes & wanted_lanes[target.index()] != 0 {
                    groups[target.index() / per_group].push((target, place as u32));
                }
            });
        }
        groups
    }

    /// Cuts a level into consecutive parts of about `edges` edges.
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

    /// Sums up the values of all neighbours of every receiver.
    pub(super) fn pull(self, receivers: Receivers<'_>, edges: u64, into: LaneArrays<'_, f64, L>) {
        let LaneArrays { rows: sums, lanes, updated } = into;
        if edges < MIN_PARALLEL_ITEMS {
            let all = 0..sums.len() as u32;
            let piece = Piece { first: 0, sums, lanes };
            return receivers.within(all, |level| self.collect(level, piece, updated));
        }
        let pieces = sums.chunks_mut(PROXIES_PER_TASK).zip(lanes.chunks_mut(PROXIES_PER_TASK));
        parallel::for_each_owned(pieces, |piece, (sums, lanes)| {
            let first = (piece * PROXIES_PER_TASK) as u32;
            let range = first..first + sums.len() as u32;
            let piece = Piece { first, sums, lanes };
            receivers.within(range, |level| self.collect(level, piece, updated));
        });
    }

    /// Sums up for the receivers of one piece, in turn.
    fn collect(self, receivers: LevelPart<'_>, piece: Piece<'_, L>, updated: &VertexSet) {
        let soon = |end: LocalId| prefetch(self.values, end.index());
        for (place, &proxy) in receivers.vertices.iter().enumerate() {
            self.rows.prepare(receivers.vertices, place, soon);
            let mut sum = [0.0; L];
            self.rows.each(proxy, soon, |neighbour, ()| {
                let row = &self.values[neighbour.index()];
                for lane in 0..L {
                    sum[lane] += row[lane];
                }
            });
            let (wanted_lanes, mut got) = (receivers.lanes[place], 0);
            for (lane, value) in sum.iter_mut().enumerate() {
                if wanted_lanes >> lane & 1 == 0 {
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
