//! Serialized graphs of the GAP Benchmark Suite, `.sg` and, with weights, `.wsg`. Read only.
//!
//! ```text
//! byte   0    u8   1: directed, 0: undirected
//!        1    i64  edges, as the writer counts them
//!        9    i64  vertices N
//!        17   i64 × (N + 1)       where each vertex's neighbours start; the last is their number A
//! then        A neighbours        .sg: i32 vertex          .wsg: i32 vertex, i32 weight
//! directed:   i64 × (N + 1), A neighbours    the same edges again, by destination; not needed here
//! ```
//!
//! All numbers are little-endian. GAP writes A as the number of edges; other tools write the
//! number of undirected edges, half of it when there are no self-loops. So A is taken from the
//! offsets, and the header must agree in one of the two ways. Whether there are weights is not
//! said anywhere, but follows from the length.

use super::{Format, Opened, ReadOptions, arrays};
use crate::rows::{RowArrays, RowFile, RowLayout, StoredWeights, Targets};
use crate::source::{ByteSource, Compression, Source};
use crate::weight::WeightKind;
use crate::{Direction, Ids, Result};

/// The format.
pub struct Gap;

const HEADER_BYTES: u64 = 17;
/// Vertices are signed 32-bit numbers.
const MAX_VERTICES: u64 = 1 << 31;

/// The numbers at the beginning.
struct Header {
    directed: bool,
    edges: u64,
    vertices: u64,
}

impl Header {
    fn direction(&self) -> Direction {
        if self.directed { Direction::Directed } else { Direction::Undirected }
    }

    fn parse(head: &[u8]) -> Result<Self, (u64, String)> {
        let number = |at: usize| {
            let bytes = head[at..at + 8].try_into().expect("8 bytes");
            let value = i64::from_le_bytes(bytes);
            u64::try_from(value).map_err(|_| (at as u64, format!("{value}, expected a count")))
        };
        if head.len() < HEADER_BYTES as usize {
            let problem = format!("expected a header of 17 bytes, found {}", head.len());
            return Err((0, problem));
        }
        if head[0] > 1 {
            let problem = format!("expected 0 (undirected) or 1 (directed), found {}", head[0]);
            return Err((0, problem));
        }
        let header = Header { directed: head[0] == 1, edges: number(1)?, vertices: number(9)? };
        if header.vertices > MAX_VERTICES {
            let problem = format!("{} vertices, more than 32-bit numbers name", header.vertices);
            return Err((9, problem));
        }
        Ok(header)
    }

    /// The header of a file, how many neighbours follow, and whether they have weights.
    fn read(source: &Source, bytes: &ByteSource<'_>) -> Result<(Self, u64, bool)> {
        let mut head = [0; HEADER_BYTES as usize];
        bytes.read_at(0, &mut head)?;
        let header = Header::parse(&head).map_err(|(at, problem)| bytes.error(at, problem))?;
        let arcs = bytes.read_u64(header.neighbours_at() - 8)?;
        if !header.agrees(arcs) {
            let problem = format!("{} edges, but {arcs} neighbours are stored", header.edges);
            return Err(bytes.error(1, problem));
        }
        let fits = |size| header.file_bytes(arcs, size) == u128::from(bytes.len());
        let weighted = match (fits(4), fits(8)) {
            (true, true) => has_weighted_name(source) == Some(true),
            (false, true) => true,
            (true, false) => false,
            (false, false) => {
                let problem = format!(
                    "{} vertices and {arcs} neighbours make {} bytes, or {} with weights, but \
                     the file has {}",
                    header.vertices,
                    header.file_bytes(arcs, 4),
                    header.file_bytes(arcs, 8),
                    bytes.len()
                );
                return Err(bytes.error(0, problem));
            }
        };
        Ok((header, arcs, weighted))
    }

    fn neighbours_at(&self) -> u64 {
        HEADER_BYTES + 8 * (self.vertices + 1)
    }

    /// Whether the header's number of edges can mean `arcs` stored neighbours: each of them, or
    /// each undirected edge once, of which self-loops are stored once and all others twice.
    fn agrees(&self, arcs: u64) -> bool {
        self.edges == arcs
            || !self.directed && self.edges <= arcs && arcs <= self.edges.saturating_mul(2)
    }

    /// Length of a file with `arcs` neighbours of `size` bytes.
    fn file_bytes(&self, arcs: u64, size: u64) -> u128 {
        let offsets = 8 * (u128::from(self.vertices) + 1);
        let copies = if self.directed { 2 } else { 1 };
        u128::from(HEADER_BYTES) + copies * (offsets + u128::from(size) * u128::from(arcs))
    }
}

fn has_weighted_name(source: &Source) -> Option<bool> {
    let stem = Compression::strip(source.name()).0.to_ascii_lowercase();
    match stem.rsplit_once('.')?.1 {
        "sg" => Some(false),
        "wsg" => Some(true),
        _ => None,
    }
}

impl Format for Gap {
    fn name(&self) -> &'static str {
        "gap"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["sg", "wsg"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let (Some(_), Ok(header)) = (has_weighted_name(source), Header::parse(source.head()))
        else {
            return false;
        };
        // The number of neighbours lies behind the offsets, often out of sight: any length is
        // possible that one of the two ways of counting allows.
        arrays::known_len(source).is_none_or(|len| {
            let least = header.file_bytes(header.edges, 4);
            let most = header.file_bytes(header.edges.saturating_mul(2), 8);
            (least..=most).contains(&u128::from(len))
        })
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let bytes = source.bytes()?.into_owned();
        let (header, arcs, weighted) = Header::read(&source, &bytes)?;
        check_first(&bytes, bytes.read_u64(HEADER_BYTES)?)?;
        let wanted = options.weights && options.weight_kind != Some(WeightKind::None);
        let layout = RowLayout {
            vertices: header.vertices,
            edges: arcs,
            out_edges: RowArrays {
                ends_at: HEADER_BYTES + 8,
                stores_first: true,
                targets_at: header.neighbours_at(),
                weights_at: 0,
            },
            in_edges: None,
            targets: if weighted { Targets::WithWeights } else { Targets::U32 },
            weight_kind: if weighted && wanted { WeightKind::U32 } else { WeightKind::None },
            weights: StoredWeights::Same,
            direction: header.direction(),
        };
        let read_as = format!(
            "GAP serialized graph, {}, {}",
            if weighted { "weighted" } else { "unweighted" },
            if header.directed { "directed" } else { "undirected" }
        );
        let ids = Ids::dense(layout.vertices as usize);
        Ok(Opened::Rows(RowFile::new(bytes, layout, ids, read_as)?))
    }
}

/// The first vertex's neighbours start where neighbours do.
fn check_first(bytes: &ByteSource<'_>, offset: u64) -> Result<()> {
    match offset {
        0 => Ok(()),
        _ => {
            let problem = format!("the first offset is {}, expected 0", offset as i64);
            Err(bytes.error(HEADER_BYTES, problem))
        }
    }
}

#[cfg(test)]
mod tests;
