//! What can go wrong between proxies.

use parton_net::{HostId, Tag};

use crate::encode::WireError;

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong while hosts synchronise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A host was lost or silent.
    #[error(transparent)]
    Net(#[from] parton_net::Error),
    /// The device that holds a field, or computes with it, failed or was lost.
    #[error("{device} failed: {reason}")]
    Device {
        /// Which device, as users call it.
        device: String,
        /// What it said.
        reason: String,
    },
    /// The device does not have enough memory.
    #[error("{device}: {reason}")]
    DeviceMemory {
        /// Which device, as users call it.
        device: String,
        /// What is needed, what there is, and what would fit.
        reason: String,
    },
    /// The device cannot run this program, whatever the graph.
    #[error("{device} cannot run this: {reason}")]
    DeviceMisfit {
        /// Which device, as users call it.
        device: String,
        /// Why.
        reason: String,
    },
    /// A message that no host of this version writes.
    #[error("host {from} sent a message that cannot be read: {error}")]
    Wire {
        /// Who sent it.
        from: HostId,
        /// What is wrong with it.
        error: WireError,
    },
    /// A message about a vertex that the receiver does not expect.
    #[error("host {from} sent a value for vertex {id}, which it does not share with host {host}")]
    NotShared {
        /// Who sent it.
        from: HostId,
        /// Who received it.
        host: HostId,
        /// The vertex.
        id: u32,
    },
    /// Hosts were asked not to wait for each other in a program that needs them to.
    #[error("hosts have to wait for each other (`pace` bsp): {why}")]
    NeedsRounds {
        /// Why.
        why: String,
    },
    /// An engine was asked to run a program, or a graph, of a kind that it does not run.
    #[error("engine {engine} runs no {what}")]
    Misfit {
        /// The engine.
        engine: &'static str,
        /// The kind of program or graph.
        what: &'static str,
    },
    /// A program came to a point from which no host can go on.
    #[error("program {program} cannot go on: {why}")]
    Program {
        /// Its name.
        program: String,
        /// Why.
        why: String,
    },
    /// Edges of a file that were not looked at before are damaged.
    #[error(transparent)]
    Graph(#[from] parton_graph::Error),
    /// A program asks for weights of a type that those of the graph do not fit.
    #[error(transparent)]
    Weight(#[from] parton_graph::weight::UnfitWeight),
    /// A ticket for memory that was not left for this host.
    #[error("host {from} handed over memory that is not there, or not a field's")]
    Handover {
        /// Who sent it.
        from: HostId,
    },
    /// A message about a part of a route that is not there.
    #[error("host {from} sent values for piece {piece} of a route of {pieces}")]
    Piece {
        /// Who sent it.
        from: HostId,
        /// The piece it is about.
        piece: usize,
        /// Pieces there are.
        pieces: usize,
    },
    /// A message from a time when hosts did not wait for each other, and that is over.
    #[error(
        "host {from} sent a message under tag {tag} to host {host}, too late for epoch {epoch}"
    )]
    Late {
        /// Who sent it.
        from: HostId,
        /// Who received it.
        host: HostId,
        /// What it was for.
        tag: Tag,
        /// The epoch in which it was found.
        epoch: u64,
    },
    /// A message without fixed size that cannot be read.
    #[error("host {from} sent a list that makes no sense")]
    Shipment {
        /// Who sent it.
        from: HostId,
    },
    /// More values than global ids can tell apart.
    #[error(
        "{lanes} values of each of {vertices} vertices are too many to travel with global ids: \
         leave `optimize` as it is, so that hosts agree on an order instead"
    )]
    TooManyValues {
        /// Vertices of the graph.
        vertices: u64,
        /// Values of each.
        lanes: u64,
    },
    /// A tally that no host of this version writes.
    #[error("host {from} sent a tally that makes no sense")]
    Tally {
        /// Who sent it.
        from: HostId,
    },
    /// A snapshot that no host of this version takes, or one taken twice.
    #[error("host {from} sent a snapshot that makes no sense")]
    Snapshot {
        /// Who sent it.
        from: HostId,
    },
}
