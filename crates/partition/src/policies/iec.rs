//! Incoming edge cut: blocks balanced by in-edges, every edge with its destination.
//!
//! Mirrors have no in-edges: they are only read, so nothing is ever reduced from them.

use parton_net::HostId;

use crate::Result;
use crate::policy::{Kind, Masters, Policy, Row, Setup};

pub(super) const KIND: Kind = Kind {
    name: "iec",
    help: "incoming edge cut: blocks balanced by in-edges, edges live with their destination",
    argument: None,
    build,
};

struct WithDestination {
    masters: Masters,
    hosts: Vec<HostId>,
}

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = Masters::Blocks(setup.blocks_by_in_edges()?);
    let hosts = HostId::all(setup.shares.len()).collect();
    Ok(Box::new(WithDestination { masters, hosts }))
}

impl Policy for WithDestination {
    fn masters(&self) -> &Masters {
        &self.masters
    }

    fn row(&self, _: HostId, _: usize) -> Row<'_> {
        Row::ByDestination(&self.hosts)
    }
}
