//! How to go through rows one after another, by what a sample of them shows.

use parton_graph::{LocalId, Weight};
use rayon::prelude::*;

use crate::edges::{EdgeView, Rows};

/// Rows that are gone through in an order of their own.
pub(crate) const BLOCK: usize = 64;
/// Rows that are looked at to find out.
const SAMPLE: usize = 1 << 10;
/// Ends that are so many vertices away from the row are unlikely to be in a cache.
const FAR: u32 = 1 << 14;
/// Asking for all ends early is worth it where one in so many is far.
const SOME: usize = 32;
/// Rows with fewer edges than this on average are short.
const SHORT: usize = 4;

/// How to go through rows.
pub enum Turn {
    /// As they come. Neighbours are near each other: sums are what takes time.
    Near,
    /// As they come. Neighbours are far from each other, and asked for before their turn.
    Far,
    /// The same, but block by block, those of equal length together: rows are short and of different
    /// lengths, and where each ends would be hard to guess. Of every block its rows in their order.
    FarByLength(Vec<u8>),
}

impl Turn {
    /// What suits these rows.
    pub fn of<W: Weight>(view: &EdgeView<'_, W>) -> Self {
        let rows = view.rows();
        let vertices = rows.num_vertices() as u32;
        let (mut seen, mut far, mut mixed) = (0, 0, 0);
        let step = vertices.div_ceil(SAMPLE as u32).max(1);
        let sample = (0..vertices.saturating_sub(1)).step_by(step as usize);
        let sampled = sample.len();
        for vertex in sample {
            let ends = rows.targets(LocalId(vertex));
            seen += ends.len();
            far += ends.iter().filter(|end| end.0.abs_diff(vertex) > FAR).count();
            mixed += usize::from(rows.degree(LocalId(vertex + 1)) != ends.len() as u64);
        }
        if far * SOME <= seen {
            Turn::Near
        } else if seen < SHORT * sampled && 2 * mixed > sampled {
            Turn::FarByLength(by_length(rows))
        } else {
            Turn::Far
        }
    }
}

/// The rows of every block, shortest first.
fn by_length<W: Weight>(rows: Rows<'_, W>) -> Vec<u8> {
    let mut order = vec![0; rows.num_vertices()];
    order.par_chunks_mut(BLOCK).enumerate().with_min_len(SAMPLE).for_each(|(block, order)| {
        let first = (block * BLOCK) as u32;
        let mut lengths = [(0, 0); BLOCK];
        let lengths = &mut lengths[..order.len()];
        for (place, length) in lengths.iter_mut().enumerate() {
            *length = (rows.degree(LocalId(first + place as u32)), place as u8);
        }
        lengths.sort_unstable();
        order.iter_mut().zip(lengths).for_each(|(row, (_, place))| *row = *place);
    });
    order
}

#[cfg(test)]
mod tests {
    use parton_graph::generate::Spec;
    use parton_graph::progress::Silent;

    use super::*;

    /// Sums of the numbers of neighbours, by every way there is.
    #[test]
    fn all_ways_through_rows_come_to_the_same() {
        for (spec, name) in [
            ("path:40000", "near"),
            ("uniform:70000,700000", "far"),
            ("uniform:70000,100000", "far by length"),
            ("path:1", "near"),
        ] {
            let graph = Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect(spec);
            let view = EdgeView::<()>::new(&graph.adjacency);
            let rows = view.rows();
            let turn = Turn::of(&view);
            let is_named = match turn {
                Turn::Near => name == "near",
                Turn::Far => name == "far",
                Turn::FarByLength(_) => name == "far by length",
            };
            assert!(is_named, "{spec}");
            // Not all rows have to be gone through, as mirrors' are not: the last block is cut.
            let mut sums = vec![1; rows.num_vertices().div_ceil(3)];
            for turn in [Turn::Near, Turn::Far, Turn::FarByLength(by_length(rows))] {
                sums.fill(1);
                for (piece, sums) in sums.chunks_mut(4 * BLOCK).enumerate() {
                    let first = LocalId((piece * 4 * BLOCK) as u32);
                    let value = |end: LocalId, ()| u64::from(end.0);
                    rows.combine_in_turn(&turn, first, sums, |_| (), value, |a, b| a + b);
                }
                for (sum, vertex) in sums.iter().zip(0..) {
                    let ends = rows.targets(LocalId(vertex)).iter();
                    assert_eq!(*sum, 1 + ends.map(|end| u64::from(end.0)).sum::<u64>(), "{spec}");
                }
            }
        }
    }
}
