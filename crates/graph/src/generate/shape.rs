//! Undirected graphs that follow from their number of vertices alone: `path:N`, `star:N`, `complete:N`.

use std::fmt;
use std::marker::PhantomData;

use crate::{Direction, Result};

use super::Generator;
use super::arguments::Arguments;

/// A formula for the edges between any number of vertices.
pub(super) trait Shape: Send + Sync + 'static {
    /// What its spec begins with.
    const NAME: &'static str;

    /// Number of edges between at least one vertex, each direction counted.
    fn num_edges(vertices: u128) -> u128;

    /// Source and destination of an edge.
    fn edge(vertices: u64, index: u64) -> (u64, u64);
}

struct Shaped<S> {
    num_vertices: u64,
    num_edges: u64,
    shape: PhantomData<S>,
}

pub(super) fn parse<S: Shape>(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let num_vertices = arguments.number("N")?;
    let edges = if num_vertices == 0 { 0 } else { S::num_edges(num_vertices.into()) };
    let num_edges = arguments.count("edges", edges)?;
    Ok(Box::new(Shaped::<S> { num_vertices, num_edges, shape: PhantomData }))
}

impl<S: Shape> fmt::Display for Shaped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", S::NAME, self.num_vertices)
    }
}

impl<S: Shape> Generator for Shaped<S> {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        S::edge(self.num_vertices, index)
    }

    fn direction(&self) -> Direction {
        Direction::Undirected
    }
}
