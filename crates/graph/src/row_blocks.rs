//! In-edges in row blocks, as a file keeps them: what an engine would sort before its first round.
//!
//! A block is consecutive rows, whole steps of [`ROWS_PER_STEP`] but for the last. Its edges are sorted by
//! their sources. An entry has the row's place in its block in the lower [`ROW_BITS`] bits, and above them the
//! step from the source of the entry before. An entry with the place [`NO_ROW`] is a filler: no edge, only a step
//! on the way to one that is further than [`MAX_STEP`].

use std::ops::Range;
use std::sync::OnceLock;

use crate::hash::row_sum;
use crate::{Adjacency, Buffer, Error, LocalId, Place, Result, parallel};

/// Blocks begin at multiples of this.
pub const ROWS_PER_STEP: usize = 1 << 12;
/// Bits of an entry that hold the place of its row in the block.
pub const ROW_BITS: u32 = 16;
/// The place of a filler.
pub const NO_ROW: u32 = (1 << ROW_BITS) - 1;
/// The longest step.
pub const MAX_STEP: u32 = u32::MAX >> ROW_BITS;
/// Entries that are brought into memory at a time.
const ENTRIES_PER_TASK: usize = 1 << 18;
/// Stands for the end of a block that goes on after this step of rows.
const GOES_ON: u64 = u64::MAX;

/// All rows of a graph in blocks.
#[derive(Debug)]
pub struct RowBlocks {
    /// For each step of rows the number of entries up to the end of the block that ends there.
    ends: Buffer<u64>,
    entries: Buffer<u32>,
    /// What to call the file in messages.
    file: String,
    is_checked: OnceLock<()>,
}

/// Consecutive rows, and their entries.
pub type StoredBlock<'b> = (Range<usize>, &'b [u32]);

impl RowBlocks {
    /// These blocks, which follow each other from row 0 on.
    pub fn new<'b>(blocks: impl IntoIterator<Item = StoredBlock<'b>>) -> Self {
        let (mut ends, mut entries) = (Vec::new(), Vec::new());
        for (rows, block) in blocks {
            let steps = rows.len().div_ceil(ROWS_PER_STEP);
            ends.resize(ends.len() + steps, GOES_ON);
            entries.extend_from_slice(block);
            if let Some(end) = ends.last_mut() {
                *end = entries.len() as u64;
            }
        }
        Self::of_file(String::new(), ends.into(), entries.into())
    }

    /// Blocks that lie in a file and have not been looked at.
    pub(crate) fn of_file(file: String, ends: Buffer<u64>, entries: Buffer<u32>) -> Self {
        RowBlocks { ends, entries, file, is_checked: OnceLock::new() }
    }

    /// What a file keeps.
    pub(crate) fn arrays(&self) -> (&[u64], &[u32]) {
        (&self.ends, &self.entries)
    }

    /// The blocks, if they are the edges of a graph by destination, of which these are the edges by source. The
    /// first call looks at every entry.
    pub fn of_edges(&self, edges: &Adjacency) -> Result<Vec<StoredBlock<'_>>> {
        let bad = |problem: String| {
            Error::data(self.file.clone(), Place::File, format!("row blocks: {problem}"))
        };
        let blocks = self.blocks(edges.num_vertices()).map_err(bad)?;
        if self.is_checked.get().is_none() {
            self.load()?;
            check_entries(&blocks, edges).map_err(bad)?;
            self.is_checked.get_or_init(|| ());
        }
        Ok(blocks)
    }

    /// Brings all entries into memory, where a failing disk is an error.
    fn load(&self) -> Result<()> {
        let pieces = parallel::pieces(0..self.entries.len(), ENTRIES_PER_TASK);
        let loaded = parallel::map(&pieces, |piece| self.entries.load(piece.clone()));
        let all: std::io::Result<()> = loaded.into_iter().collect();
        all.map_err(|e| Error::io(&self.file, "read", e))
    }

    /// The blocks of this many rows, of which nothing but the ends is checked.
    fn blocks(&self, rows: usize) -> Result<Vec<StoredBlock<'_>>, String> {
        if self.ends.len() != rows.div_ceil(ROWS_PER_STEP) {
            return Err(format!("{} steps of rows for {rows} rows", self.ends.len()));
        }
        let (mut blocks, mut first_row, mut start) = (Vec::new(), 0, 0);
        for (step, &end) in self.ends.iter().enumerate().filter(|(_, end)| **end != GOES_ON) {
            let span = first_row..rows.min((step + 1) * ROWS_PER_STEP);
            if span.len() >= NO_ROW as usize {
                return Err(format!("a block of {} rows", span.len()));
            }
            let range = start..usize::try_from(end).unwrap_or(usize::MAX);
            let Some(entries) = self.entries.get(range.clone()) else {
                return Err(format!("a block from entry {} to entry {end}", range.start));
            };
            (first_row, start) = (span.end, range.end);
            blocks.push((span, entries));
        }
        match (first_row, start) == (rows, self.entries.len()) {
            true => Ok(blocks),
            false => Err("the last block does not end with the rows and entries".into()),
        }
    }
}

/// Entries must name rows of their blocks and vertices, and be the edges turned around.
fn check_entries(blocks: &[StoredBlock<'_>], edges: &Adjacency) -> Result<(), String> {
    let vertices = edges.num_vertices() as u64;
    let found = parallel::map(blocks, |block| entry_sum(block, vertices));
    let (mut count, mut sum) = (0, 0u64);
    for found in found {
        let of_block = found?;
        count += of_block.0;
        sum = sum.wrapping_add(of_block.1);
    }
    let (offsets, targets) = (edges.offsets(), edges.all_targets());
    let of_rows = |rows: Range<usize>| {
        rows.fold(0, |sum: u64, row| {
            let ends = &targets[offsets[row] as usize..offsets[row + 1] as usize];
            sum.wrapping_add(row_sum(row as u32, ends.iter().map(|&end| (end, ())), false))
        })
    };
    let expected = parallel::reduce(edges.num_vertices(), of_rows, u64::wrapping_add).unwrap_or(0);
    match (count, sum) == (edges.num_edges(), expected) {
        true => Ok(()),
        false => Err("not the edges of the graph turned around".into()),
    }
}

/// The number of edges of a block, and the sum of their hashes.
fn entry_sum((rows, entries): &StoredBlock<'_>, vertices: u64) -> Result<(u64, u64), String> {
    let [first_row, rows] = [rows.start as u32, rows.len() as u32];
    let (mut source, mut count, mut sum) = (0, 0, 0u64);
    for &entry in *entries {
        source += u64::from(entry >> ROW_BITS);
        let place = entry & NO_ROW;
        if place < rows && source < vertices {
            count += 1;
            sum = sum.wrapping_add(edge_hash(source as u32, first_row + place));
        } else if place != NO_ROW || source >= vertices {
            let problem = format!("an edge from vertex {source} to row {place} of {rows}");
            return Err(problem);
        }
    }
    Ok((count, sum))
}

/// What an edge without weight adds to the sum of [`row_sum`] over all rows.
#[inline(always)]
fn edge_hash(source: u32, destination: u32) -> u64 {
    row_sum(source, std::iter::once((LocalId(destination), ())), false)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Csr, with_csr};

    /// Blocks of `steps` steps, made one edge after the other.
    pub(crate) fn blocks_of(adjacency: &Adjacency, steps: usize) -> RowBlocks {
        let vertices = adjacency.num_vertices();
        let span = |first| first..vertices.min(first + steps * ROWS_PER_STEP);
        let spans: Vec<_> = (0..vertices).step_by(steps * ROWS_PER_STEP).map(span).collect();
        let entries = |rows: &Range<usize>| {
            let (mut entries, mut before) = (Vec::new(), 0);
            for source in 0..vertices as u32 {
                let ends = with_csr!(adjacency, csr => csr.targets(LocalId(source)).to_vec());
                for end in ends.iter().filter(|end| rows.contains(&end.index())) {
                    while source - before > MAX_STEP {
                        entries.push(MAX_STEP << ROW_BITS | NO_ROW);
                        before += MAX_STEP;
                    }
                    entries.push((source - before) << ROW_BITS | (end.0 - rows.start as u32));
                    before = source;
                }
            }
            entries
        };
        let all: Vec<_> = spans.iter().map(entries).collect();
        RowBlocks::new(spans.into_iter().zip(all.iter().map(Vec::as_slice)))
    }

    /// The edges that entries stand for, in order.
    fn edges_of(blocks: &[StoredBlock<'_>]) -> Vec<(u32, u32)> {
        let mut edges = Vec::new();
        for (rows, entries) in blocks {
            let mut source = 0;
            for entry in *entries {
                source += entry >> ROW_BITS;
                let place = entry & NO_ROW;
                edges.extend((place != NO_ROW).then(|| (source, rows.start as u32 + place)));
            }
        }
        edges.sort_unstable();
        edges
    }

    fn graph(vertices: usize, edges: &[(u32, u32)]) -> Adjacency {
        let edges: Vec<_> = edges.iter().map(|&(source, end)| (source, end, ())).collect();
        Csr::from_edges(vertices, &edges).into()
    }

    #[test]
    fn blocks_are_the_edges_turned_around() {
        let far = 3 * MAX_STEP;
        let edges = [(7, 4096), (7, 4096), (7, 1), (far, 0), (far, far - 1), (9000, 9000)];
        let adjacency = graph(far as usize + 1, &edges);
        for steps in [1, 2, 15] {
            let blocks = blocks_of(&adjacency, steps);
            for _ in 0..2 {
                let found = blocks.of_edges(&adjacency).expect("sound blocks");
                let mut expected = edges.to_vec();
                expected.sort_unstable();
                assert_eq!(edges_of(&found), expected);
                assert_eq!(found[0].0, 0..steps * ROWS_PER_STEP);
                assert_eq!(found.last().expect("a block").0.end, far as usize + 1);
            }
        }
        assert!(blocks_of(&graph(0, &[]), 1).of_edges(&graph(0, &[])).expect("none").is_empty());
        let none = graph(5000, &[]);
        assert_eq!(blocks_of(&none, 1).of_edges(&none).expect("two").len(), 2);
    }

    #[test]
    fn blocks_of_another_graph_are_refused() {
        let adjacency = graph(3, &[(0, 1), (1, 2), (2, 0)]);
        let refused = |blocks: RowBlocks, expected: &str| {
            let message = blocks.of_edges(&adjacency).expect_err("refused").to_string();
            assert!(message.contains("row blocks: ") && message.contains(expected), "{message}");
        };
        for edges in [&[][..], &[(0, 1), (1, 2)], &[(0, 1), (1, 2), (2, 1)]] {
            refused(blocks_of(&graph(3, edges), 1), "not the edges of the graph turned around");
        }
        refused(blocks_of(&graph(5000, &[]), 1), "2 steps of rows for 3 rows");
        let raw = |ends: &[u64], entries: &[u32]| {
            RowBlocks::of_file("x".into(), ends.to_vec().into(), entries.to_vec().into())
        };
        refused(raw(&[GOES_ON], &[]), "does not end with the rows");
        refused(raw(&[0], &[1]), "does not end with the rows");
        refused(raw(&[2], &[1]), "a block from entry 0 to entry 2");
        refused(raw(&[1], &[3]), "an edge from vertex 0 to row 3 of 3");
        refused(raw(&[1], &[3 << ROW_BITS]), "an edge from vertex 3 to row 0 of 3");
        refused(raw(&[1], &[3 << ROW_BITS | NO_ROW]), "an edge from vertex 3 to row 65535");
        let many = graph(16 * ROWS_PER_STEP, &[]);
        let long = blocks_of(&many, 16).of_edges(&many).expect_err("too long").to_string();
        assert!(long.contains("a block of 65536 rows"), "{long}");
        let falling = raw(&[1, 0], &[1]);
        let message = falling.of_edges(&graph(5000, &[(0, 1)])).expect_err("falls").to_string();
        assert!(message.contains("from entry 1 to entry 0"), "{message}");
    }

    /// Whatever the entries are, they are the graph's or refused.
    #[test]
    fn no_entry_is_believed() {
        let adjacency = graph(3, &[(0, 1), (1, 2), (2, 0), (2, 2)]);
        let sound = blocks_of(&adjacency, 1);
        let expected = edges_of(&sound.of_edges(&adjacency).expect("sound blocks"));
        let (ends, entries) = sound.arrays();
        for place in 0..entries.len() {
            let places = || (0..5).chain([NO_ROW - 1, NO_ROW]);
            let values = [0, 1, 2, 3, 4, MAX_STEP].into_iter();
            for value in values.flat_map(|step| places().map(move |row| step << ROW_BITS | row)) {
                let mut entries = entries.to_vec();
                entries[place] = value;
                let blocks = RowBlocks::of_file("x".into(), ends.to_vec().into(), entries.into());
                if let Ok(found) = blocks.of_edges(&adjacency) {
                    assert_eq!(edges_of(&found), expected);
                }
            }
        }
    }
}
