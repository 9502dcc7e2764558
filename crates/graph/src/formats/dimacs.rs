//! DIMACS text: `c` comments, one `p` line, then edges; ids from 1.
//!
//! * `p sp N M` (shortest paths): `a SOURCE DESTINATION WEIGHT`, directed. Shares its ending,
//!   `.gr`, with Galois's binary files; the contents tell them apart.
//! * `p edge|col|tw N M` (colouring, tree width): `e U V` or plain `U V`, undirected.

use super::{Format, ReadOptions};
use crate::ingest::VertexRange;
use crate::slices::{Mirror, Shares};
use crate::source::Source;
use crate::text::pieces::TableFile;
use crate::text::scanner::head_lines;
use crate::text::table::Table;
use crate::{Direction, Graph, Result};

/// DIMACS challenge files.
pub struct Dimacs;

struct Header {
    kind: Problem,
    /// Vertices and edges; a file without a `p` line declares none.
    sizes: Option<(u64, u64)>,
    /// Lines before the first edge.
    lines: u64,
    tag: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    ShortestPaths,
    Undirected,
}

impl Format for Dimacs {
    fn name(&self) -> &'static str {
        "dimacs"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["dimacs", "col"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let first = head_lines(source).find(|l| !l.text.is_empty() && !is_comment(l.text));
        first.is_some_and(|line| {
            let words: Vec<&[u8]> = line.tokens().map(|t| t.text).collect();
            match words[..] {
                [b"p", b"sp" | b"edge" | b"col" | b"tw", ..] => true,
                [b"a", source, destination, _] => {
                    [source, destination].iter().all(|w| w.iter().all(u8::is_ascii_digit))
                }
                _ => false,
            }
        })
    }

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let header = Header::read(source)?;
        let loaded = header.table(options).load(source, None, options)?;
        if let Some((_, edges)) = header.sizes {
            loaded.expect_rows(source, edges, "edges")?;
        }
        Ok(match header.kind {
            Problem::ShortestPaths => {
                loaded.into_graph(Direction::Directed, "DIMACS shortest paths (p sp)".into())
            }
            Problem::Undirected => loaded
                .into_graph(Direction::Directed, "DIMACS undirected graph".into())
                .undirected(),
        })
    }

    fn shares(&self, source: Source, _: &ReadOptions<'_>) -> Result<Shares> {
        let header = Header::read(&source)?;
        let table = header.table(&ReadOptions::default());
        let mirror = match header.kind {
            Problem::ShortestPaths => Mirror::None,
            Problem::Undirected => Mirror::Same,
        };
        let declared = header.sizes.map(|(_, edges)| (edges, "edges"));
        Ok(Shares::Edges(Box::new(TableFile { source, table, mirror, declared })))
    }
}

impl Header {
    /// The rows that follow.
    fn table(&self, options: &ReadOptions<'_>) -> Table {
        let declared = self.sizes.map(|(count, _)| VertexRange { first: 1, count });
        let first = usize::from(self.tag.is_some());
        let weighted = self.kind == Problem::ShortestPaths;
        Table {
            columns: first + 2 + usize::from(weighted),
            source: first,
            destination: first + 1,
            weight: (weighted && options.weights).then_some(first + 2),
            vertices: options.declared(1).or(declared),
            tag: self.tag,
            comments: &[b"c"],
            skip_lines: self.lines,
            ..Table::default()
        }
    }
}

/// `c` alone or followed by a blank.
fn is_comment(line: &[u8]) -> bool {
    matches!(line, [b'c'] | [b'c', b' ' | b'\t', ..])
}

impl Header {
    fn read(source: &Source) -> Result<Self> {
        let mut kind = Problem::ShortestPaths;
        let mut sizes = None;
        for line in head_lines(source) {
            let mut tokens = line.tokens();
            let Some(first) = tokens.next().filter(|_| !is_comment(line.text)) else { continue };
            if first.text != b"p" {
                let tag = match kind {
                    Problem::ShortestPaths => Some(b'a'),
                    Problem::Undirected => (first.text == b"e").then_some(b'e'),
                };
                return Ok(Header { kind, sizes, lines: line.number() - 1, tag });
            }
            if sizes.is_some() {
                return Err(line.error("a second 'p' line"));
            }
            let word = tokens.next().map_or(&b""[..], |t| t.text);
            kind = match word {
                b"sp" => Problem::ShortestPaths,
                b"edge" | b"col" | b"tw" => Problem::Undirected,
                _ => return Err(line.error("expected 'p sp', 'p edge', 'p col' or 'p tw'")),
            };
            let mut next = |what: &str| match tokens.next() {
                Some(token) => token.count(what),
                None => Err(line.error(format!("expected {what}, but the line ends"))),
            };
            sizes = Some((next("the number of vertices")?, next("the number of edges")?));
        }
        // No edge in sight: the table finds them later, or there are none.
        let tag = (kind == Problem::ShortestPaths).then_some(b'a');
        let lines = head_lines(source).filter(|l| l.text.starts_with(b"p")).map(|l| l.number());
        Ok(Header { kind, sizes, lines: lines.last().unwrap_or(0), tag })
    }
}
