//! Up to eight searches at once, forth and back: what they need per proxy, and both sweeps.
//!
//! *Forth*, a vertex that is reached in a round gets the sum of the path counts of those that
//! reach it; whoever has a count tells it along its out-edges in the next round. *Back*, level by
//! level from the farthest, a vertex tells `(1 + dependency) / paths` along its in-edges, and its
//! own dependency is its number of paths times the sum of what its successors tell. What was written
//! at destinations and read at sources is now written at sources and read at destinations: the same
//! routes, the other way.
//!
//! Neither sweep needs to know whose successor a neighbour is. A vertex that is not reached has
//! only neighbours that are not, or were in the last round; and on the way back, no vertex before
//! it has told anything yet.

use parton_engine::{Conclusion, EdgeView, Engine, EngineInfo, Next, Paced, Tally};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::lane_field::{Lanes, all_lanes, each_lane};
use parton_sync::{LaneField, Phase, Result, Substrate};
use rayon::prelude::*;

use super::sweep::{FEW, Level, Listening, PIECE, Telling};

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

/// To collect along an edge takes about as long as to be told along so many.
const EDGES_PER_TOLD: u64 = 2;
/// A proxy that wants nothing costs an edge in so many of those who let all proxies collect.
const PROXIES_PER_EDGE: u64 = 16;

/// Several searches on one host.
pub(super) struct Search<'a, const L: usize> {
    partition: &'a Partition,
    engine: EngineInfo,
    out_edges: EdgeView<'a, ()>,
    /// Where anybody collects along them.
    in_edges: Option<EdgeView<'a, ()>>,
    /// Numbers of shortest paths, where they are known.
    paths: LaneField<f64, L>,
    /// What comes in: path counts on the way forth, what successors tell on the way back.
    arriving: LaneField<f64, L>,
    /// What is told on the way back.
    shares: LaneField<f64, L>,
    /// Lanes in which a proxy can still be reached: on a mirror that nobody reads, those in which
    /// it has not yet contributed.
    unreached: Vec<Lanes>,
    /// In-edges of proxies that can still be reached.
    open_edges: u64,
    /// Proxies by the round in which they were reached.
    levels: Vec<Level>,
    /// Proxies in no level of which something has changed.
    others: Vec<LocalId>,
    /// On the way back, lanes in which proxies of the next level listen; nothing between rounds.
    listens: Vec<Lanes>,
    /// Of masters, summed up over all searches so far.
    scores: Vec<f64>,
}

impl<'a, const L: usize> Search<'a, L> {
    pub(super) fn new(partition: &'a Partition, engine: &EngineInfo) -> Self {
        let proxies = partition.num_proxies();
        let in_edges = (*engine != BRANDES_PUSH).then(|| EdgeView::new(partition.in_edges()));
        Search {
            partition,
            engine: *engine,
            out_edges: EdgeView::new(partition.out_edges()),
            open_edges: partition.out_edges().num_edges(),
            in_edges,
            paths: LaneField::new(proxies),
            arriving: LaneField::new(proxies),
            shares: LaneField::new(proxies),
            unreached: vec![all_lanes(L); proxies],
            levels: Vec::new(),
            others: Vec::new(),
            listens: vec![0; proxies],
            scores: vec![0.0; partition.num_masters()],
        }
    }

    /// Scores of masters so far.
    pub(super) fn into_scores(self) -> Vec<f64> {
        self.scores
    }

    /// The way forth from these masters, each in its lane.
    pub(super) fn forth(
        &mut self,
        sources: impl Iterator<Item = (usize, LocalId)>,
    ) -> Forth<'_, 'a, L> {
        self.forget();
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
        self.close(&reached);
        Forth { search: self, reached, overflows: false }
    }

    /// The way back.
    pub(super) fn back(&mut self) -> Back<'_, 'a, L> {
        let farthest = self.levels.len() - 1;
        let mut back = Back { search: self, level: farthest, telling: Level::default() };
        back.tell(farthest);
        back
    }

    /// Number of edges between the sources and what is farthest from them.
    pub(super) fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Makes everything as it was before the searches.
    fn forget(&mut self) {
        let listed: usize = self.levels.iter().map(Level::len).sum::<usize>() + self.others.len();
        if listed > self.unreached.len() / 8 {
            self.paths.clear();
            self.shares.clear();
            self.unreached.par_iter_mut().for_each(|lanes| *lanes = all_lanes(L));
        } else {
            let listed = self.levels.iter().flat_map(|level| &level.vertices).chain(&self.others);
            for proxy in listed.map(|proxy| proxy.index()) {
                self.paths.rows_mut()[proxy] = [0.0; L];
                self.shares.rows_mut()[proxy] = [0.0; L];
                self.unreached[proxy] = all_lanes(L);
            }
        }
        self.open_edges = self.partition.out_edges().num_edges();
        self.levels.clear();
        self.others.clear();
    }

    /// These proxies cannot be reached any more, in these lanes.
    fn close(&mut self, reached: &Level) {
        let rows = self.in_edges.as_ref().map(EdgeView::rows);
        for (proxy, lanes) in reached.iter() {
            let left = &mut self.unreached[proxy.index()];
            let was = *left;
            *left &= !lanes;
            if let Some(rows) = rows.filter(|_| was != 0 && *left == 0) {
                self.open_edges -= rows.degree(proxy);
            }
        }
    }
}

/// The way forth: numbers of shortest paths, level by level.
pub(super) struct Forth<'s, 'a, const L: usize> {
    search: &'s mut Search<'a, L>,
    /// Masters that were reached in this round.
    reached: Level,
    /// Whether some number of paths is too large.
    overflows: bool,
}

impl<const L: usize> Forth<'_, '_, L> {
    /// Whether there are more shortest paths to some vertex than a double can count.
    pub(super) fn overflows(&self) -> bool {
        self.overflows
    }
}

impl<const L: usize> Engine for Forth<'_, '_, L> {
    fn compute(&mut self) -> Result<u64> {
        let search = &mut *self.search;
        let Some(frontier) = search.levels.last().filter(|level| !level.is_empty()) else {
            return Ok(0);
        };
        let out = search.out_edges.rows();
        let told = search.paths.rows();
        let into = search.arriving.parts();
        let to_push = frontier.edges(out);
        let to_pull = search.open_edges + search.unreached.len() as u64 / PROXIES_PER_EDGE;
        let edges = match &search.in_edges {
            Some(back) if search.engine == BRANDES_PULL || to_pull < EDGES_PER_TOLD * to_push => {
                let telling = Telling { rows: back.rows(), told };
                let listening = Listening::Wanting(&search.unreached);
                telling.pull(listening, search.open_edges.max(FEW), into);
                search.open_edges
            }
            _ => {
                Telling { rows: out, told }.push(frontier, to_push, &search.unreached, into);
                to_push
            }
        };
        // A mirror that has contributed has been reached, and needs not contribute again.
        let masters = search.scores.len() as u32;
        let mirrors = masters..search.unreached.len() as u32;
        let mut written = Level::default();
        for mirror in search.arriving.updated().iter_range(mirrors) {
            written.push(mirror, search.arriving.lanes_of(mirror));
        }
        search.close(&written);
        search.others.extend(written.vertices);
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
        let many = search.arriving.updated().len() as u64 >= FEW;
        let arriving = search.arriving.parts();
        let paths = search.paths.parts();
        let unreached = &search.unreached;
        let piece_len = if many { PIECE } else { masters.max(1) };
        let sums = arriving.rows[..masters].par_chunks_mut(piece_len);
        let lanes = arriving.lanes[..masters].par_chunks_mut(piece_len);
        let new = paths.rows[..masters].par_chunks_mut(piece_len);
        let new_lanes = paths.lanes[..masters].par_chunks_mut(piece_len);
        let pieces = sums.zip(lanes).zip(new.zip(new_lanes)).enumerate();
        let take_in = |(piece, ((sums, lanes), (new, new_lanes))): (usize, _)| {
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
        let (reached, overflows): (Vec<Level>, Vec<bool>) = pieces.map(take_in).unzip();
        search.arriving.updated().remove_range(0..masters as u32);
        self.reached = Level::concat(reached);
        let overflows = f64::from(u8::from(overflows.contains(&true)));
        search.close(&self.reached);
        let changed = self.reached.len() as u64;
        Ok(Tally { changed, ..Tally::of_sum(overflows) })
    }

    fn next(&mut self) -> Result<Next> {
        let mut told = Level::default();
        self.search.paths.take_received().into_iter().for_each(|(mirror, l)| told.push(mirror, l));
        self.search.close(&told);
        let mut level = std::mem::take(&mut self.reached);
        told.iter().for_each(|(mirror, lanes)| level.push(mirror, lanes));
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
            // Nobody was reached in the last round, on any host.
            self.search.levels.pop();
        }
        Ok(Conclusion::new(has_ended))
    }
}

/// The way back: how many of the shortest paths depend on a vertex.
pub(super) struct Back<'s, 'a, const L: usize> {
    search: &'s mut Search<'a, L>,
    /// The level that told last.
    level: usize,
    /// Proxies that tell, and have in-edges here.
    telling: Level,
}

impl<const L: usize> Back<'_, '_, L> {
    /// Lets the masters of a level take in what came, and tell what they have to.
    fn tell(&mut self, level: usize) {
        let search = &mut *self.search;
        let masters = search.scores.len();
        let is_shared = search.partition.num_hosts() > 1;
        let listed = &search.levels[level];
        let (paths, arriving) = (search.paths.rows(), search.arriving.parts());
        let shares = search.shares.parts();
        let piece_len = if listed.len() as u64 >= FEW { PIECE } else { masters.max(1) };
        let scores = search.scores.par_chunks_mut(piece_len);
        let sums = arriving.rows[..masters].par_chunks_mut(piece_len);
        let lanes = arriving.lanes[..masters].par_chunks_mut(piece_len);
        let new = shares.rows[..masters].par_chunks_mut(piece_len);
        let new_lanes = shares.lanes[..masters].par_chunks_mut(piece_len);
        let pieces = scores.zip(sums.zip(lanes)).zip(new.zip(new_lanes)).enumerate();
        pieces.for_each(|(piece, ((scores, (sums, lanes)), (new, new_lanes)))| {
            let first = (piece * piece_len) as u32;
            let here = listed.within(first..first + scores.len() as u32);
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

impl<const L: usize> Engine for Back<'_, '_, L> {
    fn compute(&mut self) -> Result<u64> {
        let search = &mut *self.search;
        let listening = &search.levels[self.level - 1];
        let (out, told) = (search.out_edges.rows(), search.shares.rows());
        let into = search.arriving.parts();
        let to_pull = listening.edges(out);
        let in_edges = search.in_edges.as_ref().filter(|_| search.engine == BRANDES);
        let in_edges = in_edges.map(EdgeView::rows);
        let to_push = in_edges.map_or(u64::MAX, |rows| self.telling.edges(rows));
        let edges = match in_edges {
            Some(rows) if to_push.saturating_mul(EDGES_PER_TOLD) < to_pull => {
                for (proxy, lanes) in listening.iter() {
                    search.listens[proxy.index()] = lanes;
                }
                Telling { rows, told }.push(&self.telling, to_push, &search.listens, into);
                listening.vertices.iter().for_each(|proxy| search.listens[proxy.index()] = 0);
                to_push
            }
            _ => {
                Telling { rows: out, told }.pull(Listening::Level(listening), to_pull, into);
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
        self.tell(level);
        let masters = self.search.scores.len() as u32;
        let changed = self.search.levels[level].within(0..masters).vertices.len() as u64;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        let search = &mut *self.search;
        let masters = search.levels[self.level].within(0..search.scores.len() as u32);
        self.telling.vertices = masters.vertices.to_vec();
        self.telling.lanes = masters.lanes.to_vec();
        for (mirror, lanes) in search.shares.take_received() {
            self.telling.push(mirror, lanes);
            search.others.push(mirror);
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
