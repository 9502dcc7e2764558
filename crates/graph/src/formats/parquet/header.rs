//! The header of a page, read before the library reads it.

use std::io::Read;

use parquet::errors::Result;

use super::thrift::{Compact, kind, malformed};

/// The part of a page header that decides what the library does with the page.
#[derive(Default)]
pub(super) struct Header {
    /// Length of the header itself.
    pub(super) bytes: u64,
    pub(super) kind: i32,
    /// Size of the page in memory.
    pub(super) unpacked: i32,
    /// Size of the page in the file.
    pub(super) packed: i32,
}

impl Header {
    /// The kind of a page that holds an index instead of values.
    pub(super) const INDEX: i32 = 1;

    pub(super) fn read(input: impl Read) -> Result<Self> {
        /// Types of the fields of the three inner headers, from field 1; a bool is `TRUE`.
        const DATA: &[u8] = &[kind::I32, kind::I32, kind::I32, kind::I32, kind::STRUCT];
        const DICTIONARY: &[u8] = &[kind::I32, kind::I32, kind::TRUE];
        const DATA_V2: &[u8] = &[
            kind::I32,
            kind::I32,
            kind::I32,
            kind::I32,
            kind::I32,
            kind::I32,
            kind::TRUE,
            kind::STRUCT,
        ];
        let mut header = Header::default();
        let mut reader = Compact::new(input);
        reader.each_field(|reader, id, kind| {
            match (id, kind) {
                (1, kind::I32) => header.kind = reader.i32()?,
                (2, kind::I32) => header.unpacked = reader.i32()?,
                (3, kind::I32) => header.packed = reader.i32()?,
                (5, kind::STRUCT) => pass_fields(reader, DATA)?,
                (7, kind::STRUCT) => pass_fields(reader, DICTIONARY)?,
                (8, kind::STRUCT) => pass_fields(reader, DATA_V2)?,
                (4, kind::I32) | (6, kind::STRUCT) => reader.skip(kind)?,
                (1..=8, _) => return Err(malformed("a field has the wrong type")),
                _ => reader.skip(kind)?,
            }
            Ok(())
        })?;
        header.bytes = reader.taken();
        Ok(header)
    }
}

/// Passes over a struct whose first fields have known types. The library reads these fields by
/// number and does not look at their types.
fn pass_fields(reader: &mut Compact<impl Read>, types: &[u8]) -> Result<()> {
    reader.each_field(|reader, id, kind| {
        let known = usize::try_from(id).ok().and_then(|id| types.get(id.wrapping_sub(1)));
        let stated = if kind == kind::FALSE { kind::TRUE } else { kind };
        if known.is_some_and(|&known| known != stated) {
            return Err(malformed("a field has the wrong type"));
        }
        reader.skip(kind)
    })
}
