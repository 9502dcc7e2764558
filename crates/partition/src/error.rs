//! What can go wrong while a graph is being partitioned.

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input could not be read, or what was asked makes no sense for it.
    #[error(transparent)]
    Graph(#[from] parton_graph::Error),
    /// A peer was lost, silent or out of step.
    #[error(transparent)]
    Net(#[from] parton_net::Error),
    /// Two hosts do not agree on the vertices they share: a bug, or memory gone bad.
    #[error("hosts {host} and {peer} disagree on the {count} vertices they share")]
    Routes {
        /// The host that noticed.
        host: parton_net::HostId,
        /// The host it shares the vertices with.
        peer: parton_net::HostId,
        /// How many vertices the noticing host counts.
        count: usize,
    },
}

impl Error {
    /// The request makes no sense; `message` says what to do instead.
    pub fn request(message: impl Into<String>) -> Self {
        parton_graph::Error::Request(message.into()).into()
    }
}
