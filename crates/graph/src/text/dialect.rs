//! The dialect of a text: how its rows of columns are to be understood.

use super::fields::Delimiter;
use super::is_blank;
use crate::formats::ReadOptions;
use crate::ingest::VertexRange;
use crate::source::Source;
use crate::{Place, Result};

/// How the rows of a text are to be understood.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    /// Number of columns of every row.
    pub(crate) columns: usize,
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) weight: Option<usize>,
    /// Whether ids are names; otherwise integers.
    pub(crate) names: bool,
    /// Whether the same id means the same vertex at both ends of an edge; otherwise ids are names.
    pub(crate) sides: Sides,
    /// The only ids allowed.
    pub(crate) vertices: Option<VertexRange>,
    /// Whether the user gave them; otherwise the header did.
    pub(crate) vertices_are_given: bool,
    /// A letter that starts every row, counted as the first column.
    pub(crate) tag: Option<u8>,
    /// What starts a line that is no row.
    pub(crate) comments: &'static [&'static [u8]],
    /// Lines at the beginning of each part that are no rows.
    pub(crate) skip_lines: u64,
}

/// How many sets of vertices a graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// One, to which both ends of every edge belong.
    One,
    /// Two: edges lead from the one to the other, and both may use the same ids.
    Two,
}

/// What the ids of the two sides of a bipartite graph start with.
pub(crate) const SOURCE_SIDE: u8 = b's';
pub(crate) const DESTINATION_SIDE: u8 = b't';

/// What a vertex of one side is called.
pub(crate) fn side_id(side: u8, id: &[u8]) -> Vec<u8> {
    [&[side], id].concat()
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect {
            delimiter: Delimiter::Blanks,
            columns: 2,
            source: 0,
            destination: 1,
            weight: None,
            names: false,
            sides: Sides::One,
            vertices: None,
            vertices_are_given: false,
            tag: None,
            comments: &[b"#", b"%", b"//"],
            skip_lines: 0,
        }
    }
}

impl Dialect {
    /// The default, with the vertices that the user gave, if any; ids start at `first`.
    pub(crate) fn within(options: &ReadOptions<'_>, first: u64) -> Self {
        let vertices = options.declared(first);
        Dialect { vertices, vertices_are_given: vertices.is_some(), ..Dialect::default() }
    }

    /// A header may declare vertices that no edge names, but not without measure: a single wrong
    /// digit would otherwise ask for all the memory there is.
    pub(crate) fn check_plausible(&self, source: &Source, rows: u64) -> Result<()> {
        let plausible = (1 << 20) + 1024 * rows;
        match self.vertices {
            Some(VertexRange { count, .. }) if count > plausible && !self.vertices_are_given => {
                let problem = format!(
                    "declares {count} vertices but has only {rows} edges; if that is meant, say \
                     `vertices` {count}"
                );
                Err(source.error(Place::File, problem))
            }
            _ => Ok(()),
        }
    }

    /// Whether a line holds an edge: it is neither empty nor a comment.
    pub(crate) fn is_row(&self, line: &[u8]) -> bool {
        let start = line.iter().position(|&b| !is_blank(b));
        start.is_some_and(|start| !self.comments.iter().any(|c| line[start..].starts_with(c)))
    }

    /// Whether rows are integers in the usual columns, which the fast path reads.
    pub(super) fn is_plain(&self) -> bool {
        let first = usize::from(self.tag.is_some());
        !self.names
            && (self.source, self.destination) == (first, first + 1)
            && match self.weight {
                None => self.columns == first + 2,
                Some(weight) => weight == first + 2 && self.columns == first + 3,
            }
    }

    /// The columns in words: "2 columns" or "columns 1 → 2, weight 3 of 4".
    pub(crate) fn describe_columns(&self) -> String {
        let plain = self.source == 0 && self.destination == 1;
        match self.weight {
            None if plain && self.columns == 2 => "2 columns".into(),
            Some(2) if plain && self.columns == 3 => "3 columns (third is the weight)".into(),
            weight => {
                let weight = weight.map_or(String::new(), |w| format!(", weight {}", w + 1));
                let (from, to) = (self.source + 1, self.destination + 1);
                format!("columns {from} → {to}{weight} of {}", self.columns)
            }
        }
    }
}
