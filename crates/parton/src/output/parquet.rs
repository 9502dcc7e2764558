//! Apache Parquet: the ids, then an optional column per column; null is none. Vectors are lists.

use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result as LibraryResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parton_graph::save::Output;
use parton_graph::{OriginalId, Result};

use super::{Cell, ColumnKind, Table, TableFormat};

/// A table of columns.
pub(super) struct Parquet;

/// Rows per row group: what most writers use.
const GROUP_ROWS: usize = 1 << 20;

impl TableFormat for Parquet {
    fn ending(&self) -> &'static str {
        "parquet"
    }

    fn about(&self) -> &'static str {
        "columns with types, packed; out of reach: null"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn write(&self, table: &Table, out: &mut Output) -> Result<()> {
        write_all(table, out).map_err(|error| match error {
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(system) => out.failed(*system),
                Err(inner) => out.failed(std::io::Error::other(inner)),
            },
            other => out.failed(std::io::Error::other(other)),
        })
    }
}

fn write_all(table: &Table, out: &mut Output) -> LibraryResult<()> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("parton ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .build();
    let schema = Arc::new(parse_message_type(&schema(table))?);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let columns = table.columns();
    for first in (0..table.len()).step_by(GROUP_ROWS) {
        let rows = first..table.len().min(first + GROUP_ROWS);
        let mut group = file.next_row_group()?;
        let ids = |row| Cell::Vertex(table.id(row));
        write_column(&mut group, table.id_kind(), rows.clone(), false, ids)?;
        for (column, (_, kind)) in columns.iter().enumerate() {
            let cell = |row| table.cell(column, row);
            match kind {
                ColumnKind::Vectors(_) => write_vectors(&mut group, rows.clone(), cell)?,
                _ => write_column(&mut group, *kind, rows.clone(), true, cell)?,
            }
        }
        group.close()?;
    }
    file.close().map(drop)
}

fn schema(table: &Table) -> String {
    let column = |name: &str, kind: ColumnKind| match kind {
        ColumnKind::U32 => format!("int32 {name} (INTEGER(32,false));"),
        ColumnKind::U64 => format!("int64 {name} (INTEGER(64,false));"),
        ColumnKind::F64 => format!("double {name};"),
        ColumnKind::Vectors(_) => {
            format!("group {name} (LIST) {{ repeated group list {{ required float element; }} }}")
        }
        // Signed, as most programs have them, where all fit.
        ColumnKind::Integers if ids_fit(table) => format!("int64 {name};"),
        ColumnKind::Integers => format!("int64 {name} (INTEGER(64,false));"),
        ColumnKind::Names if names_are_text(table) => format!("byte_array {name} (STRING);"),
        ColumnKind::Names => format!("byte_array {name};"),
    };
    let columns: String = table
        .columns()
        .iter()
        .map(|(name, kind)| match kind {
            // There is one for every vertex.
            ColumnKind::Vectors(_) => format!(" required {}", column(name, *kind)),
            _ => format!(" optional {}", column(name, *kind)),
        })
        .collect();
    format!("message answer {{ required {}{columns} }}", column("id", table.id_kind()))
}

/// Whether all ids are signed integers, too. Ids ascend.
fn ids_fit(table: &Table) -> bool {
    let last = table.len().checked_sub(1).map(|last| table.id(last));
    !matches!(last, Some(OriginalId::Integer(id)) if id > i64::MAX as u64)
}

fn names_are_text(table: &Table) -> bool {
    (0..table.len()).all(|row| match table.id(row) {
        OriginalId::Name(name) => std::str::from_utf8(name).is_ok(),
        OriginalId::Integer(_) => true,
    })
}

type RowGroup<'g, 'o> = SerializedRowGroupWriter<'g, &'o mut Output>;

fn write_column<'t>(
    group: &mut RowGroup<'_, '_>,
    kind: ColumnKind,
    rows: Range<usize>,
    optional: bool,
    cell: impl Fn(usize) -> Cell<'t>,
) -> LibraryResult<()> {
    let cells = rows.map(cell);
    let integer = |cell: Cell<'_>| match cell {
        Cell::Integer(value) | Cell::Vertex(OriginalId::Integer(value)) => Some(value),
        _ => None,
    };
    match kind {
        ColumnKind::U32 => {
            let values = cells.map(|cell| integer(cell).map(|value| value as i32));
            put::<Int32Type>(group, values, optional)
        }
        ColumnKind::U64 | ColumnKind::Integers => {
            let values = cells.map(|cell| integer(cell).map(|value| value as i64));
            put::<Int64Type>(group, values, optional)
        }
        ColumnKind::F64 => {
            let values = cells.map(|cell| match cell {
                Cell::Real(value) => Some(value),
                _ => None,
            });
            put::<DoubleType>(group, values, optional)
        }
        ColumnKind::Names => {
            let values = cells.map(|cell| match cell {
                Cell::Vertex(OriginalId::Name(name)) => Some(ByteArray::from(name.to_vec())),
                _ => None,
            });
            put::<ByteArrayType>(group, values, optional)
        }
        ColumnKind::Vectors(_) => unreachable!("vectors are written as lists"),
    }
}

/// A list for every row, none of them empty.
fn write_vectors<'t>(
    group: &mut RowGroup<'_, '_>,
    rows: Range<usize>,
    cell: impl Fn(usize) -> Cell<'t>,
) -> LibraryResult<()> {
    let (mut elements, mut repetitions) = (Vec::new(), Vec::new());
    for row in rows {
        let Cell::Vector(vector) = cell(row) else { continue };
        elements.extend_from_slice(vector);
        // A list begins with 0 and goes on with 1.
        repetitions.extend((0..vector.len()).map(|place| i16::from(place > 0)));
    }
    let there = vec![1; elements.len()];
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("a column too many".into()))?;
    column.typed::<FloatType>().write_batch(&elements, Some(&there), Some(&repetitions))?;
    column.close()
}

fn put<T: DataType>(
    group: &mut RowGroup<'_, '_>,
    values: impl Iterator<Item = Option<T::T>>,
    optional: bool,
) -> LibraryResult<()> {
    let mut there = Vec::new();
    let levels: Vec<i16> = values
        .map(|value| {
            let level = i16::from(value.is_some());
            there.extend(value);
            level
        })
        .collect();
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("a column too many".into()))?;
    column.typed::<T>().write_batch(&there, optional.then_some(&levels[..]), None)?;
    column.close()
}
