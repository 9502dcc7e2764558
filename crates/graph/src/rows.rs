//! Rows: consecutive vertices with their out-edges, the share of a graph that one host reads.
//!
//! A file that holds a graph's arrays can be read a range of rows at a time: [`RowFile`] finds any
//! row by its offset and maps or reads just the pages the range needs.

use std::ops::Range;

use crate::buffer::Buffer;
use crate::csr::MAX_VERTICES;
use crate::formats::arrays::{fall_problem, stray_problem, unusable_problem};
use crate::source::{ByteSource, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Direction, Error, Ids, LocalId, Result};

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

    /// Whether a weight of a file with [signed weights](RowFile::has_signed_weights) is negative.
    pub fn has_negative_weights(&self) -> bool {
        match &self.adjacency {
            Adjacency::U32(csr) => csr.all_weights().iter().any(|&bits| (bits as i32) < 0),
            _ => false,
        }
    }

    /// The rows of a file with signed weights, of which some, here or elsewhere, are negative.
    pub fn with_signs(self) -> Self {
        let adjacency = match self.adjacency {
            Adjacency::U32(csr) => csr.reweighted(|_, _, bits| f64::from(bits as i32)).into(),
            other => other,
        };
        Rows { adjacency, ..self }
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
    /// How they are stored.
    pub targets: Targets,
    /// Where the weights lie, if apart from the destinations.
    pub weights_at: u64,
    /// Type of the weights.
    pub weight_kind: WeightKind,
    /// Whether every edge is there in both directions.
    pub direction: Direction,
}

/// How a file stores destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// As 32-bit numbers.
    U32,
    /// As 64-bit numbers.
    U64,
    /// As 32-bit numbers, each with its weight behind it, a signed 32-bit integer. The weights are
    /// read as they are, as `u32`: whether any is negative, only all rows together tell.
    WithWeights,
}

impl Targets {
    fn bytes(self) -> u64 {
        match self {
            Targets::U32 => 4,
            Targets::U64 | Targets::WithWeights => 8,
        }
    }
}

/// A destination and its weight.
type Pair = [u32; 2];

impl RowFile {
    /// Opens `source`, in which a graph lies like this, for reading rows.
    pub fn new(source: &Source, layout: RowLayout, ids: Ids) -> Result<Self> {
        if layout.vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(source.name(), layout.vertices));
        }
        Ok(RowFile { bytes: source.bytes()?.into_owned(), layout, ids })
    }

    /// What to call the file in messages.
    pub fn name(&self) -> &str {
        self.bytes.name()
    }

    /// Whether weights are read as `u32` but mean `i32`.
    pub fn has_signed_weights(&self) -> bool {
        self.layout.targets == Targets::WithWeights
    }

    /// Number of vertices of the whole graph.
    pub fn num_vertices(&self) -> u64 {
        self.layout.vertices
    }

    /// Whether every edge is there in both directions.
    pub fn direction(&self) -> Direction {
        self.layout.direction
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
            return Err(self.bytes.error(self.layout.ends_at + 8 * (vertex - 1), problem));
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
                let problem = fall_problem(vertices.start as usize + row, last, *offset);
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
        let weights: Buffer<W> = match (W::KIND, self.layout.targets) {
            (WeightKind::None, _) => vec![W::default(); targets.len()].into(),
            (_, Targets::WithWeights) => {
                let second = |_, pairs: &[Pair], weights: &mut [W]| {
                    for (weight, pair) in weights.iter_mut().zip(pairs) {
                        *weight = bytemuck::pod_read_unaligned(bytemuck::bytes_of(&pair[1]));
                    }
                    Ok(())
                };
                self.bytes.read_as(self.layout.targets_at + 8 * from, to - from, second)?.into()
            }
            _ => {
                let at = self.layout.weights_at + from * size_of::<W>() as u64;
                let weights: Buffer<W> = self.bytes.view(at, to - from)?;
                if let Some(edge) = weights.iter().position(|w| !w.to_f64().is_finite()) {
                    let problem = unusable_problem(from as usize + edge, weights[edge]);
                    return Err(self.bytes.error(at + (edge * size_of::<W>()) as u64, problem));
                }
                weights
            }
        };
        Ok(Csr::from_parts(offsets.into(), targets, weights))
    }

    fn targets(&self, edges: Range<u64>) -> Result<Buffer<LocalId>> {
        let RowLayout { vertices, targets_at, targets, .. } = self.layout;
        let (at, count) = (targets_at + edges.start * targets.bytes(), edges.end - edges.start);
        let stray = |edge: u64, target: u64| {
            let problem = stray_problem(edge, target, vertices as usize);
            self.bytes.error(targets_at + edge * targets.bytes(), problem)
        };
        let checked = |first: u64, narrow: &mut [LocalId], wide: &mut dyn Iterator<Item = u64>| {
            for (edge, (target, id)) in (edges.start + first..).zip(narrow.iter_mut().zip(wide)) {
                if id >= vertices {
                    return Err(stray(edge, id));
                }
                *target = LocalId(id as u32);
            }
            Ok(())
        };
        match targets {
            Targets::U64 => {
                let narrow = |first, wide: &[u64], narrow: &mut [LocalId]| {
                    checked(first, narrow, &mut wide.iter().copied())
                };
                Ok(self.bytes.read_as(at, count, narrow)?.into())
            }
            Targets::WithWeights => {
                let first_of = |first, pairs: &[Pair], narrow: &mut [LocalId]| {
                    checked(first, narrow, &mut pairs.iter().map(|pair| u64::from(pair[0])))
                };
                Ok(self.bytes.read_as(at, count, first_of)?.into())
            }
            Targets::U32 => {
                let targets: Buffer<LocalId> = self.bytes.view(at, count)?;
                match targets.iter().position(|target| u64::from(target.0) >= vertices) {
                    Some(i) => Err(stray(edges.start + i as u64, u64::from(targets[i].0))),
                    None => Ok(targets),
                }
            }
        }
    }
}
