//! How a text table is laid out, from its first lines: delimiter, header, columns, kind of ids.
//!
//! What the beginning does not show beyond doubt is an error that names the option which says it.

use std::fmt::Write as _;

use super::columns::{self, Chosen};
use super::counts;
use super::decimal::{self, Spelling};
use super::declared::Declared;
use super::dialect::{Dialect, EdgeType, Sides};
use super::fields::Delimiter;
use super::header::{self, Header};
use super::sample::{Sample, SampleRow, column};
use super::scanner::head_lines;
use super::shapes;
use super::skip_mark;
use crate::column_names;
use crate::edge_file::Mirror;
use crate::error::printable;
use crate::formats::{Decimal, IdKind, ReadOptions};
use crate::source::Source;
use crate::{Place, Result};

/// A detected layout.
pub(crate) struct Detected {
    pub(crate) dialect: Dialect,
    /// Whether a row above the others names the columns.
    pub(crate) header: bool,
    /// Whether a row stands for both directions of its edge.
    pub(crate) mirror: Mirror,
    /// The columns and what else a user should know, in words.
    pub(crate) layout: String,
}

/// Whether the beginning of an input is text: no control bytes but line ends and tabs.
pub(crate) fn is_text(head: &[u8]) -> bool {
    head.iter().all(|&b| b >= b' ' || matches!(b, b'\n' | b'\r' | b'\t'))
}

/// Looks at the beginning of `source`. What `options` says is taken as said.
pub(crate) fn detect(source: &Source, options: &ReadOptions<'_>) -> Result<Detected> {
    check_text(source)?;
    let base = Dialect::of_table(options)?;
    let sample = Sample::of(source, &base, options);
    let Some(first) = sample.rows.first() else {
        // Comments only: no edges, unless the rows start beyond the sample.
        let names = options.ids == IdKind::Names || options.bipartite;
        let dialect = Dialect { names, ..base };
        let layout = match sample.comments.is_empty() || !source.head_is_all() {
            true => " without rows",
            false => " without rows: all lines are comments (--comment says how these begin)",
        };
        let layout = layout.into();
        return Ok(Detected { dialect, header: false, mirror: Mirror::None, layout });
    };
    if first.text.starts_with(b"sep=") {
        let problem = format!("a line for Excel, no row: say `skip_lines` {}", first.line);
        return Err(source.error(Place::line(first.line, 1, first.text), problem));
    }
    if memchr::memchr(b'\n', source.head()).is_none() && !source.head_is_all() {
        let problem = "the first row is longer than 64 KiB, so its columns cannot be told";
        return Err(source.error(Place::line(first.line, 1, first.text), problem));
    }
    let header = header::find(source, &sample, options)?;
    if header == Header::Row {
        header::check_row_names(source, &sample, options)?;
        header::check_parts(source, first)?;
    }
    let base = Dialect { delimiter: sample.delimiter, ..base };
    let is_counts = header == Header::No
        && options.header.is_none()
        && counts::leads(source, &base, &sample.rows)?;
    let leads = header == Header::Row || is_counts;
    let data = if leads { &sample.rows[1..] } else { &sample.rows[..] };
    let columns = data.first().unwrap_or(first).cells.len();
    let declared = Declared::of(&sample.comments, sample.delimiter, columns);
    let names = match header {
        Header::Row => Some(header::names(&sample, columns)),
        Header::No => declared.names.clone(),
    };
    let chosen = columns::choose(source, &sample, data, names.as_deref(), options)?;
    let Chosen { source: from, destination: to, weight } = chosen;
    let weight = weight.filter(|_| options.weights);
    let mut notes = Notes::default();
    if is_counts {
        let said = printable(first.text.trim_ascii());
        notes.add(format!("the first row, {said}, counts vertices and edges and is no edge"));
    }
    let two_sides = options.bipartite || declared.bipartite.is_some();
    if let Some(said) = declared.bipartite.filter(|_| !options.bipartite) {
        notes.add(format!("bipartite, as \"{said}\" says: ids are s… and t…"));
    }
    let edge_type = edge_type(source, data, names.as_deref(), options)?;
    let mirror = match (options.direction, &edge_type, declared.undirected) {
        (Some(_), ..) => Mirror::None,
        (None, Some(kind), _) if kind.is_undirected() => {
            notes.add("undirected, as the column of types says".into());
            Mirror::Missing
        }
        (None, None, Some(said)) => {
            notes.add(format!("undirected, as \"{said}\" says"));
            Mirror::Missing
        }
        (None, ..) => Mirror::None,
    };
    let decimal = weight.map_or(Ok(None), |weight| spelling(source, data, weight, options))?;
    match decimal {
        Some(Decimal::Comma) => notes.add("weights have a decimal comma".into()),
        Some(Decimal::Point) => notes.add("commas in weights group thousands".into()),
        None => {}
    }
    let dialect = Dialect {
        columns,
        source: from,
        destination: to,
        weight,
        names: two_sides || are_names(data, from, to, options),
        sides: if two_sides { Sides::Two } else { Sides::One },
        skip_lines: if leads { first.line } else { base.skip_lines },
        decimal,
        edge_type,
        header: (header == Header::Row).then(|| first.text.to_vec()),
        leading_comments: sample.comments.iter().map(|comment| comment.to_vec()).collect(),
        ..base
    };
    let layout = describe(&dialect, header, names.as_deref()) + &notes.0;
    Ok(Detected { dialect, header: header == Header::Row, mirror, layout })
}

/// Sentences after the description of columns.
#[derive(Default)]
struct Notes(String);

impl Notes {
    fn add(&mut self, note: String) {
        self.0 += "; ";
        self.0 += &note;
    }
}

fn check_text(source: &Source) -> Result<()> {
    let head = skip_mark(source.head());
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(source.error(Place::File, "UTF-16 text; convert it to UTF-8 first"));
    }
    if let Some(at) = head.iter().position(|&b| !is_text(&[b])) {
        let problem = format!("expected text, found the byte {:#04x}", head[at]);
        return Err(source.error(Place::Byte(at as u64), problem));
    }
    let mut lines = head_lines(source);
    if let (Some(line), None) = (lines.next(), lines.next())
        && let Some(at) = memchr::memchr(b'\r', line.text)
    {
        let problem = "lines end in CR alone; make that LF, for example with tr '\\r' '\\n'";
        return Err(source.error(Place::line(1, at + 1, line.text), problem));
    }
    Ok(())
}

/// Whether ids are names: integers are, too, if the user says so or the beginning shows others.
fn are_names(
    data: &[SampleRow<'_>],
    source: usize,
    destination: usize,
    options: &ReadOptions<'_>,
) -> bool {
    match options.ids {
        IdKind::Integers => false,
        IdKind::Names => true,
        IdKind::Detect => shapes::are_names(data, source, destination),
    }
}

/// Gephi says of each edge whether it is directed. A graph is either, so all must agree.
fn edge_type(
    source: &Source,
    data: &[SampleRow<'_>],
    names: Option<&[String]>,
    options: &ReadOptions<'_>,
) -> Result<Option<EdgeType>> {
    let place = names.and_then(|names| names.iter().position(|name| column_names::is_type(name)));
    let Some(place) = place.filter(|_| options.direction.is_none() && options.columns.is_none())
    else {
        return Ok(None);
    };
    let mut types = column(data, place).map(EdgeType::word);
    let Some(Some(word)) = types.next() else { return Ok(None) };
    if types.any(|other| other.is_none()) {
        return Ok(None);
    }
    let edge_type = EdgeType { column: place, word };
    for row in data {
        // A row with too few cells is an error when it is read.
        let checked = row.cells.get(place).map_or(Ok(()), |cell| edge_type.check(cell));
        checked.map_err(|problem| source.error(Place::line(row.line, 1, row.text), problem))?;
    }
    Ok(Some(edge_type))
}

/// How the weights are written, if not as every program reads them.
fn spelling(
    source: &Source,
    data: &[SampleRow<'_>],
    weight: usize,
    options: &ReadOptions<'_>,
) -> Result<Option<Decimal>> {
    if options.text.decimal.is_some() {
        return Ok(options.text.decimal);
    }
    let problem = match decimal::spelling(column(data, weight)) {
        Spelling::Plain => return Ok(None),
        Spelling::Only(decimal) => return Ok(Some(decimal)),
        Spelling::Either => {
            "a comma that may group thousands or mark the fraction: say `decimal` point or \
             `decimal` comma"
        }
        Spelling::Mixed => {
            "the fractions of some weights start with a point, those of others with a comma; if \
             only one is meant, say `decimal` point or `decimal` comma"
        }
    };
    let has_comma = |row: &&SampleRow<'_>| row.cells.get(weight).is_some_and(|c| c.contains(&b','));
    let row = data.iter().find(has_comma).unwrap_or(&data[0]);
    Err(source.error(Place::line(row.line, 1, row.text), problem))
}

/// "with header: source = from_user, destination = to_user, weight = amount; 1 column ignored"
fn describe(dialect: &Dialect, header: Header, names: Option<&[String]>) -> String {
    let name = |place: usize| match names.and_then(|names| names.get(place)) {
        Some(name) if !name.is_empty() => printable(name.as_bytes()),
        _ => format!("column {}", place + 1),
    };
    let mut text = match (header, names) {
        (Header::Row, _) => " with header".to_owned(),
        (Header::No, Some(_)) => " with header in a comment".to_owned(),
        (Header::No, None) => String::new(),
    };
    let (from, to) = (name(dialect.source), name(dialect.destination));
    let _ = write!(text, ": source = {from}, destination = {to}");
    if let Some(weight) = dialect.weight {
        let _ = write!(text, ", weight = {}", name(weight));
    }
    let Dialect { source, destination, weight, .. } = dialect;
    let is_used = |place: &usize| [source, destination].contains(&place) || *weight == Some(*place);
    match (0..dialect.columns).filter(|place| !is_used(place)).count() {
        0 => {}
        1 => text += "; 1 column ignored",
        ignored => {
            let _ = write!(text, "; {ignored} columns ignored");
        }
    }
    text
}

/// What a table with this delimiter is called.
pub(crate) fn syntax(delimiter: Delimiter) -> String {
    match delimiter {
        Delimiter::Blanks => "edge list".into(),
        Delimiter::Byte(b'\t') => "TSV".into(),
        Delimiter::Byte(b';') => "CSV with semicolons".into(),
        Delimiter::Byte(b',') => "CSV".into(),
        Delimiter::Byte(byte) => format!("table cut at '{}'", char::from(byte)),
    }
}
