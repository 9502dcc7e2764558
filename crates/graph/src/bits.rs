//! Bit sets over vertices, plain and atomic, with operations on ranges of them.
//!
//! Local ids are ordered such that most sets are ranges. So the operations work on a range at a time: whole words
//! inside, and masked words at both ends.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

const WORD_BITS: usize = u64::BITS as usize;

/// A fixed-size set of small integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
    len: usize,
}

/// The words a range touches: none if it is empty, wherever that is.
pub(crate) fn words_of(range: &Range<usize>) -> Range<usize> {
    if range.is_empty() { 0..0 } else { range.start / WORD_BITS..range.end.div_ceil(WORD_BITS) }
}

/// The words a range touches, each with the mask of the bits that belong to the range.
fn masked_words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    words_of(&range).map(move |word| (word, mask_in(&range, word)))
}

/// The bits of a word that belong to a range which touches it.
pub(crate) fn mask_in(range: &Range<usize>, word: usize) -> u64 {
    let low = range.start.saturating_sub(word * WORD_BITS);
    let high = (range.end - word * WORD_BITS).min(WORD_BITS);
    if low >= high {
        return 0;
    }
    (u64::MAX >> (WORD_BITS - (high - low))) << low
}

/// Positions of the one bits of `word`, lowest first, counted from `base`.
#[inline]
pub fn ones_of(base: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            base + bit
        })
    })
}

impl BitSet {
    /// The empty set over `0..len`.
    pub fn new(len: usize) -> Self {
        BitSet { words: vec![0; len.div_ceil(WORD_BITS)], len }
    }

    /// The set of everything in `0..len`.
    pub fn full(len: usize) -> Self {
        let mut set = Self::new(len);
        set.insert_range(0..len);
        set
    }

    /// The set over `0..len` whose bits these are.
    ///
    /// # Panics
    /// When there are more or fewer words than that takes.
    pub fn from_words(words: Vec<u64>, len: usize) -> Self {
        assert_eq!(words.len(), len.div_ceil(WORD_BITS), "words of a set over 0..{len}");
        BitSet { words, len }
    }

    /// Size of the universe.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Number of members.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether `i` is a member.
    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.words[i / WORD_BITS] >> (i % WORD_BITS) & 1 == 1
    }

    /// Adds `i`; whether it was new.
    #[inline]
    pub fn insert(&mut self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of a set over 0..{}", self.len);
        let (word, bit) = (&mut self.words[i / WORD_BITS], 1 << (i % WORD_BITS));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes `i`; whether it was there.
    #[inline]
    pub fn remove(&mut self, i: usize) -> bool {
        let (word, bit) = (&mut self.words[i / WORD_BITS], 1 << (i % WORD_BITS));
        let there = *word & bit != 0;
        *word &= !bit;
        there
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Adds all of `range`.
    pub fn insert_range(&mut self, range: Range<usize>) {
        assert!(range.end <= self.len, "range {range:?} of a set over 0..{}", self.len);
        for (word, mask) in masked_words(range) {
            self.words[word] |= mask;
        }
    }

    /// Removes all of `range`.
    pub fn remove_range(&mut self, range: Range<usize>) {
        for (word, mask) in masked_words(range) {
            self.words[word] &= !mask;
        }
    }

    /// Number of members in `range`.
    pub fn count_range(&self, range: Range<usize>) -> usize {
        masked_words(range).map(|(w, mask)| (self.words[w] & mask).count_ones() as usize).sum()
    }

    /// Whether `range` has a member.
    pub fn any_in(&self, range: Range<usize>) -> bool {
        masked_words(range).any(|(word, mask)| self.words[word] & mask != 0)
    }

    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.iter_range(0..self.len)
    }

    /// Members in `range`, ascending.
    pub fn iter_range(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        masked_words(range)
            .flat_map(|(word, mask)| ones_of(word * WORD_BITS, self.words[word] & mask))
    }

    /// Adds all members of `other`, a set over the same universe.
    pub fn union(&mut self, other: &BitSet) {
        assert_eq!(self.len, other.len, "sets over different universes");
        for (word, &theirs) in self.words.iter_mut().zip(&other.words) {
            *word |= theirs;
        }
    }

    /// The bits as words, lowest first; bits past the end are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// A [`BitSet`] that many threads may change at once. All operations are relaxed: what other
/// memory a bit stands for must be published by whatever ends the parallel loop.
#[derive(Debug, Default)]
pub struct AtomicBitSet {
    words: Vec<AtomicU64>,
    len: usize,
}

impl AtomicBitSet {
    /// The empty set over `0..len`.
    pub fn new(len: usize) -> Self {
        BitSet::new(len).into()
    }

    /// Size of the universe.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| w.load(Ordering::Relaxed) == 0)
    }

    /// Number of members.
    pub fn count(&self) -> usize {
        self.count_range(0..self.len)
    }

    /// Whether `i` is a member.
    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.words[i / WORD_BITS].load(Ordering::Relaxed) >> (i % WORD_BITS) & 1 == 1
    }

    /// Adds `i`; whether this call was the one that did. Looks before it writes: setting a bit
    /// that is set already, the common case, leaves the cache line shared.
    #[inline]
    pub fn insert(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of a set over 0..{}", self.len);
        let (word, bit) = (&self.words[i / WORD_BITS], 1 << (i % WORD_BITS));
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Adds `i`, while no other thread changes the set; whether it was new.
    #[inline]
    pub fn insert_alone(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of a set over 0..{}", self.len);
        let (word, bit) = (&self.words[i / WORD_BITS], 1 << (i % WORD_BITS));
        let old = word.load(Ordering::Relaxed);
        word.store(old | bit, Ordering::Relaxed);
        old & bit == 0
    }

    /// Removes `i`; whether this call was the one that did.
    #[inline]
    pub fn remove(&self, i: usize) -> bool {
        let (word, bit) = (&self.words[i / WORD_BITS], 1 << (i % WORD_BITS));
        word.load(Ordering::Relaxed) & bit != 0
            && word.fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }

    /// Adds all of `range`.
    pub fn insert_range(&self, range: Range<usize>) {
        assert!(range.end <= self.len, "range {range:?} of a set over 0..{}", self.len);
        for (word, mask) in masked_words(range) {
            self.words[word].fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Removes all of `range`.
    pub fn remove_range(&self, range: Range<usize>) {
        for (word, mask) in masked_words(range) {
            self.words[word].fetch_and(!mask, Ordering::Relaxed);
        }
    }

    /// Number of members in `range`.
    pub fn count_range(&self, range: Range<usize>) -> usize {
        masked_words(range).map(|(w, m)| (self.word(w) & m).count_ones() as usize).sum()
    }

    /// Whether `range` has a member.
    pub fn any_in(&self, range: Range<usize>) -> bool {
        masked_words(range).any(|(word, mask)| self.word(word) & mask != 0)
    }

    /// Members in `range`, ascending, as they are when the iterator passes.
    pub fn iter_range(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        masked_words(range)
            .flat_map(|(word, mask)| ones_of(word * WORD_BITS, self.word(word) & mask))
    }

    /// Adds members of one word.
    #[inline]
    pub(crate) fn insert_word(&self, word: usize, bits: u64) {
        self.words[word].fetch_or(bits, Ordering::Relaxed);
    }

    /// Replaces the bits of one word, while no other thread changes them.
    pub(crate) fn set_word(&self, word: usize, bits: u64) {
        self.words[word].store(bits, Ordering::Relaxed);
    }

    /// All words.
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// The bits of one word.
    #[inline]
    pub(crate) fn word(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Relaxed)
    }
}

impl From<BitSet> for AtomicBitSet {
    fn from(set: BitSet) -> Self {
        AtomicBitSet { words: set.words.into_iter().map(AtomicU64::new).collect(), len: set.len }
    }
}

impl From<AtomicBitSet> for BitSet {
    fn from(set: AtomicBitSet) -> Self {
        BitSet { words: set.words.into_iter().map(AtomicU64::into_inner).collect(), len: set.len }
    }
}
