//! `star`: vertex 0 joined to all others. The most uneven degrees a graph can have.

use super::GeneratorKind;
use super::shape::{self, Shape};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: Star::NAME,
    syntax: "star:N",
    help: "N vertices, the first joined to all others (undirected)",
    parse: shape::parse::<Star>,
};

struct Star;

impl Shape for Star {
    const NAME: &'static str = "star";

    fn num_edges(vertices: u128) -> u128 {
        2 * (vertices - 1)
    }

    #[inline]
    fn edge(_: u64, index: u64) -> (u64, u64) {
        let ray = index / 2 + 1;
        if index.is_multiple_of(2) { (0, ray) } else { (ray, 0) }
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
