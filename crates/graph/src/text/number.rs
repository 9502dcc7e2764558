//! Single numbers. Digits are read eight at a time.

/// Why a piece of text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAnId {
    Empty,
    Negative,
    TooLarge,
    NotWhole,
    NotANumber,
}

impl NotAnId {
    pub(crate) fn describe(self, token: &[u8]) -> String {
        let token = crate::error::printable(token);
        match self {
            NotAnId::Empty => "expected an id, found an empty field".into(),
            NotAnId::Negative => format!("negative id '{token}'; ids are 0 to 2^64-1"),
            NotAnId::TooLarge => format!("id '{token}' is over 2^64-1"),
            NotAnId::NotWhole => format!("id '{token}' is not a whole number"),
            NotAnId::NotANumber => format!("expected an integer id, found '{token}'"),
        }
    }
}

/// Value and number of the decimal digits at `at`. The value is right for up to 19 digits.
#[inline]
pub(crate) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    let Some(eight) = text.get(at..at + 8) else {
        return digits_one_by_one(text, at, 0, 0);
    };
    let digits = u64::from_le_bytes(eight.try_into().expect("eight bytes")) ^ 0x3030_3030_3030_3030;
    // A byte is a digit when it is below 10; the lowest byte that is not gets its top bit set.
    // Carries only run upwards, away from it.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // The first digit is the lowest byte: shift so that the last digit is the highest, then join
    // neighbours: 1 + 1 digits, 2 + 2, 4 + 4.
    let v = digits << (64 - 8 * count);
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    let (even, odd) = (v & 0x0000_00ff_0000_00ff, (v >> 16) & 0x0000_00ff_0000_00ff);
    let value = even
        .wrapping_mul(100 + (1_000_000 << 32))
        .wrapping_add(odd.wrapping_mul(1 + (10_000 << 32)))
        >> 32;
    if count < 8 { (value, count) } else { digits_one_by_one(text, at, value, 8) }
}

fn digits_one_by_one(text: &[u8], at: usize, mut value: u64, mut count: usize) -> (u64, usize) {
    while let Some(digit) = text.get(at + count).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    (value, count)
}

/// A whole token as an id.
pub(crate) fn parse_id(token: &[u8]) -> Result<u64, NotAnId> {
    let (value, count) = digits(token, 0);
    if token.is_empty() {
        return Err(NotAnId::Empty);
    }
    if count == token.len() {
        if count <= 19 {
            return Ok(value);
        }
        // Digits are ASCII.
        return std::str::from_utf8(token)
            .ok()
            .and_then(|t| t.parse().ok())
            .ok_or(NotAnId::TooLarge);
    }
    match parse_number(token) {
        None => Err(NotAnId::NotANumber),
        Some(_) if token[0] == b'-' => Err(NotAnId::Negative),
        Some(_) => Err(NotAnId::NotWhole),
    }
}

/// Whether a token is written as a number, whole or not. Words for infinity are not.
pub(crate) fn looks_numeric(token: &[u8]) -> bool {
    parse_number(token).is_some()
}

fn parse_number(token: &[u8]) -> Option<f64> {
    let first = token.iter().find(|b| !matches!(b, b'+' | b'-'))?;
    if !first.is_ascii_digit() && *first != b'.' {
        return None;
    }
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Whether a token is written as an integer, and is neither the double that it was read as nor the
/// shortest way to write that.
fn is_rounded(token: &[u8], value: f64) -> bool {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    let is_integer = digits.iter().all(u8::is_ascii_digit);
    let exact = std::str::from_utf8(token).ok().and_then(|text| text.parse::<i128>().ok());
    is_integer && exact != Some(value as i128) && *digits != *value.abs().to_string().as_bytes()
}

/// A whole token as a weight, and whether it is written as an integer that fits `u32`.
pub(crate) fn parse_weight(token: &[u8]) -> Result<(f64, bool), String> {
    let (value, count) = digits(token, 0);
    if count == token.len() && (1..=15).contains(&count) {
        return Ok((value as f64, value <= u64::from(u32::MAX)));
    }
    let number = std::str::from_utf8(token).ok().and_then(|t| t.parse::<f64>().ok());
    let shown = || crate::error::printable(token);
    match number {
        Some(value) if value.is_finite() && is_rounded(token, value) => Err(format!(
            "weight '{}' is a whole number that a double cannot hold; if it may be rounded, write \
             it as {value:e}",
            shown()
        )),
        Some(value) if value.is_finite() => Ok((value, false)),
        Some(value) if value.is_nan() => Err(format!("weight '{}' is not a number", shown())),
        Some(_) => Err(format!("weight '{}' is infinite", shown())),
        None if token.is_empty() => Err("expected a weight, found an empty field".into()),
        None => Err(format!("expected a weight, found '{}'", shown())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_length_and_position() {
        for value in [0, 7, 42, 999, 12_345_678, 123_456_789, 9_999_999_999_999_999_999] {
            for tail in ["", " ", "\n9", "x", "/", ":", "\u{ff}12345678"] {
                let text = format!("ab{value}{tail}");
                let expected = (value, value.to_string().len());
                assert_eq!(digits(text.as_bytes(), 2), expected, "{text:?}");
            }
        }
        assert_eq!(digits(b"", 0), (0, 0));
        assert_eq!(digits(b"-1234567", 0), (0, 0));
    }

    #[test]
    fn ids_and_what_is_none() {
        assert_eq!(parse_id(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_id(b"00000000000000000000007"), Ok(7));
        assert_eq!(parse_id(b"18446744073709551616"), Err(NotAnId::TooLarge));
        assert_eq!(parse_id(b"-5"), Err(NotAnId::Negative));
        assert_eq!(parse_id(b"1.5"), Err(NotAnId::NotWhole));
        assert_eq!(parse_id(b"1e3"), Err(NotAnId::NotWhole));
        assert_eq!(parse_id(b"12x"), Err(NotAnId::NotANumber));
        assert_eq!(parse_id(b"nan"), Err(NotAnId::NotANumber));
        assert_eq!(parse_id(b""), Err(NotAnId::Empty));
    }

    #[test]
    fn weights() {
        assert_eq!(parse_weight(b"4294967295"), Ok((4294967295.0, true)));
        assert_eq!(parse_weight(b"4294967296"), Ok((4294967296.0, false)));
        assert_eq!(parse_weight(b"-0.5e1"), Ok((-5.0, false)));
        // Integers beyond 2^53 are taken if a double holds them.
        assert_eq!(parse_weight(b"9007199254740992"), Ok((9007199254740992.0, false)));
        assert_eq!(parse_weight(b"-18446744073709551616"), Ok((-18446744073709551616.0, false)));
        let shortest = format!("{}", 1.3371786543174255e93);
        assert_eq!(parse_weight(shortest.as_bytes()), Ok((1.3371786543174255e93, false)));
        assert_eq!(parse_weight(b"9007199254740993.0"), Ok((9007199254740992.0, false)));
        for rounded in ["9007199254740993", "-9007199254740993", "18446744073709551615"] {
            let said = parse_weight(rounded.as_bytes()).unwrap_err();
            assert!(said.contains("a double cannot hold"), "{said}");
        }
        for bad in ["nan", "inf", "-Infinity", "1e999", "", "x", "1,5"] {
            assert!(parse_weight(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
