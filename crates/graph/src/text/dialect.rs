//! The dialect of a text: how its rows of columns are to be understood.

use super::fields::{Delimiter, fields};
use super::is_blank;
use crate::formats::{Decimal, ReadOptions};
use crate::ingest::VertexRange;
use crate::source::Source;
use crate::{Error, Place, Result};

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
    pub(crate) comments: Vec<Vec<u8>>,
    /// Whether the user said so.
    pub(crate) comments_are_given: bool,
    /// The comments above the first row.
    pub(crate) leading_comments: Vec<Vec<u8>>,
    /// The row that names the columns, which may not come again.
    pub(crate) header: Option<Vec<u8>>,
    /// Lines at the beginning of each part that are no rows.
    pub(crate) skip_lines: u64,
    /// How weights are written, if not as every program reads them.
    pub(crate) decimal: Option<Decimal>,
    /// The column that says whether an edge is directed.
    pub(crate) edge_type: Option<EdgeType>,
}

/// What starts a comment, unless somebody says otherwise.
const COMMENTS: [&[u8]; 3] = [b"#", b"%", b"//"];

/// A column that says of each edge whether it is directed, the same of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeType {
    pub(crate) column: usize,
    /// What it says.
    pub(crate) word: &'static str,
}

impl EdgeType {
    /// The type that a cell says.
    pub(crate) fn word(cell: &[u8]) -> Option<&'static str> {
        ["directed", "undirected"]
            .into_iter()
            .find(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
    }

    pub(crate) fn is_undirected(self) -> bool {
        self.word == "undirected"
    }

    /// Fails if a cell says something else.
    pub(crate) fn check(self, cell: &[u8]) -> Result<(), String> {
        match EdgeType::word(cell) == Some(self.word) {
            true => Ok(()),
            false => Err(format!(
                "the type '{}' after edges that are {}: a graph is directed or undirected; say \
                 which with `directed` or `undirected`",
                crate::error::printable(cell),
                self.word
            )),
        }
    }
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
            comments: COMMENTS.map(<[u8]>::to_vec).into(),
            comments_are_given: false,
            leading_comments: Vec::new(),
            header: None,
            skip_lines: 0,
            decimal: None,
            edge_type: None,
        }
    }
}

impl Dialect {
    /// The default, with the vertices that the user gave, if any; ids start at `first`.
    pub(crate) fn within(options: &ReadOptions<'_>, first: u64) -> Self {
        let vertices = options.declared(first);
        Dialect { vertices, vertices_are_given: vertices.is_some(), ..Dialect::default() }
    }

    /// The same for a text table, with the comments and the lines to skip that the user gave.
    pub(crate) fn of_table(options: &ReadOptions<'_>) -> Result<Self> {
        let comments = match options.text.comment.as_deref() {
            None => COMMENTS.map(<[u8]>::to_vec).into(),
            Some("") => Vec::new(),
            Some(start) => vec![start.as_bytes().to_vec()],
        };
        let may_start_row = |b: &u8| b.is_ascii_digit() || is_blank(*b);
        if comments.iter().any(|start| start.first().is_some_and(may_start_row)) {
            let problem = "`comment` cannot start with a digit or a blank, as rows do";
            return Err(Error::Request(problem.into()));
        }
        let skip_lines = options.text.skip_lines;
        let comments_are_given = options.text.comment.is_some();
        Ok(Dialect { comments, comments_are_given, skip_lines, ..Dialect::within(options, 0) })
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

    /// Fails if a line that is no row may be meant as one: in a table, a name may start as comments do.
    pub(super) fn check_comment(&self, line: &[u8]) -> Result<(), String> {
        let is_table = self.delimiter != Delimiter::Blanks && !self.comments_are_given;
        if !is_table || line.iter().all(|&b| is_blank(b)) {
            return Ok(());
        }
        let columns = fields(line, self.delimiter).filter(|field| field.is_ok()).count();
        if columns != self.columns || self.leading_comments.iter().any(|known| known == line) {
            return Ok(());
        }
        let start = self.comments.iter().find(|c| line.trim_ascii_start().starts_with(c));
        let start = start.map_or("#".into(), |start| String::from_utf8_lossy(start));
        Err(format!(
            "a comment with as many columns as rows have: if it is one, say `comment` {start}, if \
             '{start}' starts a name, `comment` ''"
        ))
    }

    /// Whether rows are integers in the usual columns, which the fast path reads.
    pub(super) fn is_plain(&self) -> bool {
        let first = usize::from(self.tag.is_some());
        !self.names
            && self.decimal.is_none()
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
