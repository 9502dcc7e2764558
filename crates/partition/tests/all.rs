//! All tests of this crate that can share a process: one program to link, and no core idle while
//! the longest of them runs.

mod fit;
mod partitions;
mod plans;
mod shares;
