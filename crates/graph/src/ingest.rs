//! Edges between *original* ids → a graph on dense ids. Any number of threads may add edges.
//!
//! Small integers wait as they are: at the end one bit per possible id says which of them occur, and
//! their dense indices are the vertices. Ids that are too sparse for that, too large, or names are
//! interned. The ids that arrive decide, not the caller.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::bits::{AtomicBitSet, BitSet};
use crate::build::{CsrBuilder, EdgeBatch};
use crate::csr::MAX_VERTICES;
use crate::dense_index::DenseIndex;
use crate::edge_file::Piece;
use crate::error::{Place, printable};
use crate::id_list::IdList;
use crate::id_map::{Ids, OriginalId};
use crate::intern::{Full, Interner, Key};
use crate::parallel;
use crate::thread_sets::ThreadSets;
use crate::weight::Weight;
use crate::{Csr, Error, Result};

/// The vertices `first, first + 1, …`, `count` of them, by original id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexRange {
    /// Smallest original id.
    pub first: u64,
    /// Number of vertices.
    pub count: u64,
}

impl VertexRange {
    /// Whether `id` is one of them.
    #[inline]
    pub fn contains(&self, id: u64) -> bool {
        id.wrapping_sub(self.first) < self.count
    }
}

impl std::fmt::Display for VertexRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            0 => f.write_str("none"),
            count => write!(f, "{} to {}", self.first, self.first.saturating_add(count - 1)),
        }
    }
}

/// Collects edges between original ids, then builds the graph.
pub struct Ingest<W> {
    /// Name of the input, for errors.
    file: String,
    /// Vertices the user or the file declares; then no other id may occur.
    declared: Option<VertexRange>,
    /// Pieces whose ids are small integers, kept as they are.
    small: CsrBuilder<W>,
    largest_small: AtomicU64,
    /// Pieces whose ids are provisional numbers of an interner.
    interned: Mutex<Vec<(u64, EdgeBatch<u32, W>)>>,
    integers: Interner<u64>,
    names: Interner<[u8]>,
    has_large: AtomicBool,
}

/// Possible ids that a thread lists at a time.
const IDS_PER_LISTING: usize = 1 << 18;
/// First integer that the builder's 32 bits cannot hold.
const FIRST_LARGE_ID: u64 = 1 << 32;

impl<W: Weight> Ingest<W> {
    /// Nothing collected yet; `file` names the input in errors.
    pub fn new(file: impl Into<String>, declared: Option<VertexRange>) -> Self {
        Ingest {
            file: file.into(),
            declared,
            small: CsrBuilder::new(),
            largest_small: AtomicU64::new(0),
            interned: Mutex::default(),
            integers: Interner::new(),
            names: Interner::new(),
            has_large: AtomicBool::new(false),
        }
    }

    /// Takes the edges of a piece of the input. Its weights must fit `W`.
    pub fn add(&self, piece: &Piece) -> Result<()> {
        let weight = |edge: usize| W::from_f64(piece.weights.get(edge).copied().unwrap_or(1.0));
        match (&piece.sources, &piece.destinations) {
            (IdList::Integers(sources), IdList::Integers(destinations)) => {
                self.add_integers(piece.order, sources, destinations, weight)
            }
            (IdList::Names(sources), IdList::Names(destinations)) => {
                if self.declared.is_some() {
                    return Err(Error::Request(format!(
                        "{}: a number of vertices can only be given when ids are integers, but \
                         these are names",
                        self.file
                    )));
                }
                let sources = self.intern(&self.names, sources.iter())?;
                let destinations = self.intern(&self.names, destinations.iter())?;
                self.keep(piece.order, sources, destinations, weight);
                Ok(())
            }
            _ => panic!("an edge between a name and an integer"),
        }
    }

    fn add_integers(
        &self,
        order: u64,
        sources: &[u64],
        destinations: &[u64],
        weight: impl Fn(usize) -> W,
    ) -> Result<()> {
        let ids = || sources.iter().chain(destinations).copied();
        if let Some(range) = self.declared {
            if let Some(stray) = ids().find(|&id| !range.contains(id)) {
                let problem = format!("an edge names vertex {stray}, but the vertices are {range}");
                return Err(Error::data(&self.file, Place::File, problem));
            }
            let vertex = |id: u64| (id - range.first) as u32;
            self.small.add_mapped(order, sources, destinations, weight, vertex);
            return Ok(());
        }
        let largest = ids().max().unwrap_or(0);
        if largest < FIRST_LARGE_ID {
            self.largest_small.fetch_max(largest, Ordering::Relaxed);
            self.small.add_mapped(order, sources, destinations, weight, |id| id as u32);
            return Ok(());
        }
        self.has_large.store(true, Ordering::Relaxed);
        let sources = self.intern(&self.integers, sources.iter())?;
        let destinations = self.intern(&self.integers, destinations.iter())?;
        self.keep(order, sources, destinations, weight);
        Ok(())
    }

    /// The graph, its weights converted, and the original ids of its vertices: those that edges
    /// name and those that are `listed`, which are of the same kind. If the list is `complete`, an
    /// edge may name no other.
    pub fn finish<V: Weight>(
        self,
        listed: IdList,
        complete: bool,
        convert: impl Fn(W) -> V + Sync,
    ) -> Result<(Csr<V>, Ids)> {
        if let Some(VertexRange { first, count }) = self.declared {
            self.check_count(count)?;
            let csr = self.small.build_converted(count as usize, convert);
            return Ok((csr, Ids::Range { first, count: count as usize }));
        }
        let file = self.file.clone();
        match listed {
            IdList::Names(list) => {
                self.intern(&self.names, list.iter())?;
                let (csr, ids) = self.finish_names(convert)?;
                if complete {
                    check_listed(&file, &ids, list.iter().map(OriginalId::Name).collect())?;
                }
                Ok((csr, ids))
            }
            IdList::Integers(mut list) => {
                list.par_sort_unstable();
                list.dedup();
                let (csr, ids) = self.finish_integers(&list, convert)?;
                if complete {
                    check_listed(&file, &ids, list.into_iter().map(OriginalId::Integer).collect())?;
                }
                Ok((csr, ids))
            }
        }
    }

    fn finish_names<V: Weight>(self, convert: impl Fn(W) -> V + Sync) -> Result<(Csr<V>, Ids)> {
        self.check_count(self.names.len() as u64)?;
        let pieces = self.interned.into_inner().expect("no thread panicked holding this lock");
        Ok(build_interned(pieces, self.names, convert))
    }

    fn finish_integers<V: Weight>(
        self,
        listed: &[u64],
        convert: impl Fn(W) -> V + Sync,
    ) -> Result<(Csr<V>, Ids)> {
        let largest_small = self.largest_small.load(Ordering::Relaxed);
        let largest = listed.last().map_or(largest_small, |&last| last.max(largest_small));
        let edges = self.small.num_edges() as u64;
        // One bit per possible id may cost as much as the destinations of the edges do, or what
        // is nothing: a single edge with a large id must not cost a walk over all smaller ones.
        let affordable = 8 * 4 * edges + (1 << 10);
        if self.has_large.load(Ordering::Relaxed) || largest >= FIRST_LARGE_ID.min(affordable) {
            return self.finish_sparse(listed, convert);
        }
        let occurring = self.occurring(largest as usize + 1, listed);
        let index = DenseIndex::new(&occurring);
        self.check_count(index.count() as u64)?;
        let pieces = parallel::pieces(0..occurring.len(), IDS_PER_LISTING);
        let ids = parallel::concat(&parallel::map(&pieces, |piece| {
            occurring.iter_range(piece.clone()).map(|id| id as u64).collect()
        }));
        Ok((self.small.build_indexed(&index, convert), Ids::from_sorted(ids)))
    }

    /// The small ids below `universe` that occur: `listed` ones, and those of edges.
    fn occurring(&self, universe: usize, listed: &[u64]) -> BitSet {
        let listed = listed.iter().map(|&id| id as usize);
        match ThreadSets::affordable(universe, 2 * self.small.num_edges()) {
            Some(sets) => {
                sets.extend(listed);
                self.small.for_each_bucket(|first, sources, destinations| {
                    sets.extend(ids_in_bucket(first, sources, destinations));
                });
                sets.union()
            }
            None => {
                let set = AtomicBitSet::new(universe);
                listed.for_each(|id| _ = set.insert(id));
                self.small.for_each_bucket(|first, sources, destinations| {
                    ids_in_bucket(first, sources, destinations).for_each(|id| _ = set.insert(id));
                });
                set.into()
            }
        }
    }

    fn finish_sparse<V: Weight>(
        mut self,
        listed: &[u64],
        convert: impl Fn(W) -> V + Sync,
    ) -> Result<(Csr<V>, Ids)> {
        self.intern(&self.integers, listed.iter())?;
        std::mem::take(&mut self.small).try_for_each_part(|order, piece| {
            let wide = |ids: Vec<u32>| ids.into_iter().map(u64::from).collect::<Vec<u64>>();
            let sources = self.intern(&self.integers, wide(piece.sources).iter())?;
            let destinations = self.intern(&self.integers, wide(piece.destinations).iter())?;
            self.keep(order, sources, destinations, |edge| piece.weights[edge]);
            Ok(())
        })?;
        self.check_count(self.integers.len() as u64)?;
        let pieces = self.interned.into_inner().expect("no thread panicked holding this lock");
        Ok(build_interned(pieces, self.integers, convert))
    }

    fn intern<'k, K: Key + ?Sized + 'k>(
        &self,
        interner: &Interner<K>,
        keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    ) -> Result<Vec<u32>> {
        interner
            .intern(keys)
            .map_err(|Full| Error::too_many_vertices(&self.file, interner.len() as u64))
    }

    fn keep(
        &self,
        order: u64,
        sources: Vec<u32>,
        destinations: Vec<u32>,
        weight: impl Fn(usize) -> W,
    ) {
        let weights = (0..sources.len()).map(weight).collect();
        let edges = EdgeBatch { sources, destinations, weights };
        self.interned.lock().expect("no thread panicked holding this lock").push((order, edges));
    }

    fn check_count(&self, vertices: u64) -> Result<()> {
        match vertices {
            0..=MAX_VERTICES => Ok(()),
            _ => Err(Error::too_many_vertices(&self.file, vertices)),
        }
    }
}

/// The ids of the edges of a bucket, given its first id and the low bits of sources.
fn ids_in_bucket<'b>(
    first: u32,
    sources: &'b [u16],
    destinations: &'b [u32],
) -> impl Iterator<Item = usize> + 'b {
    let sources = sources.iter().map(move |&low| (first | u32::from(low)) as usize);
    sources.chain(destinations.iter().map(|&id| id as usize))
}

/// Provisional numbers → final vertices → graph.
fn build_interned<K, W: Weight, V: Weight>(
    pieces: Vec<(u64, EdgeBatch<u32, W>)>,
    interner: Interner<K>,
    convert: impl Fn(W) -> V + Sync,
) -> (Csr<V>, Ids)
where
    K: Key + Ord + ?Sized,
{
    let (ids, renumbering) = interner.finish();
    let builder = CsrBuilder::new();
    parallel::for_each_owned(pieces, |_, (order, edges)| {
        let EdgeBatch { sources, destinations, weights } = &edges;
        let vertex = |provisional| renumbering.of(provisional);
        builder.add_mapped(order, sources, destinations, |edge| weights[edge], vertex);
    });
    (builder.build_converted(ids.len(), convert), ids)
}

/// Fails if `listed` does not hold all ids: one that it lacks must have come from an edge.
fn check_listed(file: &str, ids: &Ids, mut listed: Vec<OriginalId<'_>>) -> Result<()> {
    listed.par_sort_unstable();
    listed.dedup();
    if ids.len() == listed.len() {
        return Ok(());
    }
    let stray = (0..ids.len()).map(|v| ids.get(v)).find(|id| listed.binary_search(id).is_err());
    Err(unlisted(file, stray.unwrap_or(OriginalId::Name(b""))))
}

/// The error for an edge that names a vertex which is not listed although all should be.
pub fn unlisted(file: &str, id: OriginalId<'_>) -> Error {
    let stray = printable(id.to_string().as_bytes());
    let problem = format!("an edge names vertex {stray}, which the list of vertices does not");
    Error::data(file, Place::File, problem)
}
