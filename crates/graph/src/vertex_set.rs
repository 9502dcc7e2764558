//! A set of vertices that many threads fill at once and that costs what is in it, not what could be.
//!
//! Beside the bits lies a summary with one bit for each word that may hold a member. Walking,
//! emptying and counting follow the summary: a set with few members among millions of vertices
//! takes a few hundred loads, and an empty one a single load.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::bits::{AtomicBitSet, mask_in, ones_of, words_of};
use crate::{LocalId, parallel};

const WORD_BITS: usize = u64::BITS as usize;
/// Vertices whose words a thread goes through at a time. A multiple of what a word of the summary stands for.
const VERTICES_PER_TASK: usize = 1 << 18;
/// Fewer occupied words than this are gone through before another thread has woken up.
const MIN_WORDS_TO_SHARE: usize = 1 << 14;

/// A set of local ids. Threads may insert at the same time; removing needs them to have finished.
#[derive(Debug, Default)]
pub struct VertexSet {
    bits: AtomicBitSet,
    /// Words that hold a member; some may have lost theirs.
    occupied: AtomicBitSet,
    /// Whether any word has held a member since the set was emptied.
    is_used: AtomicBool,
}

/// Who is a member of a [`VertexSet`]. To be copied out of whatever holds it before a loop.
#[derive(Clone, Copy)]
pub struct Members<'s>(&'s [AtomicU64]);

impl Members<'_> {
    /// Whether `vertex` is a member.
    #[inline(always)]
    pub fn contains(self, vertex: LocalId) -> bool {
        let word = self.0[vertex.index() / WORD_BITS].load(Ordering::Relaxed);
        word >> (vertex.index() % WORD_BITS) & 1 == 1
    }
}

/// Adds vertices to a [`VertexSet`], fastest where each is near the one before: the set has them when
/// this is dropped.
pub struct Inserter<'s> {
    set: &'s VertexSet,
    word: usize,
    /// What is to be added to the word.
    bits: u64,
    /// Whether other threads may change the same words.
    is_shared: bool,
}

impl Inserter<'_> {
    /// Adds `vertex` if it `is_meant`, without guessing whether it is.
    #[inline(always)]
    pub fn insert_if(&mut self, vertex: LocalId, is_meant: bool) {
        let word = vertex.index() / WORD_BITS;
        if word != self.word {
            self.write();
            (self.word, self.bits) = (word, 0);
        }
        self.bits |= u64::from(is_meant) << (vertex.index() % WORD_BITS);
    }

    #[inline]
    fn write(&self) {
        if self.bits != 0 && self.is_shared {
            self.set.insert_word(self.word, self.bits);
        } else if self.bits != 0 {
            let bits = &self.set.bits;
            bits.set_word(self.word, bits.word(self.word) | self.bits);
            self.set.occupy(self.word);
        }
    }
}

impl Drop for Inserter<'_> {
    fn drop(&mut self) {
        self.write();
    }
}

impl VertexSet {
    /// The empty set of vertices below `len`.
    pub fn new(len: usize) -> Self {
        VertexSet {
            bits: AtomicBitSet::new(len),
            occupied: AtomicBitSet::new(len.div_ceil(WORD_BITS)),
            is_used: AtomicBool::new(false),
        }
    }

    /// Whether `vertex` is a member.
    #[inline]
    pub fn contains(&self, vertex: LocalId) -> bool {
        self.bits.contains(vertex.index())
    }

    /// Who is a member.
    #[inline]
    pub fn members(&self) -> Members<'_> {
        Members(self.bits.words())
    }

    /// Adds `vertex`; whether this call was the one that did.
    #[inline]
    pub fn insert(&self, vertex: LocalId) -> bool {
        let new = self.bits.insert(vertex.index());
        if new {
            self.occupy(vertex.index() / WORD_BITS);
        }
        new
    }

    /// Adds `vertex`, while no other thread changes the set; whether it was new.
    #[inline]
    pub fn insert_alone(&self, vertex: LocalId) -> bool {
        let new = self.bits.insert_alone(vertex.index());
        if new {
            self.occupy(vertex.index() / WORD_BITS);
        }
        new
    }

    /// Adds a range of vertices.
    pub fn insert_range(&self, range: Range<u32>) {
        let range = range.start as usize..range.end as usize;
        if !range.is_empty() {
            self.is_used.store(true, Ordering::Relaxed);
            self.occupied.insert_range(range.start / WORD_BITS..range.end.div_ceil(WORD_BITS));
            self.bits.insert_range(range);
        }
    }

    /// Adds some of the 64 vertices from `64 * word` on, one per bit.
    #[inline]
    pub fn insert_word(&self, word: usize, bits: u64) {
        if bits != 0 {
            self.bits.insert_word(word, bits);
            self.occupy(word);
        }
    }

    /// Adds the members of another set that are in `range`, while no other thread changes this set.
    pub fn insert_all(&self, other: &VertexSet, range: Range<u32>) {
        for (word, bits) in other.occupied_words(range.start as usize..range.end as usize) {
            let old = self.bits.word(word);
            if old | bits != old {
                self.bits.set_word(word, old | bits);
                self.occupy(word);
            }
        }
    }

    /// Notes that a word holds a member.
    #[inline]
    fn occupy(&self, word: usize) {
        // Looks before it writes: threads that fill a set would else take the cache line from each other.
        if self.occupied.insert(word) && !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// To add vertices one by one, while no other thread changes the set, or none that is among the same
    /// 64 as one of these.
    pub fn inserter(&self) -> Inserter<'_> {
        Inserter { set: self, word: 0, bits: 0, is_shared: false }
    }

    /// The same while other threads may change the set, too.
    pub fn shared_inserter(&self) -> Inserter<'_> {
        Inserter { set: self, word: 0, bits: 0, is_shared: true }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.occupied_words(0..self.bits.len()).next().is_none()
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.count_range(0..self.bits.len() as u32)
    }

    /// Number of members in `range`.
    pub fn count_range(&self, range: Range<u32>) -> usize {
        let range = range.start as usize..range.end as usize;
        let count = |range: Range<usize>| -> usize {
            self.occupied_words(range).map(|(_, word)| word.count_ones() as usize).sum()
        };
        match self.is_much(&range) {
            true => {
                let counts = parallel::map(&tasks(range), |range| count(range.clone()));
                counts.into_iter().sum()
            }
            false => count(range),
        }
    }

    /// Whether a range has enough occupied words to share them out.
    fn is_much(&self, range: &Range<usize>) -> bool {
        range.len() > VERTICES_PER_TASK
            && rayon::current_num_threads() > 1
            && self.is_used.load(Ordering::Relaxed)
            && self.occupied.count_range(words_of(range)) >= MIN_WORDS_TO_SHARE
    }

    /// All members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.iter_range(0..self.bits.len() as u32)
    }

    /// Members in `range`, ascending.
    pub fn iter_range(&self, range: Range<u32>) -> impl Iterator<Item = LocalId> + '_ {
        let words = self.occupied_words(range.start as usize..range.end as usize);
        Walk { words, word: 0, bits: 0 }
    }

    /// Removes the members in `range`.
    pub fn remove_range(&self, range: Range<u32>) {
        let range = range.start as usize..range.end as usize;
        match self.is_much(&range) {
            // No two tasks have a word of the summary in common.
            true => parallel::for_each(&tasks(range), |range| self.remove_here(range.clone())),
            false => self.remove_here(range),
        }
    }

    fn remove_here(&self, range: Range<usize>) {
        for word in self.occupied_in(&range) {
            let bits = word * WORD_BITS..(word + 1) * WORD_BITS;
            let inside = bits.start.max(range.start)..bits.end.min(range.end);
            self.bits.remove_range(inside);
            if !self.bits.any_in(bits.start..bits.end.min(self.bits.len())) {
                self.occupied.remove(word);
            }
        }
    }

    /// Takes all members out, ascending.
    pub fn drain(&mut self) -> Vec<LocalId> {
        let members = self.iter().collect();
        self.clear();
        members
    }

    /// Takes all members out.
    pub fn clear(&mut self) {
        if !*self.is_used.get_mut() {
            return;
        }
        let all = 0..self.bits.len();
        match self.is_much(&all) {
            true => parallel::for_each(&tasks(all), |range| self.clear_here(range)),
            false => self.clear_here(&all),
        }
        *self.is_used.get_mut() = false;
    }

    /// Takes out all members that the words of the summary for a range stand for.
    fn clear_here(&self, range: &Range<usize>) {
        let summaries = words_of(&words_of(range));
        for summary in summaries {
            let occupied = self.occupied.word(summary);
            if occupied != 0 {
                ones_of(summary * WORD_BITS, occupied).for_each(|word| self.bits.set_word(word, 0));
                self.occupied.set_word(summary, 0);
            }
        }
    }

    /// Words of `range` that may hold a member.
    fn occupied_in(&self, range: &Range<usize>) -> impl Iterator<Item = usize> + use<'_> {
        let is_used = self.is_used.load(Ordering::Relaxed);
        self.occupied.iter_range(if is_used { words_of(range) } else { 0..0 })
    }

    /// Words with a member in `range`, and what of them belongs to it.
    fn occupied_words(&self, range: Range<usize>) -> OccupiedWords<'_> {
        let words = if self.is_used.load(Ordering::Relaxed) { words_of(&range) } else { 0..0 };
        OccupiedWords {
            set: self,
            range,
            summaries: words_of(&words),
            words,
            first: 0,
            occupied: 0,
        }
    }
}

/// Words with a member in a range, and what of them belongs to it.
struct OccupiedWords<'s> {
    set: &'s VertexSet,
    range: Range<usize>,
    /// The words of the range.
    words: Range<usize>,
    /// Words of the summary that are left.
    summaries: Range<usize>,
    /// The first word that the current word of the summary stands for, and the words that are left of these.
    first: usize,
    occupied: u64,
}

impl Iterator for OccupiedWords<'_> {
    type Item = (usize, u64);

    #[inline]
    fn next(&mut self) -> Option<(usize, u64)> {
        loop {
            while self.occupied == 0 {
                let summary = self.summaries.next()?;
                self.first = summary * WORD_BITS;
                self.occupied = self.set.occupied.word(summary) & mask_in(&self.words, summary);
            }
            let word = self.first + self.occupied.trailing_zeros() as usize;
            self.occupied &= self.occupied - 1;
            let bits = self.set.bits.word(word) & mask_in(&self.range, word);
            if bits != 0 {
                return Some((word, bits));
            }
        }
    }
}

/// Members in a range, ascending. Made of plain loops, as every loop over members is compiled with a copy of them.
struct Walk<'s> {
    words: OccupiedWords<'s>,
    word: usize,
    /// The members of the word that are left.
    bits: u64,
}

impl Walk<'_> {
    #[inline(always)]
    fn take_member(&mut self) -> LocalId {
        let vertex = self.word * WORD_BITS + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        LocalId(vertex as u32)
    }
}

impl Iterator for Walk<'_> {
    type Item = LocalId;

    #[inline]
    fn next(&mut self) -> Option<LocalId> {
        if self.bits == 0 {
            (self.word, self.bits) = self.words.next()?;
        }
        Some(self.take_member())
    }

    #[inline]
    fn fold<B, F: FnMut(B, LocalId) -> B>(self, first: B, mut fold: F) -> B {
        let Walk { words: left, word, bits } = self;
        let OccupiedWords { set, range, words, summaries, first: first_word, occupied } = left;
        let mut members = |folded: B, word: usize, bits: u64| {
            ones_of(word * WORD_BITS, bits)
                .fold(folded, |folded, at| fold(folded, LocalId(at as u32)))
        };
        let mut folded = members(first, word, bits);
        let mut members_of = |folded: B, first_word: usize, occupied: u64| {
            ones_of(first_word, occupied).fold(folded, |folded, word| {
                members(folded, word, set.bits.word(word) & mask_in(&range, word))
            })
        };
        folded = members_of(folded, first_word, occupied);
        for summary in summaries {
            let occupied = set.occupied.word(summary) & mask_in(&words, summary);
            folded = members_of(folded, summary * WORD_BITS, occupied);
        }
        folded
    }
}

/// A range of vertices in pieces of which no two have a word of the summary in common.
fn tasks(range: Range<usize>) -> Vec<Range<usize>> {
    let first = range.start / VERTICES_PER_TASK * VERTICES_PER_TASK;
    let pieces = parallel::pieces(first..range.end, VERTICES_PER_TASK);
    pieces.into_iter().map(|piece| piece.start.max(range.start)..piece.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members that are taken one by one, all at once, and some of each are the same, in ranges that end anywhere.
    #[test]
    fn walks_find_the_members_of_any_range() {
        let len = 3 * WORD_BITS * WORD_BITS + 77;
        for step in [1, 3, 63, 64, 65, 5000] {
            let set = VertexSet::new(len);
            let is_member = |vertex: usize| vertex % step == step / 2;
            (0..len).filter(|&v| is_member(v)).for_each(|v| _ = set.insert(LocalId(v as u32)));
            for range in [0..len, 1..len - 1, 62..66, 64..64, 4000..4200, 4095..8193, len..len] {
                let expected: Vec<_> =
                    range.clone().filter(|&v| is_member(v)).map(|v| LocalId(v as u32)).collect();
                for taken in [0, 1, 2, 70, expected.len()] {
                    let mut walk = set.iter_range(range.start as u32..range.end as u32);
                    let mut found: Vec<_> = walk.by_ref().take(taken).collect();
                    walk.for_each(|vertex| found.push(vertex));
                    assert_eq!(found, expected, "{range:?} of every {step}th, {taken} first");
                }
            }
        }
        assert_eq!(VertexSet::new(len).iter_range(3..9).next(), None);
    }

    /// Large sets are gone through by all threads: what they hold is the same.
    #[test]
    fn large_sets_are_counted_and_emptied_in_pieces() {
        let len = 6 * VERTICES_PER_TASK + 4321;
        let is_member = |vertex: usize| vertex % 37 < 5;
        let members = |range: Range<usize>| range.filter(|&vertex| is_member(vertex)).count();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut set = VertexSet::new(len);
                (0..len).filter(|&vertex| is_member(vertex)).for_each(|vertex| {
                    set.insert(LocalId(vertex as u32));
                });
                assert_eq!(set.len(), members(0..len));
                let gone = 777..5 * VERTICES_PER_TASK + 99;
                let range = |range: &Range<usize>| range.start as u32..range.end as u32;
                assert_eq!(set.count_range(range(&gone)), members(gone.clone()));
                set.remove_range(range(&gone));
                assert_eq!(set.count_range(range(&gone)), 0);
                let left = members(0..gone.start) + members(gone.end..len);
                assert_eq!((set.len(), set.iter().count()), (left, left));
                (0..len as u32).for_each(|vertex| _ = set.insert(LocalId(vertex)));
                set.clear();
                assert!(set.is_empty() && set.iter().next().is_none());
                assert!((0..len as u32).all(|vertex| !set.contains(LocalId(vertex))));
            });
        }
    }
}
