//! Pull: every vertex combines what its neighbours send, row by row or in row blocks.

use std::ops::Range;

use parton_graph::{LocalId, Weight};
use parton_partition::Partition;
use parton_sync::cpu_field::Cells;
use parton_sync::{Reduction, Result};

use super::VERTICES_PER_TASK;
use super::row_blocks::{self, RowBlock, Totals};
use super::spares::Spares;
use crate::program::{Accumulated, Edges, Properties, VertexProgram};
use crate::state::directions::{DirectionRows, Directions};

/// Edges by the end where messages arrive, prepared for many rounds.
pub(crate) struct Collector<'a, P: VertexProgram> {
    reverse: Directions<'a, P::Weight>,
    /// The same edges in row blocks; empty where sorting them does not pay off.
    blocks: Vec<RowBlock<'a>>,
    totals: Spares<Totals<Accumulated<P>>>,
}

impl<'a, P: VertexProgram> Collector<'a, P> {
    /// If `only_masters` collect, the edges of other proxies are not prepared, and edges that no other
    /// engine part visits go back to the system.
    pub(crate) fn new(
        partition: &'a Partition,
        properties: Properties,
        only_masters: bool,
    ) -> Result<Self> {
        let (reverse, blocks) = edges_by_row(partition, properties, only_masters)?;
        Ok(Collector { reverse, blocks, totals: Spares::new() })
    }

    /// Number of edges.
    pub(crate) fn num_edges(&self) -> u64 {
        self.reverse.num_edges()
    }

    /// The edges.
    pub(crate) fn rows(&self) -> DirectionRows<'_, P::Weight> {
        self.reverse.rows()
    }

    /// The first `rows` rows, as threads take them. Tasks begin at multiples of 64.
    pub(crate) fn tasks(&self, rows: usize) -> Vec<Range<usize>> {
        match &self.blocks[..] {
            [] => {
                let firsts = (0..rows).step_by(VERTICES_PER_TASK);
                firsts.map(|row| row..rows.min(row + VERTICES_PER_TASK)).collect()
            }
            blocks => blocks.iter().map(RowBlock::rows).collect(),
        }
    }

    /// Combines the messages of all neighbours of the rows of a task. Give the totals back with
    /// [`leave`](Self::leave).
    #[inline(always)]
    pub(crate) fn collect(
        &self,
        program: &P,
        messages: Cells<'_, P::Messages>,
        number: usize,
        rows: &Range<usize>,
    ) -> Totals<Accumulated<P>> {
        let mut totals = self.totals.take_or(|| Totals::new(P::Reduction::identity()));
        let value = |end, weight| program.along(messages.get(end), weight);
        match self.blocks.get(number) {
            Some(block) => {
                let value = |end| value(end, P::Weight::default());
                block.combine(&mut totals, value, P::Reduction::combine);
            }
            None => {
                let prefetch = |end| messages.prefetch(end);
                let (first, totals) = (LocalId(rows.start as u32), totals.first(rows.len()));
                self.rows().combine(first, totals, prefetch, value, P::Reduction::combine);
            }
        }
        totals
    }

    /// Leaves drained totals to another task.
    pub(crate) fn leave(&self, totals: Totals<Accumulated<P>>) {
        self.totals.leave(totals);
    }
}

/// The edges by the end where messages arrive, and in row blocks if sorting them pays off.
#[inline(never)]
fn edges_by_row<W: Weight>(
    partition: &Partition,
    properties: Properties,
    only_masters: bool,
) -> Result<(Directions<'_, W>, Vec<RowBlock<'_>>)> {
    let reverse = Directions::reverse(partition, properties.edges);
    let (masters, proxies) = (partition.num_masters(), partition.num_proxies());
    let rows = if only_masters { masters } else { proxies };
    let mut blocks = Vec::new();
    if properties.stationary && row_blocks::pay_off(reverse.rows(), rows, properties.rounds) {
        let stored = match properties.edges {
            Edges::Out => partition.row_blocks()?,
            Edges::In | Edges::Both => None,
        };
        blocks = match (stored, Directions::forward_at_hand(partition, properties.edges)) {
            // Of a host that is alone: masters are all proxies.
            (Some(stored), _) => stored.into_iter().map(RowBlock::from).collect(),
            (None, Some(forward)) => {
                let done = |sources| {
                    if only_masters {
                        forward.set_aside(sources)
                    }
                };
                let forward = forward.rows();
                RowBlock::from_sources(reverse.rows(), rows, forward, proxies, done)
            }
            (None, None) => RowBlock::all(reverse.rows(), rows),
        };
        reverse.set_aside(0..rows);
        if only_masters {
            let at_hand = [partition.out_edges_at_hand(), partition.in_edges_at_hand()];
            let others = at_hand.into_iter().flatten().filter(|edges| !reverse.has(edges));
            others.for_each(|edges| edges.set_aside(0..edges.num_edges() as usize));
        }
    }
    Ok((reverse, blocks))
}
