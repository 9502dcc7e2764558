//! A set of ids that every thread fills on its own.
//!
//! Threads that set bits of one word take its cache line from each other each time. That costs more than a second
//! copy of the set, as long as the copies of all threads are small beside the ids that are noted.

use crate::bits::BitSet;
use crate::parallel::{self, Scratch};

/// Noted ids for each byte of all copies, at least.
const IDS_PER_BYTE: usize = 2;
/// Words that a task puts together.
const WORDS_PER_TASK: usize = 1 << 12;

/// One set for each thread that works.
pub struct ThreadSets {
    universe: usize,
    sets: Scratch<Option<BitSet>>,
}

impl ThreadSets {
    /// Empty sets of ids below `universe`, if they are small beside the ids that are going to be noted.
    pub fn affordable(universe: usize, noted: usize) -> Option<Self> {
        let bytes = universe.div_ceil(8).checked_mul(rayon::current_num_threads())?;
        let is_small = bytes.checked_mul(IDS_PER_BYTE)? <= noted;
        is_small.then(|| ThreadSets { universe, sets: Scratch::default() })
    }

    /// Adds ids to the set of the calling thread.
    #[inline]
    pub fn extend(&self, ids: impl Iterator<Item = usize>) {
        self.sets.with(|set| {
            let set = set.get_or_insert_with(|| BitSet::new(self.universe));
            ids.for_each(|id| _ = set.insert(id));
        });
    }

    /// All ids, by all threads.
    pub fn union(self) -> BitSet {
        let sets: Vec<BitSet> = self.sets.into_all().into_iter().flatten().collect();
        let mut union = vec![0; self.universe.div_ceil(64)];
        parallel::for_each_owned(union.chunks_mut(WORDS_PER_TASK), |chunk, words| {
            for set in &sets {
                let more = &set.words()[chunk * WORDS_PER_TASK..];
                words.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
            }
        });
        BitSet::from_words(union, self.universe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_ids_are_in_the_union() {
        let universe = 5 * 64 * WORDS_PER_TASK + 7;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let union = pool.install(|| {
            let sets = ThreadSets::affordable(universe, universe).expect("small");
            let noted: Vec<usize> = (0..100).collect();
            parallel::for_each(&noted, |&task| {
                sets.extend((task..universe).step_by(1000));
            });
            sets.union()
        });
        assert!((0..universe).all(|id| union.contains(id) == (id % 1000 < 100)));
        let nothing = ThreadSets::affordable(universe, universe).expect("small").union();
        assert_eq!((nothing.len(), nothing.count()), (universe, 0));
        assert!(ThreadSets::affordable(universe, 10).is_none(), "few ids, large copies");
    }
}
