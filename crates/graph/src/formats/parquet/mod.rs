//! Apache Parquet: a table with a row per edge, as data frames and warehouses write it.
//!
//! `schema`, `table` and `pages` read what a file says about itself and check it against its size,
//! because the library that decodes it believes everything; `columns` finds the edges; `cells` and
//! `groups` turn rows into pieces, which `edges` hands on, slice by slice; `write` goes the other way.

mod cells;
pub(super) mod columns;
mod contain;
mod edges;
mod groups;
mod header;
mod pages;
pub(super) mod schema;
mod table;
#[cfg(test)]
mod tests;
mod thrift;
mod write;

use crate::formats::{Format, Opened, ReadOptions, Write, WriteOptions};
use crate::save::Output;
use crate::source::Source;
use crate::{Graph, Ids, Result};

/// Parquet files, single or in parts.
///
/// Columns are the ones the user names, else those called like `source`, `target` and `weight`,
/// else the first two. Ids are integers from 0 to 2⁶⁴ − 1 or names. Written files have the columns
/// `source`, `target` and, for weighted graphs, `weight`, with a row for each stored edge.
pub struct Parquet;

impl Format for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn recognises(&self, source: &Source) -> bool {
        source.head().starts_with(table::MAGIC)
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        Ok(Opened::Edges(Box::new(edges::ParquetFile::open(&source, options)?)))
    }

    fn writer(&self) -> Option<&dyn Write> {
        Some(self)
    }
}

impl Write for Parquet {
    fn numbering(&self, _vertices: usize) -> Option<Ids> {
        None
    }

    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
        write::write(graph, out, options)
    }
}
