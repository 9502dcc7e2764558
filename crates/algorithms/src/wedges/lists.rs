//! Lists of neighbours that come earlier in the degree order: of masters, and in batches of mirrors.

use parton_engine::device::SortedLists;
use parton_graph::{Adjacency, LocalId};
use parton_net::HostId;
use parton_partition::partition::Finder;
use parton_partition::{End, Partition};
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery, Result, Substrate};
use rayon::prelude::*;

use super::order::{DegreeOrder, NO_POSITION};

/// The lists of this host's masters, by position in the degree order.
#[derive(Default)]
pub(super) struct Lists {
    ends: Vec<u64>,
    entries: Vec<u32>,
    /// Multiplicities of entries; empty if all are 1.
    weights: Vec<u8>,
}

/// A list and the multiplicities of its entries.
pub(super) type List<'l> = (&'l [u32], &'l [u8]);

impl Lists {
    pub(super) fn new(partition: &Partition, order: &DegreeOrder, is_weighted: bool) -> Self {
        let adjacency = partition.out_edges();
        let (offsets, targets) = (adjacency.offsets(), adjacency.all_targets());
        let row =
            |proxy: u32| offsets[proxy as usize] as usize..offsets[proxy as usize + 1] as usize;
        let is_before = |position: u32, target: &LocalId| order.position(*target) < position;
        let positioned = || order.proxies().par_iter().zip(0..order.len() as u32);
        let mut ends: Vec<u64> = Vec::with_capacity(order.len() + 1);
        ends.push(0);
        ends.par_extend(positioned().map(|(&proxy, position)| {
            targets[row(proxy)].iter().filter(|target| is_before(position, target)).count() as u64
        }));
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let all = ends[ends.len() - 1] as usize;
        let mut entries = vec![0; all];
        let mut weights = vec![0; if is_weighted { all } else { 0 }];
        let mut windows = Vec::new();
        let (mut free_entries, mut free_weights) = (&mut entries[..], &mut weights[..]);
        for first in (0..order.len()).step_by(VERTICES_PER_TASK) {
            let end = (first + VERTICES_PER_TASK).min(order.len());
            let count = (ends[end] - ends[first]) as usize;
            let (mine, rest) = std::mem::take(&mut free_entries).split_at_mut(count);
            let own = if is_weighted { count } else { 0 };
            let (my_weights, rest_weights) = std::mem::take(&mut free_weights).split_at_mut(own);
            (free_entries, free_weights) = (rest, rest_weights);
            windows.push((first as u32, end as u32, mine, my_weights));
        }
        let multiplicities = match adjacency {
            Adjacency::U32(csr) => csr.all_weights(),
            _ => &[],
        };
        windows.into_par_iter().for_each(|(first, end, mut entries, mut weights)| {
            let mut pairs: Vec<(u32, u8)> = Vec::new();
            for position in first..end {
                let edges = row(order.proxies()[position as usize]);
                let count = (ends[position as usize + 1] - ends[position as usize]) as usize;
                let (mine, rest) = std::mem::take(&mut entries).split_at_mut(count);
                entries = rest;
                if !is_weighted {
                    let before = targets[edges].iter().map(|target| order.position(*target));
                    let before = before.filter(|&other| other < position);
                    mine.iter_mut().zip(before).for_each(|(entry, other)| *entry = other);
                    mine.sort_unstable();
                    continue;
                }
                pairs.clear();
                pairs.extend(edges.filter_map(|edge| {
                    let other = order.position(targets[edge]);
                    (other < position).then(|| (other, multiplicities[edge] as u8))
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

    /// The list at a position; empty for a mirror.
    #[inline]
    pub(super) fn of(&self, position: u32) -> List<'_> {
        let at = self.ends[position as usize] as usize..self.ends[position as usize + 1] as usize;
        (&self.entries[at.clone()], self.weights.get(at).unwrap_or_default())
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether entries have multiplicities.
    pub(super) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// The lists as a device sees them.
    pub(super) fn sorted(&self) -> SortedLists<'_> {
        SortedLists { ends: &self.ends, entries: &self.entries, weights: &self.weights }
    }
}

/// Vertices whose lists one task makes.
const VERTICES_PER_TASK: usize = 1 << 10;
/// A batch holds at least this many entries, if there are as many.
const MIN_ENTRIES_PER_BATCH: usize = 1 << 20;

/// The lists of mirrors, fetched from their masters' hosts batch by batch.
pub(super) struct Remote {
    /// All lists that this host needs.
    wanted: Vec<RemoteList>,
    /// How many of them have been received.
    num_received: usize,
    /// A batch with more than one list has at most this many entries.
    max_entries: usize,
    finder: Finder,
    /// For each peer, the set of proxies here that occur in its lists.
    useful_entries: Vec<Vec<u64>>,
    batch: Batch,
}

/// The list of a mirror.
struct RemoteList {
    position: u32,
    owner: HostId,
    /// Index of the mirror on the route from its owner.
    place: u32,
    len: u32,
}

/// The lists of some mirrors.
#[derive(Default)]
pub(super) struct Batch {
    /// The index of the list of each position; [`NO_POSITION`] if it is not in the batch.
    which: Vec<u32>,
    lists: Lists,
}

impl Batch {
    /// The number of the list of each position; [`NO_POSITION`] if it is not in the batch.
    pub(super) fn which(&self) -> &[u32] {
        &self.which
    }

    /// The lists.
    pub(super) fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Whether the batch holds the list of a position.
    #[inline]
    pub(super) fn has(&self, position: u32) -> bool {
        self.which[position as usize] != NO_POSITION
    }

    /// The list of a position.
    #[inline]
    pub(super) fn of(&self, position: u32) -> Option<List<'_>> {
        Some(self.which[position as usize])
            .filter(|&which| which != NO_POSITION)
            .map(|w| self.lists.of(w))
    }
}

impl Remote {
    /// Determines which lists and entries each host needs. Every host must call this.
    pub(super) fn new(
        partition: &Partition,
        order: &DegreeOrder,
        lists: &Lists,
        substrate: &mut Substrate<'_>,
    ) -> Result<Self> {
        let masters = partition.num_masters() as u32;
        let mut lengths =
            CpuField::<Latest<u32>>::new(partition.num_proxies(), Delivery::Label, |proxy| {
                match order.position(proxy) {
                    position if position != NO_POSITION && proxy.0 < masters => {
                        lists.of(position).0.len() as u32
                    }
                    _ => 0,
                }
            });
        lengths.updated().insert_range(0..masters);
        substrate.broadcast(&mut lengths, End::Destination)?;

        // A triangle needs the list of its second vertex, searched for its first one: any entry but
        // the first can be second, any but the last can be first.
        let mut first = vec![0u64; order.len().div_ceil(64)];
        let mut second = first.clone();
        for position in 0..order.len() as u32 {
            if let (list @ [_, _, ..], _) = lists.of(position) {
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
                let (position, len) = (order.position(LocalId(proxy)), lengths.get(LocalId(proxy)));
                if position != NO_POSITION && len > 0 && contains(&second, position) {
                    wanted.push(RemoteList { position, owner, place, len });
                }
            }
        }
        let finder = partition.finder();
        let used = (0..order.len() as u32).filter(|&position| contains(&first, position));
        let used: Vec<u32> = used
            .map(|position| partition.globals()[order.proxies()[position as usize] as usize])
            .collect();
        let bytes: &[u8] = bytemuck::cast_slice(&used);
        let sent = HostId::all(partition.num_hosts()).map(|host| match host == partition.host() {
            true => Vec::new(),
            false => bytes.to_vec(),
        });
        let received = all_to_all(substrate, sent.collect())?;
        let useful = received.iter().map(|list| {
            let mut useful = vec![0u64; partition.num_proxies().div_ceil(64)];
            let ids = list.chunks_exact(4).map(bytemuck::pod_read_unaligned);
            for proxy in ids.filter_map(|id| finder.local(id)) {
                insert(&mut useful, proxy.0);
            }
            useful
        });
        let useful = useful.collect();
        let max_entries = lists.len().max(MIN_ENTRIES_PER_BATCH);
        let batch = Batch { which: vec![NO_POSITION; order.len()], lists: Lists::default() };
        Ok(Remote { wanted, num_received: 0, max_entries, finder, useful_entries: useful, batch })
    }

    /// Whether all lists have been received.
    pub(super) fn is_done(&self) -> bool {
        self.num_received == self.wanted.len()
    }

    /// The batch received last.
    pub(super) fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Fetches the next batch, and answers the requests of other hosts. Every host must call this.
    pub(super) fn next_batch(
        &mut self,
        partition: &Partition,
        order: &DegreeOrder,
        lists: &Lists,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        let begin = self.num_received;
        let mut entries = 0;
        while let Some(next) = self.wanted.get(self.num_received) {
            entries += next.len as usize;
            if entries > self.max_entries && self.num_received > begin {
                break;
            }
            self.num_received += 1;
        }
        let asked = &self.wanted[begin..self.num_received];
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
        self.batch.which.fill(NO_POSITION);
        let is_weighted = lists.is_weighted();
        let mut lists = Lists { ends: vec![0], ..Lists::default() };
        // Each host answers requests in their order.
        let mut rest: Vec<&[u8]> = answers.iter().map(|answer| &answer[..]).collect();
        for wanted in asked {
            let bytes = &mut rest[wanted.owner.index()];
            let (ids, weights) = take_list(bytes, is_weighted);
            let ids = ids.chunks_exact(4).map(bytemuck::pod_read_unaligned);
            let positions =
                ids.map(|id| self.finder.local(id).map_or(NO_POSITION, |p| order.position(p)));
            lists.entries.extend(positions);
            lists.weights.extend_from_slice(weights);
            self.batch.which[wanted.position as usize] = lists.ends.len() as u32 - 1;
            lists.ends.push(lists.entries.len() as u64);
        }
        self.batch.lists = lists;
        Ok(())
    }

    /// Appends the list of a master, without entries that occur in no list of the peer.
    fn pack(
        &self,
        partition: &Partition,
        order: &DegreeOrder,
        lists: &Lists,
        peer: usize,
        master: LocalId,
        message: &mut Vec<u8>,
    ) {
        let (entries, weights) = lists.of(order.position(master));
        let is_useful = |position: u32| {
            contains(&self.useful_entries[peer], order.proxies()[position as usize])
        };
        let count = entries.iter().filter(|&&position| is_useful(position)).count() as u32;
        message.extend_from_slice(&count.to_le_bytes());
        for &position in entries.iter().filter(|&&position| is_useful(position)) {
            let global = partition.globals()[order.proxies()[position as usize] as usize];
            message.extend_from_slice(&global.to_le_bytes());
        }
        let useful = weights.iter().zip(entries).filter(|&(_, &position)| is_useful(position));
        message.extend(useful.map(|(weight, _)| weight));
    }
}

/// Takes the next list and its multiplicities off a message.
fn take_list<'m>(message: &mut &'m [u8], is_weighted: bool) -> (&'m [u8], &'m [u8]) {
    let (head, rest) = message.split_at(4);
    let count = bytemuck::pod_read_unaligned::<u32>(head) as usize;
    let (ids, rest) = rest.split_at(4 * count);
    let (weights, rest) = rest.split_at(if is_weighted { count } else { 0 });
    *message = rest;
    (ids, weights)
}

/// Exchanges messages between all hosts, and adds their bytes to the volume of the run. Every host
/// must call this.
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
