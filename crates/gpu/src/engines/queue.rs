//! A list of vertices on the device, with the edges of those that have very many in chunks.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::launch::read;
use crate::memory::Buffer;
use crate::rows::DeviceEdges;

/// What a kernel has listed: `Found` of `rows.cu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Found {
    pub(super) vertices: u32,
    pub(super) chunks: u32,
    pub(super) edges: u64,
    /// Members that were not listed.
    pub(super) waiting: u64,
}

/// `Chunk` of `rows.cu`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Chunk {
    vertex: u32,
    part: u32,
    begin: u64,
    end: u64,
}

/// Room for a list of all vertices that have edges.
pub(super) struct Queue {
    vertices: Buffer<u32>,
    chunks: Buffer<Chunk>,
    found: Buffer<Found>,
}

impl Queue {
    pub(super) fn new(
        driver: &Arc<dyn Driver>,
        proxies: usize,
        edges: &DeviceEdges,
    ) -> Result<Self> {
        Ok(Queue {
            vertices: Buffer::new(driver, proxies)?,
            chunks: Buffer::new(driver, edges.max_chunks())?,
            found: Buffer::zeroed(driver, 1)?,
        })
    }

    /// Makes the list empty.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.found.queue_fill(0)
    }

    /// What was listed. Waits for the device.
    pub(super) fn found(&self) -> Result<Found> {
        read(&self.found)
    }

    /// Where kernels find the vertices, the chunks and the counts.
    pub(super) fn addresses(&self) -> [Address; 3] {
        [self.vertices.address(), self.chunks.address(), self.found.address()]
    }
}
