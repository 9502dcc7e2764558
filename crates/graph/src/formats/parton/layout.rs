//! Where everything lies in a `.parton` file. All of it follows from the header, so reader and
//! writer compute it with the same few lines, and a table that says otherwise is damage.
//!
//! ```text
//! 0    header, 64 bytes            counts, kinds, length of the file, checksums of both below
//! 64   section table               24 bytes per section: kind, element size, position, bytes
//!      block checksums             u32 per 1 MiB block of each section, section by section
//!      zeros up to a multiple of 64
//!      section · zeros · section · zeros · … · last section, where the file ends
//! ```
//!
//! `docs/files.md` describes every byte.

use bytemuck::{Pod, Zeroable};

use crate::csr::MAX_VERTICES;
use crate::row_blocks::ROWS_PER_STEP;
use crate::source::ByteSource;
use crate::weight::WeightKind;
use crate::{Direction, Error, Result};

/// First bytes of every file: not text, and broken by whatever "repairs" line ends.
pub(super) const MAGIC: [u8; 8] = *b"\x89PARTON\n";
/// The version written, and the only one read.
pub(super) const VERSION: u32 = 1;
/// Every edge is stored in both directions.
pub(super) const UNDIRECTED: u32 = 1;
/// The targets of every vertex ascend.
pub(super) const SORTED: u32 = 2;
/// The edges are there a second time, by where they lead.
pub(super) const BOTH_WAYS: u32 = 4;
/// The edges are there once more, in row blocks.
pub(super) const BLOCKS: u32 = 8;
/// How many bytes one checksum covers.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

const HEADER_BYTES: usize = size_of::<Header>();
/// The cache line, and more than any element needs.
const ALIGNMENT: u128 = 64;

/// The first 64 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    pub(super) flags: u32,
    pub(super) weight_kind: u8,
    pub(super) id_kind: u8,
    /// Number of fillers in row blocks, 48 bits.
    pub(super) fillers: [u8; 6],
    pub(super) vertices: u64,
    pub(super) edges: u64,
    /// Range: the first id. Names: their number of bytes. Otherwise 0.
    pub(super) id_detail: u64,
    pub(super) file_bytes: u64,
    pub(super) tables_crc: u32,
    /// Covers all bytes before it.
    pub(super) header_crc: u32,
}

/// How original ids are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum StoredIds {
    Range = 0,
    Integers = 1,
    Names = 2,
}

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum SectionKind {
    Offsets = 1,
    Targets = 2,
    Weights = 3,
    Ids = 4,
    NameEnds = 5,
    NameBytes = 6,
    InOffsets = 7,
    Sources = 8,
    InWeights = 9,
    BlockEnds = 10,
    BlockEntries = 11,
}

/// The sections of one way to list the edges: by source, or by destination.
#[derive(Clone, Copy)]
pub(super) struct EdgeSections {
    pub(super) offsets: SectionKind,
    /// The other end of each edge.
    pub(super) ends: SectionKind,
    pub(super) weights: SectionKind,
}

/// Edges by source.
pub(super) const OUT: EdgeSections = EdgeSections {
    offsets: SectionKind::Offsets,
    ends: SectionKind::Targets,
    weights: SectionKind::Weights,
};
/// Edges by destination.
pub(super) const IN: EdgeSections = EdgeSections {
    offsets: SectionKind::InOffsets,
    ends: SectionKind::Sources,
    weights: SectionKind::InWeights,
};

/// One entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Section {
    pub(super) kind: u32,
    pub(super) element_bytes: u32,
    pub(super) at: u64,
    pub(super) bytes: u64,
}

impl Section {
    /// Number of blocks, each with its checksum.
    pub(super) fn blocks(&self) -> u64 {
        self.bytes.div_ceil(BLOCK_BYTES as u64)
    }

    /// Where in the file its blocks start.
    pub(super) fn block_places(&self) -> impl Iterator<Item = u64> {
        let at = self.at;
        (0..self.blocks()).map(move |block| at + block * BLOCK_BYTES as u64)
    }
}

impl Header {
    pub(super) fn direction(&self) -> Direction {
        match self.flags & UNDIRECTED {
            0 => Direction::Directed,
            _ => Direction::Undirected,
        }
    }

    /// Whether in-edges are kept, too.
    pub(super) fn has_in_edges(&self) -> bool {
        self.flags & BOTH_WAYS != 0
    }

    /// Whether row blocks are kept, too.
    pub(super) fn has_row_blocks(&self) -> bool {
        self.flags & BLOCKS != 0
    }

    /// Number of entries of row blocks: edges and fillers.
    fn block_entries(&self) -> u128 {
        let mut fillers = [0; 8];
        fillers[..6].copy_from_slice(&self.fillers);
        u128::from(self.edges) + u128::from(u64::from_le_bytes(fillers))
    }

    pub(super) fn weight_kind(&self) -> Option<WeightKind> {
        WeightKind::ALL.get(usize::from(self.weight_kind)).copied()
    }

    pub(super) fn id_kind(&self) -> Option<StoredIds> {
        let kinds = [StoredIds::Range, StoredIds::Integers, StoredIds::Names];
        kinds.get(usize::from(self.id_kind)).copied()
    }

    /// The checksum of this header.
    pub(super) fn crc(&self) -> u32 {
        crc32fast::hash(&bytemuck::bytes_of(self)[..HEADER_BYTES - 4])
    }

    /// The sections and the length of the file they make, or `None` when no file is that long.
    pub(super) fn sections(&self) -> Option<(Vec<Section>, u64)> {
        // 128 bits: a few 64-bit counts times at most 8 bytes cannot overflow.
        let (vertices, edges) = (u128::from(self.vertices), u128::from(self.edges));
        let weight_bytes = self.weight_kind()?.bytes() as u32;
        let way = |way: EdgeSections| {
            let weights = (weight_bytes > 0).then_some((way.weights, weight_bytes, edges));
            [(way.offsets, 8, vertices + 1), (way.ends, 4, edges)].into_iter().chain(weights)
        };
        let mut wanted: Vec<_> = way(OUT).collect();
        match self.id_kind()? {
            StoredIds::Range => {}
            StoredIds::Integers => wanted.push((SectionKind::Ids, 8, vertices)),
            StoredIds::Names => {
                wanted.push((SectionKind::NameEnds, 8, vertices));
                wanted.push((SectionKind::NameBytes, 1, u128::from(self.id_detail)));
            }
        }
        if self.has_in_edges() {
            wanted.extend(way(IN));
        }
        if self.has_row_blocks() {
            let steps = vertices.div_ceil(ROWS_PER_STEP as u128);
            wanted.push((SectionKind::BlockEnds, 8, steps));
            wanted.push((SectionKind::BlockEntries, 4, self.block_entries()));
        }
        let bytes = |&(_, size, count): &(SectionKind, u32, u128)| u128::from(size) * count;
        let blocks = wanted.iter().map(|w| bytes(w).div_ceil(BLOCK_BYTES as u128)).sum::<u128>();
        let mut end = (HEADER_BYTES + wanted.len() * size_of::<Section>()) as u128 + 4 * blocks;
        let mut sections = Vec::new();
        for section in &wanted {
            let at = end.next_multiple_of(ALIGNMENT);
            end = at + bytes(section);
            sections.push(Section {
                kind: section.0 as u32,
                element_bytes: section.1,
                at: u64::try_from(at).ok()?,
                bytes: u64::try_from(bytes(section)).ok()?,
            });
        }
        Some((sections, u64::try_from(end).ok()?))
    }
}

/// Header and tables of a file, checked against each other and against its length.
pub(super) struct Contents {
    pub(super) header: Header,
    pub(super) weight_kind: WeightKind,
    pub(super) id_kind: StoredIds,
    pub(super) sections: Vec<Section>,
    /// Of all blocks of all sections, in order.
    pub(super) checksums: Vec<u32>,
}

impl Contents {
    /// Reads and checks everything but the sections themselves.
    pub(super) fn read(bytes: &ByteSource<'_>) -> Result<Self> {
        let header = read_header(bytes)?;
        let newer = |at: u64, what: String| {
            bytes.error(at, format!("{what}: the file was made by a newer Parton"))
        };
        if header.flags & !(UNDIRECTED | SORTED | BOTH_WAYS | BLOCKS) != 0 {
            return Err(newer(12, format!("unknown flags {:#x}", header.flags)));
        }
        if header.has_in_edges() && header.direction() == Direction::Undirected {
            return Err(bytes.error(12, "in-edges of an undirected graph, which are its out-edges"));
        }
        let weight_kind = header
            .weight_kind()
            .ok_or_else(|| newer(16, format!("unknown kind of weights {}", header.weight_kind)))?;
        let id_kind = header
            .id_kind()
            .ok_or_else(|| newer(17, format!("unknown kind of ids {}", header.id_kind)))?;
        if header.fillers != [0; 6] && !header.has_row_blocks() {
            return Err(newer(18, format!("reserved bytes are {:?}", header.fillers)));
        }
        if header.vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(bytes.name(), header.vertices));
        }
        let last = header.vertices.saturating_sub(1);
        if id_kind == StoredIds::Range && header.id_detail.checked_add(last).is_none() {
            let problem = format!(
                "ids of {} vertices from {} on exceed 64 bits",
                header.vertices, header.id_detail
            );
            return Err(bytes.error(40, problem));
        }
        if header.file_bytes != bytes.len() {
            let problem =
                format!("expected {} bytes, but the file has {}", header.file_bytes, bytes.len());
            return Err(bytes.error(48, problem));
        }
        let sections = header.sections().filter(|(_, end)| *end == header.file_bytes);
        let Some((sections, _)) = sections else {
            let problem = format!(
                "{} vertices and {} edges do not make {} bytes",
                header.vertices, header.edges, header.file_bytes
            );
            return Err(bytes.error(24, problem));
        };
        let checksums = read_tables(bytes, &header, &sections)?;
        Ok(Contents { header, weight_kind, id_kind, sections, checksums })
    }

    /// A section of this file and the checksums of its blocks.
    pub(super) fn section(&self, kind: SectionKind) -> (Section, &[u32]) {
        let index = self.sections.iter().position(|section| section.kind == kind as u32);
        self.numbered_section(index.expect("sections follow the header"))
    }

    /// The section that holds the byte at position `at`.
    pub(super) fn section_at(&self, at: u64) -> (Section, &[u32]) {
        let index = self.sections.iter().rposition(|section| section.at <= at);
        self.numbered_section(index.expect("a byte of a section"))
    }

    fn numbered_section(&self, index: usize) -> (Section, &[u32]) {
        let before: u64 = self.sections[..index].iter().map(Section::blocks).sum();
        let section = self.sections[index];
        (section, &self.checksums[before as usize..][..section.blocks() as usize])
    }
}

fn read_header(bytes: &ByteSource<'_>) -> Result<Header> {
    let mut header = Header::zeroed();
    bytes.read_at(0, bytemuck::bytes_of_mut(&mut header))?;
    if header.magic != MAGIC {
        return Err(bytes.error(0, "not a Parton file: the first bytes are not its magic number"));
    }
    // Before the checksum, which a later version may put elsewhere.
    if header.version != VERSION {
        let problem = format!(
            "version {}, expected {VERSION}: the file was made by a newer Parton, or is damaged",
            header.version
        );
        return Err(bytes.error(8, problem));
    }
    if header.header_crc != header.crc() {
        let problem = damaged("header", header.header_crc, header.crc());
        return Err(bytes.error(HEADER_BYTES as u64 - 4, problem));
    }
    Ok(header)
}

/// Reads both tables, whose extent has been found to lie inside the file.
fn read_tables(bytes: &ByteSource<'_>, header: &Header, sections: &[Section]) -> Result<Vec<u32>> {
    let table_at = HEADER_BYTES as u64;
    let table: Vec<Section> = bytes.read_array(table_at, sections.len() as u64)?;
    let checksums_at = table_at + size_of_val(sections) as u64;
    let blocks = sections.iter().map(Section::blocks).sum();
    let checksums: Vec<u32> = bytes.read_array(checksums_at, blocks)?;
    let crc = tables_crc(&table, &checksums);
    if crc != header.tables_crc {
        return Err(bytes.error(table_at, damaged("tables", header.tables_crc, crc)));
    }
    for (i, (found, expected)) in table.iter().zip(sections).enumerate() {
        if found != expected {
            let at = table_at + (i * size_of::<Section>()) as u64;
            let problem = format!("section {i}: expected {expected:?}, found {found:?}");
            return Err(bytes.error(at, problem));
        }
    }
    Ok(checksums)
}

/// The checksum of both tables.
pub(super) fn tables_crc(sections: &[Section], checksums: &[u32]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytemuck::cast_slice(sections));
    hasher.update(bytemuck::cast_slice(checksums));
    hasher.finalize()
}

/// Says that a checksum does not match.
pub(super) fn damaged(what: &str, expected: u32, found: u32) -> String {
    format!("the {what} is damaged: expected checksum {expected:08x}, found {found:08x}")
}
