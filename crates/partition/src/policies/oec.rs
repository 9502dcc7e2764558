//! Outgoing edge cut: blocks balanced by out-edges, every edge with its source.
//!
//! Mirrors have no out-edges: they are only written, so nothing is ever broadcast to them.

use parton_net::HostId;

use crate::Result;
use crate::policy::{Kind, Masters, Policy, Row, Setup};

pub(super) const KIND: Kind = Kind {
    name: "oec",
    help: "outgoing edge cut: blocks balanced by out-edges, edges live with their source",
    argument: None,
    in_edges: false,
    build,
};

/// Every edge with its source's master.
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
