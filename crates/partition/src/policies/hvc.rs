//! Hybrid vertex cut: the edges of ordinary vertices stay with their source; those of vertices
//! with many out-edges go to their destinations' masters, so that no host owns all edges of a hub.

use parton_net::HostId;

use crate::Result;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Row, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "hvc",
    help: "hybrid vertex cut: as oec, but edges of large vertices live with their destination",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

/// With the source unless it has more than `threshold` out-edges.
pub(super) struct Hybrid {
    masters: Masters,
    hosts: Vec<HostId>,
    threshold: usize,
}

impl Hybrid {
    pub(super) fn new(masters: Masters, setup: &Setup<'_>) -> Self {
        let hosts = HostId::all(setup.shares.len()).collect();
        Hybrid { masters, hosts, threshold: setup.threshold }
    }
}

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = Masters::Blocks(setup.blocks_by_out_edges()?);
    Ok(Box::new(Hybrid::new(masters, setup)))
}

impl Policy for Hybrid {
    fn masters(&self) -> &Masters {
        &self.masters
    }

    fn row(&self, master: HostId, degree: usize) -> Row<'_> {
        match degree > self.threshold {
            true => Row::ByDestination(&self.hosts),
            false => Row::Together(master),
        }
    }
}
