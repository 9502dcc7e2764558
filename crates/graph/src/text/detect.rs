//! How a text table is laid out, from its first lines: delimiter, header, columns, kind of ids.

use super::dialect::{Dialect, Sides};
use super::fields::{Delimiter, fields};
use super::number::looks_numeric;
use super::scanner::head_lines;
use super::skip_mark;
use crate::formats::{ColumnKey, IdKind, ReadOptions};
use crate::source::Source;
use crate::{Error, Place, Result};

/// Names that programs give to the two id columns.
const ID_COLUMNS: [&str; 28] = [
    "source",
    "target",
    "src",
    "dst",
    "src_id",
    "dst_id",
    "source_id",
    "target_id",
    "from",
    "to",
    "from_id",
    "to_id",
    "fromnodeid",
    "tonodeid",
    "start",
    "end",
    "destination",
    "dest",
    "u",
    "v",
    "id1",
    "id2",
    "node1",
    "node2",
    "head",
    "tail",
    ":start_id",
    ":end_id",
];

/// A share of non-numbers among the ids above which they are names. Below it they are more likely
/// mistakes, and reported as such.
const NAMES_FROM_SHARE: f64 = 0.05;

/// How many columns a message names.
const SHOWN_COLUMNS: usize = 20;

/// A detected layout.
pub(crate) struct Detected {
    pub(crate) dialect: Dialect,
    pub(crate) header: bool,
}

/// Whether the beginning of an input is text: no control bytes but line ends and tabs.
pub(crate) fn is_text(head: &[u8]) -> bool {
    head.iter().all(|&b| b >= b' ' || matches!(b, b'\n' | b'\r' | b'\t'))
}

/// Looks at the beginning of `source`. What `options` says is taken as said.
pub(crate) fn detect(source: &Source, options: &ReadOptions<'_>) -> Result<Detected> {
    let head = skip_mark(source.head());
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(source.error(Place::File, "UTF-16 text; convert it to UTF-8 first"));
    }
    if let Some(at) = head.iter().position(|&b| !is_text(&[b])) {
        let problem = format!("expected text, found the byte {:#04x}", head[at]);
        return Err(source.error(Place::Byte(at as u64), problem));
    }
    let lines: Vec<&[u8]> = head_lines(source).map(|line| line.text).collect();
    if let [line] = lines[..]
        && let Some(at) = memchr::memchr(b'\r', line)
    {
        let problem = "lines end in CR alone; make that LF, for example with tr '\\r' '\\n'";
        return Err(source.error(Place::line(1, at + 1, line), problem));
    }
    let is_row = |line: &&[u8]| Dialect::default().is_row(line);
    let Some(first_row) = lines.iter().position(is_row) else {
        // Comments only: no edges, unless the rows start beyond the sample.
        let names = options.ids == IdKind::Names || options.bipartite;
        let dialect = Dialect { names, ..Dialect::within(options, 0) };
        return Ok(Detected { dialect, header: false });
    };
    if memchr::memchr(b'\n', head).is_none() && !source.head_is_all() {
        let problem = "the first row is longer than 64 KiB, so its columns cannot be told";
        return Err(source.error(Place::line(first_row as u64 + 1, 1, lines[first_row]), problem));
    }
    let rows: Vec<&[u8]> = lines.iter().copied().filter(is_row).collect();
    let delimiter = find_delimiter(&rows);
    let split = |row: &&[u8]| -> Vec<Vec<u8>> {
        fields(row, delimiter).map_while(|f| f.ok()).map(|f| f.value.into_owned()).collect()
    };
    let rows: Vec<Vec<Vec<u8>>> = rows.iter().map(split).collect();

    let names_given = match &options.columns {
        None => false,
        Some(c) => [Some(&c.source), Some(&c.destination), c.weight.as_ref()]
            .into_iter()
            .flatten()
            .any(|column| matches!(column, ColumnKey::Name(_))),
    };
    let header = options.header.unwrap_or(names_given || is_header(&rows, options));
    let data = if header { &rows[1..] } else { &rows[..] };
    let columns = data.first().unwrap_or(&rows[0]).len();

    let find = |column: &ColumnKey| find_column(source, column, &rows[0], columns);
    let (id_columns, weight) = match &options.columns {
        Some(c) => {
            let weight = c.weight.as_ref().map(find).transpose()?;
            ((find(&c.source)?, find(&c.destination)?), weight)
        }
        None if columns < 2 => {
            let text = lines[first_row];
            let place = Place::line(first_row as u64 + 1, 1, text);
            return Err(source.error(place, "expected at least 2 columns, found 1"));
        }
        None => ((0, 1), (columns > 2 && numbers_in(data, 2) > 0).then_some(2)),
    };
    let names = match options.ids {
        _ if options.bipartite => true,
        IdKind::Integers => false,
        IdKind::Names => true,
        IdKind::Detect => {
            let numbers = numbers_in(data, id_columns.0) + numbers_in(data, id_columns.1);
            let ids = 2 * data.len();
            (ids - numbers) as f64 > NAMES_FROM_SHARE * ids as f64
        }
    };
    let dialect = Dialect {
        delimiter,
        columns,
        source: id_columns.0,
        destination: id_columns.1,
        weight: weight.filter(|_| options.weights),
        names,
        sides: if options.bipartite { Sides::Two } else { Sides::One },
        skip_lines: if header { first_row as u64 + 1 } else { 0 },
        ..Dialect::within(options, 0)
    };
    Ok(Detected { dialect, header })
}

/// Tab, semicolon or comma if one cuts the first row, outside of quotes, else blanks. Tabs must
/// cut all rows alike: people align columns with a mix of tabs and spaces.
fn find_delimiter(rows: &[&[u8]]) -> Delimiter {
    let pieces = |row: &[u8], delimiter: Delimiter| {
        fields(row, delimiter).try_fold(0, |pieces, field| field.is_ok().then_some(pieces + 1))
    };
    for byte in [b'\t', b';', b','] {
        let delimiter = Delimiter::Byte(byte);
        let here = pieces(rows[0], delimiter);
        let alike = || rows.iter().all(|row| pieces(row, delimiter) == here);
        if here > Some(1) && (byte != b'\t' || alike()) {
            return delimiter;
        }
    }
    Delimiter::Blanks
}

fn numbers_in(rows: &[Vec<Vec<u8>>], column: usize) -> usize {
    rows.iter().filter(|row| row.get(column).is_some_and(|field| looks_numeric(field))).count()
}

/// A first row is a header when it has words where the rows after it have numbers, or when it
/// names the usual columns.
fn is_header(rows: &[Vec<Vec<u8>>], options: &ReadOptions<'_>) -> bool {
    let (first, rest) = (&rows[0], &rows[1..]);
    let word = |column: usize| first.get(column).is_some_and(|field| !looks_numeric(field));
    let usual = |column: usize| {
        let name = first.get(column).map(|f| String::from_utf8_lossy(f).to_ascii_lowercase());
        name.is_some_and(|name| ID_COLUMNS.contains(&name.as_str()))
    };
    let all_numbers = |column: usize| !rest.is_empty() && numbers_in(rest, column) == rest.len();
    let ids_may_be_words = options.ids == IdKind::Names;
    (word(0) && word(1) && all_numbers(0) && all_numbers(1) && !ids_may_be_words)
        || (word(2) && all_numbers(2))
        || (usual(0) && usual(1))
}

fn find_column(
    source: &Source,
    column: &ColumnKey,
    header: &[Vec<u8>],
    columns: usize,
) -> Result<usize> {
    match column {
        ColumnKey::Position(position) if *position < columns => Ok(*position),
        ColumnKey::Position(position) => Err(Error::Request(format!(
            "{}: there is no column {}, only {columns}",
            source.name(),
            position + 1
        ))),
        ColumnKey::Name(name) => {
            header.iter().position(|field| field == name.as_bytes()).ok_or_else(|| {
                let known = header.iter().take(SHOWN_COLUMNS).map(|f| crate::error::printable(f));
                let known = known.collect::<Vec<_>>().join(", ");
                Error::Request(format!(
                    "{}: there is no column '{name}'; its header names: {known}",
                    source.name()
                ))
            })
        }
    }
}
