//! What can go wrong in a run.

use std::fmt;

use crate::{algorithms, gpu, graph, net, partition, sync};

/// Result of the calls in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in a [run](crate::run()).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be read, or the request makes no sense for it.
    Graph(graph::Error),
    /// The graph cannot be partitioned.
    Partition(partition::Error),
    /// The program cannot be run as asked, or its hosts failed.
    Algorithm(algorithms::Error),
    /// A host's device is not there, or cannot be used.
    Device(gpu::Error),
    /// Hosts could not be started, or one of them panicked.
    Launch(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Graph(error) => error.fmt(f),
            Error::Partition(error) => error.fmt(f),
            Error::Algorithm(error) => error.fmt(f),
            Error::Device(error) => error.fmt(f),
            Error::Launch(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

impl From<graph::Error> for Error {
    fn from(error: graph::Error) -> Self {
        Error::Graph(error)
    }
}

impl From<partition::Error> for Error {
    fn from(error: partition::Error) -> Self {
        match error {
            partition::Error::Graph(error) => Error::Graph(error),
            error => Error::Partition(error),
        }
    }
}

impl From<algorithms::Error> for Error {
    fn from(error: algorithms::Error) -> Self {
        Error::Algorithm(error)
    }
}

impl From<gpu::Error> for Error {
    fn from(error: gpu::Error) -> Self {
        Error::Device(error)
    }
}

impl From<sync::Error> for Error {
    fn from(error: sync::Error) -> Self {
        Error::Algorithm(error.into())
    }
}

impl From<net::Error> for Error {
    fn from(error: net::Error) -> Self {
        Error::Algorithm(error.into())
    }
}

impl From<net::LaunchError<Error>> for Error {
    fn from(error: net::LaunchError<Error>) -> Self {
        match error {
            net::LaunchError::Failed { error, .. } => error,
            other => Error::Launch(other.to_string()),
        }
    }
}
