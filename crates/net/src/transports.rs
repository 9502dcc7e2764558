//! The ways bytes travel, one file each.
//!
//! - `local`: hosts are thread groups of this process; a message is a moved buffer.
//! - [`mpi`]: hosts are processes that a launcher started; a message goes through its MPI.
//! - [`sim`]: threads again, under a simulated network, one seed for one schedule.

pub(crate) mod local;
pub mod mpi;
pub mod sim;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::host::HostId;
use crate::net::Departure;
use crate::transport::{Message, Transport};

/// A place where hosts of this process meet for one launch.
pub(crate) trait Venue: Sync {
    /// Takes a host's end; called once for each host, on the thread that runs it. Dropping the end
    /// tells the peers that the host is lost, unless [`Venue::finish`] came before.
    fn join(&self, host: HostId) -> Box<dyn Transport>;

    /// The host did all it had to and is about to drop its end.
    fn finish(&self, host: HostId);

    /// The time that counts here.
    fn clock(&self) -> Clock;
}

/// What arrives at a host.
pub(crate) enum News {
    /// A message.
    Message(Message),
    /// A peer went away.
    Gone(HostId, Departure),
}

impl News {
    /// As [`Transport::poll`] tells it.
    fn polled(self) -> Result<Option<Message>> {
        match self {
            News::Message(message) => Ok(Some(message)),
            News::Gone(host, Departure::Lost) => Err(Error::HostLost { host }),
            News::Gone(host, Departure::Finished) => Err(Error::HostFinished { host }),
        }
    }
}
