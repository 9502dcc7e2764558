//! Cells of one column of one row group, in batches, as ids or weights.

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::columns::Chosen;
use super::contain::contained;
use super::pages::CheckedPages;
use super::schema::Cells;
use super::table::FileBytes;
use crate::error::printable;
use crate::id_list::{IdList, NameList};
use crate::weight::{Weight, WeightKind};

/// Why a column cannot be read on.
pub(super) enum Trouble {
    /// The library says so.
    Library(ParquetError),
    /// A cell, counted from the start of the batch, is not what it should be.
    Cell(usize, String),
    /// A weight does not fit the type of weights.
    Unfit(usize, f64),
}

impl From<ParquetError> for Trouble {
    fn from(error: ParquetError) -> Self {
        Trouble::Library(error)
    }
}

type Result<T> = std::result::Result<T, Trouble>;

/// Values of one column, one batch at a time.
struct Batches<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    /// For a column that may hold nulls: 1 for each value, 0 for each null.
    levels: Vec<i16>,
}

impl<T: DataType> Batches<T> {
    fn open(bytes: &FileBytes, group: &RowGroupMetaData, column: &Chosen) -> Result<Self> {
        let chunk = group.column(column.leaf);
        let rows = group.num_rows() as u64;
        let reader = contained(|| {
            let pages = CheckedPages::new(bytes, chunk, column.cells, rows)?;
            Ok(ColumnReaderImpl::new(chunk.column_descr_ptr(), Box::new(pages)))
        })?;
        Ok(Batches { reader, values: Vec::new(), levels: Vec::new() })
    }

    /// The next `rows` values.
    fn next(&mut self, rows: usize) -> Result<&[T::T]> {
        self.values.clear();
        self.levels.clear();
        let mut done = 0;
        while done < rows {
            let read = self.read(rows - done)?;
            if read == 0 {
                let problem = "the values end before the rows do";
                return Err(ParquetError::General(problem.into()).into());
            }
            done += read;
        }
        if self.values.len() < rows {
            let null = self.levels.iter().position(|&level| level == 0).unwrap_or(0);
            return Err(Trouble::Cell(null, "is null".into()));
        }
        Ok(&self.values)
    }

    /// After the last row: there must be nothing left.
    fn finish(&mut self) -> Result<()> {
        match self.read(1)? {
            0 => Ok(()),
            _ => Err(ParquetError::General("there are more values than rows".into()).into()),
        }
    }

    fn read(&mut self, rows: usize) -> Result<usize> {
        let Batches { reader, values, levels } = self;
        Ok(contained(|| reader.read_records(rows, Some(levels), None, values))?.0)
    }
}

/// A column of any type.
pub(super) struct CellReader {
    cells: Cells,
    batches: AnyBatches,
}

enum AnyBatches {
    Int32(Batches<Int32Type>),
    Int64(Batches<Int64Type>),
    Float(Batches<FloatType>),
    Double(Batches<DoubleType>),
    Text(Batches<ByteArrayType>),
}

impl CellReader {
    pub(super) fn open(
        bytes: &FileBytes,
        group: &RowGroupMetaData,
        column: &Chosen,
    ) -> Result<Self> {
        let batches = match column.cells {
            Cells::I32 | Cells::U32 => AnyBatches::Int32(Batches::open(bytes, group, column)?),
            Cells::I64 | Cells::U64 => AnyBatches::Int64(Batches::open(bytes, group, column)?),
            Cells::F32 => AnyBatches::Float(Batches::open(bytes, group, column)?),
            Cells::F64 => AnyBatches::Double(Batches::open(bytes, group, column)?),
            Cells::Text => AnyBatches::Text(Batches::open(bytes, group, column)?),
        };
        Ok(CellReader { cells: column.cells, batches })
    }

    /// After the last row: there must be nothing left.
    pub(super) fn finish(&mut self) -> Result<()> {
        match &mut self.batches {
            AnyBatches::Int32(batches) => batches.finish(),
            AnyBatches::Int64(batches) => batches.finish(),
            AnyBatches::Float(batches) => batches.finish(),
            AnyBatches::Double(batches) => batches.finish(),
            AnyBatches::Text(batches) => batches.finish(),
        }
    }

    /// The next `rows` cells as ids of its kind, into `out` instead of what it holds.
    pub(super) fn ids(&mut self, rows: usize, out: &mut IdList) -> Result<()> {
        match out {
            IdList::Integers(ids) => self.integers(rows, ids),
            IdList::Names(names) => self.names(rows, names),
        }
    }

    /// The next `rows` cells as integer ids, into `out` instead of what it holds.
    fn integers(&mut self, rows: usize, out: &mut Vec<u64>) -> Result<()> {
        out.clear();
        match (&mut self.batches, self.cells) {
            (AnyBatches::Int32(batches), Cells::U32) => {
                out.extend(batches.next(rows)?.iter().map(|&id| u64::from(id as u32)));
            }
            (AnyBatches::Int64(batches), Cells::U64) => {
                out.extend(batches.next(rows)?.iter().map(|&id| id as u64));
            }
            (AnyBatches::Int32(batches), _) => {
                let ids = batches.next(rows)?;
                check_signs(ids.iter().map(|&id| i64::from(id)))?;
                out.extend(ids.iter().map(|&id| id as u64));
            }
            (AnyBatches::Int64(batches), _) => {
                let ids = batches.next(rows)?;
                check_signs(ids.iter().copied())?;
                out.extend(ids.iter().map(|&id| id as u64));
            }
            (AnyBatches::Text(_), _) => {
                let mut names = NameList::default();
                self.names(rows, &mut names)?;
                for (i, name) in names.iter().enumerate() {
                    let id = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
                    out.push(id.ok_or_else(|| {
                        let found = printable(&name[..name.len().min(60)]);
                        Trouble::Cell(i, format!("is '{found}', expected an integer from 0"))
                    })?);
                }
            }
            (AnyBatches::Float(_) | AnyBatches::Double(_), _) => return Err(not_this()),
        }
        Ok(())
    }

    /// The next `rows` cells as names, into `out` instead of what it holds.
    fn names(&mut self, rows: usize, out: &mut NameList) -> Result<()> {
        /// A decoded name is an object of its own; few exist at a time.
        const NAMES_AT_ONCE: usize = 1 << 10;
        out.clear();
        let AnyBatches::Text(batches) = &mut self.batches else {
            let mut ids = Vec::new();
            self.integers(rows, &mut ids)?;
            ids.iter().for_each(|id| out.push(id.to_string().as_bytes()));
            return Ok(());
        };
        for first in (0..rows).step_by(NAMES_AT_ONCE) {
            let names = batches.next(NAMES_AT_ONCE.min(rows - first));
            let names = names.map_err(|trouble| match trouble {
                Trouble::Cell(i, problem) => Trouble::Cell(first + i, problem),
                other => other,
            })?;
            // A name that a damaged page left unset panics when looked at.
            contained(|| {
                names.iter().for_each(|name| out.push(name.data()));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The next `rows` cells as weights that fit `kind`, into `out` instead of what it holds.
    pub(super) fn weights(
        &mut self,
        rows: usize,
        kind: WeightKind,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        out.clear();
        match (&mut self.batches, self.cells) {
            (AnyBatches::Int32(batches), Cells::U32) => {
                out.extend(batches.next(rows)?.iter().map(|&w| f64::from(w as u32)));
            }
            (AnyBatches::Int32(batches), _) => {
                out.extend(batches.next(rows)?.iter().map(|&w| f64::from(w)));
            }
            (AnyBatches::Int64(batches), Cells::U64) => {
                let weights = batches.next(rows)?;
                check_exact(weights.iter().map(|&w| i128::from(w as u64)))?;
                out.extend(weights.iter().map(|&w| w as u64 as f64));
            }
            (AnyBatches::Int64(batches), _) => {
                let weights = batches.next(rows)?;
                check_exact(weights.iter().map(|&w| i128::from(w)))?;
                out.extend(weights.iter().map(|&w| w as f64));
            }
            (AnyBatches::Float(batches), _) => {
                out.extend(batches.next(rows)?.iter().map(|&w| f64::from(w)));
            }
            (AnyBatches::Double(batches), _) => out.extend_from_slice(batches.next(rows)?),
            (AnyBatches::Text(_), _) => return Err(not_this()),
        }
        let fits = |value: f64| match kind {
            WeightKind::None => true,
            WeightKind::U32 => u32::try_from_f64(value).is_ok(),
            WeightKind::F32 => (value as f32).is_finite(),
            WeightKind::F64 => value.is_finite(),
        };
        match out.iter().position(|&value| !fits(value)) {
            Some(i) => Err(Trouble::Unfit(i, out[i])),
            None => Ok(()),
        }
    }
}

/// Columns are chosen by type before they are opened.
fn not_this() -> Trouble {
    ParquetError::General("the column has the wrong type".into()).into()
}

/// Refuses whole numbers that a double would round.
fn check_exact(mut weights: impl Iterator<Item = i128>) -> Result<()> {
    let is_rounded = |weight: i128| weight as f64 as i128 != weight;
    match weights.by_ref().enumerate().find(|&(_, weight)| is_rounded(weight)) {
        Some((i, weight)) => {
            Err(Trouble::Cell(i, format!("is {weight}, a whole number that a double cannot hold")))
        }
        None => Ok(()),
    }
}

fn check_signs(ids: impl Iterator<Item = i64> + Clone) -> Result<()> {
    // One test for all, which the compiler does many at a time.
    if ids.clone().fold(0, |all, id| all | id) >= 0 {
        return Ok(());
    }
    match ids.enumerate().find(|&(_, id)| id < 0) {
        Some((i, id)) => Err(Trouble::Cell(i, format!("is {id}, but ids are not negative"))),
        None => Ok(()),
    }
}
