//! Formats whose file is one document: node-link JSON, GraphML, GML.
//!
//! Such a file can only be read from its beginning, and what its edges mean may stand behind them.
//! It is read twice: [`facts`] finds out what ids, weights and directions there are, then [`reader`]
//! makes pieces of the edges. One host does that and deals the pieces out to the others. Neither
//! keeps the document, so memory follows the edges of a few pieces, and the names where edges refer
//! to vertices by number.

mod facts;
mod reader;

use std::io::{self, BufRead};
use std::sync::Arc;

use super::{Opened, ReadOptions};
use crate::edge_file::{Cut, EdgeFile, FileShape, Mirror, Pieces, Slice, WeightRule};
use crate::error::printable;
use crate::id_map::OriginalId;
use crate::progress::{Progress, Unit};
use crate::source::{Part, Source};
use crate::text::number::{parse_id, parse_weight};
use crate::weight::WeightKind;
use crate::{Error, Graph, Place, Result};
use facts::{Facts, Plan};

/// How much of a document is read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// What a document consists of, in the order of the file.
pub(super) enum Item<'a> {
    /// Whether edges are directed that do not say it themselves. May come at any time.
    Directed(bool),
    /// A vertex.
    Vertex {
        /// How it is identified; by its position, if it does not say.
        id: Option<VertexKey<'a>>,
        /// What people call it.
        label: Option<&'a str>,
    },
    /// An edge.
    Edge(Edge<'a>),
}

/// An edge of a document.
#[derive(Clone, Copy)]
pub(super) struct Edge<'a> {
    pub(super) source: VertexKey<'a>,
    pub(super) destination: VertexKey<'a>,
    /// The weight, and whether it is an integer that fits `u32`.
    pub(super) weight: Option<(f64, bool)>,
    /// Where the edge says it itself.
    pub(super) directed: Option<bool>,
}

/// How a document identifies a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VertexKey<'a> {
    Integer(u64),
    /// Text that stays text, even if it is digits.
    Text(&'a str),
    /// Text in a format that has no numbers: digits may be meant as one.
    Untyped(&'a str),
}

impl<'a> VertexKey<'a> {
    /// The id as one of the wanted kind; `digits` is room for an integer as text.
    pub(super) fn original(
        self,
        names: bool,
        digits: &'a mut Vec<u8>,
    ) -> Result<OriginalId<'a>, String> {
        match self {
            VertexKey::Integer(id) if !names => Ok(OriginalId::Integer(id)),
            VertexKey::Integer(id) => {
                digits.clear();
                digits.extend_from_slice(id.to_string().as_bytes());
                Ok(OriginalId::Name(digits))
            }
            VertexKey::Text(text) | VertexKey::Untyped(text) if names => {
                Ok(OriginalId::Name(text.as_bytes()))
            }
            VertexKey::Text(text) | VertexKey::Untyped(text) => {
                let id = parse_id(text.as_bytes());
                let hint = "; if ids are names, say `ids` names";
                id.map(OriginalId::Integer).map_err(|e| e.describe(text.as_bytes()) + hint)
            }
        }
    }
}

/// Why a document cannot be read on.
pub(super) enum Trouble {
    Io(io::Error),
    Problem(String),
}

impl From<String> for Trouble {
    fn from(problem: String) -> Self {
        Trouble::Problem(problem)
    }
}

impl From<&str> for Trouble {
    fn from(problem: &str) -> Self {
        Trouble::Problem(problem.into())
    }
}

impl Trouble {
    /// The error at a place of the document. A problem may quote it, which must be safe to print.
    pub(super) fn at(self, part: &Part, place: Place) -> Error {
        const SHOWN_CHARACTERS: usize = 400;
        match self {
            Trouble::Io(error) => part.read_error(error),
            Trouble::Problem(problem) => {
                let safe = |c: char| if c.is_control() { '?' } else { c };
                let problem: String = problem.chars().map(safe).take(SHOWN_CHARACTERS).collect();
                Error::data(part.name(), place, problem)
            }
        }
    }
}

/// Takes the items of a document; a problem is one of the item that was given last.
pub(super) type TakeItem<'a> = dyn FnMut(Item<'_>) -> Result<(), String> + 'a;

/// How a format's documents are read.
pub(super) trait Document: Send + Sync + 'static {
    /// What the format is called.
    fn name(&self) -> &'static str;

    /// Hands all items to `take`.
    fn scan(&self, part: &Part, reader: &mut dyn BufRead, take: &mut TakeItem<'_>) -> Result<()>;

    /// Whether people know vertices by their labels, and the ids are of no use outside of the file.
    fn labels_are_ids(&self) -> bool {
        false
    }

    /// Which keys were read, known after the first scan: "source = from, destination = to".
    fn keys(&self) -> String;
}

/// A document that has been looked through, open for reading its edges.
struct DocumentFile<D> {
    name: String,
    part: Part,
    document: Arc<D>,
    facts: Facts,
    plan: Plan,
    cut: Cut,
}

/// Looks through a document.
pub(super) fn open(
    source: Source,
    document: impl Document,
    options: &ReadOptions<'_>,
) -> Result<Opened> {
    let source = source.on_disk(false)?;
    let part = source.single()?.clone();
    let mut facts = Facts::new(options, document.labels_are_ids());
    document.scan(&part, &mut part.buffered(BUFFER_BYTES)?, &mut |item| facts.add(item))?;
    let plan = facts.plan().map_err(|problem| source.error(Place::File, problem))?;
    // Of a plain file, packing is no reason why it cannot be split.
    let cut = if source.is_plain() { Cut::Uneven } else { Cut::Packed };
    let (name, document) = (source.name().to_owned(), Arc::new(document));
    Ok(Opened::Edges(Box::new(DocumentFile { name, part, document, facts, plan, cut })))
}

/// A weight that stands as text in a document, and whether it is an integer that fits `u32`.
pub(super) fn weight(text: &[u8]) -> Result<(f64, bool), String> {
    let hint = " (to leave weights out, say `weights` none)";
    parse_weight(text).map_err(|problem| problem + hint)
}

/// Whether the user wants the weights that an input has.
pub(super) fn wants_weights(options: &ReadOptions<'_>) -> bool {
    options.weights && options.weight_kind != Some(WeightKind::None)
}

impl<D: Document> EdgeFile for DocumentFile<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> FileShape {
        FileShape {
            names: self.plan.names,
            weights: if self.facts.has_weights() { WeightRule::Fitting } else { WeightRule::None },
            vertices: None,
            complete: self.facts.vertices > 0,
            mirror: if self.facts.all_undirected() { Mirror::Same } else { Mirror::None },
        }
    }

    fn cut(&self) -> Cut {
        self.cut
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        _: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        progress.stage("reading", Unit::Edges, Some(self.facts.edges));
        match slice.index {
            0 => reader::pieces(&self.part, &self.document, &self.facts, self.plan, progress),
            _ => Ok(Box::new(crate::edge_file::Chained(Vec::new()))),
        }
    }

    fn understood(&self) -> Option<String> {
        let Self { document, facts, plan, .. } = self;
        let keys = document.keys();
        let weights = if facts.has_weights() { "" } else { ", no weights" };
        let direction = facts.direction_in_words();
        let ids = plan.ids_in_words();
        Some(format!("{}: {keys}{weights}; {direction}, {ids}", document.name()))
    }

    fn read_as(&self, _: &Graph) -> String {
        self.understood().unwrap_or_default()
    }
}

/// The keys of an edge in formats that have words of their own for its ends.
pub(super) fn keys_with_weight(weight: Option<&String>) -> String {
    let weight =
        weight.map_or(String::new(), |key| format!(", weight = {}", printable(key.as_bytes())));
    format!("source = source, destination = target{weight}")
}
