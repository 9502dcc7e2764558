//! Bytes between the hosts of Parton. This crate knows no graph.

pub mod host;

pub use host::HostId;
