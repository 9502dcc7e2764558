//! The least label that reaches a vertex inside its region of the graph.

use parton_engine::{Edges, Relaxation, Vertex, device};
use parton_graph::LocalId;
use parton_sync::reduction::Min;

/// The region of vertices that take no part.
pub(super) const NO_REGION: u32 = u32::MAX;

/// Labels that travel along edges, in or out, between vertices of the same region. All proxies of a vertex
/// must know its region.
pub(super) struct Regional<'r> {
    pub(super) edges: Edges,
    /// Of all proxies.
    pub(super) regions: &'r [u32],
    /// Whether the label of a vertex is its shuffled id; its id otherwise.
    pub(super) is_shuffled: bool,
    /// Whether only the vertices that their regions are called after start with their labels.
    pub(super) only_origins: bool,
}

/// A pseudo-random permutation of ids that never yields [`NO_REGION`].
#[device]
fn shuffled_label(id: u32) -> u32 {
    // No vertex has the greatest id, so its number is free.
    match shuffle(id) {
        NO_REGION => shuffle(u32::MAX),
        number => number,
    }
}

/// A pseudo-random permutation of numbers.
#[device]
fn shuffle(number: u32) -> u32 {
    let mut bits = number;
    bits = (bits ^ bits >> 16).wrapping_mul(0x7feb_352d);
    bits = (bits ^ bits >> 15).wrapping_mul(0x846c_a68b);
    bits ^ bits >> 16
}

#[device]
impl Relaxation for Regional<'_> {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    const FILTERS: bool = true;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        let region = self.regions[vertex.local.index()];
        let id = vertex.id().0 as u32;
        let label = if self.is_shuffled { shuffled_label(id) } else { id };
        let starts = region != NO_REGION && (!self.only_origins || region == label);
        starts.then_some(label)
    }

    #[inline]
    fn relax(&self, label: u32, (): ()) -> u32 {
        label
    }

    #[inline]
    fn passes(&self, from: LocalId, to: LocalId, (): ()) -> bool {
        self.regions[from.index()] == self.regions[to.index()]
    }

    fn edges(&self) -> Edges {
        self.edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation::checks;
    use crate::translation::harness::Random;

    #[test]
    fn shuffled_ids_are_distinct() {
        let mut all: Vec<u32> =
            (0..100_000).chain(u32::MAX - 1000..u32::MAX).map(shuffled_label).collect();
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b) && all.last() < Some(&NO_REGION));
    }

    #[test]
    fn translation() {
        // Every other vertex is the one that its region is called after.
        let mut regions: Vec<u32> = (0..64).map(|id| shuffled_label(id / 2 * 2)).collect();
        regions.extend([NO_REGION, 65]);
        let globals: Vec<u32> = (0..66).collect();
        for (is_shuffled, only_origins) in [(true, true), (true, false), (false, true)] {
            let edges = Edges::Out;
            let regional = Regional { edges, regions: &regions, is_shuffled, only_origins };
            checks::relaxation(&regional, &globals, Random::value);
        }
    }
}
