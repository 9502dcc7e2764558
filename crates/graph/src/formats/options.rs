//! How a file is read and written, as far as it leaves that open.

use crate::Direction;
use crate::ingest::VertexRange;
use crate::progress::{Progress, Silent};
use crate::row_blocks::RowBlocks;
use crate::weight::WeightKind;

/// How original ids are understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdKind {
    /// Integers, unless the beginning of the input shows names.
    #[default]
    Detect,
    /// Integers from 0 to 2⁶⁴ − 1.
    Integers,
    /// Anything is a name, digits too.
    Names,
}

/// Which columns of a table hold an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Where edges start.
    pub source: ColumnKey,
    /// Where edges end.
    pub destination: ColumnKey,
    /// What edges carry.
    pub weight: Option<ColumnKey>,
}

/// Names one column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKey {
    /// By position, from 0.
    Position(usize),
    /// By the name in the header.
    Name(String),
}

/// How a text table is written, where a user says it rather than leave it to detection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// What stands between columns; a blank stands for any number of blanks and tabs.
    pub delimiter: Option<u8>,
    /// Lines at the beginning of every file that are not looked at.
    pub skip_lines: u64,
    /// What starts a line that is a comment; nothing does if it is empty.
    pub comment: Option<String>,
    /// How weights are written.
    pub decimal: Option<Decimal>,
}

/// What stands before the fraction of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// A point; commas group thousands: 1,105.5.
    Point,
    /// A comma; points group thousands: 1.105,5.
    Comma,
}

/// A vertex set, as a user gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertices {
    /// This many, from the first id the format uses: 0, or 1 where ids start at 1.
    Count(u64),
    /// Exactly these.
    Range(VertexRange),
}

/// What the user says about an input beyond what it says itself.
#[derive(Clone)]
pub struct ReadOptions<'a> {
    /// The vertex set, overriding what the input says.
    pub vertices: Option<Vertices>,
    /// Whether edges go both ways, overriding what the input says.
    pub direction: Option<Direction>,
    /// How ids are understood, where the format leaves it open.
    pub ids: IdKind,
    /// Which columns to use, where the format has columns.
    pub columns: Option<Columns>,
    /// Whether the first line of a text table names its columns; `None`: look.
    pub header: Option<bool>,
    /// How a text table is written.
    pub text: TextOptions,
    /// Whether sources and destinations are two kinds of vertices that may have the same ids: they
    /// are then called `s…` and `t…`. Only for edge lists.
    pub bipartite: bool,
    /// Read the weights an input has; otherwise they are skipped unread.
    pub weights: bool,
    /// Type of the weights; `None`: `u32` if all are whole and fit, else `f64`, or the file's own.
    pub weight_kind: Option<WeightKind>,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions {
            vertices: None,
            direction: None,
            ids: IdKind::Detect,
            columns: None,
            header: None,
            text: TextOptions::default(),
            bipartite: false,
            weights: true,
            weight_kind: None,
            progress: &Silent,
        }
    }
}

impl ReadOptions<'_> {
    /// Whether they ask for something that is done to a whole graph: other vertices, directions or
    /// weights than the input says.
    pub fn need_whole(&self) -> bool {
        self.vertices.is_some()
            || self.direction.is_some()
            || self.weight_kind.is_some()
            || !self.weights
    }

    /// The vertex set the user gave, for a format whose ids start at `first`.
    pub(crate) fn declared(&self, first: u64) -> Option<VertexRange> {
        Some(match self.vertices? {
            Vertices::Count(count) => VertexRange { first, count },
            Vertices::Range(range) => range,
        })
    }
}

/// Choices of a writer.
#[derive(Clone)]
pub struct WriteOptions<'a> {
    /// Version of the format, where it has several.
    pub version: Option<u32>,
    /// Keep the in-edges of a directed graph, too, if the format can: twice the size, but readers
    /// need not transpose the graph. Leaving them out is an error where there are none.
    pub in_edges: bool,
    /// Row blocks of the graph, to be kept, too. An error where the format cannot keep them.
    pub row_blocks: Option<&'a RowBlocks>,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        WriteOptions { version: None, in_edges: true, row_blocks: None, progress: &Silent }
    }
}
