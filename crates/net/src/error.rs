//! What can go wrong between hosts, always with the host it happened to.

use crate::collective::Collective;
use crate::host::HostId;
use crate::transport::Tag;
use crate::transports::mpi::CallError;

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong while hosts talk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A host failed, or the way to it is cut.
    #[error("host {host} was lost")]
    HostLost {
        /// The host that is gone.
        host: HostId,
    },
    /// A host ended well, but something was still expected from it.
    #[error("host {host} has finished and sends nothing more")]
    HostFinished {
        /// The host that is done.
        host: HostId,
    },
    /// Nothing came within the patience of the waiting host.
    #[error("{} sent nothing under tag {tag} to host {host} for {seconds:.2} s", sender(*from))]
    Silent {
        /// The host that waited.
        host: HostId,
        /// Whom it waited for; `None` when any host would have done.
        from: Option<HostId>,
        /// What it waited for.
        tag: Tag,
        /// How long it waited.
        seconds: f64,
    },
    /// A message for a host outside the cluster.
    #[error("there is no host {to}: host {host} is one of {hosts}")]
    NoSuchHost {
        /// The host that asked.
        host: HostId,
        /// Whom it asked for.
        to: HostId,
        /// Number of hosts.
        hosts: usize,
    },
    /// Two hosts called different collectives where the same one was due.
    #[error(
        "collective {number}: host {host} called {called}, but host {peer} called {peer_called}"
    )]
    Mismatch {
        /// How many collectives both hosts had called before.
        number: u64,
        /// The host that noticed.
        host: HostId,
        /// What it called.
        called: Collective,
        /// The other host.
        peer: HostId,
        /// What the other called.
        peer_called: Collective,
    },
    /// A message came for a collective that had all it needed.
    #[error(
        "collective {number}: host {host} had all it needed when host {peer} sent more to {call}"
    )]
    Surplus {
        /// Number of the collective.
        number: u64,
        /// The host that noticed.
        host: HostId,
        /// The host that sent too much.
        peer: HostId,
        /// What the message belongs to.
        call: Collective,
    },
    /// Hosts reduce slices of different lengths, or part of a message is missing.
    #[error("host {host} expected {expected} bytes from host {peer} for {call}, got {found}")]
    Length {
        /// The host that noticed.
        host: HostId,
        /// The host that sent too much or too little.
        peer: HostId,
        /// What the message belongs to.
        call: Collective,
        /// Bytes due.
        expected: usize,
        /// Bytes received.
        found: usize,
    },
    /// An exchange needs one buffer for each host.
    #[error("host {host} gave {given} buffers to an exchange among {hosts} hosts")]
    Buffers {
        /// The host that asked.
        host: HostId,
        /// Buffers given.
        given: usize,
        /// Buffers needed.
        hosts: usize,
    },
    /// MPI failed in a way that has to do with no host in particular.
    #[error("MPI: {0}")]
    Mpi(CallError),
    /// A simulated program used up its steps: most likely it would never end.
    #[error("host {host} was stopped: the hosts made {steps} steps without coming to an end")]
    Endless {
        /// The host that was stopped.
        host: HostId,
        /// Sends and polls of all hosts.
        steps: u64,
    },
}

/// The subject of [`Error::Silent`].
fn sender(from: Option<HostId>) -> String {
    from.map_or("every host".into(), |host| format!("host {host}"))
}
