//! Text edge lists, CSV and TSV: one edge per line, in any common dialect.
//!
//! This is the format of last resort: any text that nothing else recognises is read as an edge
//! list, so what was understood is always said in `read_as`.

use super::{Format, IdKind, Opened, ReadOptions, Write, WriteOptions};
use crate::error::printable;
use crate::id_map::{Ids, Names};
use crate::parallel;
use crate::print::push_id;
use crate::progress::Unit;
use crate::save::Output;
use crate::source::{Compression, Source};
use crate::text::detect::{self, Detected, is_text};
use crate::text::dialect::Dialect;
use crate::text::fields::Delimiter;
use crate::text::pieces::EdgeTable;
use crate::text::{is_blank, skip_mark};
use crate::weight::{Weight, WeightKind};
use crate::{Error, Graph, LocalId, Result, with_csr};

/// Edge lists as text.
pub struct EdgeList;

impl Format for EdgeList {
    fn name(&self) -> &'static str {
        "edges"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["el", "wel", "txt", "csv", "tsv", "edges", "edgelist"]
    }

    fn recognises(&self, _: &Source) -> bool {
        false
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        Ok(Opened::Edges(Box::new(open(source, options)?)))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }

    fn writer(&self) -> Option<&dyn Write> {
        Some(self)
    }
}

/// Looks how an edge list is written.
pub(super) fn open(source: Source, options: &ReadOptions<'_>) -> Result<EdgeTable> {
    let Detected { dialect, layout, mirror, .. } = detect::detect(&source, options)?;
    let syntax = detect::syntax(dialect.delimiter);
    let parts = match source.parts().len() {
        1 => String::new(),
        parts => format!(" in {parts} parts"),
    };
    let packed =
        source.parts()[0].compression().map_or(String::new(), |c| format!(" ({})", c.name()));
    let read_as = format!("{syntax}{packed}{parts}{layout}");
    Ok(EdgeTable { mirror, tells_ids: true, ..EdgeTable::new(source, dialect, read_as) })
}

impl Write for EdgeList {
    fn numbering(&self, _: usize) -> Option<Ids> {
        None
    }

    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
        let name = out.path().to_string_lossy().to_ascii_lowercase();
        let stem = Compression::strip(&name).0;
        let delimiter = match stem.rsplit_once('.') {
            Some((_, "csv")) => b',',
            Some((_, "tsv")) => b'\t',
            _ => b' ',
        };
        if let Ids::Names(names) = &graph.ids {
            check_names(names, delimiter, out)?;
            if delimiter == b' ' {
                check_first_row(graph, names, out)?;
            }
        }
        // Tables have a header; plain edge lists, which many programs read, have none, unless a reader
        // could take them for another kind of table.
        let comment = if delimiter == b' ' { "# " } else { "" };
        if delimiter != b' ' || is_doubtful(graph) {
            let columns = match graph.adjacency.weight_kind() {
                WeightKind::None => &["source", "target"][..],
                _ => &["source", "target", "weight"],
            };
            let header = columns.join(&char::from(delimiter).to_string());
            out.write(format!("{comment}{header}\n").as_bytes())?;
        }
        write_rows(graph, out, options, |row, source, destination| {
            push_id(row, graph.ids.get(source.index()), delimiter);
            row.push(delimiter);
            push_id(row, graph.ids.get(destination.index()), delimiter);
            Some(delimiter)
        })
    }
}

/// Writes a row per edge, formatted by all threads: `start` writes the ends of the edge and says
/// what comes before the weight, or leaves the edge out.
pub(super) fn write_rows(
    graph: &Graph,
    out: &mut Output,
    options: &WriteOptions<'_>,
    start: impl Fn(&mut Vec<u8>, LocalId, LocalId) -> Option<u8> + Sync,
) -> Result<()> {
    /// Vertices whose edges one thread formats at a time, and such batches in memory at once.
    const VERTICES_PER_BATCH: usize = 1 << 12;
    let batches_at_once = 4 * rayon::current_num_threads();
    options.progress.stage("writing", Unit::Edges, Some(graph.num_edges()));
    with_csr!(&graph.adjacency, csr => {
        for first in (0..csr.num_vertices()).step_by(VERTICES_PER_BATCH * batches_at_once) {
            let batches = parallel::map_owned(0..batches_at_once, |_, batch| {
                let first = first + batch * VERTICES_PER_BATCH;
                let end = (first + VERTICES_PER_BATCH).min(csr.num_vertices());
                let mut rows = Vec::new();
                for source in (first..end).map(|v| LocalId(v as u32)) {
                    for (destination, weight) in csr.edges(source) {
                        if let Some(delimiter) = start(&mut rows, source, destination) {
                            push_weight(&mut rows, delimiter, weight);
                            rows.push(b'\n');
                        }
                    }
                    options.progress.advance(csr.degree(source) as u64);
                }
                rows
            });
            for rows in batches {
                out.write(&rows)?;
            }
        }
    });
    Ok(())
}

fn push_weight<W: Weight>(row: &mut Vec<u8>, delimiter: u8, weight: W) {
    use std::io::Write;
    if W::KIND != WeightKind::None {
        row.push(delimiter);
        // Rust prints the shortest digits that read back as the same number of this very type.
        let printed = match W::KIND {
            WeightKind::F32 => write!(row, "{}", weight.to_f64() as f32),
            _ => write!(row, "{}", weight.to_f64()),
        };
        printed.expect("memory takes everything");
    }
}

/// Names that no row could hold are refused before anything is written.
fn check_names(names: &Names, delimiter: u8, out: &Output) -> Result<()> {
    let comments = Dialect::default().comments;
    let unfit = |name: &[u8]| {
        let breaks = |b: &u8| matches!(b, b'\n' | b'\r') || (delimiter == b' ' && is_blank(*b));
        let hidden = delimiter == b' '
            && (name.starts_with(b"\"") || comments.iter().any(|c| name.starts_with(c)));
        name.is_empty() || hidden || !is_text(name) || name.iter().any(breaks)
    };
    match names.iter().find(|name| unfit(name)) {
        None => Ok(()),
        Some(name) => Err(Error::Request(format!(
            "{}: the vertex name '{}' cannot stand in a line of this file; write {} instead",
            out.path().display(),
            printable(name),
            if delimiter == b' ' { ".csv, .parquet or .parton" } else { ".parquet or .parton" }
        ))),
    }
}

/// Whether rows with weights may look like an index beside edges, as those of a path do, or like the square
/// of an adjacency matrix.
fn is_doubtful(graph: &Graph) -> bool {
    const COLUMNS: u64 = 3;
    const COUNTED_ROWS: u64 = 4;
    let edges = graph.num_edges();
    let offsets = graph.adjacency.offsets();
    // Ids may start at 1.
    let first = usize::from(offsets.get(1) == Some(&0));
    let counts = |row: u64| offsets.get(first + row as usize) == Some(&row);
    let has_index = edges >= COUNTED_ROWS && (0..COUNTED_ROWS).all(counts);
    graph.adjacency.weight_kind() != WeightKind::None && (edges == COLUMNS || has_index)
}

/// Without a header above it, a first row of odd names could be taken for one, for the beginning
/// of a table or of another format: it is looked at here as a reader would.
fn check_first_row(graph: &Graph, names: &Names, out: &Output) -> Result<()> {
    let source = graph.adjacency.offsets().partition_point(|&offset| offset == 0);
    let Some(source) = source.checked_sub(1).filter(|_| graph.num_edges() > 0) else {
        return Ok(());
    };
    let destination = graph.adjacency.all_targets()[0].index();
    let weight: &[u8] = match graph.adjacency.weight_kind() {
        WeightKind::None => b"\n",
        _ => b" 1\n",
    };
    let row = [names.get(source), b" ", names.get(destination), weight].concat();
    let understood = Source::memory("row", &row[..]).is_ok_and(|source| {
        let options = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
        let is_edge_list = super::detect(&source).is_ok_and(|f| f.name() == EdgeList.name());
        is_edge_list
            && detect::detect(&source, &options)
                .is_ok_and(|d| d.dialect.delimiter == Delimiter::Blanks && !d.header)
    });
    match understood && skip_mark(&row) == row {
        true => Ok(()),
        false => Err(Error::Request(format!(
            "{}: the first row, '{}', would be taken for something else; write .csv instead",
            out.path().display(),
            printable(row.trim_ascii_end())
        ))),
    }
}
