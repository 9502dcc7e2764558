//! Row groups of Parquet files → pieces of edges.

use super::cells::{CellReader, Trouble};
use super::columns::{Chosen, EdgeColumns};
use super::schema::Cells;
use super::table::{Table, library_error};
use crate::edge_file::{Piece, WeightRule};
use crate::error::Place;
use crate::formats::ReadOptions;
use crate::parallel;
use crate::source::Source;
use crate::weight::{Weight, WeightKind};
use crate::{Error, Result};

/// Rows per piece: enough to fill the buckets of [`crate::build`].
const BATCH_ROWS: u64 = 1 << 18;

/// The files of an input, which hold the same kind of edges.
pub(super) struct Files {
    pub(super) tables: Vec<Table>,
    pub(super) groups: Vec<Group>,
    /// The type of weights that the user wants.
    asked: Option<WeightKind>,
}

/// One row group.
pub(super) struct Group {
    table: usize,
    index: usize,
    pub(super) rows: u64,
    /// Rows before it in its file.
    before_in_file: u64,
}

impl Files {
    /// Reads the footers of all files.
    pub(super) fn open(source: &Source, options: &ReadOptions<'_>) -> Result<Self> {
        let tables = parallel::map(source.parts(), |part| Table::open(part, options));
        let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
        EdgeColumns::check_agreement(tables.iter().map(|table| (table.name(), &table.columns)))?;
        Ok(Files { groups: groups(&tables), tables, asked: options.weight_kind })
    }

    /// The columns of the first file; those of others hold the same.
    pub(super) fn columns(&self) -> &EdgeColumns {
        &self.tables[0].columns
    }

    /// What becomes of weights, which follows from the types of the columns.
    pub(super) fn weight_rule(&self) -> WeightRule {
        let cells =
            || self.tables.iter().filter_map(|t| t.columns.weight.as_ref()).map(|w| w.cells);
        match cells().next() {
            None => WeightRule::None,
            _ if cells().all(Cells::is_integer) => WeightRule::Integers,
            _ if cells().all(|cells| cells == Cells::F32) => WeightRule::F32,
            _ => WeightRule::F64,
        }
    }

    /// Starts on a row group.
    pub(super) fn reader<'a>(&'a self, group: &'a Group) -> Result<GroupReader<'a>> {
        let table = &self.tables[group.table];
        let bytes = table.bytes()?;
        let metadata = &table.row_groups()[group.index];
        let columns = &table.columns;
        let open = |column: &Chosen| {
            let reader = CellReader::open(&bytes, metadata, column);
            reader.map_err(|trouble| self.error(group, column, 0, trouble))
        };
        Ok(GroupReader {
            files: self,
            group,
            columns,
            sources: open(&columns.source)?,
            destinations: open(&columns.destination)?,
            weights: columns.weight.as_ref().map(open).transpose()?,
            done: 0,
        })
    }

    /// Does two things at once where row groups alone do not keep all threads busy. Elsewhere a
    /// thread that waits for one half would start on another row group, and on the next, each
    /// with its own memory.
    fn both<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        if self.groups.len() < rayon::current_num_threads() {
            rayon::join(a, b)
        } else {
            (a(), b())
        }
    }

    /// The error for trouble `done` rows into a row group.
    fn error(&self, group: &Group, column: &Chosen, done: u64, trouble: Trouble) -> Error {
        let table = &self.tables[group.table];
        let (cell, problem) = match trouble {
            Trouble::Library(error) => {
                let place = format!("row group {}, column '{}'", group.index, column.name);
                return library_error(table.name(), &place, error);
            }
            Trouble::Cell(cell, problem) => (cell, problem),
            Trouble::Unfit(cell, weight) if !weight.is_finite() => {
                (cell, format!("is {weight}, expected a finite weight"))
            }
            Trouble::Unfit(cell, value) => {
                let kind = self.asked.unwrap_or(WeightKind::F64);
                (cell, format!("is {value}, which is no weight of type {}", kind.name()))
            }
        };
        let row = group.before_in_file + done + cell as u64 + 1;
        let problem = format!("column '{}' {problem}", column.name);
        Error::data(table.name(), Place::Row(row), problem)
    }
}

fn groups(tables: &[Table]) -> Vec<Group> {
    let mut groups = Vec::new();
    for (t, table) in tables.iter().enumerate() {
        let mut before_in_file = 0;
        for (index, group) in table.row_groups().iter().enumerate() {
            let rows = group.num_rows() as u64;
            groups.push(Group { table: t, index, rows, before_in_file });
            before_in_file += rows;
        }
    }
    groups
}

/// Reads the rows of a group.
pub(super) struct GroupReader<'a> {
    files: &'a Files,
    group: &'a Group,
    columns: &'a EdgeColumns,
    sources: CellReader,
    destinations: CellReader,
    weights: Option<CellReader>,
    done: u64,
}

impl GroupReader<'_> {
    /// The next rows, into a piece that is empty: how many. After the last, none.
    pub(super) fn next(&mut self, piece: &mut Piece) -> Result<u64> {
        let GroupReader { files, group, columns, sources, destinations, weights, done } = self;
        let failed = |column: &Chosen, trouble| files.error(group, column, *done, trouble);
        let rows = BATCH_ROWS.min(group.rows - *done) as usize;
        if rows == 0 {
            sources.finish().map_err(|t| failed(&columns.source, t))?;
            destinations.finish().map_err(|t| failed(&columns.destination, t))?;
            if let (Some(weights), Some(column)) = (weights, &columns.weight) {
                weights.finish().map_err(|t| failed(column, t))?;
            }
            return Ok(0);
        }
        let Piece { sources: from, destinations: to, weights: carried, .. } = piece;
        let (ids, weighed) = files.both(
            || files.both(|| sources.ids(rows, from), || destinations.ids(rows, to)),
            || match weights {
                Some(weights) => {
                    weights.weights(rows, files.asked.unwrap_or(WeightKind::F64), carried)
                }
                None => Ok(()),
            },
        );
        ids.0.map_err(|t| failed(&columns.source, t))?;
        ids.1.map_err(|t| failed(&columns.destination, t))?;
        if let Some(column) = &columns.weight {
            weighed.map_err(|t| failed(column, t))?;
        }
        piece.is_whole = piece.weights.iter().all(|&w| u32::try_from_f64(w).is_ok());
        *done += rows as u64;
        Ok(rows as u64)
    }
}
