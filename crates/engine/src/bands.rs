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
const ROWS: usize = 1 << 12;
/// Rows of a band at most, where they are long:
const MOST_ROWS: usize = 8 * ROWS;
/// and where they are short, so that a band goes through messages less often.
const MOST_SHORT_ROWS: usize = 15 * ROWS;
/// Rows with fewer edges than this on average are short.
const SHORT: u64 = 8;
/// Edges of a band of several times [`ROWS`] at most,
const MOST_EDGES: u64 = 1 << 21;
/// and bands at least, if there are enough rows: threads have to share them out.
const LEAST_BANDS: usize = 32;

/// Bits of an edge that say its row in the band. The others say how many vertices after that of the edge
/// before its other end is.
const ROW_BITS: u32 = 16;
/// The row of what is no edge, only a step on the way to one.
const NOBODY: u32 = (1 << ROW_BITS) - 1;
/// The longest step.
const LONGEST: u32 = u32::MAX >> ROW_BITS;
/// Bits of an end that are sorted by at a time,
const DIGIT: u32 = 11;
/// and how often.
const DIGITS: usize = u32::BITS.div_ceil(DIGIT) as usize;

/// What comes to the rows of a band, or of as many others.
pub(crate) struct Totals<T> {
    totals: Box<[T; 1 << ROW_BITS]>,
    nothing: T,
}

impl<T: Copy> Totals<T> {
    /// Nothing, for each.
    pub(crate) fn new(nothing: T) -> Self {
        let totals = vec![nothing; 1 << ROW_BITS].into_boxed_slice();
        let totals = totals.try_into().unwrap_or_else(|_| unreachable!("as many as there are"));
        Totals { totals, nothing }
    }

    /// Those of the first rows.
    #[inline(always)]
    pub(crate) fn first(&mut self, rows: usize) -> &mut [T] {
        &mut self.totals[..rows]
    }

    /// Takes those of the first rows, and leaves nothing.
    #[inline(always)]
    pub(crate) fn drain(&mut self, rows: usize) -> impl Iterator<Item = T> {
        let nothing = self.nothing;
        self.first(rows).iter_mut().map(move |total| std::mem::replace(total, nothing))
    }
}

/// Consecutive rows.
pub(crate) struct Band {
    rows: Range<usize>,
    edges: Vec<u32>,
}

impl Band {
    /// The first rows, in bands. Calls `done` with rows whose edges are not needed any more.
    pub(crate) fn all<W: Weight>(
        rows: WayRows<'_, W>,
        count: usize,
        done: impl Fn(Range<usize>) + Sync,
    ) -> Vec<Self> {
        assert_eq!(size_of::<W>(), 0, "edges of a band have no weights");
        let spans = spans(rows, count);
        let room = Spares::new();
        let bands = spans.into_par_iter().with_max_len(1).map(|span| {
            let mut keys = room.take_or(<[Vec<u64>; 2]>::default);
            let sorted = sort_by_end(rows, &span, &mut keys);
            done(span.clone());
            let band = Band { rows: span, edges: in_steps(sorted) };
            room.leave(keys);
            band
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
        Totals { totals, .. }: &mut Totals<T>,
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
    let most_rows = most_rows.min(count / LEAST_BANDS);
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

/// The edges of some rows by their other ends, then by row: an end and a row's place each. Sorts by one digit
/// after another.
fn sort_by_end<'k, W: Weight>(
    rows: WayRows<'_, W>,
    span: &Range<usize>,
    [keys, spare]: &'k mut [Vec<u64>; 2],
) -> &'k [u64] {
    let each = |visit: &mut dyn FnMut(u64, &[LocalId])| {
        for (row, place) in span.clone().zip(0..) {
            rows.parts().for_each(|part| visit(place, part.targets(LocalId(row as u32))));
        }
    };
    let digit = |end: u32, number: usize| (end >> (number as u32 * DIGIT)) as usize % (1 << DIGIT);
    let mut places = [[0u32; 1 << DIGIT]; DIGITS];
    let (mut len, mut all) = (0, 0);
    each(&mut |_, ends| {
        len += ends.len();
        for end in ends {
            all |= end.0;
            (0..DIGITS).for_each(|number| places[number][digit(end.0, number)] += 1);
        }
    });
    for places in &mut places {
        let mut sum = 0;
        places.iter_mut().for_each(|place| sum += std::mem::replace(place, sum));
    }
    let next = |places: &mut [u32; 1 << DIGIT], digit: usize| {
        places[digit] += 1;
        places[digit] as usize - 1
    };
    for keys in [&mut *keys, spare] {
        keys.resize(keys.len().max(len), 0);
    }
    each(&mut |place, ends| {
        for end in ends {
            let key = u64::from(end.0) << ROW_BITS | place;
            keys[next(&mut places[0], digit(end.0, 0))] = key;
        }
    });
    for number in (1..DIGITS).take_while(|&number| all >> (number as u32 * DIGIT) > 0) {
        for &key in &keys[..len] {
            spare[next(&mut places[number], digit((key >> ROW_BITS) as u32, number))] = key;
        }
        std::mem::swap(keys, spare);
    }
    &keys[..len]
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
            for (row, sum) in band.rows().zip(totals.drain(band.rows().len())) {
                let ends = rows.parts().flat_map(|part| part.targets(LocalId(row as u32)));
                assert_eq!(sum, ends.map(|end| value(*end)).sum::<u64>());
            }
        }
        assert_eq!(next, vertices);
        bands.iter().map(Band::rows).collect()
    }

    #[test]
    fn rows_get_what_their_edges_bring() {
        assert!(compare(0, &[]).is_empty());
        assert_eq!(compare(1, &[(0, 0, ()), (0, 0, ())]).len(), 1);
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
        assert!(short[..short.len() - 1].iter().all(|band| band.len() == 3 * ROWS));
    }

    #[test]
    fn bands_are_short_where_rows_are_long() {
        let rows = LEAST_BANDS * MOST_SHORT_ROWS;
        assert_eq!(compare(rows, &[(3, 4, ())])[0], 0..MOST_SHORT_ROWS);
        let rows = (LEAST_BANDS * MOST_ROWS) as u32;
        let edges = (0..rows).flat_map(|row| (0..SHORT as u32).map(move |edge| (row, edge, ())));
        let mut edges: Vec<_> = edges.collect();
        assert_eq!(compare(rows as usize, &edges)[..2], [0..MOST_ROWS, MOST_ROWS..2 * MOST_ROWS]);
        edges.extend((0..MOST_EDGES as u32).map(|edge| (ROWS as u32, edge % rows, ())));
        assert_eq!(compare(rows as usize, &edges)[..2], [0..ROWS, ROWS..2 * ROWS]);
    }
}
