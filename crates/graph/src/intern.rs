//! Sparse ids → small numbers, from many threads at once.
//!
//! The table is split into shards by hash. A thread interns a whole batch: it sorts the batch by
//! shard, then takes each shard's lock once. The numbers given out depend on the order of arrival,
//! so they are provisional: [`Interner::finish`] sorts the distinct ids (never the edges) and
//! tells each provisional number its final place, which depends on the ids alone.

use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use rayon::prelude::*;

use crate::id_list::NameList;
use crate::id_map::{Ids, Names};
use crate::parallel;

const SHARD_BITS: u32 = 6;
const SHARDS: usize = 1 << SHARD_BITS;

/// A kind of original id that can be interned: how a shard stores its distinct ids.
pub(crate) trait Key: Hash + Eq + Sync {
    /// Distinct ids in the order of their arrival.
    type Store: Default + Send + Sync;
    fn get(store: &Self::Store, index: usize) -> &Self;
    fn push(store: &mut Self::Store, key: &Self);
    fn len(store: &Self::Store) -> usize;
    /// The final ids, in order, from provisional numbers sorted by id.
    fn collect(stores: &[Self::Store], order: &[u32]) -> Ids;
}

impl Key for u64 {
    type Store = Vec<u64>;
    fn get(store: &Vec<u64>, index: usize) -> &u64 {
        &store[index]
    }
    fn push(store: &mut Vec<u64>, key: &u64) {
        store.push(*key);
    }
    fn len(store: &Vec<u64>) -> usize {
        store.len()
    }
    fn collect(stores: &[Vec<u64>], order: &[u32]) -> Ids {
        let key = |&p: &u32| stores[shard_of(p)][index_of(p)];
        Ids::from_sorted(parallel::generate(order.len(), |at| key(&order[at])))
    }
}

impl Key for [u8] {
    type Store = NameList;
    fn get(store: &NameList, index: usize) -> &[u8] {
        store.get(index)
    }
    fn push(store: &mut NameList, key: &[u8]) {
        store.push(key);
    }
    fn len(store: &NameList) -> usize {
        store.len()
    }
    fn collect(stores: &[NameList], order: &[u32]) -> Ids {
        let names = order.iter().map(|&p| <[u8] as Key>::get(&stores[shard_of(p)], index_of(p)));
        Ids::Names(names.collect::<Names>())
    }
}

/// A provisional number is the place in its shard, then the shard.
fn provisional(shard: usize, index: usize) -> Option<u32> {
    u32::try_from(index << SHARD_BITS | shard).ok()
}

fn shard_of(provisional: u32) -> usize {
    provisional as usize % SHARDS
}

fn index_of(provisional: u32) -> usize {
    (provisional >> SHARD_BITS) as usize
}

struct Shard<K: Key + ?Sized> {
    table: HashTable<u32>,
    store: K::Store,
}

/// The distinct ids seen so far.
pub(crate) struct Interner<K: Key + ?Sized> {
    hasher: RandomState,
    shards: Vec<Mutex<Shard<K>>>,
}

/// More distinct ids than 32-bit numbers.
#[derive(Debug)]
pub(crate) struct Full;

impl<K: Key + ?Sized> Interner<K> {
    pub(crate) fn new() -> Self {
        let shard = || Mutex::new(Shard { table: HashTable::new(), store: K::Store::default() });
        Interner { hasher: RandomState::default(), shards: (0..SHARDS).map(|_| shard()).collect() }
    }

    /// The provisional number of every id of a batch.
    pub(crate) fn intern<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) -> Result<Vec<u32>, Full>
    where
        K: 'k,
    {
        // Counting sort by shard; the high bits choose the shard, the low ones the table's slot.
        let hashes: Vec<u64> = keys.clone().map(|key| self.hasher.hash_one(key)).collect();
        let shard_of_hash = |hash: u64| (hash >> (64 - SHARD_BITS)) as usize;
        let mut starts = [0usize; SHARDS + 1];
        for &hash in &hashes {
            starts[shard_of_hash(hash) + 1] += 1;
        }
        for shard in 0..SHARDS {
            starts[shard + 1] += starts[shard];
        }
        let mut next = starts;
        let mut by_shard = vec![0u32; hashes.len()];
        for (i, &hash) in hashes.iter().enumerate() {
            let slot = &mut next[shard_of_hash(hash)];
            by_shard[*slot] = i as u32;
            *slot += 1;
        }
        let keys: Vec<&K> = keys.collect();
        let mut numbers = vec![0; keys.len()];
        // Threads start at different shards so that they do not queue behind one another.
        let first = rayon::current_thread_index().unwrap_or(0) * 7;
        for shard in (0..SHARDS).map(|s| (s + first) % SHARDS) {
            let batch = &by_shard[starts[shard]..starts[shard + 1]];
            if batch.is_empty() {
                continue;
            }
            let mut guard =
                self.shards[shard].lock().expect("no thread panicked holding this lock");
            let Shard { table, store } = &mut *guard;
            for &i in batch {
                let (key, hash) = (keys[i as usize], hashes[i as usize]);
                let entry = table.entry(
                    hash,
                    |&index| K::get(store, index as usize) == key,
                    |&index| self.hasher.hash_one(K::get(store, index as usize)),
                );
                let index = match entry {
                    hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
                    hashbrown::hash_table::Entry::Vacant(entry) => {
                        let index = K::len(store);
                        provisional(shard, index).ok_or(Full)?;
                        entry.insert(index as u32);
                        K::push(store, key);
                        index as u32
                    }
                };
                numbers[i as usize] = provisional(shard, index as usize).ok_or(Full)?;
            }
        }
        Ok(numbers)
    }

    /// Number of distinct ids.
    pub(crate) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|s| K::len(&s.lock().expect("no thread panicked holding this lock").store))
            .sum()
    }

    /// The distinct ids in order, and the place of each provisional number among them.
    pub(crate) fn finish(self) -> (Ids, Renumbering)
    where
        K: Ord,
    {
        let stores: Vec<K::Store> = self
            .shards
            .into_iter()
            .map(|s| s.into_inner().expect("no thread panicked holding this lock").store)
            .collect();
        let mut order: Vec<u32> = (0..SHARDS)
            .flat_map(|shard| {
                (0..K::len(&stores[shard])).map(move |index| (index << SHARD_BITS | shard) as u32)
            })
            .collect();
        order.par_sort_unstable_by(|&a, &b| {
            let key = |p: u32| K::get(&stores[shard_of(p)], index_of(p));
            key(a).cmp(key(b))
        });
        let slots = order.iter().max().map_or(0, |&last| last as usize + 1);
        let mut places = vec![0; slots];
        for (place, &p) in order.iter().enumerate() {
            places[p as usize] = place as u32;
        }
        (K::collect(&stores, &order), Renumbering(places))
    }
}

/// Final vertex of every provisional number.
pub(crate) struct Renumbering(Vec<u32>);

impl Renumbering {
    #[inline]
    pub(crate) fn of(&self, provisional: u32) -> u32 {
        self.0[provisional as usize]
    }
}
