//! Label throttle: spread the best labels first where hosts do not wait for each other.
//!
//! A label that is spread too early is spread again when a better one arrives. So a host spreads labels up
//! to a *limit* and holds the others back; some of these improve before it is their turn. When few labels
//! are left below the limit, the limit moves so that a share of the held-back labels passes. The throttle
//! learns how large a share: edges that are visited again, because their vertex was spread before with a
//! worse label, are redundant relaxations. While there are few of them the share grows, else it is halved.
//! This is a relaxed priority queue, as Galois's OBIM (Nguyen, Lenharth, Pingali, SOSP'13), whose order is
//! measured instead of declared.

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};
use parton_graph::LocalId;
use parton_graph::bits::BitSet;

/// Fewer labels are not worth an exchange with other hosts.
pub(crate) const MIN_LABELS_PER_EXCHANGE: usize = 1 << 7;
/// Shares of the held-back labels that pass at a time: the least, which is the first, and the greatest.
const MIN_SHARE: f64 = 1.0 / 32.0;
const MAX_SHARE: f64 = 1.0 / 2.0;
/// How the share grows. Slowly: where it was too large once, it soon would be again.
const SHARE_GROWTH: f64 = 1.25;
/// Labels in the sample that finds where a share of all ends.
const SAMPLE: usize = 1 << 10;
/// More than one redundant edge in this many is too much.
const EDGES_PER_REDUNDANT_EDGE: u64 = 8;

/// Labels that were held back, and the work that was redundant all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Throttled {
    /// How often a label was held back.
    pub labels: u64,
    /// Edges that labels were spread along,
    pub edges: u64,
    /// and those of them that were visited again, because their vertex had been spread before.
    pub again: u64,
}

impl std::ops::AddAssign for Throttled {
    fn add_assign(&mut self, more: Throttled) {
        self.labels += more.labels;
        self.edges += more.edges;
        self.again += more.again;
    }
}

/// Labels of a host that are held back.
pub(crate) struct Throttle<L> {
    /// Vertices with such labels, in any order; some have been spread since and are no longer members.
    list: Vec<LocalId>,
    members: BitSet,
    /// The worst label that passes.
    limit: Option<L>,
    /// The share of held-back labels that passes next.
    share: f64,
    /// Vertices that have been spread.
    spread: BitSet,
    /// What was held back, in all and until the limit was last moved.
    throttled: Throttled,
    before: Throttled,
}

impl<L: Copy> Throttle<L> {
    /// Nothing is held back, and nothing was spread.
    pub(crate) fn new(proxies: usize) -> Self {
        Throttle {
            list: Vec::new(),
            members: BitSet::new(proxies),
            limit: None,
            share: MIN_SHARE,
            spread: BitSet::new(proxies),
            throttled: Throttled::default(),
            before: Throttled::default(),
        }
    }

    /// What was held back so far.
    pub(crate) fn throttled(&self) -> Throttled {
        self.throttled
    }

    /// Leaves in `list` the vertices whose labels pass, at least `min_labels` of them if there are as
    /// many, and holds back the others. `order` puts better labels first.
    pub(crate) fn choose(
        &mut self,
        list: &mut Vec<LocalId>,
        min_labels: usize,
        label: impl Fn(LocalId) -> L,
        order: impl Fn(&L, &L) -> Ordering,
        degree: impl Fn(LocalId) -> u64,
    ) {
        list.retain(|&vertex| {
            let passes = self.limit.is_some_and(|limit| order(&label(vertex), &limit).is_le());
            if passes {
                self.members.remove(vertex.index());
            } else if self.members.insert(vertex.index()) {
                self.throttled.labels += 1;
                self.list.push(vertex);
            }
            passes
        });
        if list.len() < min_labels {
            self.move_limit(min_labels, &label, &order);
            if let Some(limit) = self.limit {
                self.list.retain(|&vertex| {
                    let is_held = order(&label(vertex), &limit).is_gt();
                    if !is_held && self.members.remove(vertex.index()) {
                        list.push(vertex);
                    }
                    is_held
                });
            }
        }
        for &vertex in list.iter() {
            let edges = degree(vertex);
            self.throttled.edges += edges;
            self.throttled.again += if self.spread.insert(vertex.index()) { 0 } else { edges };
        }
    }

    /// Lets all of these pass, whatever their labels, if few of them have been spread before. Returns
    /// whether it did.
    pub(crate) fn pass_all<I: Iterator<Item = LocalId>>(&mut self, all: impl Fn() -> I) -> bool {
        let (mut vertices, mut again) = (0, 0);
        for vertex in all() {
            vertices += 1;
            again += u64::from(self.spread.contains(vertex.index()));
        }
        let few = again <= vertices / EDGES_PER_REDUNDANT_EDGE;
        if few {
            for vertex in all() {
                self.members.remove(vertex.index());
                self.spread.insert(vertex.index());
            }
        }
        few
    }

    /// Moves the limit so that a share of the held-back labels passes.
    fn move_limit(
        &mut self,
        min_labels: usize,
        label: impl Fn(LocalId) -> L,
        order: impl Fn(&L, &L) -> Ordering,
    ) {
        self.list.retain(|&vertex| self.members.contains(vertex.index()));
        if self.list.is_empty() {
            return;
        }
        let edges = self.throttled.edges - self.before.edges;
        let again = self.throttled.again - self.before.again;
        self.share = match again > edges / EDGES_PER_REDUNDANT_EDGE {
            true => (self.share / 2.0).max(MIN_SHARE),
            false => (self.share * SHARE_GROWTH).min(MAX_SHARE),
        };
        self.before = self.throttled;
        let count = (self.list.len() as f64 * self.share) as usize;
        // Sorting all labels would cost as much as spreading some.
        let step = self.list.len().div_ceil(SAMPLE);
        let sample = self.list.iter().step_by(step);
        let mut labels: Vec<L> = sample.map(|&vertex| label(vertex)).collect();
        let place = (count.max(min_labels) / step).min(labels.len() - 1);
        let (_, &mut limit, _) = labels.select_nth_unstable_by(place, order);
        self.limit = Some(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(throttle: &mut Throttle<u32>, labels: &[u32], new: &[u32], few: usize) -> Vec<u32> {
        let mut list: Vec<_> = new.iter().copied().map(LocalId).collect();
        throttle.choose(&mut list, few, |vertex| labels[vertex.index()], u32::cmp, |_| 1);
        list.into_iter().map(|vertex| vertex.0).collect()
    }

    #[test]
    fn the_best_come_first_and_all_have_their_turn_once() {
        let labels: Vec<u32> = (0..1000).map(|i| i * 7 % 1000).collect();
        let all: Vec<u32> = (0..1000).collect();
        let mut throttle = Throttle::new(1000);
        let mut turns: Vec<u32> = Vec::new();
        let mut new = &all[..];
        loop {
            let now = choose(&mut throttle, &labels, new, 1);
            if now.is_empty() {
                break;
            }
            let worst = turns.iter().map(|&v| labels[v as usize]).max();
            assert!(now.iter().all(|&v| Some(labels[v as usize]) > worst));
            turns.extend(now);
            new = &[];
        }
        turns.sort();
        assert_eq!(turns, all);
    }

    #[test]
    fn a_label_that_improves_passes_at_once_and_only_then() {
        let mut labels: Vec<u32> = (0..100).collect();
        let all: Vec<u32> = (0..100).collect();
        let mut throttle = Throttle::new(100);
        assert!(!choose(&mut throttle, &labels, &all, 1).contains(&99));
        labels[99] = 0;
        assert_eq!(choose(&mut throttle, &labels, &[99], 1), [99]);
        let mut later = Vec::new();
        while let now = choose(&mut throttle, &labels, &[], 1)
            && !now.is_empty()
        {
            later.extend(now);
        }
        assert!(!later.contains(&99) && later.len() > 80);
    }

    #[test]
    fn redundant_work_makes_the_share_smaller() {
        let labels: Vec<u32> = (0..1000).collect();
        let all: Vec<u32> = (0..1000).collect();
        let (mut good, mut bad) = (Throttle::new(1000), Throttle::new(1000));
        for _ in 0..8 {
            (good.limit, bad.limit) = (None, None);
            choose(&mut good, &labels, &all, 1);
            choose(&mut bad, &labels, &all, 1);
            good.spread = BitSet::new(1000);
        }
        assert_eq!(bad.share, MIN_SHARE);
        assert!(good.share > 4.0 * MIN_SHARE);
    }
}
