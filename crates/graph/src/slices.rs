//! Slices of a text of edges: the lines of a byte range, the share of a file that one host reads.

use crate::build::Edges;
use crate::formats::Format;
use crate::ingest::{NameList, VertexRange};
use crate::source::Source;
use crate::text::table::Table;
use crate::{Place, Result, Weight};

/// How the rows of a text are to be understood, as its format found from its beginning.
#[derive(Clone, Debug)]
pub struct TextRows {
    pub(crate) table: Table,
    /// Whether every row stands for an edge in both directions.
    pub(crate) mirrored: bool,
    /// Rows that the header promises.
    pub(crate) declared: Option<u64>,
}

/// A plain text file of edges, open for reading slices.
pub struct TextFile {
    source: Source,
    rows: TextRows,
    /// Where the rows begin.
    body_at: u64,
}

/// The edges of a slice, between original ids.
pub struct TextSlice<W: Weight> {
    /// Edges in pieces, in the order of the text.
    pub pieces: Vec<TextPiece<W>>,
    /// Whether every weight is an integer that fits `u32`.
    pub whole: bool,
}

/// Some edges between original ids.
pub enum TextPiece<W: Weight> {
    /// Between integers.
    Integers(Edges<u64, W>),
    /// Between names: source and destination of each edge in turn, and the weights.
    Names(NameList, Vec<W>),
}

impl<W: Weight> TextPiece<W> {
    /// Number of edges.
    pub fn len(&self) -> usize {
        match self {
            TextPiece::Integers(edges) => edges.len(),
            TextPiece::Names(_, weights) => weights.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TextFile {
    /// Opens `source` for reading slices, or gives it back if it is not one plain file of rows.
    pub fn open(source: Source, format: &dyn Format) -> Result<Result<Self, Source>> {
        if source.lines_of_slice(0, 0, 1)?.is_none() {
            return Ok(Err(source));
        }
        let Some(mut rows) = format.text_rows(&source)? else { return Ok(Err(source)) };
        // The header is found in the head, so it ends there; only the rows are sliced.
        let header_lines = std::mem::take(&mut rows.table.skip_lines);
        let lines = source.head().split_inclusive(|&byte| byte == b'\n');
        let body_at = lines.take(header_lines as usize).map(|line| line.len() as u64).sum();
        Ok(Ok(TextFile { source, rows, body_at }))
    }

    /// What to call the file in messages.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.rows.table.weight.is_some()
    }

    /// Whether ids are names.
    pub fn has_names(&self) -> bool {
        self.rows.table.names
    }

    /// Whether every row stands for an edge in both directions; a self-loop for one.
    pub fn is_mirrored(&self) -> bool {
        self.rows.mirrored
    }

    /// The vertices, where the file declares them.
    pub fn vertices(&self) -> Option<VertexRange> {
        self.rows.table.vertices
    }

    /// Whether all slices together have the rows that the header promises, and enough of them for
    /// the vertices it declares.
    pub fn check_rows(&self, rows: u64) -> Result<()> {
        match self.rows.declared {
            Some(declared) if declared != rows => {
                let problem = format!("the header declares {declared} rows, found {rows}");
                Err(self.source.error(Place::File, problem))
            }
            _ => self.rows.table.check_plausible(&self.source, rows, &Default::default()),
        }
    }

    /// The edges of slice number `slice` of `slices`, without weights.
    pub fn unweighted(&self, slice: usize, slices: usize) -> Result<TextSlice<()>> {
        self.rows.table.slice(&self.lines(slice, slices)?)
    }

    /// The edges of slice number `slice` of `slices`, with weights.
    pub fn weighted(&self, slice: usize, slices: usize) -> Result<TextSlice<f64>> {
        self.rows.table.slice(&self.lines(slice, slices)?)
    }

    fn lines(&self, slice: usize, slices: usize) -> Result<Source> {
        let lines = self.source.lines_of_slice(self.body_at, slice as u64, slices as u64)?;
        Ok(lines.expect("one plain file when it was opened"))
    }
}
