//! Rows: consecutive vertices with their out-edges, the share of a graph that one host reads.
//!
//! A file that holds a graph's arrays can be read a range of rows at a time: [`RowFile`] finds any
//! row by its offset and maps or reads just the pages the range needs.

use std::ops::Range;

use crate::buffer::Buffer;
use crate::csr::MAX_VERTICES;
use crate::formats::Format;
use crate::source::{ByteSource, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Error, Ids, LocalId, Result};

/// Out-edges of the vertices `first, first + 1, …`.
///
/// Row `r` of `adjacency` is vertex `first + r`; its targets are *vertices of the whole graph*,
/// numbered from 0, not rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The vertex of row 0.
    pub first: u64,
    /// One row per vertex.
    pub adjacency: Adjacency,
}

impl Rows {
    /// The vertices whose rows these are.
    pub fn vertices(&self) -> Range<u64> {
        self.first..self.first + self.adjacency.num_vertices() as u64
    }
}

/// A file of arrays, open for reading rows.
pub struct RowFile {
    bytes: ByteSource<'static>,
    layout: RowLayout,
    ids: Ids,
}

/// Where a file keeps its arrays.
#[derive(Clone, Copy, Debug)]
pub struct RowLayout {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges.
    pub edges: u64,
    /// Where the offsets of vertices 1, 2, … lie; that of vertex 0 is 0.
    pub ends_at: u64,
    /// Where the destinations lie.
    pub targets_at: u64,
    /// Bytes of a destination: 4 or 8.
    pub target_bytes: u64,
    /// Where the weights lie.
    pub weights_at: u64,
    /// Type of the weights.
    pub weight_kind: WeightKind,
}

impl RowFile {
    /// Opens `source` for reading rows, if its format allows that.
    pub fn open(source: &Source, format: &dyn Format) -> Result<Option<Self>> {
        let Some(layout) = format.row_layout(source)? else { return Ok(None) };
        if layout.vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(source.name(), layout.vertices));
        }
        let ids = format.row_ids(source, &layout)?;
        Ok(Some(RowFile { bytes: source.bytes()?.into_owned(), layout, ids }))
    }

    /// Number of vertices of the whole graph.
    pub fn num_vertices(&self) -> u64 {
        self.layout.vertices
    }

    /// Number of edges of the whole graph.
    pub fn num_edges(&self) -> u64 {
        self.layout.edges
    }

    /// Type of the weights.
    pub fn weight_kind(&self) -> WeightKind {
        self.layout.weight_kind
    }

    /// What users call the vertices; mapped, where it is a table.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Number of edges before those of `vertex`.
    pub fn offset(&self, vertex: u64) -> Result<u64> {
        let offset = match vertex {
            0 => 0,
            _ => self.bytes.read_u64(self.layout.ends_at + 8 * (vertex - 1))?,
        };
        if offset > self.layout.edges {
            let problem = format!("offset {offset} of {} edges", self.layout.edges);
            return Err(self.bytes.error(self.layout.ends_at + 8 * vertex, problem));
        }
        Ok(offset)
    }

    /// The rows of a range of vertices. Their numbers are checked, so that any row can be used.
    pub fn rows(&self, vertices: Range<u64>) -> Result<Rows> {
        let adjacency = match self.layout.weight_kind {
            WeightKind::None => self.csr::<()>(&vertices)?.into(),
            WeightKind::U32 => self.csr::<u32>(&vertices)?.into(),
            WeightKind::F32 => self.csr::<f32>(&vertices)?.into(),
            WeightKind::F64 => self.csr::<f64>(&vertices)?.into(),
        };
        Ok(Rows { first: vertices.start, adjacency })
    }

    fn csr<W: Weight>(&self, vertices: &Range<u64>) -> Result<Csr<W>> {
        let (from, to) = (self.offset(vertices.start)?, self.offset(vertices.end)?);
        let ends_at = self.layout.ends_at + 8 * vertices.start;
        let mut offsets = vec![0u64; (vertices.end - vertices.start) as usize + 1];
        self.bytes.read_into(ends_at, &mut offsets[1..])?;
        let mut last = from;
        for (row, offset) in offsets[1..].iter_mut().enumerate() {
            if *offset < last || *offset > to {
                let problem = format!("offset {offset} after {last}: offsets must not fall");
                return Err(self.bytes.error(ends_at + 8 * row as u64, problem));
            }
            last = *offset;
            *offset -= from;
        }
        if last != to {
            let problem = format!("rows of {} edges hold {}", to.saturating_sub(from), last - from);
            return Err(self.bytes.error(ends_at, problem));
        }
        let targets = self.targets(from..to)?;
        let weights: Buffer<W> = match W::KIND {
            WeightKind::None => vec![W::default(); targets.len()].into(),
            _ => {
                let at = self.layout.weights_at + from * size_of::<W>() as u64;
                let weights: Buffer<W> = self.bytes.view(at, to - from)?;
                if let Some(edge) = weights.iter().position(|w| !w.to_f64().is_finite()) {
                    let problem = format!("weight {:?}, expected a finite number", weights[edge]);
                    return Err(self.bytes.error(at + (edge * size_of::<W>()) as u64, problem));
                }
                weights
            }
        };
        Ok(Csr::from_parts(offsets.into(), targets, weights))
    }

    fn targets(&self, edges: Range<u64>) -> Result<Buffer<LocalId>> {
        let RowLayout { vertices, targets_at, target_bytes, .. } = self.layout;
        let at = targets_at + edges.start * target_bytes;
        let stray = |edge: u64, target: u64| {
            let problem = format!("edge {edge} leads to vertex {target} of {vertices}");
            self.bytes.error(targets_at + edge * target_bytes, problem)
        };
        if target_bytes == 8 {
            let narrow = |first: u64, wide: &[u64], narrow: &mut [LocalId]| {
                for (i, (target, &id)) in narrow.iter_mut().zip(wide).enumerate() {
                    if id >= vertices {
                        return Err(stray(edges.start + first + i as u64, id));
                    }
                    *target = LocalId(id as u32);
                }
                Ok(())
            };
            return Ok(self.bytes.read_as(at, edges.end - edges.start, narrow)?.into());
        }
        let targets: Buffer<LocalId> = self.bytes.view(at, edges.end - edges.start)?;
        match targets.iter().position(|target| u64::from(target.0) >= vertices) {
            Some(i) => Err(stray(edges.start + i as u64, u64::from(targets[i].0))),
            None => Ok(targets),
        }
    }
}
