//! What Parton asks of a device's driver: memory, copies, compiled kernels and launches.
//!
//! Two drivers implement this: [`cuda`](crate::cuda) for NVIDIA's GPUs, and
//! [`emulated`](crate::emulated), which runs the same kernels on a processor, so that everything but
//! speed is tested on machines without a GPU.
//!
//! A driver belongs to one host and has one queue: work is done in the order in which it was asked
//! for. Copies between the device and ordinary memory wait; those from and to pinned memory do not.

use std::num::NonZeroU64;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::error::Result;

/// An address in a device's memory. Kernels get it as a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Address(pub u64);

impl Address {
    /// The address this many bytes on.
    pub fn plus(self, bytes: usize) -> Address {
        Address(self.0 + bytes as u64)
    }
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// What users call it: `gpu:0`.
    pub name: String,
    /// What its maker calls it.
    pub model: String,
    /// Version of the driver, as users know it.
    pub driver: String,
    /// What kernels are compiled for: `sm_90`.
    pub architecture: String,
    /// Bytes of memory in all.
    pub memory: u64,
    /// Processors that blocks of threads run on.
    pub multiprocessors: u32,
    /// Threads of a block at most, as engines shall choose it: fewer where threads are emulated.
    pub threads_per_block: u32,
}

/// A kernel of a module that was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(pub usize);

/// How a kernel is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Number of blocks.
    pub blocks: u32,
    /// Threads of each.
    pub threads: u32,
    /// Whether all blocks run at once, so that they can wait for each other.
    pub is_cooperative: bool,
}

/// A place in a device's queue, as its driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub u64);

/// Memory of the host that a device copies from and to while the host goes on.
pub struct Pinned {
    /// Where the host sees it.
    pub(crate) host: *mut u8,
    /// Where kernels see the same bytes.
    pub address: Address,
    /// Its size.
    pub bytes: usize,
}

// SAFETY: this is memory, and owned by the owner of the value.
unsafe impl Send for Pinned {}
// SAFETY: as above; reading through a shared reference needs no more than that.
unsafe impl Sync for Pinned {}

/// One host's connection to a device.
pub trait Driver: Send + Sync {
    /// What the device is.
    fn info(&self) -> &DeviceInfo;

    /// The memory of the device, by a number: drivers of this process that have the same can read what each
    /// other has written.
    fn memory(&self) -> NonZeroU64;

    /// Where allocations come from, by a number: drivers of this process that have the same share what is free.
    fn pool(&self) -> u64 {
        self.memory().get()
    }

    /// Bytes of memory that are free now.
    fn free_memory(&self) -> Result<u64>;

    /// Memory on the device. Its contents are undefined.
    fn allocate(&self, bytes: usize) -> Result<Address>;

    /// Gives memory back. A failure shows elsewhere, too.
    fn free(&self, address: Address);

    /// Memory of the host for copies.
    fn allocate_pinned(&self, bytes: usize) -> Result<Pinned>;

    /// Gives pinned memory back.
    fn free_pinned(&self, pinned: &Pinned);

    /// Copies bytes to the device, and returns when they may be changed.
    fn upload(&self, to: Address, bytes: &[u8]) -> Result<()>;

    /// Copies bytes from the device, and returns when they are there.
    fn download(&self, from: Address, into: &mut [u8]) -> Result<()>;

    /// Queues a copy from pinned memory to the device.
    fn queue_upload(&self, to: Address, from: &Pinned, part: Range<usize>) -> Result<()>;

    /// Queues a copy from the device to pinned memory.
    fn queue_download(&self, from: Address, to: &Pinned, part: Range<usize>) -> Result<()>;

    /// Queues a copy inside the device.
    fn queue_copy(&self, from: Address, to: Address, bytes: usize) -> Result<()>;

    /// Queues setting each of these bytes.
    fn queue_fill(&self, at: Address, byte: u8, bytes: usize) -> Result<()>;

    /// Compiles CUDA text to what [`Driver::load`] takes. Does not touch the device.
    fn compile(&self, text: &str) -> Result<Vec<u8>>;

    /// What [`Driver::compile`] depends on beside the text: compiler, version, options, architecture.
    fn compiler(&self) -> Result<String>;

    /// Loads a compiled module and finds kernels in it by name.
    fn load(&self, image: &[u8], kernels: &[&str]) -> Result<Vec<Kernel>>;

    /// Number of blocks of this many threads that all run at once.
    fn blocks_at_once(&self, kernel: Kernel, threads: u32) -> Result<u32>;

    /// Queues a kernel. Each argument is a value as the kernel's parameter lies in memory.
    fn launch(&self, kernel: Kernel, launch: Launch, arguments: &[&[u8]]) -> Result<()>;

    /// A mark that is not set yet. Waiting for it ends at once.
    fn new_mark(&self) -> Result<Mark>;

    /// Gives a mark back.
    fn free_mark(&self, mark: Mark);

    /// Moves a mark to the end of the queue.
    fn set_mark(&self, mark: Mark) -> Result<()>;

    /// Waits until everything that was queued before the mark is done. Failures of kernels show here, too.
    fn wait_for(&self, mark: Mark) -> Result<()>;

    /// Waits until everything that was queued is done. Failures of kernels show here at the latest.
    fn synchronize(&self) -> Result<()>;
}
