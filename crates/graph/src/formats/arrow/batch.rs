//! The cells of a record batch.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

use super::flat::{BROKEN, Table};
use super::schema::{ArrowColumn, Kept};
use crate::source::Compression;

type Result<T, E = String> = std::result::Result<T, E>;

/// Values of dictionaries, by their numbers.
pub(super) type Dictionaries = HashMap<i64, Vec<Box<[u8]>>>;

/// A batch of rows: what its metadata says, and its bytes.
pub(super) struct Batch<'a> {
    pub(super) rows: usize,
    nodes: Vec<[i64; 2]>,
    buffers: Vec<[i64; 2]>,
    /// Buffers that each column of views has beyond its two.
    views: Vec<[i64; 1]>,
    compression: Option<Compression>,
    body: &'a [u8],
}

/// A value of a column.
pub(super) enum Cell<'a> {
    Integer(i128),
    Float(f64),
    Text(&'a [u8]),
    Null,
}

/// The cells of one column.
pub(super) struct CellList<'a> {
    kept: Kept,
    validity: Option<Cow<'a, [u8]>>,
    /// Values, offsets or views.
    first: Cow<'a, [u8]>,
    /// Bytes of text; of views, any number of such.
    texts: Vec<Cow<'a, [u8]>>,
    dictionary: Option<&'a [Box<[u8]>]>,
}

/// No compression packs more than this many times.
const MAX_RATIO: u64 = 1 << 15;

impl<'a> Batch<'a> {
    pub(super) fn read(batch: Table<'_>, body: &'a [u8]) -> Result<Self> {
        let rows = usize::try_from(batch.i64(0)?).map_err(|_| BROKEN)?;
        let compression = match batch.table(3)? {
            None => None,
            Some(packed) => match (packed.u8(0)?, packed.u8(1)?) {
                (0, 0) => Some(Compression::Lz4),
                (1, 0) => Some(Compression::Zstd),
                _ => return Err("it is packed in an unknown way".into()),
            },
        };
        let (nodes, buffers, views) = (batch.integers(1)?, batch.integers(2)?, batch.integers(4)?);
        Ok(Batch { rows, nodes, buffers, views, compression, body })
    }

    fn buffer(&self, number: usize) -> Result<Cow<'a, [u8]>> {
        let &[start, len] = self.buffers.get(number).ok_or(BROKEN)?;
        let range = || {
            let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
            self.body.get(start..start.checked_add(len)?)
        };
        let bytes = range().ok_or("a buffer lies outside of its record batch")?;
        let Some(compression) = self.compression.filter(|_| !bytes.is_empty()) else {
            return Ok(bytes.into());
        };
        let (size, packed) = bytes.split_at_checked(8).ok_or(BROKEN)?;
        let size = i64::from_le_bytes(size.try_into().map_err(|_| BROKEN)?);
        if size == -1 {
            return Ok(packed.into());
        }
        let size = u64::try_from(size).map_err(|_| BROKEN)?;
        if size > MAX_RATIO * packed.len() as u64 {
            return Err(format!("{size} bytes cannot be packed in {}", packed.len()));
        }
        let mut plain = Vec::new();
        let unpacked = compression
            .decoder(packed)
            .and_then(|decoder| decoder.take(size.saturating_add(1)).read_to_end(&mut plain));
        unpacked.map_err(|e| format!("cannot unpack: {e}"))?;
        match plain.len() as u64 == size {
            true => Ok(plain.into()),
            false => Err("a buffer unpacks to another size than it says".into()),
        }
    }

    /// The cells of a column, all of them checked to be there.
    pub(super) fn cells(
        &self,
        column: &ArrowColumn,
        dictionaries: &'a Dictionaries,
    ) -> Result<CellList<'a>> {
        let before = self.views.iter().take(column.views).map(|&[count]| count).sum::<i64>();
        let before = usize::try_from(before).map_err(|_| BROKEN)?;
        let first = column.buffer.checked_add(before).ok_or(BROKEN)?;
        let &[length, nulls] = self.nodes.get(column.node).ok_or(BROKEN)?;
        if usize::try_from(length) != Ok(self.rows) {
            return Err("a column has another length than its record batch".into());
        }
        let validity = if nulls == 0 { None } else { Some(self.buffer(first)?) };
        let texts = match column.kept {
            Kept::Text { .. } => vec![self.buffer(first + 2)?],
            Kept::Views => {
                let &[count] = self.views.get(column.views).ok_or(BROKEN)?;
                let count = usize::try_from(count).map_err(|_| BROKEN)?;
                if count > self.buffers.len() {
                    return Err(BROKEN.into());
                }
                (0..count).map(|i| self.buffer(first + 2 + i)).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        let dictionary = match column.dictionary {
            None => None,
            Some(id) => Some(&dictionaries.get(&id).ok_or("a dictionary is missing")?[..]),
        };
        let (kept, values) = (column.kept, self.buffer(first + 1)?);
        let cells = CellList { kept, validity, first: values, texts, dictionary };
        match cells.room() >= self.rows {
            true => Ok(cells),
            false => Err("a column is shorter than its record batch".into()),
        }
    }
}

impl CellList<'_> {
    /// How many cells the buffers have room for.
    fn room(&self) -> usize {
        let cells = match self.kept {
            Kept::Integers { bytes, .. } => self.first.len() / bytes,
            Kept::F32 => self.first.len() / 4,
            Kept::F64 => self.first.len() / 8,
            Kept::Text { offset_bytes } => (self.first.len() / offset_bytes).saturating_sub(1),
            Kept::Views => self.first.len() / 16,
        };
        match &self.validity {
            Some(valid) => cells.min(valid.len().saturating_mul(8)),
            None => cells,
        }
    }

    /// The little-endian integer that is number `i` of its size.
    fn integer(&self, i: usize, size: usize, signed: bool) -> i128 {
        let bytes = &self.first[i * size..(i + 1) * size];
        let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        let unused = 64 - 8 * size as u32;
        match signed {
            true => i128::from((value << unused) as i64 >> unused),
            false => i128::from(value),
        }
    }

    /// The cell of a row.
    pub(super) fn get(&self, row: usize) -> Result<Cell<'_>> {
        if self.validity.as_ref().is_some_and(|valid| valid[row / 8] >> (row % 8) & 1 == 0) {
            return Ok(Cell::Null);
        }
        match self.kept {
            Kept::Integers { bytes, signed } => {
                let value = self.integer(row, bytes, signed);
                let Some(values) = self.dictionary else { return Ok(Cell::Integer(value)) };
                let text = usize::try_from(value).ok().and_then(|value| values.get(value));
                text.map(|text| Cell::Text(text)).ok_or("is not in its dictionary".into())
            }
            Kept::F32 => Ok(Cell::Float(f32::from_bits(self.integer(row, 4, false) as u32).into())),
            Kept::F64 => Ok(Cell::Float(f64::from_bits(self.integer(row, 8, false) as u64))),
            Kept::Text { offset_bytes } => {
                let end = |i| usize::try_from(self.integer(i, offset_bytes, true)).ok();
                let range = end(row).zip(end(row + 1));
                let text = range.and_then(|(start, end)| self.texts[0].get(start..end));
                text.map(Cell::Text).ok_or("lies outside of its buffer".into())
            }
            Kept::Views => {
                self.view(row).map(Cell::Text).ok_or("lies outside of its buffer".into())
            }
        }
    }

    fn view(&self, row: usize) -> Option<&[u8]> {
        let part = |i: usize| usize::try_from(self.integer(4 * row + i, 4, true)).ok();
        match part(0)? {
            len @ 0..=12 => self.first.get(16 * row + 4..16 * row + 4 + len),
            len => {
                let start = part(3)?;
                self.texts.get(part(2)?)?.get(start..start.checked_add(len)?)
            }
        }
    }
}
