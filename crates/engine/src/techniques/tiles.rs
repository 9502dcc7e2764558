//! Tiles of a host's edges by the peer that their sources come from and the peer that their destinations go
//! to (LA3's 2D tiling: Ahmad et al., VLDB'18).
//!
//! Local ids are laid out so that masters, and the mirrors of each peer's masters, are ranges. Rows of one
//! destination range are cut into blocks, and the edges of a block are sorted by source, as in
//! [`row_blocks`](super::row_blocks). The edges of one tile are then consecutive in each block, so a tile is a pair
//! of split points per block: `hosts + 1` of them in all, and no object per tile. An edge takes four bytes: its
//! row in the block, and the step from the source before.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, Weight, parallel};
use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::Reduction;
use parton_sync::cpu_field::Cells;

use super::row_blocks::{self, MAX_STEP, NO_ROW, ROW_BITS};
use super::spares::Spares;
use crate::program::{Accumulated, Edges, VertexProgram};
use crate::state::directions::{DirectionRows, Directions};

/// Ranges of local ids that come from or go to one host: group 0 are this host's masters, group `h + 1` its
/// mirrors of host `h`.
pub(crate) struct Groups {
    firsts: Vec<u32>,
}

impl Groups {
    /// Those of a partition.
    pub(crate) fn new(partition: &Partition) -> Self {
        let mirrors =
            (0..partition.num_hosts()).scan(partition.num_masters() as u32, |next, host| {
                let first = *next;
                let routes = partition.routes(HostId(host as u16));
                *next += routes.mirror_parts().len() as u32;
                Some(first)
            });
        let mut firsts: Vec<u32> = std::iter::once(0).chain(mirrors).collect();
        firsts.push(partition.num_proxies() as u32);
        Groups { firsts }
    }

    /// Groups that begin at these ids, and their end.
    #[cfg(test)]
    pub(crate) fn from_firsts(firsts: Vec<u32>) -> Self {
        Groups { firsts }
    }

    /// The group of a proxy.
    pub(crate) fn of(&self, proxy: LocalId) -> usize {
        self.firsts.partition_point(|&first| first <= proxy.0) - 1
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The local ids of a group.
    pub(crate) fn range(&self, group: usize) -> Range<u32> {
        self.firsts[group]..self.firsts[group + 1]
    }
}

/// Edges that a thread multiplies before messages may move: some tenths of a millisecond.
const EDGES_PER_PIECE: u64 = 1 << 17;
/// Threads share out at least this many blocks each.
const BLOCKS_PER_THREAD: usize = 4;

/// Where the edges of a tile begin in a block, and the source of the edge before.
#[derive(Clone, Copy)]
struct Split {
    at: u32,
    before: u32,
}

/// Consecutive rows of one group, with edges sorted by source.
struct TileBlock<W> {
    rows: Range<usize>,
    edges: Vec<u32>,
    weights: Vec<W>,
    /// One for each group of sources, and the end.
    splits: Vec<Split>,
    /// Edges without fillers, in each tile.
    num_edges: Vec<u32>,
}

/// What a host's edges take in tiles, and in plain rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileMemory {
    /// Bytes of all tiles, with their split points.
    pub tiles: u64,
    /// Bytes of rows with an offset of 8 bytes each and edges of 4 bytes.
    pub rows: u64,
    /// Edges of each tile, by group of destinations, then of sources: group 0 are the host's masters, group `h + 1`
    /// its mirrors of host `h`.
    pub edges: Vec<Vec<u64>>,
}

/// Makes tiles of a host's edges, and says what they take.
pub fn tile_memory(partition: &Partition) -> TileMemory {
    let reverse = Directions::<()>::reverse(partition, Edges::Out);
    let tiles = Tiles::new(partition, reverse.rows(), |_, _| true);
    let rows = 8 * partition.num_proxies() as u64 + 4 * reverse.num_edges();
    TileMemory { tiles: tiles.bytes(), rows, edges: tiles.edges() }
}

/// A host's edges in tiles.
pub(crate) struct Tiles<W> {
    groups: Groups,
    blocks: Vec<TileBlock<W>>,
    /// The blocks of each group of destinations.
    of_group: Vec<Range<usize>>,
    /// Rows with an edge.
    written: VertexSet,
}

impl<W: Weight> Tiles<W> {
    /// The edges of `rows`, by the end where messages arrive, that `keeps(source, destination)`.
    pub(crate) fn new(
        partition: &Partition,
        rows: DirectionRows<'_, W>,
        keeps: impl Fn(LocalId, LocalId) -> bool + Sync,
    ) -> Self {
        let groups = Groups::new(partition);
        let mut spans = Vec::new();
        let mut of_group = Vec::new();
        for group in 0..groups.len() {
            let range = groups.range(group);
            let first = spans.len();
            spans.extend(row_blocks::spans(rows, range.start as usize..range.end as usize));
            of_group.push(first..spans.len());
        }
        let room = Spares::new();
        let written = VertexSet::new(partition.num_proxies());
        let blocks = parallel::map(&spans, |span| {
            let mut keys = room.take_or(<[Vec<(u64, W)>; 2]>::default);
            let keep = |row: usize, end: LocalId| keeps(end, LocalId(row as u32));
            let sorted = row_blocks::sort_by_end(rows, span, keep, &mut keys);
            for (key, _) in sorted {
                written.insert(LocalId((span.start + (*key as u32 & NO_ROW) as usize) as u32));
            }
            let block = TileBlock::new(span.clone(), sorted, &groups);
            room.leave(keys);
            block
        });
        Tiles { groups, blocks, of_group, written }
    }

    /// The groups of local ids.
    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Rows with an edge.
    pub(crate) fn written(&self) -> &VertexSet {
        &self.written
    }

    /// For each group of destinations, the groups of sources that it has edges from, ascending.
    #[inline(never)]
    pub(crate) fn tiles(&self) -> Vec<Vec<usize>> {
        let with_edges = |edges: &Vec<u64>| {
            (0..edges.len()).filter(|&group| edges[group] > 0).collect::<Vec<_>>()
        };
        self.edges().iter().map(with_edges).collect()
    }

    /// Edges of each tile, by group of destinations, then of sources.
    #[inline(never)]
    fn edges(&self) -> Vec<Vec<u64>> {
        let of_group = |blocks: &Range<usize>| {
            let blocks = &self.blocks[blocks.clone()];
            let of_tile =
                |group| blocks.iter().map(|block| u64::from(block.num_edges[group])).sum();
            (0..self.groups.len()).map(of_tile).collect()
        };
        self.of_group.iter().map(of_group).collect()
    }

    /// Bytes of all tiles.
    fn bytes(&self) -> u64 {
        let of_block = |block: &TileBlock<W>| {
            size_of_val(block)
                + size_of_val(&block.edges[..])
                + size_of_val(&block.weights[..])
                + size_of_val(&block.splits[..])
                + size_of_val(&block.num_edges[..])
        };
        let blocks: usize = self.blocks.iter().map(of_block).sum();
        let proxies = self.groups.firsts.last().copied().unwrap_or_default();
        (blocks + size_of_val(&self.of_group[..])) as u64 + u64::from(proxies.div_ceil(8))
    }

    /// Multiplies blocks of a tile from block `first` on: combines what the messages of one group of sources become
    /// along edges into the accumulators of one group of destinations. A piece is short, so that messages can move
    /// between two of them. Returns the number of its edges, and the block that comes next if any is left.
    pub(crate) fn multiply<P: VertexProgram<Weight = W>>(
        &self,
        program: &P,
        messages: Cells<'_, P::Messages>,
        accumulators: Cells<'_, P::Reduction>,
        (sources, destinations): (usize, usize),
        first: usize,
    ) -> (u64, Option<usize>) {
        let blocks = &self.blocks[self.of_group[destinations].clone()];
        let threads = rayon::current_num_threads();
        let is_long = |edges: u64, blocks: usize| {
            // A host that is alone has no messages.
            self.groups.len() > 2
                && edges >= EDGES_PER_PIECE * threads as u64
                && (threads == 1 || blocks >= BLOCKS_PER_THREAD * threads)
        };
        let (mut edges, mut next) = (0, first);
        while next < blocks.len() && !is_long(edges, next - first) {
            edges += u64::from(blocks[next].num_edges[sources]);
            next += 1;
        }
        parallel::for_each(&blocks[first..next], |block| {
            // Copies, so that no address is loaded again after every write.
            let (messages, accumulators) = (messages, accumulators);
            let value = move |end, weight| program.along(messages.get(end), weight);
            block.combine::<P>(sources, accumulators, value);
        });
        (edges, (next < blocks.len()).then_some(next))
    }
}

impl<W: Weight> TileBlock<W> {
    fn new(rows: Range<usize>, sorted: &[(u64, W)], groups: &Groups) -> Self {
        let (mut edges, mut weights) = (Vec::with_capacity(sorted.len()), Vec::new());
        let (mut splits, mut num_edges) = (Vec::new(), vec![0; groups.len()]);
        let mut before = 0;
        for &(key, weight) in sorted {
            let source = (key >> ROW_BITS) as u32;
            while splits.len() < groups.len() && source >= groups.firsts[splits.len()] {
                splits.push(Split { at: edges.len() as u32, before });
            }
            let mut step = source - before;
            while step > MAX_STEP {
                edges.push(MAX_STEP << ROW_BITS | NO_ROW);
                weights.push(W::default());
                step -= MAX_STEP;
            }
            edges.push(step << ROW_BITS | key as u32 & NO_ROW);
            weights.push(weight);
            num_edges[splits.len() - 1] += 1;
            before = source;
        }
        splits.resize(groups.len() + 1, Split { at: edges.len() as u32, before });
        edges.shrink_to_fit();
        TileBlock { rows, edges, weights, splits, num_edges }
    }

    #[inline(always)]
    fn combine<P: VertexProgram<Weight = W>>(
        &self,
        sources: usize,
        accumulators: Cells<'_, P::Reduction>,
        value: impl Fn(LocalId, W) -> Accumulated<P>,
    ) {
        let (Split { at, before }, end) = (self.splits[sources], self.splits[sources + 1].at);
        let edges = at as usize..end as usize;
        let weights = &self.weights[edges.clone()];
        let totals = accumulators.slice(self.rows.clone());
        let mut source = LocalId(before);
        for (&edge, &weight) in self.edges[edges].iter().zip(weights) {
            source.0 += edge >> ROW_BITS;
            // A filler is a step on the way to an edge. There is no such row.
            totals.change_if_any(LocalId(edge & NO_ROW), |total| {
                P::Reduction::combine(total, value(source, weight))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use parton_net::Cluster;
    use parton_partition::{Input, Plan};

    use super::*;

    /// What tiles take of what plain rows take, and the share of edges that are in tiles, on each host.
    fn shares(input: &str, hosts: usize) -> Vec<(f64, f64)> {
        let input = Input::open(input).expect("a generator");
        let shares = Cluster::local(hosts).threads_per_host(1).launch(|net| {
            let partition = Partition::build(net, &input, &Plan::new("staggered"))?;
            let TileMemory { tiles, rows, edges } = tile_memory(&partition);
            let in_tiles: u64 = edges.iter().flatten().sum();
            let edges = in_tiles as f64 / partition.edges().num_edges() as f64;
            Ok::<_, parton_partition::Error>((tiles as f64 / rows as f64, edges))
        });
        shares.expect("partitions")
    }

    #[test]
    fn tiles_take_little_more_memory_than_plain_rows() {
        for (hosts, most) in [(1usize, 1.0), (4, 1.15), (16, 1.4), (64, 1.4)] {
            // As many edges for each host as a large graph has on 64.
            let scale = 15 + hosts.ilog2().min(4);
            for (bytes, edges) in shares(&format!("rmat:{scale}"), hosts) {
                assert!(bytes <= most, "{hosts} hosts: {bytes}");
                assert_eq!(edges, 1.0, "every edge is in one tile");
            }
        }
    }
}
