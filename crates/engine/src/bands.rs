//! Rows in bands, with the edges of each band in the order of their other ends.
//!
//! Whoever goes from row to row fetches messages from all over memory, and guesses wrong where a row
//! ends. The totals of a band's rows stay in a core's cache instead, to be written in any order: then its
//! edges can come in the order of the messages they fetch, which memory delivers ahead of time, and there
//! is nothing to guess. Every row still adds up its neighbours in their order, so sums are the same.
//!
//! Sorting takes about as long as a few rounds save.

use std::iter::repeat_n;
use std::ops::Range;

use parton_graph::{LocalId, Weight, huge};
use rayon::prelude::*;

use crate::spares::Spares;
use crate::ways::WayRows;

/// So many rounds make sorting worth it.
pub(crate) const MANY_ROUNDS: u64 = 6;
/// Bands begin at multiples of this.
pub(crate) const ROWS: usize = 1 << 12;
/// Rows of a band at most, where they are long:
const MOST_ROWS: usize = 8 * ROWS;
/// and where they are short, so that a band goes through messages less often.
const MOST_SHORT_ROWS: usize = 15 * ROWS;
/// Rows with fewer edges than this on average are short.
const SHORT: u64 = 8;
/// Edges of a band of several times [`ROWS`] at most: threads have to share bands out.
const MOST_EDGES: u64 = 1 << 21;

/// Bits of an edge that say its row in the band. The others say how many vertices after that of the edge
/// before its other end is.
const ROW_BITS: u32 = 16;
/// The row of what is no edge, only a step on the way to one.
const NOBODY: u32 = (1 << ROW_BITS) - 1;
/// The longest step.
const LONGEST: u32 = u32::MAX >> ROW_BITS;
/// Bits of an end that are sorted by at a time.
const DIGIT: u32 = 11;

/// What comes to the rows of a band, or of as many others.
pub(crate) struct Totals<T>(Box<[T; 1 << ROW_BITS]>);

impl<T: Copy> Totals<T> {
    /// Nothing, for each.
    pub(crate) fn new(nothing: T) -> Self {
        let totals = vec![nothing; 1 << ROW_BITS].into_boxed_slice();
        Totals(totals.try_into().unwrap_or_else(|_| unreachable!("as many as there are")))
    }

    /// Those of the first rows.
    pub(crate) fn first(&mut self, rows: usize) -> &mut [T] {
        &mut self.0[..rows]
    }
}

/// Consecutive rows.
pub(crate) struct Band {
    rows: Range<usize>,
    edges: Vec<u32>,
}

impl Band {
    /// All rows from the first to this one, in bands. Whatever rows are done with afterwards is told to `done`.
    pub(crate) fn all<W: Weight>(
        rows: WayRows<'_, W>,
        count: usize,
        done: impl Fn(Range<usize>) + Sync,
    ) -> Vec<Self> {
        assert_eq!(size_of::<W>(), 0, "edges of a band have no weights");
        let spans = spans(rows, count);
        let room = Spares::new();
        let bands = spans.into_par_iter().with_max_len(1).map(|span| {
            room.with(<[Vec<u64>; 2]>::default, |[keys, spare]| {
                keys.clear();
                for (row, place) in span.clone().zip(0..) {
                    for part in rows.parts() {
                        let ends = part.targets(LocalId(row as u32)).iter();
                        keys.extend(ends.map(|end| u64::from(end.0) << ROW_BITS | place));
                    }
                }
                done(span.clone());
                sort_by_end(keys, spare);
                Band { rows: span, edges: in_steps(keys) }
            })
        });
        bands.collect()
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Combines what each edge is worth with the total of its row.
    #[inline(always)]
    pub(crate) fn combine<T: Copy>(
        &self,
        Totals(totals): &mut Totals<T>,
        value: impl Fn(LocalId) -> T,
        combine: impl Fn(T, T) -> T,
    ) {
        let mut end = LocalId(0);
        for edge in &self.edges {
            end.0 += edge >> ROW_BITS;
            let total = &mut totals[(edge & NOBODY) as usize];
            *total = combine(*total, value(end));
        }
    }
}

/// Which rows become a band.
fn spans<W: Weight>(rows: WayRows<'_, W>, count: usize) -> Vec<Range<usize>> {
    let pieces = (0..count).into_par_iter().step_by(ROWS).map(|start| {
        let piece = start..count.min(start + ROWS);
        (piece.clone(), piece.map(|row| rows.degree(LocalId(row as u32))).sum())
    });
    let pieces: Vec<(Range<usize>, u64)> = pieces.collect();
    let all: u64 = pieces.iter().map(|(_, edges)| edges).sum();
    let most_rows = if all < SHORT * count as u64 { MOST_SHORT_ROWS } else { MOST_ROWS };
    let mut spans: Vec<(Range<usize>, u64)> = Vec::new();
    for (piece, edges) in pieces {
        match spans.last_mut() {
            Some((span, sum)) if span.len() < most_rows && *sum + edges <= MOST_EDGES => {
                span.end = piece.end;
                *sum += edges;
            }
            _ => spans.push((piece, edges)),
        }
    }
    spans.into_iter().map(|(span, _)| span).collect()
}

/// Sorts edges by their other ends, one digit after another. Rows stay in order.
fn sort_by_end(keys: &mut Vec<u64>, spare: &mut Vec<u64>) {
    let longest = keys.iter().fold(0, |all, key| all | key);
    spare.clear();
    spare.resize(keys.len(), 0);
    for shift in (ROW_BITS..u64::BITS - longest.leading_zeros()).step_by(DIGIT as usize) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT) - 1);
        let mut next = [0u32; 1 << DIGIT];
        keys.iter().for_each(|&key| next[digit(key)] += 1);
        let mut sum = 0;
        next.iter_mut().for_each(|next| sum += std::mem::replace(next, sum));
        for &key in &*keys {
            let place = &mut next[digit(key)];
            spare[*place as usize] = key;
            *place += 1;
        }
        std::mem::swap(keys, spare);
    }
}

/// Sorted edges, each with the step from the one before.
fn in_steps(keys: &[u64]) -> Vec<u32> {
    let end = |key: &u64| (key >> ROW_BITS) as u32;
    let mut before = 0;
    let long_steps = keys.iter().map(|key| {
        let step = end(key) - std::mem::replace(&mut before, end(key));
        step.saturating_sub(1) / LONGEST
    });
    let len = keys.len() + long_steps.sum::<u32>() as usize;
    let mut edges = huge::vec_with_capacity(len);
    let mut before = 0;
    for key in keys {
        let mut step = end(key) - std::mem::replace(&mut before, end(key));
        if step > LONGEST {
            let long_steps = (step - 1) / LONGEST;
            edges.extend(repeat_n(LONGEST << ROW_BITS | NOBODY, long_steps as usize));
            step -= long_steps * LONGEST;
        }
        edges.push(step << ROW_BITS | (*key as u32 & NOBODY));
    }
    edges
}

#[cfg(test)]
mod tests {
    use parton_graph::{Adjacency, Csr};

    use super::*;
    use crate::edges::EdgeView;
    use crate::ways::Ways;

    /// Sums of the numbers of neighbours, band by band and row by row.
    fn compare(vertices: usize, edges: &[(u32, u32, ())]) -> Vec<Range<usize>> {
        let adjacency = Adjacency::from(Csr::from_edges(vertices, edges));
        let ways = Ways::from(EdgeView::<()>::new(&adjacency));
        let rows = ways.rows();
        let bands = Band::all(rows, vertices, |_| ());
        let mut totals = Totals::new(0);
        let mut next = 0;
        for band in &bands {
            assert_eq!(band.rows().start, next);
            next = band.rows().end;
            let value = |end: LocalId| u64::from(end.0) + 1;
            band.combine(&mut totals, value, |a, b| a + b);
            let sums = totals.first(band.rows().len());
            for (row, sum) in band.rows().zip(sums.iter_mut()) {
                let ends = rows.parts().flat_map(|part| part.targets(LocalId(row as u32)));
                assert_eq!(std::mem::take(sum), ends.map(|end| value(*end)).sum::<u64>());
            }
        }
        assert_eq!(next, vertices);
        bands.iter().map(Band::rows).collect()
    }

    #[test]
    fn rows_get_what_their_edges_bring() {
        assert!(compare(0, &[]).is_empty());
        assert_eq!(compare(1, &[(0, 0, ()), (0, 0, ())]), [0..1]);
        // Steps of all lengths around the longest, and from the first to the last vertex.
        let vertices = 5 * LONGEST;
        let far = |end| (7, end, ());
        let around = [LONGEST - 1, LONGEST, LONGEST + 1, 2 * LONGEST + 1, 4 * LONGEST + 1];
        compare(vertices as usize, &around.map(far));
        compare(vertices as usize, &[(vertices - 1, vertices - 1, ()), (5, 0, ())]);
        let scattered = (0..300_000u64).map(|edge| {
            let end = |by: u64| (edge.wrapping_mul(by) >> 20) as u32 % vertices;
            (end(0x9e37_79b9_7f4a_7c15), end(0xd1b5_4a32_d192_ed03), ())
        });
        let short = compare(vertices as usize, &scattered.collect::<Vec<_>>());
        assert!(short[..short.len() - 1].iter().all(|band| band.len() == MOST_SHORT_ROWS));
    }

    #[test]
    fn bands_are_short_where_rows_are_long() {
        let rows = (2 * MOST_ROWS) as u32;
        let edges = (0..rows).flat_map(|row| (0..SHORT as u32).map(move |edge| (row, edge, ())));
        let mut edges: Vec<_> = edges.collect();
        assert_eq!(compare(rows as usize, &edges), [0..MOST_ROWS, MOST_ROWS..2 * MOST_ROWS]);
        edges.extend((0..MOST_EDGES as u32).map(|edge| (ROWS as u32, edge % rows, ())));
        assert_eq!(compare(rows as usize, &edges)[..2], [0..ROWS, ROWS..2 * ROWS]);
    }
}
