//! Original ids → vertices, by a dictionary of which each host keeps a range.
//!
//! This is a distributed sample sort. Every host sorts the distinct ids of its share of an input. A
//! sample of them gives cuts, by which ids go to the hosts in ascending order. Every host numbers the
//! ids it receives after those of the hosts before it, and sends the numbers back. Vertices are
//! numbered in the order of their ids, as if one host had read the whole, and no host ever holds all
//! ids.
//!
//! [`Ingest`](parton_graph::ingest::Ingest) does the same in one memory, that of a host that is alone, with a bit
//! per possible id and hashed ids, neither of which can be split by value between hosts.

use std::borrow::{Borrow, Cow};
use std::ops::Range;

use parton_graph::bits::{AtomicBitSet, BitSet};
use parton_graph::csr::MAX_VERTICES;
use parton_graph::id_list::IdList;
use parton_graph::id_map::{Names, OriginalId};
use parton_graph::{DenseIndex, Error as GraphError, ingest, parallel};
use parton_net::{HostId, Net};
use rayon::prelude::*;

use crate::Result;

/// Ids each host shows to find the cuts.
const SAMPLES_PER_HOST: usize = 1 << 10;
/// A bit per possible id is cheaper than sorting while there are at most this many of them for each id that is named.
const POSSIBLE_IDS_PER_NAMED: usize = 16;
/// An index of all ids costs no more than a table of them while there are at most this many possible ids for each.
const POSSIBLE_IDS_PER_INDEXED: usize = 64;
/// This many possible ids are always few.
const FEW_POSSIBLE_IDS: usize = 1 << 16;
/// Possible ids that a thread lists at a time.
const IDS_PER_LISTING: usize = 1 << 18;
/// Distinct ids are sorted again when this many have come.
const IDS_PER_SORT: usize = 1 << 20;

/// A kind of original id.
pub(crate) trait Id: Ord + Clone + Send + Sync + 'static {
    /// Some of the ids of a list, which are of this kind.
    fn of(ids: &IdList, places: Range<usize>) -> Cow<'_, [Self]>;

    /// The distinct ids of `count` lists, ascending; `list` gives each list by its number.
    fn distinct<'l>(count: usize, list: &(dyn Fn(usize) -> Cow<'l, [Self]> + Sync)) -> Vec<Self>;

    /// The id as a small number, if it is one.
    fn small(&self) -> Option<usize>;

    /// Ids as they travel.
    fn encode<B: Borrow<Self>>(ids: impl Iterator<Item = B>) -> Vec<u8>;

    fn decode(bytes: &[u8]) -> Vec<Self>;

    /// The id as users know it.
    fn original(&self) -> OriginalId<'_>;

    /// A host's masters' ids.
    fn originals(ids: Vec<Self>) -> Originals;
}

impl Id for u64 {
    fn of(ids: &IdList, places: Range<usize>) -> Cow<'_, [u64]> {
        match ids {
            IdList::Integers(ids) => Cow::Borrowed(&ids[places]),
            IdList::Names(_) => Cow::Borrowed(&[]),
        }
    }

    fn distinct<'l>(count: usize, list: &(dyn Fn(usize) -> Cow<'l, [u64]> + Sync)) -> Vec<u64> {
        let numbers: Vec<usize> = (0..count).collect();
        let seen = parallel::map(&numbers, |&number| {
            let ids = list(number);
            (ids.len(), ids.iter().copied().max().unwrap_or(0))
        });
        let named: usize = seen.iter().map(|(len, _)| len).sum();
        let largest = seen.iter().map(|(_, max)| *max).max().unwrap_or(0);
        let affordable = POSSIBLE_IDS_PER_NAMED * named + FEW_POSSIBLE_IDS;
        if named == 0 || largest >= affordable as u64 {
            return sorted_distinct(count, list);
        }
        let occurring = AtomicBitSet::new(largest as usize + 1);
        parallel::for_each(&numbers, |&number| {
            for &id in &*list(number) {
                // Most ids come again and again: they need no lock on their cache line.
                if !occurring.contains(id as usize) {
                    occurring.insert(id as usize);
                }
            }
        });
        let pieces = parallel::pieces(0..occurring.len(), IDS_PER_LISTING);
        parallel::concat(&parallel::map(&pieces, |piece| {
            occurring.iter_range(piece.clone()).map(|id| id as u64).collect()
        }))
    }

    fn small(&self) -> Option<usize> {
        usize::try_from(*self).ok()
    }

    fn encode<B: Borrow<u64>>(ids: impl Iterator<Item = B>) -> Vec<u8> {
        let ids: Vec<u64> = ids.map(|id| *id.borrow()).collect();
        bytemuck::cast_slice(&ids).to_vec()
    }

    fn decode(bytes: &[u8]) -> Vec<u64> {
        bytemuck::pod_collect_to_vec(bytes)
    }

    fn original(&self) -> OriginalId<'_> {
        OriginalId::Integer(*self)
    }

    fn originals(ids: Vec<u64>) -> Originals {
        Originals::Integers(ids)
    }
}

impl Id for Box<[u8]> {
    fn of(ids: &IdList, places: Range<usize>) -> Cow<'_, [Self]> {
        match ids {
            IdList::Names(names) => places.map(|place| names.get(place).into()).collect(),
            IdList::Integers(_) => Cow::Borrowed(&[]),
        }
    }

    fn distinct<'l>(count: usize, list: &(dyn Fn(usize) -> Cow<'l, [Self]> + Sync)) -> Vec<Self> {
        sorted_distinct(count, list)
    }

    fn small(&self) -> Option<usize> {
        None
    }

    fn encode<B: Borrow<Self>>(ids: impl Iterator<Item = B>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for id in ids {
            let id = id.borrow();
            bytes.extend_from_slice(&(id.len() as u32).to_le_bytes());
            bytes.extend_from_slice(id);
        }
        bytes
    }

    fn decode(mut bytes: &[u8]) -> Vec<Self> {
        let mut ids = Vec::new();
        while let Some((len, rest)) = bytes.split_first_chunk::<4>() {
            let (id, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
            ids.push(id.into());
            bytes = rest;
        }
        ids
    }

    fn original(&self) -> OriginalId<'_> {
        OriginalId::Name(self)
    }

    fn originals(ids: Vec<Self>) -> Originals {
        Originals::Names(ids.iter().map(|id| &id[..]).collect())
    }
}

/// The original ids of a range of vertices.
pub(crate) struct Dictionary<I> {
    /// First vertex that each host keeps the id of, and the number of all vertices.
    starts: Vec<u32>,
    /// Number of all vertices, even if it is too large.
    total: u64,
    /// Ids of the vertices this host keeps.
    ids: Vec<I>,
}

/// Distinct ids, ascending, and where each of them is.
struct Sorted<I> {
    ids: Vec<I>,
    /// Which small numbers are ids, where that is a short list.
    index: Option<DenseIndex>,
}

impl<I: Id> Sorted<I> {
    fn new(ids: Vec<I>) -> Self {
        let few = POSSIBLE_IDS_PER_INDEXED * ids.len() + FEW_POSSIBLE_IDS;
        let largest = ids.last().and_then(I::small).filter(|&largest| largest < few);
        let index = largest.map(|largest| {
            let mut set = BitSet::new(largest + 1);
            ids.iter().filter_map(I::small).for_each(|id| _ = set.insert(id));
            DenseIndex::new(&set)
        });
        Sorted { ids, index }
    }

    #[inline]
    fn place(&self, id: &I) -> Option<usize> {
        match (&self.index, id.small()) {
            (Some(index), Some(id)) => index.of(id),
            _ => self.ids.binary_search(id).ok(),
        }
    }
}

/// The distinct ids of this host's share, and their vertices.
pub(crate) struct Known<I> {
    ids: Sorted<I>,
    /// `None` where a vertex is the place of its id: on a host that is alone with what its edges name.
    vertices: Option<Vec<u32>>,
}

impl<I: Id> Known<I> {
    /// The vertex that an id of this host's text names.
    #[inline]
    pub(crate) fn vertex(&self, id: &I) -> u32 {
        let place = self.ids.place(id).expect("an id of this host's text");
        self.vertices.as_ref().map_or(place as u32, |vertices| vertices[place])
    }
}

impl<I: Id> Dictionary<I> {
    /// Numbers the ids that edges of all hosts name, or that are listed, of which `named` and
    /// `listed` are this host's. If the lists are `complete`, edges may name no other. Every host
    /// must call this.
    pub(crate) fn build(
        net: &mut Net,
        file: &str,
        named: &[&IdList],
        listed: &[&IdList],
        complete: bool,
    ) -> Result<(Self, Known<I>)> {
        let [named, listed] = [named, listed].map(|lists| {
            I::distinct(lists.len(), &|number| I::of(lists[number], 0..lists[number].len()))
        });
        let cuts = cuts(net, &named, &listed)?;
        let hosts = net.num_hosts();
        // What is named, with its length in front, then what is listed.
        let pair = |(named, listed): (Vec<u8>, Vec<u8>)| {
            [&(named.len() as u64).to_le_bytes()[..], &named, &listed].concat()
        };
        let batches = cut_up(&named, &cuts, hosts).into_iter().zip(cut_up(&listed, &cuts, hosts));
        let received = net.all_to_all(batches.map(pair).collect())?;
        let (named_by_host, listed): (Vec<Vec<I>>, Vec<Vec<I>>) = received
            .iter()
            .map(|pair| {
                let (len, ids) = pair.split_at(8);
                let (named, listed) =
                    ids.split_at(bytemuck::pod_read_unaligned::<u64>(len) as usize);
                (I::decode(named), I::decode(listed))
            })
            .unzip();
        let listed = I::distinct(listed.len(), &|number| Cow::Borrowed(&listed[number][..]));
        if complete {
            check_listed(net, file, &named_by_host, &listed)?;
        }
        let is_all = hosts == 1 && listed.is_empty();
        let kept = I::distinct(hosts + 1, &|number| {
            Cow::Borrowed(named_by_host.get(number).map_or(&listed[..], |ids| &ids[..]))
        });

        let mut dictionary = Self::listed(net, kept)?;
        let total = dictionary.total;
        if total > MAX_VERTICES {
            return Err(GraphError::too_many_vertices(file, total).into());
        }
        let ids = Sorted::new(named);
        if is_all {
            return Ok((dictionary, Known { ids, vertices: None }));
        }
        let first = dictionary.starts[net.host().index()];
        let kept = Sorted::new(std::mem::take(&mut dictionary.ids));
        let number = |ids: &Vec<I>| -> Vec<u8> {
            let vertex = |place: usize| {
                first + kept.place(&ids[place]).expect("every named id is kept") as u32
            };
            bytemuck::cast_slice(&parallel::generate(ids.len(), vertex)).to_vec()
        };
        let numbers = net.all_to_all(named_by_host.iter().map(number).collect())?;
        dictionary.ids = kept.ids;
        let vertices: Vec<Vec<u32>> =
            numbers.iter().map(|n| bytemuck::pod_collect_to_vec::<u8, u32>(n)).collect();
        Ok((dictionary, Known { ids, vertices: Some(parallel::concat(&vertices)) }))
    }

    /// The dictionary of ids that ascend from host to host, of which `ids` are this host's. Every
    /// host must call this.
    pub(crate) fn listed(net: &mut Net, ids: Vec<I>) -> Result<Self> {
        let counts = net.all_gather((ids.len() as u64).to_le_bytes().to_vec())?;
        let (mut starts, mut total) = (vec![0], 0u64);
        for count in &counts {
            total += bytemuck::pod_read_unaligned::<u64>(count);
            starts.push(total as u32);
        }
        Ok(Dictionary { starts, total, ids })
    }

    /// Number of vertices.
    pub(crate) fn num_vertices(&self) -> u32 {
        self.starts[self.starts.len() - 1]
    }

    /// The ids of any vertices. Every host must call this.
    pub(crate) fn look_up(&self, net: &mut Net, vertices: &[u32]) -> Result<Originals> {
        let keeper = |vertex: u32| self.starts.partition_point(|&start| start <= vertex) - 1;
        let mut questions = vec![Vec::new(); net.num_hosts()];
        for &vertex in vertices {
            questions[keeper(vertex)].extend_from_slice(&vertex.to_le_bytes());
        }
        let questions = net.all_to_all(questions)?;
        let first = self.starts[net.host().index()];
        let answer = |question: Vec<u8>| {
            let vertices: Vec<u32> = bytemuck::pod_collect_to_vec(&question);
            I::encode(vertices.iter().map(|v| &self.ids[(v - first) as usize]))
        };
        let answers = net.all_to_all(questions.into_iter().map(answer).collect())?;
        let mut answers: Vec<_> =
            answers.iter().map(|answer| I::decode(answer).into_iter()).collect();
        let next = |&vertex: &u32| answers[keeper(vertex)].next();
        Ok(I::originals(vertices.iter().filter_map(next).collect()))
    }
}

/// The distinct ids of some lists, by sorting.
fn sorted_distinct<'l, I: Id>(
    count: usize,
    list: &(dyn Fn(usize) -> Cow<'l, [I]> + Sync),
) -> Vec<I> {
    // Some lists at a time, so that ids that repeat, as most do, are never all together in memory.
    let numbers: Vec<usize> = (0..count).collect();
    let mut all: Vec<I> = Vec::new();
    let mut settled = 0;
    for group in numbers.chunks(2 * rayon::current_num_threads()) {
        let lists = parallel::map(group, |&number| {
            let mut ids = list(number).into_owned();
            ids.sort_unstable();
            ids.dedup();
            ids
        });
        all.extend(lists.into_iter().flatten());
        if all.len() > 2 * settled + IDS_PER_SORT {
            all.par_sort_unstable();
            all.dedup();
            settled = all.len();
        }
    }
    all.par_sort_unstable();
    all.dedup();
    all
}

/// For every host but the last, the first id that goes to the next host; fewer if there are fewer ids
/// than hosts.
fn cuts<I: Id>(net: &mut Net, named: &[I], listed: &[I]) -> Result<Vec<I>> {
    let step = (named.len() + listed.len()).div_ceil(SAMPLES_PER_HOST).max(1);
    let samples = named.iter().step_by(step).chain(listed.iter().step_by(step));
    let (root, hosts) = (HostId(0), net.num_hosts());
    // One host finds them: the samples of all hosts on every host would take memory per pair.
    let samples = net.gather(root, I::encode(samples))?;
    let cuts = samples.map_or(Vec::new(), |samples| {
        let mut samples: Vec<I> = samples.iter().flat_map(|s| I::decode(s)).collect();
        samples.sort_unstable();
        I::encode((1..hosts).filter_map(|h| samples.get(samples.len() * h / hosts)))
    });
    Ok(I::decode(&net.broadcast(root, cuts)?))
}

/// Ascending ids, cut into what goes to each host.
fn cut_up<I: Id>(ids: &[I], cuts: &[I], hosts: usize) -> Vec<Vec<u8>> {
    let mut rest = ids;
    let mut batches: Vec<Vec<u8>> = Vec::with_capacity(hosts);
    for cut in cuts {
        let (mine, others) = rest.split_at(rest.partition_point(|id| id < cut));
        rest = others;
        batches.push(I::encode(mine.iter()));
    }
    batches.resize(hosts - 1, Vec::new());
    batches.push(I::encode(rest.iter()));
    batches
}

/// Whether every id that an edge names is listed. Every host must call this, and all come to the
/// same answer.
fn check_listed<I: Id>(net: &mut Net, file: &str, named: &[Vec<I>], listed: &[I]) -> Result<()> {
    let stray = named.iter().flatten().filter(|id| listed.binary_search(id).is_err()).min();
    let strays = net.all_gather(I::encode(stray.into_iter()))?;
    // Hosts keep ids in ascending order, so the first stray is the least.
    match strays.iter().find_map(|stray| I::decode(stray).pop()) {
        Some(stray) => Err(ingest::unlisted(file, stray.original()).into()),
        None => Ok(()),
    }
}

/// What users call some vertices, such as a host's masters.
#[derive(Clone, Debug, PartialEq)]
pub enum Originals {
    /// A vertex is called by its global id plus this.
    Offset(u64),
    /// Integers, one per vertex.
    Integers(Vec<u64>),
    /// Names, one per vertex.
    Names(Names),
}
