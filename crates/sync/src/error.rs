//! What can go wrong between proxies.

use parton_net::HostId;

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
}
