//! Every edge turned around: a CSR → the CSR of its in-edges, by counting sort in two levels.
//!
//! Turning an edge around moves it to a random place: one cache miss per edge. So edges are first dealt out by
//! *columns* of 2¹⁵ destinations each. Then every column is placed on its own: its counters and edges fit the
//! cache. All edges are in memory, which makes this cheaper than [`CsrBuilder`](crate::build::CsrBuilder): the edges
//! of each column are counted first, so none is copied twice. Threads work on *row blocks* of at most 2¹⁷ rows, so
//! that both ends of a waiting edge fit 32 bits.
//!
//! Columns wait in groups, and a group's memory goes back to the system as soon as the group has been placed. The
//! waiting edges and the whole result are never in memory at the same time.

use std::ops::Range;
use std::slice::IterMut;
use std::sync::Arc;

use crate::build::split_off_front;
use crate::huge;
use crate::pages::Pages;
use crate::parallel;
use crate::weight::Weight;
use crate::{Csr, LocalId};

const COLUMN_BITS: u32 = 15;
const COLUMN_VERTICES: usize = 1 << COLUMN_BITS;
/// Most rows of a block: their numbers fit the bits of 32 that columns leave.
const MAX_BLOCK_ROWS: usize = 1 << (32 - COLUMN_BITS);
/// Edges of a block: few enough to keep all threads busy, enough to need few windows.
const BLOCK_EDGES: u64 = 1 << 20;
/// Edges that wait in one piece of memory, if they are not all of one column.
const GROUP_EDGES: usize = 1 << 22;

/// Consecutive rows that one thread goes through.
struct RowBlock {
    rows: Range<usize>,
    /// Edges to each column.
    counts: Vec<usize>,
}

/// The edges of consecutive columns, column by column, each block by block.
struct Group<V> {
    columns: Range<usize>,
    /// The row in its block, then the low bits of the destination.
    ends: Pages<u32>,
    weights: Pages<V>,
}

/// Where the edges of one block to one column wait.
struct Window<'a, V> {
    ends: IterMut<'a, u32>,
    weights: IterMut<'a, V>,
}

/// Where the vertices and edges of one column go.
struct ColumnSlot<'a, V> {
    column: usize,
    /// Among all, and among those of its group.
    first_edge: (usize, usize),
    /// End offsets of the column's vertices.
    offsets: &'a mut [u64],
    targets: &'a mut [LocalId],
    weights: &'a mut [V],
}

/// The edges of `csr` by destination, each vertex's in the order of their sources, with what
/// `convert` makes of their weights.
///
/// # Panics
/// When an edge leads to a vertex that does not exist.
pub(crate) fn transposed<W: Weight, V: Weight>(
    csr: &Csr<W>,
    convert: impl Fn(W) -> V + Sync,
) -> Csr<V> {
    let columns = csr.num_vertices().div_ceil(COLUMN_VERTICES);
    let cuts = cuts(csr.offsets());
    let blocks =
        parallel::map_owned(cuts.windows(2), |_, cut| RowBlock::new(csr, cut[0]..cut[1], columns));
    let edges_to = |column: usize| blocks.iter().map(|block| block.counts[column]).sum();
    let column_edges: Vec<usize> = (0..columns).map(edges_to).collect();

    let mut groups = Group::for_columns(&column_edges);
    let windows = windows(&mut groups, &blocks);
    parallel::for_each_owned(windows, |block, windows| blocks[block].deal(csr, windows, &convert));

    // Zeroed by the system, page by page as they are first touched.
    let edges = csr.num_edges() as usize;
    let mut offsets = huge::zeroed_vec(csr.num_vertices() + 1);
    let (mut targets, mut weights) = (huge::zeroed_vec(edges), huge::zeroed_vec(edges));
    let mut free_offsets = &mut offsets[1..];
    let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
    let mut tasks = Vec::with_capacity(columns);
    for group in groups {
        let group = Arc::new(group);
        let before = edges - free_targets.len();
        let slot = |column: usize| {
            let first = edges - free_targets.len();
            let vertices = COLUMN_VERTICES.min(free_offsets.len());
            ColumnSlot {
                column,
                first_edge: (first, first - before),
                offsets: split_off_front(&mut free_offsets, vertices),
                targets: split_off_front(&mut free_targets, column_edges[column]),
                weights: split_off_front(&mut free_weights, column_edges[column]),
            }
        };
        // Each column gets its own windows of the three arrays, so threads never meet.
        tasks.extend(group.columns.clone().map(slot).map(|slot| (slot, group.clone())));
    }
    // Group after group. No thread waits for the last column of a group; the thread that places it frees the group.
    parallel::for_each_in_turn(tasks, |_, (slot, group)| slot.fill(&group, &blocks));
    Csr::from_parts(offsets.into(), targets.into(), weights.into())
}

/// Where blocks begin and end.
fn cuts(offsets: &[u64]) -> Vec<usize> {
    let rows = offsets.len() - 1;
    let mut cuts = vec![0];
    while let Some(&last) = cuts.last().filter(|&&last| last < rows) {
        let most = &offsets[last..=rows.min(last + MAX_BLOCK_ROWS)];
        let goal = most[0] + BLOCK_EDGES;
        let fitting = most.partition_point(|&offset| offset <= goal) - 1;
        cuts.push(last + fitting.max(1));
    }
    cuts
}

/// For every block, the windows of its columns.
fn windows<'a, V: Weight>(
    groups: &'a mut [Group<V>],
    blocks: &[RowBlock],
) -> Vec<Vec<Window<'a, V>>> {
    let mut windows: Vec<Vec<_>> = blocks.iter().map(|_| Vec::new()).collect();
    for group in groups {
        let (mut ends, mut weights) = (group.ends.get_mut(), group.weights.get_mut());
        for column in group.columns.clone() {
            for (block, windows) in blocks.iter().zip(&mut windows) {
                let count = block.counts[column];
                windows.push(Window {
                    ends: split_off_front(&mut ends, count).iter_mut(),
                    weights: split_off_front(&mut weights, count).iter_mut(),
                });
            }
        }
    }
    windows
}

impl RowBlock {
    fn new<W: Weight>(csr: &Csr<W>, rows: Range<usize>, columns: usize) -> Self {
        let mut counts = vec![0; columns];
        let edges = csr.offsets()[rows.start] as usize..csr.offsets()[rows.end] as usize;
        for target in &csr.all_targets()[edges] {
            counts[target.index() >> COLUMN_BITS] += 1;
        }
        RowBlock { rows, counts }
    }

    /// Copies every edge to the window of its column.
    fn deal<W: Weight, V: Weight>(
        &self,
        csr: &Csr<W>,
        mut windows: Vec<Window<'_, V>>,
        convert: impl Fn(W) -> V,
    ) {
        for (row, source) in self.rows.clone().zip(0u32..) {
            for (target, weight) in csr.edges(LocalId(row as u32)) {
                let window = &mut windows[target.index() >> COLUMN_BITS];
                let slots = window.ends.next().zip(window.weights.next());
                let (end_slot, weight_slot) = slots.expect("as many edges as were counted");
                *end_slot = (source << COLUMN_BITS) | (target.0 % COLUMN_VERTICES as u32);
                *weight_slot = convert(weight);
            }
        }
    }
}

impl<V: Weight> Group<V> {
    /// Room for as many edges to each column as `column_edges` says.
    fn for_columns(column_edges: &[usize]) -> Vec<Self> {
        let mut groups = Vec::new();
        let mut first = 0;
        let mut edges = 0;
        for (column, &here) in column_edges.iter().enumerate() {
            edges += here;
            if edges >= GROUP_EDGES || column + 1 == column_edges.len() {
                let columns = first..column + 1;
                groups.push(Group {
                    columns,
                    ends: Pages::zeroed(edges),
                    weights: Pages::zeroed(edges),
                });
                (first, edges) = (column + 1, 0);
            }
        }
        groups
    }
}

impl<V: Weight> ColumnSlot<'_, V> {
    /// Places the edges of the column.
    fn fill(self, group: &Group<V>, blocks: &[RowBlock]) {
        let (first, waiting_from) = self.first_edge;
        let waiting = waiting_from..waiting_from + self.targets.len();
        let (ends, weights) = (group.ends.get(waiting.clone()), group.weights.get(waiting));
        let low = |end: u32| end as usize % COLUMN_VERTICES;

        let mut next = vec![0u64; COLUMN_VERTICES];
        ends.iter().for_each(|&end| next[low(end)] += 1);
        let mut reached = 0;
        for (slot, offset) in next.iter_mut().zip(&mut *self.offsets) {
            let start = reached;
            reached += *slot;
            *offset = first as u64 + reached;
            *slot = start;
        }
        assert_eq!(reached as usize, ends.len(), "an edge leads to a vertex that does not exist");
        let mut edges = ends.iter().zip(weights);
        for block in blocks {
            let first_row = block.rows.start as u32;
            for (&end, &weight) in edges.by_ref().take(block.counts[self.column]) {
                let slot = &mut next[low(end)];
                self.targets[*slot as usize] = LocalId(first_row + (end >> COLUMN_BITS));
                self.weights[*slot as usize] = weight;
                *slot += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few vertices with many edges, many with few, and rows that end at the ends of blocks.
    #[test]
    fn edges_are_turned_around_across_blocks_and_columns() {
        let vertices = 3 * MAX_BLOCK_ROWS + 5;
        let mut edges: Vec<(u32, u32, u32)> = Vec::new();
        let far = (vertices - 1) as u32;
        let hub = (BLOCK_EDGES + 7) as u32;
        edges.extend((0..hub).map(|i| (3, i.wrapping_mul(0x9e37_79b1) % far, i)));
        edges.extend((0..vertices as u32).step_by(7).map(|v| (v, far - v, v)));
        edges.extend((0..100).map(|i| (far, i % 3, i)));
        let csr = Csr::from_edges(vertices, &edges);
        let turned: Vec<_> =
            csr.vertices().flat_map(|v| csr.edges(v).map(move |(t, w)| (t.0, v.0, w))).collect();
        let expected = Csr::from_edges(vertices, &turned);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| csr.transposed()) == expected);
            let unweighted = pool.install(|| csr.transposed_unweighted());
            assert_eq!(unweighted.offsets(), expected.offsets());
            assert!(unweighted.all_targets() == expected.all_targets());
        }
    }

    #[test]
    fn nothing_is_turned_around() {
        let empty = Csr::<()>::from_edges(0, &[]);
        assert_eq!(empty.transposed(), empty);
        let lonely = Csr::<f32>::from_edges(COLUMN_VERTICES + 1, &[]);
        assert_eq!(lonely.transposed(), lonely);
    }

    #[test]
    #[should_panic(expected = "an edge leads to a vertex that does not exist")]
    fn edges_to_missing_vertices_are_found() {
        let stray = Csr::from_parts(vec![0, 1].into(), vec![LocalId(1)].into(), vec![()].into());
        stray.transposed();
    }
}
