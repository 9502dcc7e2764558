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
            // Quoting is not for edge lists, whose names are checked, and keeps a leading comment
            // sign or blank part of the name.
            let plain = |b: &u8| {
                *b != delimiter && !matches!(b, b'"' | b'#' | b'%' | b'/') && !is_blank(*b)
            };
            if delimiter == b' ' || name.iter().all(plain) {
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
