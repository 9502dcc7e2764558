//! The rows at the beginning of a text table, cut into cells: what detection looks at.

use super::decimal;
use super::dialect::Dialect;
use super::fields::{Delimiter, fields};
use super::number::looks_numeric;
use super::scanner::head_lines;
use crate::formats::ReadOptions;
use crate::source::Source;

/// One row of the sample.
pub(super) struct SampleRow<'s> {
    /// Its line, from 1.
    pub(super) line: u64,
    pub(super) text: &'s [u8],
    pub(super) cells: Vec<Vec<u8>>,
}

/// The beginning of a text table.
pub(super) struct Sample<'s> {
    /// Comments before the first row.
    pub(super) comments: Vec<&'s [u8]>,
    pub(super) rows: Vec<SampleRow<'s>>,
    pub(super) delimiter: Delimiter,
}

impl<'s> Sample<'s> {
    /// Looks at the beginning of `source`; `dialect` says what rows are.
    pub(super) fn of(source: &'s Source, dialect: &Dialect, options: &ReadOptions<'_>) -> Self {
        let lines = head_lines(source)
            .filter(|line| line.number() > options.text.skip_lines)
            .map(|line| (line.number(), line.text));
        let (mut comments, mut rows) = (Vec::new(), Vec::new());
        for (line, text) in lines {
            if dialect.is_row(text) {
                rows.push(SampleRow { line, text, cells: Vec::new() });
            } else if rows.is_empty() {
                comments.push(text);
            }
        }
        let delimiter = match options.text.delimiter {
            Some(b' ') => Delimiter::Blanks,
            Some(byte) => Delimiter::Byte(byte),
            None => find_delimiter(&rows.iter().map(|row| row.text).collect::<Vec<_>>()),
        };
        for row in &mut rows {
            row.cells = cells(row.text, delimiter);
        }
        Sample { comments, rows, delimiter }
    }
}

/// The cells of a row, as far as its separators are known.
pub(super) fn cells(row: &[u8], delimiter: Delimiter) -> Vec<Vec<u8>> {
    fields(row, delimiter).map_while(|f| f.ok()).map(|f| f.value.into_owned()).collect()
}

/// The cells of one column.
pub(super) fn column<'r>(
    rows: &'r [SampleRow<'_>],
    column: usize,
) -> impl Iterator<Item = &'r [u8]> + Clone {
    rows.iter().filter_map(move |row| row.cells.get(column)).map(Vec::as_slice)
}

/// How many cells of a column are numbers of the usual kind.
pub(super) fn numbers_in(rows: &[SampleRow<'_>], place: usize) -> usize {
    column(rows, place).filter(|cell| looks_numeric(cell)).count()
}

/// Whether a column holds numbers in most rows, those without a value left aside. A column that
/// says everywhere that a value is missing is one, too.
pub(super) fn holds_numbers(rows: &[SampleRow<'_>], place: usize) -> bool {
    let present = column(rows, place).filter(|cell| !decimal::is_missing(cell));
    let numbers = present.clone().filter(|cell| decimal::is_number(cell)).count();
    let some = column(rows, place).any(|cell| !cell.is_empty());
    some && 2 * numbers >= present.count()
}

/// Whether a column counts the rows, from 0 or 1.
pub(super) fn counts_rows(rows: &[SampleRow<'_>], place: usize) -> bool {
    const MIN_ROWS: usize = 4;
    let first = match column(rows, place).next() {
        Some(b"0") => 0,
        Some(b"1") => 1,
        _ => return false,
    };
    let counts = |(cell, number): (&[u8], u64)| cell == number.to_string().as_bytes();
    rows.len() >= MIN_ROWS && column(rows, place).zip(first..).all(counts)
}

/// Tab, semicolon, comma or bar if one cuts all rows alike, else the one that cuts the first row,
/// outside of quotes, else blanks. People align columns with a mix of tabs and spaces, so tabs must
/// cut all rows alike.
fn find_delimiter(rows: &[&[u8]]) -> Delimiter {
    let Some((first, rest)) = rows.split_first() else { return Delimiter::Blanks };
    let pieces = |row: &[u8], delimiter: Delimiter| {
        fields(row, delimiter).try_fold(0, |pieces, field| field.is_ok().then_some(pieces + 1))
    };
    let alike = |delimiter: Delimiter| {
        let here = pieces(first, delimiter);
        let there = rest.first().map_or(here, |row| pieces(row, delimiter));
        // R names one column less than it writes.
        let fits = here == there || here > Some(1) && here.map(|n| n + 1) == there;
        fits && there > Some(1) && rest.iter().all(|row| pieces(row, delimiter) == there)
    };
    // In `1 2 1105,5` the comma is part of a number.
    let is_id = |cell: &Vec<u8>| cell.iter().all(u8::is_ascii_digit);
    let has_ids = |row: &&[u8]| {
        let cells = cells(row, Delimiter::Blanks);
        cells.len() > 1 && cells.iter().take(2).all(is_id)
    };
    let has_blanks = || alike(Delimiter::Blanks);
    let is_possible = |byte: u8| match byte {
        b',' => !(has_blanks() && rows.iter().all(has_ids)),
        b'|' => !has_blanks(),
        _ => true,
    };
    let bytes = || [b'\t', b';', b',', b'|'].into_iter().filter(|&byte| is_possible(byte));
    let by_all = bytes().find(|&byte| alike(Delimiter::Byte(byte)));
    let by_first = || {
        let cuts = |byte: &u8| pieces(first, Delimiter::Byte(*byte)) > Some(1);
        bytes().filter(|byte| matches!(byte, b';' | b',')).find(cuts)
    };
    by_all.or_else(by_first).map_or(Delimiter::Blanks, Delimiter::Byte)
}
