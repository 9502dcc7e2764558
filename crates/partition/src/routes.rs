//! Routes: the ordered vertices that two hosts share, agreed once and never translated again.
//!
//! The mirrors a host has of one peer's masters are ordered `[only written | both | only read]`: a
//! mirror is *written* if it has in-edges here, *read* if it has out-edges here. For data that
//! flows along edges, reducing needs the written ones, a prefix, and broadcasting the read ones, a
//! suffix. Data that flows against edges swaps the two; data that flows both ways needs all.

use std::ops::Range;

use parton_graph::LocalId;

/// Which way a program's data flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// From source to destination.
    Forward,
    /// From destination to source.
    Backward,
    /// Either way.
    Both,
}

/// Which way values travel between a master and its mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From mirrors to their master.
    Reduce,
    /// From a master to its mirrors.
    Broadcast,
}

/// Lengths of the three parts of a list of shared vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Mirrors with in-edges only.
    pub written: u32,
    /// Mirrors with in- and out-edges.
    pub both: u32,
    /// Mirrors with out-edges only.
    pub read: u32,
}

impl Parts {
    /// Number of shared vertices.
    pub fn len(self) -> usize {
        (self.written + self.both + self.read) as usize
    }

    /// Whether nothing is shared.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The places that take part in a phase.
    pub fn taking_part(self, flow: Flow, phase: Phase) -> Range<usize> {
        let (written, read) =
            (0..(self.written + self.both) as usize, self.written as usize..self.len());
        match (flow, phase) {
            (Flow::Both, _) => 0..self.len(),
            (Flow::Forward, Phase::Reduce) | (Flow::Backward, Phase::Broadcast) => written,
            (Flow::Forward, Phase::Broadcast) | (Flow::Backward, Phase::Reduce) => read,
        }
    }
}

/// What a host shares with one peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// First local id of this host's mirrors of the peer's masters: they are consecutive.
    pub(crate) first_mirror: u32,
    pub(crate) mirror_parts: Parts,
    /// This host's masters of which the peer has mirrors, in the peer's order.
    pub(crate) masters: Vec<LocalId>,
    pub(crate) master_parts: Parts,
}

impl Routes {
    /// This host's mirrors of the peer's masters that take part in a phase: consecutive local ids.
    pub fn mirrors(&self, flow: Flow, phase: Phase) -> Range<u32> {
        let places = self.mirror_parts.taking_part(flow, phase);
        self.first_mirror + places.start as u32..self.first_mirror + places.end as u32
    }

    /// This host's masters that take part in a phase with their mirrors at the peer.
    pub fn masters(&self, flow: Flow, phase: Phase) -> &[LocalId] {
        &self.masters[self.master_parts.taking_part(flow, phase)]
    }

    /// How this host's mirrors of the peer's masters are used.
    pub fn mirror_parts(&self) -> Parts {
        self.mirror_parts
    }

    /// How the peer's mirrors of this host's masters are used.
    pub fn master_parts(&self) -> Parts {
        self.master_parts
    }
}

/// A checksum of a list of vertices in order, and of its parts.
pub(crate) fn checksum(ids: impl Iterator<Item = u32>, parts: Parts) -> u64 {
    let mut sum =
        u64::from(parts.written) << 42 ^ u64::from(parts.both) << 21 ^ u64::from(parts.read);
    for id in ids {
        sum = (sum.rotate_left(5) ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    sum
}
