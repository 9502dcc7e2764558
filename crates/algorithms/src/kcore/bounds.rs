//! Coreness of all hosts' vertices, from the peeling of each host.
//!
//! In rounds, all hosts peel the same level. Each removes the vertices it can and broadcasts them to the
//! other hosts, which may remove more because of that. When no host removes anything, all agree on the
//! next level with a removal. Every edge is visited once from each end.
//!
//! Without rounds, hosts peel as if mirrors of unknown level stayed. The levels of masters are then
//! upper *bounds* on their coreness (distributed k-core: Montresor, De Pellegrini, Miorandi 2013). The
//! *support* of a master is the number of neighbours whose bounds are not less than its own. A master
//! with less support than its bound gets the h-index of its neighbours' bounds (Lü et al. 2016): the
//! greatest bound with enough support. Its fall may lower the support of others. Bounds only fall and
//! never below the coreness, so bounds from any earlier time are safe to use.

use std::sync::atomic::{AtomicU32, Ordering};

use parton_engine::{Conclusion, Engine, EngineInfo, Next, Paced, Tally};
use parton_graph::{LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::reduction::Min;
use parton_sync::{CpuField, Delivery, Phase, Result, Substrate};

use super::peel::Peeling;

/// Peels inside each host; hosts exchange bounds.
pub(super) const PEEL: EngineInfo = EngineInfo {
    name: "peel",
    about: "takes away what has the fewest neighbours left; hosts exchange bounds",
};

/// Several threads are faster from this many vertices on.
const MIN_PARALLEL_VERTICES: usize = 1 << 6;

/// The bounds of one host's vertices.
pub(super) struct Bounds<'a> {
    peeling: Peeling<'a>,
    num_masters: u32,
    /// No removal matters at this level or a later one.
    last: u32,
    /// Levels below this one are to be peeled.
    cap: u32,
    /// Whether this host has levels to peel without news of other hosts.
    is_due: bool,
    stage: Stage,
    /// The level of removed vertices; `last` for all others.
    bounds: CpuField<Min<u32>>,
    /// Support of each master, in the stage that refines bounds.
    support: Vec<AtomicU32>,
}

/// The stage of a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It peels the level that all hosts peel.
    InStep,
    /// It peels all levels at once next.
    Ahead,
    /// It lowers its bounds.
    Refining,
}

/// A bound that has fallen.
struct Fall {
    proxy: LocalId,
    from: u32,
    to: u32,
}

impl<'a> Bounds<'a> {
    /// Bounds for the coreness of all vertices; with a core given, only whether coreness is less.
    pub(super) fn new(partition: &'a Partition, core: Option<u32>) -> Self {
        let last = core.unwrap_or(u32::MAX);
        let bounds = CpuField::new(partition.num_proxies(), Delivery::Label, |_| last);
        let is_alone = partition.num_hosts() == 1;
        Bounds {
            peeling: Peeling::new(partition, core.map_or(0, |core| core.saturating_sub(1))),
            num_masters: partition.num_masters() as u32,
            last,
            cap: if is_alone { last } else { last.min(1) },
            is_due: true,
            stage: Stage::InStep,
            bounds: if is_alone { bounds.alone() } else { bounds },
            support: Vec::new(),
        }
    }

    /// The bounds of masters: their coreness, once the run is over.
    pub(super) fn of_masters(&self) -> Vec<u32> {
        let bound = |master| self.bounds.get(LocalId(master as u32));
        parallel::generate(self.num_masters as usize, bound)
    }

    /// Peels all levels below the cap, with the new bounds of these mirrors.
    fn peel(&mut self, updated_mirrors: Vec<LocalId>) -> u64 {
        let bounds = &self.bounds;
        for &mirror in &updated_mirrors {
            self.peeling.set_mirror_level(mirror, bounds.get(mirror));
        }
        self.peeling.peel(updated_mirrors, self.cap, |master, level| {
            bounds.put(master, level);
            bounds.update(master);
        })
    }

    /// Counts the support of the current bounds. Returns the number of edges visited.
    fn count_support(&mut self) -> u64 {
        let (rows, bounds) = (self.peeling.rows_of(LocalId(0)), self.bounds.cells());
        let support = |master| {
            let master = LocalId(master as u32);
            let own = bounds.get(master);
            let mut support = 0;
            rows.each(
                master,
                |soon| bounds.prefetch(soon),
                |other, ()| support += u32::from(bounds.get(other) >= own),
            );
            AtomicU32::new(support)
        };
        self.support = parallel::generate(self.num_masters as usize, support);
        (0..self.num_masters).map(|master| rows.degree(LocalId(master))).sum()
    }

    /// Lowers bounds until each has enough support. Returns the number of edges visited.
    fn refine(&mut self, mut falls: Vec<Fall>) -> u64 {
        let mut edges = 0;
        while !falls.is_empty() {
            let (taken, lacking) = self.withdraw(&falls);
            let (asked, lowered) = self.lower(&lacking);
            falls = lowered;
            edges += taken + asked;
        }
        edges
    }

    /// Withdraws the support of fallen bounds. Returns the masters with too little support now.
    fn withdraw(&self, falls: &[Fall]) -> (u64, Vec<LocalId>) {
        let bounds = self.bounds.cells();
        let withdraw = |fall: &Fall, lacking: &mut Vec<LocalId>| -> u64 {
            let rows = self.peeling.rows_of(fall.proxy);
            rows.each(
                fall.proxy,
                |soon| bounds.prefetch(soon),
                |other, ()| {
                    let own = bounds.get(other);
                    if other.0 < self.num_masters && fall.to < own && own <= fall.from {
                        let support = &self.support[other.index()];
                        if support.fetch_sub(1, Ordering::Relaxed) == own {
                            lacking.push(other);
                        }
                    }
                },
            );
            rows.degree(fall.proxy)
        };
        let together = |falls: &[Fall]| {
            let mut lacking = Vec::new();
            let edges = falls.iter().map(|fall| withdraw(fall, &mut lacking)).sum::<u64>();
            (edges, lacking)
        };
        in_pieces(falls, together)
    }

    /// Lowers the bounds of these masters to the h-index of their neighbours' bounds.
    fn lower(&self, lacking: &[LocalId]) -> (u64, Vec<Fall>) {
        let bounds = self.bounds.cells();
        let find = |masters: &[LocalId]| {
            let (mut counts, mut falls, mut edges) = (Vec::new(), Vec::new(), 0);
            for &master in masters {
                let (rows, from) = (self.peeling.rows_of(master), bounds.get(master));
                counts.clear();
                counts.resize(from as usize, 0);
                rows.each(
                    master,
                    |soon| bounds.prefetch(soon),
                    |other, ()| {
                        // Greater bounds share a counter: together they are too few.
                        let bound = bounds.get(other).min(from.saturating_sub(1));
                        counts[bound as usize] += 1;
                    },
                );
                let (mut to, mut support) = (from - 1, counts[from as usize - 1]);
                while support < to {
                    to -= 1;
                    support += counts[to as usize];
                }
                self.support[master.index()].store(support, Ordering::Relaxed);
                falls.push(Fall { proxy: master, from, to });
                edges += rows.degree(master);
            }
            (edges, falls)
        };
        // Bounds are written after all are computed, so that support matches one set of bounds.
        let (edges, falls) = in_pieces(lacking, find);
        for fall in &falls {
            self.bounds.put(fall.proxy, fall.to);
            self.bounds.update(fall.proxy);
        }
        (edges, falls)
    }
}

/// Applies `work` to pieces in parallel, or to all items at once if they are few.
fn in_pieces<T: Sync, F: Send>(
    all: &[T],
    work: impl Fn(&[T]) -> (u64, Vec<F>) + Sync,
) -> (u64, Vec<F>) {
    if all.len() < MIN_PARALLEL_VERTICES || rayon::current_num_threads() == 1 {
        return work(all);
    }
    let pieces: Vec<_> = all.chunks(MIN_PARALLEL_VERTICES / 4).collect();
    let found = parallel::map(&pieces, |piece| work(piece));
    let edges = found.iter().map(|(edges, _)| edges).sum();
    (edges, found.into_iter().flat_map(|(_, found)| found).collect())
}

impl Engine for Bounds<'_> {
    fn compute(&mut self) -> Result<u64> {
        self.is_due = false;
        let updated_mirrors = self.bounds.drain_active();
        Ok(match self.stage {
            Stage::InStep => self.peel(updated_mirrors),
            Stage::Ahead => {
                self.stage = Stage::Refining;
                self.peel(updated_mirrors) + self.count_support()
            }
            Stage::Refining => {
                let fall = |mirror: LocalId| {
                    let to = self.bounds.get(mirror);
                    let from = self.peeling.set_mirror_level(mirror, to).min(self.last);
                    Fall { proxy: mirror, from, to }
                };
                let falls = updated_mirrors.into_iter().map(fall).collect();
                self.refine(falls)
            }
        })
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            // Nothing is sent here: only masters change bounds.
            Phase::Reduce => substrate.reduce(&mut self.bounds, End::Source),
            Phase::Broadcast => substrate.broadcast(&mut self.bounds, End::Destination),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        let changed = self.bounds.updated().count_range(0..self.num_masters) as u64;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        Ok(Next::new(self.is_due || !self.bounds.active().is_empty()))
    }

    /// When a level is peeled on all hosts, they agree on the next one.
    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        if total.active > 0 || self.stage != Stage::InStep {
            return Ok(Conclusion::when_idle(total));
        }
        let mine = self.peeling.next_level().unwrap_or(self.last);
        let level = substrate.net().all_reduce(mine, std::cmp::min)?;
        self.is_due = level < self.last;
        self.cap = self.last.min(level.saturating_add(1));
        Ok(Conclusion::new(!self.is_due))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl Paced for Bounds<'_> {
    /// Level by level every edge is visited once from each end; ahead of that, bounds fall many times.
    fn gains_from_rounds(&self) -> bool {
        true
    }

    fn leave_rounds(&mut self, _: bool) {
        (self.stage, self.cap, self.is_due) = (Stage::Ahead, self.last, true);
    }
}
