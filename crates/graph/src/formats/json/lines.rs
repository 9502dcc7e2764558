//! JSON lines: an object per line, which is an edge.

use serde::de::DeserializeSeed;

use super::edge::{AllSeed, EdgeKeys, EdgeSeed, EdgeValues, problem_of};
use crate::edge_file::{
    Cut, EdgeFile, FileShape, Piece, PieceReader, Pieces, Slice, TakePiece, WeightRule, order,
};
use crate::formats::document::VertexKey;
use crate::formats::{IdKind, ReadOptions};
use crate::progress::Progress;
use crate::source::Source;
use crate::text::blocks::{Block, BlockPieces, LineOrError};
use crate::text::scanner::{Line, head_lines};
use crate::text::{LineError, skip_mark};
use crate::{Graph, Result};

/// Lines of edges, of which the first have been looked at.
pub(super) struct EdgeLines {
    source: Source,
    /// `None` if there is no line.
    keys: Option<EdgeKeys>,
    names: bool,
    /// Whether numbers and text must not be mixed, because no option says how to take them.
    one_kind: bool,
    has_weights: bool,
}

impl EdgeLines {
    pub(super) fn open(source: Source, options: &ReadOptions<'_>) -> Result<Self> {
        let first = head_lines(&source).find(|line| !line.text.trim_ascii().is_empty());
        let looked = first.map(|line| Self::look(&source, line, options)).transpose()?;
        let (keys, names, has_weights) = match looked {
            Some((keys, names, has_weights)) => (Some(keys), names, has_weights),
            None => (None, false, false),
        };
        let one_kind = options.ids == IdKind::Detect;
        Ok(EdgeLines { source, keys, names, one_kind, has_weights })
    }

    /// The keys of edges, whether ids are names and whether there are weights, from the first edge.
    fn look(
        source: &Source,
        first: Line<'_>,
        options: &ReadOptions<'_>,
    ) -> Result<(EdgeKeys, bool, bool)> {
        if !source.head_is_all() && memchr::memchr(b'\n', source.head()).is_none() {
            return Err(first.error("the first line is longer than 64 KiB: no edge"));
        }
        let all = parse(first.text, AllSeed).map_err(|(_, problem)| first.error(problem))?;
        let keys: Vec<String> = all.iter().map(|(key, _)| key.clone()).collect();
        let keys = EdgeKeys::choose(&keys, options).map_err(|problem| first.error(problem))?;
        let values = EdgeValues::of(all, &keys).map_err(|problem| first.error(problem))?;
        let edge = values.edge(&keys).map_err(|problem| first.error(problem))?;
        let names = match options.ids {
            IdKind::Detect => is_text(edge.source),
            wanted => wanted == IdKind::Names,
        };
        let has_weights = edge.weight.is_some();
        Ok((keys, names, has_weights))
    }

    /// Adds the edge on a line; otherwise the column of the problem.
    fn add(&self, keys: &EdgeKeys, line: &[u8], piece: &mut Piece) -> Result<(), (usize, String)> {
        let values: EdgeValues<'_> = parse(line, EdgeSeed(keys))?;
        let whole = |problem: String| (1, problem);
        let edge = values.edge(keys).map_err(whole)?;
        if self.one_kind
            && [edge.source, edge.destination].iter().any(|&k| is_text(k) != self.names)
        {
            return Err(whole(MIXED.into()));
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let source = edge.source.original(self.names, &mut a).map_err(whole)?;
        let destination = edge.destination.original(self.names, &mut b).map_err(whole)?;
        piece.push(source, destination);
        match (edge.weight, self.has_weights) {
            (Some(weight), true) => piece.push_weight(weight),
            (None, false) => {}
            (Some(_), false) | (None, true) => {
                return Err(whole("an edge without a weight, where others have one".into()));
            }
        }
        if edge.directed == Some(false) && source != destination {
            piece.push(destination, source);
            edge.weight.into_iter().for_each(|weight| piece.push_weight(weight));
        }
        Ok(())
    }
}

const MIXED: &str = "some ids are numbers, others are text; if they are names, say `ids` names";

fn is_text(key: VertexKey<'_>) -> bool {
    matches!(key, VertexKey::Text(_))
}

/// Reads a line; otherwise the column of the problem.
fn parse<'de, S: DeserializeSeed<'de>>(
    line: &'de [u8],
    seed: S,
) -> Result<S::Value, (usize, String)> {
    let mut parser = serde_json::Deserializer::from_slice(line);
    let parsed = seed.deserialize(&mut parser).and_then(|value| parser.end().map(|()| value));
    parsed.map_err(|error| {
        let problem = problem_of(&error);
        (error.column().max(1), problem.chars().filter(|c| !c.is_control()).take(400).collect())
    })
}

impl EdgeFile for EdgeLines {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> FileShape {
        let weights = if self.has_weights { WeightRule::Fitting } else { WeightRule::None };
        FileShape { names: self.names, weights, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        self.source.cut()
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        _: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let lines = self.source.slice(slice, 0)?;
        let work =
            move |(): &mut (), block: &Block, take: &TakePiece<'_>| {
                let text = if block.starts_part { skip_mark(block.text()) } else { block.text() };
                let mut piece = Piece::new(order(slice.index, block.order), self.names);
                let mut count = 0;
                for line in text.split_inclusive(|&b| b == b'\n') {
                    let text = line.trim_ascii();
                    if let Some(keys) = self.keys.as_ref().filter(|_| !text.is_empty()) {
                        self.add(keys, text, &mut piece).map_err(|(column, problem)| {
                            LineError { line: count, column, text: text.to_vec(), problem }
                        })?;
                    }
                    count += 1;
                }
                take(&mut piece)?;
                Ok::<u64, LineOrError>(count)
            };
        Ok(Box::new(LinePieces(BlockPieces::new(&lines, progress, work)?)))
    }

    fn understood(&self) -> Option<String> {
        let Some(keys) = &self.keys else { return Some("JSON lines, none".into()) };
        let ids = if self.names { "names as ids" } else { "integer ids" };
        Some(format!("JSON lines: {}; directed, {ids}", keys.describe()))
    }

    fn read_as(&self, _: &Graph) -> String {
        self.understood().unwrap_or_default()
    }
}

struct LinePieces<'a, F>(BlockPieces<'a, F>);

impl<F> PieceReader for LinePieces<'_, F>
where
    F: Fn(&mut (), &Block, &TakePiece<'_>) -> Result<u64, LineOrError> + Send + Sync,
{
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        self.0.read(limit, take)
    }
}
