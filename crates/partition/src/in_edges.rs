//! All in-edges of a host's masters, where a policy wants them beside the host's own edges.
//!
//! They come as the input keeps them, if it does: hosts then read their own, and nearly nothing
//! travels. Else every edge travels once, to its destination's master. Where each edge has its mirror
//! image, a vertex's out-edges are its in-edges, and nothing has to be done.

use parton_graph::rows::Rows;
use parton_graph::{WeightKind, with_csr};
use parton_net::Net;

use crate::Result;
use crate::edge_set::InEdgesOfMasters;
use crate::id_set::IdSet;
use crate::layout::Layout;
use crate::local_edges::local_edges;
use crate::policies::iec::WithDestination;
use crate::policy::Policy;
use crate::shuffle::{Received, shuffle, shuffle_all};

/// Where all in-edges of a host's masters are.
pub(crate) enum InEdges {
    /// They are the out-edges, which all live with their source's master.
    OutEdges,
    /// Runs of sources: the rows of destinations.
    ByDestination(Received),
    /// Runs of destinations: parts of rows of sources.
    BySource(Received),
}

impl InEdges {
    /// Brings them to their masters, from the rows that this host has read. Every host must call
    /// this, all with in-edges or none.
    pub(crate) fn gather(
        net: &mut Net,
        rows: &Rows,
        in_rows: Option<Rows>,
        is_symmetric: bool,
        policy: &dyn Policy,
    ) -> Result<Self> {
        if is_symmetric {
            return Ok(InEdges::OutEdges);
        }
        if let Some(in_rows) = in_rows {
            return Ok(InEdges::ByDestination(shuffle(net, in_rows, policy)?));
        }
        let policy = WithDestination::new(policy.masters(), net.num_hosts());
        Ok(InEdges::BySource(shuffle_all(net, rows, &policy)?))
    }

    /// Takes note of the vertices that are read at the source of one of them, and written at its
    /// destination. The ends of the host's own edges have been noted before.
    pub(crate) fn note_ends(&self, read: &IdSet, written: &IdSet) {
        match self {
            // They are the own edges turned around.
            InEdges::OutEdges => {
                read.extend_from_set(written);
                written.extend_from_set(read);
            }
            InEdges::ByDestination(received) => received.note_ends(written, read),
            InEdges::BySource(received) => received.note_ends(read, written),
        }
    }

    /// The same between local ids, each row a destination's.
    pub(crate) fn local(&self, layout: &Layout, weights: WeightKind) -> InEdgesOfMasters {
        match self {
            InEdges::OutEdges => InEdgesOfMasters::OutEdges,
            InEdges::ByDestination(received) => {
                InEdgesOfMasters::Rows(local_edges(received, layout, weights))
            }
            InEdges::BySource(received) => {
                let by_source = local_edges(received, layout, weights);
                InEdgesOfMasters::Rows(with_csr!(&by_source, csr => csr.transposed().into()))
            }
        }
    }

    /// Bytes these take until they are [local](InEdges::local).
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            InEdges::OutEdges => 0,
            InEdges::ByDestination(received) | InEdges::BySource(received) => received.bytes(),
        }
    }
}
