//! Graphs in and out of Parton: ids, compressed sparse rows, bit sets, file formats, generators.
//!
//! This crate knows no hosts. Reading order: [`ids`], [`csr`], [`build`], [`ingest`], [`source`],
//! [`formats`].

pub mod bits;
pub mod buffer;
pub mod build;
mod column_names;
pub mod csr;
mod dense_index;
pub mod edge_file;
pub mod error;
pub mod formats;
pub mod generate;
pub mod graph;
pub mod hash;
pub mod huge;
pub mod id_list;
pub mod id_map;
pub mod ids;
pub mod ingest;
mod intern;
pub mod mapped;
pub mod memory;
pub mod mirrored;
pub mod nearest;
mod pages;
pub mod parallel;
mod prefetch;
pub mod print;
pub mod progress;
pub mod reweigh;
pub mod row_blocks;
pub mod rows;
pub mod save;

pub mod source;
pub mod stats;
mod text;
mod thread_sets;
pub mod tidy;
mod transpose;
pub mod vertex_set;
pub mod weight;

#[cfg(target_endian = "big")]
compile_error!(
    "Parton maps little-endian files into memory and does not run on big-endian machines"
);

pub use buffer::Buffer;
pub use csr::Csr;
pub use dense_index::DenseIndex;
pub use error::{Error, Place, Result};
pub use graph::{Adjacency, Direction, Graph};
pub use id_map::{Ids, OriginalId};
pub use ids::{GlobalId, LocalId};
pub use ingest::VertexRange;
pub use prefetch::prefetch;
pub use thread_sets::ThreadSets;
pub use vertex_set::VertexSet;
pub use weight::{Weight, WeightKind};
