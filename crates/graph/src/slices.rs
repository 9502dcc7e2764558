//! Slices of an edge list: the lines of a byte range, the share of a text that one host reads.

use crate::build::Edges;
use crate::formats::{EdgeList, Format, ReadOptions};
use crate::source::Source;
use crate::text::detect::detect;
use crate::text::table::Table;
use crate::{Result, Weight};

/// A plain text file of edges between integers, open for reading slices.
pub struct TextFile {
    source: Source,
    table: Table,
}

/// The edges of a slice, between original ids, in pieces; whether all weights are integers that
/// fit `u32`.
pub struct TextSlice<W: Weight> {
    /// Edges in the order of the text.
    pub pieces: Vec<Edges<u64, W>>,
    /// Whether every weight is an integer that fits `u32`.
    pub whole: bool,
}

impl TextFile {
    /// Opens `source` for reading slices, if it is one plain file of edges between integers.
    pub fn open(source: Source, format: &dyn Format) -> Result<Result<Self, Source>> {
        if format.name() != EdgeList.name() || source.lines_of_slice(0, 1)?.is_none() {
            return Ok(Err(source));
        }
        let table = detect(&source, &ReadOptions::default())?.table;
        Ok(if table.names { Err(source) } else { Ok(TextFile { source, table }) })
    }

    /// What to call the file in messages.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.table.weight.is_some()
    }

    /// The edges of slice number `slice` of `slices`, without weights.
    pub fn unweighted(&self, slice: usize, slices: usize) -> Result<TextSlice<()>> {
        self.table.slice(&self.lines(slice, slices)?)
    }

    /// The edges of slice number `slice` of `slices`, with weights.
    pub fn weighted(&self, slice: usize, slices: usize) -> Result<TextSlice<f64>> {
        self.table.slice(&self.lines(slice, slices)?)
    }

    fn lines(&self, slice: usize, slices: usize) -> Result<Source> {
        let lines = self.source.lines_of_slice(slice as u64, slices as u64)?;
        Ok(lines.expect("one plain file when it was opened"))
    }
}
