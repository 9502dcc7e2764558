//! `complete`: every vertex joined to every other. The most edges a simple graph can have.

use super::GeneratorKind;
use super::shape::{self, Shape};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: Complete::NAME,
    syntax: "complete:N",
    help: "N vertices, each joined to all others (undirected)",
    parse: shape::parse::<Complete>,
};

struct Complete;

impl Shape for Complete {
    const NAME: &'static str = "complete";

    fn num_edges(vertices: u128) -> u128 {
        vertices * (vertices - 1)
    }

    #[inline]
    fn edge(vertices: u64, index: u64) -> (u64, u64) {
        let others = vertices - 1;
        let (source, other) = (index / others, index % others);
        // The source itself is left out of the others.
        (source, other + u64::from(other >= source))
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
