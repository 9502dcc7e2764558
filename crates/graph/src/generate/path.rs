//! `path`: vertices in a row, each joined to the next. The largest diameter a graph can have.

use std::fmt;

use crate::{Direction, Result};

use super::arguments::Arguments;
use super::{Generator, GeneratorKind};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "path",
    syntax: "path:N",
    help: "N vertices in a row (undirected)",
    parse,
};

struct Path {
    num_vertices: u64,
    num_edges: u64,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let num_vertices = arguments.number("N")?;
    let num_edges = arguments.count("edges", 2 * u128::from(num_vertices.saturating_sub(1)))?;
    Ok(Box::new(Path { num_vertices, num_edges }))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path:{}", self.num_vertices)
    }
}

impl Generator for Path {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        let (a, b) = (index / 2, index / 2 + 1);
        if index.is_multiple_of(2) { (a, b) } else { (b, a) }
    }

    fn direction(&self) -> Direction {
        Direction::Undirected
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::spec::tests::lists;

    #[test]
    fn small_paths_are_exact() {
        assert_eq!(lists("path:0"), Vec::<Vec<u32>>::new());
        assert_eq!(lists("path:1"), [vec![0; 0]]);
        assert_eq!(lists("path:2"), [vec![1], vec![0]]);
        assert_eq!(lists("path:4"), [vec![1], vec![0, 2], vec![1, 3], vec![2]]);
    }
}
