//! Looking for better labels in the frontier, from where they arrive.

use std::ops::Range;

use parton_graph::LocalId;
use parton_graph::bits::ones_of;
use parton_sync::Reduction;
use rayon::prelude::*;

use super::{PIECE, Relaxing};
use crate::program::Relaxation;
use crate::ways::Ways;

/// Proxies of a word of bits.
const WORD: usize = u64::BITS as usize;

impl<'a, P: Relaxation> Relaxing<'a, P> {
    /// Lets every proxy look for better labels in the frontier; how many edges they looked at.
    pub fn pull(&self) -> u64 {
        // A list may be all there is of the frontier.
        self.list.iter().for_each(|&vertex| _ = self.frontier.insert_alone(vertex));
        let back = self.back.as_ref().expect("an engine that pulls says so");
        let words = 0..(self.rows_end as usize).div_ceil(WORD);
        let pieces = words.clone().into_par_iter().step_by(PIECE / WORD).with_max_len(1);
        let pieces = pieces.map(|first| first..words.end.min(first + PIECE / WORD));
        match self.label_of_level() {
            Some(label) => {
                let given = self.program.relax(label, P::Weight::default());
                pieces.map(|piece| self.look_for_level(back, piece, given)).sum()
            }
            None => {
                let first_wins = self.program.first_wins();
                // The best label that it can give: all edges are the same.
                let best = (first_wins && !self.in_rounds)
                    .then(|| self.program.relax(self.best_of_members(), P::Weight::default()));
                pieces.map(|piece| self.look_for_best(back, piece, best)).sum()
            }
        }
    }

    /// The label of all of the frontier, where that is one level and the first label wins.
    fn label_of_level(&self) -> Option<P::Label> {
        let proxies = 0..self.labels.num_proxies() as u32;
        let is_level = self.program.first_wins() && self.in_rounds;
        let first = is_level.then(|| self.frontier.iter_range(proxies).next()).flatten();
        first.map(|vertex| self.labels.get(vertex))
    }

    /// Gives the proxies of some words that have no label, and a neighbour in the frontier, the one
    /// that all of it give.
    fn look_for_level(
        &self,
        back: &Ways<'a, P::Weight>,
        words: Range<usize>,
        given: P::Label,
    ) -> u64 {
        let (labels, back, frontier) = (self.labels.cells(), back.rows(), self.frontier.members());
        let (identity, end) = (P::Reduction::identity(), self.rows_end as usize);
        // Who looks of a word; their edges are asked for.
        let prepare = |word: usize| {
            let of_word = word * WORD..end.min((word + 1) * WORD);
            let looking = of_word.fold(0u64, |all, proxy| {
                let looks = labels.get(LocalId(proxy as u32)) == identity;
                all | u64::from(looks) << (proxy % WORD)
            });
            proxies_of(word, looking).for_each(|proxy| back.prefetch_edges(proxy));
            looking
        };
        let (mut looked, mut next) = (0, prepare(words.start));
        for word in words.clone() {
            let looking = next;
            if word + 1 < words.end {
                next = prepare(word + 1);
            }
            let mut better = 0u64;
            for proxy in proxies_of(word, looking) {
                let found = back.until(proxy, |neighbour, _| {
                    looked += 1;
                    frontier.contains(neighbour)
                });
                better |= u64::from(found) << (proxy.index() % WORD);
            }
            proxies_of(word, better).for_each(|proxy| labels.put(proxy, given));
            self.labels.touch_word(word, better);
        }
        looked
    }

    /// Gives the proxies of some words the best label that the frontier has for them; those that are
    /// as good as `best` do not look.
    fn look_for_best(
        &self,
        back: &Ways<'a, P::Weight>,
        words: Range<usize>,
        best: Option<P::Label>,
    ) -> u64 {
        let (labels, back, frontier) = (self.labels.cells(), back.rows(), self.frontier.members());
        let (program, end) = (self.program, self.rows_end as usize);
        let is_good = |label| best.is_some_and(|best| P::Reduction::combine(label, best) == label);
        let mut looked = 0;
        for word in words {
            let mut better = 0u64;
            for proxy in word * WORD..end.min((word + 1) * WORD) {
                let proxy = LocalId(proxy as u32);
                let old = labels.get(proxy);
                if is_good(old) {
                    continue;
                }
                let mut label = old;
                back.until(proxy, |neighbour, weight| {
                    looked += 1;
                    let there = frontier.contains(neighbour);
                    if there {
                        let given = program.relax(labels.get(neighbour), weight);
                        label = P::Reduction::combine(label, given);
                    }
                    there && is_good(label)
                });
                if label != old {
                    labels.put(proxy, label);
                    better |= 1 << (proxy.index() % WORD);
                }
            }
            self.labels.touch_word(word, better);
        }
        looked
    }
}

/// The proxies that some bits of a word stand for.
#[inline(always)]
fn proxies_of(word: usize, bits: u64) -> impl Iterator<Item = LocalId> {
    ones_of(word * WORD, bits).map(|proxy| LocalId(proxy as u32))
}
