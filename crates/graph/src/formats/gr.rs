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
//! Nothing says whether the data are integers or fractions, and there is neither a magic number nor a checksum. A
//! reader can check that the counts make up the file's length, that no row ends before it starts, and that every
//! destination exists.
//!
//! Galois' own code disagrees with itself about the padding of version 2: what loads a file skips
//! it, what computes a file's size and what writes large files leave it out. Both are read here;
//! the length tells them apart. Written is the one without, which is all the size formula gives
//! room for; 64-bit destinations need no padding to be aligned anyway.

use super::arrays::{self, Meter};
use super::{Format, Opened, ReadOptions, Write, WriteOptions};
use crate::csr::MAX_VERTICES;
use crate::id_map::Ids;
use crate::rows::{RowArrays, RowFile, RowLayout, StoredWeights, Targets};
use crate::save::Output;
use crate::source::{ByteSource, Source};
use crate::weight::{Weight, WeightKind};
use crate::{Csr, Direction, Error, Graph, Result, with_csr};

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

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let bytes = source.bytes()?.into_owned();
        let (header, layout) = Header::read(&bytes)?;
        let weight_kind = header.weight_kind(&bytes, options)?;
        let is_wide = weight_kind == WeightKind::U32 && header.data_bytes == 8;
        let layout = RowLayout {
            vertices: header.vertices,
            edges: header.edges,
            out_edges: RowArrays {
                ends_at: HEADER_BYTES,
                stores_first: false,
                targets_at: layout.targets_at,
                weights_at: layout.weights_at,
            },
            in_edges: None,
            targets: if header.version == 1 { Targets::U32 } else { Targets::U64 },
            weight_kind,
            weights: if is_wide { StoredWeights::U64 } else { StoredWeights::Same },
            direction: Direction::Directed,
        };
        let read_as = format!(
            "Galois graph, version {}, {} bytes of data per edge, weights: {}",
            header.version,
            header.data_bytes,
            weight_kind.name()
        );
        let ids = Ids::dense(layout.vertices as usize);
        Ok(Opened::Rows(RowFile::new(bytes, layout, ids, read_as)?))
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
