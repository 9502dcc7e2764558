//! Pages of a column, checked before and after the library unpacks them.
//!
//! A page header says how large the page becomes, a dictionary how many values it has, a list of
//! deltas how many follow. The library reserves memory by these numbers; here each is first held
//! against the bytes that are there.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, SerializedPageReader};

use super::header::Header;
use super::schema::Cells;
use super::table::{FileBytes, byte_range};
use super::thrift::{Compact, malformed};

/// The pages of one column of one row group.
pub(super) struct CheckedPages {
    bytes: Arc<FileBytes>,
    pages: SerializedPageReader<FileBytes>,
    /// Where the next header is, and how many bytes of the column are left there.
    at: u64,
    left: u64,
    compression: Compression,
    /// Fewest bytes a value takes in a dictionary.
    value_bytes: usize,
    nullable: bool,
    rows_left: u64,
}

impl CheckedPages {
    /// `rows` is what the row group promises.
    pub(super) fn new(
        bytes: &FileBytes,
        chunk: &ColumnChunkMetaData,
        cells: Cells,
        rows: u64,
    ) -> Result<Self> {
        let (at, left) = byte_range(chunk).ok_or_else(|| malformed("a position is negative"))?;
        let bytes = Arc::new(bytes.clone());
        let value_bytes = match cells {
            Cells::I64 | Cells::U64 | Cells::F64 => 8,
            // Text has its length in front.
            Cells::I32 | Cells::U32 | Cells::F32 | Cells::Text => 4,
        };
        Ok(CheckedPages {
            pages: SerializedPageReader::new(bytes.clone(), chunk, rows as usize, None)?,
            bytes,
            at,
            left,
            compression: chunk.compression(),
            value_bytes,
            nullable: chunk.column_descr().max_def_level() > 0,
            rows_left: rows,
        })
    }

    /// Looks at the header of the page that the library reads next.
    fn check_next_header(&mut self) -> Result<()> {
        while self.left > 0 {
            let header = Header::read(self.bytes.get_read(self.at)?.take(self.left))?;
            let packed = u64::try_from(header.packed).unwrap_or(u64::MAX);
            let end = header.bytes.saturating_add(packed);
            if end > self.left {
                return Err(malformed("a page is longer than its column"));
            }
            let limit = (packed + 64).saturating_mul(largest_ratio(self.compression));
            if u64::try_from(header.unpacked).is_ok_and(|unpacked| unpacked > limit) {
                return Err(ParquetError::General(format!(
                    "a page of {packed} bytes claims to unpack to {}",
                    header.unpacked
                )));
            }
            self.at += end;
            self.left -= end;
            // The library passes over index pages by itself.
            if header.kind != Header::INDEX {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Looks at a page that the library has unpacked; an empty one is passed over.
    fn check_page(&mut self, page: &Page) -> Result<bool> {
        let (buf, values_at) = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                if *num_values as usize > buf.len() / self.value_bytes {
                    let problem =
                        format!("a dictionary of {} bytes claims {num_values} values", buf.len());
                    return Err(ParquetError::General(problem));
                }
                return Ok(true);
            }
            Page::DataPage { buf, num_values, def_level_encoding, .. } if self.nullable => {
                (buf, levels_end(buf, *num_values, *def_level_encoding)?)
            }
            Page::DataPage { buf, .. } => (buf, 0),
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                (buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize)
            }
        };
        let count = u64::from(page.num_values());
        self.rows_left = self.rows_left.checked_sub(count).ok_or_else(|| {
            ParquetError::General("there are more values than the row group has rows".into())
        })?;
        let values = buf.get(values_at..).ok_or_else(|| malformed("levels fill the page"))?;
        // Lengths of names; or of what each shares with the name before, then of the rest.
        let lengths = match page.encoding() {
            _ if count == 0 || values.is_empty() => None,
            Encoding::DELTA_LENGTH_BYTE_ARRAY => Some(values),
            Encoding::DELTA_BYTE_ARRAY => Some(after_deltas(values, count)?),
            _ => None,
        };
        if let Some(lengths) = lengths {
            deltas(lengths, count)?;
        }
        Ok(count > 0)
    }
}

/// How much smaller a compression can make its input: the end of what its format can express.
fn largest_ratio(compression: Compression) -> u64 {
    match compression {
        // Never reserved: the page is used as it lies in the file.
        Compression::UNCOMPRESSED => u64::MAX,
        // 64 bytes repeated by an element of 3.
        Compression::SNAPPY => 22,
        // 258 bytes repeated by two codes of one bit each.
        Compression::GZIP(_) => 1032,
        // A length grows by 255 with each byte.
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        // A block of 128 KiB of one byte takes 4.
        _ => 32 << 10,
    }
}

/// Where the values start in a page of the first version of a column that may hold nulls.
fn levels_end(buf: &Bytes, values: u32, encoding: Encoding) -> Result<usize> {
    if encoding != Encoding::RLE {
        return Ok(values.div_ceil(8) as usize);
    }
    let len = buf.first_chunk().ok_or_else(|| malformed("levels fill the page"))?;
    Ok(4 + u32::from_le_bytes(*len) as usize)
}

/// The number of values in a list of deltas, and its reader behind the header; at most `most`
/// values are believed.
fn deltas(data: &[u8], most: u64) -> Result<(Deltas, Compact<&[u8]>)> {
    let mut reader = Compact::new(data);
    let (block, parts, count) = (reader.varint()?, reader.varint()?, reader.varint()?);
    reader.varint()?; // The first value.
    if count > most || block == 0 || parts == 0 {
        let problem =
            format!("a list of {most} deltas at most claims {count} in blocks of {block}");
        return Err(ParquetError::General(problem));
    }
    Ok((Deltas { parts, values_per_part: block / parts, count }, reader))
}

/// The shape of a list of deltas.
struct Deltas {
    /// Parts of a block, each with its own bit width.
    parts: u64,
    values_per_part: u64,
    count: u64,
}

/// What follows a list of deltas.
fn after_deltas(data: &[u8], most: u64) -> Result<&[u8]> {
    let (Deltas { parts, values_per_part, count }, mut reader) = deltas(data, most)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        reader.varint()?; // The least delta of the block.
        let mut bytes = 0u64;
        for _ in 0..parts {
            let width = u64::from(reader.byte()?);
            if left > 0 {
                bytes = bytes.saturating_add(values_per_part.saturating_mul(width) / 8);
            }
            left = left.saturating_sub(values_per_part);
        }
        reader.pass(bytes)?;
    }
    Ok(&data[reader.taken() as usize..])
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            self.check_next_header()?;
            match self.pages.get_next_page()? {
                None => return Ok(None),
                Some(page) if self.check_page(&page)? => return Ok(Some(page)),
                Some(_empty) => {}
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(in_turn())
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(in_turn())
    }
}

/// Skipped pages would have to be checked, too; no reader skips any.
fn in_turn() -> ParquetError {
    ParquetError::NYI("pages are read in turn".into())
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::{CompressionCodec, Type as Physical};
    use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};

    use super::super::thrift::kind;
    use super::*;
    use crate::source::Source;

    /// A page header: kind, unpacked and packed size, then the inner header at `field`.
    fn header(kind: u8, unpacked: i32, packed: i32, field: u8, inner: &[i32]) -> Vec<u8> {
        let mut bytes = vec![0x15, kind << 1];
        for size in [unpacked, packed] {
            bytes.push(0x15);
            put_i32(&mut bytes, size);
        }
        bytes.push((field - 3) << 4 | kind::STRUCT);
        for &value in inner {
            bytes.push(0x15);
            put_i32(&mut bytes, value);
        }
        bytes.extend([0, 0]);
        bytes
    }

    fn put_i32(bytes: &mut Vec<u8>, value: i32) {
        let mut rest = (value << 1 ^ value >> 31) as u32;
        while rest > 0x7f {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }

    fn first_page(codec: CompressionCodec, bytes: Vec<u8>) -> Result<Option<Page>> {
        let len = bytes.len() as i64;
        let column = Type::primitive_type_builder("name", Physical::BYTE_ARRAY)
            .with_repetition(parquet::basic::Repetition::REQUIRED)
            .build()?;
        let path = ColumnPath::from("name");
        let column = Arc::new(ColumnDescriptor::new(Arc::new(column), 0, 0, path));
        let chunk = ColumnChunkMetaData::builder(column)
            .set_compression_codec(codec)
            .set_total_compressed_size(len)
            .set_data_page_offset(0)
            .build()?;
        let source = Source::memory("page", bytes).unwrap();
        let bytes = FileBytes::new(source.bytes().unwrap().into_owned());
        CheckedPages::new(&bytes, &chunk, Cells::Text, 8)?.get_next_page()
    }

    fn complaint(codec: CompressionCodec, bytes: Vec<u8>) -> String {
        first_page(codec, bytes).expect_err("refused").to_string()
    }

    #[test]
    fn sizes_beyond_what_a_compression_can_do_are_refused() {
        for codec in [CompressionCodec::SNAPPY, CompressionCodec::GZIP, CompressionCodec::ZSTD] {
            let mut page = header(0, i32::MAX, 10, 5, &[1, 0, 3, 3]);
            page.extend([0; 10]);
            assert!(complaint(codec, page).contains("claims to unpack to 2147483647"));
        }
    }

    #[test]
    fn a_hidden_page_behind_an_index_page_is_checked_too() {
        let mut pages = vec![0x15, 1 << 1, 0x15, 0, 0x15, 0, 0];
        pages.extend(header(0, i32::MAX, 10, 5, &[1, 0, 3, 3]));
        pages.extend([0; 10]);
        let text = complaint(CompressionCodec::ZSTD, pages);
        assert!(text.contains("claims to unpack to 2147483647"), "{text}");
    }

    #[test]
    fn a_dictionary_cannot_have_more_values_than_its_bytes_hold() {
        let mut page = header(2, 8, 8, 7, &[3, 0]);
        page.extend([0; 8]);
        let text = complaint(CompressionCodec::UNCOMPRESSED, page);
        assert!(text.contains("a dictionary of 8 bytes claims 3 values"), "{text}");
    }

    #[test]
    fn lists_of_deltas_cannot_be_longer_than_their_page() {
        let plain = CompressionCodec::UNCOMPRESSED;
        // Blocks of 128 values in 4 parts; one value, which is 1.
        let (honest, lying) = ([0x80, 1, 4, 1, 2], [0x80, 1, 4, 0xff, 0xff, 0xff, 0x7f, 2]);
        let page = |encoding: i32, lists: &[&[u8]]| {
            let data = [&lists.concat()[..], b"x"].concat();
            let mut page = header(0, data.len() as i32, data.len() as i32, 5, &[1, encoding, 3, 3]);
            page.extend(data);
            page
        };
        const LENGTHS: i32 = Encoding::DELTA_LENGTH_BYTE_ARRAY as i32;
        const PREFIXES: i32 = Encoding::DELTA_BYTE_ARRAY as i32;
        assert!(first_page(plain, page(LENGTHS, &[&honest])).unwrap().is_some());
        assert!(first_page(plain, page(PREFIXES, &[&honest, &honest])).unwrap().is_some());
        for lists in [&[&lying[..]][..], &[&lying, &honest], &[&honest, &lying]] {
            let encoding = if lists.len() == 1 { LENGTHS } else { PREFIXES };
            let text = complaint(plain, page(encoding, lists));
            assert!(text.contains("claims 268435455"), "{text}");
        }
    }

    #[test]
    fn more_values_than_rows_and_empty_pages() {
        let plain = CompressionCodec::UNCOMPRESSED;
        let text = complaint(plain, header(0, 0, 0, 5, &[9, 0, 3, 3]));
        assert!(text.contains("more values than the row group has rows"), "{text}");
        let empty = header(0, 0, 0, 5, &[0, 0, 3, 3]).repeat(50);
        assert!(first_page(plain, empty).unwrap().is_none());
    }

    #[test]
    fn fields_of_unexpected_types_and_lists_of_bools_are_refused() {
        let plain = CompressionCodec::UNCOMPRESSED;
        // Field 2 as text, and field 9 as two thousand million bools.
        assert!(complaint(plain, vec![0x15, 0, 0x18, 1, 0, 0]).contains("wrong type"));
        let bools = vec![0x15, 0, 0x89, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0];
        assert!(complaint(plain, bools).contains("list of bools"));
    }
}
