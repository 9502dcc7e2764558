//! Edges between original ids, read in shares: what hosts do with every input that does not hold a
//! graph's rows as they are in memory.
//!
//! ```text
//! survey(my slice) ── all hosts' surveys ── pieces(my slice, surveys) ── check(what was found)
//! ```
//!
//! A format says how its files are cut ([`EdgeFile`]); whoever reads decides into how many slices,
//! and brings together what they tell. Nothing here knows that slices are read by hosts.

use crate::id_map::OriginalId;
use crate::ingest::{IdList, VertexRange};
use crate::rows::RowFile;
pub use crate::source::Slice;
use crate::{Error, Place, Result};

/// How hosts can each read their share of an input.
pub enum Shares {
    /// Rows of a graph, any range of them.
    Rows(RowFile),
    /// Edges in any order, a slice of them.
    Edges(Box<dyn EdgeFile>),
}

/// Pieces of a slice, some at a time.
pub type Pieces<'a> = Box<dyn Iterator<Item = Result<Vec<Piece>>> + Send + 'a>;

/// Some edges between original ids.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Where the piece stands in the input: the edges of lesser numbers come first. The high half
    /// is that of a slice or another large part of the input, the low half counts its pieces.
    pub order: u64,
    /// Source and destination of each edge in turn.
    pub ends: IdList,
    /// The weight of each edge; none where edges have no weights.
    pub weights: Vec<f64>,
    /// Vertices that exist even if no edge names them.
    pub listed: IdList,
    /// Whether every weight is an integer that fits `u32`.
    pub whole: bool,
    /// What the edges leave over when each is weighed against its mirror image: the sum over all
    /// pieces, wrapping around, is 0 if every edge has its image. Only where that must be so.
    pub skewness: u64,
}

/// Edges per piece, where a format can choose: enough to fill the builder's buckets.
pub(crate) const EDGES_PER_PIECE: usize = 1 << 18;

impl Piece {
    /// An empty piece.
    pub fn new(order: u64, names: bool) -> Self {
        Piece {
            order,
            ends: IdList::new(names),
            weights: Vec::new(),
            listed: IdList::new(names),
            whole: true,
            skewness: 0,
        }
    }

    /// Adds an edge without weight.
    pub(crate) fn push(&mut self, source: OriginalId<'_>, destination: OriginalId<'_>) {
        self.ends.push(source);
        self.ends.push(destination);
    }

    /// Number of edges.
    pub fn num_edges(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether the piece is large enough to be handed on.
    pub(crate) fn is_full(&self) -> bool {
        self.num_edges() + self.listed.len() >= EDGES_PER_PIECE
    }

    /// Bytes of what it holds.
    pub fn bytes(&self) -> u64 {
        self.ends.bytes() + self.listed.bytes() + 8 * self.weights.len() as u64
    }
}

/// The number of a piece: the `count`th of `unit`, a slice or another part of the input.
pub(crate) fn order(unit: usize, count: usize) -> u64 {
    (unit as u64) << 32 | count as u64
}

/// What is known of the edges of an input before they are read.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
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
    /// Also for the one the other way round, with the negative weight, unless it is a self-loop.
    Negated,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
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
    /// Into parts that are as large as whoever wrote them made them.
    Uneven,
    /// Into packed files, which can only be read from their beginning.
    Packed,
}

/// What all slices together turned out to hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Edges, before any is mirrored.
    pub edges: u64,
    /// Vertices.
    pub vertices: u64,
    /// The sum of all pieces' skewness.
    pub skewness: u64,
}

/// An input of edges between original ids, open for reading slices of it.
pub trait EdgeFile: Send + Sync {
    /// What to call the input in messages.
    fn name(&self) -> &str;

    /// What is known beforehand.
    fn shape(&self) -> Shape;

    /// How slices compare. Where they are not even, whoever reads one should hand its pieces round.
    fn cut(&self) -> Cut;

    /// What other slices must know of this one before anyone can read its own, such as how many
    /// rows it has.
    fn survey(&self, slice: Slice) -> Result<Vec<u64>> {
        let _ = slice;
        Ok(Vec::new())
    }

    /// The edges of a slice; `surveys` are those of all slices, in order.
    fn pieces(&self, slice: Slice, surveys: &[Vec<u64>]) -> Result<Pieces<'_>>;

    /// Whether that can be all: headers may have promised something else.
    fn check(&self, found: &Found) -> Result<()> {
        let _ = found;
        Ok(())
    }
}

/// Says that a header promised another number of something.
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

/// The same of vertices that are counted in 64 bits.
pub(crate) fn skewness(source: u64, destination: u64, weight: f64) -> u64 {
    crate::hash::skewness(source as u32, destination as u32, weight)
}

/// The same of vertices that are counted in 64 bits.
pub(crate) fn edge_hash(source: u64, destination: u64, weight: f64) -> u64 {
    crate::hash::edge_hash(source as u32, destination as u32, weight)
}
