//! Writing `.parton`: everything is in memory, so all positions and checksums are known before
//! the first byte goes out, and the file can be packed on the way. In-edges, which no graph has,
//! are made for it.

use bytemuck::Zeroable;

use super::layout::{self, Header, StoredIds};
use super::{out_of_order, unordered_name};
use crate::formats::WriteOptions;
use crate::formats::arrays::{self, Meter};
use crate::parallel;
use crate::row_blocks::RowBlocks;
use crate::save::Output;
use crate::source::Slice;
use crate::{
    Adjacency, Csr, Direction, Error, Graph, Ids, LocalId, Result, Weight, WeightKind, with_csr,
};

pub(super) fn write(graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()> {
    if let Some(version) = options.version.filter(|&version| version != layout::VERSION) {
        return Err(Error::Request(format!(
            "parton: version {version} cannot be written, only {}",
            layout::VERSION
        )));
    }
    check(graph)?;
    let (id_kind, id_detail, id_arrays) = match &graph.ids {
        Ids::Range { first, .. } => (StoredIds::Range, *first, vec![]),
        Ids::Integers(ids) => (StoredIds::Integers, 0, vec![arrays::raw(ids)]),
        Ids::Names(names) => {
            let bytes = names.bytes();
            (StoredIds::Names, bytes.len() as u64, vec![arrays::raw(names.ends()), bytes])
        }
    };
    let turned = options.in_edges && graph.direction == Direction::Directed;
    let in_edges: Option<Adjacency> =
        turned.then(|| with_csr!(&graph.adjacency, csr => csr.transposed().into()));
    let mut header = Header {
        magic: layout::MAGIC,
        version: layout::VERSION,
        flags: flags(graph)
            | if in_edges.is_some() { layout::BOTH_WAYS } else { 0 }
            | if options.row_blocks.is_some() { layout::BLOCKS } else { 0 },
        weight_kind: graph.adjacency.weight_kind() as u8,
        id_kind: id_kind as u8,
        vertices: graph.num_vertices() as u64,
        edges: graph.num_edges(),
        id_detail,
        ..Header::zeroed()
    };
    if let Some(row_blocks) = options.row_blocks {
        row_blocks.of_edges(&graph.adjacency)?;
        let fillers = row_blocks.arrays().1.len() as u64 - header.edges;
        header.fillers.copy_from_slice(&fillers.to_le_bytes()[..6]);
    }
    let (sections, file_bytes) = header.sections().expect("what is in memory fits a file");
    let mut data = arrays_of(&graph.adjacency);
    data.extend(id_arrays);
    data.extend(in_edges.iter().flat_map(arrays_of));
    if let Some((ends, entries)) = options.row_blocks.map(RowBlocks::arrays) {
        data.extend([arrays::raw(ends), arrays::raw(entries)]);
    }

    let checksum = |array: &[u8]| -> Vec<u32> {
        parallel::map_owned(array.chunks(layout::BLOCK_BYTES), |_, block| crc32fast::hash(block))
    };
    let checksums: Vec<u32> = data.iter().flat_map(|array| checksum(array)).collect();
    header.file_bytes = file_bytes;
    header.tables_crc = layout::tables_crc(&sections, &checksums);
    header.header_crc = header.crc();

    let meter = Meter::start(options.progress, "writing", file_bytes);
    let mut written = 0;
    for table in [bytemuck::bytes_of(&header), arrays::raw(&sections), arrays::raw(&checksums)] {
        arrays::write_array(out, table, &meter)?;
        written += table.len() as u64;
    }
    for (section, array) in sections.iter().zip(data) {
        debug_assert_eq!(section.bytes, array.len() as u64, "{section:?}");
        let padding = vec![0u8; (section.at - written) as usize];
        arrays::write_array(out, &padding, &meter)?;
        arrays::write_array(out, array, &meter)?;
        written = section.at + section.bytes;
    }
    Ok(())
}

/// The arrays of one way to list the edges.
fn arrays_of(adjacency: &Adjacency) -> Vec<&[u8]> {
    let weights = with_csr!(adjacency, csr => arrays::raw(csr.all_weights()));
    let mut data = vec![arrays::raw(adjacency.offsets()), arrays::raw(adjacency.all_targets())];
    // A section without elements is written, one without a type is not.
    data.extend((adjacency.weight_kind() != WeightKind::None).then_some(weights));
    data
}

/// Refuses what could be written but not read again.
fn check(graph: &Graph) -> Result<()> {
    with_csr!(&graph.adjacency, csr => arrays::check_weights(csr))?;
    let (ids, vertices) = (graph.ids.len(), graph.num_vertices());
    if ids != vertices {
        return Err(Error::Request(format!("{ids} original ids for {vertices} vertices")));
    }
    let unordered = match &graph.ids {
        Ids::Range { .. } => None,
        Ids::Integers(ids) => ids.windows(2).position(|pair| pair[0] >= pair[1]).map(|v| v + 1),
        Ids::Names(names) => unordered_name(names, Slice::WHOLE),
    };
    unordered.map_or(Ok(()), |v| Err(Error::Request(out_of_order(v))))
}

fn flags(graph: &Graph) -> u32 {
    fn is_sorted<W: Weight>(csr: &Csr<W>) -> bool {
        parallel::all(csr.num_vertices(), |v| csr.targets(LocalId(v as u32)).is_sorted())
    }
    let undirected = if graph.direction == Direction::Undirected { layout::UNDIRECTED } else { 0 };
    let sorted = with_csr!(&graph.adjacency, csr => is_sorted(csr));
    undirected | if sorted { layout::SORTED } else { 0 }
}
