//! Rows: consecutive vertices with their edges, the share of a graph that one host reads.
//!
//! A file that holds a graph's arrays can be read a range of rows at a time: [`RowFile`] finds any
//! row by its offset and maps or reads just the pages the range needs. Threads look through what is
//! mapped piece by piece; together they are about as fast as the file can be read.

use std::ops::Range;

use bytemuck::Pod;
use rayon::prelude::*;

use crate::buffer::Buffer;
use crate::csr::MAX_VERTICES;
use crate::formats::arrays::{self, Meter};
use crate::progress::{Progress, Silent};
use crate::source::{ByteSource, Source};
use crate::tidy::Tidy;
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Direction, Error, Graph, Ids, LocalId, Result, with_csr};

/// Out-edges, or in-edges, of the vertices `first, first + 1, …`.
///
/// Row `r` of `adjacency` is vertex `first + r`; its targets, which are the sources of in-edges,
/// are *vertices of the whole graph*, numbered from 0, not rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The vertex of row 0.
    pub first: u64,
    /// One row per vertex.
    pub adjacency: Adjacency,
}

impl Rows {
    /// The vertices whose rows these are.
    pub fn vertices(&self) -> Range<u64> {
        self.first..self.first + self.adjacency.num_vertices() as u64
    }

    /// Whether no edge is a self-loop or parallel to another, and destinations are in order.
    pub fn are_simple(&self) -> bool {
        let base = self.first as u32;
        let offsets = self.adjacency.offsets();
        let targets = self.adjacency.all_targets();
        (0..self.adjacency.num_vertices()).into_par_iter().with_min_len(1 << 10).all(|row| {
            let ends = &targets[offsets[row] as usize..offsets[row + 1] as usize];
            let this = LocalId(base + row as u32);
            ends.is_sorted_by(|a, b| a < b) && ends.binary_search(&this).is_err()
        })
    }

    /// The rows without self-loops, of parallel edges only the one of least weight, in order.
    pub fn simplified(self) -> Self {
        let base = self.first as u32;
        let adjacency = with_csr!(self.adjacency, csr => csr.tidied(Tidy::SIMPLE, base).into());
        Rows { adjacency, ..self }
    }

    /// Whether a weight of a file with [signed weights](RowFile::has_signed_weights) is negative.
    pub fn has_negative_weights(&self) -> bool {
        match &self.adjacency {
            Adjacency::U32(csr) => csr.all_weights().par_iter().any(|&bits| (bits as i32) < 0),
            _ => false,
        }
    }

    /// The rows of a file with signed weights, of which some, here or elsewhere, are negative.
    pub fn with_signs(self) -> Self {
        let adjacency = match self.adjacency {
            Adjacency::U32(csr) => csr.reweighted(|_, _, bits| f64::from(bits as i32)).into(),
            other => other,
        };
        Rows { adjacency, ..self }
    }
}

/// A file of arrays, open for reading rows.
pub struct RowFile {
    bytes: ByteSource<'static>,
    layout: RowLayout,
    ids: Ids,
    read_as: String,
    checksums: Option<Box<dyn Checksums>>,
}

/// What a file can be checked for when all of it is read.
pub(crate) trait Checksums: Send + Sync {
    /// What is wrong with a block of `bytes` at position `at`.
    fn check(&self, at: u64, bytes: &[u8]) -> Option<String>;

    /// Checks what belongs to no row.
    fn check_rest(&self, file: &ByteSource<'_>) -> Result<()>;
}

/// How much of what is read is checked.
#[derive(Clone, Copy)]
enum Checks<'a> {
    /// Only what a [`Csr`] itself insists on.
    Sizes,
    /// That numbers make a graph.
    Numbers,
    /// Checksums, too.
    Blocks(&'a dyn Checksums),
}

/// Where a file keeps its arrays.
#[derive(Clone, Copy, Debug)]
pub struct RowLayout {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges.
    pub edges: u64,
    /// Where the edges lie.
    pub out_edges: RowArrays,
    /// Where they lie by destination, if they do.
    pub in_edges: Option<RowArrays>,
    /// How ends of edges are stored.
    pub targets: Targets,
    /// Type of the weights.
    pub weight_kind: WeightKind,
    /// How they are stored.
    pub weights: StoredWeights,
    /// Whether every edge is there in both directions.
    pub direction: Direction,
}

/// Where a file keeps the arrays of its edges, by source or by destination.
#[derive(Clone, Copy, Debug)]
pub struct RowArrays {
    /// Where the offsets of vertices 1, 2, … lie; that of vertex 0 is 0.
    pub ends_at: u64,
    /// Where the destinations lie, or the sources of in-edges.
    pub targets_at: u64,
    /// Where the weights lie, if apart from the destinations.
    pub weights_at: u64,
}

/// How a file stores weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredWeights {
    /// As they are in memory.
    Same,
    /// As 64-bit integers, where `u32` are wanted.
    U64,
}

/// How a file stores destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// As 32-bit numbers.
    U32,
    /// As 64-bit numbers.
    U64,
    /// As 32-bit numbers, each with its weight behind it, a signed 32-bit integer. The weights are
    /// read as they are, as `u32`: whether any is negative, only all rows together tell.
    WithWeights,
}

impl Targets {
    fn bytes(self) -> u64 {
        match self {
            Targets::U32 => 4,
            Targets::U64 | Targets::WithWeights => 8,
        }
    }
}

/// A destination and its weight.
type Pair = [u32; 2];

impl RowFile {
    /// Opens `source`, in which a graph lies like this, for reading rows; `read_as` says so to users.
    pub(crate) fn new(
        source: &Source,
        layout: RowLayout,
        ids: Ids,
        read_as: String,
    ) -> Result<Self> {
        if layout.vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(source.name(), layout.vertices));
        }
        let bytes = source.bytes()?.into_owned();
        Ok(RowFile { bytes, layout, ids, read_as, checksums: None })
    }

    /// The file, which has checksums.
    pub(crate) fn with_checksums(self, checksums: impl Checksums + 'static) -> Self {
        RowFile { checksums: Some(Box::new(checksums)), ..self }
    }

    /// All rows, verified as far as the file allows.
    pub(crate) fn graph(self, progress: &dyn Progress) -> Result<Graph> {
        let RowLayout { vertices, edges, targets, weight_kind, .. } = self.layout;
        let edge_bytes = targets.bytes() + weight_kind.bytes() as u64;
        let meter = Meter::start(progress, "reading", 8 * vertices + edge_bytes * edges);
        let checks = self.checksums.as_deref().map_or(Checks::Numbers, Checks::Blocks);
        let mut rows = self.out_edges().rows(0..vertices, checks, &meter)?;
        if let Some(checksums) = &self.checksums {
            checksums.check_rest(&self.bytes)?;
        }
        if rows.has_negative_weights() && self.has_signed_weights() {
            rows = rows.with_signs();
        }
        Ok(self.into_graph(rows))
    }

    /// All rows, of which nothing is looked at.
    pub(crate) fn mapped_graph(self) -> Result<Graph> {
        let meter = Meter::start(&Silent, "reading", 0);
        let rows = self.out_edges().rows(0..self.layout.vertices, Checks::Sizes, &meter)?;
        Ok(self.into_graph(rows))
    }

    /// All in-edges, verified as far as the file allows.
    pub(crate) fn verified_in_rows(&self) -> Result<Option<Rows>> {
        let meter = Meter::start(&Silent, "reading", 0);
        let checks = self.checksums.as_deref().map_or(Checks::Numbers, Checks::Blocks);
        let all = 0..self.layout.vertices;
        self.in_edges().map(|arrays| arrays.rows(all, checks, &meter)).transpose()
    }

    fn into_graph(self, rows: Rows) -> Graph {
        let RowFile { ids, read_as, layout: RowLayout { direction, .. }, .. } = self;
        Graph { adjacency: rows.adjacency, ids, direction, read_as }
    }

    /// What to call the file in messages.
    pub fn name(&self) -> &str {
        self.bytes.name()
    }

    /// Whether weights are read as `u32` but mean `i32`.
    pub fn has_signed_weights(&self) -> bool {
        self.layout.targets == Targets::WithWeights
    }

    /// Number of vertices of the whole graph.
    pub fn num_vertices(&self) -> u64 {
        self.layout.vertices
    }

    /// Whether every edge is there in both directions.
    pub fn direction(&self) -> Direction {
        self.layout.direction
    }

    /// Number of edges of the whole graph.
    pub fn num_edges(&self) -> u64 {
        self.layout.edges
    }

    /// Type of the weights.
    pub fn weight_kind(&self) -> WeightKind {
        self.layout.weight_kind
    }

    /// What users call the vertices; mapped, where it is a table.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Number of edges before those of `vertex`.
    pub fn offset(&self, vertex: u64) -> Result<u64> {
        self.out_edges().offset(vertex)
    }

    /// The rows of a range of vertices. Their numbers are checked, so that any row can be used.
    pub fn rows(&self, vertices: Range<u64>) -> Result<Rows> {
        let meter = Meter::start(&Silent, "reading", 0);
        self.out_edges().rows(vertices, Checks::Numbers, &meter)
    }

    /// Whether the file also lists edges by destination.
    pub fn has_in_rows(&self) -> bool {
        self.layout.in_edges.is_some()
    }

    /// Number of in-edges before those of `vertex`, where the file has them; else 0.
    pub fn in_offset(&self, vertex: u64) -> Result<u64> {
        self.in_edges().map_or(Ok(0), |arrays| arrays.offset(vertex))
    }

    /// The in-edges of a range of vertices, checked like [rows](RowFile::rows); `None` where the
    /// file has none. That they are the out-edges turned around is taken on trust.
    pub fn in_rows(&self, vertices: Range<u64>) -> Result<Option<Rows>> {
        let meter = Meter::start(&Silent, "reading", 0);
        let rows = self.in_edges().map(|arrays| arrays.rows(vertices, Checks::Numbers, &meter));
        rows.transpose()
    }

    fn in_edges(&self) -> Option<EdgeArrays<'_>> {
        self.layout.in_edges.map(|at| EdgeArrays { file: self, at, is_in: true })
    }

    fn out_edges(&self) -> EdgeArrays<'_> {
        EdgeArrays { file: self, at: self.layout.out_edges, is_in: false }
    }
}

/// The edges of a file, by source or by destination.
#[derive(Clone, Copy)]
struct EdgeArrays<'a> {
    file: &'a RowFile,
    at: RowArrays,
    is_in: bool,
}

/// Reads arrays and looks them through.
struct ArrayReader<'a> {
    arrays: EdgeArrays<'a>,
    checks: Checks<'a>,
    meter: &'a Meter<'a>,
}

impl<'a> EdgeArrays<'a> {
    fn rows(self, vertices: Range<u64>, checks: Checks<'a>, meter: &'a Meter<'a>) -> Result<Rows> {
        let reader = ArrayReader { arrays: self, checks, meter };
        let adjacency = match self.file.layout.weight_kind {
            WeightKind::None => reader.csr::<()>(&vertices)?.into(),
            WeightKind::U32 => reader.csr::<u32>(&vertices)?.into(),
            WeightKind::F32 => reader.csr::<f32>(&vertices)?.into(),
            WeightKind::F64 => reader.csr::<f64>(&vertices)?.into(),
        };
        Ok(Rows { first: vertices.start, adjacency })
    }

    fn error(&self, at: u64, problem: String) -> Error {
        let problem = if self.is_in { arrays::of_in_edges(problem) } else { problem };
        self.file.bytes.error(at, problem)
    }

    fn offset(&self, vertex: u64) -> Result<u64> {
        let RowLayout { vertices, edges, .. } = self.file.layout;
        let Some(before) = vertex.checked_sub(1) else { return Ok(0) };
        let at = self.at.ends_at + 8 * before;
        let offset = self.file.bytes.read_u64(at)?;
        if offset > edges {
            return Err(self.error(at, format!("offset {offset} of {edges} edges")));
        }
        if vertex == vertices && offset != edges {
            return Err(self.error(at, arrays::end_problem(vertex, offset, edges)));
        }
        Ok(offset)
    }
}

impl ArrayReader<'_> {
    fn csr<W: Weight>(&self, vertices: &Range<u64>) -> Result<Csr<W>> {
        let edges = self.arrays.offset(vertices.start)?..self.arrays.offset(vertices.end)?;
        let offsets = self.offsets(vertices, &edges)?;
        let targets = self.targets(edges.clone())?;
        let weights = match W::KIND {
            WeightKind::None => vec![W::default(); targets.len()].into(),
            _ => self.weights(edges)?,
        };
        Ok(Csr::from_parts(offsets, targets, weights))
    }

    fn weights<W: Weight>(&self, edges: Range<u64>) -> Result<Buffer<W>> {
        let EdgeArrays { file, at, .. } = self.arrays;
        let (bytes, count) = (&file.bytes, edges.end - edges.start);
        match (file.layout.targets, file.layout.weights) {
            (Targets::WithWeights, _) => {
                let second = |_, pairs: &[Pair], weights: &mut [W]| {
                    for (weight, pair) in weights.iter_mut().zip(pairs) {
                        *weight = bytemuck::pod_read_unaligned(bytemuck::bytes_of(&pair[1]));
                    }
                    Ok(())
                };
                Ok(bytes.read_as(at.targets_at + 8 * edges.start, count, second)?.into())
            }
            (_, StoredWeights::U64) => {
                let narrow = |first: u64, wide: &[u64], narrow: &mut [W]| {
                    for (i, (weight, &value)) in narrow.iter_mut().zip(wide).enumerate() {
                        let Ok(fits) = u32::try_from(value) else {
                            let edge = edges.start + first + i as u64;
                            let problem =
                                format!("the weight of edge {edge} is {value}, more than 32 bits");
                            return Err(self.arrays.error(at.weights_at + 8 * edge, problem));
                        };
                        *weight = W::from_f64(f64::from(fits));
                    }
                    self.meter.add(8 * wide.len() as u64);
                    Ok(())
                };
                Ok(bytes.read_as(at.weights_at + 8 * edges.start, count, narrow)?.into())
            }
            (_, StoredWeights::Same) => {
                let weights_at = at.weights_at + edges.start * size_of::<W>() as u64;
                let weights: Buffer<W> = bytes.view(weights_at, count)?;
                if let Some(edge) = self.first(weights_at, &weights, arrays::find_unusable)? {
                    let problem =
                        arrays::unusable_problem(edges.start as usize + edge, weights[edge]);
                    let place = weights_at + (edge * size_of::<W>()) as u64;
                    return Err(self.arrays.error(place, problem));
                }
                Ok(weights)
            }
        }
    }

    /// Where the edges of these vertices, which are the given ones of the file, start among them.
    fn offsets(&self, vertices: &Range<u64>, edges: &Range<u64>) -> Result<Buffer<u64>> {
        let EdgeArrays { file, at, .. } = self.arrays;
        let bytes = &file.bytes;
        let rows = vertices.end - vertices.start;
        let ends_at = at.ends_at + 8 * vertices.start;
        // What lies before the ends and is 0 can be the first offset, whatever the file means by it.
        let first_at = match edges.start {
            0 => ends_at.checked_sub(8),
            _ => None,
        };
        let first_at = match first_at {
            Some(at) if bytes.read_u64(at)? == 0 => Some(at),
            _ => None,
        };
        let offsets: Buffer<u64> = match first_at {
            Some(at) => bytes.view(at, rows + 1)?,
            None => {
                let mut offsets = vec![0; rows as usize + 1];
                offsets[0] = edges.start;
                bytes.read_into(ends_at, &mut offsets[1..])?;
                offsets.into()
            }
        };
        let last = offsets[rows as usize];
        let falls = self.first(ends_at.saturating_sub(8), &offsets, arrays::find_fall)?;
        if last != edges.end || falls.is_some() {
            let is_odd = |pair: &[u64]| pair[1] < pair[0] || pair[1] > edges.end;
            let Some(row) = offsets.windows(2).position(is_odd) else {
                let (expected, found) =
                    (edges.end.saturating_sub(edges.start), last.saturating_sub(edges.start));
                let problem = format!("rows of {expected} edges hold {found}");
                return Err(self.arrays.error(ends_at, problem));
            };
            let vertex = vertices.start as usize + row;
            let problem = arrays::fall_problem(vertex, offsets[row], offsets[row + 1]);
            return Err(self.arrays.error(ends_at + 8 * row as u64, problem));
        }
        if edges.start == 0 {
            return Ok(offsets);
        }
        let mut offsets = offsets.into_vec();
        offsets.par_iter_mut().for_each(|offset| *offset -= edges.start);
        Ok(offsets.into())
    }

    fn targets(&self, edges: Range<u64>) -> Result<Buffer<LocalId>> {
        let EdgeArrays { file, at, .. } = self.arrays;
        let RowLayout { vertices, targets, .. } = file.layout;
        let targets_at = at.targets_at + edges.start * targets.bytes();
        let count = edges.end - edges.start;
        let stray = |edge: u64, target: u64| {
            let problem = arrays::stray_problem(edge, target, vertices as usize);
            self.arrays.error(at.targets_at + edge * targets.bytes(), problem)
        };
        match targets {
            Targets::U64 => self.narrowed(
                targets_at,
                count,
                |&id: &u64| id,
                |i, target| stray(edges.start + i, target),
            ),
            Targets::WithWeights => self.narrowed(
                targets_at,
                count,
                |pair: &Pair| u64::from(pair[0]),
                |i, target| stray(edges.start + i, target),
            ),
            Targets::U32 => {
                let targets: Buffer<LocalId> = file.bytes.view(targets_at, count)?;
                let find =
                    |all: &[LocalId], range| arrays::find_stray(all, range, vertices as usize);
                match self.first(targets_at, &targets, find)? {
                    Some(i) => Err(stray(edges.start + i as u64, u64::from(targets[i].0))),
                    None => Ok(targets),
                }
            }
        }
    }

    /// Destinations that are stored as something wider, of which `id` gives the vertex.
    fn narrowed<S: Pod + Send + Sync>(
        &self,
        at: u64,
        count: u64,
        id: impl Fn(&S) -> u64 + Sync,
        stray: impl Fn(u64, u64) -> Error + Sync,
    ) -> Result<Buffer<LocalId>> {
        let RowFile { bytes, layout: RowLayout { vertices, .. }, .. } = self.arrays.file;
        let narrow = |first: u64, wide: &[S], narrow: &mut [LocalId]| {
            let mut largest = 0;
            for (target, wide) in narrow.iter_mut().zip(wide) {
                *target = LocalId(id(wide) as u32);
                largest = id(wide).max(largest);
            }
            self.meter.add(size_of_val(wide) as u64);
            if largest < *vertices {
                return Ok(());
            }
            let found = wide.iter().position(|wide| id(wide) >= *vertices);
            found.map_or(Ok(()), |i| Err(stray(first + i as u64, id(&wide[i]))))
        };
        Ok(bytes.read_as(at, count, narrow)?.into())
    }

    /// The first element that `find` objects to, of an array that lies at position `at`.
    fn first<T: Pod + Send + Sync>(
        &self,
        at: u64,
        array: &Buffer<T>,
        find: impl Fn(&[T], Range<usize>) -> Option<usize> + Sync,
    ) -> Result<Option<usize>> {
        let checksums = match self.checks {
            Checks::Sizes => return Ok(None),
            Checks::Numbers => None,
            Checks::Blocks(checksums) => Some(checksums),
        };
        let place = |index: usize| at + (index * size_of::<T>()) as u64;
        let found = arrays::first(array, self.meter, |all: &[T], range| {
            let block = bytemuck::cast_slice(&all[range.clone()]);
            match checksums.and_then(|sums| sums.check(place(range.start), block)) {
                Some(damage) => Some((range.start, Some(damage))),
                None => find(all, range).map(|index| (index, None)),
            }
        });
        match found.map_err(|e| Error::io(self.arrays.file.name(), "read", e))? {
            Some((index, Some(damage))) => Err(self.arrays.error(place(index), damage)),
            Some((index, None)) => Ok(Some(index)),
            None => Ok(None),
        }
    }
}
