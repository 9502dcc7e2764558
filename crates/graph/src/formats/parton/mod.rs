//! Parton's own file, `.parton`: the arrays of a graph exactly as they are in memory, so that
//! opening a file is mapping it.
//!
//! ```text
//! header 64 B │ section table │ block checksums │ offsets │ targets │ weights │ ids, or names
//!             └─────── what `open` reads ───────┘└──── mapped; what `verify` sweeps ─────────┘
//! ```
//!
//! [`open`] costs milliseconds whatever the size: it checks the header, the tables and every count
//! against the length of the file, and touches no data. [`verify`] sweeps the data once, checking
//! each block's checksum and, while the block is in cache, that its numbers make a graph. Reading
//! a file as a [`Format`] does both, so a flipped bit anywhere is an error that says where.

use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;
use rayon::prelude::*;

use super::arrays::{self, Meter};
use super::{Format, ReadOptions, Write, WriteOptions};
use crate::buffer::Buffer;
use crate::id_map::{Ids, Names};
use crate::progress::{Progress, Silent};
use crate::rows::{RowFile, RowLayout, Targets};
use crate::save::Output;
use crate::slices::Shares;
use crate::source::{ByteSource, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Error, Graph, LocalId, Result};

mod layout;
mod write;

use layout::{Contents, IdKind, Kind};

/// The format.
pub struct Parton;

/// Opens a file without looking at its data, which is mapped and read from the disk as it is
/// used. Damage then shows as wrong results or a panic: [`verify`] a file that may be damaged.
///
/// The file must not be changed while the graph is in use.
pub fn open(path: impl AsRef<Path>) -> Result<Graph> {
    let source = Source::file(path.as_ref())?;
    let bytes = source.bytes()?;
    Loader { bytes: &bytes, contents: Contents::read(&bytes)?, meter: None }.graph(true)
}

/// Checks every byte of a file that means something: checksums, and that the numbers make a graph.
pub fn verify(path: impl AsRef<Path>) -> Result<()> {
    let source = Source::file(path.as_ref())?;
    read_verified(&source.bytes()?, true, &Silent)?;
    Ok(())
}

fn read_verified(bytes: &ByteSource<'_>, weights: bool, progress: &dyn Progress) -> Result<Graph> {
    let contents = Contents::read(bytes)?;
    let meter = Some(Meter::start(progress, "reading", bytes.len()));
    Loader { bytes, contents, meter }.graph(weights)
}

impl Format for Parton {
    fn name(&self) -> &'static str {
        "parton"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["parton"]
    }

    fn recognises(&self, source: &Source) -> bool {
        source.head().starts_with(&layout::MAGIC)
    }

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let weights = options.weights && options.weight_kind != Some(WeightKind::None);
        read_verified(&source.bytes()?, weights, options.progress)
    }

    fn shares(&self, source: Source, _: &ReadOptions<'_>) -> Result<Shares> {
        let source = source.on_disk(true)?;
        let bytes = source.bytes()?;
        let contents = Contents::read(&bytes)?;
        let at = |kind| contents.section(kind).0.at;
        let weighted = contents.weight_kind != WeightKind::None;
        let layout = RowLayout {
            vertices: contents.header.vertices,
            edges: contents.header.edges,
            ends_at: at(Kind::Offsets) + 8,
            targets_at: at(Kind::Targets),
            targets: Targets::U32,
            weights_at: if weighted { at(Kind::Weights) } else { 0 },
            weight_kind: contents.weight_kind,
            direction: contents.header.direction(),
        };
        let ids = Loader { bytes: &bytes, contents, meter: None }.ids()?;
        Ok(Shares::Rows(RowFile::new(&source, layout, ids)?))
    }

    fn writer(&self) -> Option<&dyn Write> {
        Some(self)
    }
}

impl Write for Parton {
    fn numbering(&self, _: usize) -> Option<Ids> {
        None
    }

    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
        write::write(graph, out, options)
    }
}

/// Turns sections into a graph; with a meter, verifies them on the way.
struct Loader<'a> {
    bytes: &'a ByteSource<'a>,
    contents: Contents,
    meter: Option<Meter<'a>>,
}

impl Loader<'_> {
    fn graph(&self, weights: bool) -> Result<Graph> {
        let header = &self.contents.header;
        let kind = if weights { self.contents.weight_kind } else { WeightKind::None };
        let adjacency: Adjacency = match kind {
            WeightKind::None => self.csr::<()>()?.into(),
            WeightKind::U32 => self.csr::<u32>()?.into(),
            WeightKind::F32 => self.csr::<f32>()?.into(),
            WeightKind::F64 => self.csr::<f64>()?.into(),
        };
        let ids = self.ids()?;
        let direction = header.direction();
        let sorted = if header.flags & layout::SORTED != 0 { "sorted" } else { "unsorted" };
        let read_as = format!("Parton file, version {}, {sorted} edges", header.version);
        Ok(Graph { adjacency, ids, direction, read_as })
    }

    fn csr<W: Weight>(&self) -> Result<Csr<W>> {
        let (vertices, edges) =
            (self.contents.header.vertices as usize, self.contents.header.edges);
        let offsets = self.section(Kind::Offsets, |all, range| {
            let i = arrays::find_fall(all, range)?;
            Some((i, arrays::fall_problem(i - 1, all[i - 1], all[i])))
        })?;
        // The graph's own invariants, which panic when they do not hold: checked even unverified.
        for (i, expected) in [(0, 0), (vertices, edges)] {
            if offsets[i] != expected {
                let problem = format!("offset {i} is {}, expected {expected}", offsets[i]);
                return Err(self.error(Kind::Offsets, i, problem));
            }
        }
        let targets = self.section(Kind::Targets, |all: &[LocalId], range| {
            let edge = arrays::find_stray(all, range, vertices)?;
            Some((edge, arrays::stray_problem(edge as u64, all[edge], vertices)))
        })?;
        let weights = match W::KIND {
            WeightKind::None => vec![W::default(); edges as usize].into(),
            _ => self.section(Kind::Weights, |all, range| {
                let edge = arrays::find_unusable(all, range)?;
                Some((edge, arrays::unusable_problem(edge, all[edge])))
            })?,
        };
        Ok(Csr::from_parts(offsets, targets, weights))
    }

    fn ids(&self) -> Result<Ids> {
        let header = &self.contents.header;
        match self.contents.id_kind {
            IdKind::Range => {
                Ok(Ids::Range { first: header.id_detail, count: header.vertices as usize })
            }
            IdKind::Integers => {
                let ids = self.section(Kind::Ids, |all: &[u64], range| {
                    let mut range = range.into_iter();
                    let v = range.find(|&v| v > 0 && all[v - 1] >= all[v])?;
                    Some((v, out_of_order(v)))
                })?;
                Ok(Ids::Integers(ids))
            }
            IdKind::Names => {
                let ends = self.section(Kind::NameEnds, |all, range| {
                    let v = arrays::find_fall(all, range)?;
                    Some((v, format!("the name of vertex {v} ends before it starts")))
                })?;
                let bytes = self.section(Kind::NameBytes, |_: &[u8], _| None)?;
                let (found, expected) = (ends.last().copied().unwrap_or(0), bytes.len());
                let last = ends.len().saturating_sub(1);
                let names = Names::from_parts(ends, bytes).ok_or_else(|| {
                    let problem = format!("the last name ends at {found}, expected {expected}");
                    self.error(Kind::NameEnds, last, problem)
                })?;
                if let Some(v) = self.meter.as_ref().and_then(|_| unordered_name(&names)) {
                    return Err(self.error(Kind::NameEnds, v, out_of_order(v)));
                }
                Ok(Ids::Names(names))
            }
        }
    }

    /// A section as an array. When verifying, `find` looks for the first wrong element of a range
    /// and says what is wrong with it.
    fn section<T: Pod + Send + Sync>(
        &self,
        kind: Kind,
        find: impl Fn(&[T], Range<usize>) -> Option<(usize, String)> + Sync,
    ) -> Result<Buffer<T>> {
        let (section, checksums) = self.contents.section(kind);
        let array = self.bytes.view(section.at, section.bytes / size_of::<T>() as u64)?;
        let Some(meter) = &self.meter else { return Ok(array) };
        const { assert!(arrays::PIECE_BYTES == layout::BLOCK_BYTES, "a piece has its checksum") };
        let problem = arrays::first(&array, meter, |all: &[T], range| {
            let block = range.start / (layout::BLOCK_BYTES / size_of::<T>());
            let (expected, found) =
                (checksums[block], crc32fast::hash(bytemuck::cast_slice(&all[range.clone()])));
            match expected == found {
                true => find(all, range),
                false => Some((range.start, layout::damaged("block", expected, found))),
            }
        });
        match problem.map_err(|e| Error::io(self.bytes.name(), "read", e))? {
            Some((index, problem)) => Err(self.error(kind, index, problem)),
            None => Ok(array),
        }
    }

    /// An error about one element of a section.
    fn error(&self, kind: Kind, index: usize, problem: String) -> Error {
        let section = self.contents.section(kind).0;
        self.bytes.error(section.at + u64::from(section.element_bytes) * index as u64, problem)
    }
}

fn out_of_order(vertex: usize) -> String {
    format!("the id of vertex {vertex} is not greater than the one before it")
}

/// The first name that is not greater than the one before it.
fn unordered_name(names: &Names) -> Option<usize> {
    (1..names.len()).into_par_iter().find_first(|&v| names.get(v - 1) >= names.get(v))
}

#[cfg(test)]
mod tests;
