//! Intersections of sorted lists on a device: counts stay there until the last batch is through.

use bytemuck::{Pod, Zeroable};
use parton_engine::device::intersections::ListBatch;
use parton_engine::device::{DeviceProgram, Intersections, SortedLists};
use parton_sync::Result as SyncResult;

use crate::driver::Address;
use crate::error::Result;
use crate::host::{GpuHost, failed};
use crate::launch::{Kernels, arguments, read};
use crate::memory::{Buffer, Uploader};

/// The counts of a host's lists.
pub(crate) struct IntersectEngine<'a> {
    host: &'a GpuHost,
    kernels: Kernels,
    lists: DeviceLists,
    /// Of entries of the lists, by their places.
    counts: Buffer<u32>,
    /// Of positions.
    totals: Buffer<u64>,
    visited: Buffer<u64>,
}

struct DeviceLists {
    ends: Buffer<u64>,
    entries: Buffer<u32>,
    weights: Buffer<u8>,
}

/// `Lists` of `intersect.cu`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ListsArgument([Address; 3]);

impl DeviceLists {
    fn upload(uploader: &Uploader, lists: SortedLists<'_>) -> Result<Self> {
        Ok(DeviceLists {
            ends: uploader.buffer(lists.ends)?,
            entries: uploader.buffer(lists.entries)?,
            weights: uploader.buffer(lists.weights)?,
        })
    }

    fn argument(&self) -> ListsArgument {
        ListsArgument([self.ends.address(), self.entries.address(), self.weights.address()])
    }
}

impl<'a> IntersectEngine<'a> {
    pub(crate) fn new(host: &'a GpuHost, lists: SortedLists<'_>) -> Result<Self> {
        let driver = host.driver();
        // No program takes part, but the edges of a host mention its weights.
        let program = DeviceProgram::new("", &[]).with_type::<()>("Weight");
        let text = include_str!("../../kernels/intersect.cu");
        let names = ["intersect_count", "intersect_sum"];
        let kernels = Kernels::new(driver, &program, "typedef u32 Offset;\n", &[text], &names)?;
        let counts = Buffer::zeroed(driver, lists.entries.len())?;
        let totals = Buffer::zeroed(driver, lists.ends.len().saturating_sub(1))?;
        let visited = Buffer::zeroed(driver, 1)?;
        let lists = DeviceLists::upload(host.uploader(), lists)?;
        Ok(IntersectEngine { host, kernels, lists, counts, totals, visited })
    }

    fn num_lists(&self) -> u32 {
        self.totals.len() as u32
    }

    fn intersect(&mut self, batch: Option<ListBatch<'_>>, with_own: bool) -> Result<u64> {
        if self.counts.is_empty() {
            return Ok(0);
        }
        let uploader = self.host.uploader();
        let uploaded = match batch {
            Some(batch) if !batch.lists.entries.is_empty() => {
                let which = uploader.buffer(batch.which)?;
                Some((which, DeviceLists::upload(uploader, batch.lists)?))
            }
            _ => None,
        };
        let own = self.lists.argument();
        let which = uploaded.as_ref().map_or(Address(0), |(which, _)| which.address());
        let batch = uploaded.as_ref().map_or(own, |(_, lists)| lists.argument());
        self.visited.queue_fill(0)?;
        let arguments = arguments![
            own,
            batch,
            which,
            self.num_lists(),
            u32::from(with_own),
            self.counts.address(),
            self.totals.address(),
            self.visited.address()
        ];
        self.kernels.launch("intersect_count", self.counts.len() as u64, &arguments)?;
        // The batch is freed after this.
        read(&self.visited)
    }

    fn sum(&mut self) -> Result<Vec<u64>> {
        if !self.counts.is_empty() {
            let (own, counts) = (self.lists.argument(), self.counts.address());
            let arguments = arguments![own, self.num_lists(), counts, self.totals.address()];
            self.kernels.launch("intersect_sum", self.counts.len() as u64, &arguments)?;
        }
        self.totals.to_vec()
    }
}

impl Intersections for IntersectEngine<'_> {
    fn count(&mut self, batch: Option<ListBatch<'_>>, with_own: bool) -> SyncResult<u64> {
        self.intersect(batch, with_own).map_err(failed)
    }

    fn totals(&mut self) -> SyncResult<Vec<u64>> {
        self.sum().map_err(failed)
    }
}
