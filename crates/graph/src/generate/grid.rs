//! `grid`: a rectangle of vertices, each joined to its neighbours left, right, above and below.
//! Vertex ids go row by row: `row * W + column`.

use std::fmt;

use crate::{Direction, Result};

use super::arguments::Arguments;
use super::{Generator, GeneratorKind};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "grid",
    syntax: "grid:WxH",
    help: "W columns and H rows of vertices, each joined to its four neighbours (undirected)",
    parse,
};

struct Grid {
    width: u64,
    height: u64,
    num_vertices: u64,
    num_edges: u64,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let size = arguments.word("WxH")?;
    let (width, height) = size
        .split_once('x')
        .ok_or_else(|| arguments.unexpected("two numbers with an x between", size))?;
    let width = arguments.parse_number("W", width)?;
    let height = arguments.parse_number("H", height)?;
    let num_vertices = arguments.count("vertices", u128::from(width) * u128::from(height))?;
    let across = u128::from(width.saturating_sub(1)) * u128::from(height);
    let down = u128::from(width) * u128::from(height.saturating_sub(1));
    let num_edges = arguments.count("edges", 2 * (across + down))?;
    Ok(Box::new(Grid { width, height, num_vertices, num_edges }))
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "grid:{}x{}", self.width, self.height)
    }
}

impl Generator for Grid {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    /// Row by row: first the edges along the row, then those down to the next; each in both
    /// directions. Every vertex's edges come out sorted.
    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        let along_row = self.width - 1;
        let row = index / 2 / (along_row + self.width);
        let place = index / 2 % (along_row + self.width);
        let first = row * self.width;
        let (a, b) = if place < along_row {
            (first + place, first + place + 1)
        } else {
            (first + place - along_row, first + place - along_row + self.width)
        };
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
    fn small_grids_are_exact() {
        assert_eq!(
            lists("grid:2x3"),
            [vec![1, 2], vec![0, 3], vec![0, 3, 4], vec![1, 2, 5], vec![2, 5], vec![3, 4]]
        );
        assert_eq!(lists("grid:3x1"), [vec![1], vec![0, 2], vec![1]]);
        assert_eq!(lists("grid:1x3"), [vec![1], vec![0, 2], vec![1]]);
        assert_eq!(lists("grid:2x2"), [vec![1, 2], vec![0, 3], vec![0, 3], vec![1, 2]]);
        assert_eq!(lists("grid:1x1"), [vec![0; 0]]);
        for empty in ["grid:0x0", "grid:0x7", "grid:7x0"] {
            assert_eq!(lists(empty), Vec::<Vec<u32>>::new());
        }
    }
}
