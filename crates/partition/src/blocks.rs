//! Contiguous blocks of vertices, one per host.
//!
//! Blocks are balanced by a cost per vertex: its out-edges, or its in-edges. A histogram has two levels: coarse bins
//! of vertices first, then single vertices inside the few bins where a cut falls. Both have a fixed size, so finding
//! exact cuts needs no array with an entry per vertex.

use std::ops::Range;

use parton_graph::bits::BitSet;
use parton_graph::parallel;
use parton_graph::rows::Rows;
use parton_net::{HostId, Net};

use crate::Result;

/// Who owns which block: host `h` owns the vertices `starts[h]..starts[h + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    starts: Vec<u32>,
    /// For every 2^shift vertices, the host that owns the first of them: where to look.
    hints: Vec<u16>,
    shift: u32,
}

/// Bins of the coarse histogram.
const BINS: usize = 1 << 14;
/// At most this many hints: they stay in the first-level cache.
const HINTS: usize = 1 << 12;
/// What an edge costs a host, where a vertex costs one: where there are no edges, vertices still
/// have to be shared out.
pub(crate) const EDGE_COST: u64 = 16;
/// Costs that a thread adds up at least: its histogram is then small beside them.
const MIN_COSTS_PER_TASK: usize = 1 << 18;

/// What some vertices cost.
#[derive(Clone, Copy)]
pub(crate) enum Costs<'a> {
    /// The vertices of these rows, by themselves.
    Vertices(&'a Rows),
    /// The same vertices, by their rows.
    Rows(&'a Rows),
    /// The vertices that edges in these rows lead to, by these edges.
    Ends(&'a Rows),
}

impl Costs<'_> {
    fn len(self) -> usize {
        match self {
            Costs::Vertices(rows) | Costs::Rows(rows) => rows.adjacency.offsets().len() - 1,
            Costs::Ends(rows) => rows.adjacency.all_targets().len(),
        }
    }

    /// Calls `visit` with some of the vertices and costs.
    fn visit(self, part: Range<usize>, mut visit: impl FnMut(u32, u64)) {
        let first = |rows: &Rows| (rows.first as u32).wrapping_add(part.start as u32);
        match self {
            Costs::Vertices(rows) => {
                (first(rows)..).zip(part).for_each(|(vertex, _)| visit(vertex, 1));
            }
            Costs::Rows(rows) => {
                let offsets = &rows.adjacency.offsets()[part.start..=part.end];
                let degrees = offsets.windows(2).map(|row| row[1] - row[0]);
                (first(rows)..).zip(degrees).for_each(|(v, degree)| visit(v, EDGE_COST * degree));
            }
            Costs::Ends(rows) => {
                let targets = &rows.adjacency.all_targets()[part];
                targets.iter().for_each(|target| visit(target.0, EDGE_COST));
            }
        }
    }

    /// A histogram of all of these costs, by all threads: `bin` says where a vertex counts, if it does.
    fn histogram(all: &[Self], bins: usize, bin: impl Fn(u32) -> Option<usize> + Sync) -> Vec<u64> {
        let mut total = vec![0u64; bins];
        for costs in all {
            let per_task = costs.len().div_ceil(2 * rayon::current_num_threads());
            let per_task = per_task.max(MIN_COSTS_PER_TASK).max(bins);
            let parts = parallel::pieces(0..costs.len(), per_task);
            let histograms = parallel::map(&parts, |part| {
                let mut histogram = vec![0u64; bins];
                costs.visit(part.clone(), |vertex, cost| {
                    if let Some(bin) = bin(vertex) {
                        histogram[bin] += cost;
                    }
                });
                histogram
            });
            for histogram in histograms {
                total.iter_mut().zip(histogram).for_each(|(total, cost)| *total += cost);
            }
        }
        total
    }
}

impl Blocks {
    /// Blocks that start at `starts`, which ends with the number of vertices.
    pub fn new(starts: Vec<u32>) -> Self {
        assert!(starts.len() >= 2 && starts.is_sorted() && starts[0] == 0, "blocks cover vertices");
        let vertices = starts[starts.len() - 1];
        let mut shift = 0;
        while (vertices >> shift) as usize >= HINTS {
            shift += 1;
        }
        let owner = |v: u32| starts.partition_point(|&start| start <= v) - 1;
        let hints = (0..=vertices >> shift)
            .map(|hint| owner((hint << shift).min(vertices.saturating_sub(1))) as u16)
            .collect();
        Blocks { starts, hints, shift }
    }

    /// Blocks of equally many vertices.
    pub fn even(vertices: u32, hosts: usize) -> Self {
        let start = |h: usize| (u64::from(vertices) * h as u64 / hosts as u64) as u32;
        Blocks::new((0..=hosts).map(start).collect())
    }

    /// Blocks whose costs are as `shares` asks, from the costs of vertices that this host knows of.
    pub(crate) fn balanced(
        net: &mut Net,
        vertices: u32,
        shares: &[f64],
        costs: &[Costs<'_>],
    ) -> Result<Self> {
        // A power of two, as every vertex is divided by it.
        let width = (vertices as usize).div_ceil(BINS).next_power_of_two() as u32;
        let shift = width.trailing_zeros();
        let mut bins = Costs::histogram(costs, BINS, |vertex| Some((vertex >> shift) as usize));
        let sum = |a: u64, b: u64| a + b;
        net.all_reduce_slice(&mut bins, sum)?;
        let total: u64 = bins.iter().sum();

        // The cost before each cut, and the bin in which it is reached.
        let whole: f64 = shares.iter().sum();
        let mut reached = 0.0;
        let goals: Vec<u64> = shares[..shares.len() - 1]
            .iter()
            .map(|share| {
                reached += share;
                (total as f64 * (reached / whole)).round() as u64
            })
            .collect();
        let mut cut_bins: Vec<(usize, u64)> = Vec::new();
        let (mut bin, mut before) = (0, 0);
        for &goal in &goals {
            while bin + 1 < BINS && before + bins[bin] < goal {
                before += bins[bin];
                bin += 1;
            }
            cut_bins.push((bin, before));
        }
        let mut fine_bins: Vec<usize> = cut_bins.iter().map(|&(bin, _)| bin).collect();
        fine_bins.dedup();
        let place = |bin: usize| fine_bins.binary_search(&bin).ok();
        let mut is_fine = BitSet::new(BINS);
        fine_bins.iter().for_each(|&bin| _ = is_fine.insert(bin));
        let mut fine = Costs::histogram(costs, fine_bins.len() * width as usize, |vertex| {
            let bin = (vertex >> shift) as usize;
            let place = is_fine.contains(bin).then(|| place(bin)).flatten()?;
            Some(place * width as usize + (vertex % width) as usize)
        });
        net.all_reduce_slice(&mut fine, sum)?;

        let mut starts = vec![0];
        for (&goal, &(bin, before)) in goals.iter().zip(&cut_bins) {
            let place = place(bin).expect("every cut has its bin");
            let costs = &fine[place * width as usize..][..width as usize];
            let mut cost = before;
            // A vertex goes to the side of the cut on which more of it lies.
            let inside = costs
                .iter()
                .take_while(|&&c| {
                    let stays = cost + c / 2 < goal;
                    cost += c;
                    stays
                })
                .count() as u32;
            let start = ((bin as u64) << shift) + u64::from(inside);
            let start = start.min(vertices.into());
            starts.push((start as u32).max(starts[starts.len() - 1]));
        }
        starts.push(vertices);
        Ok(Blocks::new(starts))
    }

    /// The host that owns `vertex`.
    #[inline]
    pub fn owner(&self, vertex: u32) -> HostId {
        let mut host = self.hints[(vertex >> self.shift) as usize];
        while vertex >= self.starts[usize::from(host) + 1] {
            host += 1;
        }
        HostId(host)
    }

    /// The vertices of a host.
    pub fn of(&self, host: HostId) -> std::ops::Range<u32> {
        self.starts[host.index()]..self.starts[host.index() + 1]
    }

    /// Number of hosts.
    pub fn num_hosts(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> u32 {
        self.starts[self.starts.len() - 1]
    }
}
