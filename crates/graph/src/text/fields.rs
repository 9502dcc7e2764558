//! The fields of one row: what stands between delimiters, without blanks around and quotes.

use super::is_blank;

/// What stands between columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// Any number of spaces and tabs. A field in quotes, up to a blank, may have blanks inside.
    Blanks,
    /// This byte, with or without blanks around; a field may be quoted.
    Byte(u8),
}

/// One field of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field<'a> {
    /// The contents, without blanks around and without quotes.
    pub(crate) value: std::borrow::Cow<'a, [u8]>,
    /// Where it starts in the row.
    pub(crate) at: usize,
}

/// The fields of a row. A problem comes with its column, from 0.
pub(crate) fn fields(
    row: &[u8],
    delimiter: Delimiter,
) -> impl Iterator<Item = Result<Field<'_>, (usize, String)>> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = skip_blanks(row, next?, delimiter);
        match delimiter {
            Delimiter::Blanks => {
                if start == row.len() {
                    return None;
                }
                let quoted = row[start..].starts_with(b"\"").then(|| quoted_word(row, start));
                let (field, end) = quoted.flatten().unwrap_or_else(|| {
                    let end = find(row, start, is_blank);
                    (Field { value: row[start..end].into(), at: start }, end)
                });
                next = Some(end);
                Some(Ok(field))
            }
            Delimiter::Byte(delimiter) => {
                let (field, end) = match delimited_field(row, start, delimiter) {
                    Ok(field) => field,
                    Err(problem) => {
                        next = None;
                        return Some(Err(problem));
                    }
                };
                next = (end < row.len()).then_some(end + 1);
                Some(Ok(field))
            }
        }
    })
}

fn find(row: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    row[from..].iter().position(|&b| wanted(b)).map_or(row.len(), |len| from + len)
}

/// A tab may be the delimiter, then it is no blank.
fn skip_blanks(row: &[u8], from: usize, delimiter: Delimiter) -> usize {
    find(row, from, |b| !is_blank(b) || delimiter == Delimiter::Byte(b))
}

/// The word in quotes that starts at `start`, as R writes it, and where it ends; `None` if its
/// quotes do not match, or more follows them.
fn quoted_word(row: &[u8], start: usize) -> Option<(Field<'_>, usize)> {
    let end = find(row, start + 1, |b| b == b'"');
    let after = row.get(end + 1);
    (end < row.len() && after.is_none_or(|&b| is_blank(b)))
        .then(|| (Field { value: row[start + 1..end].into(), at: start }, end + 1))
}

/// The field that starts at `start`, and where it ends.
fn delimited_field(
    row: &[u8],
    start: usize,
    delimiter: u8,
) -> Result<(Field<'_>, usize), (usize, String)> {
    if row.get(start) != Some(&b'"') {
        let end = find(row, start, |b| b == delimiter);
        let blanks = row[start..end].iter().rev().take_while(|&&b| is_blank(b)).count();
        return Ok((Field { value: row[start..end - blanks].into(), at: start }, end));
    }
    let mut value = Vec::new();
    let mut from = start + 1;
    loop {
        let quote = find(row, from, |b| b == b'"');
        value.extend_from_slice(&row[from..quote]);
        if quote == row.len() {
            return Err((start, "a quoted field must end on its own line".into()));
        }
        if row.get(quote + 1) == Some(&b'"') {
            value.push(b'"');
            from = quote + 2;
            continue;
        }
        let end = skip_blanks(row, quote + 1, Delimiter::Byte(delimiter));
        if end < row.len() && row[end] != delimiter {
            return Err((end, "expected the end of the field after its closing quote".into()));
        }
        return Ok((Field { value: value.into(), at: start }, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_and_padded_fields() {
        let row = br#" "a,""b""" ,c d , "" ,e"#;
        let values: Vec<Vec<u8>> =
            fields(row, Delimiter::Byte(b',')).map(|f| f.unwrap().value.into_owned()).collect();
        assert_eq!(values, [&b"a,\"b\""[..], b"c d", b"", b"e"]);
        let problems = [r#""a,b"#, r#""a"b,c"#];
        for row in problems {
            assert!(fields(row.as_bytes(), Delimiter::Byte(b',')).any(|f| f.is_err()), "{row}");
        }
        let row = br#""New York" "b  "c"d "e" x"#;
        let values: Vec<Vec<u8>> =
            fields(row, Delimiter::Blanks).map(|f| f.unwrap().value.into_owned()).collect();
        assert_eq!(values, [&b"New York"[..], b"\"b", b"\"c\"d", b"e", b"x"]);
        assert_eq!(fields(b"1,", Delimiter::Byte(b',')).count(), 2);
        assert_eq!(fields(b"a\t\tb", Delimiter::Byte(b'\t')).count(), 3);
    }
}
