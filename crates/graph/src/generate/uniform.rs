//! `uniform`: every edge joins two vertices chosen at random, all equally likely (Erdős–Rényi,
//! with self-loops and parallel edges).

use std::fmt;

use crate::{Direction, Result};

use super::arguments::{Arguments, DEFAULT_SEED};
use super::random::{Purpose, Random};
use super::{Generator, GeneratorKind};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "uniform",
    syntax: "uniform:N,M[,SEED]",
    help: "N vertices and M edges between vertices chosen at random",
    parse,
};

struct Uniform {
    num_vertices: u64,
    num_edges: u64,
    seed: u64,
    random: Random,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let num_vertices = arguments.number("N")?;
    let num_edges = arguments.number("M")?;
    let seed = arguments.number_or("SEED", DEFAULT_SEED)?;
    if num_vertices == 0 && num_edges > 0 {
        return Err(arguments.error(format!("expected a vertex for {num_edges} edges, found none")));
    }
    let random = Random::new(seed, Purpose::Edges);
    Ok(Box::new(Uniform { num_vertices, num_edges, seed, random }))
}

impl fmt::Display for Uniform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uniform:{},{},{}", self.num_vertices, self.num_edges, self.seed)
    }
}

impl Generator for Uniform {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        let mut draws = self.random.draws(index);
        (draws.below(self.num_vertices), draws.below(self.num_vertices))
    }

    fn direction(&self) -> Direction {
        Direction::Directed
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::Spec;

    #[test]
    fn sources_and_destinations_are_uniform_and_unrelated() {
        let spec = Spec::parse("uniform:10,100000,4").unwrap();
        let mut counts = [[0u32; 10]; 10];
        for (source, destination) in (0..100_000).map(|i| spec.generator().edge(i)) {
            counts[source as usize][destination as usize] += 1;
        }
        // 1000 in each cell, with a standard deviation of 31.
        assert!(counts.as_flattened().iter().all(|&c| c.abs_diff(1000) < 160), "{counts:?}");
    }

    #[test]
    fn no_vertices_and_no_edges_is_a_graph() {
        let spec = Spec::parse("uniform:0,0").unwrap();
        assert_eq!((spec.generator().num_vertices(), spec.generator().num_edges()), (0, 0));
    }
}
