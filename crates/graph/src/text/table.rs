//! Rows of columns → edges, inside one block of text.
//!
//! Almost every row of almost every file is `digits blank digits newline`; that row has a fast
//! path. Everything else (comments, quotes, other columns, names, mistakes) goes through
//! [`Table::slow_row`], which knows all the rules and the place of every byte. The two agree on
//! every row the fast path takes: tests compare them.

use rayon::prelude::*;

use super::blocks::{Block, Done, LineOrError, for_each_block};
use super::detect::is_text;
use super::fields::{Delimiter, Field, fields};
use super::{LineError, is_blank, number, trim_line_end};
use crate::build::Edges;
use crate::formats::ReadOptions;
use crate::graph::{Adjacency, Graph};
use crate::ingest::{IdList, Ingest, NameList, VertexList, VertexRange};
use crate::slices::{Piece, miscounted};
use crate::source::Source;
use crate::weight::{Weight, WeightKind};
use crate::{Csr, Direction, Error, Ids, Place, Result};

/// How the rows of a text are to be understood.
#[derive(Clone, Debug)]
pub(crate) struct Table {
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

impl Default for Table {
    fn default() -> Self {
        Table {
            delimiter: Delimiter::Blanks,
            columns: 2,
            source: 0,
            destination: 1,
            weight: None,
            names: false,
            sides: Sides::One,
            vertices: None,
            tag: None,
            comments: &[b"#", b"%", b"//"],
            skip_lines: 0,
        }
    }
}

/// Edges of a block, as far as they have been read.
struct Rows<W> {
    integers: Edges<u64, W>,
    names: NameList,
    name_weights: Vec<W>,
    /// Whether every weight is an integer that fits `u32`.
    whole: bool,
}

/// What a text turned out to hold.
pub(crate) struct Loaded {
    pub(crate) adjacency: Adjacency,
    pub(crate) ids: Ids,
    /// Rows read, before anything is merged or mirrored.
    pub(crate) rows: u64,
}

impl Loaded {
    /// The number of rows must be what the header said.
    pub(crate) fn expect_rows(&self, source: &Source, declared: u64, what: &str) -> Result<()> {
        if self.rows == declared {
            return Ok(());
        }
        Err(miscounted(source.name(), declared, what, self.rows))
    }

    pub(crate) fn into_graph(self, direction: Direction, read_as: String) -> Graph {
        Graph { adjacency: self.adjacency, ids: self.ids, direction, read_as }
    }
}

/// A weight as text gives it: a double for weighted tables, nothing for others.
pub(crate) trait ReadWeight: Weight {
    fn from_text(value: f64) -> Self;
}
impl ReadWeight for () {
    fn from_text(_: f64) {}
}
impl ReadWeight for f64 {
    fn from_text(value: f64) -> f64 {
        value
    }
}

impl Table {
    /// Reads a whole input; `listed` are its vertices, where it lists them apart.
    pub(crate) fn load(
        &self,
        source: &Source,
        listed: Option<VertexList>,
        options: &ReadOptions<'_>,
    ) -> Result<Loaded> {
        if self.weight.is_none() {
            let (ingest, rows, _) = self.collect::<()>(source, options)?;
            self.check_plausible(source, rows, options)?;
            let (csr, ids) = ingest.finish(listed, |()| ())?;
            return Ok(Loaded { adjacency: csr.into(), ids, rows });
        }
        let (ingest, rows, whole) = self.collect::<f64>(source, options)?;
        self.check_plausible(source, rows, options)?;
        let kind =
            options.weight_kind.unwrap_or(if whole { WeightKind::U32 } else { WeightKind::F64 });
        fn build<V: Weight>(
            ingest: Ingest<f64>,
            listed: Option<VertexList>,
            rows: u64,
        ) -> Result<Loaded>
        where
            Adjacency: From<Csr<V>>,
        {
            let (csr, ids) = ingest.finish(listed, V::from_f64)?;
            Ok(Loaded { adjacency: csr.into(), ids, rows })
        }
        let unfit = |what: &str| {
            let name = source.name();
            Error::Request(format!("{name}: not all weights are {what}: read them as f64"))
        };
        match kind {
            WeightKind::None => build::<()>(ingest, listed, rows),
            WeightKind::U32 if whole => build::<u32>(ingest, listed, rows),
            WeightKind::F32 => {
                let loaded = build::<f32>(ingest, listed, rows)?;
                // In the text all were finite, so what is not has been too large.
                match &loaded.adjacency {
                    Adjacency::F32(csr) if !csr.all_weights().par_iter().all(|w| w.is_finite()) => {
                        Err(unfit("single-precision numbers"))
                    }
                    _ => Ok(loaded),
                }
            }
            WeightKind::F64 => build::<f64>(ingest, listed, rows),
            WeightKind::U32 => Err(unfit("whole numbers from 0 to 4294967295")),
        }
    }

    /// A header may declare vertices that no edge names, but not without measure: a single wrong
    /// digit would otherwise ask for all the memory there is.
    pub(crate) fn check_plausible(
        &self,
        source: &Source,
        rows: u64,
        options: &ReadOptions<'_>,
    ) -> Result<()> {
        let plausible = (1 << 20) + 1024 * rows;
        match self.vertices {
            Some(VertexRange { count, .. }) if count > plausible && options.vertices.is_none() => {
                let problem = format!(
                    "declares {count} vertices but has only {rows} edges; if that is meant, say \
                     `vertices` {count}"
                );
                Err(source.error(Place::File, problem))
            }
            _ => Ok(()),
        }
    }

    /// The edges of a block of text, as they stand there.
    pub(crate) fn piece(&self, block: &Block, order: u64) -> Result<Done<Piece>, LineOrError> {
        match self.weight {
            None => self.weighed_piece::<()>(block, order),
            Some(_) => self.weighed_piece::<f64>(block, order),
        }
    }

    fn weighed_piece<W: ReadWeight>(
        &self,
        block: &Block,
        order: u64,
    ) -> Result<Done<Piece>, LineOrError> {
        let mut rows = Rows::<W>::default();
        let skip = if block.starts_part { self.skip_lines } else { 0 };
        let lines = self.read_rows(block.text(), skip, FastPath::On, &mut rows)?;
        let Edges { sources, destinations, weights } = rows.integers;
        let (ends, weights) = match self.names {
            true => (IdList::Names(rows.names), rows.name_weights),
            false => {
                let ends = sources.into_iter().zip(destinations).flat_map(|(s, d)| [s, d]);
                (IdList::Integers(ends.collect()), weights)
            }
        };
        let weights = match W::KIND {
            WeightKind::None => Vec::new(),
            _ => weights.into_iter().map(W::to_f64).collect(),
        };
        let piece = Piece { ends, weights, whole: rows.whole, ..Piece::new(order, self.names) };
        Ok(Done { result: piece, lines })
    }

    fn collect<W: ReadWeight>(
        &self,
        source: &Source,
        options: &ReadOptions<'_>,
    ) -> Result<(Ingest<W>, u64, bool)> {
        let ingest = Ingest::<W>::new(source.name(), self.vertices);
        let blocks =
            for_each_block(source, options.progress, Rows::<W>::default, |rows, block| {
                rows.clear();
                let skip = if block.starts_part { self.skip_lines } else { 0 };
                let lines = self.read_rows(block.text(), skip, FastPath::On, rows)?;
                let count = rows.len();
                if self.names {
                    let weights = std::mem::take(&mut rows.name_weights);
                    ingest.add_names(block.order, &rows.names, weights)?;
                } else {
                    ingest.add_integers(block.order, &rows.integers)?;
                }
                Ok::<_, LineOrError>(Done { result: (count as u64, rows.whole), lines })
            })?;
        let whole = blocks.iter().all(|&(_, whole)| whole);
        Ok((ingest, blocks.iter().map(|&(count, _)| count).sum(), whole))
    }

    /// Reads the rows of `text` after `skip` lines; the number of lines.
    fn read_rows<W: ReadWeight>(
        &self,
        text: &[u8],
        skip: u64,
        fast_path: FastPath,
        rows: &mut Rows<W>,
    ) -> Result<u64, LineError> {
        let fast = fast_path == FastPath::On && self.is_plain();
        let (mut at, mut line) = (0, 0);
        while at < text.len() {
            if line >= skip
                && fast
                && let Some(end) = self.fast_row(text, at, rows)
            {
                at = end;
                line += 1;
                continue;
            }
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1);
            if line >= skip {
                let row = trim_line_end(&text[at..end]);
                self.slow_row(row, rows).map_err(|(column, problem)| LineError {
                    line,
                    column: column + 1,
                    text: row.to_vec(),
                    problem,
                })?;
            }
            at = end;
            line += 1;
        }
        Ok(line)
    }

    /// Whether a line holds an edge: it is neither empty nor a comment.
    pub(crate) fn is_row(&self, line: &[u8]) -> bool {
        let start = line.iter().position(|&b| !is_blank(b));
        start.is_some_and(|start| !self.comments.iter().any(|c| line[start..].starts_with(c)))
    }

    /// Whether rows are integers in the usual columns, which the fast path reads.
    fn is_plain(&self) -> bool {
        let first = usize::from(self.tag.is_some());
        !self.names
            && (self.source, self.destination) == (first, first + 1)
            && match self.weight {
                None => self.columns == first + 2,
                Some(weight) => weight == first + 2 && self.columns == first + 3,
            }
    }

    /// Takes the row at `at` if it is nothing but digits and single separators; where it ends.
    #[inline]
    fn fast_row<W: ReadWeight>(
        &self,
        text: &[u8],
        mut at: usize,
        rows: &mut Rows<W>,
    ) -> Option<usize> {
        /// Any number of so many digits fits 64 bits.
        const SAFE_DIGITS: usize = 19;
        let separates = |byte: u8| match self.delimiter {
            Delimiter::Blanks => is_blank(byte),
            Delimiter::Byte(delimiter) => byte == delimiter,
        };
        if let Some(tag) = self.tag {
            if text[at] != tag || !separates(*text.get(at + 1)?) {
                return None;
            }
            at += 2;
        }
        let (source, digits) = number::digits(text, at);
        at += digits;
        if digits == 0 || digits > SAFE_DIGITS || !separates(*text.get(at)?) {
            return None;
        }
        at += 1;
        let (destination, digits) = number::digits(text, at);
        at += digits;
        if digits == 0 || digits > SAFE_DIGITS {
            return None;
        }
        let mut weight = W::default();
        let mut whole = true;
        if W::KIND != WeightKind::None {
            if !separates(*text.get(at)?) {
                return None;
            }
            at += 1;
            let token = &text[at..];
            let len = token.iter().position(|&b| b == b'\n' || b == b'\r')?;
            let (value, is_whole) = number::parse_weight(&token[..len]).ok()?;
            (weight, whole) = (W::from_text(value), is_whole);
            at += len;
        }
        let end = match text.get(at)? {
            b'\n' => at + 1,
            b'\r' if text.get(at + 1) == Some(&b'\n') => at + 2,
            _ => return None,
        };
        if let Some(range) = self.vertices
            && !(range.contains(source) && range.contains(destination))
        {
            return None;
        }
        rows.integers.push(source, destination, weight);
        rows.whole &= whole;
        Some(end)
    }

    /// Takes any row; a problem comes with its column, from 0.
    #[cold]
    fn slow_row<W: ReadWeight>(
        &self,
        row: &[u8],
        rows: &mut Rows<W>,
    ) -> Result<(), (usize, String)> {
        if !self.is_row(row) {
            return Ok(());
        }
        let (mut count, mut source, mut destination, mut weight) = (0, None, None, None);
        for field in fields(row, self.delimiter) {
            let field = field?;
            if count == 0 && self.tag.is_some_and(|tag| *field.value != [tag]) {
                let tag = char::from(self.tag.expect("just seen"));
                let found = crate::error::printable(&field.value);
                return Err((
                    field.at,
                    format!("expected a row that starts with '{tag}', found '{found}'"),
                ));
            }
            if count == self.source {
                source = Some(field.clone());
            }
            if count == self.destination {
                destination = Some(field.clone());
            }
            if Some(count) == self.weight {
                weight = Some(field);
            }
            count += 1;
        }
        if count != self.columns {
            return Err((0, format!("expected {} columns, found {count}", self.columns)));
        }
        let (source, destination) = (source.expect("a column"), destination.expect("a column"));
        let value = match &weight {
            None => 1.0,
            Some(field) => {
                let parsed = number::parse_weight(&field.value).map_err(|e| (field.at, e))?;
                rows.whole &= parsed.1;
                parsed.0
            }
        };
        if self.names {
            for field in [&source, &destination] {
                if field.value.is_empty() {
                    return Err((field.at, "expected an id, found an empty field".into()));
                }
                // A lone CR is no line end, and what is no text could not be written again.
                if let Some(byte) = field.value.iter().find(|&&b| b == b'\r' || !is_text(&[b])) {
                    let problem = format!("expected text, found the byte {byte:#04x} in a name");
                    return Err((field.at, problem));
                }
            }
            match self.sides {
                Sides::One => {
                    rows.names.push(&source.value);
                    rows.names.push(&destination.value);
                }
                Sides::Two => {
                    rows.names.push(&side_id(SOURCE_SIDE, &source.value));
                    rows.names.push(&side_id(DESTINATION_SIDE, &destination.value));
                }
            }
            rows.name_weights.push(W::from_text(value));
        } else {
            let (source, destination) = (self.id(&source)?, self.id(&destination)?);
            rows.integers.push(source, destination, W::from_text(value));
        }
        Ok(())
    }

    fn id(&self, field: &Field<'_>) -> Result<u64, (usize, String)> {
        let id = number::parse_id(&field.value).map_err(|e| {
            let hint = match e {
                number::NotAnId::Empty => "",
                _ if self.vertices.is_some() => "",
                _ => " (if ids are names, say `ids` names)",
            };
            (field.at, e.describe(&field.value) + hint)
        })?;
        match self.vertices {
            Some(range) if !range.contains(id) => {
                Err((field.at, format!("vertex {id} does not exist: the vertices are {range}")))
            }
            _ => Ok(id),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FastPath {
    On,
    #[cfg(test)]
    Off,
}

impl<W> Default for Rows<W> {
    fn default() -> Self {
        Rows {
            integers: Edges::default(),
            names: NameList::default(),
            name_weights: Vec::new(),
            whole: true,
        }
    }
}

impl<W> Rows<W> {
    fn clear(&mut self) {
        self.integers.clear();
        self.names.clear();
        self.name_weights.clear();
        self.whole = true;
    }

    fn len(&self) -> usize {
        self.integers.len() + self.name_weights.len()
    }
}

impl Table {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<W: ReadWeight>(
        table: &Table,
        text: &[u8],
        fast: FastPath,
    ) -> Result<(Edges<u64, W>, u64, bool), String> {
        let mut rows = Rows::default();
        let lines = table
            .read_rows(text, 0, fast, &mut rows)
            .map_err(|e| format!("{}:{}: {}", e.line, e.column, e.problem))?;
        Ok((rows.integers, lines, rows.whole))
    }

    fn same<W: ReadWeight>(table: &Table, text: &[u8]) {
        let (fast, slow) =
            (read::<W>(table, text, FastPath::On), read::<W>(table, text, FastPath::Off));
        match (fast, slow) {
            (Ok(fast), Ok(slow)) => {
                assert_eq!(fast.0.sources, slow.0.sources);
                assert_eq!(fast.0.destinations, slow.0.destinations);
                assert_eq!(fast.0.weights, slow.0.weights);
                assert_eq!((fast.1, fast.2), (slow.1, slow.2));
            }
            (fast, slow) => assert_eq!(fast.err(), slow.err()),
        }
    }

    proptest! {
        #[test]
        fn fast_and_slow_rows_agree(text in "([0-9]{1,21}[ \t,;x]{0,2}|[0-9a#.-]{0,3}|\r?\n){0,40}") {
            let plain = Table::default();
            let limited = Table { vertices: Some(VertexRange { first: 1, count: 5000 }), ..plain.clone() };
            let comma = Table { delimiter: Delimiter::Byte(b','), ..plain.clone() };
            let tagged = Table { tag: Some(b'a'), columns: 3, source: 1, destination: 2, ..plain.clone() };
            for table in [plain, limited, comma, tagged] {
                same::<()>(&table, text.as_bytes());
                let weight = table.columns;
                same::<f64>(&Table { columns: weight + 1, weight: Some(weight), ..table }, text.as_bytes());
            }
        }
    }
}
