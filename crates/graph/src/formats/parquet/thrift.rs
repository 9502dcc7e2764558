//! Just enough of Thrift's compact protocol to look at headers before the library acts on them.
//!
//! The library reserves memory and recurses by numbers it finds in headers. What it would do that
//! with is read here first. Both readers must agree on where every field starts, so whatever
//! they could understand differently is refused: over-long numbers, lists of bools, maps.

use std::io::Read;

use parquet::errors::{ParquetError, Result};

/// The type of a field, as stored. `true` and `false` are types of their own.
pub(super) mod kind {
    pub(crate) const TRUE: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const BYTE: u8 = 3;
    pub(crate) const I16: u8 = 4;
    pub(crate) const I32: u8 = 5;
    pub(crate) const I64: u8 = 6;
    pub(crate) const DOUBLE: u8 = 7;
    pub(crate) const BINARY: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const SET: u8 = 10;
    pub(crate) const STRUCT: u8 = 12;
    pub(crate) const UUID: u8 = 13;
}

/// Deepest nesting of anything skipped; real headers need four.
const MAX_DEPTH: usize = 16;

/// Reads one header from the front of `input`.
pub(super) struct Compact<R> {
    input: R,
    taken: u64,
}

impl<R: Read> Compact<R> {
    pub(super) fn new(input: R) -> Self {
        Compact { input, taken: 0 }
    }

    /// Number of bytes read so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).map_err(|_| malformed("it ends too early"))?;
        self.taken += 1;
        Ok(byte[0])
    }

    /// An unsigned integer.
    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("a number is longer than 64 bits"))
    }

    /// A signed integer of up to 32 bits; like the library, of a longer one its low bits.
    pub(super) fn i32(&mut self) -> Result<i32> {
        let value = self.varint()?;
        Ok(((value >> 1) as i64 ^ -((value & 1) as i64)) as i32)
    }

    /// Bytes with their length in front.
    pub(super) fn binary(&mut self) -> Result<Vec<u8>> {
        let len = self.varint()?;
        let mut bytes = Vec::new();
        // Grows with what is really there, whatever the length says.
        let read = self.input.by_ref().take(len).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 != len {
            return Err(malformed("it ends too early"));
        }
        self.taken += len;
        Ok(bytes)
    }

    /// Type and number of the elements of a list.
    pub(super) fn list(&mut self) -> Result<(u8, u64)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        Ok((head & 0x0f, count))
    }

    /// Calls `visit(reader, field id, type)` for each field of a struct; `visit` reads its value.
    pub(super) fn each_field(
        &mut self,
        mut visit: impl FnMut(&mut Self, i16, u8) -> Result<()>,
    ) -> Result<()> {
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            if head & 0x0f == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.i32()? as i16,
                step => id
                    .checked_add(i16::from(step))
                    .ok_or_else(|| malformed("field numbers overflow"))?,
            };
            visit(self, id, head & 0x0f)?;
        }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<()> {
        self.skip_within(kind, MAX_DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: usize) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| malformed("it nests too deeply"))?;
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.byte().map(drop),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.pass(8),
            kind::UUID => self.pass(16),
            kind::BINARY => {
                let len = self.varint()?;
                self.pass(len)
            }
            kind::STRUCT => self.each_field(|reader, _, kind| reader.skip_within(kind, depth)),
            kind::LIST | kind::SET => {
                let (element, count) = self.list()?;
                if count > 0 && matches!(element, kind::TRUE | kind::FALSE) {
                    return Err(malformed("it has a list of bools"));
                }
                // Every element takes a byte or more, so the loop ends with the input.
                for _ in 0..count {
                    self.skip_within(element, depth)?;
                }
                Ok(())
            }
            other => Err(malformed(&format!("it has a field of type {other}"))),
        }
    }

    /// Passes over bytes.
    pub(super) fn pass(&mut self, len: u64) -> Result<()> {
        let passed = std::io::copy(&mut self.input.by_ref().take(len), &mut std::io::sink());
        if passed.is_err() || passed.is_ok_and(|n| n != len) {
            return Err(malformed("it ends too early"));
        }
        self.taken += len;
        Ok(())
    }
}

/// The error for a header that cannot be read.
pub(super) fn malformed(why: &str) -> ParquetError {
    ParquetError::General(format!("a header is malformed: {why}"))
}
