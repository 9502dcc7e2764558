//! Parquet files → a whole graph: row groups in parallel, each batch of rows one piece.

use rayon::prelude::*;

use super::groups::{Batch, Files, Group, Stop};
use crate::formats::ReadOptions;
use crate::ingest::Ingest;
use crate::source::Source;
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Direction, Graph, Ids, Result};

/// Everything that is read.
struct Job<'a> {
    files: Files,
    source: &'a Source,
    options: &'a ReadOptions<'a>,
}

/// Reads a graph.
pub(super) fn read(source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
    let job = Job { files: Files::open(source, options)?, source, options };
    let (adjacency, ids) = match job.files.weight_kind() {
        WeightKind::None => job.graph::<()>(),
        WeightKind::U32 => match job.graph::<u32>() {
            Err(stop) if stop.not_whole => job.graph::<f64>(),
            done => done,
        },
        WeightKind::F32 => job.graph::<f32>(),
        WeightKind::F64 => job.graph::<f64>(),
    }
    .map_err(|stop| stop.error)?;
    let read_as = describe(&job.files, adjacency.weight_kind());
    Ok(Graph { adjacency, ids, direction: Direction::Directed, read_as })
}

/// "Parquet, 2 parts, 12 row groups, columns src → dst, weight amount (f64), integer ids"
fn describe(files: &Files, kind: WeightKind) -> String {
    let mut text = "Parquet".to_string();
    if files.tables.len() != 1 {
        text += &format!(", {} parts", files.tables.len());
    }
    let plural = if files.groups.len() == 1 { "" } else { "s" };
    text += &format!(", {} row group{plural}", files.groups.len());
    let columns = files.columns();
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
        let groups = &self.files.groups;
        let rows = groups.last().map_or(0, |last| last.before + last.rows);
        self.options.progress.stage("read edges", Some(rows));
        let ingest = Ingest::new(self.source.name(), self.options.declared(0));
        groups
            .par_iter()
            .with_max_len(1)
            .try_for_each(|group| self.read_group::<W>(group, &ingest))?;
        self.options.progress.stage("build graph", None);
        let (csr, ids) = ingest.finish(None, |weight: W| weight)?;
        Ok((csr.into(), ids))
    }

    fn read_group<W: Weight>(&self, group: &Group, ingest: &Ingest<W>) -> Result<(), Stop> {
        let mut reader = self.files.reader(group)?;
        let mut batch = Batch::<W>::default();
        // Rows number the pieces: known beforehand, whoever reads first.
        let mut order = group.before as usize;
        loop {
            let rows = reader.next(&mut batch)?;
            if rows == 0 {
                return Ok(());
            }
            if self.files.columns().names {
                let weights = std::mem::take(&mut batch.edges.weights);
                ingest.add_names(order, &batch.ends, weights)?;
            } else {
                ingest.add_integers(order, &batch.edges)?;
            }
            self.options.progress.advance(rows);
            order += rows as usize;
        }
    }
}
