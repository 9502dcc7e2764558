//! Lists of earlier neighbours: of masters, and, a batch at a time, of mirrors.

use parton_graph::{Adjacency, LocalId};
use parton_net::HostId;
use parton_partition::partition::Finder;
use parton_partition::{End, Partition};
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery, Result, Substrate};
use rayon::prelude::*;

use super::order::{NOWHERE, Order};

/// The lists of this host's masters, by their places in the order.
#[derive(Default)]
pub(super) struct Lists {
    ends: Vec<u64>,
    entries: Vec<u32>,
    /// How often each entry counts; empty where all count once.
    weights: Vec<u8>,
}

/// A list, and how often each entry counts.
pub(super) type List<'l> = (&'l [u32], &'l [u8]);

impl Lists {
    pub(super) fn new(partition: &Partition, order: &Order, is_weighted: bool) -> Self {
        let adjacency = partition.out_edges();
        let (offsets, targets) = (adjacency.offsets(), adjacency.all_targets());
        let row =
            |proxy: u32| offsets[proxy as usize] as usize..offsets[proxy as usize + 1] as usize;
        let is_before = |rank: u32, target: &LocalId| order.rank(*target) < rank;
        let ranked = || order.proxies().par_iter().zip(0..order.len() as u32);
        let mut ends: Vec<u64> = Vec::with_capacity(order.len() + 1);
        ends.push(0);
        ends.par_extend(ranked().map(|(&proxy, rank)| {
            targets[row(proxy)].iter().filter(|target| is_before(rank, target)).count() as u64
        }));
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let all = ends[ends.len() - 1] as usize;
        let mut entries = vec![0; all];
        let mut weights = vec![0; if is_weighted { all } else { 0 }];
        let mut windows = Vec::new();
        let (mut free_entries, mut free_weights) = (&mut entries[..], &mut weights[..]);
        for first in (0..order.len()).step_by(PIECE) {
            let end = (first + PIECE).min(order.len());
            let count = (ends[end] - ends[first]) as usize;
            let (mine, rest) = std::mem::take(&mut free_entries).split_at_mut(count);
            let own = if is_weighted { count } else { 0 };
            let (my_weights, rest_weights) = std::mem::take(&mut free_weights).split_at_mut(own);
            (free_entries, free_weights) = (rest, rest_weights);
            windows.push((first as u32, end as u32, mine, my_weights));
        }
        let how_often = match adjacency {
            Adjacency::U32(csr) => csr.all_weights(),
            _ => &[],
        };
        windows.into_par_iter().for_each(|(first, end, mut entries, mut weights)| {
            let mut pairs: Vec<(u32, u8)> = Vec::new();
            for rank in first..end {
                let edges = row(order.proxies()[rank as usize]);
                let count = (ends[rank as usize + 1] - ends[rank as usize]) as usize;
                let (mine, rest) = std::mem::take(&mut entries).split_at_mut(count);
                entries = rest;
                if !is_weighted {
                    let before = targets[edges].iter().map(|target| order.rank(*target));
                    let before = before.filter(|&other| other < rank);
                    mine.iter_mut().zip(before).for_each(|(entry, other)| *entry = other);
                    mine.sort_unstable();
                    continue;
                }
                pairs.clear();
                pairs.extend(edges.filter_map(|edge| {
                    let other = order.rank(targets[edge]);
                    (other < rank).then(|| (other, how_often[edge] as u8))
                }));
                pairs.sort_unstable();
                let (my_weights, rest) = std::mem::take(&mut weights).split_at_mut(count);
                weights = rest;
                for ((entry, weight), pair) in mine.iter_mut().zip(my_weights).zip(&pairs) {
                    (*entry, *weight) = *pair;
                }
            }
        });
        Lists { ends, entries, weights }
    }

    /// The list of a vertex by its place; empty if it is a mirror.
    #[inline]
    pub(super) fn of(&self, rank: u32) -> List<'_> {
        let at = self.ends[rank as usize] as usize..self.ends[rank as usize + 1] as usize;
        (&self.entries[at.clone()], self.weights.get(at).unwrap_or_default())
    }

    fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Vertices whose lists a thread makes at a time.
const PIECE: usize = 1 << 10;
/// Entries of a batch, at least.
const SMALL_BATCH: usize = 1 << 20;

/// What this host needs of others, and they of it.
pub(super) struct Remote {
    /// Mirrors whose lists are wanted: place in the order, owner, place on the route, length.
    wanted: Vec<Wanted>,
    /// How many of them have come.
    come: usize,
    /// The most entries a batch should have.
    most: usize,
    finder: Finder,
    /// Of each peer: which proxies of this host occur in its lists.
    useful: Vec<Vec<u64>>,
    batch: Batch,
}

struct Wanted {
    rank: u32,
    owner: HostId,
    place: u32,
    len: u32,
}

/// Lists of some mirrors.
#[derive(Default)]
pub(super) struct Batch {
    /// The list of each place in the order; [`NOWHERE`] if it is not in the batch.
    which: Vec<u32>,
    lists: Lists,
}

impl Batch {
    /// Whether a vertex's list is here, by its place.
    #[inline]
    pub(super) fn has(&self, rank: u32) -> bool {
        self.which[rank as usize] != NOWHERE
    }

    /// The list of a vertex, by its place.
    #[inline]
    pub(super) fn of(&self, rank: u32) -> Option<List<'_>> {
        Some(self.which[rank as usize]).filter(|&which| which != NOWHERE).map(|w| self.lists.of(w))
    }
}

impl Remote {
    /// Finds out what is needed. Every host must call this.
    pub(super) fn new(
        partition: &Partition,
        order: &Order,
        lists: &Lists,
        substrate: &mut Substrate<'_>,
    ) -> Result<Self> {
        let masters = partition.num_masters() as u32;
        let mut lengths =
            CpuField::<Latest<u32>>::new(partition.num_proxies(), Delivery::Label, |proxy| {
                match order.rank(proxy) {
                    rank if rank != NOWHERE && proxy.0 < masters => lists.of(rank).0.len() as u32,
                    _ => 0,
                }
            });
        lengths.updated().insert_range(0..masters);
        substrate.broadcast(&mut lengths, End::Destination)?;

        // The lists of all but the first are looked through, for all but the last.
        let mut first = vec![0u64; order.len().div_ceil(64)];
        let mut second = first.clone();
        for rank in 0..order.len() as u32 {
            if let (list @ [_, _, ..], _) = lists.of(rank) {
                list[1..].iter().for_each(|&other| insert(&mut second, other));
                list[..list.len() - 1].iter().for_each(|&other| insert(&mut first, other));
            }
        }
        let mut wanted = Vec::new();
        for (owner, routes) in HostId::all(partition.num_hosts())
            .map(|host| (host, partition.routes(host)))
            .filter(|(host, _)| *host != partition.host())
        {
            for (proxy, place) in routes.mirrors(End::Destination).zip(0..) {
                let (rank, len) = (order.rank(LocalId(proxy)), lengths.get(LocalId(proxy)));
                if rank != NOWHERE && len > 0 && contains(&second, rank) {
                    wanted.push(Wanted { rank, owner, place, len });
                }
            }
        }
        let finder = partition.finder();
        let used = (0..order.len() as u32).filter(|&rank| contains(&first, rank));
        let used: Vec<u32> =
            used.map(|rank| partition.globals()[order.proxies()[rank as usize] as usize]).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&used);
        let told = HostId::all(partition.num_hosts()).map(|host| match host == partition.host() {
            true => Vec::new(),
            false => bytes.to_vec(),
        });
        let told = all_to_all(substrate, told.collect())?;
        let useful = told.iter().map(|list| {
            let mut useful = vec![0u64; partition.num_proxies().div_ceil(64)];
            let ids = list.chunks_exact(4).map(bytemuck::pod_read_unaligned);
            for proxy in ids.filter_map(|id| finder.local(id)) {
                insert(&mut useful, proxy.0);
            }
            useful
        });
        let useful = useful.collect();
        let most = lists.len().max(SMALL_BATCH);
        let batch = Batch { which: vec![NOWHERE; order.len()], lists: Lists::default() };
        Ok(Remote { wanted, come: 0, most, finder, useful, batch })
    }

    /// Whether all lists have come.
    pub(super) fn is_done(&self) -> bool {
        self.come == self.wanted.len()
    }

    /// The lists that came last.
    pub(super) fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Gets more lists, and gives others theirs. Every host must call this.
    pub(super) fn next_batch(
        &mut self,
        partition: &Partition,
        order: &Order,
        lists: &Lists,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        let begin = self.come;
        let mut entries = 0;
        while let Some(next) = self.wanted.get(self.come) {
            entries += next.len as usize;
            if entries > self.most && self.come > begin {
                break;
            }
            self.come += 1;
        }
        let asked = &self.wanted[begin..self.come];
        let mut questions: Vec<Vec<u8>> = vec![Vec::new(); partition.num_hosts()];
        for wanted in asked {
            questions[wanted.owner.index()].extend_from_slice(&wanted.place.to_le_bytes());
        }
        let questions = all_to_all(substrate, questions)?;
        let answer = |(host, places): (usize, &Vec<u8>)| {
            let masters = partition.routes(HostId(host as u16)).masters(End::Destination);
            let places = places.chunks_exact(4).map(bytemuck::pod_read_unaligned::<u32>);
            let mut answer = Vec::new();
            for place in places {
                self.pack(partition, order, lists, host, masters[place as usize], &mut answer);
            }
            answer
        };
        let answers = questions.par_iter().enumerate().map(answer).collect();
        let answers = all_to_all(substrate, answers)?;
        self.batch.which.fill(NOWHERE);
        let is_weighted = !lists.weights.is_empty();
        let mut lists = Lists { ends: vec![0], ..Lists::default() };
        // Lists come from each host in the order in which they were asked for.
        let mut rest: Vec<&[u8]> = answers.iter().map(|answer| &answer[..]).collect();
        for wanted in asked {
            let bytes = &mut rest[wanted.owner.index()];
            let (ids, weights) = take_list(bytes, is_weighted);
            let ids = ids.chunks_exact(4).map(bytemuck::pod_read_unaligned);
            let ranks = ids.map(|id| self.finder.local(id).map_or(NOWHERE, |p| order.rank(p)));
            lists.entries.extend(ranks);
            lists.weights.extend_from_slice(weights);
            self.batch.which[wanted.rank as usize] = lists.ends.len() as u32 - 1;
            lists.ends.push(lists.entries.len() as u64);
        }
        self.batch.lists = lists;
        Ok(())
    }

    /// Appends the list of a master, as far as a peer has a use for it.
    fn pack(
        &self,
        partition: &Partition,
        order: &Order,
        lists: &Lists,
        peer: usize,
        master: LocalId,
        message: &mut Vec<u8>,
    ) {
        let (entries, weights) = lists.of(order.rank(master));
        let is_useful = |rank: u32| contains(&self.useful[peer], order.proxies()[rank as usize]);
        let count = entries.iter().filter(|&&rank| is_useful(rank)).count() as u32;
        message.extend_from_slice(&count.to_le_bytes());
        for &rank in entries.iter().filter(|&&rank| is_useful(rank)) {
            let global = partition.globals()[order.proxies()[rank as usize] as usize];
            message.extend_from_slice(&global.to_le_bytes());
        }
        let useful = weights.iter().zip(entries).filter(|&(_, &rank)| is_useful(rank));
        message.extend(useful.map(|(weight, _)| weight));
    }
}

/// The next list of a message, and how often each entry counts.
fn take_list<'m>(message: &mut &'m [u8], is_weighted: bool) -> (&'m [u8], &'m [u8]) {
    let (head, rest) = message.split_at(4);
    let count = bytemuck::pod_read_unaligned::<u32>(head) as usize;
    let (ids, rest) = rest.split_at(4 * count);
    let (weights, rest) = rest.split_at(if is_weighted { count } else { 0 });
    *message = rest;
    (ids, weights)
}

/// Every host sends every other something, which is counted. Every host must call this.
fn all_to_all(substrate: &mut Substrate<'_>, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
    for (host, message) in HostId::all(messages.len()).zip(&messages) {
        if !message.is_empty() {
            substrate.count(host, message.len() as u64);
        }
    }
    Ok(substrate.net().all_to_all(messages)?)
}

fn insert(bits: &mut [u64], at: u32) {
    bits[at as usize / 64] |= 1 << (at % 64);
}

fn contains(bits: &[u64], at: u32) -> bool {
    bits[at as usize / 64] >> (at % 64) & 1 != 0
}
