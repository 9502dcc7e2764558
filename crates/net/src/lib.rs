//! Bytes between the hosts of Parton. This crate knows no graph.
//!
//! A [`Cluster`] says where hosts run, and launches the same closure on each of them. Inside, a
//! [`Net`] sends and receives tagged messages and does what all hosts do together: barriers,
//! reductions, gathers, exchanges. Below it, a [`Transport`] of four methods moves the bytes.
//!
//! A program that runs on threads also runs on a simulated network, where one seed is one schedule.
//! A failure under one seed happens again under the same seed.
//!
//! ```
//! use parton_net::{Cluster, Error, HostId, Net, Tag};
//!
//! /// Every host greets the next one; then all add up the bytes they heard.
//! fn greet(net: &mut Net) -> Result<u64, Error> {
//!     let (hosts, me) = (net.num_hosts(), net.host().index());
//!     let tag = Tag::user(0, 0);
//!     let next = HostId(((me + 1) % hosts) as u16);
//!     net.send(next, tag, format!("hello from {me}").into_bytes())?;
//!     let (_, heard) = net.receive_any(tag)?;
//!     net.all_reduce(heard.len() as u64, |a, b| a + b)
//! }
//!
//! for mut cluster in [Cluster::local(4), Cluster::sim(4, 17)] {
//!     assert_eq!(cluster.launch(greet).unwrap(), [48, 48, 48, 48]);
//! }
//! ```
//!
//! The same closure also runs on the processes of an MPI launcher: see [`Cluster::mpi`].
//!
//! Reading order: [`transport`], [`net`], [`collective`], [`cluster`], [`transports`].

pub mod clock;
pub mod cluster;
pub mod collective;
pub mod error;
pub mod handover;
pub mod host;
mod inbox;
pub mod launch;
pub mod listen;
pub mod net;
mod pin;
mod rate;
pub mod transport;
pub mod transports;

pub use clock::Clock;
pub use cluster::Cluster;
pub use collective::Collective;
pub use error::{Error, Result};
pub use handover::Handover;
pub use host::HostId;
pub use launch::LaunchError;
pub use net::{Net, Traffic};
pub use transport::{Message, Tag, Transport};
pub use transports::mpi::Launcher;
pub use transports::sim::{Faults, SimAction, SimEvent, SimOptions, SimReport};
