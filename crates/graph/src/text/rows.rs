//! Rows of columns → edges, inside one block of text.
//!
//! Almost every row of almost every file is `digits blank digits newline`; that row has a fast
//! path. Everything else (comments, quotes, other columns, names, mistakes) goes through
//! [`Dialect::slow_row`], which knows all the rules and the place of every byte. The two agree on
//! every row the fast path takes: tests compare them.

use super::decimal;
use super::detect::is_text;
use super::dialect::{DESTINATION_SIDE, Dialect, SOURCE_SIDE, Sides, side_id};
use super::fields::{Delimiter, Field, fields};
use super::{LineError, is_blank, number, trim_line_end};
use crate::Result;
use crate::edge_file::Piece;
use crate::id_list::{IdList, NameList};

/// Edges of a block, as far as they have been read: what becomes a [`Piece`], with a list for ids
/// of either kind.
#[derive(Default)]
pub(super) struct TextRows {
    integers: [Vec<u64>; 2],
    names: [NameList; 2],
    weights: Vec<f64>,
    /// Whether a weight is no integer that fits `u32`.
    has_fraction: bool,
}

impl TextRows {
    /// Calls `take` with the edges as a piece, and forgets them; their memory is used again.
    pub(super) fn hand_on(
        &mut self,
        order: u64,
        names: bool,
        take: impl FnOnce(&mut Piece) -> Result<()>,
    ) -> Result<()> {
        let lists = match names {
            true => std::mem::take(&mut self.names).map(IdList::Names),
            false => std::mem::take(&mut self.integers).map(IdList::Integers),
        };
        let [sources, destinations] = lists;
        let weights = std::mem::take(&mut self.weights);
        let is_whole = !std::mem::take(&mut self.has_fraction);
        let piece = Piece::new(order, names);
        let mut piece = Piece { sources, destinations, weights, is_whole, ..piece };
        take(&mut piece)?;
        piece.restart(0);
        match (piece.sources, piece.destinations) {
            (IdList::Integers(sources), IdList::Integers(destinations)) => {
                self.integers = [sources, destinations];
            }
            (IdList::Names(sources), IdList::Names(destinations)) => {
                self.names = [sources, destinations];
            }
            _ => {}
        }
        self.weights = piece.weights;
        Ok(())
    }
}

impl Dialect {
    /// Reads the rows of `text` after `skip` lines; the number of lines.
    pub(super) fn read_rows(
        &self,
        text: &[u8],
        skip: u64,
        rows: &mut TextRows,
    ) -> Result<u64, LineError> {
        match (self.is_plain(), self.weight) {
            (true, None) => self.read_each(text, skip, rows, Self::fast_row::<false>),
            (true, Some(_)) => self.read_each(text, skip, rows, Self::fast_row::<true>),
            (false, _) => self.read_each(text, skip, rows, |_, _, _, _| None),
        }
    }

    /// Reads rows by `fast`, which says where a row ends, and those that it refuses by
    /// [`Dialect::slow_row`].
    #[inline]
    fn read_each(
        &self,
        text: &[u8],
        skip: u64,
        rows: &mut TextRows,
        fast: impl Fn(&Self, &[u8], usize, &mut TextRows) -> Option<usize>,
    ) -> Result<u64, LineError> {
        let (mut at, mut line) = (0, 0);
        while at < text.len() {
            if line >= skip
                && let Some(end) = fast(self, text, at, rows)
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

    /// Takes the row at `at` if it is nothing but digits and single separators; where it ends.
    #[inline]
    fn fast_row<const WEIGHTED: bool>(
        &self,
        text: &[u8],
        mut at: usize,
        rows: &mut TextRows,
    ) -> Option<usize> {
        /// Any number of this many digits fits 64 bits.
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
        let mut weight = None;
        if WEIGHTED {
            if !separates(*text.get(at)?) {
                return None;
            }
            at += 1;
            let token = &text[at..];
            let len = token.iter().position(|&b| b == b'\n' || b == b'\r')?;
            weight = Some(number::parse_weight(&token[..len]).ok()?);
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
        let [sources, destinations] = &mut rows.integers;
        sources.push(source);
        destinations.push(destination);
        if let Some((weight, is_whole)) = weight {
            rows.weights.push(weight);
            rows.has_fraction |= !is_whole;
        }
        Some(end)
    }

    /// Takes any row; a problem comes with its column, from 0.
    #[cold]
    fn slow_row(&self, row: &[u8], rows: &mut TextRows) -> Result<(), (usize, String)> {
        if !self.is_row(row) {
            return self.check_comment(row).map_err(|problem| (0, problem));
        }
        if self.header.as_deref() == Some(row) {
            let problem = "the header again, as where tables were joined: leave it out";
            return Err((0, problem.into()));
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
            if let Some(edge_type) = self.edge_type.filter(|edge_type| edge_type.column == count) {
                edge_type.check(&field.value).map_err(|problem| (field.at, problem))?;
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
        if let Some(field) = &weight {
            let parsed = self.weight(&field.value).map_err(|e| (field.at, e))?;
            rows.weights.push(parsed.0);
            rows.has_fraction |= !parsed.1;
        }
        self.push_ends(&source, &destination, rows)
    }

    /// Takes the ends of an edge; a problem comes with its column, from 0.
    fn push_ends(
        &self,
        source: &Field<'_>,
        destination: &Field<'_>,
        rows: &mut TextRows,
    ) -> Result<(), (usize, String)> {
        if self.names {
            for field in [source, destination] {
                if field.value.is_empty() {
                    return Err((field.at, "expected an id, found an empty field".into()));
                }
                // A lone CR is no line end, and what is no text could not be written again.
                if let Some(byte) = field.value.iter().find(|&&b| b == b'\r' || !is_text(&[b])) {
                    let problem = format!("expected text, found the byte {byte:#04x} in a name");
                    return Err((field.at, problem));
                }
            }
            let [sources, destinations] = &mut rows.names;
            match self.sides {
                Sides::One => {
                    sources.push(&source.value);
                    destinations.push(&destination.value);
                }
                Sides::Two => {
                    sources.push(&side_id(SOURCE_SIDE, &source.value));
                    destinations.push(&side_id(DESTINATION_SIDE, &destination.value));
                }
            }
        } else {
            let (source, destination) = (self.id(source)?, self.id(destination)?);
            let [sources, destinations] = &mut rows.integers;
            sources.push(source);
            destinations.push(destination);
        }
        Ok(())
    }

    /// A weight, and whether it is an integer that fits `u32`.
    fn weight(&self, cell: &[u8]) -> Result<(f64, bool), String> {
        let read = match self.decimal {
            None => number::parse_weight(cell),
            Some(decimal) => match decimal::plain(cell, decimal) {
                Some(plain) => number::parse_weight(&plain),
                None => {
                    Err(format!("expected a weight, found '{}'", crate::error::printable(cell)))
                }
            },
        };
        read.map_err(|problem| match cell.contains(&b',') && decimal::is_number(cell) {
            true => problem + " (if all are written so, say `decimal` point or `decimal` comma)",
            false => problem + " (to leave weights out, say `weights` none)",
        })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ingest::VertexRange;

    type Read = Result<([Vec<u64>; 2], Vec<f64>, bool, u64), String>;

    fn same(dialect: &Dialect, text: &[u8]) {
        let read = |fast: bool| -> Read {
            let mut rows = TextRows::default();
            let lines = match fast {
                true => dialect.read_rows(text, 0, &mut rows),
                false => dialect.read_each(text, 0, &mut rows, |_, _, _, _| None),
            };
            let lines = lines.map_err(|e| format!("{}:{}: {}", e.line, e.column, e.problem))?;
            Ok((rows.integers, rows.weights, rows.has_fraction, lines))
        };
        assert!(dialect.is_plain());
        assert_eq!(read(true), read(false));
    }

    proptest! {
        #[test]
        fn fast_and_slow_rows_agree(text in "([0-9]{1,21}[ \t,;x]{0,2}|[0-9a#.-]{0,3}|\r?\n){0,40}") {
            let plain = Dialect::default();
            let vertices = Some(VertexRange { first: 1, count: 5000 });
            let limited = Dialect { vertices, ..plain.clone() };
            let comma = Dialect { delimiter: Delimiter::Byte(b','), ..plain.clone() };
            let tagged = Dialect { tag: Some(b'a'), columns: 3, source: 1, destination: 2, ..plain.clone() };
            for dialect in [plain, limited, comma, tagged] {
                same(&dialect, text.as_bytes());
                let weight = dialect.columns;
                same(&Dialect { columns: weight + 1, weight: Some(weight), ..dialect }, text.as_bytes());
            }
        }
    }
}
