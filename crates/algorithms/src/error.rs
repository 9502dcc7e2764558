//! What can go wrong in an algorithm.

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in an algorithm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Hosts could not talk.
    #[error(transparent)]
    Sync(#[from] parton_sync::Error),
    /// The user asked for something that cannot be.
    #[error("{0}")]
    Request(String),
    /// The graph is not one that the algorithm is defined on.
    #[error("{0}")]
    Data(String),
}

impl From<parton_net::Error> for Error {
    fn from(error: parton_net::Error) -> Self {
        Error::Sync(error.into())
    }
}
