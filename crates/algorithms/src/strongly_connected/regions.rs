//! The least label that reaches a vertex inside its region of the graph.

use parton_engine::{Edges, Relaxation, Vertex};
use parton_graph::LocalId;
use parton_sync::reduction::Min;

/// The region of vertices that take no part.
pub(super) const NO_REGION: u32 = u32::MAX;

/// Labels that travel along edges, in or out, between vertices of the same region. All proxies of a vertex
/// must know its region and what it starts with.
pub(super) struct Regional<'r> {
    pub(super) edges: Edges,
    /// Of all proxies.
    pub(super) regions: &'r [u32],
    /// The label of a proxy before the first round, if any.
    pub(super) start: &'r (dyn Fn(LocalId) -> Option<u32> + Sync),
}

impl Relaxation for Regional<'_> {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    const FILTERS: bool = true;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        let takes_part = self.regions[vertex.local.index()] != NO_REGION;
        takes_part.then(|| (self.start)(vertex.local)).flatten()
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
