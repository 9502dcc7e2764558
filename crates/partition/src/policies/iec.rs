//! Incoming edge cut: blocks balanced by in-edges, every edge with its destination.
//!
//! Mirrors have no in-edges: they are only read, so nothing is ever reduced from them.

use std::borrow::Borrow;

use parton_net::HostId;

use super::oec::WithSource;
use crate::Result;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Row, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "iec",
    help: "incoming edge cut: blocks balanced by in-edges, edges live with their destination",
    argument: None,
    reads: Reads::InEdges,
    build,
};

/// Every edge with its destination's master.
pub(crate) struct WithDestination<M> {
    masters: M,
    hosts: Vec<HostId>,
}

impl<M: Borrow<Masters>> WithDestination<M> {
    pub(crate) fn new(masters: M, hosts: usize) -> Self {
        WithDestination { masters, hosts: HostId::all(hosts).collect() }
    }
}

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = Masters::Blocks(setup.blocks_by_in_edges()?);
    Ok(match setup.turned {
        true => Box::new(WithSource(masters)),
        false => Box::new(WithDestination::new(masters, setup.shares.len())),
    })
}

impl<M: Borrow<Masters> + Send + Sync> Policy for WithDestination<M> {
    fn masters(&self) -> &Masters {
        self.masters.borrow()
    }

    fn row(&self, _: HostId, _: usize) -> Row<'_> {
        Row::ByDestination(&self.hosts)
    }
}
