//! Levels of all hosts' vertices, from what each host peels.
//!
//! Hosts that wait for each other peel the same level. Each lets go who can, and tells the others, who
//! may lose more because of that. When nobody loses anything any more, all take the next level at
//! which anybody can go. So every edge is looked at once from each end.
//!
//! Hosts that do not wait peel as if mirrors stayed for which nothing else is known. The levels that
//! masters get are *bounds* on their coreness. Where those of mirrors turn out to be lower, masters may
//! have too few neighbours whose bounds are as great as their own: their *support*. Such a master gets
//! the greatest bound that enough neighbours support, the h-index of their bounds, and may cost others
//! theirs. Bounds only ever fall, and each stays above the coreness, so it does not matter how old
//! those are that a host goes by.

use std::sync::atomic::{AtomicU32, Ordering};

use parton_engine::{Conclusion, Engine, EngineInfo, Next, Paced, Tally};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Min;
use parton_sync::{CpuField, Delivery, Phase, Result, Substrate};
use rayon::prelude::*;

use super::peel::Peeling;

/// Peels inside each host; hosts exchange bounds.
pub(super) const PEEL: EngineInfo = EngineInfo {
    name: "peel",
    about: "takes away what has the fewest neighbours left; hosts exchange bounds",
};

/// Below so many vertices threads cost more than they bring.
const FEW: usize = 1 << 6;

/// A host's part of the search.
pub(super) struct Bounds<'a> {
    peeling: Peeling<'a>,
    num_masters: u32,
    /// Nobody needs to go at this level or a later one.
    last: u32,
    /// Levels below this one are to be peeled.
    cap: u32,
    /// Whether there is anything to be peeled that nobody has to tell of.
    is_due: bool,
    stage: Stage,
    /// Of all who have gone the level, of others the last one.
    bounds: CpuField<Min<u32>>,
    /// Neighbours of each master whose bounds are not less than its own, once bounds are refined.
    support: Vec<AtomicU32>,
}

/// How far a host has got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It peels what all peel.
    Together,
    /// It is to peel as far as it can.
    Ahead,
    /// It lowers what it has got.
    Refining,
}

/// A bound that has fallen.
struct Fall {
    proxy: LocalId,
    from: u32,
    to: u32,
}

impl<'a> Bounds<'a> {
    /// Coreness of all vertices, or, with a core given, of nobody more than whether it is less.
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
            stage: Stage::Together,
            bounds: if is_alone { bounds.alone() } else { bounds },
            support: Vec::new(),
        }
    }

    /// The bounds of masters: their coreness, once the run is over.
    pub(super) fn of_masters(&self) -> Vec<u32> {
        (0..self.num_masters).into_par_iter().map(|m| self.bounds.get(LocalId(m))).collect()
    }

    /// Peels what is to be peeled, now that bounds of these mirrors are known.
    fn peel(&mut self, told: Vec<LocalId>) -> u64 {
        let bounds = &self.bounds;
        for &mirror in &told {
            self.peeling.note(mirror, bounds.get(mirror));
        }
        self.peeling.peel(told, self.cap, |master, level| {
            bounds.put(master, level);
            bounds.update(master);
        })
    }

    /// Counts support, by the bounds as they are; how many edges that took.
    fn count_support(&mut self) -> u64 {
        let (rows, bounds) = (self.peeling.rows_of(LocalId(0)), self.bounds.cells());
        let support = |master: u32| {
            let own = bounds.get(LocalId(master));
            let mut support = 0;
            rows.each(
                LocalId(master),
                |soon| bounds.prefetch(soon),
                |other, ()| support += u32::from(bounds.get(other) >= own),
            );
            AtomicU32::new(support)
        };
        self.support = (0..self.num_masters).into_par_iter().map(support).collect();
        (0..self.num_masters).map(|master| rows.degree(LocalId(master))).sum()
    }

    /// Lowers bounds until each is supported again; how many edges that took.
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

    /// Takes support from those that relied on what has fallen; who has too little of it now.
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

    /// Gives these masters bounds that are supported.
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
                        // Nobody needs to know how many have as much: they are too few.
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
        // All look at the bounds from before, so that support is what those say.
        let (edges, falls) = in_pieces(lacking, find);
        for fall in &falls {
            self.bounds.put(fall.proxy, fall.to);
            self.bounds.update(fall.proxy);
        }
        (edges, falls)
    }
}

/// Lets threads work on pieces where there is enough to do; all they found.
fn in_pieces<T: Sync, F: Send>(
    all: &[T],
    work: impl Fn(&[T]) -> (u64, Vec<F>) + Sync,
) -> (u64, Vec<F>) {
    if all.len() < FEW || rayon::current_num_threads() == 1 {
        return work(all);
    }
    let found: Vec<_> = all.par_chunks(FEW / 4).map(&work).collect();
    let edges = found.iter().map(|(edges, _)| edges).sum();
    (edges, found.into_iter().flat_map(|(_, found)| found).collect())
}

impl Engine for Bounds<'_> {
    fn compute(&mut self) -> Result<u64> {
        self.is_due = false;
        let told = self.bounds.drain_active();
        Ok(match self.stage {
            Stage::Together => self.peel(told),
            Stage::Ahead => {
                self.stage = Stage::Refining;
                self.peel(told) + self.count_support()
            }
            Stage::Refining => {
                let fall = |mirror: LocalId| {
                    let to = self.bounds.get(mirror);
                    let from = self.peeling.note(mirror, to).min(self.last);
                    Fall { proxy: mirror, from, to }
                };
                let falls = told.into_iter().map(fall).collect();
                self.refine(falls)
            }
        })
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            // Masters find their bounds by themselves: no mirror has any for them.
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
        if total.active > 0 || self.stage != Stage::Together {
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
