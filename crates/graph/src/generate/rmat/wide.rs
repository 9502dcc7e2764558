//! Many edges at once, on processors whose registers hold eight numbers and multiply 64 bits: random numbers of
//! eight edges then take hardly more time than those of one, and an edge takes a third less.

use std::ops::Range;

use super::super::random::Random;
use super::{AliasTable, Cell, LEVELS, Rmat};
use crate::build::EdgeBatch;

/// Edges that descend together.
const EDGES_PER_CHUNK: usize = 128;

/// Appends a slice of the edges.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn edges(rmat: &Rmat, indices: Range<u64>, edges: &mut EdgeBatch<u64, ()>) {
    for first in indices.clone().step_by(EDGES_PER_CHUNK) {
        let count = (indices.end - first).min(EDGES_PER_CHUNK as u64) as usize;
        let mut chunk = Chunk::default();
        let tables = rmat.scale / LEVELS;
        for draw in 0..tables {
            chunk.descend(&rmat.table, LEVELS, rmat.random, (first, draw));
        }
        if let Some(rest) = &rmat.rest {
            chunk.descend(rest, rmat.scale % LEVELS, rmat.random, (first, tables));
        }
        chunk.settle();
        edges.sources.extend_from_slice(&chunk.sources[..count]);
        edges.destinations.extend_from_slice(&chunk.destinations[..count]);
        edges.weights.resize(edges.sources.len(), ());
    }
}

/// Edges on their way down.
struct Chunk {
    sources: [u64; EDGES_PER_CHUNK],
    destinations: [u64; EDGES_PER_CHUNK],
    /// What was chosen since ends were last settled, and how many levels these are.
    cells: [Cell; EDGES_PER_CHUNK],
    levels: u32,
}

impl Default for Chunk {
    fn default() -> Self {
        let (ends, cells) = ([0; EDGES_PER_CHUNK], [Cell(0); EDGES_PER_CHUNK]);
        Chunk { sources: ends, destinations: ends, cells, levels: 0 }
    }
}

impl Chunk {
    /// Descends by a table with random number `draw` of each edge, of which `first` is the first.
    #[inline(always)]
    fn descend(
        &mut self,
        table: &AliasTable,
        levels: u32,
        random: Random,
        (first, draw): (u64, u32),
    ) {
        if self.levels + levels >= Cell::BITS {
            self.settle();
        }
        let mut bits = [0; EDGES_PER_CHUNK];
        random.bits_of_indices(first, draw, &mut bits);
        for (cell, bits) in self.cells.iter_mut().zip(bits) {
            *cell = table.descend(levels, *cell, bits);
        }
        self.levels += levels;
    }

    /// Moves the ends into the cells that were chosen.
    #[inline(always)]
    fn settle(&mut self) {
        let ends = self.sources.iter_mut().zip(&mut self.destinations);
        for ((source, destination), cell) in ends.zip(&mut self.cells) {
            (*source, *destination) = cell.inside((*source, *destination), self.levels);
            *cell = Cell(0);
        }
        self.levels = 0;
    }
}
