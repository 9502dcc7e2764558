//! The sampled edges of a survey, and which of them thinner samples have.

use std::collections::HashMap;
use std::ops::Range;

use parton_graph::Csr;
use parton_graph::rows::Rows;

use super::draw::EDGES_PER_SLICE;

/// The thinnest sample has a quarter of the edges.
const MAX_THINNESS: u32 = 2;

/// Edges by source, and by destination with their places in the former.
pub(crate) struct Sample {
    pub(crate) rows: Rows,
    pub(crate) by_destination: Csr<u32>,
    /// Whether whole rows were sampled; else edges wherever they are.
    pub(crate) has_whole_rows: bool,
    /// The thinnest sample that an edge belongs to, for each place of `rows`; empty if there are no thinner ones.
    edge_thinness: Vec<u8>,
}

impl Sample {
    /// All edges of a graph.
    pub(super) fn whole(rows: Rows) -> Self {
        let adjacency = rows.adjacency.unweighted();
        let (offsets, targets) = (adjacency.offsets(), adjacency.all_targets());
        let places: Vec<u32> = (0..targets.len() as u32).collect();
        let placed =
            Csr::from_parts(offsets.to_vec().into(), targets.to_vec().into(), places.into());
        Sample {
            by_destination: placed.transposed(),
            rows: Rows { first: 0, adjacency },
            has_whole_rows: true,
            edge_thinness: Vec::new(),
        }
    }

    /// Rows that were made of these edges, in the order in which they were drawn.
    pub(super) fn drawn(rows: Rows, drawn: &[(u32, u32)], has_whole_rows: bool) -> Self {
        let drawn: HashMap<(u32, u32), u8> =
            drawn.iter().enumerate().map(|(place, &edge)| (edge, thinness(place))).collect();
        let sample = Sample { has_whole_rows, ..Self::whole(rows) };
        // A mirror image is in the samples of its original.
        let of = |source: u32, destination: u32| {
            drawn.get(&(source, destination)).or(drawn.get(&(destination, source)))
        };
        let mut edge_thinness = Vec::with_capacity(sample.rows.adjacency.all_targets().len());
        for vertex in 0..sample.num_vertices() {
            let targets = sample.row(vertex).map(|place| sample.target(place));
            edge_thinness
                .extend(targets.map(|target| of(vertex, target).copied().unwrap_or_default()));
        }
        Sample { edge_thinness, ..sample }
    }

    pub(crate) fn num_vertices(&self) -> u32 {
        self.rows.adjacency.num_vertices() as u32
    }

    /// The places of a vertex's edges.
    pub(crate) fn row(&self, vertex: u32) -> Range<usize> {
        let offsets = self.rows.adjacency.offsets();
        offsets[vertex as usize] as usize..offsets[vertex as usize + 1] as usize
    }

    /// Where the edge at a place leads.
    pub(crate) fn target(&self, place: usize) -> u32 {
        self.rows.adjacency.all_targets()[place].0
    }

    /// Whether the edge at a place belongs to the sample that is thinner by this power of two.
    pub(crate) fn keeps(&self, place: usize, thinner: u8) -> bool {
        thinner == 0 || self.edge_thinness[place] >= thinner
    }

    /// A block of the rows.
    pub(crate) fn block(&self, block: Range<u32>) -> Rows {
        let offsets = &self.rows.adjacency.offsets()[block.start as usize..=block.end as usize];
        let edges = offsets[0] as usize..offsets[block.len()] as usize;
        let targets = self.rows.adjacency.all_targets()[edges].to_vec();
        let offsets: Vec<u64> = offsets.iter().map(|offset| offset - offsets[0]).collect();
        let weights = vec![(); targets.len()];
        let csr = Csr::from_parts(offsets.into(), targets.into(), weights.into());
        Rows { first: block.start.into(), adjacency: csr.into() }
    }
}

/// The power of two by which a sample may be thinner and still has the edge that was drawn at this place:
/// thinner samples leave out slices, as the sample leaves out what lies between its own.
pub(super) fn thinness(place: usize) -> u8 {
    (place / EDGES_PER_SLICE as usize).trailing_zeros().min(MAX_THINNESS) as u8
}
