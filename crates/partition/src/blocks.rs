//! Contiguous blocks of vertices, one per host.
//!
//! Blocks are balanced by a cost per vertex (its out-edges, or its in-edges) with a histogram in
//! two levels: first over coarse bins of vertices, then, inside the few bins where a cut falls, per
//! vertex. Both have a fixed size, so finding exact cuts needs no array with an entry per vertex.

use parton_graph::bits::BitSet;
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
        costs: impl Iterator<Item = (u32, u64)> + Clone,
    ) -> Result<Self> {
        // A power of two, as every vertex is divided by it.
        let width = (vertices as usize).div_ceil(BINS).next_power_of_two() as u32;
        let shift = width.trailing_zeros();
        let mut bins = vec![0u64; BINS];
        costs.clone().for_each(|(vertex, cost)| bins[(vertex >> shift) as usize] += cost);
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
        let mut fine = vec![0u64; fine_bins.len() * width as usize];
        let mut is_fine = BitSet::new(BINS);
        fine_bins.iter().for_each(|&bin| _ = is_fine.insert(bin));
        costs.for_each(|(vertex, cost)| {
            let bin = (vertex >> shift) as usize;
            if is_fine.contains(bin) {
                let place = place(bin).expect("every cut has its bin");
                fine[place * width as usize + (vertex % width) as usize] += cost;
            }
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
