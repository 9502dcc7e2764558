//! Stratified stochastic gradient descent (Gemulla, Nijkamp, Haas, Sismanis, KDD'11): edge by edge, in blocks
//! that share no vertex.
//!
//! Sources are dealt into as many blocks as destinations, so edges fall into a square of cells. A round goes
//! through the square by diagonals: cells of one diagonal share neither sources nor destinations, so threads
//! take one each; inside a cell edges come in a fixed random order. A thread gets its block of sources and
//! its block of destinations as two slices, so that it cannot write anything else. Any number of threads
//! gives the same result to the bit.

use std::ops::Range;

use parton_graph::hash::mix64;
use parton_graph::{GlobalId, LocalId, Weight, parallel, with_csr};
use parton_net::HostId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Sum;
use parton_sync::{Delivery, Phase, Result, Substrate, Tally, VectorField};

use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::{EdgeProgram, Tip};
use crate::registry::EngineInfo;
use crate::state::sides::{Side, Sides};
use crate::techniques::slices::cut;

/// What users call this engine. [`BlockEngine`] runs edge programs, which only some algorithms are.
pub const INFO: EngineInfo = EngineInfo {
    name: "blocks",
    about: "edge by edge, in blocks of sources and destinations that threads share out",
};

/// Edges of an average cell, if there are enough: few enough for a cell's vectors to stay in
/// cache, enough to be worth a thread's while.
const EDGES_PER_CELL: u64 = 1 << 11;
/// Most blocks of sources.
const MAX_BLOCKS: u64 = 64;
/// Sources that a thread sorts into cells at a time.
const SOURCES_PER_TASK: usize = 1 << 12;

/// The order in which a round visits edges. It depends on the whole graph, not on what is on a host.
#[derive(Clone, Copy, Debug)]
pub struct VisitOrder {
    seed: u64,
    blocks: u64,
}

impl VisitOrder {
    /// The order for a graph of this many edges.
    pub fn new(num_edges: u64, seed: u64) -> Self {
        let blocks = (num_edges / EDGES_PER_CELL).isqrt().max(1).next_power_of_two();
        VisitOrder { seed, blocks: blocks.min(MAX_BLOCKS) }
    }

    /// The block of a vertex, among those of its side.
    fn block(self, vertex: GlobalId) -> u64 {
        mix64(mix64(self.seed).wrapping_add(vertex.0)) % self.blocks
    }

    /// The sort key of an edge: its diagonal, the block of its source, then a random number. Edges with equal
    /// keys keep their order in the graph.
    pub fn key(self, source: GlobalId, destination: GlobalId) -> (u64, u64, u64) {
        let (from, to) = (self.block(source), self.block(destination));
        let diagonal = (to + self.blocks - from) % self.blocks;
        (diagonal, from, mix64(mix64(self.seed ^ source.0).wrapping_add(destination.0)))
    }
}

/// An edge in its cell.
#[derive(Clone, Copy)]
struct Edge {
    /// Row of the source in its block.
    source: u32,
    /// Row of the destination in its block.
    destination: u32,
    weight: f32,
}

/// One host's part of a program of edges.
pub struct BlockEngine<'a, P> {
    program: P,
    partition: &'a Partition,
    vectors: VectorField<Sum<f32>>,
    /// Proxies of vertices on several hosts, with the share of their edges that are here.
    shared: Vec<(LocalId, f32)>,
    /// Of every row, for [`Tip::spread`].
    spreads: Vec<f32>,
    /// Rows of each block of sources.
    sources: Vec<Range<usize>>,
    /// Rows of each block of destinations.
    destinations: Vec<Range<usize>>,
    /// Diagonal after diagonal, in each by the block of the source.
    cells: Vec<Vec<Edge>>,
    /// Number of masters that have edges anywhere.
    num_connected: u64,
    /// What this host's edges summed up in this round.
    sum: f64,
}

impl<'a, P: EdgeProgram> BlockEngine<'a, P> {
    /// This host's part. An error if a vertex is both a source and a destination.
    pub fn new(
        program: P,
        partition: &'a Partition,
        sides: &Sides,
        order: VisitOrder,
    ) -> Result<Self> {
        let mut proxies = (0..partition.num_proxies() as u32).map(LocalId);
        if proxies.any(|proxy| sides.of(proxy) == Side::Both) {
            return Err(INFO.misfit("graphs in which a vertex has both in-edges and out-edges"));
        }
        let Layout { rows, sources, destinations } = Layout::new(partition, sides, order);
        let mut spreads = vec![1.0; rows.len()];
        for (proxy, &row) in (0..).map(LocalId).zip(&rows) {
            spreads[row as usize] = sides.spread(proxy) as f32;
        }
        let cells = cells(partition, &rows, [&sources, &destinations], order);
        let masters = (0..partition.num_masters() as u32).map(LocalId);
        let num_connected =
            masters.filter(|&master| sides.of(master) != Side::Neither).count() as u64;
        // A vertex without edges stays at zero.
        let start = |proxy: LocalId, vector: &mut [f32]| {
            if sides.of(proxy) != Side::Neither {
                program.init(partition.global(proxy), vector);
            }
        };
        let vectors = VectorField::new(program.width(), rows, Delivery::Event, start);
        let shared = shared(partition, sides);
        let sum = 0.0;
        Ok(BlockEngine {
            program,
            partition,
            vectors,
            shared,
            spreads,
            sources,
            destinations,
            cells,
            num_connected,
            sum,
        })
    }

    /// The vector of a proxy. Those of masters are final when the run is over.
    pub fn vector(&self, proxy: LocalId) -> &[f32] {
        self.vectors.get(proxy)
    }

    /// The program, with what it has learnt.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// Visits every edge once; what they sum up to.
    fn visit_all(&mut self) -> f64 {
        let (program, width) = (&self.program, self.vectors.width());
        let (elements, spreads) = (self.vectors.rows_mut(), &self.spreads[..]);
        let blocks = self.sources.iter().chain(&self.destinations);
        let mut slices = cut(elements, blocks.map(|rows| rows.len() * width));
        let mut targets = slices.split_off(self.sources.len());
        let mut target_rows = self.destinations.clone();
        let mut sum = 0.0;
        for diagonal in self.cells.chunks(self.sources.len()) {
            let sides = slices.iter_mut().zip(&self.sources);
            let other_sides = targets.iter_mut().zip(&target_rows);
            let cells = diagonal.iter().zip(sides.zip(other_sides));
            let sums = parallel::map_owned(cells, |_, (cell, (side, other_side))| {
                let ((sources, rows), (destinations, other_rows)) = (side, other_side);
                let from = Block { vectors: sources, spreads: &spreads[rows.clone()], width };
                let spreads = &spreads[other_rows.clone()];
                let to = Block { vectors: destinations, spreads, width };
                visit_cell(program, cell, from, to)
            });
            // In this order, whichever thread was first.
            sum += sums.into_iter().sum::<f64>();
            targets.rotate_left(1);
            target_rows.rotate_left(1);
        }
        sum
    }
}

/// The vectors of one block, and what their spreads are.
struct Block<'v> {
    vectors: &'v mut [f32],
    spreads: &'v [f32],
    width: usize,
}

impl Block<'_> {
    #[inline(always)]
    fn tip(&mut self, row: u32) -> Tip<'_> {
        let first = row as usize * self.width;
        let spread = self.spreads[row as usize];
        Tip { vector: &mut self.vectors[first..first + self.width], spread }
    }
}

/// Visits the edges of a cell in turn.
fn visit_cell(
    program: &impl EdgeProgram,
    cell: &[Edge],
    mut sources: Block<'_>,
    mut destinations: Block<'_>,
) -> f64 {
    let visit = |edge: &Edge| {
        program.visit(sources.tip(edge.source), destinations.tip(edge.destination), edge.weight)
    };
    cell.iter().map(visit).sum()
}

/// Where vectors lie: blocks of sources, blocks of destinations, then vertices without edges.
struct Layout {
    /// Of every proxy.
    rows: Vec<u32>,
    sources: Vec<Range<usize>>,
    destinations: Vec<Range<usize>>,
}

impl Layout {
    fn new(partition: &Partition, sides: &Sides, order: VisitOrder) -> Self {
        let blocks = order.blocks as usize;
        let group = |proxy: LocalId| {
            let block = order.block(partition.global(proxy)) as usize;
            match sides.of(proxy) {
                Side::Destination => blocks + block,
                Side::Neither => 2 * blocks,
                // No vertex is on both sides.
                Side::Source | Side::Both => block,
            }
        };
        let proxies = || (0..partition.num_proxies() as u32).map(LocalId);
        let mut ends = vec![0; 2 * blocks + 2];
        proxies().for_each(|proxy| ends[group(proxy) + 1] += 1);
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let range = |group: usize| ends[group]..ends[group + 1];
        let sources = (0..blocks).map(range).collect();
        let destinations = (blocks..2 * blocks).map(range).collect();
        let mut next = ends.clone();
        let row = |proxy| {
            let next = &mut next[group(proxy)];
            *next += 1;
            *next as u32 - 1
        };
        Layout { rows: proxies().map(row).collect(), sources, destinations }
    }
}

/// This host's edges, cell by cell in the order of their visits.
fn cells(
    partition: &Partition,
    rows: &[u32],
    [sources, destinations]: [&[Range<usize>]; 2],
    order: VisitOrder,
) -> Vec<Vec<Edge>> {
    let blocks = sources.len();
    let sort_piece = |&first: &usize| {
        let mut cells: Vec<Vec<(u64, Edge)>> = vec![Vec::new(); blocks * blocks];
        let end = (first + SOURCES_PER_TASK).min(rows.len());
        with_csr!(partition.out_edges(), csr => {
            for source in (first..end).map(|proxy| LocalId(proxy as u32)) {
                let from = partition.global(source);
                for (target, weight) in csr.edges(source) {
                    let (diagonal, block, at) = order.key(from, partition.global(target));
                    let to = (diagonal + block) as usize % blocks;
                    let row = |proxy: LocalId, rows_of: &Range<usize>| {
                        rows[proxy.index()] - rows_of.start as u32
                    };
                    let edge = Edge {
                        source: row(source, &sources[block as usize]),
                        destination: row(target, &destinations[to]),
                        weight: weight.to_f64() as f32,
                    };
                    cells[diagonal as usize * blocks + block as usize].push((at, edge));
                }
            }
        });
        cells
    };
    let firsts: Vec<usize> = (0..rows.len()).step_by(SOURCES_PER_TASK).collect();
    let pieces = parallel::map(&firsts, sort_piece);
    let cell = |number, _| {
        let mut edges: Vec<(u64, Edge)> =
            pieces.iter().flat_map(|piece| &piece[number]).copied().collect();
        edges.sort_by_key(|&(at, _)| at);
        edges.into_iter().map(|(_, edge)| edge).collect()
    };
    parallel::map_owned(0..blocks * blocks, cell)
}

/// Proxies of vertices that have several, with the share of their edges that are on this host.
fn shared(partition: &Partition, sides: &Sides) -> Vec<(LocalId, f32)> {
    let routes = || HostId::all(partition.num_hosts()).map(|peer| partition.routes(peer));
    let masters = routes().flat_map(|routes| routes.masters(End::Either)).copied();
    let mirrors = routes().flat_map(|routes| routes.mirrors(End::Either)).map(LocalId);
    let mut shared: Vec<LocalId> = masters.chain(mirrors).collect();
    shared.sort_unstable();
    shared.dedup();
    shared.into_iter().map(|proxy| (proxy, sides.share(proxy) as f32)).collect()
}

impl<P: EdgeProgram> Engine for BlockEngine<'_, P> {
    fn compute(&mut self) -> Result<u64> {
        self.sum = self.visit_all();
        let masters = self.partition.num_masters();
        for &(proxy, share) in &self.shared {
            // The contributions of all hosts add up to the mean.
            self.vectors.get_mut(proxy).iter_mut().for_each(|element| *element *= share);
            if proxy.index() >= masters {
                self.vectors.updated().insert(proxy);
            }
        }
        Ok(self.partition.out_edges().num_edges())
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.vectors, End::Either),
            Phase::Broadcast => substrate.broadcast(&mut self.vectors, End::Either),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        Ok(Tally { changed: self.num_connected, ..Tally::of_sum(self.sum) })
    }

    fn next(&mut self) -> Result<Next> {
        Ok(Next::new(self.partition.out_edges().num_edges() > 0))
    }

    fn conclude(&mut self, total: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        let has_ended = self.program.conclude(total.sums[0]);
        Ok(Conclusion { has_ended, measure: self.program.measure() })
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err("what hosts make of a vertex becomes one in every round")
    }
}
