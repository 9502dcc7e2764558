//! `star`: vertex 0 joined to all others. The most uneven degrees a graph can have.

use std::fmt;

use crate::{Direction, Result};

use super::arguments::Arguments;
use super::{Generator, GeneratorKind};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "star",
    syntax: "star:N",
    help: "N vertices, the first joined to all others (undirected)",
    parse,
};

struct Star {
    num_vertices: u64,
    num_edges: u64,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let num_vertices = arguments.number("N")?;
    let num_edges = arguments.count("edges", 2 * u128::from(num_vertices.saturating_sub(1)))?;
    Ok(Box::new(Star { num_vertices, num_edges }))
}

impl fmt::Display for Star {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "star:{}", self.num_vertices)
    }
}

impl Generator for Star {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        let ray = index / 2 + 1;
        if index.is_multiple_of(2) { (0, ray) } else { (ray, 0) }
    }

    fn direction(&self) -> Direction {
        Direction::Undirected
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::spec::tests::lists;

    #[test]
    fn small_stars_are_exact() {
        assert_eq!(lists("star:0"), Vec::<Vec<u32>>::new());
        assert_eq!(lists("star:1"), [vec![0; 0]]);
        assert_eq!(lists("star:2"), [vec![1], vec![0]]);
        assert_eq!(lists("star:4"), [vec![1, 2, 3], vec![0], vec![0], vec![0]]);
    }
}
