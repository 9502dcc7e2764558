//! File formats. Each is one file here with one [`Format`] in it; [`ALL`] is the list that the
//! command, the documentation and the tests go through.

pub mod parquet;

use crate::id_map::Ids;
use crate::ingest::VertexRange;
use crate::progress::{Progress, Silent};
use crate::save::Output;
use crate::source::{Compression, Source};
use crate::weight::WeightKind;
use crate::{Direction, Error, Graph, Result};

/// One way to keep a graph in a file.
pub trait Format: Sync {
    /// The short name, as in `--format NAME`.
    fn name(&self) -> &'static str;

    /// File name endings, without the dot, that suggest this format.
    fn endings(&self) -> &'static [&'static str];

    /// Whether the contents can be nothing else.
    fn recognises(&self, source: &Source) -> bool;

    /// Reads a graph.
    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph>;

    /// How to write this format, where Parton does.
    fn writer(&self) -> Option<&dyn Write> {
        None
    }
}

/// The writing half of a format.
pub trait Write {
    /// How the format numbers `vertices` vertices when it cannot keep original ids; `None` when it
    /// can. Other ids are then kept in a file beside it.
    fn numbering(&self, vertices: usize) -> Option<Ids>;

    /// Writes the graph.
    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()>;
}

/// Every format, in the order in which contents are matched.
pub const ALL: &[&dyn Format] = &[&parquet::Parquet];

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
    pub source: Column,
    /// Where edges end.
    pub destination: Column,
    /// What edges carry.
    pub weight: Option<Column>,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By position, from 0.
    Position(usize),
    /// By the name in the header.
    Name(String),
}

/// What the user says about an input beyond what it says itself.
#[derive(Clone)]
pub struct ReadOptions<'a> {
    /// The vertex set, overriding what the input says.
    pub vertices: Option<VertexRange>,
    /// Whether edges go both ways, overriding what the input says.
    pub direction: Option<Direction>,
    /// How ids are understood, where the format leaves it open.
    pub ids: IdKind,
    /// Which columns to use, where the format has columns.
    pub columns: Option<Columns>,
    /// Whether the first line of a text table names its columns; `None`: look.
    pub header: Option<bool>,
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
            weights: true,
            weight_kind: None,
            progress: &Silent,
        }
    }
}

/// Choices of a writer.
#[derive(Clone)]
pub struct WriteOptions<'a> {
    /// Version of the format, where it has several.
    pub version: Option<u32>,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        WriteOptions { version: None, progress: &Silent }
    }
}

/// The format with this name.
pub fn by_name(name: &str) -> Result<&'static dyn Format> {
    ALL.iter().copied().find(|f| f.name() == name).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|f| f.name()).collect();
        Error::Request(format!("unknown format '{name}'; known: {}", known.join(", ")))
    })
}

/// The format whose ending a file's name has; endings of compressions are looked through.
pub fn by_ending(file_name: &str) -> Option<&'static dyn Format> {
    let stem = Compression::strip(file_name).0.to_ascii_lowercase();
    let ending = stem.rsplit_once('.')?.1;
    ALL.iter().copied().find(|f| f.endings().contains(&ending))
}
