//! The teleport distribution: where a random surfer starts again.

use parton_engine::device;
use parton_graph::bits::BitSet;
use parton_graph::{GlobalId, Graph, LocalId};
use parton_sync::Substrate;

use super::{Dangling, PageRankOptions};
use crate::error::Result;
use crate::vertices;

/// The option that lists seeds.
const SEEDS: &str = "seeds";

/// The teleport distribution: equal on all vertices, or on all seeds.
pub(super) struct Teleport {
    /// Masters that are seeds; `None`: all masters.
    seeds: Option<BitSet>,
    /// Number of seeds, or of vertices, in the whole graph.
    places: f64,
}

impl Teleport {
    /// The distribution that is equal on this many vertices.
    pub(super) fn uniform(vertices: f64) -> Self {
        Teleport { seeds: None, places: vertices }
    }

    /// The distribution that was asked for. Every host must call this.
    pub(super) fn find(substrate: &mut Substrate<'_>, own: &PageRankOptions) -> Result<Self> {
        let partition = substrate.partition();
        let Some(mut vertices) = seeds(substrate, own)? else {
            return Ok(Teleport::uniform(partition.num_vertices() as f64));
        };
        vertices.sort_unstable();
        let mut seeds = BitSet::new(partition.num_masters());
        for master in 0..partition.num_masters() {
            if vertices.binary_search(&partition.global(LocalId(master as u32))).is_ok() {
                seeds.insert(master);
            }
        }
        Ok(Teleport { seeds: Some(seeds), places: vertices.len() as f64 })
    }

    /// The probabilities of all vertices of a whole graph.
    pub(super) fn in_graph(graph: &Graph, own: &PageRankOptions) -> Result<Vec<f64>> {
        let vertices = graph.num_vertices();
        let Some(ids) = &own.seeds else { return Ok(vec![1.0 / vertices as f64; vertices]) };
        let seeds = vertices::find_in(graph, ids, SEEDS)?;
        let mut probabilities = vec![0.0; vertices];
        seeds.iter().for_each(|seed| probabilities[seed.0 as usize] = 1.0 / seeds.len() as f64);
        Ok(probabilities)
    }

    /// Masters that are seeds, one bit each; `None`: all masters.
    pub(super) fn seeds(&self) -> Option<&[u64]> {
        self.seeds.as_ref().map(BitSet::words)
    }

    /// The probability of each place that the surfer may start again at.
    pub(super) fn place_probability(&self) -> f64 {
        1.0 / self.places
    }

    /// The probability of a master.
    pub(super) fn probability(&self, master: LocalId) -> f64 {
        if includes(self.seeds(), master) { self.place_probability() } else { 0.0 }
    }

    /// The rank that each included vertex gets in a round apart from its in-edges, if the vertices
    /// without out-edges had rank `lost` in all.
    pub(super) fn rank(&self, own: &PageRankOptions, lost: f64) -> f64 {
        let lost = match own.dangling {
            Dangling::Redistribute => lost,
            Dangling::Drop => 0.0,
        };
        (1.0 - own.damping + own.damping * lost) / self.places
    }
}

/// The seeds that were asked for, if any. Every host must call this.
pub(super) fn seeds(
    substrate: &mut Substrate<'_>,
    own: &PageRankOptions,
) -> Result<Option<Vec<GlobalId>>> {
    own.seeds.as_ref().map(|ids| vertices::find(substrate, ids, SEEDS)).transpose()
}

/// Whether the surfer may start again at a master.
#[device]
#[inline]
pub(super) fn includes(seeds: Option<&[u64]>, master: LocalId) -> bool {
    match seeds {
        Some(words) => words[master.index() / 64] >> (master.index() % 64) & 1 == 1,
        None => true,
    }
}
