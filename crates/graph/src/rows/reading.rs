//! Rows out of a file's arrays, every number checked as it is read.

use std::ops::Range;

use bytemuck::Pod;

use super::{Checksums, RowArrays, RowFile, RowLayout, Rows, StoredWeights, Targets};
use crate::buffer::Buffer;
use crate::formats::arrays::{self, Meter};
use crate::parallel;
use crate::weight::{Weight, WeightKind};
use crate::{Csr, Error, LocalId, Result};

/// Offsets that one task moves.
const OFFSETS_PER_TASK: usize = 1 << 16;

/// How much of what is read is checked.
#[derive(Clone, Copy)]
pub(super) enum Checks<'a> {
    /// Only what a [`Csr`] itself insists on.
    Sizes,
    /// That numbers make a graph.
    Numbers,
    /// Checksums, too.
    Blocks(&'a dyn Checksums),
}

/// A destination and its weight.
type Pair = [u32; 2];

/// The edges of a file, by source or by destination.
#[derive(Clone, Copy)]
pub(super) struct EdgeArrays<'a> {
    pub(super) file: &'a RowFile,
    pub(super) at: RowArrays,
    pub(super) is_in: bool,
}

/// Reads arrays and looks them through.
struct ArrayReader<'a> {
    arrays: EdgeArrays<'a>,
    checks: Checks<'a>,
    meter: &'a Meter<'a>,
}

impl<'a> EdgeArrays<'a> {
    pub(super) fn rows(
        self,
        vertices: Range<u64>,
        checks: Checks<'a>,
        meter: &'a Meter<'a>,
    ) -> Result<Rows> {
        let reader = ArrayReader { arrays: self, checks, meter };
        let adjacency = match self.file.layout.weight_kind {
            WeightKind::None => reader.csr::<()>(&vertices)?.into(),
            WeightKind::U32 => reader.csr::<u32>(&vertices)?.into(),
            WeightKind::F32 => reader.csr::<f32>(&vertices)?.into(),
            WeightKind::F64 => reader.csr::<f64>(&vertices)?.into(),
        };
        Ok(Rows { first: vertices.start, adjacency })
    }

    fn error(&self, at: u64, problem: String) -> Error {
        let problem = if self.is_in { arrays::of_in_edges(problem) } else { problem };
        self.file.bytes.error(at, problem)
    }

    pub(super) fn offset(&self, vertex: u64) -> Result<u64> {
        let RowLayout { vertices, edges, .. } = self.file.layout;
        let at = (self.at.ends_at + 8 * vertex).saturating_sub(8);
        let offset = match vertex {
            0 => 0,
            _ => self.file.bytes.read_u64(at)?,
        };
        if vertex == vertices && offset != edges {
            return Err(self.error(at, arrays::end_problem(vertex, offset, edges)));
        }
        if offset > edges {
            return Err(self.error(at, format!("offset {offset} of {edges} edges")));
        }
        Ok(offset)
    }
}

impl ArrayReader<'_> {
    fn csr<W: Weight>(&self, vertices: &Range<u64>) -> Result<Csr<W>> {
        let edges = self.arrays.offset(vertices.start)?..self.arrays.offset(vertices.end)?;
        let offsets = self.offsets(vertices, &edges)?;
        let targets = self.targets(edges.clone())?;
        let weights = match W::KIND {
            WeightKind::None => vec![W::default(); targets.len()].into(),
            _ => self.weights(edges)?,
        };
        Ok(Csr::from_parts(offsets, targets, weights))
    }

    fn weights<W: Weight>(&self, edges: Range<u64>) -> Result<Buffer<W>> {
        let EdgeArrays { file, at, .. } = self.arrays;
        let (bytes, count) = (&file.bytes, edges.end - edges.start);
        match (file.layout.targets, file.layout.weights) {
            (Targets::WithWeights, _) => {
                let second = |_, pairs: &[Pair], weights: &mut [W]| {
                    for (weight, pair) in weights.iter_mut().zip(pairs) {
                        *weight = bytemuck::pod_read_unaligned(bytemuck::bytes_of(&pair[1]));
                    }
                    Ok(())
                };
                Ok(bytes.read_as(at.targets_at + 8 * edges.start, count, second)?.into())
            }
            (_, StoredWeights::U64) => {
                let narrow = |first: u64, wide: &[u64], narrow: &mut [W]| {
                    for (i, (weight, &value)) in narrow.iter_mut().zip(wide).enumerate() {
                        let Ok(fits) = u32::try_from(value) else {
                            let edge = edges.start + first + i as u64;
                            let problem =
                                format!("the weight of edge {edge} is {value}, more than 32 bits");
                            return Err(self.arrays.error(at.weights_at + 8 * edge, problem));
                        };
                        *weight = W::from_f64(f64::from(fits));
                    }
                    self.meter.add(8 * wide.len() as u64);
                    Ok(())
                };
                Ok(bytes.read_as(at.weights_at + 8 * edges.start, count, narrow)?.into())
            }
            (_, StoredWeights::Same) => {
                let weights_at = at.weights_at + edges.start * size_of::<W>() as u64;
                let weights: Buffer<W> = bytes.view(weights_at, count)?;
                if let Some(edge) = self.first(weights_at, &weights, arrays::find_unusable)? {
                    let problem =
                        arrays::unusable_problem(edges.start as usize + edge, weights[edge]);
                    let place = weights_at + (edge * size_of::<W>()) as u64;
                    return Err(self.arrays.error(place, problem));
                }
                Ok(weights)
            }
        }
    }

    /// Where the edges of these vertices, which are the given ones of the file, start among them.
    fn offsets(&self, vertices: &Range<u64>, edges: &Range<u64>) -> Result<Buffer<u64>> {
        let EdgeArrays { file, at, .. } = self.arrays;
        let bytes = &file.bytes;
        let rows = vertices.end - vertices.start;
        let ends_at = at.ends_at + 8 * vertices.start;
        // A number before the ends that is 0 serves as the first offset, whatever it stands for.
        let is_first = vertices.start == 0 && at.stores_first;
        let first_at = match ends_at.checked_sub(8).filter(|_| edges.start == 0) {
            Some(at) if is_first || bytes.read_u64(at)? == 0 => Some(at),
            _ => None,
        };
        let offsets: Buffer<u64> = match first_at {
            Some(at) => bytes.view(at, rows + 1)?,
            None => {
                let mut offsets = vec![0; rows as usize + 1];
                offsets[0] = edges.start;
                bytes.read_into(ends_at, &mut offsets[1..])?;
                offsets.into()
            }
        };
        if let Some(end) = self.first(ends_at.saturating_sub(8), &offsets, arrays::find_fall)? {
            // An offset beyond all edges comes before the fall that it causes.
            let beyond = offsets[..end].iter().position(|&offset| offset > edges.end);
            let row = beyond.unwrap_or(end).saturating_sub(1);
            let vertex = vertices.start as usize + row;
            let problem = match beyond {
                Some(_) => arrays::beyond_problem(vertex, offsets[row + 1], edges.end),
                None => arrays::fall_problem(vertex, offsets[row], offsets[row + 1]),
            };
            return Err(self.arrays.error(ends_at + 8 * row as u64, problem));
        }
        for (row, expected) in [(0, edges.start), (rows, edges.end)] {
            let (vertex, found) = (vertices.start + row, offsets[row as usize]);
            if found != expected {
                let problem = arrays::end_problem(vertex, found, expected);
                return Err(self.arrays.error((ends_at + 8 * row).saturating_sub(8), problem));
            }
        }
        if edges.start == 0 {
            return Ok(offsets);
        }
        let mut offsets = offsets.into_vec();
        parallel::for_each_owned(offsets.chunks_mut(OFFSETS_PER_TASK), |_, offsets| {
            offsets.iter_mut().for_each(|offset| *offset -= edges.start);
        });
        Ok(offsets.into())
    }

    fn targets(&self, edges: Range<u64>) -> Result<Buffer<LocalId>> {
        let EdgeArrays { file, at, .. } = self.arrays;
        let RowLayout { vertices, targets, .. } = file.layout;
        let targets_at = at.targets_at + edges.start * targets.bytes();
        let count = edges.end - edges.start;
        let stray = |edge: u64, target: u64| {
            let problem = arrays::stray_problem(edge, target, vertices as usize);
            self.arrays.error(at.targets_at + edge * targets.bytes(), problem)
        };
        match targets {
            Targets::U64 => self.narrowed(
                targets_at,
                count,
                |&id: &u64| id,
                |i, target| stray(edges.start + i, target),
            ),
            Targets::WithWeights => self.narrowed(
                targets_at,
                count,
                |pair: &Pair| u64::from(pair[0]),
                |i, target| stray(edges.start + i, target),
            ),
            Targets::U32 => {
                let targets: Buffer<LocalId> = file.bytes.view(targets_at, count)?;
                let find =
                    |all: &[LocalId], range| arrays::find_stray(all, range, vertices as usize);
                match self.first(targets_at, &targets, find)? {
                    Some(i) => Err(stray(edges.start + i as u64, u64::from(targets[i].0))),
                    None => Ok(targets),
                }
            }
        }
    }

    /// Destinations that are stored as something wider, of which `id` gives the vertex.
    fn narrowed<S: Pod + Send + Sync>(
        &self,
        at: u64,
        count: u64,
        id: impl Fn(&S) -> u64 + Sync,
        stray: impl Fn(u64, u64) -> Error + Sync,
    ) -> Result<Buffer<LocalId>> {
        let RowFile { bytes, layout: RowLayout { vertices, .. }, .. } = self.arrays.file;
        let narrow = |first: u64, wide: &[S], narrow: &mut [LocalId]| {
            let mut largest = 0;
            for (target, wide) in narrow.iter_mut().zip(wide) {
                *target = LocalId(id(wide) as u32);
                largest = id(wide).max(largest);
            }
            self.meter.add(size_of_val(wide) as u64);
            if largest < *vertices {
                return Ok(());
            }
            let found = wide.iter().position(|wide| id(wide) >= *vertices);
            found.map_or(Ok(()), |i| Err(stray(first + i as u64, id(&wide[i]))))
        };
        Ok(bytes.read_as(at, count, narrow)?.into())
    }

    /// The first element that `find` objects to, of an array that lies at position `at`.
    fn first<T: Pod + Send + Sync>(
        &self,
        at: u64,
        array: &Buffer<T>,
        find: impl Fn(&[T], Range<usize>) -> Option<usize> + Sync,
    ) -> Result<Option<usize>> {
        let checksums = match self.checks {
            Checks::Sizes => return Ok(None),
            Checks::Numbers => None,
            Checks::Blocks(checksums) => Some(checksums),
        };
        let place = |index: usize| at + (index * size_of::<T>()) as u64;
        let skipped = checksums.map_or(0, |sums| sums.before_in_block(at)) as usize;
        let file = &self.arrays.file.bytes;
        let found = arrays::first(array, skipped / size_of::<T>(), self.meter, |all, range| {
            let piece = bytemuck::cast_slice(&all[range.clone()]);
            match checksums.and_then(|sums| sums.check(file, place(range.start), piece)) {
                Some(damage) => Some((range.start, Some(damage))),
                None => find(all, range).map(|index| (index, None)),
            }
        });
        match found.map_err(|e| Error::io(self.arrays.file.name(), "read", e))? {
            Some((index, Some(damage))) => Err(self.arrays.error(place(index), damage)),
            Some((index, None)) => Ok(Some(index)),
            None => Ok(None),
        }
    }
}
