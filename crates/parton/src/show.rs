//! Numbers and plots for people.

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

/// An amount of bytes with at most four digits: `12.3 MB`.
pub(crate) fn bytes(value: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 999.95 && unit + 1 < units.len() {
        scaled /= 1e3;
        unit += 1;
    }
    match unit {
        0 => format!("{value} {}", units[0]),
        _ => format!("{scaled:.1} {}", units[unit]),
    }
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
    fn bytes_are_short() {
        let shown = [0, 999, 1_000, 12_345_678, 999_960_000, 5_000_000_000_000_000].map(bytes);
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "12.3 MB", "1.0 GB", "5000.0 TB"]);
    }

    #[test]
    fn bars_show_even_the_smallest() {
        assert_eq!(bar(10, 10, 3), "███");
        assert_eq!(bar(1, 1000, 3), "▏");
        assert_eq!(bar(5, 10, 3), "█▌");
        assert_eq!(bar(0, 10, 3), "");
    }
}
