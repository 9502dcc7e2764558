//! All tests of this crate that can share a process: one program to link, and no core idle while
//! the longest of them runs.

mod building;
mod corpus;
mod documents;
#[path = "common/folder.rs"]
mod folder;
#[path = "common/real.rs"]
mod real;
mod real_graphs;
mod round_trip;
mod text;
mod vertex_set;
