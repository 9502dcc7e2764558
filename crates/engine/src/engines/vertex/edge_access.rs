//! The edges that the messages of a vertex program travel along, by either end.

use parton_partition::Partition;
use parton_sync::Result;

use crate::program::{Properties, VertexProgram};
use crate::state::directions::Directions;
use crate::techniques::collector::Collector;

/// The edges that messages travel along.
pub(in crate::engines) struct EdgeAccess<'a, P: VertexProgram> {
    /// Edges by the end where messages start; `None` where messages are only ever collected.
    pub(in crate::engines) forward: Option<Directions<'a, P::Weight>>,
    /// Edges by the end where messages arrive; `None` where messages are only ever pushed.
    pub(in crate::engines) collector: Option<Collector<'a, P>>,
    pub(in crate::engines) num_edges: u64,
}

impl<'a, P: VertexProgram> EdgeAccess<'a, P> {
    pub(super) fn new(
        partition: &'a Partition,
        properties: Properties,
        pulls: bool,
        is_fused: bool,
    ) -> Result<Self> {
        let forward = (!is_fused).then(|| Directions::forward(partition, properties.edges));
        let collector =
            pulls.then(|| Collector::new(partition, properties, is_fused)).transpose()?;
        let of_forward = forward.as_ref().map(Directions::num_edges);
        let of_collector = || collector.as_ref().map_or(0, |collector| collector.num_edges());
        let num_edges = of_forward.unwrap_or_else(of_collector);
        Ok(EdgeAccess { forward, collector, num_edges })
    }
}
