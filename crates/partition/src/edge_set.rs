//! Which of the graph's edges a host has, and from which of their ends it can visit them.

use std::sync::OnceLock;

use parton_graph::row_blocks::RowBlocks;
use parton_graph::{Adjacency, with_csr};

/// A host's edges between local ids.
///
/// The hosts' *own* edges are a partition of the graph's: every edge is one host's. They come by source
/// or by destination, and are turned around when an engine asks for the other end. Beside them a policy
/// may keep all in-edges of a host's masters.
pub(crate) struct EdgeSet {
    out_edges: OnceLock<Adjacency>,
    in_edges: OnceLock<Adjacency>,
    of_masters: InEdgesOfMasters,
    /// In-edges in row blocks, where this host is alone and the input keeps them.
    pub(crate) row_blocks: Option<RowBlocks>,
    /// Whether every edge of the graph is known to be there in both directions.
    pub(crate) is_symmetric: bool,
    /// Whether this host has the whole graph.
    is_alone: bool,
    /// Whether some host of the run computes on a device.
    is_beside_devices: bool,
}

/// All in-edges of a host's masters, from whatever host's vertices.
pub(crate) enum InEdgesOfMasters {
    NotKept,
    /// The graph is symmetric and all out-edges of masters are here: they are the in-edges, too.
    OutEdges,
    Rows(Adjacency),
}

/// From which ends hosts see an edge, without turning edges around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// From one end, on one host.
    OneEnd,
    /// From both ends, on the host that has the edge.
    BothEndsHere,
    /// From both ends, each on whatever host. All hosts must choose the same direction in a round: an
    /// edge on two hosts would otherwise be skipped by both.
    BothEndsSomewhere,
}

impl EdgeSet {
    /// The edges of a host, by source.
    pub(crate) fn by_source(edges: Adjacency, num_hosts: usize) -> Self {
        EdgeSet {
            out_edges: edges.into(),
            in_edges: OnceLock::new(),
            of_masters: InEdgesOfMasters::NotKept,
            row_blocks: None,
            is_beside_devices: false,
            is_symmetric: false,
            is_alone: num_hosts == 1,
        }
    }

    /// The same edges, taken to be by destination.
    pub(crate) fn turned(self) -> Self {
        EdgeSet { out_edges: self.in_edges, in_edges: self.out_edges, ..self }
    }

    /// Adds the same edges by destination.
    pub(crate) fn with_in_edges(self, in_edges: Option<Adjacency>) -> Self {
        EdgeSet { in_edges: in_edges.map_or_else(OnceLock::new, OnceLock::from), ..self }
    }

    /// Adds all in-edges of masters.
    pub(crate) fn with_in_edges_of_masters(self, of_masters: InEdgesOfMasters) -> Self {
        EdgeSet { of_masters, ..self }
    }

    /// The own edges alone, in a run in which some host computes on a device.
    pub(crate) fn beside_devices(self) -> Self {
        EdgeSet { of_masters: InEdgesOfMasters::NotKept, is_beside_devices: true, ..self }
    }

    pub(crate) fn is_beside_devices(&self) -> bool {
        self.is_beside_devices
    }

    /// The own edges, by whichever end needs no work.
    pub(crate) fn any(&self) -> &Adjacency {
        let at_hand = self.out_edges.get().or(self.in_edges.get());
        at_hand.expect("edges come by one end at least")
    }

    pub(crate) fn out_edges(&self) -> &Adjacency {
        self.out_edges.get_or_init(|| transposed(self.any()))
    }

    pub(crate) fn out_edges_at_hand(&self) -> Option<&Adjacency> {
        self.out_edges.get()
    }

    pub(crate) fn in_edges(&self) -> &Adjacency {
        let made = || self.in_edges.get_or_init(|| transposed(self.any()));
        self.in_edges_at_hand().unwrap_or_else(made)
    }

    pub(crate) fn in_edges_at_hand(&self) -> Option<&Adjacency> {
        match self.is_symmetric && self.is_alone {
            true => self.out_edges.get(),
            false => self.in_edges.get(),
        }
    }

    pub(crate) fn in_edges_of_masters(&self) -> Option<&Adjacency> {
        match &self.of_masters {
            InEdgesOfMasters::NotKept => None,
            InEdgesOfMasters::OutEdges => Some(self.out_edges()),
            InEdgesOfMasters::Rows(rows) => Some(rows),
        }
    }

    /// In-edges of masters that are stored beside the own edges.
    pub(crate) fn stored_in_edges_of_masters(&self) -> Option<&Adjacency> {
        match &self.of_masters {
            InEdgesOfMasters::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    pub(crate) fn coverage(&self) -> Coverage {
        if self.in_edges_of_masters().is_some() {
            Coverage::BothEndsSomewhere
        } else if self.in_edges_at_hand().is_some() {
            Coverage::BothEndsHere
        } else if self.is_symmetric {
            Coverage::BothEndsSomewhere
        } else {
            Coverage::OneEnd
        }
    }

    /// Bytes of the edges that were stored first.
    pub(crate) fn bytes(&self) -> u64 {
        self.any().bytes() + self.stored_in_edges_of_masters().map_or(0, Adjacency::bytes)
    }
}

fn transposed(edges: &Adjacency) -> Adjacency {
    with_csr!(edges, csr => csr.transposed().into())
}
