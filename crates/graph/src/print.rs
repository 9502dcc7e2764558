//! Integers and original ids as text, as every table and edge list has them.

use crate::id_map::OriginalId;
use crate::text::is_blank;

/// Writes an integer; `write!` would cost twice the time of everything else.
pub fn push_integer(row: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    row.extend_from_slice(&digits[at..]);
}

/// Writes an original id as a field between delimiters; names are quoted where they must be.
pub fn push_id(row: &mut Vec<u8>, id: OriginalId<'_>, delimiter: u8) {
    match id {
        OriginalId::Integer(id) => push_integer(row, id),
        OriginalId::Name(name) => {
            // Quoting is not for edge lists, whose names are checked. As in RFC 4180 it keeps
            // delimiters, quotes and line ends part of a name; also a leading comment sign or blank.
            // An empty name is quoted, too: without quotes, a field is empty if it has no value.
            let plain = |b: &u8| {
                *b != delimiter
                    && !matches!(b, b'"' | b'#' | b'%' | b'/' | b'\n' | b'\r')
                    && !is_blank(*b)
            };
            if delimiter == b' ' || !name.is_empty() && name.iter().all(plain) {
                row.extend_from_slice(name);
            } else {
                row.push(b'"');
                for &byte in name {
                    if byte == b'"' {
                        row.push(b'"');
                    }
                    row.push(byte);
                }
                row.push(b'"');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let field = |name: &[u8], delimiter| {
            let mut row = Vec::new();
            push_id(&mut row, OriginalId::Name(name), delimiter);
            String::from_utf8(row).unwrap()
        };
        for delimiter in [b',', b'\t'] {
            assert_eq!(field(b"plain", delimiter), "plain");
            assert_eq!(field(b"", delimiter), "\"\"", "not the same as no value");
            for odd in ["two\nlines", "a\rb", "a\r\nb", "with \"quotes\"", " blank", "# x"] {
                let quoted = format!("\"{}\"", odd.replace('"', "\"\""));
                assert_eq!(field(odd.as_bytes(), delimiter), quoted);
            }
        }
        assert_eq!(field(b"a,b", b','), "\"a,b\"");
        assert_eq!(field(b"a,b", b'\t'), "a,b");
    }
}
