//! A set of vertices of the whole graph, held by one host that knows few of them.
//!
//! Pages of 2¹⁶ ids exist only where there are members, so memory follows the members, not the
//! graph; a member's rank numbers what a host keeps about it. All threads of a host fill a set and number it.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parton_graph::bits::BitSet;
use parton_graph::parallel;

const PAGE_BITS: u32 = 16;
const PAGE_WORDS: usize = 1 << (PAGE_BITS - 6);

/// Words of members.
type Page = [AtomicU64; PAGE_WORDS];

/// A set of 32-bit ids. All threads of a host may add to it.
#[derive(Default)]
pub(crate) struct IdSet {
    pages: Vec<OnceLock<Box<Page>>>,
}

impl IdSet {
    /// The empty set of ids below `universe`.
    pub(crate) fn new(universe: u32) -> Self {
        let pages = (u64::from(universe) >> PAGE_BITS) as usize + 1;
        IdSet { pages: (0..pages).map(|_| OnceLock::new()).collect() }
    }

    #[inline]
    pub(crate) fn insert(&self, id: u32) {
        let page = self.pages[(id >> PAGE_BITS) as usize].get_or_init(empty_page);
        let word = &page[word(id)];
        // Most ids come again and again: they need no lock on their cache line.
        if word.load(Ordering::Relaxed) & bit(id) == 0 {
            word.fetch_or(bit(id), Ordering::Relaxed);
        }
    }

    /// Adds all these, by all threads.
    pub(crate) fn extend(&self, ids: &[u32]) {
        parallel::for_each_index(ids.len(), |at| self.insert(ids[at]));
    }

    /// One more than the largest possible id.
    pub(crate) fn universe(&self) -> usize {
        self.pages.len() << PAGE_BITS
    }

    /// Adds the members of a set over the same universe, by all threads.
    pub(crate) fn extend_from_bits(&self, ids: &BitSet) {
        let numbered: Vec<_> = self.pages.iter().zip(ids.words().chunks(PAGE_WORDS)).collect();
        parallel::for_each(&numbered, |(page, more)| {
            if more.iter().any(|&word| word != 0) {
                add_words(page, more.iter().copied());
            }
        });
    }

    /// Adds the members of another set over the same universe, by all threads.
    pub(crate) fn extend_from_set(&self, ids: &IdSet) {
        let pages: Vec<_> = self.pages.iter().zip(&ids.pages).collect();
        parallel::for_each(&pages, |(page, more)| {
            if let Some(more) = more.get() {
                add_words(page, more.iter().map(|word| word.load(Ordering::Relaxed)));
            }
        });
    }

    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        let page = self.pages.get((id >> PAGE_BITS) as usize).and_then(OnceLock::get);
        page.is_some_and(|words| words[word(id)].load(Ordering::Relaxed) & bit(id) != 0)
    }

    /// All members of some sets over the same universe.
    pub(crate) fn union(sets: &[&IdSet]) -> IdSet {
        let num_pages = sets.iter().map(|set| set.pages.len()).max().unwrap_or(0);
        let numbers: Vec<usize> = (0..num_pages).collect();
        let page = |&number: &usize| {
            let union = OnceLock::new();
            for page in sets.iter().filter_map(|set| set.pages.get(number)?.get()) {
                let words = union.get_or_init(empty_page);
                for (word, members) in words.iter().zip(page.iter()) {
                    word.fetch_or(members.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
            union
        };
        IdSet { pages: parallel::map(&numbers, page) }
    }

    /// Members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.pages.len()).flat_map(|number| self.members_of(number))
    }

    /// The members of one page, ascending.
    fn members_of(&self, number: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.pages[number].get().into_iter().flat_map(|page| page.iter().enumerate());
        words.flat_map(move |(at, word)| {
            let base = (number << PAGE_BITS | at << 6) as u32;
            ones(word.load(Ordering::Relaxed)).map(move |bit| base + bit)
        })
    }

    /// Members, ascending.
    pub(crate) fn to_vec(&self) -> Vec<u32> {
        let numbers: Vec<usize> = (0..self.pages.len()).collect();
        parallel::concat(&parallel::map(&numbers, |&number| self.members_of(number).collect()))
    }

    /// The set with ranks.
    pub(crate) fn ranked(self) -> RankedIds {
        let count = |page: &OnceLock<Box<Page>>| -> u32 {
            let words = page.get().into_iter().flat_map(|page| page.iter());
            words.map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
        };
        let starts = starts(parallel::map(&self.pages, count));
        let ranked = |number: usize, page: OnceLock<Box<Page>>| -> Option<Box<RankedPage>> {
            let mut before = starts[number];
            let words = page.into_inner()?;
            let blocks = words.iter().map(|word| {
                let members = word.load(Ordering::Relaxed);
                let block = Block { members, before, first: NOT_CONSECUTIVE };
                before += members.count_ones();
                block
            });
            let blocks: Box<[Block]> = blocks.collect();
            blocks.try_into().ok()
        };
        let pages = parallel::map_owned(self.pages, ranked);
        RankedIds { pages, len: starts.last().map_or(0, |&len| len as usize) }
    }
}

fn add_words(page: &OnceLock<Box<Page>>, more: impl Iterator<Item = u64>) {
    for (word, more) in page.get_or_init(empty_page).iter().zip(more) {
        word.fetch_or(more, Ordering::Relaxed);
    }
}

fn empty_page() -> Box<Page> {
    Box::new([const { AtomicU64::new(0) }; PAGE_WORDS])
}

/// Where each of consecutive parts starts, and the last one ends.
fn starts(counts: Vec<u32>) -> Vec<u32> {
    let mut starts = vec![0];
    for count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    starts
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
    pages: Vec<Option<Box<RankedPage>>>,
    len: usize,
}

type RankedPage = [Block; PAGE_WORDS];

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
    pub(crate) fn numbered(self, numbers: &[u32]) -> NumberedIds {
        let of_block = |block: &Block| {
            &numbers[block.before as usize..(block.before + block.members.count_ones()) as usize]
        };
        let is_consecutive =
            |mine: &[u32]| !mine.is_empty() && mine.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        // Numbers that no block tells move together.
        let count = |page: &Option<Box<RankedPage>>| -> u32 {
            let blocks = page.iter().flat_map(|page| page.iter()).map(of_block);
            blocks.filter(|mine| !is_consecutive(mine)).map(|mine| mine.len() as u32).sum()
        };
        let starts = starts(parallel::map(&self.pages, count));
        let numbered = |number: usize, mut page: Option<Box<RankedPage>>| {
            let mut kept = Vec::with_capacity((starts[number + 1] - starts[number]) as usize);
            for block in page.iter_mut().flat_map(|page| page.iter_mut()) {
                let mine = of_block(block);
                if is_consecutive(mine) {
                    block.first = mine[0];
                } else {
                    block.before = starts[number] + kept.len() as u32;
                    kept.extend_from_slice(mine);
                }
            }
            (page, kept)
        };
        let (pages, kept): (Vec<_>, Vec<_>) =
            parallel::map_owned(self.pages, numbered).into_iter().unzip();
        NumberedIds { ids: RankedIds { pages, len: self.len }, numbers: parallel::concat(&kept) }
    }

    /// The set in which members are numbered by their places on a list of all of them. Places that are
    /// `skipped` may hold ids that are no members.
    pub(crate) fn numbered_by(self, list: &[u32], skipped: Range<usize>) -> NumberedIds {
        let numbers = parallel::generate(self.len, |_| AtomicU32::new(0));
        parallel::for_each_index(list.len(), |place| {
            if !skipped.contains(&place) {
                numbers[self.rank(list[place])].store(place as u32, Ordering::Relaxed);
            }
        });
        let numbers = parallel::generate(self.len, |rank| numbers[rank].load(Ordering::Relaxed));
        self.numbered(&numbers)
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
                let set = IdSet::new(u32::MAX);
                ids.iter().for_each(|&id| set.insert(id));
                set
            };
            let both = IdSet::union(&[&set(&a), &set(&b)]);
            let expected: Vec<u32> = a.union(&b).copied().collect();
            prop_assert_eq!(both.to_vec(), expected.clone());
            prop_assert!(expected.iter().all(|&id| both.contains(id)));
            prop_assert!(a.contains(&7) || b.contains(&7) || !both.contains(7));
            let ranked = both.ranked();
            prop_assert_eq!(ranked.len(), expected.len());
            prop_assert!(expected.iter().enumerate().all(|(rank, &id)| ranked.rank(id) == rank));
            // Some neighbours numbered consecutively, some not.
            let number = |rank: usize| (rank + rank / 70 * 1000 + rank % 70 / 50 * (rank % 7)) as u32;
            let numbered = ranked.numbered(&(0..expected.len()).map(number).collect::<Vec<_>>());
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
            let set = IdSet::new(3000);
            ids.iter().for_each(|&id| set.insert(id));
            let ranked = set.ranked();
            let mut numbers = vec![0; ids.len()];
            ordered.iter().zip(7..).for_each(|(&id, number)| numbers[ranked.rank(id)] = number);
            let numbered = ranked.numbered(&numbers);
            prop_assert!(ordered.iter().zip(7..).all(|(&id, number)| numbered.number(id) == number));
            let found = (0..4000).filter(|&id| numbered.find(id).is_some());
            prop_assert!(found.eq(ids));
        }
    }

    #[test]
    fn members_of_other_sets_are_added() {
        let sets = || [IdSet::new(300_000), IdSet::new(300_000)];
        let (few, many) =
            (|id: &u32| id % 70_001 == 5, |id: &u32| id.is_multiple_of(7) && *id > 1 << 17);
        let expected: Vec<u32> = (0..300_000).filter(|id| few(id) || many(id)).collect();
        let [set, other] = sets();
        (0..300_000).filter(few).for_each(|id| set.insert(id));
        (0..300_000).filter(many).for_each(|id| other.insert(id));
        set.extend_from_set(&other);
        assert_eq!(set.to_vec(), expected);

        let [set, _] = sets();
        (0..300_000).filter(few).for_each(|id| set.insert(id));
        let mut bits = BitSet::new(set.universe());
        (0..300_000).filter(many).for_each(|id| _ = bits.insert(id as usize));
        set.extend_from_bits(&bits);
        assert_eq!(set.to_vec(), expected);
    }
}
