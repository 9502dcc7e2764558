//! Galois' binary graphs, `.gr`: the rows of a graph as they are in memory, after four numbers.
//!
//! ```text
//! byte            version 1                        version 2
//! 0               u64 version                      same
//! 8               u64 bytes of data per edge       same
//! 16              u64 vertices N                   same
//! 24              u64 edges M                      same
//! 32              u64 × N   where the edges of each vertex end; they start where the last ended
//! 32 + 8N         u32 × M destinations             u64 × M destinations
//! then, M odd     4 bytes of padding               8 bytes of padding, or none
//! then            data × M                         same
//! ```
//!
//! All numbers are little-endian. Destinations and data that lie in a plain file as Parton wants
//! them are mapped, not copied: reading costs no more than looking at every byte once.
//!
//! Nothing says whether the data are integers or fractions, and there is neither a magic number
//! nor a checksum: what can be checked is that the counts make up the file's length, that no row
//! ends before it starts and that every destination exists.
//!
//! Galois' own code disagrees with itself about the padding of version 2: what loads a file skips
//! it, what computes a file's size and what writes large files leave it out. Both are read here;
//! the length tells them apart. Written is the one without, which is all the size formula gives
//! room for; 64-bit destinations need no padding to be aligned anyway.

use std::ops::Range;

use super::arrays::{self, Meter};
use super::{Format, ReadOptions, Write, WriteOptions};
use crate::buffer::Buffer;
use crate::csr::MAX_VERTICES;
use crate::id_map::Ids;
use crate::rows::{RowArrays, RowFile, RowLayout, Targets};
use crate::save::Output;
use crate::slices::Shares;
use crate::source::{ByteSource, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Direction, Error, Graph, LocalId, Result, with_csr};

/// The format.
pub struct Gr;

const HEADER_BYTES: u64 = 32;

/// The four numbers at the beginning.
struct Header {
    version: u64,
    data_bytes: u64,
    vertices: u64,
    edges: u64,
}

/// Where the arrays lie.
struct Layout {
    targets_at: u64,
    weights_at: u64,
}

impl Header {
    fn parse(head: &[u8]) -> Option<Self> {
        let mut numbers = head.get(..HEADER_BYTES as usize)?.chunks_exact(8).map(le_u64);
        Some(Header {
            version: numbers.next()?,
            data_bytes: numbers.next()?,
            vertices: numbers.next()?,
            edges: numbers.next()?,
        })
    }

    /// The header of a file, and where its arrays lie.
    fn read(bytes: &ByteSource<'_>) -> Result<(Self, Layout)> {
        let mut head = [0; HEADER_BYTES as usize];
        bytes.read_at(0, &mut head)?;
        let header = Header::parse(&head).expect("as long as a header");
        let layout = header.layout(bytes.len()).map_err(|problem| bytes.error(0, problem))?;
        Ok((header, layout))
    }

    /// Bytes of one destination.
    fn target_bytes(&self) -> u64 {
        if self.version == 1 { 4 } else { 8 }
    }

    /// Where the arrays lie in a file of `len` bytes, or why they cannot.
    fn layout(&self, len: u64) -> Result<Layout, String> {
        if !matches!(self.version, 1 | 2) {
            return Err(format!("version {}, expected 1 or 2", self.version));
        }
        // 128 bits, so that no count, however absurd, can overflow its way to a plausible length.
        let [vertices, edges, data_bytes, target_bytes] =
            [self.vertices, self.edges, self.data_bytes, self.target_bytes()].map(u128::from);
        let targets_at = u128::from(HEADER_BYTES) + 8 * vertices;
        let targets_end = targets_at + target_bytes * edges;
        let data = data_bytes.saturating_mul(edges);
        let padding = target_bytes * (edges % 2);
        let padded = data.saturating_add(targets_end + padding);
        let weights_at = if padded == u128::from(len) {
            targets_end + padding
        } else if data.saturating_add(targets_end) == u128::from(len)
            && (self.version == 2 || data == 0)
        {
            // In version 1 only padding with nothing after it may be missing: with data behind
            // it, a file that lacks its last 4 bytes would pass for one without padding.
            targets_end
        } else {
            return Err(format!(
                "{} vertices and {} edges with {} bytes of data each make {padded} bytes, but \
                 the file has {len}",
                self.vertices, self.edges, self.data_bytes
            ));
        };
        // Both are at most `len`.
        Ok(Layout { targets_at: targets_at as u64, weights_at: weights_at as u64 })
    }

    /// Whether the row ends that `head` shows could be those of a graph.
    fn fits_rows(&self, head: &[u8]) -> bool {
        let rows = usize::try_from(self.vertices).unwrap_or(usize::MAX);
        let mut ends = head[HEADER_BYTES as usize..].chunks_exact(8).map(le_u64).take(rows);
        matches!(self.version, 1 | 2)
            && self.vertices <= MAX_VERTICES
            && ends
                .try_fold(0, |last, end| (last <= end && end <= self.edges).then_some(end))
                .is_some()
    }
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Format for Gr {
    fn name(&self) -> &'static str {
        "gr"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["gr", "sgr", "tgr", "cgr", "csgr", "wgr"]
    }

    fn recognises(&self, source: &Source) -> bool {
        Header::parse(source.head()).is_some_and(|header| match arrays::known_len(source) {
            Some(len) => header.layout(len).is_ok(),
            None => header.fits_rows(source.head()),
        })
    }

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let bytes = source.bytes()?;
        let (header, layout) = Header::read(&bytes)?;
        if header.vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(source.name(), header.vertices));
        }
        let kind = header.weight_kind(&bytes, options)?;
        let reader = Reader {
            bytes: &bytes,
            meter: Meter::start(options.progress, "reading", bytes.len()),
            header,
            layout,
        };
        let adjacency: Adjacency = match kind {
            WeightKind::None => reader.csr::<()>()?.into(),
            WeightKind::U32 => reader.csr::<u32>()?.into(),
            WeightKind::F32 => reader.csr::<f32>()?.into(),
            WeightKind::F64 => reader.csr::<f64>()?.into(),
        };
        let read_as = format!(
            "Galois graph, version {}, {} bytes of data per edge, weights: {}",
            reader.header.version,
            reader.header.data_bytes,
            kind.name()
        );
        Ok(Graph::dense(adjacency, read_as))
    }

    fn shares(&self, source: Source, _: &ReadOptions<'_>) -> Result<Shares> {
        let source = source.on_disk(true)?;
        let bytes = source.bytes()?;
        let (header, layout) = Header::read(&bytes)?;
        let layout = RowLayout {
            vertices: header.vertices,
            edges: header.edges,
            out_edges: RowArrays {
                ends_at: HEADER_BYTES,
                targets_at: layout.targets_at,
                weights_at: layout.weights_at,
            },
            in_edges: None,
            targets: if header.version == 1 { Targets::U32 } else { Targets::U64 },
            weight_kind: header.weight_kind(&bytes, &ReadOptions::default())?,
            direction: Direction::Directed,
        };
        let ids = Ids::dense(layout.vertices as usize);
        Ok(Shares::Rows(RowFile::new(&source, layout, ids)?))
    }

    fn writer(&self) -> Option<&dyn Write> {
        Some(self)
    }
}

impl Header {
    /// What the data of each edge are taken for; the file does not say.
    fn weight_kind(&self, bytes: &ByteSource<'_>, options: &ReadOptions<'_>) -> Result<WeightKind> {
        let asked = options.weight_kind;
        if !options.weights || asked == Some(WeightKind::None) {
            return Ok(WeightKind::None);
        }
        match self.data_bytes {
            0 => Ok(WeightKind::None),
            4 if asked == Some(WeightKind::F32) => Ok(WeightKind::F32),
            4 => Ok(WeightKind::U32),
            8 if asked == Some(WeightKind::U32) => Ok(WeightKind::U32),
            8 => Ok(WeightKind::F64),
            other => Err(bytes.error(
                8,
                format!(
                    "{other} bytes of data per edge, expected 0, 4 or 8; the graph can be read \
                     without weights"
                ),
            )),
        }
    }
}

/// A file whose lengths have been found consistent.
struct Reader<'a> {
    bytes: &'a ByteSource<'a>,
    header: Header,
    layout: Layout,
    meter: Meter<'a>,
}

impl Reader<'_> {
    fn csr<W: Weight>(&self) -> Result<Csr<W>> {
        Ok(Csr::from_parts(self.offsets()?, self.targets()?, self.weights()?))
    }

    fn offsets(&self) -> Result<Buffer<u64>> {
        let Header { vertices, edges, .. } = self.header;
        let end_at = |v: usize| HEADER_BYTES + 8 * v as u64;
        let mut offsets = vec![0; vertices as usize + 1];
        self.bytes.read_into(HEADER_BYTES, &mut offsets[1..])?;
        let offsets = Buffer::from(offsets);
        if let Some(i) = self.first(&offsets, arrays::find_fall)? {
            let problem = arrays::fall_problem(i - 1, offsets[i - 1], offsets[i]);
            return Err(self.bytes.error(end_at(i - 1), problem));
        }
        let last = offsets[vertices as usize];
        if last != edges {
            let problem = format!("the last edge ends at {last}, but the header says {edges}");
            return Err(self.bytes.error(end_at(vertices as usize).saturating_sub(8), problem));
        }
        Ok(offsets)
    }

    fn targets(&self) -> Result<Buffer<LocalId>> {
        let (vertices, edges) = (self.header.vertices as usize, self.header.edges);
        let (from, size) = (self.layout.targets_at, self.header.target_bytes());
        let stray = |edge: u64, target: u64| {
            let problem = arrays::stray_problem(edge, target, vertices);
            self.bytes.error(from + size * edge, problem)
        };
        if self.header.version == 2 {
            let narrow = |first: u64, wide: &[u64], narrow: &mut [LocalId]| {
                let mut largest = 0;
                for (target, &id) in narrow.iter_mut().zip(wide) {
                    *target = LocalId(id as u32);
                    largest = id.max(largest);
                }
                self.meter.add(size * wide.len() as u64);
                if largest < vertices as u64 {
                    return Ok(());
                }
                let found = wide.iter().position(|&id| id >= vertices as u64);
                found.map_or(Ok(()), |i| Err(stray(first + i as u64, wide[i])))
            };
            return Ok(self.bytes.read_as(from, edges, narrow)?.into());
        }
        let targets = self.bytes.view::<LocalId>(from, edges)?;
        let find = |all: &[LocalId], range| arrays::find_stray(all, range, vertices);
        match self.first(&targets, find)? {
            Some(edge) => Err(stray(edge as u64, u64::from(targets[edge].0))),
            None => Ok(targets),
        }
    }

    fn weights<W: Weight>(&self) -> Result<Buffer<W>> {
        let (from, edges) = (self.layout.weights_at, self.header.edges);
        match (W::KIND, self.header.data_bytes) {
            (WeightKind::None, _) => return Ok(vec![W::default(); edges as usize].into()),
            (WeightKind::U32, 8) => return self.wide_weights(),
            _ => {}
        }
        let weights = self.bytes.view::<W>(from, edges)?;
        match self.first(&weights, arrays::find_unusable)? {
            Some(edge) => {
                let problem = arrays::unusable_problem(edge, weights[edge]);
                Err(self.bytes.error(from + (size_of::<W>() * edge) as u64, problem))
            }
            None => Ok(weights),
        }
    }

    /// 64-bit integers, as weights that hold 32 bits.
    fn wide_weights<W: Weight>(&self) -> Result<Buffer<W>> {
        let from = self.layout.weights_at;
        let narrow = |first: u64, wide: &[u64], narrow: &mut [W]| {
            for (i, (weight, &value)) in narrow.iter_mut().zip(wide).enumerate() {
                let Ok(fits) = u32::try_from(value) else {
                    let edge = first + i as u64;
                    let problem =
                        format!("the weight of edge {edge} is {value}, more than 32 bits");
                    return Err(self.bytes.error(from + 8 * edge, problem));
                };
                *weight = W::from_f64(f64::from(fits));
            }
            self.meter.add(8 * wide.len() as u64);
            Ok(())
        };
        Ok(self.bytes.read_as(from, self.header.edges, narrow)?.into())
    }

    fn first<T: bytemuck::Pod + Send + Sync>(
        &self,
        array: &Buffer<T>,
        find: impl Fn(&[T], Range<usize>) -> Option<usize> + Sync,
    ) -> Result<Option<usize>> {
        arrays::first(array, &self.meter, find).map_err(|e| Error::io(self.bytes.name(), "read", e))
    }
}

impl Write for Gr {
    fn numbering(&self, vertices: usize) -> Option<Ids> {
        Some(Ids::dense(vertices))
    }

    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
        let version = options.version.unwrap_or(1);
        if !matches!(version, 1 | 2) {
            return Err(Error::Request(format!(
                "gr: there is no version {version}; versions are 1 (32-bit destinations) and 2 \
                 (64-bit destinations)"
            )));
        }
        with_csr!(&graph.adjacency, csr => write(csr, version, out, options))
    }
}

fn write<W: Weight>(
    csr: &Csr<W>,
    version: u32,
    out: &mut Output,
    options: &WriteOptions<'_>,
) -> Result<()> {
    arrays::check_weights(csr)?;
    let (vertices, edges) = (csr.num_vertices() as u64, csr.num_edges());
    let data_bytes = size_of::<W>() as u64;
    let per_edge = u64::from(version) * 4 + data_bytes;
    let meter = Meter::start(options.progress, "writing", 8 * vertices + per_edge * edges);
    for number in [u64::from(version), data_bytes, vertices, edges] {
        out.write(&number.to_le_bytes())?;
    }
    arrays::write_array(out, &csr.offsets()[1..], &meter)?;
    if version == 1 {
        arrays::write_array(out, csr.all_targets(), &meter)?;
        if edges % 2 == 1 {
            out.write(&[0; 4])?;
        }
    } else {
        let mut wide = Vec::new();
        for targets in csr.all_targets().chunks(arrays::PIECE_BYTES / 8) {
            wide.clear();
            wide.extend(targets.iter().map(|t| u64::from(t.0)));
            arrays::write_array(out, &wide, &meter)?;
        }
    }
    arrays::write_array(out, csr.all_weights(), &meter)
}

#[cfg(test)]
mod tests;
