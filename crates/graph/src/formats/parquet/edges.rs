//! The edges of Parquet files: a slice is some of the row groups, a piece some rows of one.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::groups::{Files, GroupReader};
use crate::edge_file::{
    Cut, EdgeFile, FileShape, Piece, PieceReader, Pieces, Slice, TakePiece, order,
};
use crate::formats::ReadOptions;
use crate::ingest::VertexRange;
use crate::parallel;
use crate::progress::{Progress, Unit};
use crate::source::Source;
use crate::{Graph, Result};

/// The files of an input, open for reading row groups.
pub(super) struct ParquetFile {
    name: String,
    files: Files,
    vertices: Option<VertexRange>,
}

impl ParquetFile {
    pub(super) fn open(source: &Source, options: &ReadOptions<'_>) -> Result<Self> {
        let (name, files) = (source.name().to_owned(), Files::open(source, options)?);
        Ok(ParquetFile { name, files, vertices: options.declared(0) })
    }
}

impl EdgeFile for ParquetFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> FileShape {
        let (names, weights) = (self.files.columns().names, self.files.weight_rule());
        FileShape { names, weights, vertices: self.vertices, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        // Writers choose how large row groups are, and some make only one.
        Cut::Uneven
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        _: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let groups = slice.share(self.files.groups.len() as u64);
        let groups = groups.start as usize..groups.end as usize;
        let rows = self.files.groups[groups.clone()].iter().map(|group| group.rows).sum();
        progress.stage("reading", Unit::Edges, Some(rows));
        let queue = Mutex::new(Queue { groups, open: Vec::new() });
        Ok(Box::new(GroupPieces { files: &self.files, progress, queue }))
    }

    /// "Parquet, 2 parts, 12 row groups, columns src → dst, weight amount, integer ids"
    fn understood(&self) -> Option<String> {
        Some(self.describe(""))
    }

    /// The same, with the type of the weights.
    fn read_as(&self, graph: &Graph) -> String {
        self.describe(&format!(" ({})", graph.adjacency.weight_kind().name()))
    }
}

impl ParquetFile {
    fn describe(&self, weight_type: &str) -> String {
        let files = &self.files;
        let mut text = "Parquet".to_string();
        if files.tables.len() != 1 {
            text += &format!(", {} parts", files.tables.len());
        }
        let plural = if files.groups.len() == 1 { "" } else { "s" };
        text += &format!(", {} row group{plural}", files.groups.len());
        let columns = files.columns();
        text += &format!(", columns {} → {}", columns.source.name, columns.destination.name);
        if let Some(weight) = &columns.weight {
            text += &format!(", weight {}{weight_type}", weight.name);
        }
        text + if columns.names { ", names as ids" } else { ", integer ids" }
    }
}

/// Threads read a piece each of a row group that no other thread is reading.
struct GroupPieces<'a> {
    files: &'a Files,
    progress: &'a dyn Progress,
    queue: Mutex<Queue<'a>>,
}

struct Queue<'a> {
    /// Groups not yet begun.
    groups: Range<usize>,
    /// Groups begun that no thread is reading; about as many as threads.
    open: Vec<OpenGroup<'a>>,
}

struct OpenGroup<'a> {
    reader: GroupReader<'a>,
    number: usize,
    pieces: usize,
}

impl<'a> GroupPieces<'a> {
    fn next_group(&self) -> Result<Option<OpenGroup<'a>>> {
        let mut queue = self.queue.lock().expect("no thread panicked holding this lock");
        if let Some(group) = queue.open.pop() {
            return Ok(Some(group));
        }
        let Some(number) = queue.groups.next() else { return Ok(None) };
        drop(queue);
        let reader = self.files.reader(&self.files.groups[number])?;
        Ok(Some(OpenGroup { reader, number, pieces: 0 }))
    }

    /// Reads a piece; whether there was a group to read from.
    fn read_piece(&self, piece: &mut Piece, take: &TakePiece<'_>) -> Result<bool> {
        let Some(mut group) = self.next_group()? else { return Ok(false) };
        piece.restart(order(group.number, group.pieces));
        let rows = group.reader.next(piece)?;
        if rows > 0 {
            take(piece)?;
            self.progress.advance(rows);
            group.pieces += 1;
            self.queue.lock().expect("no thread panicked holding this lock").open.push(group);
        }
        Ok(true)
    }
}

impl PieceReader for GroupPieces<'_> {
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        let names = self.files.columns().names;
        let left = AtomicUsize::new(limit);
        let one_less = |left: usize| left.checked_sub(1);
        let read = |_| {
            let mut piece = Piece::new(0, names);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                match self.read_piece(&mut piece, take) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => return Some(error),
                }
            }
            None
        };
        if let Some(error) = parallel::find_first_task(rayon::current_num_threads(), read) {
            return Err(error);
        }
        let queue = self.queue.get_mut().expect("no thread panicked holding this lock");
        Ok(!(queue.open.is_empty() && queue.groups.is_empty()))
    }
}
