//! Rows of Parquet files → edges: row groups in parallel, each batch of rows one piece.

use rayon::prelude::*;

use super::cells::{CellReader, Trouble};
use super::columns::Chosen;
use super::schema::Cells;
use super::table::{Table, library_error};
use crate::build::Edges;
use crate::error::Place;
use crate::formats::ReadOptions;
use crate::ingest::{Ingest, NameList};
use crate::source::Source;
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Direction, Error, Graph, Ids, Result};

/// Rows per piece: what [`crate::build`] likes.
const PIECE_ROWS: u64 = 1 << 18;

/// Everything that is read.
struct Job<'a> {
    tables: Vec<Table<'a>>,
    groups: Vec<Group>,
    source: &'a Source,
    options: &'a ReadOptions<'a>,
}

/// One row group.
struct Group {
    table: usize,
    index: usize,
    rows: u64,
    /// Rows before it in its file, and in all files together.
    before_in_file: u64,
    before: u64,
}

/// Why reading ended without a graph.
struct Stop {
    error: Error,
    /// Whether it was only a weight that is no `u32`, and nobody asked for `u32`.
    not_whole: bool,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop { error, not_whole: false }
    }
}

/// Reads a graph.
pub(super) fn read(source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
    let tables: Vec<Result<Table<'_>>> =
        source.parts().par_iter().map(|part| Table::open(part, options)).collect();
    let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
    check_agreement(&tables)?;
    let job = Job { groups: groups(&tables), tables, source, options };

    let (adjacency, ids) = match weight_kind(&job) {
        WeightKind::None => job.graph::<()>(),
        WeightKind::U32 => match job.graph::<u32>() {
            Err(stop) if stop.not_whole => job.graph::<f64>(),
            done => done,
        },
        WeightKind::F32 => job.graph::<f32>(),
        WeightKind::F64 => job.graph::<f64>(),
    }
    .map_err(|stop| stop.error)?;
    let read_as = describe(&job, adjacency.weight_kind());
    Ok(Graph { adjacency, ids, direction: Direction::Directed, read_as })
}

/// All parts must hold the same kind of edges.
fn check_agreement(tables: &[Table<'_>]) -> Result<()> {
    let Some((first, others)) = tables.split_first() else { return Ok(()) };
    for table in others {
        let differs = |what: &str, here: &str, there: &str| {
            let problem = format!("{what} {here}, but in {} {there}", first.name());
            Err(Error::data(table.name(), Place::File, problem))
        };
        if table.columns.names != first.columns.names {
            let kind = |names| if names { "names" } else { "integers" };
            return differs(
                "ids are",
                kind(table.columns.names),
                &format!("they are {}", kind(first.columns.names)),
            );
        }
        if table.columns.weight.is_some() != first.columns.weight.is_some() {
            let has = |weight: &Option<Chosen>| if weight.is_some() { "weights" } else { "none" };
            return differs(
                "edges have",
                has(&table.columns.weight),
                &format!("they have {}", has(&first.columns.weight)),
            );
        }
    }
    Ok(())
}

fn groups(tables: &[Table<'_>]) -> Vec<Group> {
    let (mut groups, mut before) = (Vec::new(), 0);
    for (t, table) in tables.iter().enumerate() {
        let mut before_in_file = 0;
        for (index, group) in table.row_groups().iter().enumerate() {
            let rows = group.num_rows() as u64;
            groups.push(Group { table: t, index, rows, before_in_file, before });
            before_in_file += rows;
            before += rows;
        }
    }
    groups
}

/// The type of weights to try first: what the user wants, else what the columns hold. Integers
/// start as `u32`.
fn weight_kind(job: &Job<'_>) -> WeightKind {
    let cells = || job.tables.iter().filter_map(|t| t.columns.weight.as_ref()).map(|w| w.cells);
    match job.options.weight_kind {
        _ if cells().next().is_none() => WeightKind::None,
        Some(kind) => kind,
        None if cells().all(Cells::is_integer) => WeightKind::U32,
        None if cells().all(|cells| cells == Cells::F32) => WeightKind::F32,
        None => WeightKind::F64,
    }
}

/// "Parquet, 2 parts, 12 row groups, columns src → dst, weight amount (f64), integer ids"
fn describe(job: &Job<'_>, kind: WeightKind) -> String {
    let mut text = "Parquet".to_string();
    if job.tables.len() != 1 {
        text += &format!(", {} parts", job.tables.len());
    }
    let plural = if job.groups.len() == 1 { "" } else { "s" };
    text += &format!(", {} row group{plural}", job.groups.len());
    let columns = &job.tables[0].columns;
    text += &format!(", columns {} → {}", columns.source.name, columns.destination.name);
    if let Some(weight) = &columns.weight {
        text += &format!(", weight {} ({})", weight.name, kind.name());
    }
    text + if columns.names { ", names as ids" } else { ", integer ids" }
}

impl Job<'_> {
    fn graph<W: Weight>(&self) -> Result<(Adjacency, Ids), Stop>
    where
        Adjacency: From<Csr<W>>,
    {
        let rows = self.groups.last().map_or(0, |last| last.before + last.rows);
        self.options.progress.stage("read edges", Some(rows));
        let ingest = Ingest::new(self.source.name(), self.options.declared(0));
        let groups = self.groups.par_iter().with_max_len(1);
        groups.try_for_each(|group| self.read_group::<W>(group, &ingest))?;
        self.options.progress.stage("build graph", None);
        let (csr, ids) = ingest.finish(None, |weight: W| weight)?;
        Ok((csr.into(), ids))
    }

    fn read_group<W: Weight>(&self, group: &Group, ingest: &Ingest<W>) -> Result<(), Stop> {
        let table = &self.tables[group.table];
        let bytes = table.bytes()?;
        let metadata = &table.row_groups()[group.index];
        let columns = &table.columns;
        let failed = |column: &Chosen, done, trouble| self.stop(group, column, done, trouble);
        let open = |column: &Chosen| {
            CellReader::open(&bytes, metadata, column).map_err(|t| failed(column, 0, t))
        };
        let mut sources = open(&columns.source)?;
        let mut destinations = open(&columns.destination)?;
        let mut weights = columns.weight.as_ref().map(open).transpose()?;

        let mut edges = Edges::<u64, W>::default();
        let (mut source_names, mut destination_names) = (NameList::default(), NameList::default());
        let mut ends = NameList::default();
        let mut done = 0;
        while done < group.rows {
            let rows = PIECE_ROWS.min(group.rows - done) as usize;
            let Edges { sources: from, destinations: to, weights: carried } = &mut edges;
            let (ids, weighed) = self.both(
                || {
                    self.both(
                        || match columns.names {
                            true => sources.names(rows, &mut source_names),
                            false => sources.integers(rows, from),
                        },
                        || match columns.names {
                            true => destinations.names(rows, &mut destination_names),
                            false => destinations.integers(rows, to),
                        },
                    )
                },
                || match &mut weights {
                    Some(weights) => weights.weights(rows, carried),
                    None => {
                        carried.resize(rows, W::default());
                        Ok(())
                    }
                },
            );
            ids.0.map_err(|t| failed(&columns.source, done, t))?;
            ids.1.map_err(|t| failed(&columns.destination, done, t))?;
            if let Some(column) = &columns.weight {
                weighed.map_err(|t| failed(column, done, t))?;
            }
            // Rows number the pieces: known beforehand, whoever reads first.
            let order = (group.before + done) as usize;
            if columns.names {
                ends.clear();
                for (source, destination) in source_names.iter().zip(destination_names.iter()) {
                    ends.push(source);
                    ends.push(destination);
                }
                ingest.add_names(order, &ends, std::mem::take(carried))?;
            } else {
                ingest.add_integers(order, &edges)?;
            }
            self.options.progress.advance(rows as u64);
            done += rows as u64;
        }
        sources.finish().map_err(|t| failed(&columns.source, done, t))?;
        destinations.finish().map_err(|t| failed(&columns.destination, done, t))?;
        if let (Some(weights), Some(column)) = (&mut weights, &columns.weight) {
            weights.finish().map_err(|t| failed(column, done, t))?;
        }
        Ok(())
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

    /// What trouble `done` rows into a row group means for the whole.
    fn stop(&self, group: &Group, column: &Chosen, done: u64, trouble: Trouble) -> Stop {
        let table = &self.tables[group.table];
        let mut not_whole = false;
        let (cell, problem) = match trouble {
            Trouble::Library(error) => {
                let place = format!("row group {}, column '{}'", group.index, column.name);
                return library_error(table.name(), &place, error).into();
            }
            Trouble::Cell(cell, problem) => (cell, problem),
            Trouble::Unfit(cell, weight) if !weight.is_finite() => {
                (cell, format!("is {weight}, expected a finite weight"))
            }
            Trouble::Unfit(cell, weight) => {
                not_whole = self.options.weight_kind.is_none();
                let kind = self.options.weight_kind.unwrap_or(WeightKind::U32).name();
                (cell, format!("is {weight}, which is no weight of type {kind}"))
            }
        };
        let row = group.before_in_file + done + cell as u64 + 1;
        let problem = format!("column '{}' {problem}", column.name);
        Stop { error: Error::data(table.name(), Place::Row(row), problem), not_whole }
    }
}
