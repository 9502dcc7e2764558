//! Plain adjacency lines: `v n1 n2 …`, a vertex and its out-neighbours. Nothing in such a file
//! tells it from an edge list, so it is read on request or by its ending, `.adj`.

use super::{Format, IdKind, ReadOptions};
use crate::build::Edges;
use crate::id_map::OriginalId;
use crate::ingest::{IdList, Ingest, NameList, VertexList};
use crate::slices::{Cut, EDGES_PER_PIECE, EdgeFile, Pieces, Shape, Shares, Slice};
use crate::source::Source;
use crate::text::pieces::line_pieces;
use crate::text::scanner::{Scanner, Token};
use crate::{Direction, Graph, Result};

/// Adjacency lines.
pub struct AdjacencyLines;

impl Format for AdjacencyLines {
    fn name(&self) -> &'static str {
        "adjacency"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["adj"]
    }

    fn recognises(&self, _: &Source) -> bool {
        false
    }

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let names = options.ids == IdKind::Names;
        let declared = options.declared(0);
        let ingest = Ingest::new(source.name(), declared);
        let id = |token: Token<'_>| match (token.id()?, declared) {
            (id, Some(range)) if !range.contains(id) => {
                let problem = format!("vertex {id} does not exist: the vertices are {range}");
                Err(token.error(problem))
            }
            (id, _) => Ok(id),
        };
        let mut scanner = Scanner::new(source)?;
        let (mut vertices, mut edges) = (Vec::new(), Edges::default());
        let (mut named_vertices, mut ends) = (NameList::default(), NameList::default());
        let mut piece = 0;
        while let Some(line) = scanner.next_line_unless(b'#')? {
            let mut tokens = line.tokens();
            let Some(vertex) = tokens.next() else { continue };
            if names {
                named_vertices.push(vertex.text);
                for neighbour in tokens {
                    ends.push(vertex.text);
                    ends.push(neighbour.text);
                }
            } else {
                let vertex = id(vertex)?;
                vertices.push(vertex);
                for neighbour in tokens {
                    edges.push(vertex, id(neighbour)?, ());
                }
            }
            if edges.len() >= EDGES_PER_PIECE || ends.len() >= 2 * EDGES_PER_PIECE {
                flush(&ingest, &mut piece, &mut edges, &mut ends)?;
            }
        }
        flush(&ingest, &mut piece, &mut edges, &mut ends)?;
        let ids = match names {
            true => IdList::Names(named_vertices),
            false => IdList::Integers(vertices),
        };
        let (csr, ids) = ingest.finish(Some(VertexList { ids, complete: false }), |()| ())?;
        let read_as = format!("adjacency lines, ids are {}", ids.describe());
        Ok(Graph { adjacency: csr.into(), ids, direction: Direction::Directed, read_as })
    }

    fn shares(&self, source: Source, options: &ReadOptions<'_>) -> Result<Shares> {
        source.single()?;
        let names = options.ids == IdKind::Names;
        Ok(Shares::Edges(Box::new(AdjacencyFile { source, names })))
    }
}

/// Lines of vertices, open for reading slices.
struct AdjacencyFile {
    source: Source,
    names: bool,
}

impl EdgeFile for AdjacencyFile {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> Shape {
        Shape { names: self.names, ..Shape::default() }
    }

    fn cut(&self) -> Cut {
        self.source.cut()
    }

    fn pieces(&self, slice: Slice, _: &[Vec<u64>]) -> Result<Pieces<'_>> {
        fn id(token: Token<'_>, names: bool) -> Result<OriginalId<'_>> {
            Ok(match names {
                true => OriginalId::Name(token.text),
                false => OriginalId::Integer(token.id()?),
            })
        }
        let (lines, names) = (self.source.slice(slice, 0)?, self.names);
        line_pieces(&lines, Some(b'#'), slice.index, names, move |line, piece| {
            let mut tokens = line.tokens();
            let Some(vertex) = tokens.next() else { return Ok(()) };
            let vertex = id(vertex, names)?;
            piece.listed.push(vertex);
            for neighbour in tokens {
                piece.push(vertex, id(neighbour, names)?);
            }
            Ok(())
        })
    }
}

fn flush(
    ingest: &Ingest<()>,
    piece: &mut usize,
    edges: &mut Edges<u64, ()>,
    ends: &mut NameList,
) -> Result<()> {
    if !edges.is_empty() {
        ingest.add_integers(*piece, edges)?;
    }
    if !ends.is_empty() {
        ingest.add_names(*piece, ends, vec![(); ends.len() / 2])?;
    }
    edges.clear();
    ends.clear();
    *piece += 1;
    Ok(())
}
