//! Parton's own file, `.parton`: the arrays of a graph exactly as they are in memory, so that
//! opening a file is mapping it.
//!
//! ```text
//! header 64 B │ section table │ block checksums │ offsets │ targets │ weights │ ids │ in-edges │ row blocks
//! └──────────── what `open` reads ──────────────┘└──── mapped; what `verify` sweeps ──────────────────────┘
//! ```
//!
//! [`open`] costs milliseconds whatever the size: it checks the header, the tables and every count
//! against the length of the file, and touches no data. [`verify`] sweeps the data once, checking
//! each block's checksum and, while the block is in cache, that its numbers make a graph. Reading
//! a file as a [`Format`] does both, so a flipped bit in what it uses is an error that says where.
//!
//! In-edges are the out-edges of a directed graph once more, by destination. Transposing a graph
//! takes many times longer than reading it, and pull engines need it transposed. A [`Graph`] has no
//! place for them: rows do ([`RowFile::in_rows`]).

use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;

use super::arrays::{self, Meter};
use super::{Format, Opened, ReadOptions, Write, WriteOptions};
use crate::buffer::Buffer;
use crate::id_map::{Ids, Names};
use crate::parallel;
use crate::progress::Silent;
use crate::rows::{
    Checksums, RowArrays, RowBlocksAt, RowFile, RowLayout, Rows, StoredWeights, Targets,
};
use crate::save::Output;
use crate::source::{ByteSource, Slice, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Csr, Error, Graph, LocalId, Result, with_csr};

mod layout;
mod write;

use layout::{Contents, EdgeSections, Header, Section, SectionKind, StoredIds};

/// The format.
pub struct Parton;

/// Opens a file without looking at its data, which is mapped and read from the disk as it is
/// used. Damage then shows as wrong results or a panic: [`verify`] a file that may be damaged.
///
/// The file must not be changed while the graph is in use.
pub fn open(path: impl AsRef<Path>) -> Result<Graph> {
    open_rows(&Source::file(path.as_ref())?, true)?.mapped_graph()
}

/// Opens a file for reading rows.
fn open_rows(source: &Source, weights: bool) -> Result<RowFile> {
    let bytes = source.bytes()?.into_owned();
    let contents = Contents::read(&bytes)?;
    let weight_kind = if weights { contents.weight_kind } else { WeightKind::None };
    let at = |kind| contents.section(kind).0.at;
    let arrays = |sections: EdgeSections| RowArrays {
        ends_at: at(sections.offsets) + 8,
        stores_first: true,
        targets_at: at(sections.ends),
        weights_at: if weight_kind == WeightKind::None { 0 } else { at(sections.weights) },
    };
    let header = &contents.header;
    let layout = RowLayout {
        vertices: header.vertices,
        edges: header.edges,
        out_edges: arrays(layout::OUT),
        in_edges: header.has_in_edges().then(|| arrays(layout::IN)),
        targets: Targets::U32,
        weight_kind,
        weights: StoredWeights::Same,
        direction: header.direction(),
    };
    let sorted = if header.flags & layout::SORTED != 0 { "sorted" } else { "unsorted" };
    let read_as = format!("Parton file, version {}, {sorted} edges", header.version);
    let ids = contents.ids(&bytes, None)?;
    let row_blocks = contents.row_blocks_at();
    let file = RowFile::new(bytes, layout, ids, read_as)?;
    Ok(file.with_checksums(contents).with_row_blocks(row_blocks))
}

/// Whether an input is a file that keeps in-edges, too, as far as its header tells.
pub fn has_in_edges(source: &Source) -> bool {
    header(source).is_some_and(|header| header.has_in_edges())
}

/// Whether an input is a file that keeps row blocks, too, as far as its header tells.
pub fn has_row_blocks(source: &Source) -> bool {
    header(source).is_some_and(|header| header.has_row_blocks())
}

/// The first bytes of an input, if they say that it is a file of this format.
fn header(source: &Source) -> Option<Header> {
    let header: Header = bytemuck::pod_read_unaligned(source.head().get(..size_of::<Header>())?);
    (header.magic == layout::MAGIC).then_some(header)
}

/// Checks every byte of a file that means something: checksums, that the numbers make a graph, and
/// that in-edges and row blocks are its edges turned around.
pub fn verify(path: impl AsRef<Path>) -> Result<()> {
    verify_source(&Source::file(path.as_ref())?)
}

fn verify_source(source: &Source) -> Result<()> {
    let file = open_rows(source, true)?;
    let row_blocks = file.row_blocks()?;
    let graph = file.graph(&Silent)?;
    if let Some(row_blocks) = row_blocks {
        check_blocks(source, Slice::WHOLE)?;
        row_blocks.of_edges(&graph.adjacency)?;
    }
    let in_edges = open_rows(source, true)?.verified_in_rows()?;
    let Some(in_edges) = in_edges else { return Ok(()) };
    let bytes = source.bytes()?;
    let contents = Contents::read(&bytes)?;
    let error = |kind, index, problem| contents.error(&bytes, kind, index, problem);
    let falling = with_csr!(&in_edges.adjacency, csr => first_fall(csr));
    if let Some((v, edge)) = falling {
        let problem = format!("the sources of vertex {v} do not ascend");
        return Err(error(SectionKind::Sources, edge, problem));
    }
    let out_sum = Rows { first: 0, adjacency: graph.adjacency }.edge_sum(false);
    let in_sum = in_edges.edge_sum(true);
    match out_sum == in_sum {
        true => Ok(()),
        false => Err(open_rows(source, true)?.contradiction()),
    }
}

/// Checks the checksums of a slice of the blocks of a file: hosts that read only what they use, such as
/// out-edges alone, together find damage anywhere in it.
pub fn check_blocks(source: &Source, slice: Slice) -> Result<()> {
    let bytes = source.bytes()?;
    let contents = Contents::read(&bytes)?;
    let places: Vec<u64> = contents.sections.iter().flat_map(Section::block_places).collect();
    let mine = slice.share(places.len() as u64);
    let (first, mine) = (mine.start as usize, (mine.end - mine.start) as usize);
    let damage = parallel::find_first_task(mine, |block| {
        let at = places[first + block];
        contents.check(&bytes, at, &[]).map(|damage| bytes.error(at, damage))
    });
    damage.map_or(Ok(()), Err)
}

/// The first vertex whose targets do not ascend, and the edge where they fall.
fn first_fall<W: Weight>(csr: &Csr<W>) -> Option<(LocalId, usize)> {
    parallel::find_first(csr.num_vertices(), |v| {
        let v = LocalId(v as u32);
        let place = csr.targets(v).windows(2).position(|pair| pair[0] > pair[1])?;
        Some((v, csr.edge_range(v).start + place + 1))
    })
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

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let weights = options.weights && options.weight_kind != Some(WeightKind::None);
        Ok(Opened::Rows(open_rows(&source, weights)?))
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

impl Checksums for Contents {
    fn before_in_block(&self, at: u64) -> u64 {
        (at - self.section_at(at).0.at) % layout::BLOCK_BYTES as u64
    }

    fn check(&self, file: &ByteSource<'_>, at: u64, bytes: &[u8]) -> Option<String> {
        let (section, checksums) = self.section_at(at);
        let block_bytes = layout::BLOCK_BYTES as u64;
        let block = (at - section.at) / block_bytes;
        let start = section.at + block * block_bytes;
        let end = (start + block_bytes).min(section.at + section.bytes);
        let mut crc = crc32fast::Hasher::new();
        let rest = |range: Range<u64>| file.read_array::<u8>(range.start, range.end - range.start);
        // A host reads whole rows, which need not be whole blocks.
        match (rest(start..at), rest(at + bytes.len() as u64..end)) {
            (Ok(before), Ok(after)) => [&before, bytes, &after].map(|bytes| crc.update(bytes)),
            (Err(error), _) | (_, Err(error)) => return Some(error.to_string()),
        };
        let (expected, found) = (checksums[block as usize], crc.finalize());
        (expected != found).then(|| layout::damaged("block", expected, found))
    }

    fn check_rest(&self, file: &ByteSource<'_>, slice: Slice) -> Result<()> {
        self.ids(file, Some(slice)).map(drop)
    }
}

impl Contents {
    /// Where row blocks lie, if there are any.
    fn row_blocks_at(&self) -> Option<RowBlocksAt> {
        let section = |kind| self.section(kind).0;
        self.header.has_row_blocks().then(|| {
            let [ends, entries] = [SectionKind::BlockEnds, SectionKind::BlockEntries].map(section);
            let (steps, count) = (ends.bytes / 8, entries.bytes / 4);
            RowBlocksAt { ends_at: ends.at, steps, entries_at: entries.at, entries: count }
        })
    }

    /// What users call the vertices, of which a slice may be verified.
    fn ids(&self, bytes: &ByteSource<'_>, verified: Option<Slice>) -> Result<Ids> {
        let header = &self.header;
        match self.id_kind {
            StoredIds::Range => {
                Ok(Ids::Range { first: header.id_detail, count: header.vertices as usize })
            }
            StoredIds::Integers => {
                let ids = self.array(bytes, verified, SectionKind::Ids, |all: &[u64], range| {
                    let mut range = range.into_iter();
                    let v = range.find(|&v| v > 0 && all[v - 1] >= all[v])?;
                    Some((v, out_of_order(v)))
                })?;
                Ok(Ids::Integers(ids))
            }
            StoredIds::Names => {
                let ends = self.array(bytes, verified, SectionKind::NameEnds, |all, range| {
                    // With the two before it: names of a slice are compared with the one before.
                    let range = range.start.saturating_sub(1)..range.end;
                    let beyond = range.clone().find(|&v| all[v] > header.id_detail);
                    if let Some(v) = beyond {
                        return Some((v, format!("the name of vertex {v} ends beyond all names")));
                    }
                    let v = arrays::find_fall(all, range)?;
                    Some((v, format!("the name of vertex {v} ends before it starts")))
                })?;
                let names =
                    self.array(bytes, verified, SectionKind::NameBytes, |_: &[u8], _| None)?;
                let (found, expected) = (ends.last().copied().unwrap_or(0), names.len());
                let last = ends.len().saturating_sub(1);
                let names = Names::from_parts(ends, names).ok_or_else(|| {
                    let problem = format!("the last name ends at {found}, expected {expected}");
                    self.error(bytes, SectionKind::NameEnds, last, problem)
                })?;
                if let Some(v) = verified.and_then(|slice| unordered_name(&names, slice)) {
                    return Err(self.error(bytes, SectionKind::NameEnds, v, out_of_order(v)));
                }
                Ok(Ids::Names(names))
            }
        }
    }

    /// A section as an array. When it is to be verified, `find` looks for the first wrong element of
    /// a range and says what is wrong with it.
    fn array<T: Pod + Send + Sync>(
        &self,
        bytes: &ByteSource<'_>,
        verified: Option<Slice>,
        kind: SectionKind,
        find: impl Fn(&[T], Range<usize>) -> Option<(usize, String)> + Sync,
    ) -> Result<Buffer<T>> {
        let (section, _) = self.section(kind);
        let array = bytes.view(section.at, section.bytes / size_of::<T>() as u64)?;
        let Some(slice) = verified else { return Ok(array) };
        const { assert!(arrays::PIECE_BYTES == layout::BLOCK_BYTES, "a piece has its checksum") };
        let meter = Meter::start(&Silent, "reading", 0);
        let problem = arrays::first(&array, 0, &meter, |all: &[T], range| {
            let offset = range.start * size_of::<T>();
            if (offset / layout::BLOCK_BYTES) % slice.of != slice.index {
                return None;
            }
            match self.check(
                bytes,
                section.at + offset as u64,
                bytemuck::cast_slice(&all[range.clone()]),
            ) {
                None => find(all, range),
                Some(damage) => Some((range.start, damage)),
            }
        });
        match problem.map_err(|e| Error::io(bytes.name(), "read", e))? {
            Some((index, problem)) => Err(self.error(bytes, kind, index, problem)),
            None => Ok(array),
        }
    }

    /// An error about one element of a section.
    fn error(
        &self,
        bytes: &ByteSource<'_>,
        kind: SectionKind,
        index: usize,
        problem: String,
    ) -> Error {
        let section = self.section(kind).0;
        let problem = match kind {
            SectionKind::InOffsets | SectionKind::Sources | SectionKind::InWeights => {
                arrays::of_in_edges(problem)
            }
            _ => problem,
        };
        bytes.error(section.at + u64::from(section.element_bytes) * index as u64, problem)
    }
}

fn out_of_order(vertex: usize) -> String {
    format!("the id of vertex {vertex} is not greater than the one before it")
}

/// The first name of a slice that is not greater than the one before it. Slices are of blocks, as
/// those of the ends of names.
fn unordered_name(names: &Names, slice: Slice) -> Option<usize> {
    let block = |v: usize| v * size_of::<u64>() / layout::BLOCK_BYTES;
    parallel::find_first(names.len(), |v| {
        let is_mine = v > 0 && block(v) % slice.of == slice.index;
        (is_mine && names.get(v - 1) >= names.get(v)).then_some(v)
    })
}

#[cfg(test)]
mod tests;
