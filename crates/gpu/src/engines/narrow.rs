//! Many steps of a narrow frontier in one cooperative launch.
//!
//! A road network has thousands of levels of a few hundred vertices. A launch and a look at its result
//! take longer than such a level, so the device goes on by itself until the frontier ends, grows, or comes
//! to a vertex of very many edges.

use super::labels::Labels;
use super::queue::{Found, Queue};
use crate::driver::Launch;
use crate::error::Result;
use crate::launch::{arguments, read};
use crate::memory::Buffer;

/// A frontier is narrow up to this many vertices
const MAX_VERTICES: u32 = 1 << 13;
/// of this many edges: then the time between steps counts.
const MAX_EDGES: u64 = 1 << 15;
/// Blocks and threads of a launch: few wait for each other faster.
const BLOCKS: u32 = 64;
const THREADS: u32 = 128;
/// Steps of one launch, so that a host can be stopped.
const STEPS_PER_LAUNCH: u32 = 1 << 14;

/// The name of the kernel.
pub(super) const KERNEL: &str = "relax_narrow";

/// The second list of vertices, and how long the lists of three steps are.
pub(super) struct Narrow {
    other: Buffer<u32>,
    counts: Buffer<u32>,
}

impl Narrow {
    pub(super) fn new(labels: &Labels<'_>) -> Result<Self> {
        let driver = labels.field.values.driver();
        Ok(Narrow {
            other: Buffer::new(driver, labels.proxies() as usize)?,
            counts: Buffer::zeroed(driver, 3)?,
        })
    }

    /// True if what was listed is worth such a launch.
    pub(super) fn suits(found: Found) -> bool {
        found.chunks == 0 && found.vertices <= MAX_VERTICES && found.edges <= MAX_EDGES
    }

    /// Takes steps from the listed vertices on, which are all active ones. Returns the number of edges.
    /// `first_wins`: labels of one level are equal.
    pub(super) fn run(
        &mut self,
        labels: &mut Labels<'_>,
        queue: &Queue,
        first_wins: bool,
    ) -> Result<u64> {
        // Labels that come from other hosts may be of other levels.
        let is_level = first_wins && labels.is_alone();
        if is_level {
            labels.field.active.queue_fill(0)?;
        }
        self.counts.upload(0, &[queue.listed().vertices, 0, 0])?;
        labels.cell.queue_fill(0)?;
        let [vertices, ..] = queue.addresses();
        let threads = THREADS.min(labels.kernels.threads());
        let at_once = labels.kernels.blocks_at_once(KERNEL, threads)?;
        let launch = Launch { blocks: BLOCKS.min(at_once).max(1), threads, is_cooperative: true };
        let arguments = arguments![
            labels.field.values.address(),
            labels.field.active.address(),
            labels.field.updated_if_shared(),
            labels.directions.forward.argument(),
            vertices,
            self.other.address(),
            self.other.len() as u32,
            self.counts.address(),
            MAX_VERTICES,
            STEPS_PER_LAUNCH,
            u32::from(is_level),
            labels.cell.address()
        ];
        labels.kernels.run_as(KERNEL, launch, &labels.program, &arguments)?;
        read(&labels.cell)
    }
}
