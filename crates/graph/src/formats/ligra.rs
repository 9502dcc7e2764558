//! Ligra and PBBS text: `AdjacencyGraph` or `WeightedAdjacencyGraph`, then numbers separated by
//! blanks or lines: N, M, N offsets, M destinations, and M weights.

use std::ops::Range;

use super::{Format, Opened, ReadOptions};
use crate::csr::MAX_VERTICES;
use crate::edge_file::{
    Cut, EdgeFile, FileShape, Piece, PieceReader, Pieces, Slice, TakePiece, WeightRule, order,
};
use crate::id_map::OriginalId;
use crate::ingest::VertexRange;
use crate::progress::Progress;
use crate::source::Source;
use crate::text::numbers::{WordReader, Words};
use crate::text::skip_mark;
use crate::{Graph, Result};

/// Ligra.
pub struct Ligra;

impl Format for Ligra {
    fn name(&self) -> &'static str {
        "ligra"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["ligra", "pbbs"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let word = skip_mark(source.head()).split(u8::is_ascii_whitespace).next();
        matches!(word, Some(b"AdjacencyGraph" | b"WeightedAdjacencyGraph"))
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        // Offsets, destinations and weights are read side by side, at three positions.
        let file = LigraFile::open(&source.on_disk(true)?, options)?;
        Ok(Opened::Edges(Box::new(file)))
    }
}

const VERTICES: &str = "the number of vertices";
const EDGES: &str = "the number of edges";
const OFFSET: &str = "an edge offset";
const TOO_MANY: &str = "more vertices than one host can hold";
const TOO_LONG: &str = "expected the end of the file";

fn is_weighted(word: &[u8]) -> Result<bool, &'static str> {
    match word {
        b"AdjacencyGraph" => Ok(false),
        b"WeightedAdjacencyGraph" => Ok(true),
        _ => Err("expected 'AdjacencyGraph' or 'WeightedAdjacencyGraph'"),
    }
}

fn bad_offset(last: u64, edges: u64) -> String {
    format!("expected an offset from {last} to {edges}")
}

fn no_vertex(target: u64, vertices: u64) -> String {
    format!("vertex {target} does not exist: there are {vertices}")
}

/// A file, open for reading slices of its edges. A survey counts the words of some blocks: it takes
/// all of them to find any number.
struct LigraFile {
    name: String,
    words: Words,
    weighted: bool,
    keeps_weights: bool,
    vertices: u64,
    edges: u64,
}

/// Words before the first offset: the kind of graph, and its sizes.
const HEADER_WORDS: u64 = 3;

impl LigraFile {
    fn open(source: &Source, options: &ReadOptions<'_>) -> Result<Self> {
        let (name, words) = (source.name().to_owned(), Words::open(source)?);
        let mut reader = words.all();
        let ended = || words.ended("the numbers of vertices and edges");
        let kind = reader.next()?.ok_or_else(ended)?;
        let weighted = is_weighted(kind.text).map_err(|problem| kind.error(problem))?;
        let count = reader.next()?.ok_or_else(ended)?;
        let vertices = count.count(VERTICES)?;
        if vertices > MAX_VERTICES {
            return Err(count.error(TOO_MANY));
        }
        let edges = reader.next()?.ok_or_else(ended)?.count(EDGES)?;
        let keeps_weights = weighted && options.weights;
        Ok(LigraFile { name, words, weighted, keeps_weights, vertices, edges })
    }

    /// There must be as many numbers as the sizes say.
    fn check_count(&self, counts: &[u64]) -> Result<()> {
        let found = counts.iter().sum::<u64>() - HEADER_WORDS;
        let weights = if self.weighted { self.edges } else { 0 };
        let mut left = found;
        for (what, expected) in
            [("offsets", self.vertices), ("destinations", self.edges), ("weights", weights)]
        {
            if left < expected {
                return Err(self.words.ended(&format!("{expected} {what}, not {left}")));
            }
            left -= expected;
        }
        if left > 0 {
            let mut rest = self.words.at(counts, HEADER_WORDS + found - left)?;
            let error = rest.next()?.map(|word| word.error(TOO_LONG));
            return Err(error.unwrap_or_else(|| self.words.ended("fewer numbers")));
        }
        Ok(())
    }

    /// The offset of a vertex, wherever it may be.
    fn offset(&self, counts: &[u64], vertex: u64) -> Result<u64> {
        // After the one before it, less than which it must not be.
        let mut offsets = Offsets::new(self, counts, vertex.saturating_sub(1))?;
        if vertex > 0 {
            offsets.next()?;
        }
        offsets.next()
    }

    /// The vertex at whose edges slice number `index` of `of` begins, if its first edge is `edge`.
    /// All readers find the same vertex, even if offsets fall.
    fn first_vertex(&self, counts: &[u64], index: usize, of: usize, edge: u64) -> Result<u64> {
        if index == 0 || index == of {
            return Ok(if index == 0 { 0 } else { self.vertices });
        }
        let (mut low, mut high) = (0, self.vertices);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.offset(counts, middle)? <= edge {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low.saturating_sub(1))
    }
}

/// Goes through the offsets of vertices.
struct Offsets<'a> {
    file: &'a LigraFile,
    words: WordReader<'a>,
    vertex: u64,
    last: u64,
}

impl<'a> Offsets<'a> {
    fn new(file: &'a LigraFile, counts: &[u64], vertex: u64) -> Result<Self> {
        let words = file.words.at(counts, HEADER_WORDS + vertex)?;
        Ok(Offsets { file, words, vertex, last: 0 })
    }

    /// The next offset, after the last the number of edges.
    fn next(&mut self) -> Result<u64> {
        let edges = self.file.edges;
        if self.vertex >= self.file.vertices {
            return Ok(edges);
        }
        let word = self.words.next()?.ok_or_else(|| self.file.words.ended("an edge offset"))?;
        let offset = word.count(OFFSET)?;
        if offset > edges || offset < self.last || (self.vertex == 0 && offset > 0) {
            return Err(word.error(bad_offset(self.last, edges)));
        }
        self.vertex += 1;
        self.last = offset;
        Ok(offset)
    }
}

impl EdgeFile for LigraFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> FileShape {
        let vertices = Some(VertexRange { first: 0, count: self.vertices });
        let weights = if self.keeps_weights { WeightRule::Fitting } else { WeightRule::None };
        FileShape { vertices, weights, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        Cut::Even
    }

    fn survey(&self, slice: Slice) -> Result<Vec<u64>> {
        self.words.count(slice.share(self.words.num_blocks()))
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        surveys: &[Vec<u64>],
        _: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let counts = match slice {
            Slice::WHOLE => self.survey(slice)?,
            _ => surveys.concat(),
        };
        self.check_count(&counts)?;
        let edges = slice.share(self.edges);
        let bound = |index, edge| self.first_vertex(&counts, index, slice.of, edge);
        let vertex = bound(slice.index, edges.start)?;
        let end = bound(slice.index + 1, edges.end)?;
        let targets_at = HEADER_WORDS + self.vertices;
        let mut offsets = Offsets::new(self, &counts, vertex)?;
        offsets.next()?;
        let row_end = offsets.next()?;
        let weights = match self.keeps_weights {
            true => Some(self.words.at(&counts, targets_at + self.edges + edges.start)?),
            false => None,
        };
        Ok(Box::new(LigraPieces {
            targets: self.words.at(&counts, targets_at + edges.start)?,
            file: self,
            offsets,
            weights,
            edges,
            row: (vertex, row_end),
            end,
            slice,
            count: 0,
        }))
    }

    fn understood(&self) -> Option<String> {
        let weighted = if self.weighted { "Weighted" } else { "" };
        Some(format!("Ligra {weighted}AdjacencyGraph"))
    }

    fn read_as(&self, _: &Graph) -> String {
        self.understood().unwrap_or_default()
    }
}

/// The edges of a slice: offsets, destinations and weights side by side.
struct LigraPieces<'a> {
    file: &'a LigraFile,
    offsets: Offsets<'a>,
    targets: WordReader<'a>,
    weights: Option<WordReader<'a>>,
    /// Edges that are left.
    edges: Range<u64>,
    /// The vertex whose edges these are, and where they end.
    row: (u64, u64),
    /// The vertex at which the next slice starts; offsets up to there are looked at here.
    end: u64,
    slice: Slice,
    count: usize,
}

impl LigraPieces<'_> {
    /// Fills the piece.
    fn fill(&mut self, piece: &mut Piece) -> Result<()> {
        let file = self.file;
        let vertices = file.vertices;
        piece.restart(order(self.slice.index, self.count));
        self.count += 1;
        for edge in self.edges.by_ref() {
            while edge >= self.row.1 && self.row.0 + 1 < vertices {
                self.row = (self.row.0 + 1, self.offsets.next()?);
            }
            let word = self.targets.next()?.ok_or_else(|| file.words.ended("a destination"))?;
            let target = word.id()?;
            if target >= vertices {
                return Err(word.error(no_vertex(target, vertices)));
            }
            piece.push(OriginalId::Integer(self.row.0), OriginalId::Integer(target));
            if let Some(weights) = &mut self.weights {
                let word = weights.next()?.ok_or_else(|| file.words.ended("a weight"))?;
                piece.push_weight(word.weight()?);
            }
            if piece.is_full() {
                return Ok(());
            }
        }
        while self.row.0 < self.end {
            self.row = (self.row.0 + 1, self.offsets.next()?);
        }
        Ok(())
    }
}

impl PieceReader for LigraPieces<'_> {
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        let mut piece = Piece::new(0, false);
        for _ in 0..limit {
            self.fill(&mut piece)?;
            take(&mut piece)?;
            if self.edges.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
