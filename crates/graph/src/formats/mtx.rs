//! Matrix Market coordinate files: a sparse matrix as a graph, row → column, ids from 1.
//!
//! `symmetric` and `skew-symmetric` files store one triangle; both directions are read. A skew
//! entry counts negatively the other way, so such a graph stays directed.

use super::edge_list::write_rows;
use super::{Format, Opened, ReadOptions, Write, WriteOptions};
use crate::edge_file::Mirror;
use crate::error::printable;
use crate::id_map::Ids;
use crate::ingest::VertexRange;
use crate::save::Output;
use crate::source::Source;
use crate::text::dialect::Dialect;
use crate::text::pieces::EdgeTable;
use crate::text::scanner::head_lines;
use crate::text::skip_mark;
use crate::weight::WeightKind;
use crate::{Direction, Graph, Place, Result};

/// Matrix Market.
pub struct Mtx;

const BANNER: &str = "%%MatrixMarket";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

struct Header {
    pattern: bool,
    symmetry: Symmetry,
    vertices: u64,
    entries: u64,
    lines: u64,
    words: String,
}

impl Format for Mtx {
    fn name(&self) -> &'static str {
        "mtx"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["mtx"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let start = skip_mark(source.head()).get(..BANNER.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(BANNER.as_bytes()))
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let header = Header::read(&source)?;
        let dialect = header.dialect(options);
        let mirror = match header.symmetry {
            Symmetry::General => Mirror::None,
            Symmetry::Symmetric => Mirror::Same,
            Symmetry::Skew => Mirror::Negated,
        };
        let declared = Some((header.entries, "entries"));
        let table = EdgeTable::new(source, dialect, format!("Matrix Market, {}", header.words));
        Ok(Opened::Edges(Box::new(EdgeTable { mirror, declared, ..table })))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }

    fn writer(&self) -> Option<&dyn Write> {
        Some(self)
    }
}

impl Header {
    /// How the rows that follow are understood.
    fn dialect(&self, options: &ReadOptions<'_>) -> Dialect {
        let declared = VertexRange { first: 1, count: self.vertices };
        let given = Dialect::within(options, 1);
        Dialect {
            columns: if self.pattern { 2 } else { 3 },
            weight: (!self.pattern && options.weights).then_some(2),
            vertices: given.vertices.or(Some(declared)),
            comments: vec![b"%".to_vec()],
            skip_lines: self.lines,
            ..given
        }
    }

    fn read(source: &Source) -> Result<Self> {
        let mut lines = head_lines(source);
        let banner = lines.next().ok_or_else(|| source.ended("the line '%%MatrixMarket …'"))?;
        let words: Vec<String> =
            banner.tokens().map(|t| printable(t.text).to_ascii_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [banner_word, object, form, field, symmetry] = words[..] else {
            return Err(banner.error("expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"));
        };
        if banner_word != BANNER.to_ascii_lowercase() || object != "matrix" {
            return Err(banner.error("expected a header that starts '%%MatrixMarket matrix'"));
        }
        if form != "coordinate" {
            return Err(banner.error(format!("expected a 'coordinate' matrix, found '{form}'")));
        }
        let pattern = match field {
            "pattern" => true,
            "integer" | "real" | "double" => false,
            other => {
                let expected = "expected 'pattern', 'integer' or 'real' values";
                return Err(banner.error(format!("{expected}, found '{other}'")));
            }
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            other => {
                let expected = "expected 'general', 'symmetric' or 'skew-symmetric'";
                return Err(banner.error(format!("{expected}, found '{other}'")));
            }
        };
        for line in lines {
            let mut tokens = line.tokens();
            let Some(first) = tokens.next().filter(|t| !t.text.starts_with(b"%")) else { continue };
            let rows = first.count("the number of rows")?;
            let mut next = |what: &str| match tokens.next() {
                Some(token) => token.count(what),
                None => Err(line.error(format!("expected {what}, but the line ends"))),
            };
            let columns = next("the number of columns")?;
            let entries = next("the number of entries")?;
            return Ok(Header {
                pattern,
                symmetry,
                vertices: rows.max(columns),
                entries,
                lines: line.number(),
                words: words[2..].join(" "),
            });
        }
        let problem = "expected a line 'ROWS COLUMNS ENTRIES' in the first 64 KiB";
        Err(source.error(Place::File, problem))
    }
}

impl Write for Mtx {
    fn numbering(&self, vertices: usize) -> Option<Ids> {
        Some(Ids::Range { first: 1, count: vertices })
    }

    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
        use std::io::Write;
        let field = match graph.adjacency.weight_kind() {
            WeightKind::None => "pattern",
            WeightKind::U32 => "integer",
            WeightKind::F32 | WeightKind::F64 => "real",
        };
        let n = graph.num_vertices();
        // An undirected graph is stored as its lower triangle.
        let (symmetry, entries) = match graph.direction {
            Direction::Directed => ("general", graph.num_edges()),
            Direction::Undirected => ("symmetric", graph.count_edges(|s, d| d <= s)),
        };
        writeln!(out, "{BANNER} matrix coordinate {field} {symmetry}\n{n} {n} {entries}")
            .map_err(|e| out.failed(e))?;
        write_rows(graph, out, options, |row, source, destination| {
            if graph.direction == Direction::Undirected && destination > source {
                return None;
            }
            crate::print::push_integer(row, u64::from(source.0) + 1);
            row.push(b' ');
            crate::print::push_integer(row, u64::from(destination.0) + 1);
            Some(b' ')
        })
    }
}
