//! Plain adjacency lines: `v n1 n2 …`, a vertex and its out-neighbours. Nothing in such a file
//! tells it from an edge list, so it is read on request or by its ending, `.adj`.

use super::{Format, IdKind, Opened, ReadOptions};
use crate::edge_file::{Cut, EdgeFile, FileShape, Pieces, Slice};
use crate::id_map::OriginalId;
use crate::ingest::VertexRange;
use crate::progress::Progress;
use crate::source::Source;
use crate::text::pieces::line_pieces;
use crate::text::scanner::Token;
use crate::{Graph, Result};

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

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        source.single()?;
        let (names, vertices) = (options.ids == IdKind::Names, options.declared(0));
        Ok(Opened::Edges(Box::new(AdjacencyFile { source, names, vertices })))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

/// Lines of vertices, open for reading slices.
struct AdjacencyFile {
    source: Source,
    names: bool,
    vertices: Option<VertexRange>,
}

impl AdjacencyFile {
    fn id<'t>(&self, token: Token<'t>) -> Result<OriginalId<'t>> {
        if self.names {
            return Ok(OriginalId::Name(token.text));
        }
        match (token.id()?, self.vertices) {
            (id, Some(range)) if !range.contains(id) => {
                let problem = format!("vertex {id} does not exist: the vertices are {range}");
                Err(token.error(problem))
            }
            (id, _) => Ok(OriginalId::Integer(id)),
        }
    }
}

impl EdgeFile for AdjacencyFile {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> FileShape {
        FileShape { names: self.names, vertices: self.vertices, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        self.source.cut()
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        _: &[Vec<u64>],
        _: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let lines = self.source.slice(slice, 0)?;
        line_pieces(&lines, Some(b'#'), slice.index, self.names, move |line, piece| {
            let mut tokens = line.tokens();
            let Some(vertex) = tokens.next() else { return Ok(()) };
            let vertex = self.id(vertex)?;
            piece.listed.push(vertex);
            for neighbour in tokens {
                piece.push(vertex, self.id(neighbour)?);
            }
            Ok(())
        })
    }

    fn understood(&self) -> Option<String> {
        Some("adjacency lines".into())
    }

    fn read_as(&self, graph: &Graph) -> String {
        format!("adjacency lines, ids are {}", graph.ids.describe())
    }
}
