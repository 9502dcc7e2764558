//! `complete`: every vertex joined to every other. The most edges a simple graph can have.

use std::fmt;

use crate::{Direction, Result};

use super::arguments::Arguments;
use super::{Generator, GeneratorKind};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "complete",
    syntax: "complete:N",
    help: "N vertices, each joined to all others (undirected)",
    parse,
};

struct Complete {
    num_vertices: u64,
    num_edges: u64,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let num_vertices = arguments.number("N")?;
    let others = num_vertices.saturating_sub(1);
    let num_edges = arguments.count("edges", u128::from(num_vertices) * u128::from(others))?;
    Ok(Box::new(Complete { num_vertices, num_edges }))
}

impl fmt::Display for Complete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "complete:{}", self.num_vertices)
    }
}

impl Generator for Complete {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        let others = self.num_vertices - 1;
        let (source, other) = (index / others, index % others);
        // The source itself is left out of the others.
        (source, other + u64::from(other >= source))
    }

    fn direction(&self) -> Direction {
        Direction::Undirected
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::spec::tests::lists;

    #[test]
    fn small_complete_graphs_are_exact() {
        assert_eq!(lists("complete:0"), Vec::<Vec<u32>>::new());
        assert_eq!(lists("complete:1"), [vec![0; 0]]);
        assert_eq!(lists("complete:2"), [vec![1], vec![0]]);
        assert_eq!(lists("complete:4"), [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]);
    }
}
