//! Rows by degree class: a thread, a warp or a block collects a row.
//!
//! One warp per row leaves most lanes idle on short rows, and one thread per row waits for the longest.

use parton_engine::Edges;
use parton_graph::Adjacency;
use parton_partition::Partition;

use crate::driver::Launch;
use crate::error::Result;
use crate::host::GpuHost;
use crate::memory::Buffer;

/// Rows of fewer edges are collected by one thread each,
const MIN_EDGES_PER_WARP: u64 = 16;
/// rows of at least this many by one block each, and others by a warp.
const MIN_EDGES_PER_BLOCK: u64 = 2048;

/// Rows with edges, by the number of their edges, and all of them as a set.
pub(super) struct Classes {
    /// What collects a row of each class, the end of its kernel's name, and the rows.
    pub(super) rows: [(&'static str, Buffer<u32>); 3],
    pub(super) with_edges: Buffer<u32>,
}

impl Classes {
    pub(super) fn new(host: &GpuHost, partition: &Partition, edges: Edges) -> Result<Self> {
        let proxies = partition.num_proxies();
        let degree = |adjacency: &Adjacency, row: usize| {
            adjacency.offsets()[row + 1] - adjacency.offsets()[row]
        };
        let parts: Vec<&Adjacency> = match edges {
            Edges::Out => vec![partition.in_edges()],
            Edges::In => vec![partition.out_edges()],
            Edges::Both => vec![partition.in_edges(), partition.out_edges()],
        };
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        let mut with_edges = vec![0u32; proxies.div_ceil(32)];
        for row in 0..proxies {
            let degree: u64 = parts.iter().map(|part| degree(part, row)).sum();
            if degree > 0 {
                let class = usize::from(degree >= MIN_EDGES_PER_WARP)
                    + usize::from(degree >= MIN_EDGES_PER_BLOCK);
                lists[class].push(row as u32);
                with_edges[row / 32] |= 1 << (row % 32);
            }
        }
        let staging = host.uploader();
        let [few, more, many] = lists;
        Ok(Classes {
            rows: [
                ("thread", staging.buffer(&few)?),
                ("warp", staging.buffer(&more)?),
                ("block", staging.buffer(&many)?),
            ],
            with_edges: staging.buffer(&with_edges)?,
        })
    }

    /// Calls `launch` with the end of the kernel's name, the rows and the grid of each class that has rows.
    pub(super) fn each(
        &self,
        threads: u32,
        mut launch: impl FnMut(&str, &Buffer<u32>, Launch) -> Result<()>,
    ) -> Result<()> {
        for ((name, rows), threads_per_row) in self.rows.iter().zip([1, 32, threads]) {
            if !rows.is_empty() {
                let blocks =
                    (rows.len() as u64 * u64::from(threads_per_row)).div_ceil(threads.into());
                let blocks = blocks.min(1 << 30) as u32;
                launch(name, rows, Launch { blocks, threads, is_cooperative: false })?;
            }
        }
        Ok(())
    }
}
