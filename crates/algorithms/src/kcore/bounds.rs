//! Bounds on coreness, peeled inside a host and lowered between hosts.
//!
//! Every vertex starts with its degree, which its coreness cannot exceed. A host peels its part with
//! the bounds of mirrors as they are, and tells others which bounds it has lowered. Where those of
//! mirrors are lowered, masters may have too few neighbours whose bounds are as great as their own:
//! their *support*. Such a master gets the greatest bound that enough neighbours support, the h-index
//! of their bounds, and may cost others theirs. Bounds only ever fall, and each stays above the
//! coreness, so it does not matter how old those are that a host goes by: hosts need not wait for
//! each other.

use std::sync::atomic::{AtomicU32, Ordering};

use parton_engine::edges::Rows;
use parton_engine::{EdgeView, Engine, Tally};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Min;
use parton_sync::{CpuField, Delivery, Field};
use rayon::prelude::*;

use super::peel::Peeling;

/// Below so many vertices threads cost more than they bring.
const FEW: usize = 1 << 6;

/// A host's part of the search. Masters must have all their neighbours beside them.
pub(super) struct Bounds<'a> {
    rows: EdgeView<'a, ()>,
    /// The same edges from their other ends.
    back: EdgeView<'a, ()>,
    num_masters: u32,
    bounds: CpuField<Min<u32>>,
    /// No bound is greater.
    cap: u32,
    /// Bounds of mirrors that were taken into account.
    seen: Vec<u32>,
    /// Neighbours of each master whose bounds are not less than its own.
    support: Vec<AtomicU32>,
    has_peeled: bool,
}

/// A bound that has fallen.
struct Fall {
    proxy: u32,
    from: u32,
    to: u32,
}

impl<'a> Bounds<'a> {
    /// Bounds that begin with degrees, or the cap.
    pub(super) fn new(partition: &'a Partition, cap: u32) -> Self {
        let rows = EdgeView::new(partition.out_edges());
        let num_masters = partition.num_masters() as u32;
        let bounds = CpuField::new(partition.num_proxies(), Delivery::Label, |proxy| {
            match proxy.0 < num_masters {
                true => (rows.rows().degree(proxy) as u32).min(cap),
                false => cap,
            }
        });
        let bounds = if partition.num_hosts() == 1 { bounds.alone() } else { bounds };
        if partition.num_hosts() > 1 {
            bounds.updated().insert_range(0..num_masters);
        }
        let back = EdgeView::new(partition.in_edges());
        let seen = vec![cap; partition.num_proxies() - num_masters as usize];
        let support = Vec::new();
        Bounds { rows, back, num_masters, bounds, cap, seen, support, has_peeled: false }
    }

    /// The bounds of masters: their coreness, once the run is over.
    pub(super) fn of_masters(&self) -> Vec<u32> {
        (0..self.num_masters).into_par_iter().map(|m| self.bounds.get(LocalId(m))).collect()
    }

    fn is_alone(&self) -> bool {
        self.seen.is_empty()
    }

    /// Finds the greatest bounds that the first ones of mirrors allow.
    fn peel(&mut self) -> u64 {
        let (rows, back) = (self.rows.rows(), self.back.rows());
        let (num_masters, bounds) = (self.num_masters, &self.bounds);
        let first = |proxy: u32| match proxy < num_masters {
            true => rows.degree(LocalId(proxy)) as u32,
            false => bounds.get(LocalId(proxy)),
        };
        let proxies = bounds.num_proxies() as u32;
        let left: Vec<AtomicU32> =
            (0..proxies).into_par_iter().map(|proxy| AtomicU32::new(first(proxy))).collect();
        let edges = Peeling { rows, back, num_masters, left: &left, cap: self.cap }.run();
        left[..num_masters as usize].par_iter().zip(0..num_masters).for_each(|(left, master)| {
            if bounds.fold(LocalId(master), left.load(Ordering::Relaxed)) {
                bounds.update(LocalId(master));
            }
        });
        if self.is_alone() {
            return edges;
        }
        for (seen, mirror) in self.seen.iter_mut().zip(num_masters..) {
            *seen = bounds.get(LocalId(mirror));
        }
        let support = |master: u32| {
            let own = bounds.get(LocalId(master));
            let mut support = 0;
            rows.each(
                LocalId(master),
                |soon| bounds.cells().prefetch(soon),
                |other, ()| support += u32::from(bounds.get(other) >= own),
            );
            AtomicU32::new(support)
        };
        self.support = (0..num_masters).into_par_iter().map(support).collect();
        edges + self.rows.num_edges()
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
    fn withdraw(&self, falls: &[Fall]) -> (u64, Vec<u32>) {
        let (rows, back, bounds) = (self.rows.rows(), self.back.rows(), self.bounds.cells());
        let withdraw = |fall: &Fall, lacking: &mut Vec<u32>| -> u64 {
            let is_master = fall.proxy < self.num_masters;
            let rows: Rows<'_, ()> = if is_master { rows } else { back };
            rows.each(
                LocalId(fall.proxy),
                |soon| bounds.prefetch(soon),
                |other, ()| {
                    let own = bounds.get(other);
                    if other.0 < self.num_masters && fall.to < own && own <= fall.from {
                        let support = &self.support[other.index()];
                        if support.fetch_sub(1, Ordering::Relaxed) == own {
                            lacking.push(other.0);
                        }
                    }
                },
            );
            rows.degree(LocalId(fall.proxy))
        };
        let together = |falls: &[Fall]| {
            let mut lacking = Vec::new();
            let edges = falls.iter().map(|fall| withdraw(fall, &mut lacking)).sum::<u64>();
            (edges, lacking)
        };
        in_pieces(falls, together)
    }

    /// Gives these masters bounds that are supported.
    fn lower(&self, lacking: &[u32]) -> (u64, Vec<Fall>) {
        let (rows, bounds) = (self.rows.rows(), self.bounds.cells());
        let find = |masters: &[u32]| {
            let (mut counts, mut falls, mut edges) = (Vec::new(), Vec::new(), 0);
            for &master in masters {
                let from = bounds.get(LocalId(master));
                counts.clear();
                counts.resize(from as usize, 0);
                rows.each(
                    LocalId(master),
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
                self.support[master as usize].store(support, Ordering::Relaxed);
                falls.push(Fall { proxy: master, from, to });
                edges += rows.degree(LocalId(master));
            }
            (edges, falls)
        };
        // All look at the bounds from before, so that support is what those say.
        let (edges, falls) = in_pieces(lacking, find);
        for fall in &falls {
            self.bounds.put(LocalId(fall.proxy), fall.to);
            self.bounds.update(LocalId(fall.proxy));
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
    fn compute(&mut self) -> u64 {
        let told = self.bounds.drain_active();
        if !self.has_peeled {
            self.has_peeled = true;
            return self.peel();
        }
        let mirrors = told.iter().filter(|proxy| proxy.0 >= self.num_masters);
        let mut falls = Vec::new();
        for &mirror in mirrors {
            let seen = &mut self.seen[(mirror.0 - self.num_masters) as usize];
            let to = self.bounds.get(mirror);
            falls.push(Fall { proxy: mirror.0, from: std::mem::replace(seen, to), to });
        }
        self.refine(falls)
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        // Masters find their bounds by themselves.
        (&mut self.bounds, End::Source)
    }

    fn apply(&mut self) -> Tally {
        let changed = self.bounds.updated().iter_range(0..self.num_masters).count() as u64;
        Tally { changed, ..Tally::default() }
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.bounds, End::Destination)
    }

    fn is_active(&mut self) -> bool {
        !self.has_peeled || !self.bounds.active().is_empty()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }
}
