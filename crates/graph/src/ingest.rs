//! Edges between *original* ids → a graph on dense ids: what every format without its own
//! numbering feeds, from any number of threads.
//!
//! Small integers wait as they are; which of them occur is found at the end with one bit per
//! possible id, and their dense indices are the vertices. When ids are too sparse for that, or too large,
//! or names, they are interned. The caller never chooses: it is decided by what arrives.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::bits::{AtomicBitSet, BitSet};
use crate::build::{CsrBuilder, Edges};
use crate::csr::MAX_VERTICES;
use crate::dense_index::DenseIndex;
use crate::error::{Place, printable};
use crate::id_map::{Ids, OriginalId};
use crate::intern::{Full, Interner, Key};
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

/// A list of names in one buffer: ids of vertices, or the ends of edges one after the other.
#[derive(Clone, Debug, Default)]
pub struct NameList {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl NameList {
    /// Appends a name.
    pub fn push(&mut self, name: &[u8]) {
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
    }

    /// The names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.ends.len()).map(|i| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] };
            &self.text[start..self.ends[i]]
        })
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all names, keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
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
    interned: Mutex<Vec<(usize, Edges<u32, W>)>>,
    integers: Interner<u64>,
    names: Interner<[u8]>,
    has_large: AtomicBool,
    has_names: AtomicBool,
}

/// Vertices listed apart from edges.
pub struct VertexList {
    /// Their ids.
    pub ids: IdList,
    /// Whether these are all vertices: then an edge may name no other.
    pub complete: bool,
}

/// Original ids of one kind, in any order.
#[derive(Clone, Debug)]
pub enum IdList {
    /// Integers.
    Integers(Vec<u64>),
    /// Names.
    Names(NameList),
}

impl IdList {
    /// No ids, which would be names or integers.
    pub fn new(names: bool) -> Self {
        match names {
            true => IdList::Names(NameList::default()),
            false => IdList::Integers(Vec::new()),
        }
    }

    /// Appends an id.
    ///
    /// # Panics
    /// When it is of the other kind.
    pub fn push(&mut self, id: OriginalId<'_>) {
        match (self, id) {
            (IdList::Integers(ids), OriginalId::Integer(id)) => ids.push(id),
            (IdList::Names(names), OriginalId::Name(name)) => names.push(name),
            (list, id) => panic!("the id {id} among {} others of another kind", list.len()),
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdList::Integers(ids) => ids.len(),
            IdList::Names(names) => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all ids.
    pub fn bytes(&self) -> u64 {
        match self {
            IdList::Integers(ids) => 8 * ids.len() as u64,
            IdList::Names(names) => (names.text.len() + 8 * names.len()) as u64,
        }
    }
}

/// First integer that the builder's 32 bits cannot hold.
const LARGE: u64 = 1 << 32;

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
            has_names: AtomicBool::new(false),
        }
    }

    /// Takes edges between integers: piece number `order` of the input.
    pub fn add_integers(&self, order: usize, edges: &Edges<u64, W>) -> Result<()> {
        let ids = || edges.sources.iter().chain(&edges.destinations).copied();
        if let Some(range) = self.declared {
            if let Some(stray) = ids().find(|&id| !range.contains(id)) {
                return Err(self.undeclared(OriginalId::Integer(stray), &range.to_string()));
            }
            self.small.add_mapped(order, edges, |id| (id - range.first) as u32);
            return Ok(());
        }
        let largest = ids().max().unwrap_or(0);
        if largest < LARGE {
            self.largest_small.fetch_max(largest, Ordering::Relaxed);
            self.small.add_mapped(order, edges, |id| id as u32);
            return Ok(());
        }
        self.has_large.store(true, Ordering::Relaxed);
        let sources = self.intern(&self.integers, edges.sources.iter())?;
        let destinations = self.intern(&self.integers, edges.destinations.iter())?;
        self.keep(order, Edges { sources, destinations, weights: edges.weights.clone() });
        Ok(())
    }

    /// Takes edges between names, piece number `order` of the input: `ends` holds source and
    /// destination of each edge in turn.
    pub fn add_names(&self, order: usize, ends: &NameList, weights: Vec<W>) -> Result<()> {
        if self.declared.is_some() {
            return Err(Error::Request(format!(
                "{}: a number of vertices can only be given when ids are integers, but these are \
                 names",
                self.file
            )));
        }
        self.has_names.store(true, Ordering::Relaxed);
        let numbers = self.intern(&self.names, ends.iter())?;
        let sources = numbers.iter().step_by(2).copied().collect();
        let destinations = numbers.iter().skip(1).step_by(2).copied().collect();
        self.keep(order, Edges { sources, destinations, weights });
        Ok(())
    }

    /// The graph, its weights converted, and the original ids of its vertices: those that edges
    /// name and those that are listed.
    pub fn finish<V: Weight>(
        self,
        listed: Option<VertexList>,
        convert: impl Fn(W) -> V + Sync,
    ) -> Result<(Csr<V>, Ids)> {
        if let Some(VertexRange { first, count }) = self.declared {
            self.check_count(count)?;
            let csr = self.small.build_converted(count as usize, convert);
            return Ok((csr, Ids::Range { first, count: count as usize }));
        }
        let complete = listed.as_ref().is_some_and(|list| list.complete);
        match listed.map(|list| list.ids) {
            Some(IdList::Names(list)) => {
                self.intern(&self.names, list.iter())?;
                let mut sorted: Vec<&[u8]> = list.iter().collect();
                sorted.sort_unstable();
                sorted.dedup();
                let (file, result) = (self.file.clone(), self.finish_names(convert)?);
                let known = |id: OriginalId<'_>| match id {
                    OriginalId::Name(name) => sorted.binary_search(&name).is_ok(),
                    OriginalId::Integer(_) => false,
                };
                let all_listed = !complete || result.1.len() == sorted.len();
                if all_listed { Ok(result) } else { Err(incomplete(&file, &result.1, known)) }
            }
            Some(IdList::Integers(mut list)) => {
                list.par_sort_unstable();
                list.dedup();
                let (file, result) = (self.file.clone(), self.finish_integers(&list, convert)?);
                let known = |id: OriginalId<'_>| match id {
                    OriginalId::Integer(id) => list.binary_search(&id).is_ok(),
                    OriginalId::Name(_) => false,
                };
                let all_listed = !complete || result.1.len() == list.len();
                if all_listed { Ok(result) } else { Err(incomplete(&file, &result.1, known)) }
            }
            None if self.has_names.load(Ordering::Relaxed) => self.finish_names(convert),
            None => self.finish_integers(&[], convert),
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
        let affordable = 8 * 4 * edges + (1 << 16);
        if self.has_large.load(Ordering::Relaxed) || largest >= LARGE.min(affordable) {
            return self.finish_sparse(listed, convert);
        }
        let occurring = AtomicBitSet::new(largest as usize + 1);
        self.small.for_each_bucket(|first, sources, destinations| {
            for &low in sources {
                occurring.insert((first | u32::from(low)) as usize);
            }
            for &destination in destinations {
                occurring.insert(destination as usize);
            }
        });
        for &id in listed {
            occurring.insert(id as usize);
        }
        let occurring = BitSet::from(occurring);
        let index = DenseIndex::new(&occurring);
        self.check_count(index.count() as u64)?;
        let ids = Ids::from_sorted(occurring.iter().map(|id| id as u64).collect());
        Ok((self.small.build_indexed(&index, convert), ids))
    }

    fn finish_sparse<V: Weight>(
        mut self,
        listed: &[u64],
        convert: impl Fn(W) -> V + Sync,
    ) -> Result<(Csr<V>, Ids)> {
        self.intern(&self.integers, listed.iter())?;
        for (order, piece) in std::mem::take(&mut self.small).into_parts() {
            let wide = |ids: Vec<u32>| ids.into_iter().map(u64::from).collect::<Vec<u64>>();
            let sources = self.intern(&self.integers, wide(piece.sources).iter())?;
            let destinations = self.intern(&self.integers, wide(piece.destinations).iter())?;
            self.keep(order, Edges { sources, destinations, weights: piece.weights });
        }
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

    fn keep(&self, order: usize, edges: Edges<u32, W>) {
        self.interned.lock().expect("no thread panicked holding this lock").push((order, edges));
    }

    fn check_count(&self, vertices: u64) -> Result<()> {
        match vertices {
            0..=MAX_VERTICES => Ok(()),
            _ => Err(Error::too_many_vertices(&self.file, vertices)),
        }
    }

    fn undeclared(&self, id: OriginalId<'_>, vertices: &str) -> Error {
        let problem = format!("an edge names vertex {id}, but the vertices are {vertices}");
        Error::data(&self.file, Place::File, problem)
    }
}

/// Provisional numbers → final vertices → graph.
fn build_interned<K, W: Weight, V: Weight>(
    pieces: Vec<(usize, Edges<u32, W>)>,
    interner: Interner<K>,
    convert: impl Fn(W) -> V + Sync,
) -> (Csr<V>, Ids)
where
    K: Key + Ord + ?Sized,
{
    let (ids, renumbering) = interner.finish();
    let builder = CsrBuilder::new();
    pieces.into_par_iter().for_each(|(order, edges)| {
        builder.add_mapped(order, &edges, |provisional| renumbering.of(provisional));
    });
    (builder.build_converted(ids.len(), convert), ids)
}

/// The error for a list that does not hold all ids: those it lacks must have come from edges.
fn incomplete(file: &str, ids: &Ids, known: impl Fn(OriginalId<'_>) -> bool) -> Error {
    let stray = (0..ids.len()).map(|v| ids.get(v)).find(|&id| !known(id));
    unlisted(file, stray.unwrap_or(OriginalId::Name(b"")))
}

/// The error for an edge that names a vertex which is not listed although all should be.
pub fn unlisted(file: &str, id: OriginalId<'_>) -> Error {
    let stray = printable(id.to_string().as_bytes());
    let problem = format!("an edge names vertex {stray}, which the list of vertices does not");
    Error::data(file, Place::File, problem)
}
