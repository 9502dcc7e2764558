//! A list of vertices on the device. Edges of vertices that have very many are cut into chunks.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::launch::{Arguments, Kernels, Parameters, read};
use crate::memory::Buffer;
use crate::rows::DeviceEdges;

/// What a kernel has listed: `Found` of `rows.cu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Found {
    pub(super) vertices: u32,
    pub(super) chunks: u32,
    pub(super) edges: u64,
    /// The complement of the lowest bucket that was not listed; 0 if all were.
    waiting: u64,
}

impl Found {
    /// The lowest bucket that was not listed.
    pub(super) fn lowest_waiting(self) -> Option<u64> {
        (self.waiting != 0).then_some(!self.waiting)
    }
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

/// Room for a list of all vertices, and what it holds.
pub(super) struct Queue {
    vertices: Buffer<u32>,
    chunks: Buffer<Chunk>,
    found: Buffer<Found>,
    listed: Found,
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
            listed: Found::default(),
        })
    }

    /// What the list holds.
    pub(super) fn listed(&self) -> Found {
        self.listed
    }

    /// Replaces the list by what a kernel finds in a set of this many words. The kernel's last
    /// parameters are vertices, chunks and counts. Waits for the device.
    pub(super) fn list(
        &mut self,
        kernels: &Kernels,
        (kernel, program): (&str, Option<&Parameters>),
        words: u32,
        mut arguments: Arguments,
    ) -> Result<Found> {
        self.found.queue_fill(0)?;
        self.addresses().into_iter().for_each(|address| arguments.push(address));
        match program {
            Some(program) => kernels.run(kernel, words.into(), program, &arguments)?,
            None => kernels.launch(kernel, words.into(), &arguments)?,
        }
        self.listed = read(&self.found)?;
        Ok(self.listed)
    }

    /// Where kernels find the vertices, the chunks and the counts.
    pub(super) fn addresses(&self) -> [Address; 3] {
        [self.vertices.address(), self.chunks.address(), self.found.address()]
    }

    /// Threads that a kernel over all listed edges can use.
    pub(super) fn work(&self, kernels: &Kernels) -> u64 {
        let Found { vertices, chunks, .. } = self.listed;
        u64::from(vertices).max(u64::from(chunks) * u64::from(kernels.threads()))
    }
}
