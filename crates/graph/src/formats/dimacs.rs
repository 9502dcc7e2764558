//! DIMACS text: `c` comments, one `p` line, then edges; ids from 1.
//!
//! * `p sp N M` (shortest paths): `a SOURCE DESTINATION WEIGHT`, directed. Shares its ending,
//!   `.gr`, with Galois's binary files; the contents tell them apart.
//! * `p edge|col|tw N M` (colouring, tree width): `e U V` or plain `U V`, undirected.

use super::{Format, Opened, ReadOptions};
use crate::Result;
use crate::edge_file::Mirror;
use crate::ingest::VertexRange;
use crate::source::Source;
use crate::text::dialect::Dialect;
use crate::text::pieces::EdgeTable;
use crate::text::scanner::head_lines;

/// DIMACS challenge files.
pub struct Dimacs;

struct Header {
    problem: Problem,
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

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let header = Header::read(&source)?;
        let dialect = header.dialect(options);
        let (mirror, read_as) = match header.problem {
            Problem::ShortestPaths => (Mirror::None, "DIMACS shortest paths (p sp)"),
            Problem::Undirected => (Mirror::Same, "DIMACS undirected graph"),
        };
        let declared = header.sizes.map(|(_, edges)| (edges, "edges"));
        let table = EdgeTable::new(source, dialect, read_as.into());
        Ok(Opened::Edges(Box::new(EdgeTable { mirror, declared, ..table })))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

impl Header {
    /// How the rows that follow are understood.
    fn dialect(&self, options: &ReadOptions<'_>) -> Dialect {
        let declared = self.sizes.map(|(count, _)| VertexRange { first: 1, count });
        let first = usize::from(self.tag.is_some());
        let weighted = self.problem == Problem::ShortestPaths;
        let given = Dialect::within(options, 1);
        Dialect {
            columns: first + 2 + usize::from(weighted),
            source: first,
            destination: first + 1,
            weight: (weighted && options.weights).then_some(first + 2),
            vertices: given.vertices.or(declared),
            tag: self.tag,
            comments: vec![b"c".to_vec()],
            skip_lines: self.lines,
            ..given
        }
    }
}

/// `c` alone or followed by a blank.
fn is_comment(line: &[u8]) -> bool {
    matches!(line, [b'c'] | [b'c', b' ' | b'\t', ..])
}

impl Header {
    fn read(source: &Source) -> Result<Self> {
        let mut problem = Problem::ShortestPaths;
        let mut sizes = None;
        for line in head_lines(source) {
            let mut tokens = line.tokens();
            let Some(first) = tokens.next().filter(|_| !is_comment(line.text)) else { continue };
            if first.text != b"p" {
                let tag = match problem {
                    Problem::ShortestPaths => Some(b'a'),
                    Problem::Undirected => (first.text == b"e").then_some(b'e'),
                };
                return Ok(Header { problem, sizes, lines: line.number() - 1, tag });
            }
            if sizes.is_some() {
                return Err(line.error("a second 'p' line"));
            }
            let word = tokens.next().map_or(&b""[..], |t| t.text);
            problem = match word {
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
        let tag = (problem == Problem::ShortestPaths).then_some(b'a');
        let lines = head_lines(source).filter(|l| l.text.starts_with(b"p")).map(|l| l.number());
        Ok(Header { problem, sizes, lines: lines.last().unwrap_or(0), tag })
    }
}
