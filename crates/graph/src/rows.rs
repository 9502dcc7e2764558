//! Rows: consecutive vertices with their edges, the share of a graph that one host reads.
//!
//! A file that holds a graph's arrays can be read a range of rows at a time: [`RowFile`] finds any
//! row by its offset and maps or reads just the pages the range needs. Threads look through what is
//! mapped piece by piece; together they are about as fast as the file can be read.

mod reading;

use std::ops::Range;

use reading::{Checks, EdgeArrays};

use crate::csr::MAX_VERTICES;
use crate::formats::arrays::{self, Meter};
use crate::hash::row_sum;
use crate::parallel;
use crate::progress::{Progress, Silent};
use crate::row_blocks::RowBlocks;
use crate::source::{ByteSource, Slice};
use crate::tidy::Tidy;
use crate::weight::WeightKind;
use crate::{Adjacency, Direction, Error, Graph, Ids, LocalId, Result, with_csr};

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
        parallel::all(self.adjacency.num_vertices(), |row| {
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

    /// The sum of a hash of all edges, which does not depend on their order. Over all out-edges of a
    /// graph, and over all in-edges with `are_turned`, it is the same.
    pub fn edge_sum(&self, are_turned: bool) -> u64 {
        let base = self.first as u32;
        with_csr!(&self.adjacency, csr => {
            let of_rows = |rows: Range<usize>| {
                rows.fold(0, |sum: u64, row| {
                    let vertex = base + row as u32;
                    sum.wrapping_add(row_sum(vertex, csr.edges(LocalId(row as u32)), are_turned))
                })
            };
            parallel::reduce(csr.num_vertices(), of_rows, u64::wrapping_add).unwrap_or(0)
        })
    }

    /// Whether a weight of a file with [signed weights](RowFile::has_signed_weights) is negative.
    pub fn has_negative_weights(&self) -> bool {
        match &self.adjacency {
            Adjacency::U32(csr) => !parallel::all_of(csr.all_weights(), |&bits| bits as i32 >= 0),
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
    row_blocks: Option<RowBlocksAt>,
}

/// Where a file keeps row blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowBlocksAt {
    pub(crate) ends_at: u64,
    /// Number of steps of rows, each with its end.
    pub(crate) steps: u64,
    pub(crate) entries_at: u64,
    pub(crate) entries: u64,
}

/// What a file can be checked for as it is read.
pub(crate) trait Checksums: Send + Sync {
    /// How many bytes before position `at` belong to the same block.
    fn before_in_block(&self, at: u64) -> u64;

    /// What is wrong with the block of which `bytes` lie at position `at`; what they lack of it is
    /// read from the file.
    fn check(&self, file: &ByteSource<'_>, at: u64, bytes: &[u8]) -> Option<String>;

    /// Checks what belongs to no row: of `slice.of` slices of it, one.
    fn check_rest(&self, file: &ByteSource<'_>, slice: Slice) -> Result<()>;
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
    /// Whether the offset of vertex 0 lies before them.
    pub stores_first: bool,
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

impl RowFile {
    /// A file of these bytes, in which a graph lies like this; `read_as` says so to users.
    pub(crate) fn new(
        bytes: ByteSource<'static>,
        layout: RowLayout,
        ids: Ids,
        read_as: String,
    ) -> Result<Self> {
        if layout.vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(bytes.name(), layout.vertices));
        }
        Ok(RowFile { bytes, layout, ids, read_as, checksums: None, row_blocks: None })
    }

    /// The file, which has checksums.
    pub(crate) fn with_checksums(self, checksums: impl Checksums + 'static) -> Self {
        RowFile { checksums: Some(Box::new(checksums)), ..self }
    }

    /// The file, which may have row blocks.
    pub(crate) fn with_row_blocks(self, row_blocks: Option<RowBlocksAt>) -> Self {
        RowFile { row_blocks, ..self }
    }

    /// All rows, verified as far as the file allows.
    pub(crate) fn graph(self, progress: &dyn Progress) -> Result<Graph> {
        let RowLayout { vertices, edges, .. } = self.layout;
        let meter = Meter::start(progress, "reading", 8 * vertices + self.edge_bytes() * edges);
        let mut rows = self.out_edges().rows(0..vertices, self.checks(), &meter)?;
        if let Some(checksums) = &self.checksums {
            checksums.check_rest(&self.bytes, Slice::WHOLE)?;
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
        self.in_rows(0..self.layout.vertices)
    }

    /// All that can be checked of what is read.
    fn checks(&self) -> Checks<'_> {
        self.checksums.as_deref().map_or(Checks::Numbers, Checks::Blocks)
    }

    fn into_graph(self, rows: Rows) -> Graph {
        let RowFile { ids, read_as, layout: RowLayout { direction, .. }, .. } = self;
        Graph { adjacency: rows.adjacency, ids, direction, read_as }
    }

    /// How the file is understood, in words.
    pub fn understood(&self) -> &str {
        &self.read_as
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

    /// The rows of a range of vertices. Their numbers are checked, so that any row can be used, and
    /// the checksums of their blocks, where the file has any.
    pub fn rows(&self, vertices: Range<u64>) -> Result<Rows> {
        self.rows_watched(vertices, &Silent)
    }

    /// The same, with progress.
    pub fn rows_watched(&self, vertices: Range<u64>, progress: &dyn Progress) -> Result<Rows> {
        let edges = self.offset(vertices.end)? - self.offset(vertices.start)?;
        let count = vertices.end - vertices.start;
        let meter = Meter::start(progress, "reading", 8 * count + self.edge_bytes() * edges);
        self.out_edges().rows(vertices, self.checks(), &meter)
    }

    /// Bytes of an edge, with its weight.
    fn edge_bytes(&self) -> u64 {
        self.layout.targets.bytes() + self.layout.weight_kind.bytes() as u64
    }

    /// Checks what belongs to no row, such as ids: one slice of it, for hosts that share the work.
    pub fn check_rest(&self, slice: Slice) -> Result<()> {
        self.checksums.as_ref().map_or(Ok(()), |sums| sums.check_rest(&self.bytes, slice))
    }

    /// The error for in-edges that are not the edges turned around.
    pub fn contradiction(&self) -> Error {
        let at = self.layout.in_edges.map_or(0, |arrays| arrays.ends_at);
        let problem = "not the edges of the graph turned around".into();
        self.bytes.error(at, arrays::of_in_edges(problem))
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
    /// file has none. That they are the out-edges turned around is for the reader of all rows to
    /// find out, by [`Rows::edge_sum`].
    pub fn in_rows(&self, vertices: Range<u64>) -> Result<Option<Rows>> {
        let meter = Meter::start(&Silent, "reading", 0);
        let rows = self.in_edges().map(|arrays| arrays.rows(vertices, self.checks(), &meter));
        rows.transpose()
    }

    /// All in-edges in row blocks, where the file has them. They are checked when they are
    /// [asked for](RowBlocks::of_edges).
    pub fn row_blocks(&self) -> Result<Option<RowBlocks>> {
        let Some(at) = self.row_blocks else { return Ok(None) };
        let ends = self.bytes.view(at.ends_at, at.steps)?;
        let entries = self.bytes.view(at.entries_at, at.entries)?;
        Ok(Some(RowBlocks::of_file(self.name().into(), ends, entries)))
    }

    fn in_edges(&self) -> Option<EdgeArrays<'_>> {
        self.layout.in_edges.map(|at| EdgeArrays { file: self, at, is_in: true })
    }

    fn out_edges(&self) -> EdgeArrays<'_> {
        EdgeArrays { file: self, at: self.layout.out_edges, is_in: false }
    }
}
