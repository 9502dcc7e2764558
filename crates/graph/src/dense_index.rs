//! The dense index of a member of a set of ids: the number of smaller members. It turns the ids that
//! occur into `0, 1, 2, …` with 2 bits per possible id instead of a table of 32 bits each. Succinct
//! data structures know this as *rank* (Jacobson 1989).

use crate::bits::BitSet;

/// A set of ids that knows the dense index of each member in constant time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseIndex {
    /// One entry per 64 ids: which of them are members, and how many members come before.
    blocks: Vec<CountedWord>,
    universe: usize,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CountedWord {
    members: u64,
    before: u64,
}

impl DenseIndex {
    /// Dense indices of the members of `set`.
    pub fn new(set: &BitSet) -> Self {
        let mut before = 0;
        let mut blocks: Vec<CountedWord> = set
            .words()
            .iter()
            .map(|&members| {
                let block = CountedWord { members, before };
                before += u64::from(members.count_ones());
                block
            })
            .collect();
        blocks.push(CountedWord { members: 0, before });
        DenseIndex { blocks, universe: set.len(), count: before as usize }
    }

    /// Number of members below `id`, which may be the size of the universe; for a member, its
    /// place among the members.
    #[inline]
    pub fn below(&self, id: usize) -> usize {
        let block = self.blocks[id / 64];
        block.before as usize + (block.members & ((1 << (id % 64)) - 1)).count_ones() as usize
    }

    /// The place of `id` among the members, if it is one.
    #[inline]
    pub fn of(&self, id: usize) -> Option<usize> {
        let is_member = id < self.universe && self.blocks[id / 64].members >> (id % 64) & 1 == 1;
        is_member.then(|| self.below(id))
    }

    /// Number of possible ids.
    pub fn universe(&self) -> usize {
        self.universe
    }

    /// Number of members.
    pub fn count(&self) -> usize {
        self.count
    }
}
