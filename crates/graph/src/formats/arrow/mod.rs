//! Apache Arrow: the IPC file format, which is Feather version 2, and the stream format.
//!
//! Both are a sequence of messages, which is read from its beginning, batch by batch. Each file of a
//! folder is read by one host, which deals the edges out. `flat` reads metadata, `schema` the columns,
//! `batch` their cells. Columns are chosen as in Parquet.

mod batch;
mod flat;
mod schema;

use std::io::{self, BufReader, Read};
use std::ops::Range;

use super::parquet::columns::EdgeColumns;
use super::{Format, Opened, ReadOptions};
use crate::edge_file::{
    Cut, EDGES_PER_PIECE, EdgeFile, FileShape, Piece, PieceReader, Pieces, Slice, TakePiece,
    WeightRule, order,
};
use crate::error::printable;
use crate::formats::parquet::schema::Cells;
use crate::id_list::IdList;
use crate::id_map::OriginalId;
use crate::progress::{Progress, Unit};
use crate::source::{Part, Source};
use crate::text::number::parse_id;
use crate::{Error, Graph, Place, Result};
use batch::{Batch, Cell, CellList, Dictionaries};
use flat::{Flat, Table};
use schema::{ArrowColumn, Schema};

/// Arrow IPC files and streams, Feather version 2.
pub struct Arrow;

const MAGIC: &[u8] = b"ARROW1";
/// Before every message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Metadata of a message is not larger.
const MAX_METADATA_BYTES: u32 = 256 << 20;

impl Format for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["arrow", "feather", "ipc", "arrows"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let head = source.head();
        // A stream begins with the length of a schema, a multiple of 8.
        let is_stream = head.starts_with(&CONTINUATION)
            && matches!(head.get(4..8), Some([low, _, _, 0]) if low % 8 == 0);
        head.starts_with(MAGIC) || is_stream
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let source = source.on_disk(false)?;
        let tables = source.parts().iter().map(|part| ArrowTable::open(part, options));
        let tables = tables.collect::<Result<Vec<_>>>()?;
        EdgeColumns::check_agreement(
            tables.iter().map(|table| (table.part.name(), &table.columns)),
        )?;
        let cut = if source.is_plain() { Cut::Uneven } else { Cut::Packed };
        Ok(Opened::Edges(Box::new(ArrowFile { name: source.name().to_owned(), tables, cut })))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

/// One message: its metadata and its bytes.
struct Message {
    metadata: Vec<u8>,
    body: Vec<u8>,
}

/// What a message holds.
enum Content<'a> {
    Schema(Table<'a>),
    Dictionary(Table<'a>),
    Batch(Table<'a>),
    Other,
}

impl Message {
    fn content(&self) -> Result<Content<'_>, &'static str> {
        let message = Flat::new(&self.metadata).root()?;
        let header = message.table(2)?.ok_or(flat::BROKEN)?;
        Ok(match message.u8(1)? {
            1 => Content::Schema(header),
            2 => Content::Dictionary(header),
            3 => Content::Batch(header),
            _ => Content::Other,
        })
    }

    fn schema(&self) -> Result<Schema, &'static str> {
        match self.content()? {
            Content::Schema(schema) => Schema::read(schema),
            _ => Err("expected a schema first"),
        }
    }
}

/// Reads message by message.
struct Messages {
    part: Part,
    reader: BufReader<Box<dyn Read + Send>>,
    /// Whether it is a file, whose messages have an end, and not a stream, which may just stop.
    is_file: bool,
    /// Bytes gone by.
    at: u64,
    has_ended: bool,
}

impl Messages {
    fn new(part: &Part) -> Result<Self> {
        let reader = part.buffered(1 << 18)?;
        let mut messages =
            Messages { part: part.clone(), reader, is_file: false, at: 0, has_ended: false };
        use io::BufRead;
        let start = messages.reader.fill_buf().map_err(|e| part.read_error(e))?;
        messages.is_file = start.starts_with(MAGIC);
        if messages.is_file {
            messages.take(8)?;
        }
        Ok(messages)
    }

    fn error(&self, problem: impl Into<String>) -> Error {
        Error::data(self.part.name(), Place::Byte(self.at), problem)
    }

    /// The next bytes; running out of them is an error. Memory grows as they come.
    fn take(&mut self, count: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(count).read_to_end(&mut bytes);
        read.map_err(|e| self.part.read_error(e))?;
        self.at += bytes.len() as u64;
        match bytes.len() as u64 == count {
            true => Ok(bytes),
            false => Err(self.error("the file ends inside a message")),
        }
    }

    fn next(&mut self) -> Result<Option<Message>> {
        if self.has_ended {
            return Ok(None);
        }
        let mut start = Vec::new();
        let read = (&mut self.reader).take(8).read_to_end(&mut start);
        read.map_err(|e| self.part.read_error(e))?;
        self.at += start.len() as u64;
        if start.is_empty() && !self.is_file {
            self.has_ended = true;
            return Ok(None);
        }
        let Ok([mark, size]) =
            <[u8; 8]>::try_from(start).map(|b| [&b[..4], &b[4..]].map(<[u8]>::to_vec))
        else {
            return Err(self.error("the file ends before its messages do"));
        };
        if mark != CONTINUATION {
            return Err(self.error("expected a message; files of Arrow before 0.15 are not read"));
        }
        let size = size.iter().rev().fold(0u32, |size, &byte| size << 8 | u32::from(byte));
        if size == 0 {
            self.has_ended = true;
            return Ok(None);
        }
        if size > MAX_METADATA_BYTES {
            return Err(self.error(format!("{size} bytes of metadata are too many")));
        }
        let metadata = self.take(size.into())?;
        let body = Flat::new(&metadata).root().and_then(|message| message.i64(3));
        let body = body.ok().and_then(|body| u64::try_from(body).ok());
        let body = body.ok_or_else(|| self.error(flat::BROKEN))?;
        let body = self.take(body)?;
        Ok(Some(Message { metadata, body }))
    }
}

/// The files of an input, which hold the same kind of edges.
struct ArrowFile {
    name: String,
    tables: Vec<ArrowTable>,
    cut: Cut,
}

/// A file whose columns are known, open for reading its rows.
struct ArrowTable {
    part: Part,
    schema: Schema,
    columns: EdgeColumns,
}

impl ArrowTable {
    fn open(part: &Part, options: &ReadOptions<'_>) -> Result<Self> {
        let mut messages = Messages::new(part)?;
        let first = messages.next()?.ok_or_else(|| messages.error("expected a schema"))?;
        let schema = first.schema().map_err(|problem| messages.error(problem))?;
        let columns = EdgeColumns::choose(part.name(), &schema.fields, options)?;
        Ok(ArrowTable { part: part.clone(), schema, columns })
    }

    /// Starts to read its rows; it is number `index` of its input.
    fn pieces<'a>(&'a self, index: usize, progress: &'a dyn Progress) -> Result<BatchPieces<'a>> {
        let mut messages = Messages::new(&self.part)?;
        // The schema, which is known.
        messages.next()?;
        Ok(BatchPieces {
            table: self,
            index,
            messages,
            dictionaries: Dictionaries::new(),
            rows: 0,
            count: 0,
            progress,
        })
    }
}

impl EdgeFile for ArrowFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> FileShape {
        let cells =
            || self.tables.iter().filter_map(|t| t.columns.weight.as_ref()).map(|w| w.cells);
        let weights = match cells().next() {
            None => WeightRule::None,
            _ if cells().all(Cells::is_integer) => WeightRule::Fitting,
            _ if cells().all(|cells| cells == Cells::F32) => WeightRule::F32,
            _ => WeightRule::F64,
        };
        FileShape { names: self.tables[0].columns.names, weights, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        self.cut
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        _: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        progress.stage("reading", Unit::Edges, None);
        let share = slice.share(self.tables.len() as u64);
        let indices = share.start as usize..share.end as usize;
        Ok(Box::new(TablePieces { file: self, indices, current: None, progress }))
    }

    /// "Arrow: source = src, destination = dst, weight = amount; directed, integer ids"
    fn understood(&self) -> Option<String> {
        let EdgeColumns { source, destination, weight, names } = &self.tables[0].columns;
        let weight = weight.as_ref().map_or(String::new(), |w| format!(", weight = {}", w.name));
        let ids = if *names { "names as ids" } else { "integer ids" };
        let (source, destination) = (&source.name, &destination.name);
        let parts = match self.tables.len() {
            1 => String::new(),
            parts => format!(" in {parts} parts"),
        };
        Some(format!(
            "Arrow{parts}: source = {source}, destination = {destination}{weight}; directed, {ids}"
        ))
    }

    fn read_as(&self, _: &Graph) -> String {
        self.understood().unwrap_or_default()
    }
}

/// Reads file by file, of which one is open at a time.
struct TablePieces<'a> {
    file: &'a ArrowFile,
    /// Files to be read after the current one.
    indices: Range<usize>,
    current: Option<BatchPieces<'a>>,
    progress: &'a dyn Progress,
}

impl PieceReader for TablePieces<'_> {
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        if self.current.is_none() {
            let Some(index) = self.indices.next() else { return Ok(false) };
            self.current = Some(self.file.tables[index].pieces(index, self.progress)?);
        }
        if let Some(current) = &mut self.current
            && !current.read(limit, take)?
        {
            self.current = None;
        }
        Ok(self.current.is_some() || !self.indices.is_empty())
    }
}

/// Reads batch by batch.
struct BatchPieces<'a> {
    table: &'a ArrowTable,
    /// The number of the file in its input.
    index: usize,
    messages: Messages,
    dictionaries: Dictionaries,
    /// Rows and pieces gone by.
    rows: u64,
    count: usize,
    progress: &'a dyn Progress,
}

impl BatchPieces<'_> {
    /// As [`PieceReader::read`].
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        let first = self.count;
        while self.count - first < limit {
            let Some(message) = self.messages.next()? else { return Ok(false) };
            let content = message.content().map_err(|problem| self.messages.error(problem))?;
            match content {
                Content::Schema(_) => return Err(self.messages.error("a second schema")),
                Content::Dictionary(dictionary) => {
                    let added = self.add_dictionary(dictionary, &message.body);
                    added.map_err(|problem| self.messages.error(problem))?;
                }
                Content::Batch(batch) => self.add_batch(batch, &message.body, take)?,
                Content::Other => {}
            }
        }
        Ok(true)
    }

    fn add_dictionary(&mut self, dictionary: Table<'_>, body: &[u8]) -> Result<(), String> {
        let (id, data) = (dictionary.i64(0)?, dictionary.table(1)?.ok_or(flat::BROKEN)?);
        let known = &self.table.schema.dictionaries;
        let Some(&(_, kept)) = known.iter().find(|(known, _)| *known == id) else { return Ok(()) };
        let column = ArrowColumn { node: 0, buffer: 0, views: 0, kept, dictionary: None };
        let batch = Batch::read(data, body)?;
        let none = Dictionaries::new();
        let cells = batch.cells(&column, &none)?;
        let mut values = Vec::new();
        for row in 0..batch.rows {
            match cells.get(row)? {
                Cell::Text(text) => values.push(text.into()),
                _ => return Err("a dictionary of something else than text".into()),
            }
        }
        let is_delta = dictionary.u8(2)? != 0;
        let all = self.dictionaries.entry(id).or_default();
        if !is_delta {
            all.clear();
        }
        all.append(&mut values);
        Ok(())
    }

    fn add_batch(&mut self, batch: Table<'_>, body: &[u8], take: &TakePiece<'_>) -> Result<()> {
        let ArrowTable { schema, columns, .. } = self.table;
        let failed = |problem: String| self.messages.error(problem);
        let batch = Batch::read(batch, body).map_err(failed)?;
        let cells = |leaf: usize| batch.cells(&schema.columns[leaf], &self.dictionaries);
        let sources = cells(columns.source.leaf).map_err(failed)?;
        let destinations = cells(columns.destination.leaf).map_err(failed)?;
        let weights = columns.weight.as_ref().map(|weight| cells(weight.leaf)).transpose();
        let weights = weights.map_err(failed)?;
        for first in (0..batch.rows).step_by(EDGES_PER_PIECE) {
            let mut piece = Piece::new(order(self.index, self.count), columns.names);
            for row in first..batch.rows.min(first + EDGES_PER_PIECE) {
                let bad = |column: &str, problem: String| {
                    let place = Place::Row(self.rows + row as u64 + 1);
                    Error::data(
                        self.table.part.name(),
                        place,
                        format!("column '{column}' {problem}"),
                    )
                };
                let ends = [
                    (&columns.source, &sources, &mut piece.sources),
                    (&columns.destination, &destinations, &mut piece.destinations),
                ];
                for (column, cells, ids) in ends {
                    push_id(cells, row, ids).map_err(|problem| bad(&column.name, problem))?;
                }
                if let (Some(column), Some(weights)) = (&columns.weight, &weights) {
                    let weight = weight(weights, row);
                    piece.push_weight(weight.map_err(|problem| bad(&column.name, problem))?);
                }
            }
            self.progress.advance(piece.num_edges() as u64);
            take(&mut piece)?;
            self.count += 1;
        }
        self.rows += batch.rows as u64;
        Ok(())
    }
}

fn push_id(cells: &CellList<'_>, row: usize, ids: &mut IdList) -> Result<(), String> {
    let names = matches!(ids, IdList::Names(_));
    match cells.get(row)? {
        Cell::Integer(id) => {
            let id = u64::try_from(id).map_err(|_| format!("is {id}, but ids are not negative"))?;
            match names {
                true => ids.push(OriginalId::Name(id.to_string().as_bytes())),
                false => ids.push(OriginalId::Integer(id)),
            }
        }
        Cell::Text(text) if names => ids.push(OriginalId::Name(text)),
        Cell::Text(text) => {
            let id = parse_id(text);
            let shown = || format!("is '{}', expected an integer from 0", printable(text));
            ids.push(OriginalId::Integer(id.map_err(|_| shown())?));
        }
        Cell::Float(value) => return Err(format!("is {value}, expected an id")),
        Cell::Null => return Err("is null".into()),
    }
    Ok(())
}

/// The weight of a row, and whether it is an integer that fits `u32`.
fn weight(cells: &CellList<'_>, row: usize) -> Result<(f64, bool), String> {
    match cells.get(row)? {
        Cell::Integer(value) if value as f64 as i128 == value => {
            Ok((value as f64, u32::try_from(value).is_ok()))
        }
        Cell::Integer(value) => Err(format!("is {value}, which f64 cannot hold exactly")),
        Cell::Float(value) if value.is_finite() => {
            Ok((value, value >= 0.0 && f64::from(value as u32) == value))
        }
        Cell::Float(value) => Err(format!("is {value}, expected a finite weight")),
        Cell::Text(_) => Err("holds text, expected weights".into()),
        Cell::Null => Err("is null".into()),
    }
}
