//! A set of vertices of the whole graph, held by one host that knows few of them.
//!
//! Pages of 2¹⁶ ids exist only where there are members, so memory follows the members, not the
//! graph; a member's rank numbers what a host keeps about it. All threads of a host may add members at
//! the same time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::parallel;

const PAGE_BITS: u32 = 16;
const PAGE_WORDS: usize = 1 << (PAGE_BITS - 6);

/// A set of 32-bit ids.
#[derive(Default)]
pub(crate) struct IdSet {
    pages: Vec<OnceLock<Box<Page>>>,
}

type Page = [AtomicU64; PAGE_WORDS];

fn empty_page() -> Box<Page> {
    Box::new([const { AtomicU64::new(0) }; PAGE_WORDS])
}

impl IdSet {
    /// The empty set of ids below `universe`.
    pub(crate) fn new(universe: u32) -> Self {
        let pages = (u64::from(universe) >> PAGE_BITS) as usize + 1;
        IdSet { pages: (0..pages).map(|_| OnceLock::new()).collect() }
    }

    /// Adds an id while no other thread adds any.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32) {
        let page = &mut self.pages[(id >> PAGE_BITS) as usize];
        page.get_or_init(empty_page);
        let page = page.get_mut().expect("the page was made");
        *page[word(id)].get_mut() |= bit(id);
    }

    /// Adds an id while other threads may do so, too.
    #[inline]
    pub(crate) fn insert_shared(&self, id: u32) {
        let word = &self.pages[(id >> PAGE_BITS) as usize].get_or_init(empty_page)[word(id)];
        // Most ids are named often: then the cache line stays shared by all threads.
        if word.load(Ordering::Relaxed) & bit(id) == 0 {
            word.fetch_or(bit(id), Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        let page = self.pages.get((id >> PAGE_BITS) as usize).and_then(OnceLock::get);
        page.is_some_and(|words| words[word(id)].load(Ordering::Relaxed) & bit(id) != 0)
    }

    /// Adds all members of `other`, a set over the same universe.
    pub(crate) fn union(&mut self, other: &IdSet) {
        for (mine, theirs) in self.pages.iter_mut().zip(&other.pages) {
            let Some(theirs) = theirs.get() else { continue };
            mine.get_or_init(empty_page);
            let mine = mine.get_mut().expect("the page was made");
            for (mine, theirs) in mine.iter_mut().zip(theirs.iter()) {
                *mine.get_mut() |= theirs.load(Ordering::Relaxed);
            }
        }
    }

    /// Members of the page with this number, ascending.
    fn page(&self, number: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.pages[number].get().into_iter().flat_map(|page| page.iter().enumerate());
        words.flat_map(move |(at, word)| {
            let base = (number << PAGE_BITS | at << 6) as u32;
            ones(word.load(Ordering::Relaxed)).map(move |bit| base + bit)
        })
    }

    /// Members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.pages.len()).flat_map(|number| self.page(number))
    }

    /// Members, ascending.
    pub(crate) fn to_vec(&self) -> Vec<u32> {
        let numbers: Vec<usize> = (0..self.pages.len()).collect();
        parallel::map(&numbers, |&number| self.page(number).collect::<Vec<u32>>()).concat()
    }

    /// The set with ranks.
    pub(crate) fn ranked(self) -> RankedIds {
        let mut before = 0;
        let pages = self.pages.into_iter().map(|page| {
            let words = page.into_inner()?;
            let ranked = words.iter().map(|members| {
                let members = members.load(Ordering::Relaxed);
                let block = Block { members, before, first: NOT_CONSECUTIVE };
                before += members.count_ones();
                block
            });
            Some(ranked.collect())
        });
        let pages = pages.collect();
        RankedIds { pages, len: before as usize }
    }
}

fn word(id: u32) -> usize {
    (id >> 6) as usize % PAGE_WORDS
}

fn bit(id: u32) -> u64 {
    1 << (id % 64)
}

fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}

/// A set of ids, each with its rank: the number of smaller members.
pub(crate) struct RankedIds {
    pages: Vec<Option<Box<[Block]>>>,
    len: usize,
}

#[derive(Clone, Copy)]
struct Block {
    members: u64,
    /// Members, and then numbers, in blocks before.
    before: u32,
    /// The number of the first member, if the members' numbers are consecutive.
    first: u32,
}

/// Instead of a number.
const NOT_CONSECUTIVE: u32 = u32::MAX;

impl RankedIds {
    /// Number of members.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The rank of a member.
    ///
    /// # Panics
    /// May panic, or give the rank of another, when `id` is no member.
    #[inline]
    pub(crate) fn rank(&self, id: u32) -> usize {
        let page = self.pages[(id >> PAGE_BITS) as usize].as_ref().expect("a member");
        let block = page[word(id)];
        (block.before + (block.members & (bit(id) - 1)).count_ones()) as usize
    }

    /// The set with a number for every member, given in ascending order of the members.
    pub(crate) fn numbered(mut self, numbers: Vec<u32>) -> NumberedIds {
        let kept = parallel::map_owned(self.pages.iter_mut().flatten(), |_, page| {
            let mut kept = Vec::new();
            for block in page.iter_mut() {
                let start = block.before as usize;
                let mine = &numbers[start..start + block.members.count_ones() as usize];
                if !mine.is_empty() && mine.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
                    block.first = mine[0];
                } else {
                    // Numbers that no block tells move together.
                    block.before = kept.len() as u32;
                    kept.extend_from_slice(mine);
                }
            }
            kept
        });
        let mut before = 0;
        for (page, kept) in self.pages.iter_mut().flatten().zip(&kept) {
            page.iter_mut().for_each(|block| block.before += before);
            before += kept.len() as u32;
        }
        NumberedIds { ids: self, numbers: kept.concat() }
    }

    /// Bytes this takes.
    pub(crate) fn bytes(&self) -> u64 {
        let pages = self.pages.iter().flatten().count() * PAGE_WORDS * size_of::<Block>();
        (pages + self.pages.len() * size_of::<Option<Box<[Block]>>>()) as u64
    }
}

/// A set of ids, each with a number. Most neighbours have consecutive numbers; those are found
/// with one look instead of two, and the second is the one that misses the cache.
pub(crate) struct NumberedIds {
    ids: RankedIds,
    /// Of members in blocks whose numbers are not consecutive.
    numbers: Vec<u32>,
}

impl NumberedIds {
    /// The number of a member.
    ///
    /// # Panics
    /// May panic, or give the number of another, when `id` is no member.
    #[inline]
    pub(crate) fn number(&self, id: u32) -> u32 {
        let page = self.ids.pages[(id >> PAGE_BITS) as usize].as_ref().expect("a member");
        let block = page[word(id)];
        let below = (block.members & (bit(id) - 1)).count_ones();
        match block.first {
            NOT_CONSECUTIVE => self.numbers[(block.before + below) as usize],
            first => first + below,
        }
    }

    /// The number of an id, if it is a member.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<u32> {
        let page = self.ids.pages.get((id >> PAGE_BITS) as usize)?.as_ref()?;
        (page[word(id)].members & bit(id) != 0).then(|| self.number(id))
    }

    /// Bytes this takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.ids.bytes() + 4 * self.numbers.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_count_smaller_members(
            a in prop::collection::btree_set(0..300_000u32, 0..200),
            b in prop::collection::btree_set(prop_oneof![0..70_000u32, 200_000..u32::MAX - 1], 0..200),
        ) {
            let set = |ids: &BTreeSet<u32>| {
                let mut set = IdSet::new(u32::MAX);
                ids.iter().for_each(|&id| set.insert(id));
                set
            };
            let mut both = set(&a);
            both.union(&set(&b));
            let expected: Vec<u32> = a.union(&b).copied().collect();
            prop_assert_eq!(both.to_vec(), expected.clone());
            prop_assert!(expected.iter().all(|&id| both.contains(id)));
            prop_assert!(a.contains(&7) || b.contains(&7) || !both.contains(7));
            let ranked = both.ranked();
            prop_assert_eq!(ranked.len(), expected.len());
            prop_assert!(expected.iter().enumerate().all(|(rank, &id)| ranked.rank(id) == rank));
            // Some neighbours numbered consecutively, some not.
            let number = |rank: usize| (rank + rank / 70 * 1000 + rank % 70 / 50 * (rank % 7)) as u32;
            let numbered = ranked.numbered((0..expected.len()).map(number).collect());
            prop_assert!(expected.iter().enumerate().all(|(rank, &id)| numbered.number(id) == number(rank)));
        }

        /// Members are numbered class by class, as in a layout.
        #[test]
        fn members_keep_their_numbers(
            ids in prop::collection::btree_set(0..3000u32, 0..2500),
            classes in 1..9u32,
            seed: u32,
        ) {
            let class = |id: u32| ((id ^ seed).wrapping_mul(0x9e37_79b1) >> 16) % classes;
            let mut ordered: Vec<u32> = ids.iter().copied().collect();
            ordered.sort_by_key(|&id| class(id));
            let mut set = IdSet::new(3000);
            ids.iter().for_each(|&id| set.insert(id));
            let ranked = set.ranked();
            let mut numbers = vec![0; ids.len()];
            ordered.iter().zip(7..).for_each(|(&id, number)| numbers[ranked.rank(id)] = number);
            let numbered = ranked.numbered(numbers);
            prop_assert!(ordered.iter().zip(7..).all(|(&id, number)| numbered.number(id) == number));
            let found = (0..4000).filter(|&id| numbered.find(id).is_some());
            prop_assert!(found.eq(ids));
        }
    }
}
