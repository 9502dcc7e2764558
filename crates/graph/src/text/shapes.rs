//! Tables whose first two columns may not be the ends of an edge: an index beside the edges, triples,
//! adjacency matrices. Where the columns have no names, their contents alone can warn.

use super::decimal;
use super::fields::Delimiter;
use super::sample::{Sample, SampleRow, column, counts_rows, holds_numbers, numbers_in};

/// A share of non-numbers among the ids above which they are names. Below it they are more likely
/// mistakes, and reported as such.
const NAMES_FROM_SHARE: f64 = 0.05;
/// Edges without names of columns have two ends, at most a weight and a time.
const MAX_UNNAMED_COLUMNS: usize = 4;

/// What the columns of a table without names may be instead of source, destination and weight; `None` if
/// nothing speaks against these. `data` are the rows, `is_whole` says whether they are all.
pub(super) fn doubt(
    sample: &Sample<'_>,
    data: &[SampleRow<'_>],
    columns: usize,
    is_whole: bool,
) -> Option<String> {
    let filled = |&place: &usize| column(data, place).any(|cell| !cell.is_empty());
    let filled = (0..columns).filter(filled).count();
    if filled < 3 {
        return None;
    }
    if column(data, 2).any(|cell| cell.starts_with(b"{") && cell != b"{}") {
        return Some(
            "the weights are a Python dictionary; write them with NetworkX's \
             write_weighted_edgelist, or say `columns` 1,2"
                .into(),
        );
    }
    if is_mark(data, 1) {
        return Some("the second column is a mark between the ends: say `columns` 1,3".into());
    }
    if has_index(data) {
        let weight = |place: usize| columns > place && holds_numbers(data, place);
        let beside = if weight(3) { ",4" } else { "" };
        let among = if weight(2) { ",3" } else { "" };
        return Some(format!(
            "the first column counts the rows, so it may be an index or the source: say `columns` \
             2,3{beside} or `columns` 1,2{among}"
        ));
    }
    if is_square(data, columns, is_whole) {
        return Some(matrix());
    }
    if filled > MAX_UNNAMED_COLUMNS {
        return Some(format!(
            "{columns} columns without names, so it cannot be told which are the ends of an edge: \
             say it with `columns`, such as `columns` 1,2"
        ));
    }
    if are_names(data, 0, 1) && !holds_numbers(data, 2) {
        return Some(
            "the third column holds names, too, so the second may be a destination or a relation: \
             say `columns` 1,2 or `columns` 1,3"
                .into(),
        );
    }
    let may_be_cut = sample.delimiter == Delimiter::Byte(b',') && columns == 4;
    (may_be_cut && are_cut_numbers(data)).then(|| {
        "the third and fourth column may be one number with a decimal comma: say `columns` 1,2,3 \
         if they are two, else write fractions with a point"
            .into()
    })
}

/// Whether most ids in the columns of two ends are names.
pub(super) fn are_names(data: &[SampleRow<'_>], source: usize, destination: usize) -> bool {
    let numbers = numbers_in(data, source) + numbers_in(data, destination);
    let ids = 2 * data.len();
    (ids - numbers) as f64 > NAMES_FROM_SHARE * ids as f64
}

/// Whether the rows are those of an adjacency matrix whose first row and column name the vertices, as
/// pandas and R write it. `has_header` says whether the first row is known to hold names.
pub(super) fn is_labelled_matrix(rows: &[SampleRow<'_>], has_header: bool, is_whole: bool) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    let columns = rest.first().map_or(0, |row| row.cells.len());
    let labels = match &first.cells[..] {
        labels if labels.len() + 1 == columns => labels,
        [corner, labels @ ..] if has_header || corner.is_empty() => labels,
        _ => return false,
    };
    let is_labelled = labels.iter().map(Vec::as_slice).zip(column(rest, 0)).all(|(l, r)| l == r);
    labels.len() > 1 && is_labelled && (rest.len() == labels.len() || !is_whole)
}

/// Whether the rows are as many as the columns, and their numbers those of an adjacency matrix: none but 0
/// and 1, or 0 where a vertex meets itself.
pub(super) fn is_square(data: &[SampleRow<'_>], columns: usize, is_whole: bool) -> bool {
    let cells = || data.iter().flat_map(|row| &row.cells);
    if columns < 3 || data.len() != columns || !is_whole || !cells().all(|c| decimal::is_number(c))
    {
        return false;
    }
    let is_zero = |cell: &[u8]| cell.iter().all(|b| matches!(b, b'0' | b'.'));
    let diagonal = |(place, row): (usize, &SampleRow<'_>)| {
        row.cells.get(place).is_some_and(|cell| is_zero(cell))
    };
    data.iter().enumerate().all(diagonal) || cells().all(|cell| cell == b"0" || cell == b"1")
}

/// What to say of an adjacency matrix.
pub(super) fn matrix() -> String {
    "as many rows as columns: an adjacency matrix, of which Parton reads Matrix Market only? If the \
     rows are edges, say `columns` 1,2,3 or `columns` 1,2"
        .into()
}

/// Whether a column holds nothing but a mark between the ends of an edge.
fn is_mark(data: &[SampleRow<'_>], place: usize) -> bool {
    const MARKS: [&str; 8] = ["->", "--", "-", "<->", "<-", "=>", "<>", "→"];
    MARKS.iter().any(|mark| {
        let mut cells = column(data, place).peekable();
        cells.peek().is_some() && cells.all(|cell| cell == mark.as_bytes())
    })
}

/// Whether the first column may be an index: it counts the rows, or is the only one in quotes, as R
/// writes the names of rows. What follows must be able to be ids.
fn has_index(data: &[SampleRow<'_>]) -> bool {
    let is_id = |cell: &[u8]| cell.iter().all(u8::is_ascii_digit) || !decimal::is_number(cell);
    let is_quoted = |row: &SampleRow<'_>| {
        row.text.starts_with(b"\"") && memchr::memchr_iter(b'"', row.text).count() == 2
    };
    let all_quoted = data.iter().all(is_quoted) && numbers_in(data, 0) == data.len();
    (counts_rows(data, 0) || all_quoted) && [1, 2].iter().all(|&p| column(data, p).all(is_id))
}

/// Whether the third and fourth column look like the two halves of numbers: `1105,5`.
fn are_cut_numbers(data: &[SampleRow<'_>]) -> bool {
    /// A moment in seconds has more digits.
    const MAX_FRACTION_DIGITS: usize = 8;
    let whole =
        |cell: &[u8]| cell.strip_prefix(b"-").unwrap_or(cell).iter().all(u8::is_ascii_digit);
    let mut fractions = column(data, 3);
    column(data, 2).all(whole)
        && fractions.clone().all(|cell| cell.iter().all(u8::is_ascii_digit))
        && fractions.any(|cell| (1..=MAX_FRACTION_DIGITS).contains(&cell.len()))
}
