//! Parquet files in shares: a slice is some of the row groups.

use rayon::prelude::*;

use super::groups::{Batch, Files, Group, GroupReader};
use crate::Result;
use crate::formats::ReadOptions;
use crate::ingest::IdList;
use crate::slices::{Cut, EdgeFile, Piece, Pieces, Shape, Slice, WeightRule, order};
use crate::source::Source;
use crate::weight::{Weight, WeightKind};

/// The files of an input, open for reading row groups.
pub(super) struct ParquetFile {
    name: String,
    files: Files,
}

impl ParquetFile {
    pub(super) fn open(source: &Source, options: &ReadOptions<'_>) -> Result<Self> {
        let files = Files::open(source, options)?;
        Ok(ParquetFile { name: source.name().to_owned(), files })
    }
}

impl EdgeFile for ParquetFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> Shape {
        let weights = match self.files.weight_kind() {
            WeightKind::None => WeightRule::None,
            WeightKind::U32 => WeightRule::Fitting,
            WeightKind::F32 => WeightRule::F32,
            WeightKind::F64 => WeightRule::F64,
        };
        Shape { names: self.files.columns().names, weights, ..Shape::default() }
    }

    fn cut(&self) -> Cut {
        // Writers choose how large row groups are, and some make only one.
        Cut::Uneven
    }

    fn pieces(&self, slice: Slice, _: &[Vec<u64>]) -> Result<Pieces<'_>> {
        let groups = slice.share(self.files.groups.len() as u64);
        Ok(Box::new(GroupPieces { files: &self.files, groups, open: Vec::new(), failed: false }))
    }
}

/// Reads some row groups at a time, a batch of each in turn.
struct GroupPieces<'a> {
    files: &'a Files,
    /// Groups not yet begun.
    groups: std::ops::Range<u64>,
    open: Vec<OpenGroup<'a>>,
    failed: bool,
}

struct OpenGroup<'a> {
    reader: GroupReader<'a>,
    number: usize,
    batches: usize,
}

impl<'a> GroupPieces<'a> {
    fn next_pieces(&mut self) -> Result<Vec<Piece>> {
        while self.open.len() < rayon::current_num_threads()
            && let Some(number) = self.groups.next()
        {
            let group: &'a Group = &self.files.groups[number as usize];
            let reader = self.files.reader(group).map_err(|stop| stop.error)?;
            self.open.push(OpenGroup { reader, number: number as usize, batches: 0 });
        }
        let files = self.files;
        let read: Vec<Result<Option<Piece>>> = match files.weight_kind() {
            WeightKind::None => self.open.par_iter_mut().map(|g| g.piece::<()>(files)).collect(),
            _ => self.open.par_iter_mut().map(|g| g.piece::<f64>(files)).collect(),
        };
        let mut pieces = Vec::new();
        let mut open = std::mem::take(&mut self.open).into_iter();
        for piece in read {
            let group = open.next();
            if let Some(piece) = piece? {
                pieces.push(piece);
                self.open.extend(group);
            }
        }
        Ok(pieces)
    }
}

impl OpenGroup<'_> {
    fn piece<W: Weight>(&mut self, files: &Files) -> Result<Option<Piece>> {
        let mut batch = Batch::<W>::default();
        let rows = self.reader.next(&mut batch).map_err(|stop| stop.error)?;
        if rows == 0 {
            return Ok(None);
        }
        let names = files.columns().names;
        let order = order(self.number, self.batches);
        self.batches += 1;
        let edges = batch.edges;
        let ends = match names {
            true => IdList::Names(batch.ends),
            false => {
                let ends = edges.sources.into_iter().zip(edges.destinations);
                IdList::Integers(ends.flat_map(|(s, d)| [s, d]).collect())
            }
        };
        let weights: Vec<f64> = match W::KIND {
            WeightKind::None => Vec::new(),
            _ => edges.weights.into_iter().map(W::to_f64).collect(),
        };
        let whole = weights.iter().all(|&w| f64::from(w as u32) == w);
        Ok(Some(Piece { ends, weights, whole, ..Piece::new(order, names) }))
    }
}

impl Iterator for GroupPieces<'_> {
    type Item = Result<Vec<Piece>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.open.is_empty() && self.groups.is_empty() {
            return None;
        }
        let pieces = self.next_pieces();
        self.failed = pieces.is_err();
        Some(pieces)
    }
}
