//! Edges → Parquet: row groups are encoded in parallel and written in order.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, get_column_writer, get_typed_column_writer};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result as LibraryResult};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor};

use crate::formats::WriteOptions;
use crate::id_map::Names;
use crate::parallel;
use crate::progress::Unit;
use crate::save::Output;
use crate::{Adjacency, Graph, Ids, Result, WeightKind};

/// Edges per row group: enough for readers to work on many at once, and what most writers use.
const GROUP_EDGES: usize = 1 << 20;

/// One encoded column.
type Chunk = (Bytes, ColumnCloseResult);

/// Writes every stored edge under its original ids.
pub(super) fn write(graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
    write_in_groups(graph, out, options, GROUP_EDGES)
}

/// Writes row groups of `group_edges` edges.
pub(super) fn write_in_groups(
    graph: &Graph,
    out: &mut Output,
    options: &WriteOptions<'_>,
    group_edges: usize,
) -> Result<()> {
    options.progress.stage("writing", Unit::Edges, Some(graph.num_edges()));
    let result = write_all(graph, out, options, group_edges);
    result.map_err(|error| match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(system) => out.failed(*system),
            Err(inner) => out.failed(std::io::Error::other(inner)),
        },
        other => out.failed(std::io::Error::other(other)),
    })
}

fn write_all(
    graph: &Graph,
    out: &mut Output,
    options: &WriteOptions<'_>,
    group_edges: usize,
) -> LibraryResult<()> {
    let schema = Arc::new(parse_message_type(&schema(graph))?);
    let columns = SchemaDescriptor::new(schema.clone());
    let properties = Arc::new(properties(graph)?);
    let encoder = Encoder { graph, columns, properties: properties.clone() };
    let mut file = SerializedFileWriter::new(out, schema, properties)?;

    let edges = graph.num_edges() as usize;
    let groups: Vec<Range<usize>> = (0..edges)
        .step_by(group_edges)
        .map(|first| first..(first + group_edges).min(edges))
        .collect();
    // As many groups at a time as there are threads: memory stays small.
    for batch in groups.chunks(rayon::current_num_threads()) {
        let encoded: Vec<LibraryResult<Vec<Chunk>>> =
            parallel::map(batch, |group| encoder.encode(group.clone()));
        for (group, chunks) in batch.iter().zip(encoded) {
            let mut writer = file.next_row_group()?;
            for (bytes, close) in chunks? {
                writer.append_column(&bytes, close)?;
            }
            writer.close()?;
            options.progress.advance(group.len() as u64);
        }
    }
    file.close().map(drop)
}

fn schema(graph: &Graph) -> String {
    let id = match &graph.ids {
        Ids::Names(names) if are_text(names) => "byte_array {} (STRING)",
        Ids::Names(_) => "byte_array {}",
        Ids::Range { .. } | Ids::Integers(_) if largest(&graph.ids) > i64::MAX as u64 => {
            "int64 {} (INTEGER(64,false))"
        }
        Ids::Range { .. } | Ids::Integers(_) => "int64 {}",
    };
    let weight = match graph.adjacency.weight_kind() {
        WeightKind::None => "",
        WeightKind::U32 => "required int32 weight (INTEGER(32,false));",
        WeightKind::F32 => "required float weight;",
        WeightKind::F64 => "required double weight;",
    };
    let (source, target) = (id.replace("{}", "source"), id.replace("{}", "target"));
    format!("message edges {{ required {source}; required {target}; {weight} }}")
}

/// Ids ascend.
fn largest(ids: &Ids) -> u64 {
    match ids {
        Ids::Range { first, count } => first.saturating_add((*count as u64).saturating_sub(1)),
        Ids::Integers(ids) => ids.last().copied().unwrap_or(0),
        Ids::Names(_) => 0,
    }
}

fn are_text(names: &Names) -> bool {
    let text = |v: usize| std::str::from_utf8(names.get(v)).is_ok();
    parallel::all(names.len(), text)
}

fn properties(graph: &Graph) -> LibraryResult<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("parton ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    if !matches!(graph.ids, Ids::Names(_)) {
        for column in ["source", "target"] {
            let column = ColumnPath::from(column);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(properties.build())
}

struct Encoder<'a> {
    graph: &'a Graph,
    columns: SchemaDescriptor,
    properties: WriterPropertiesPtr,
}

impl Encoder<'_> {
    /// The columns of one row group.
    fn encode(&self, group: Range<usize>) -> LibraryResult<Vec<Chunk>> {
        let sources = self.sources(&group);
        let targets = self.graph.adjacency.all_targets()[group.clone()].iter().map(|t| t.index());
        let (sources, targets) = rayon::join(
            || self.ids(0, sources.into_iter().map(|v| v as usize)),
            || self.ids(1, targets),
        );
        let weight = match &self.graph.adjacency {
            Adjacency::Unweighted(_) => None,
            Adjacency::U32(csr) => {
                let weights = bytemuck::cast_slice(&csr.all_weights()[group]);
                Some(self.column::<Int32Type>(2, weights)?)
            }
            Adjacency::F32(csr) => Some(self.column::<FloatType>(2, &csr.all_weights()[group])?),
            Adjacency::F64(csr) => Some(self.column::<DoubleType>(2, &csr.all_weights()[group])?),
        };
        Ok([sources?, targets?].into_iter().chain(weight).collect())
    }

    /// The vertex that each edge of a range starts at.
    fn sources(&self, group: &Range<usize>) -> Vec<u32> {
        let offsets = self.graph.adjacency.offsets();
        let mut vertex = offsets.partition_point(|&offset| offset <= group.start as u64) - 1;
        let mut sources = Vec::with_capacity(group.len());
        while sources.len() < group.len() {
            let end = (offsets[vertex + 1] as usize).min(group.end) - group.start;
            sources.resize(end.max(sources.len()), vertex as u32);
            vertex += 1;
        }
        sources
    }

    /// A column of original ids.
    fn ids(&self, column: usize, vertices: impl Iterator<Item = usize>) -> LibraryResult<Chunk> {
        match &self.graph.ids {
            Ids::Range { first, .. } => {
                let ids: Vec<i64> = vertices.map(|v| (first + v as u64) as i64).collect();
                self.column::<Int64Type>(column, &ids)
            }
            Ids::Integers(ids) => {
                let ids: Vec<i64> = vertices.map(|v| ids[v] as i64).collect();
                self.column::<Int64Type>(column, &ids)
            }
            Ids::Names(names) => {
                // The library wants shared buffers; one for the whole column spares a million.
                let (mut text, mut ends) = (Vec::new(), Vec::new());
                for v in vertices {
                    text.extend_from_slice(names.get(v));
                    ends.push(text.len());
                }
                let text = Bytes::from(text);
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let names: Vec<ByteArray> =
                    starts.zip(&ends).map(|(start, &end)| text.slice(start..end).into()).collect();
                self.column::<ByteArrayType>(column, &names)
            }
        }
    }

    fn column<T: DataType>(&self, index: usize, values: &[T::T]) -> LibraryResult<Chunk> {
        let column: ColumnDescPtr = self.columns.column(index);
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let writer = get_column_writer(column, self.properties.clone(), pages);
        let mut writer = get_typed_column_writer::<T>(writer);
        writer.write_batch(values, None, None)?;
        let close = writer.close()?;
        Ok((Bytes::from(sink.into_inner()?), close))
    }
}
