//! `path`: vertices in a row, each joined to the next. The largest diameter a graph can have.

use super::GeneratorKind;
use super::shape::{self, Shape};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: Path::NAME,
    syntax: "path:N",
    help: "N vertices in a row (undirected)",
    parse: shape::parse::<Path>,
};

struct Path;

impl Shape for Path {
    const NAME: &'static str = "path";

    fn num_edges(vertices: u128) -> u128 {
        2 * (vertices - 1)
    }

    #[inline]
    fn edge(_: u64, index: u64) -> (u64, u64) {
        let (a, b) = (index / 2, index / 2 + 1);
        if index.is_multiple_of(2) { (a, b) } else { (b, a) }
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
