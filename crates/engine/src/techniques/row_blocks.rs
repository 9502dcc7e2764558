//! Row blocks with source-ordered edges: a form of cache blocking (compare propagation blocking: Beamer,
//! Asanović, Patterson, IPDPS'17; Cagra's segmenting, Zhang et al., IEEE BigData'17).
//!
//! Row-by-row pull loads messages in random order and mispredicts the end of every short row. The totals
//! of a block of rows fit into a core's cache and can be written in any order. So the edges of a block are
//! sorted by their sources: messages are then loaded in ascending order, which the hardware prefetches, and
//! there is no branch to mispredict. Every row still adds up its neighbours in their order, so sums are the
//! same to the bit.

mod by_source;

use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;

pub(super) use parton_graph::row_blocks::{MAX_STEP, NO_ROW, ROW_BITS};
use parton_graph::row_blocks::{ROWS_PER_STEP, RowBlocks, StoredBlock};
use parton_graph::{Adjacency, Direction, Graph, LocalId, Weight, huge, parallel, with_csr};

use super::spares::Spares;
use crate::state::directions::{DirectionRows, Directions};
use crate::state::edges::EdgeView;

/// Sorting pays off from this many rounds on,
const MIN_ROUNDS: u64 = 6;
/// and from this many where rows are in a cache's order already.
const MIN_ROUNDS_IF_NEAR: u64 = 25;
/// Most rows of a block where rows are long,
const MAX_ROWS: usize = 8 * ROWS_PER_STEP;
/// and where rows are short: a larger block goes through the messages less often.
const MAX_SHORT_ROWS: usize = 15 * ROWS_PER_STEP;
/// Rows with fewer edges than this on average are short.
const MIN_EDGES_OF_LONG_ROW: u64 = 8;
/// Most edges of a block of more than [`ROWS_PER_STEP`] rows.
const MAX_EDGES: u64 = 1 << 21;
/// Least number of blocks, if there are enough rows: threads share them out.
const MIN_BLOCKS: usize = 32;

/// A source whose number is this close to its row's is a source of rows around it, too, and so in a core's cache.
const NEAR: u32 = 1 << 15;
/// Rows are in a cache's order if more than this part of their edges come from near.
const MIN_NEAR: f64 = 0.75;
/// Pieces of rows that are looked at for that,
const SAMPLES: usize = 64;
/// and the length of each.
const ROWS_PER_SAMPLE: usize = 64;

/// Bits of a digit of the radix sort,
const DIGIT: u32 = 11;
/// and number of digits.
const DIGITS: usize = u32::BITS.div_ceil(DIGIT) as usize;

/// The totals of a block's rows.
pub(crate) struct Totals<T> {
    totals: Box<[T; 1 << ROW_BITS]>,
    nothing: T,
}

impl<T: Copy> Totals<T> {
    /// `nothing` for each row.
    pub(crate) fn new(nothing: T) -> Self {
        let totals = vec![nothing; 1 << ROW_BITS].into_boxed_slice();
        let totals = totals.try_into().unwrap_or_else(|_| unreachable!("as many as there are"));
        Totals { totals, nothing }
    }

    /// The totals of the first rows.
    #[inline(always)]
    pub(crate) fn first(&mut self, rows: usize) -> &mut [T] {
        &mut self.totals[..rows]
    }

    /// Takes the totals of the first rows, and leaves nothing.
    #[inline(always)]
    pub(crate) fn drain(&mut self, rows: usize) -> impl Iterator<Item = T> {
        let nothing = self.nothing;
        self.first(rows).iter_mut().map(move |total| std::mem::replace(total, nothing))
    }
}

/// Consecutive rows, with their edges sorted by source.
pub(crate) struct RowBlock<'a> {
    rows: Range<usize>,
    /// As [files keep them](parton_graph::row_blocks).
    edges: Cow<'a, [u32]>,
}

/// The in-edges of a graph in row blocks, for a file to keep: an engine that takes them sorts nothing.
pub fn row_blocks(graph: &Graph) -> RowBlocks {
    let in_edges: Adjacency = match graph.direction {
        Direction::Undirected => graph.adjacency.clone().unweighted(),
        Direction::Directed => {
            with_csr!(graph.adjacency.clone().unweighted(), csr => csr.transposed().into())
        }
    };
    let directions = Directions::from(EdgeView::<()>::new(&in_edges));
    let blocks = RowBlock::all(directions.rows(), graph.num_vertices());
    RowBlocks::new(blocks.iter().map(|block| (block.rows(), &*block.edges)))
}

impl<'a> From<StoredBlock<'a>> for RowBlock<'a> {
    fn from((rows, edges): StoredBlock<'a>) -> Self {
        RowBlock { rows, edges: edges.into() }
    }
}

impl RowBlock<'_> {
    /// The first `count` rows in blocks.
    #[inline(never)]
    pub(crate) fn all<W: Weight>(rows: DirectionRows<'_, W>, count: usize) -> Vec<Self> {
        assert_eq!(size_of::<W>(), 0, "edges of a block have no weights");
        let spans = spans(rows, 0..count);
        let room = Spares::new();
        parallel::map(&spans, |span| {
            let mut keys = room.take_or(<[Vec<(u64, W)>; 2]>::default);
            let sorted = sort_by_end(rows, span, |_, _| true, &mut keys);
            let block = RowBlock { rows: span.clone(), edges: in_steps(sorted).into() };
            room.leave(keys);
            block
        })
    }

    /// The same from the rows of the first `sources` vertices at the other ends of the edges. Nothing is sorted.
    /// Calls `done` with sources whose rows are not needed any more.
    pub(crate) fn from_sources<W: Weight>(
        rows: DirectionRows<'_, W>,
        count: usize,
        forward: DirectionRows<'_, W>,
        sources: usize,
        done: impl Fn(Range<usize>) + Sync,
    ) -> Vec<Self> {
        assert_eq!(size_of::<W>(), 0, "edges of a block have no weights");
        by_source::deal(forward, sources, &spans(rows, 0..count), done)
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Combines the value of each edge into the total of its row.
    #[inline(always)]
    pub(crate) fn combine<T: Copy>(
        &self,
        Totals { totals, .. }: &mut Totals<T>,
        value: impl Fn(LocalId) -> T,
        combine: impl Fn(T, T) -> T,
    ) {
        let mut end = LocalId(0);
        for edge in &*self.edges {
            end.0 += edge >> ROW_BITS;
            let total = &mut totals[(edge & NO_ROW) as usize];
            *total = combine(*total, value(end));
        }
    }
}

/// Whether sorting the first `count` rows is less work than it saves in `rounds` rounds.
#[inline(never)]
pub(crate) fn pay_off<W: Weight>(rows: DirectionRows<'_, W>, count: usize, rounds: u64) -> bool {
    size_of::<W>() == 0
        && rounds >= MIN_ROUNDS
        && (rounds >= MIN_ROUNDS_IF_NEAR || !have_near_sources(rows, count))
}

/// Whether most sources are near their rows, as in road networks and in the crawls of the web: by a sample.
fn have_near_sources<W: Weight>(rows: DirectionRows<'_, W>, count: usize) -> bool {
    if count <= 2 * NEAR as usize {
        return false;
    }
    let (mut near, mut all) = (0u64, 0u64);
    for first in (0..count).step_by(count.div_ceil(SAMPLES)) {
        let span = first..count.min(first + ROWS_PER_SAMPLE);
        each_edge(
            rows,
            &span,
            |_, _| true,
            |place, end, _| {
                let row = first as u32 + place as u32;
                all += 1;
                near += u64::from(row.abs_diff(end.0) < NEAR);
            },
        );
    }
    near as f64 > MIN_NEAR * all as f64
}

/// Which rows become a block.
#[inline(never)]
pub(crate) fn spans<W: Weight>(rows: DirectionRows<'_, W>, all: Range<usize>) -> Vec<Range<usize>> {
    let count = all.len();
    let pieces = parallel::map(&parallel::pieces(all, ROWS_PER_STEP), |piece| {
        let degrees = piece.clone().map(|row| rows.degree(LocalId(row as u32)));
        (piece.clone(), degrees.sum::<u64>())
    });
    let all: u64 = pieces.iter().map(|(_, edges)| edges).sum();
    let most_rows =
        if all < MIN_EDGES_OF_LONG_ROW * count as u64 { MAX_SHORT_ROWS } else { MAX_ROWS };
    let most_rows = most_rows.min(count / MIN_BLOCKS);
    let mut spans: Vec<(Range<usize>, u64)> = Vec::new();
    for (piece, edges) in pieces {
        match spans.last_mut() {
            Some((span, sum)) if span.len() < most_rows && *sum + edges <= MAX_EDGES => {
                span.end = piece.end;
                *sum += edges;
            }
            _ => spans.push((piece, edges)),
        }
    }
    spans.into_iter().map(|(span, _)| span).collect()
}

/// Calls `visit` with the place of the row, the other end and the weight of each edge that `keeps(row, end)`.
#[inline(always)]
fn each_edge<W: Weight>(
    rows: DirectionRows<'_, W>,
    span: &Range<usize>,
    keeps: impl Fn(usize, LocalId) -> bool,
    mut visit: impl FnMut(u64, LocalId, W),
) {
    for (row, place) in span.clone().zip(0..) {
        let visit = |end, weight| {
            if keeps(row, end) {
                visit(place, end, weight);
            }
        };
        rows.each(LocalId(row as u32), |_| (), visit);
    }
}

/// The edges of some rows that `keeps(row, end)`, as keys of source and row with their weights, sorted by
/// radix.
pub(super) fn sort_by_end<'k, W: Weight>(
    rows: DirectionRows<'_, W>,
    span: &Range<usize>,
    keeps: impl Fn(usize, LocalId) -> bool,
    [keys, spare]: &'k mut [Vec<(u64, W)>; 2],
) -> &'k [(u64, W)] {
    let digit = |end: u32, number: usize| (end >> (number as u32 * DIGIT)) as usize % (1 << DIGIT);
    let mut places = [[0u32; 1 << DIGIT]; DIGITS];
    let (mut len, mut all) = (0, 0);
    each_edge(rows, span, &keeps, |_, end, _| {
        len += 1;
        all |= end.0;
        (0..DIGITS).for_each(|number| places[number][digit(end.0, number)] += 1);
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
        keys.resize(keys.len().max(len), (0, W::default()));
    }
    each_edge(rows, span, &keeps, |place, end, weight| {
        let key = u64::from(end.0) << ROW_BITS | place;
        keys[next(&mut places[0], digit(end.0, 0))] = (key, weight);
    });
    for number in (1..DIGITS).take_while(|&number| all >> (number as u32 * DIGIT) > 0) {
        for &key in &keys[..len] {
            spare[next(&mut places[number], digit((key.0 >> ROW_BITS) as u32, number))] = key;
        }
        std::mem::swap(keys, spare);
    }
    &keys[..len]
}

/// Sorted edges, each as its row and the step from the source of the edge before.
fn in_steps<W>(keys: &[(u64, W)]) -> Vec<u32> {
    let end = |key: &(u64, W)| (key.0 >> ROW_BITS) as u32;
    let mut before = 0;
    let long_steps = keys.iter().map(|key| {
        let step = end(key) - std::mem::replace(&mut before, end(key));
        step.saturating_sub(1) / MAX_STEP
    });
    let len = keys.len() + long_steps.sum::<u32>() as usize;
    let mut edges = huge::vec_with_capacity(len);
    let mut before = 0;
    for key in keys {
        let mut step = end(key) - std::mem::replace(&mut before, end(key));
        if step > MAX_STEP {
            let long_steps = (step - 1) / MAX_STEP;
            edges.extend(repeat_n(MAX_STEP << ROW_BITS | NO_ROW, long_steps as usize));
            step -= long_steps * MAX_STEP;
        }
        edges.push(step << ROW_BITS | (key.0 as u32 & NO_ROW));
    }
    edges
}

#[cfg(test)]
mod tests {
    use parton_graph::{Adjacency, Csr, Graph};

    use super::*;
    use crate::state::directions::Directions;
    use crate::state::edges::EdgeView;

    /// Sums of the numbers of neighbours, block by block and row by row.
    fn compare(vertices: usize, edges: &[(u32, u32, ())]) -> Vec<Range<usize>> {
        let adjacency = Adjacency::from(Csr::from_edges(vertices, edges));
        let directions = Directions::from(EdgeView::<()>::new(&adjacency));
        let rows = directions.rows();
        let blocks = RowBlock::all(rows, vertices);
        let turned = Adjacency::from(Csr::from_edges(vertices, edges).transposed());
        let forward = Directions::from(EdgeView::<()>::new(&turned));
        let dealt = RowBlock::from_sources(rows, vertices, forward.rows(), vertices, |_| ());
        let edges = turned.clone();
        let graph = Graph::dense(edges, "");
        let stored = row_blocks(&graph);
        let stored = stored.of_edges(&graph.adjacency).expect("blocks of this graph");
        let made = blocks.iter().map(|block| (block.rows(), &*block.edges));
        assert!(stored.into_iter().eq(made));
        assert!(dealt.iter().map(|block| &block.edges).eq(blocks.iter().map(|block| &block.edges)));
        let mut totals = Totals::new(0);
        let mut next = 0;
        for block in &blocks {
            assert_eq!(block.rows().start, next);
            next = block.rows().end;
            let value = |end: LocalId| u64::from(end.0) + 1;
            block.combine(&mut totals, value, |a, b| a + b);
            for (row, sum) in block.rows().zip(totals.drain(block.rows().len())) {
                let ends = rows.parts().flat_map(|part| part.targets(LocalId(row as u32)));
                assert_eq!(sum, ends.map(|end| value(*end)).sum::<u64>());
            }
        }
        assert_eq!(next, vertices);
        blocks.iter().map(RowBlock::rows).collect()
    }

    #[test]
    fn rows_get_what_their_edges_bring() {
        assert!(compare(0, &[]).is_empty());
        assert_eq!(compare(1, &[(0, 0, ()), (0, 0, ())]).len(), 1);
        // Steps of all lengths around the longest, and from the first to the last vertex.
        let vertices = 5 * MAX_STEP;
        let far = |end| (7, end, ());
        let around = [MAX_STEP - 1, MAX_STEP, MAX_STEP + 1, 2 * MAX_STEP + 1, 4 * MAX_STEP + 1];
        compare(vertices as usize, &around.map(far));
        compare(vertices as usize, &[(vertices - 1, vertices - 1, ()), (5, 0, ())]);
        let scattered = (0..300_000u64).map(|edge| {
            let end = |by: u64| (edge.wrapping_mul(by) >> 20) as u32 % vertices;
            (end(0x9e37_79b9_7f4a_7c15), end(0xd1b5_4a32_d192_ed03), ())
        });
        let short = compare(vertices as usize, &scattered.collect::<Vec<_>>());
        assert!(short[..short.len() - 1].iter().all(|block| block.len() == 3 * ROWS_PER_STEP));
    }

    #[test]
    fn rows_with_near_sources_are_sorted_for_more_rounds() {
        let pays_off = |vertices: u32, step: u32, rounds| {
            let edges = (0..vertices).map(|row| (row, (row + step) % vertices, ()));
            let edges: Vec<_> = edges.collect();
            let adjacency = Adjacency::from(Csr::from_edges(vertices as usize, &edges));
            let directions = Directions::from(EdgeView::<()>::new(&adjacency));
            pay_off(directions.rows(), vertices as usize, rounds)
        };
        let all = 4 * NEAR;
        assert!(pays_off(all, NEAR, MIN_ROUNDS) && !pays_off(all, NEAR, MIN_ROUNDS - 1));
        assert!(!pays_off(all, NEAR - 1, MIN_ROUNDS_IF_NEAR - 1));
        assert!(pays_off(all, NEAR - 1, MIN_ROUNDS_IF_NEAR));
        // Everything is near in a small graph, and in any cache.
        assert!(pays_off(2 * NEAR, NEAR - 1, MIN_ROUNDS));
    }

    #[test]
    fn blocks_are_short_where_rows_are_long() {
        let rows = MIN_BLOCKS * MAX_SHORT_ROWS;
        assert_eq!(compare(rows, &[(3, 4, ())])[0], 0..MAX_SHORT_ROWS);
        let rows = (MIN_BLOCKS * MAX_ROWS) as u32;
        let edges = (0..rows)
            .flat_map(|row| (0..MIN_EDGES_OF_LONG_ROW as u32).map(move |edge| (row, edge, ())));
        let mut edges: Vec<_> = edges.collect();
        assert_eq!(compare(rows as usize, &edges)[..2], [0..MAX_ROWS, MAX_ROWS..2 * MAX_ROWS]);
        edges.extend((0..MAX_EDGES as u32).map(|edge| (ROWS_PER_STEP as u32, edge % rows, ())));
        assert_eq!(
            compare(rows as usize, &edges)[..2],
            [0..ROWS_PER_STEP, ROWS_PER_STEP..2 * ROWS_PER_STEP]
        );
    }
}
