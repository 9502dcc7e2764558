//! Weights as people write them: `1105.5`, `"1,105.5"`, `1105,5`.
//!
//! A comma groups thousands in one country and marks the fraction in another. Where the rows at the
//! beginning of a file show which, it is understood; `1,105` alone could be either.

use std::borrow::Cow;

use super::number::looks_numeric;
use crate::formats::Decimal;

/// Which ways of writing numbers some cells fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// All cells are read alike either way.
    Plain,
    /// Only this one.
    Only(Decimal),
    /// Both, with different values.
    Either,
    /// Neither.
    Mixed,
}

/// A cell as both ways of writing read it; `None`: not a number.
fn readings(cell: &[u8]) -> [Option<Cow<'_, [u8]>>; 2] {
    [Decimal::Point, Decimal::Comma].map(|decimal| plain(cell, decimal))
}

/// Whether a cell is a number, however it is written.
pub(super) fn is_number(cell: &[u8]) -> bool {
    looks_numeric(cell) || readings(cell).iter().any(Option::is_some)
}

/// Whether a cell says that there is no number.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    const WORDS: [&str; 14] = [
        "", "na", "n/a", "nan", "null", "none", "nil", "inf", "infinity", "-", "?", ".", "missing",
        "unknown",
    ];
    let word = cell.to_ascii_lowercase();
    let word = word.strip_prefix(b"-").filter(|rest| !rest.is_empty()).unwrap_or(&word);
    WORDS.iter().any(|known| known.as_bytes() == word)
}

/// How the numbers among some cells are written.
pub(super) fn spelling<'c>(cells: impl Iterator<Item = &'c [u8]>) -> Spelling {
    let (mut only_point, mut only_comma, mut either, mut has_comma) = (false, false, false, false);
    for cell in cells {
        has_comma |= cell.contains(&b',') && is_number(cell);
        match readings(cell) {
            [Some(point), Some(comma)] => either |= point != comma,
            [Some(_), None] => only_point = true,
            [None, Some(_)] => only_comma = true,
            [None, None] => {}
        }
    }
    match (has_comma, only_point, only_comma) {
        // Without a comma, a point can only mark the fraction.
        (false, ..) => Spelling::Plain,
        (_, true, true) => Spelling::Mixed,
        (_, true, false) => Spelling::Only(Decimal::Point),
        (_, false, true) => Spelling::Only(Decimal::Comma),
        (_, false, false) if either => Spelling::Either,
        (_, false, false) => Spelling::Plain,
    }
}

/// A number written like this as every program reads it; `None`: it is not written like this.
pub(super) fn plain(cell: &[u8], decimal: Decimal) -> Option<Cow<'_, [u8]>> {
    let (fraction, group) = match decimal {
        Decimal::Point => (b'.', b','),
        Decimal::Comma => (b',', b'.'),
    };
    let end = cell.iter().position(|&b| b == fraction).unwrap_or(cell.len());
    let (whole, rest) = cell.split_at(end);
    if rest.contains(&group) || rest.get(1..).is_some_and(|rest| rest.contains(&fraction)) {
        return None;
    }
    let mut groups = whole.split(|&b| b == group);
    let first = groups.next().unwrap_or(&[]);
    let digits = first.strip_prefix(b"-").or(first.strip_prefix(b"+")).unwrap_or(first);
    let mut is_grouped = false;
    for further in groups {
        is_grouped = true;
        if further.len() != 3 || !further.iter().all(u8::is_ascii_digit) {
            return None;
        }
    }
    if is_grouped && (digits.is_empty() || digits.len() > 3 || digits[0] == b'0') {
        return None;
    }
    let text = match is_grouped || fraction != b'.' {
        false => Cow::Borrowed(cell),
        true => {
            let kept = cell.iter().filter(|&&b| b != group);
            kept.map(|&b| if b == fraction { b'.' } else { b }).collect::<Vec<u8>>().into()
        }
    };
    looks_numeric(&text).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_countries() {
        let read = |cell: &'static str, decimal| {
            plain(cell.as_bytes(), decimal)
                .map(|text| String::from_utf8(text.into_owned()).unwrap())
        };
        for (cell, point, comma) in [
            ("1105", Some("1105"), Some("1105")),
            ("1,105", Some("1105"), Some("1.105")),
            ("1.105", Some("1.105"), Some("1105")),
            ("1,105.5", Some("1105.5"), None),
            ("1.105,5", None, Some("1105.5")),
            ("1105,5", None, Some("1105.5")),
            ("0,125", None, Some("0.125")),
            ("-1,234,567", Some("-1234567"), None),
            ("2.5", Some("2.5"), None),
            ("1e3", Some("1e3"), Some("1e3")),
            ("1,2,3", None, None),
            ("a,105", None, None),
            (",5", None, Some(".5")),
            ("", None, None),
        ] {
            assert_eq!(read(cell, Decimal::Point).as_deref(), point, "{cell}");
            assert_eq!(read(cell, Decimal::Comma).as_deref(), comma, "{cell}");
        }
    }

    #[test]
    fn what_the_cells_together_show() {
        let of = |cells: &[&'static str]| spelling(cells.iter().map(|cell| cell.as_bytes()));
        assert_eq!(of(&["1", "2.5", "x", "nan"]), Spelling::Plain);
        assert_eq!(of(&["1,105", "7"]), Spelling::Either);
        assert_eq!(of(&["1,105", "2.5"]), Spelling::Only(Decimal::Point));
        assert_eq!(of(&["1,105", "2,5"]), Spelling::Only(Decimal::Comma));
        assert_eq!(of(&["1,5", "2.5"]), Spelling::Mixed);
    }
}
