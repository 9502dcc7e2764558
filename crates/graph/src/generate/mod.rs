//! Graphs made instead of read: `rmat:18,16,42`, `grid:100x200`, `web:1000000,permute`.
//!
//! A [`Generator`] computes edge number `i` from its parameters and `i` alone. Threads, and later
//! hosts, can so make any slice of the edges without talking to each other, and the graph is the
//! same bytes for any number of them. Each generator is one file here and one line in [`ALL`].

mod arguments;
mod complete;
mod grid;
mod path;
mod permute;
mod random;
mod rmat;
mod shape;
mod spec;
mod star;
mod uniform;
mod web;
mod weights;

use std::fmt;
use std::ops::Range;

use crate::build::EdgeBatch;
use crate::{Direction, Result};

use arguments::Arguments;

pub use spec::Spec;
pub(crate) use weights::edge_weight;

/// A graph as a formula. Displays as the spec it comes from, defaults filled in.
pub trait Generator: fmt::Display + Send + Sync {
    /// Number of vertices: their ids are `0..num_vertices`.
    fn num_vertices(&self) -> u64;

    /// Number of edges, each direction of an undirected edge counted.
    fn num_edges(&self) -> u64;

    /// Source and destination of edge number `index`, which is below [`Generator::num_edges`].
    fn edge(&self, index: u64) -> (u64, u64);

    /// Whether every edge comes in both directions.
    fn direction(&self) -> Direction;

    /// Appends a slice of the edges. Inside this method [`Generator::edge`] is called directly,
    /// not through a pointer.
    fn edges(&self, indices: Range<u64>, edges: &mut EdgeBatch<u64, ()>) {
        for index in indices {
            let (source, destination) = self.edge(index);
            edges.push(source, destination, ());
        }
    }
}

/// One kind of generator, as the command lists it.
pub struct GeneratorKind {
    /// What a spec begins with, before the colon.
    pub name: &'static str,
    /// The parts of a spec; `[,permute[=SEED]]` may follow any.
    pub syntax: &'static str,
    /// What it makes, in one line.
    pub help: &'static str,
    parse: fn(&mut Arguments<'_>) -> Result<Box<dyn Generator>>,
}

/// Every kind of generator.
pub const ALL: &[GeneratorKind] =
    &[rmat::KIND, uniform::KIND, web::KIND, grid::KIND, path::KIND, star::KIND, complete::KIND];
