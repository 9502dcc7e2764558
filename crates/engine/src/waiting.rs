//! Labels that wait for their turn where hosts do not wait for each other.
//!
//! A label that is spread too early is spread again when a better one arrives. So a host keeps to the
//! best: labels up to a *limit* are spread, the others wait, and some will have become better when it
//! is their turn. When little is left below the limit, a part of those who wait is let through. How
//! large a part is learnt from what happens: the edges that were looked at again, because their vertex
//! had been spread before with a label that was not good enough, are work in vain. As long as there is
//! little of it the part grows, else it is halved. This belongs to what a governor does, and is switched
//! off with it.

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};
use parton_graph::LocalId;
use parton_graph::bits::BitSet;

/// Fewer labels are not worth an exchange with other hosts.
pub(crate) const WORTH_TALKING: usize = 1 << 7;
/// Parts of those who wait that have their turn at a time: the least, which is the first, and the
/// most.
const LEAST_SHARE: f64 = 1.0 / 32.0;
const MOST_SHARE: f64 = 1.0 / 2.0;
/// How the part grows. Slowly: where it was too large once, it soon would be again.
const GROWTH: f64 = 1.25;
/// Labels that are looked at to find where a part of all ends.
const SAMPLE: usize = 1 << 10;
/// To look at more than one edge in so many again is too much.
const AGAIN: u64 = 8;

/// What labels waited, and what was in vain all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Held {
    /// How often a label had to wait for its turn.
    pub labels: u64,
    /// Edges that labels were spread along,
    pub edges: u64,
    /// and of those the ones that were looked at again, because their vertex had been spread before.
    pub again: u64,
}

impl std::ops::AddAssign for Held {
    fn add_assign(&mut self, more: Held) {
        self.labels += more.labels;
        self.edges += more.edges;
        self.again += more.again;
    }
}

/// What has a label to spread and waits for its turn.
pub(crate) struct Waiting<L> {
    /// In any order; those who have had their turn since are no longer members.
    list: Vec<LocalId>,
    members: BitSet,
    /// The worst label that does not wait.
    limit: Option<L>,
    /// Which part has its turn next.
    share: f64,
    /// Who has had its turn.
    spread: BitSet,
    /// What was held back, in all and until the limit was last moved.
    pub(crate) held: Held,
    before: Held,
}

impl<L: Copy> Waiting<L> {
    /// Nobody waits, and nothing was spread.
    pub(crate) fn new(proxies: usize) -> Self {
        let (members, spread) = (BitSet::new(proxies), BitSet::new(proxies));
        let (list, limit, share) = (Vec::new(), None, LEAST_SHARE);
        let (held, before) = (Held::default(), Held::default());
        Waiting { list, members, limit, share, spread, held, before }
    }

    /// Leaves in `list` whose turn it is, about `few` or more if there are so many; the others wait.
    /// `order` puts better labels first.
    pub(crate) fn choose(
        &mut self,
        list: &mut Vec<LocalId>,
        few: usize,
        label: impl Fn(LocalId) -> L,
        order: impl Fn(&L, &L) -> Ordering,
        degree: impl Fn(LocalId) -> u64,
    ) {
        list.retain(|&vertex| {
            let now = self.limit.is_some_and(|limit| order(&label(vertex), &limit).is_le());
            if now {
                self.members.remove(vertex.index());
            } else if self.members.insert(vertex.index()) {
                self.held.labels += 1;
                self.list.push(vertex);
            }
            now
        });
        if list.len() < few {
            self.move_limit(few, &label, &order);
            if let Some(limit) = self.limit {
                self.list.retain(|&vertex| {
                    let later = order(&label(vertex), &limit).is_gt();
                    if !later && self.members.remove(vertex.index()) {
                        list.push(vertex);
                    }
                    later
                });
            }
        }
        for &vertex in list.iter() {
            let edges = degree(vertex);
            self.held.edges += edges;
            self.held.again += if self.spread.insert(vertex.index()) { 0 } else { edges };
        }
    }

    /// Lets all of these through, whatever their labels, if few of them have had their turn before;
    /// whether it did.
    pub(crate) fn let_through<I: Iterator<Item = LocalId>>(&mut self, all: impl Fn() -> I) -> bool {
        let (mut vertices, mut again) = (0, 0);
        for vertex in all() {
            vertices += 1;
            again += u64::from(self.spread.contains(vertex.index()));
        }
        let few = again <= vertices / AGAIN;
        if few {
            for vertex in all() {
                self.members.remove(vertex.index());
                self.spread.insert(vertex.index());
            }
        }
        few
    }

    /// Lets a part of those who wait through.
    fn move_limit(
        &mut self,
        few: usize,
        label: impl Fn(LocalId) -> L,
        order: impl Fn(&L, &L) -> Ordering,
    ) {
        self.list.retain(|&vertex| self.members.contains(vertex.index()));
        if self.list.is_empty() {
            return;
        }
        let edges = self.held.edges - self.before.edges;
        self.share = match self.held.again - self.before.again > edges / AGAIN {
            true => (self.share / 2.0).max(LEAST_SHARE),
            false => (self.share * GROWTH).min(MOST_SHARE),
        };
        self.before = self.held;
        let part = (self.list.len() as f64 * self.share) as usize;
        // Putting all in order would cost as much as spreading some.
        let step = self.list.len().div_ceil(SAMPLE);
        let sample = self.list.iter().step_by(step);
        let mut labels: Vec<L> = sample.map(|&vertex| label(vertex)).collect();
        let place = (part.max(few) / step).min(labels.len() - 1);
        let (_, &mut limit, _) = labels.select_nth_unstable_by(place, order);
        self.limit = Some(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(waiting: &mut Waiting<u32>, labels: &[u32], new: &[u32], few: usize) -> Vec<u32> {
        let mut list: Vec<_> = new.iter().copied().map(LocalId).collect();
        waiting.choose(&mut list, few, |vertex| labels[vertex.index()], u32::cmp, |_| 1);
        list.into_iter().map(|vertex| vertex.0).collect()
    }

    #[test]
    fn the_best_come_first_and_all_have_their_turn_once() {
        let labels: Vec<u32> = (0..1000).map(|i| i * 7 % 1000).collect();
        let all: Vec<u32> = (0..1000).collect();
        let mut waiting = Waiting::new(1000);
        let mut turns: Vec<u32> = Vec::new();
        let mut new = &all[..];
        loop {
            let now = choose(&mut waiting, &labels, new, 1);
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
    fn whoever_becomes_better_has_its_turn_at_once_and_only_then() {
        let mut labels: Vec<u32> = (0..100).collect();
        let all: Vec<u32> = (0..100).collect();
        let mut waiting = Waiting::new(100);
        assert!(!choose(&mut waiting, &labels, &all, 1).contains(&99));
        labels[99] = 0;
        assert_eq!(choose(&mut waiting, &labels, &[99], 1), [99]);
        let mut later = Vec::new();
        while let now = choose(&mut waiting, &labels, &[], 1)
            && !now.is_empty()
        {
            later.extend(now);
        }
        assert!(!later.contains(&99) && later.len() > 80);
    }

    #[test]
    fn work_in_vain_makes_turns_smaller() {
        let labels: Vec<u32> = (0..1000).collect();
        let all: Vec<u32> = (0..1000).collect();
        let (mut good, mut bad) = (Waiting::new(1000), Waiting::new(1000));
        for _ in 0..8 {
            (good.limit, bad.limit) = (None, None);
            choose(&mut good, &labels, &all, 1);
            choose(&mut bad, &labels, &all, 1);
            good.spread = BitSet::new(1000);
        }
        assert_eq!(bad.share, LEAST_SHARE);
        assert!(good.share > 4.0 * LEAST_SHARE);
    }
}
