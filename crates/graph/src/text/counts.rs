//! A first line that is no edge: the numbers of vertices and edges, as some programs write them.
//!
//! Nothing but the counts themselves tells `5 4` from an edge: it is taken for them if as many rows
//! follow and no row names a larger id.

use super::dialect::Dialect;
use super::sample::SampleRow;
use super::scanner::Scanner;
use crate::error::Place;
use crate::source::Source;
use crate::{Error, Result};

/// How many rows follow, as far as that is known.
enum RowCount {
    All(u64),
    /// At least these, and about as many bytes each.
    Sample {
        rows: u64,
        bytes: u64,
    },
}

/// What a first line may count: the largest ids of sources and of destinations, and edges.
struct Counts {
    sources: u64,
    destinations: u64,
    edges: u64,
}

/// Whether the first row of a table without a header counts vertices and edges; an error if that is
/// in doubt, or if it is no row like the others for another reason.
pub(super) fn leads(source: &Source, dialect: &Dialect, rows: &[SampleRow<'_>]) -> Result<bool> {
    let (first, rest) = match rows {
        [first, rest @ ..] if rest.len() > 1 => (first, rest),
        _ => return Ok(false),
    };
    let columns = rest[0].cells.len();
    let is_row = first.cells.len() == columns;
    if rest.iter().any(|row| row.cells.len() != columns) || source.parts().len() > 1 {
        return Ok(false);
    }
    let possible = possible_counts(first);
    let fitting: Vec<Counts> = possible.into_iter().filter(|counts| counts.cover(rest)).collect();
    let doubt = || doubt(source, first, columns);
    let sampled = match source.head_is_all() {
        true => RowCount::All(rest.len() as u64),
        false => {
            let bytes = rest.iter().map(|row| row.text.len() as u64 + 1).sum();
            RowCount::Sample { rows: rest.len() as u64, bytes }
        }
    };
    if !fitting.iter().any(|counts| counts.may_count(&sampled, source)) {
        return if is_row { Ok(false) } else { Err(doubt()) };
    }
    let count = match sampled {
        RowCount::All(count) => count,
        RowCount::Sample { .. } if source.parts()[0].is_stream() => return Err(doubt()),
        RowCount::Sample { .. } => count_rows(source, dialect)? - 1,
    };
    match fitting.iter().find(|counts| counts.edges == count) {
        // In a small file ids that do not come near the count leave a doubt.
        Some(counts) if is_row && source.head_is_all() && !counts.are_close(rest) => Err(doubt()),
        Some(_) => Ok(true),
        None if is_row => Ok(false),
        None => Err(doubt()),
    }
}

/// What the numbers of a row may count: `vertices edges …` or `rows columns entries`.
fn possible_counts(row: &SampleRow<'_>) -> Vec<Counts> {
    let number = |cell: &Vec<u8>| std::str::from_utf8(cell).ok()?.parse::<u64>().ok();
    let numbers: Option<Vec<u64>> = row.cells.iter().map(number).collect();
    match numbers.as_deref() {
        Some(&[vertices, edges]) => vec![Counts::of(vertices, vertices, edges)],
        Some(&[first, second, third]) => {
            vec![Counts::of(first, first, second), Counts::of(first, second, third)]
        }
        _ => Vec::new(),
    }
}

impl Counts {
    fn of(sources: u64, destinations: u64, edges: u64) -> Self {
        Counts { sources, destinations, edges }
    }

    /// Whether no row names a larger id.
    fn cover(&self, rows: &[SampleRow<'_>]) -> bool {
        rows.iter()
            .all(|row| ends(row).is_some_and(|(s, d)| s <= self.sources && d <= self.destinations))
    }

    /// Whether the largest id is the last one, counted from 0 or from 1.
    fn are_close(&self, rows: &[SampleRow<'_>]) -> bool {
        let largest = rows.iter().filter_map(ends).map(|(s, d)| s.max(d)).max();
        let last = self.sources.max(self.destinations);
        largest.is_some_and(|largest| largest + 1 >= last)
    }

    /// Whether there may be as many rows, by the size of the input.
    fn may_count(&self, found: &RowCount, source: &Source) -> bool {
        match *found {
            RowCount::All(rows) => self.edges == rows,
            RowCount::Sample { rows, .. } if self.edges < rows => false,
            RowCount::Sample { rows, bytes } => match source.stored_bytes() {
                Some(stored) if source.is_plain() => {
                    let about = stored.saturating_mul(rows) / bytes.max(1);
                    (about / 2..=about.saturating_mul(2)).contains(&self.edges)
                }
                _ => true,
            },
        }
    }
}

fn ends(row: &SampleRow<'_>) -> Option<(u64, u64)> {
    let number = |cell: &Vec<u8>| std::str::from_utf8(cell).ok()?.parse::<u64>().ok();
    Some((number(row.cells.first()?)?, number(row.cells.get(1)?)?))
}

fn count_rows(source: &Source, dialect: &Dialect) -> Result<u64> {
    let mut scanner = Scanner::new(source)?;
    let mut rows = 0;
    while let Some(line) = scanner.next_line()? {
        rows += u64::from(line.number() > dialect.skip_lines && dialect.is_row(line.text));
    }
    Ok(rows)
}

fn doubt(source: &Source, first: &SampleRow<'_>, columns: usize) -> Error {
    let found = first.cells.len();
    let problem = match found == columns {
        true => "this may be an edge, or the numbers of vertices and edges: say `header` no or \
                 `header` yes"
            .to_owned(),
        false => format!(
            "the first row has {found} columns, the others have {columns}; if it is no edge, say \
             `skip_lines` {}",
            first.line
        ),
    };
    source.error(Place::line(first.line, 1, first.text), problem)
}
