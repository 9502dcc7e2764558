//! Outgoing edge cut: blocks balanced by out-edges, every edge with its source.
//!
//! Mirrors have no out-edges: they are only written, so nothing is ever broadcast to them.

use parton_net::HostId;

use crate::Result;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Row, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "oec",
    help: "outgoing edge cut: blocks balanced by out-edges, edges live with their source",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

/// Every row with its vertex's master: edges with their sources, or where rows are of in-edges, with
/// their destinations.
pub(super) struct WithSource(pub(super) Masters);

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    Ok(Box::new(WithSource(Masters::Blocks(setup.blocks_by_out_edges()?))))
}

impl Policy for WithSource {
    fn masters(&self) -> &Masters {
        &self.0
    }

    fn row(&self, master: HostId, _: usize) -> Row<'_> {
        Row::Together(master)
    }
}
