//! Whether the first row of a table names its columns.
//!
//! A header is known by its names, not by what fails to be a number: `1 2 NaN` is an edge without a
//! weight. Rows of words need more: names that mean the ends of an edge, or numbers below them.

use std::io::{BufRead, BufReader, Read};

use super::fields::Delimiter;
use super::sample::{Sample, SampleRow, column};
use super::{decimal, skip_mark, trim_line_end};
use crate::column_names;
use crate::error::Place;
use crate::formats::{ColumnKey, IdKind, ReadOptions};
use crate::source::{HEAD_BYTES, Source};
use crate::{Error, Result};

/// Where a table names its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// In the first row.
    Row,
    /// In no row.
    No,
}

/// Looks for a header; an error if a first row of words may be one or not.
pub(super) fn find(
    source: &Source,
    sample: &Sample<'_>,
    options: &ReadOptions<'_>,
) -> Result<Header> {
    let names_given = options.columns.as_ref().is_some_and(|c| {
        let columns = [Some(&c.source), Some(&c.destination), c.weight.as_ref()];
        columns.into_iter().flatten().any(|column| matches!(column, ColumnKey::Name(_)))
    });
    match options.header {
        Some(true) => return Ok(Header::Row),
        Some(false) => return Ok(Header::No),
        None if names_given => return Ok(Header::Row),
        None => {}
    }
    let (first, rest) = (&sample.rows[0], &sample.rows[1..]);
    let columns = rest.first().unwrap_or(first).cells.len();
    let names = names(sample, columns);
    let is_word = |name: &String| {
        name.chars().any(char::is_alphabetic)
            && !decimal::is_missing(name.as_bytes())
            && !decimal::is_number(name.as_bytes())
    };
    // A column without a name is an index, or what follows a last delimiter.
    let may_lack_name = |place: usize| place == 0 || place + 1 == names.len();
    let is_name =
        |(place, name): (usize, &String)| is_word(name) || name.is_empty() && may_lack_name(place);
    if !names.iter().enumerate().all(is_name) || !names.iter().any(is_word) {
        return Ok(Header::No);
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let ends = column_names::ends(&known);
    if ends.is_some_and(|ends| !ends.is_weak) || first.cells.len() < columns {
        return Ok(Header::Row);
    }
    let ids_are_names = options.ids == IdKind::Names;
    let above_numbers = |&place: &usize| is_word(&names[place]) && all_numbers(rest, place);
    let numbers: Vec<usize> = (0..columns).filter(above_numbers).collect();
    let doubt = || doubt(source, first);
    // Tables of names mostly have a header; plain lists of edges have none.
    let is_table = sample.delimiter != Delimiter::Blanks && columns > 1;
    let table_ends = (is_table && !rest.is_empty()).then_some([0, 1]);
    match numbers[..] {
        [_, _, ..] if !(ids_are_names && numbers[1] < 2) => Ok(Header::Row),
        [only] if column_names::names_numbers(known[only]) => Ok(Header::Row),
        [only] if only > 1 => Err(doubt()),
        _ => match ends.map(|ends| [ends.source, ends.destination]).or(table_ends) {
            Some(ends) if !is_edge_like(ends, first, rest) => Err(doubt()),
            _ => Ok(Header::No),
        },
    }
}

/// The names in the first row of a table with this many columns. R names one column less than it
/// writes: the first, which holds the names of rows.
pub(super) fn names(sample: &Sample<'_>, columns: usize) -> Vec<String> {
    let cells = &sample.rows[0].cells;
    let unnamed = (cells.len() + 1 == columns).then(String::new);
    let names = cells.iter().map(|name| String::from_utf8_lossy(name).into_owned());
    unnamed.into_iter().chain(names).collect()
}

/// Fails if rows have a cell more than the header for another reason than that it names the row: a
/// fraction after a comma. R puts names of rows in quotes.
pub(super) fn check_row_names(
    source: &Source,
    sample: &Sample<'_>,
    options: &ReadOptions<'_>,
) -> Result<()> {
    let (first, rest) = (&sample.rows[0], &sample.rows[1..]);
    let by_number = |column: &ColumnKey| matches!(column, ColumnKey::Position(_));
    let is_said = options.columns.as_ref().is_some_and(|asked| {
        [Some(&asked.source), Some(&asked.destination), asked.weight.as_ref()]
            .into_iter()
            .flatten()
            .all(by_number)
    });
    let is_unnamed = |row: &&SampleRow<'_>| {
        row.cells.len() == first.cells.len() + 1 && !row.text.starts_with(b"\"")
    };
    match rest.iter().find(is_unnamed) {
        Some(row) if sample.delimiter == Delimiter::Byte(b',') && !is_said => {
            let problem = format!(
                "expected {} columns, as in the header, found {}: a decimal comma? Write fractions \
                 with a point; if the first column names the rows, say `columns` by numbers",
                first.cells.len(),
                row.cells.len()
            );
            Err(source.error(Place::line(row.line, 1, row.text), problem))
        }
        _ => Ok(()),
    }
}

/// Fails if a further file of an input lacks the header of the first: its first row would be lost.
pub(super) fn check_parts(source: &Source, header: &SampleRow<'_>) -> Result<()> {
    for part in source.parts()[1..].iter().filter(|part| !part.is_stream()) {
        let failed = |e| part.read_error(e);
        let lines = BufReader::new(part.reader()?.take(HEAD_BYTES as u64)).split(b'\n');
        let lines: Vec<Vec<u8>> =
            lines.take(header.line as usize).collect::<Result<_, _>>().map_err(failed)?;
        let is_header = |line: &Vec<u8>| trim_line_end(skip_mark(line)) == header.text;
        if lines.len() as u64 == header.line && lines.last().is_some_and(is_header) {
            continue;
        }
        if let Some(first) = lines.last() {
            let place = Place::line(lines.len() as u64, 1, first);
            let problem = format!(
                "expected the header of {} here, too; join the files if only the first has one",
                source.parts()[0].name()
            );
            return Err(Error::data(part.name(), place, problem));
        }
    }
    Ok(())
}

fn all_numbers(rows: &[SampleRow<'_>], place: usize) -> bool {
    let mut present = column(rows, place).filter(|cell| !decimal::is_missing(cell)).peekable();
    present.peek().is_some() && present.all(decimal::is_number)
}

/// Whether a first row of words is an edge between vertices like those below: it shares a name with
/// them, or its names differ from theirs in digits only.
fn is_edge_like(places: [usize; 2], first: &SampleRow<'_>, rest: &[SampleRow<'_>]) -> bool {
    let letters =
        |cell: &[u8]| -> Vec<u8> { cell.iter().copied().filter(|b| !b.is_ascii_digit()).collect() };
    places.iter().filter_map(|&place| first.cells.get(place)).any(|name| {
        places.iter().any(|&place| {
            column(rest, place).any(|cell| {
                cell == &name[..]
                    || letters(name).len() < name.len() && letters(cell) == letters(name)
            })
        })
    })
}

fn doubt(source: &Source, first: &SampleRow<'_>) -> Error {
    let problem = "this row may name the columns or be an edge: say `header` yes or `header` no";
    source.error(Place::line(first.line, 1, first.text), problem)
}
