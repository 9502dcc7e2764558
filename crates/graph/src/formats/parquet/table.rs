//! One Parquet file before its rows are read: its footer, checked against its size.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy, RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};

use super::columns::EdgeColumns;
use super::contain::contained;
use super::schema::Schema;
use crate::error::{Place, printable};
use crate::formats::ReadOptions;
use crate::source::{ByteSource, Part};
use crate::{Error, Result};

pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// Length of the footer, then the magic.
const TAIL_BYTES: u64 = 8;
/// More rows than this per byte of a file are a lie: runs, deltas and zstd stacked up, real
/// edges still need far more.
const MAX_ROWS_PER_BYTE: u64 = 1 << 16;

/// A file whose footer has been read.
pub(super) struct Table {
    part: Part,
    /// Bytes that cannot be had twice, or not cheaply. Files are opened again when needed: a
    /// folder may hold more parts than a process may have files open.
    kept: Option<FileBytes>,
    metadata: ParquetMetaData,
    /// The columns that hold edges.
    pub(super) columns: EdgeColumns,
}

impl Table {
    /// Reads and checks the footer, and chooses the columns.
    pub(super) fn open(part: &Part, options: &ReadOptions<'_>) -> Result<Self> {
        let bytes = part.bytes()?.into_owned();
        let footer = footer(&bytes)?;
        let failed = |e| library_error(part.name(), "the footer", e);
        let schema = Schema::read(&footer).map_err(failed)?;
        let metadata = contained(|| {
            let skip = ParquetStatisticsPolicy::SkipAll;
            let options = ParquetMetaDataOptions::new()
                .with_schema(schema.leaves.clone())
                .with_encoding_stats_policy(skip.clone())
                .with_column_stats_policy(skip.clone())
                .with_size_stats_policy(skip);
            ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&options))
        })
        .map_err(failed)?;
        let columns = EdgeColumns::choose(part.name(), &schema.fields, options)?;
        let table = Table { part: part.clone(), kept: None, metadata, columns };
        table.check(bytes.len())?;
        let kept = bytes.is_in_memory().then(|| FileBytes::new(bytes));
        Ok(Table { kept, ..table })
    }

    /// What to call this file in messages.
    pub(super) fn name(&self) -> &str {
        self.part.name()
    }

    pub(super) fn row_groups(&self) -> &[RowGroupMetaData] {
        self.metadata.row_groups()
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Result<FileBytes> {
        match &self.kept {
            Some(bytes) => Ok(bytes.clone()),
            None => Ok(FileBytes::new(self.part.bytes()?.into_owned())),
        }
    }

    /// Whether counts and positions are possible in a file of `len` bytes.
    fn check(&self, len: u64) -> Result<()> {
        let bad = |problem: String| Err(Error::data(self.name(), Place::File, problem));
        let mut rows = 0u64;
        for (g, group) in self.row_groups().iter().enumerate() {
            let Ok(here) = u64::try_from(group.num_rows()) else {
                return bad(format!("row group {g} has {} rows", group.num_rows()));
            };
            rows = rows.saturating_add(here);
            for column in self.columns.all() {
                let name = &column.name;
                let chunk = group.column(column.leaf);
                if chunk.file_path().is_some() {
                    return bad(format!("column '{name}' is kept in another file"));
                }
                if let Compression::BROTLI(_) | Compression::LZO = chunk.compression() {
                    let packed = chunk.compression();
                    return bad(format!("column '{name}' is packed with {packed}, unknown here"));
                }
                let end = byte_range(chunk).and_then(|(start, bytes)| start.checked_add(bytes));
                if end.is_none_or(|end| end > len) {
                    return bad(format!("column '{name}' of row group {g} lies outside the file"));
                }
            }
        }
        if rows > len.saturating_mul(MAX_ROWS_PER_BYTE) {
            return bad(format!("{rows} rows cannot be in {len} bytes"));
        }
        Ok(())
    }
}

/// Where the pages of a column start, and how many bytes they take; the library panics where
/// these are negative.
pub(super) fn byte_range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(chunk.compressed_size()).ok()?))
}

fn footer(bytes: &ByteSource<'_>) -> Result<Vec<u8>> {
    let len = bytes.len();
    if len < MAGIC.len() as u64 + TAIL_BYTES {
        return Err(bytes.error(0, format!("{len} bytes are too few for a Parquet file")));
    }
    let (mut magic, mut tail) = ([0; 4], [0; TAIL_BYTES as usize]);
    bytes.read_at(0, &mut magic)?;
    bytes.read_at(len - TAIL_BYTES, &mut tail)?;
    let (size, end) = tail.split_at(4);
    for (at, found) in [(0, &magic[..]), (len - 4, end)] {
        if found == b"PARE" {
            return Err(bytes.error(at, "the file is encrypted, which is not supported"));
        }
        if found != MAGIC {
            let problem = format!("expected PAR1, found {:?}: not Parquet", printable(found));
            return Err(bytes.error(at, problem));
        }
    }
    let size = size.iter().rev().fold(0, |size, &byte| size << 8 | u64::from(byte));
    let room = len - TAIL_BYTES - MAGIC.len() as u64;
    if size > room {
        let problem = format!("the footer claims {size} bytes, but there are {room}");
        return Err(bytes.error(len - TAIL_BYTES, problem));
    }
    bytes.read_array(len - TAIL_BYTES - size, size)
}

/// What the library says of a place in a file, in the words of this crate.
pub(super) fn library_error(file: &str, place: &str, error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(ours) => return *ours,
            Err(inner) => ParquetError::External(inner),
        },
        other => other,
    };
    let text = match &error {
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => {
            text.clone()
        }
        other => other.to_string(),
    };
    Error::data(file, Place::File, format!("{place}: {}", printable(text.as_bytes())))
}

/// The bytes of one file, as the library wants them.
#[derive(Clone)]
pub(super) struct FileBytes(Arc<ByteSource<'static>>);

impl FileBytes {
    pub(super) fn new(bytes: ByteSource<'static>) -> Self {
        FileBytes(Arc::new(bytes))
    }
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for FileBytes {
    type T = BufReader<Cursor>;

    /// Used for the headers of pages, a few dozen bytes each.
    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        const HEADER_BYTES: usize = 512;
        Ok(BufReader::with_capacity(HEADER_BYTES, Cursor { bytes: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if length as u64 > self.len().saturating_sub(start) {
            return Err(ParquetError::EOF(format!("{length} bytes reach beyond the file")));
        }
        // On this thread alone: a parallel read could take up another row group meanwhile.
        let mut bytes = vec![0; length];
        let read = self.0.read_at(start, &mut bytes);
        read.map(|()| bytes.into()).map_err(|e| ParquetError::External(Box::new(e)))
    }
}

/// Reads on from a position.
pub(super) struct Cursor {
    bytes: FileBytes,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.bytes.len().saturating_sub(self.at);
        let count = left.min(buffer.len() as u64) as usize;
        self.bytes.0.read_at(self.at, &mut buffer[..count]).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }
}
