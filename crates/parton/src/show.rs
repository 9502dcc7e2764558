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
    fn bars_show_even_the_smallest() {
        assert_eq!(bar(10, 10, 3), "███");
        assert_eq!(bar(1, 1000, 3), "▏");
        assert_eq!(bar(5, 10, 3), "█▌");
        assert_eq!(bar(0, 10, 3), "");
    }
}
