//! Numbers and tables as people read them.

use crate::graph::memory::Amount;

/// A count with its thousands apart: `1,048,576`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// An amount of bytes: `12.3 MB`.
pub(crate) fn bytes(value: u64) -> String {
    Amount(value.into()).to_string()
}

/// A short time with three digits or more: `12.3 ms`.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        _ if value < 0.999_5e-3 => format!("{:.1} µs", value * 1e6),
        _ if value < 0.999_5 => format!("{:.2} ms", value * 1e3),
        _ => format!("{value:.3} s"),
    }
}

/// Columns as wide as they must be, two spaces apart: the first `names` to the left, numbers to
/// the right.
pub(crate) fn table(names: usize, head: &[&str], rows: &[Vec<String>]) -> String {
    let left: Vec<bool> = (0..head.len()).map(|column| column < names).collect();
    table_of(&left, head, rows)
}

/// The same where each column says whether it is to the left.
pub(crate) fn table_of(left: &[bool], head: &[&str], rows: &[Vec<String>]) -> String {
    let length = |text: &str| text.chars().count();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell));
        cells.chain([length(head[column])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let mut text = String::new();
    let head = head.iter().map(|&title| title.to_owned()).collect::<Vec<_>>();
    for row in std::iter::once(&head).chain(rows) {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if left[column] { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A bar of `value` on a scale where `max` fills `width` characters; what is not zero shows.
pub(crate) fn bar(value: u64, max: u64, width: usize) -> String {
    /// Blocks of one to eight eighths.
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if value == 0 {
        return String::new();
    }
    let eighths = (value as f64 / max as f64 * (width * 8) as f64).round().max(1.0) as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn seconds_are_short() {
        let shown = [0.0, 12.34e-6, 0.0123456, 0.9996, 61.5].map(seconds);
        assert_eq!(shown, ["0.0 µs", "12.3 µs", "12.35 ms", "1.000 s", "61.500 s"]);
    }

    #[test]
    fn tables_are_as_wide_as_they_must_be() {
        let rows = [vec!["bfs".into(), "1".into()], vec!["µ".into(), "100".into()]];
        assert_eq!(table(1, &["name", "n"], &rows), "name    n\nbfs     1\nµ     100\n");
    }

    #[test]
    fn bars_show_even_the_smallest() {
        assert_eq!(bar(10, 10, 3), "███");
        assert_eq!(bar(1, 1000, 3), "▏");
        assert_eq!(bar(5, 10, 3), "█▌");
        assert_eq!(bar(0, 10, 3), "");
    }
}
