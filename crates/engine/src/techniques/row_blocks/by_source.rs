//! Row blocks from edges that lie in the order of their sources: they are dealt out, not sorted.
//!
//! The edges of a block are wanted in the order of their sources. A pass over the sources meets them so, and
//! appends each to the block of its destination. Threads take consecutive sources: a first pass counts what
//! each will append to each block, a second one writes.

use std::iter::repeat_n;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice::IterMut;

use parton_graph::{LocalId, Weight, huge, parallel};

use super::{MAX_STEP, NO_ROW, ROW_BITS, ROWS_PER_STEP, RowBlock};
use crate::state::directions::DirectionRows;

/// Tasks per thread: sources have edges of very different number.
const TASKS_PER_THREAD: usize = 4;

/// What one task appends to one block.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Edges, and fillers between them.
    len: u32,
    /// The source of the first edge and of the last; nothing without edges.
    first: u32,
    last: u32,
}

/// The rows of these spans, in blocks; `forward` are the rows of the first `sources` vertices at the other ends of
/// the edges.
pub(super) fn deal<W: Weight>(
    forward: DirectionRows<'_, W>,
    sources: usize,
    spans: &[Range<usize>],
    done: impl Fn(Range<usize>) + Sync,
) -> Vec<RowBlock<'static>> {
    let blocks = BlockTable::new(spans);
    let tasks = tasks(forward, sources);
    let mut parts = parallel::map(&tasks, |task| count(forward, task, &blocks));
    let lens = begin_after_each_other(&mut parts, spans.len());

    let mut edges: Vec<Vec<u32>> = lens.iter().map(|&len| huge::vec_with_capacity(len)).collect();
    // For each task, its places in each block.
    let mut places: Vec<Vec<Places<'_>>> = tasks.iter().map(|_| Vec::new()).collect();
    for (block, (edges, &len)) in edges.iter_mut().zip(&lens).enumerate() {
        let mut free = &mut edges.spare_capacity_mut()[..len];
        for (places, parts) in places.iter_mut().zip(&parts) {
            let Part { len, first, .. } = parts[block];
            let mine = free.split_off_mut(..len as usize).expect("room for all");
            places.push(Places { free: mine.iter_mut(), source: first });
        }
    }
    parallel::for_each_owned(tasks.iter().zip(places), |_, (task, mut places)| {
        write(forward, task, &blocks, &mut places);
        assert!(places.iter().all(|places| places.free.len() == 0), "all that was counted");
        done(task.clone());
    });
    let blocks = spans.iter().zip(edges).zip(lens);
    let block = |((rows, mut edges), len): ((&Range<usize>, Vec<u32>), usize)| {
        // SAFETY: the tasks have written all places, which each of them has checked.
        unsafe { edges.set_len(len) };
        RowBlock { rows: rows.clone(), edges: edges.into() }
    };
    blocks.map(block).collect()
}

/// Which block a row belongs to, and its place there.
struct BlockTable<'s> {
    spans: &'s [Range<usize>],
    /// The block of each step of rows.
    of_step: Vec<u32>,
    rows: usize,
}

impl<'s> BlockTable<'s> {
    fn new(spans: &'s [Range<usize>]) -> Self {
        let steps = |span: &Range<usize>| span.len().div_ceil(ROWS_PER_STEP);
        let of_step = (0..).zip(spans).flat_map(|(block, span)| repeat_n(block, steps(span)));
        let rows = spans.last().map_or(0, |span| span.end);
        BlockTable { of_step: of_step.collect(), spans, rows }
    }

    /// `None` for rows of no block.
    #[inline(always)]
    fn find(&self, row: LocalId) -> Option<(usize, u32)> {
        (row.index() < self.rows).then(|| {
            let block = self.of_step[row.index() / ROWS_PER_STEP] as usize;
            (block, (row.index() - self.spans[block].start) as u32)
        })
    }
}

/// Consecutive sources with about as many edges each.
#[inline(never)]
fn tasks<W: Weight>(forward: DirectionRows<'_, W>, sources: usize) -> Vec<Range<usize>> {
    let offsets =
        parallel::prefix_sums(sources, |source| forward.degree(LocalId(source as u32)) + 1);
    let all = offsets[sources];
    let wanted = (TASKS_PER_THREAD * rayon::current_num_threads()) as u64;
    let cut = |number: u64| offsets.partition_point(|&offset| offset < all * number / wanted);
    let cuts: Vec<usize> = (0..=wanted).map(cut).collect();
    cuts.windows(2).map(|cut| cut[0]..cut[1].min(sources)).filter(|task| !task.is_empty()).collect()
}

/// Fillers on the way from one source to a later one.
#[inline(always)]
fn fillers(from: u32, to: u32) -> u32 {
    (to - from).saturating_sub(1) / MAX_STEP
}

#[inline(never)]
fn count<W: Weight>(
    forward: DirectionRows<'_, W>,
    sources: &Range<usize>,
    blocks: &BlockTable<'_>,
) -> Vec<Part> {
    let mut parts = vec![Part::default(); blocks.spans.len()];
    each_edge(forward, sources, blocks, |source, block, _| {
        let part = &mut parts[block];
        if part.len == 0 {
            part.first = source;
        } else {
            part.len += fillers(part.last, source);
        }
        part.len += 1;
        part.last = source;
    });
    parts
}

/// Counts the fillers before the first edge of each part, and lets `first` be the source that they begin at: the
/// last of the parts before. Returns the length of each block.
fn begin_after_each_other(parts: &mut [Vec<Part>], blocks: usize) -> Vec<usize> {
    let of_block = |block: usize| {
        let (mut len, mut last) = (0, 0);
        for part in parts.iter_mut().map(|parts| &mut parts[block]).filter(|part| part.len > 0) {
            part.len += fillers(last, part.first);
            part.first = std::mem::replace(&mut last, part.last);
            len += part.len as usize;
        }
        len
    };
    (0..blocks).map(of_block).collect()
}

/// Where a task appends to a block.
struct Places<'e> {
    free: IterMut<'e, MaybeUninit<u32>>,
    /// The source of the edge before.
    source: u32,
}

impl Places<'_> {
    #[inline(always)]
    fn push(&mut self, source: u32, row: u32) {
        let mut step = source - std::mem::replace(&mut self.source, source);
        while step > MAX_STEP {
            self.write(MAX_STEP << ROW_BITS | NO_ROW);
            step -= MAX_STEP;
        }
        self.write(step << ROW_BITS | row);
    }

    #[inline(always)]
    fn write(&mut self, edge: u32) {
        self.free.next().expect("as many as were counted").write(edge);
    }
}

fn write<W: Weight>(
    forward: DirectionRows<'_, W>,
    sources: &Range<usize>,
    blocks: &BlockTable<'_>,
    places: &mut [Places<'_>],
) {
    each_edge(forward, sources, blocks, |source, block, row| places[block].push(source, row));
}

/// Calls `visit` with the source, the block and the place there of each edge to a row of a block.
#[inline(always)]
fn each_edge<W: Weight>(
    forward: DirectionRows<'_, W>,
    sources: &Range<usize>,
    blocks: &BlockTable<'_>,
    mut visit: impl FnMut(u32, usize, u32),
) {
    for source in sources.clone().map(|source| source as u32) {
        for part in forward.parts() {
            for &row in part.targets(LocalId(source)) {
                if let Some((block, place)) = blocks.find(row) {
                    visit(source, block, place);
                }
            }
        }
    }
}
