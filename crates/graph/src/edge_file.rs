//! Edges between original ids: how every format is read that does not hold a graph's rows as they
//! are in memory.
//!
//! ```text
//! survey(my slice) ── all surveys ── pieces(my slice, surveys) ── check(what was found)
//! ```
//!
//! A format says how its files are cut into slices ([`EdgeFile`]). The reader decides on the number of
//! slices: each host of a cluster reads one of many, [`formats::read`](crate::formats::read) reads
//! the one that is the whole. Nothing here knows of hosts.

use crate::id_list::IdList;
use crate::id_map::OriginalId;
use crate::ingest::VertexRange;
use crate::progress::Progress;
pub use crate::source::Slice;
use crate::{Direction, Error, Graph, Place, Result};

/// An input of edges between original ids, open for reading slices of it.
pub trait EdgeFile: Send + Sync {
    /// What to call the input in messages.
    fn name(&self) -> &str;

    /// What is known before edges are read.
    fn shape(&self) -> FileShape;

    /// How slices compare in size. If they are uneven, a host that reads one should deal its pieces
    /// out to the others.
    fn cut(&self) -> Cut;

    /// What readers of other slices must know of this one, such as its number of lines.
    fn survey(&self, slice: Slice) -> Result<Vec<u64>> {
        let _ = slice;
        Ok(Vec::new())
    }

    /// Starts to read the edges of a slice. `surveys` are those of all slices, in order; the
    /// [whole](Slice::WHOLE) needs none.
    fn pieces<'a>(
        &'a self,
        slice: Slice,
        surveys: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>>;

    /// Fails if the header promised something else than all slices together hold.
    fn check(&self, found: &Totals) -> Result<()> {
        let _ = found;
        Ok(())
    }

    /// Whether the edges, as they stand in the input, are there in both directions; known after
    /// [`EdgeFile::check`].
    fn direction(&self, found: &Totals) -> Direction {
        let _ = found;
        Direction::Directed
    }

    /// How the input is understood, in words, as far as that is known before edges are read.
    fn understood(&self) -> Option<String> {
        None
    }

    /// How the input was understood, in words, if this graph was read from it.
    fn read_as(&self, graph: &Graph) -> String;
}

/// The edges of a slice, read piece by piece.
pub trait PieceReader: Send {
    /// Hands about `limit` further pieces to `take`, from any thread and in any order. Returns
    /// whether there may be more.
    ///
    /// `take` may empty a piece; what it leaves is memory for the next one.
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool>;
}

/// A reader of the pieces of a slice.
pub type Pieces<'a> = Box<dyn PieceReader + 'a>;

/// What becomes of a piece.
pub type TakePiece<'a> = dyn Fn(&mut Piece) -> Result<()> + Sync + 'a;

/// Reads one after the other.
pub(crate) struct Chained<'a>(pub(crate) Vec<Pieces<'a>>);

impl PieceReader for Chained<'_> {
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        if let Some(first) = self.0.first_mut()
            && !first.read(limit, take)?
        {
            self.0.remove(0);
        }
        Ok(!self.0.is_empty())
    }
}

/// Some edges between original ids.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Where the piece stands in the input: the edges of lesser numbers come first. The high half
    /// is that of a slice or another large part of the input, the low half counts its pieces.
    pub order: u64,
    /// Where each edge starts.
    pub sources: IdList,
    /// Where each edge ends.
    pub destinations: IdList,
    /// The weight of each edge; none where edges have no weights.
    pub weights: Vec<f64>,
    /// Vertices that exist even if no edge names them.
    pub listed: IdList,
    /// Whether every weight is an integer that fits `u32`.
    pub is_whole: bool,
    /// The sum of the [skewness](crate::hash::skewness) of the edges, where each must have its
    /// mirror image.
    pub skewness: u64,
}

/// Edges per piece, where a format can choose: enough to fill the builder's buckets.
pub(crate) const EDGES_PER_PIECE: usize = 1 << 18;

impl Piece {
    /// An empty piece.
    pub fn new(order: u64, names: bool) -> Self {
        Piece {
            order,
            sources: IdList::new(names),
            destinations: IdList::new(names),
            weights: Vec::new(),
            listed: IdList::new(names),
            is_whole: true,
            skewness: 0,
        }
    }

    /// Empties the piece, which keeps its memory, to be number `order`.
    pub(crate) fn restart(&mut self, order: u64) {
        self.sources.clear();
        self.destinations.clear();
        self.weights.clear();
        self.listed.clear();
        (self.order, self.is_whole, self.skewness) = (order, true, 0);
    }

    /// Adds an edge without weight.
    pub(crate) fn push(&mut self, source: OriginalId<'_>, destination: OriginalId<'_>) {
        self.sources.push(source);
        self.destinations.push(destination);
    }

    /// Adds the weight of the edge that was pushed last.
    pub(crate) fn push_weight(&mut self, (weight, is_whole): (f64, bool)) {
        self.weights.push(weight);
        self.is_whole &= is_whole;
    }

    /// Number of edges.
    pub fn num_edges(&self) -> usize {
        self.sources.len()
    }

    /// Whether the piece is large enough to be handed on.
    pub(crate) fn is_full(&self) -> bool {
        self.num_edges() + self.listed.len() >= EDGES_PER_PIECE
    }

    /// Bytes of all edges and listed vertices.
    pub fn bytes(&self) -> u64 {
        let ids = [&self.sources, &self.destinations, &self.listed];
        ids.iter().map(|ids| ids.bytes()).sum::<u64>() + 8 * self.weights.len() as u64
    }
}

/// The number of a piece: the `count`th of `unit`, a slice or another part of the input.
pub(crate) fn order(unit: usize, count: usize) -> u64 {
    (unit as u64) << 32 | count as u64
}

/// What is known of the edges of an input before they are read.
#[derive(Clone, Copy, Debug)]
pub struct FileShape {
    /// Whether ids are names; otherwise integers.
    pub names: bool,
    /// What becomes of weights.
    pub weights: WeightRule,
    /// The vertices, where the input declares them.
    pub vertices: Option<VertexRange>,
    /// Whether listed vertices are all there are.
    pub complete: bool,
    /// What each edge stands for.
    pub mirror: Mirror,
}

/// What becomes of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightRule {
    /// There are none.
    None,
    /// `u32` if all are whole, else `f64`.
    Fitting,
    /// The same, where a column of integers makes `u32` likely and the input can be read twice.
    Integers,
    /// `f32`, from which they come.
    F32,
    /// `f64`.
    F64,
}

/// Whether an edge stands for two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// It stands for itself.
    None,
    /// Also for the one the other way round, unless it is a self-loop.
    Same,
    /// The same, where the input does not list that one, too.
    Missing,
    /// Also for the one the other way round, with the negative weight, unless it is a self-loop.
    Negated,
}

impl Default for FileShape {
    fn default() -> Self {
        FileShape {
            names: false,
            weights: WeightRule::None,
            vertices: None,
            complete: false,
            mirror: Mirror::None,
        }
    }
}

/// How an input is cut into slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Anywhere: slices are about equally large.
    Even,
    /// Into parts whose sizes the program chose that wrote them.
    Uneven,
    /// Into packed files, which can only be read from their beginning.
    Packed,
}

/// What all slices together hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Edges, before any is mirrored.
    pub edges: u64,
    /// Vertices.
    pub vertices: u64,
    /// The sum of all pieces' skewness.
    pub skewness: u64,
}

/// The error for a header that promised another number of something.
pub(crate) fn miscounted(file: &str, declared: u64, what: &str, found: u64) -> Error {
    let problem = format!("the header declares {declared} {what}, found {found}");
    Error::data(file, Place::File, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_everything_once() {
        for count in [0, 1, 2, 7, 100, u64::MAX] {
            for of in [1, 2, 3, 7, 200] {
                let shares: Vec<_> =
                    (0..of).map(|index| Slice { index, of }.share(count)).collect();
                assert_eq!((shares[0].start, shares[of - 1].end), (0, count));
                assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }
}
