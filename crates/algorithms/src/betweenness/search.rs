//! Both sweeps of Brandes's algorithm, for up to eight sources at once, one per lane.
//!
//! The *forward sweep* is a breadth-first search. A vertex reached in a round gets the sum of the path
//! counts of its predecessors, and sends its own count along its out-edges in the next round. The
//! *backward sweep* goes level by level from the farthest vertices. A vertex sends
//! `(1 + dependency) / paths` along its in-edges; its own dependency is its number of paths times the
//! sum of these values over its successors. The forward sweep writes destinations and reads sources,
//! the backward sweep writes sources and reads destinations: both use the same routes.
//!
//! Neither sweep stores predecessors. All in-neighbours of an unreached vertex are unreached, or were
//! reached in the last round. In the backward sweep, no predecessor of a vertex has sent anything yet.
//!
//! Each level is pushed or pulled, whichever visits fewer edges: direction-optimising search (Beamer,
//! Asanović, Patterson, SC'12).

use parton_engine::{Conclusion, EdgeView, Engine, EngineInfo, Next, Paced, Tally};
use parton_graph::{LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::lane_field::{Lanes, all_lanes, each_lane};
use parton_sync::{LaneField, Phase, Result, Substrate};

use super::sweep::{Accumulation, Level, MIN_PARALLEL_ITEMS, PROXIES_PER_TASK, Receivers};

/// Brandes's two sweeps, each level in the direction that visits fewer edges.
pub(super) const BRANDES: EngineInfo = EngineInfo {
    name: "brandes",
    about: "counts paths level by level, then sums up backwards, pushing or pulling",
};
/// The same, always pushing.
pub(super) const BRANDES_PUSH: EngineInfo =
    EngineInfo { name: "brandes-push", about: "the same, along out-edges only" };
/// The same, pulling wherever that is possible.
pub(super) const BRANDES_PULL: EngineInfo =
    EngineInfo { name: "brandes-pull", about: "the same, along in-edges" };

/// Pushing along one edge costs as much as pulling along this many.
const PULLED_EDGES_PER_PUSHED: u64 = 2;
/// A pull passes over this many proxies without unreached lanes in the time of one edge.
const IDLE_PROXIES_PER_EDGE: u64 = 16;

/// Several searches on one host.
pub(super) struct Search<'a, const L: usize> {
    partition: &'a Partition,
    engine: EngineInfo,
    out_edges: EdgeView<'a, ()>,
    /// `None` for the engine that only pushes.
    in_edges: Option<EdgeView<'a, ()>>,
    /// Numbers of shortest paths, where they are known.
    paths: LaneField<f64, L>,
    /// Sums that arrive: path counts in the forward sweep, shares of successors in the backward sweep.
    arriving: LaneField<f64, L>,
    /// `(1 + dependency) / paths` of every proxy, sent in the backward sweep.
    shares: LaneField<f64, L>,
    unreached: Unreached,
    /// Proxies by the round in which they were reached.
    levels: Vec<Level>,
    /// Proxies in no level whose values must be reset, too.
    other_touched: Vec<LocalId>,
    /// Lanes in which proxies of the next level receive in the backward sweep; 0 between rounds.
    receiver_lanes: Vec<Lanes>,
    /// Of masters, summed up over all searches so far.
    scores: Vec<f64>,
}

/// The proxies that a forward sweep can still reach.
struct Unreached {
    /// Unreached lanes of every proxy. A mirror that is never read leaves a lane when it contributes.
    lanes: Vec<Lanes>,
    /// In-edges of all proxies with unreached lanes.
    in_edges: u64,
}

impl<'a, const L: usize> Search<'a, L> {
    pub(super) fn new(partition: &'a Partition, engine: &EngineInfo) -> Self {
        let proxies = partition.num_proxies();
        let in_edges = (*engine != BRANDES_PUSH).then(|| EdgeView::new(partition.in_edges()));
        Search {
            partition,
            engine: *engine,
            out_edges: EdgeView::new(partition.out_edges()),
            in_edges,
            paths: LaneField::new(proxies),
            arriving: LaneField::new(proxies),
            shares: LaneField::new(proxies),
            unreached: Unreached {
                lanes: vec![all_lanes(L); proxies],
                in_edges: partition.out_edges().num_edges(),
            },
            levels: Vec::new(),
            other_touched: Vec::new(),
            receiver_lanes: vec![0; proxies],
            scores: vec![0.0; partition.num_masters()],
        }
    }

    /// Scores of masters so far.
    pub(super) fn into_scores(self) -> Vec<f64> {
        self.scores
    }

    /// A forward sweep from these masters, each in its lane.
    pub(super) fn forward_sweep(
        &mut self,
        sources: impl Iterator<Item = (usize, LocalId)>,
    ) -> ForwardSweep<'_, 'a, L> {
        self.reset();
        for (lane, source) in sources {
            self.paths.rows_mut()[source.index()][lane] = 1.0;
            self.paths.update(source, 1 << lane);
        }
        let mut reached = Level::default();
        for source in self.paths.updated().iter_range(0..self.scores.len() as u32) {
            let row = &self.paths.rows()[source.index()];
            let lanes = (0..L).fold(0, |all, lane| all | Lanes::from(row[lane] > 0.0) << lane);
            reached.push(source, lanes);
        }
        self.mark_reached(&reached);
        ForwardSweep { search: self, reached, overflows: false }
    }

    /// The backward sweep over the levels of the last forward sweep.
    pub(super) fn backward_sweep(&mut self) -> BackwardSweep<'_, 'a, L> {
        let farthest = self.levels.len() - 1;
        let mut sweep = BackwardSweep { search: self, level: farthest, senders: Level::default() };
        sweep.accumulate_level(farthest);
        sweep
    }

    /// Number of edges between the sources and the vertices farthest from them.
    pub(super) fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Resets all values, one by one where the last searches touched few proxies.
    fn reset(&mut self) {
        let touched: usize =
            self.levels.iter().map(Level::len).sum::<usize>() + self.other_touched.len();
        if touched > self.unreached.lanes.len() / 8 {
            self.paths.clear();
            self.shares.clear();
            self.unreached.lanes.fill(all_lanes(L));
        } else {
            let touched =
                self.levels.iter().flat_map(|level| &level.vertices).chain(&self.other_touched);
            for proxy in touched.map(|proxy| proxy.index()) {
                self.paths.rows_mut()[proxy] = [0.0; L];
                self.shares.rows_mut()[proxy] = [0.0; L];
                self.unreached.lanes[proxy] = all_lanes(L);
            }
        }
        self.unreached.in_edges = self.partition.out_edges().num_edges();
        self.levels.clear();
        self.other_touched.clear();
    }

    /// These proxies cannot be reached any more, in these lanes.
    fn mark_reached(&mut self, reached: &Level) {
        let rows = self.in_edges.as_ref().map(EdgeView::rows);
        for (proxy, lanes) in reached.iter() {
            let left = &mut self.unreached.lanes[proxy.index()];
            let was = *left;
            *left &= !lanes;
            if let Some(rows) = rows.filter(|_| was != 0 && *left == 0) {
                self.unreached.in_edges -= rows.degree(proxy);
            }
        }
    }
}

/// The forward sweep: numbers of shortest paths, level by level.
pub(super) struct ForwardSweep<'s, 'a, const L: usize> {
    search: &'s mut Search<'a, L>,
    /// Masters that were reached in this round.
    reached: Level,
    /// Whether some number of paths is too large.
    overflows: bool,
}

impl<const L: usize> ForwardSweep<'_, '_, L> {
    /// Whether there are more shortest paths to some vertex than a double can count.
    pub(super) fn overflows(&self) -> bool {
        self.overflows
    }
}

impl<const L: usize> Engine for ForwardSweep<'_, '_, L> {
    fn compute(&mut self) -> Result<u64> {
        let search = &mut *self.search;
        let Some(frontier) = search.levels.last().filter(|level| !level.is_empty()) else {
            return Ok(0);
        };
        let out = search.out_edges.rows();
        let values = search.paths.rows();
        let into = search.arriving.parts();
        let to_push = frontier.edges(out);
        let to_pull =
            search.unreached.in_edges + search.unreached.lanes.len() as u64 / IDLE_PROXIES_PER_EDGE;
        let edges = match &search.in_edges {
            Some(in_edges)
                if search.engine == BRANDES_PULL || to_pull < PULLED_EDGES_PER_PUSHED * to_push =>
            {
                let accumulation = Accumulation { rows: in_edges.rows(), values };
                let receivers = Receivers::Lanes(&search.unreached.lanes);
                accumulation.pull(
                    receivers,
                    search.unreached.in_edges.max(MIN_PARALLEL_ITEMS),
                    into,
                );
                search.unreached.in_edges
            }
            _ => {
                Accumulation { rows: out, values }.push(
                    frontier,
                    to_push,
                    &search.unreached.lanes,
                    into,
                );
                to_push
            }
        };
        // A mirror with a contribution is reached: later contributions would be redundant.
        let masters = search.scores.len() as u32;
        let mirrors = masters..search.unreached.lanes.len() as u32;
        let mut written = Level::default();
        for mirror in search.arriving.updated().iter_range(mirrors) {
            written.push(mirror, search.arriving.lanes_of(mirror));
        }
        search.mark_reached(&written);
        search.other_touched.extend(written.vertices);
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.search.arriving, End::Destination),
            Phase::Broadcast => substrate.broadcast(&mut self.search.paths, End::Source),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        let search = &mut *self.search;
        let masters = search.scores.len();
        let is_shared = search.partition.num_hosts() > 1;
        let many = search.arriving.updated().len() as u64 >= MIN_PARALLEL_ITEMS;
        let arriving = search.arriving.parts();
        let paths = search.paths.parts();
        let unreached = &search.unreached.lanes;
        let piece_len = if many { PROXIES_PER_TASK } else { masters.max(1) };
        let sums = arriving.rows[..masters].chunks_mut(piece_len);
        let lanes = arriving.lanes[..masters].chunks_mut(piece_len);
        let new = paths.rows[..masters].chunks_mut(piece_len);
        let new_lanes = paths.lanes[..masters].chunks_mut(piece_len);
        let pieces = sums.zip(lanes).zip(new.zip(new_lanes));
        let take_in = |piece: usize, ((sums, lanes), (new, new_lanes)): (_, _)| {
            let (sums, lanes): (&mut [[f64; L]], &mut [Lanes]) = (sums, lanes);
            let (new, new_lanes): (&mut [[f64; L]], &mut [Lanes]) = (new, new_lanes);
            let first = (piece * piece_len) as u32;
            let (mut reached, mut overflows) = (Level::default(), false);
            for master in arriving.updated.iter_range(first..first + sums.len() as u32) {
                let at = (master.0 - first) as usize;
                let fresh = std::mem::take(&mut lanes[at]) & unreached[master.index()];
                let sums = std::mem::replace(&mut sums[at], [0.0; L]);
                if fresh == 0 {
                    continue;
                }
                for lane in each_lane(fresh) {
                    new[at][lane] = sums[lane];
                    overflows |= sums[lane].is_infinite();
                }
                if is_shared {
                    new_lanes[at] |= fresh;
                    paths.updated.insert(master);
                }
                reached.push(master, fresh);
            }
            (reached, overflows)
        };
        let (reached, overflows): (Vec<Level>, Vec<bool>) =
            parallel::map_owned(pieces, take_in).into_iter().unzip();
        search.arriving.updated().remove_range(0..masters as u32);
        self.reached = Level::concat(reached);
        let overflows = f64::from(u8::from(overflows.contains(&true)));
        search.mark_reached(&self.reached);
        let changed = self.reached.len() as u64;
        Ok(Tally { changed, ..Tally::of_sum(overflows) })
    }

    fn next(&mut self) -> Result<Next> {
        let mut arrived = Level::default();
        self.search
            .paths
            .take_received()
            .into_iter()
            .for_each(|(mirror, l)| arrived.push(mirror, l));
        self.search.mark_reached(&arrived);
        let mut level = std::mem::take(&mut self.reached);
        arrived.iter().for_each(|(mirror, lanes)| level.push(mirror, lanes));
        level.sort();
        let is_active = !level.is_empty();
        self.search.levels.push(level);
        Ok(Next::new(is_active))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err(super::NEEDS_ROUNDS)
    }

    fn conclude(&mut self, total: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        self.overflows = total.sums[0] > 0.0;
        let has_ended = total.active == 0 || self.overflows;
        if has_ended {
            // The last round reached no vertex on any host.
            self.search.levels.pop();
        }
        Ok(Conclusion::new(has_ended))
    }
}

/// The backward sweep: how many of the shortest paths depend on a vertex.
pub(super) struct BackwardSweep<'s, 'a, const L: usize> {
    search: &'s mut Search<'a, L>,
    /// The level that sent last.
    level: usize,
    /// Proxies of that level that send in this round.
    senders: Level,
}

impl<const L: usize> BackwardSweep<'_, '_, L> {
    /// Adds what arrived to the scores of a level's masters, and sets the shares they send.
    fn accumulate_level(&mut self, level: usize) {
        let search = &mut *self.search;
        let masters = search.scores.len();
        let is_shared = search.partition.num_hosts() > 1;
        let members = &search.levels[level];
        let (paths, arriving) = (search.paths.rows(), search.arriving.parts());
        let shares = search.shares.parts();
        let piece_len = if members.len() as u64 >= MIN_PARALLEL_ITEMS {
            PROXIES_PER_TASK
        } else {
            masters.max(1)
        };
        let scores = search.scores.chunks_mut(piece_len);
        let sums = arriving.rows[..masters].chunks_mut(piece_len);
        let lanes = arriving.lanes[..masters].chunks_mut(piece_len);
        let new = shares.rows[..masters].chunks_mut(piece_len);
        let new_lanes = shares.lanes[..masters].chunks_mut(piece_len);
        let pieces = scores.zip(sums.zip(lanes)).zip(new.zip(new_lanes));
        parallel::for_each_owned(pieces, |piece, ((scores, (sums, lanes)), (new, new_lanes))| {
            let first = (piece * piece_len) as u32;
            let here = members.within(first..first + scores.len() as u32);
            for (&master, &of) in here.vertices.iter().zip(here.lanes) {
                let at = (master.0 - first) as usize;
                lanes[at] = 0;
                let sums = std::mem::replace(&mut sums[at], [0.0; L]);
                for lane in each_lane(of) {
                    let paths = paths[master.index()][lane];
                    let dependency = paths * sums[lane];
                    scores[at] += dependency;
                    new[at][lane] = (1.0 + dependency) / paths;
                }
                if is_shared {
                    new_lanes[at] |= of;
                    shares.updated.insert(master);
                }
            }
        });
        search.arriving.updated().remove_range(0..masters as u32);
        self.level = level;
    }
}

impl<const L: usize> Engine for BackwardSweep<'_, '_, L> {
    fn compute(&mut self) -> Result<u64> {
        let search = &mut *self.search;
        let receivers = &search.levels[self.level - 1];
        let (out, values) = (search.out_edges.rows(), search.shares.rows());
        let into = search.arriving.parts();
        let to_pull = receivers.edges(out);
        let in_edges = search.in_edges.as_ref().filter(|_| search.engine == BRANDES);
        let in_edges = in_edges.map(EdgeView::rows);
        let to_push = in_edges.map_or(u64::MAX, |rows| self.senders.edges(rows));
        let edges = match in_edges {
            Some(rows) if to_push.saturating_mul(PULLED_EDGES_PER_PUSHED) < to_pull => {
                for (proxy, lanes) in receivers.iter() {
                    search.receiver_lanes[proxy.index()] = lanes;
                }
                Accumulation { rows, values }.push(
                    &self.senders,
                    to_push,
                    &search.receiver_lanes,
                    into,
                );
                receivers
                    .vertices
                    .iter()
                    .for_each(|proxy| search.receiver_lanes[proxy.index()] = 0);
                to_push
            }
            _ => {
                Accumulation { rows: out, values }.pull(Receivers::Level(receivers), to_pull, into);
                to_pull
            }
        };
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.search.arriving, End::Source),
            Phase::Broadcast => substrate.broadcast(&mut self.search.shares, End::Destination),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        let level = self.level - 1;
        self.accumulate_level(level);
        let masters = self.search.scores.len() as u32;
        let changed = self.search.levels[level].within(0..masters).vertices.len() as u64;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        let search = &mut *self.search;
        let masters = search.levels[self.level].within(0..search.scores.len() as u32);
        self.senders.vertices = masters.vertices.to_vec();
        self.senders.lanes = masters.lanes.to_vec();
        for (mirror, lanes) in search.shares.take_received() {
            self.senders.push(mirror, lanes);
            search.other_touched.push(mirror);
        }
        Ok(Next::new(self.level > 1))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err(super::NEEDS_ROUNDS)
    }

    fn conclude(&mut self, _: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        // The dependencies of the sources themselves are not part of any score.
        Ok(Conclusion::new(self.level <= 1))
    }
}
