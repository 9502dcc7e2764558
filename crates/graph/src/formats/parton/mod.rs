//! Parton's own file, `.parton`: the arrays of a graph exactly as they are in memory, so that
//! opening a file is mapping it.
//!
//! ```text
//! header 64 B │ section table │ block checksums │ offsets │ targets │ weights │ ids │ in-edges
//! └──────────── what `open` reads ──────────────┘└──── mapped; what `verify` sweeps ─────────┘
//! ```
//!
//! [`open`] costs milliseconds whatever the size: it checks the header, the tables and every count
//! against the length of the file, and touches no data. [`verify`] sweeps the data once, checking
//! each block's checksum and, while the block is in cache, that its numbers make a graph. Reading
//! a file as a [`Format`] does both, so a flipped bit in what it uses is an error that says where.
//!
//! In-edges are the out-edges of a directed graph once more, by destination. Turning a graph around
//! takes many times longer than reading it, and who pulls along edges needs it turned around. A
//! [`Graph`] has no place for them: rows do ([`RowFile::in_rows`]).

use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;
use rayon::prelude::*;

use super::arrays::{self, Meter};
use super::{Format, ReadOptions, Write, WriteOptions};
use crate::buffer::Buffer;
use crate::id_map::{Ids, Names};
use crate::progress::Silent;
use crate::rows::{RowArrays, RowFile, RowLayout, Targets};
use crate::save::Output;
use crate::slices::{Shares, edge_hash};
use crate::source::{ByteSource, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Error, Graph, LocalId, Result, with_csr};

mod layout;
mod write;

use layout::{Contents, EdgeSections, Header, SectionKind, StoredIds};

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

/// Whether an input is a file that keeps in-edges, too, as far as its header tells.
pub fn has_in_edges(source: &Source) -> bool {
    let header = source.head().get(..size_of::<Header>());
    let header: Option<Header> = header.map(bytemuck::pod_read_unaligned);
    header.is_some_and(|header| header.magic == layout::MAGIC && header.has_in_edges())
}

/// Checks every byte of a file that means something: checksums, that the numbers make a graph, and
/// that in-edges are its edges turned around.
pub fn verify(path: impl AsRef<Path>) -> Result<()> {
    verify_source(&Source::file(path.as_ref())?)
}

fn verify_source(source: &Source) -> Result<()> {
    let bytes = source.bytes()?;
    let contents = Contents::read(&bytes)?;
    let meter = Some(Meter::start(&Silent, "reading", bytes.len()));
    let loader = Loader { bytes: &bytes, contents, meter };
    let graph = loader.graph(true)?;
    if !loader.contents.header.has_in_edges() {
        return Ok(());
    }
    with_csr!(&graph.adjacency, csr => loader.verify_in_edges(csr))
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
        let bytes = source.bytes()?;
        let contents = Contents::read(&bytes)?;
        let meter = Meter::start(options.progress, "reading", contents.graph_bytes());
        Loader { bytes: &bytes, contents, meter: Some(meter) }.graph(weights)
    }

    fn shares(&self, source: Source, _: &ReadOptions<'_>) -> Result<Shares> {
        let source = source.on_disk(true)?;
        let bytes = source.bytes()?;
        let contents = Contents::read(&bytes)?;
        let at = |kind| contents.section(kind).0.at;
        let weighted = contents.weight_kind != WeightKind::None;
        let arrays = |way: EdgeSections| RowArrays {
            ends_at: at(way.offsets) + 8,
            targets_at: at(way.ends),
            weights_at: if weighted { at(way.weights) } else { 0 },
        };
        let layout = RowLayout {
            vertices: contents.header.vertices,
            edges: contents.header.edges,
            out_edges: arrays(layout::OUT),
            in_edges: contents.header.has_in_edges().then(|| arrays(layout::IN)),
            targets: Targets::U32,
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

    fn keeps_in_edges(&self) -> bool {
        true
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
            WeightKind::None => self.csr::<()>(layout::OUT)?.into(),
            WeightKind::U32 => self.csr::<u32>(layout::OUT)?.into(),
            WeightKind::F32 => self.csr::<f32>(layout::OUT)?.into(),
            WeightKind::F64 => self.csr::<f64>(layout::OUT)?.into(),
        };
        let ids = self.ids()?;
        let direction = header.direction();
        let sorted = if header.flags & layout::SORTED != 0 { "sorted" } else { "unsorted" };
        let read_as = format!("Parton file, version {}, {sorted} edges", header.version);
        Ok(Graph { adjacency, ids, direction, read_as })
    }

    fn csr<W: Weight>(&self, way: EdgeSections) -> Result<Csr<W>> {
        let (vertices, edges) =
            (self.contents.header.vertices as usize, self.contents.header.edges);
        let offsets = self.section(way.offsets, |all, range| {
            let i = arrays::find_fall(all, range)?;
            Some((i, arrays::fall_problem(i - 1, all[i - 1], all[i])))
        })?;
        // The graph's own invariants, which panic when they do not hold: checked even unverified.
        for (i, expected) in [(0, 0), (vertices, edges)] {
            if offsets[i] != expected {
                let problem = arrays::end_problem(i as u64, offsets[i], expected);
                return Err(self.error(way.offsets, i, problem));
            }
        }
        let targets = self.section(way.ends, |all: &[LocalId], range| {
            let edge = arrays::find_stray(all, range, vertices)?;
            Some((edge, arrays::stray_problem(edge as u64, all[edge], vertices)))
        })?;
        let weights = match W::KIND {
            WeightKind::None => vec![W::default(); edges as usize].into(),
            _ => self.section(way.weights, |all, range| {
                let edge = arrays::find_unusable(all, range)?;
                Some((edge, arrays::unusable_problem(edge, all[edge])))
            })?,
        };
        Ok(Csr::from_parts(offsets, targets, weights))
    }

    /// Checks the in-edges of a graph with these out-edges.
    fn verify_in_edges<W: Weight>(&self, out_edges: &Csr<W>) -> Result<()> {
        let in_edges = self.csr::<W>(layout::IN)?;
        let vertices = (0..in_edges.num_vertices() as u32).into_par_iter().map(LocalId);
        let falls = |v: LocalId| {
            let sources = in_edges.targets(v);
            let place = sources.windows(2).position(|pair| pair[0] > pair[1])?;
            Some((v, in_edges.edge_range(v).start + place + 1))
        };
        if let Some((v, edge)) = vertices.find_map_first(falls) {
            let problem = format!("the sources of vertex {v} do not ascend");
            return Err(self.error(SectionKind::Sources, edge, problem));
        }
        let out_sum = edge_sum(out_edges, edge_hash);
        let in_sum = edge_sum(&in_edges, |v, end, weight| edge_hash(end, v, weight));
        if out_sum != in_sum {
            let problem = "not the edges of the graph turned around".into();
            return Err(self.error(SectionKind::InOffsets, 0, problem));
        }
        Ok(())
    }

    fn ids(&self) -> Result<Ids> {
        let header = &self.contents.header;
        match self.contents.id_kind {
            StoredIds::Range => {
                Ok(Ids::Range { first: header.id_detail, count: header.vertices as usize })
            }
            StoredIds::Integers => {
                let ids = self.section(SectionKind::Ids, |all: &[u64], range| {
                    let mut range = range.into_iter();
                    let v = range.find(|&v| v > 0 && all[v - 1] >= all[v])?;
                    Some((v, out_of_order(v)))
                })?;
                Ok(Ids::Integers(ids))
            }
            StoredIds::Names => {
                let ends = self.section(SectionKind::NameEnds, |all, range| {
                    let v = arrays::find_fall(all, range)?;
                    Some((v, format!("the name of vertex {v} ends before it starts")))
                })?;
                let bytes = self.section(SectionKind::NameBytes, |_: &[u8], _| None)?;
                let (found, expected) = (ends.last().copied().unwrap_or(0), bytes.len());
                let last = ends.len().saturating_sub(1);
                let names = Names::from_parts(ends, bytes).ok_or_else(|| {
                    let problem = format!("the last name ends at {found}, expected {expected}");
                    self.error(SectionKind::NameEnds, last, problem)
                })?;
                if let Some(v) = self.meter.as_ref().and_then(|_| unordered_name(&names)) {
                    return Err(self.error(SectionKind::NameEnds, v, out_of_order(v)));
                }
                Ok(Ids::Names(names))
            }
        }
    }

    /// A section as an array. When verifying, `find` looks for the first wrong element of a range
    /// and says what is wrong with it.
    fn section<T: Pod + Send + Sync>(
        &self,
        kind: SectionKind,
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
    fn error(&self, kind: SectionKind, index: usize, problem: String) -> Error {
        let section = self.contents.section(kind).0;
        let problem = match kind {
            SectionKind::InOffsets | SectionKind::Sources | SectionKind::InWeights => {
                arrays::of_in_edges(problem)
            }
            _ => problem,
        };
        self.bytes.error(section.at + u64::from(section.element_bytes) * index as u64, problem)
    }
}

/// The sum of all edges' hashes, which does not depend on their order. `hash` gets the vertex whose
/// edge it is, the other end and the weight.
fn edge_sum<W: Weight>(csr: &Csr<W>, hash: impl Fn(u64, u64, f64) -> u64 + Sync) -> u64 {
    let of = |v: u32| {
        let edges = csr.edges(LocalId(v));
        let hashes = edges.map(|(end, w)| hash(u64::from(v), u64::from(end.0), w.to_f64()));
        hashes.fold(0, u64::wrapping_add)
    };
    (0..csr.num_vertices() as u32).into_par_iter().map(of).reduce(|| 0, u64::wrapping_add)
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
