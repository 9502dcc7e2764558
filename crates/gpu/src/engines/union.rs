//! Components on a device: union-find with sampling (Afforest: Sutton, Ben-Nun, Barak, IPDPS'18), then
//! labels between hosts.
//!
//! A host joins the ends of its own edges once. From then on a label that arrives anywhere in a component
//! of the host is the label of all of it, so rounds are counted between hosts, not between vertices.

use parton_engine::device::{DeviceEngine, DeviceProgram, RelaxationRequest};
use parton_engine::{Edges, Engine, Next, Paced, Tally};
use parton_partition::Partition;
use parton_sync::{Phase, Result as SyncResult, Substrate};

use super::labels::{KernelSet, Labels};
use super::queue::Queue;
use crate::driver::Address;
use crate::error::Result;
use crate::host::{GpuHost, failed};
use crate::launch::arguments;
use crate::memory::Buffer;
use crate::rows::Wanted;

/// Neighbours that every vertex is joined with first.
const SAMPLED_NEIGHBOURS: u32 = 2;
/// Vertices that tell which component is the largest.
const SAMPLED_VERTICES: usize = 1 << 12;
/// No vertex: no component is skipped.
const NO_VERTEX: u32 = u32::MAX;

/// The kernels of this engine.
const KERNELS: KernelSet = KernelSet {
    text: include_str!("../../kernels/union.cu"),
    names: &[
        "union_start",
        "union_sample",
        "union_compress",
        "union_outside",
        "union_list",
        "union_join",
        "union_gather",
        "union_spread",
    ],
};

/// A relaxation whose labels pass edges unchanged, on a device.
pub(crate) struct UnionEngine<'a> {
    labels: Labels<'a>,
    /// Of every proxy: one of no greater id in the same component.
    parents: Buffer<u32>,
    /// The best label of a component, at its root.
    best: Buffer<u8>,
    /// The vertices outside the largest component.
    outside: Buffer<u32>,
    queue: Queue,
    /// Whether an edge is seen from both its ends.
    sees_both_ends: bool,
    has_joined: bool,
}

impl<'a> UnionEngine<'a> {
    pub(crate) fn new(
        host: &GpuHost,
        request: RelaxationRequest<'_>,
        partition: &'a Partition,
    ) -> Result<Self> {
        let driver = host.driver();
        if !request.passes_unchanged || request.filters {
            return Err(crate::Error::Driver {
                device: driver.info().name.clone(),
                action: "engine union",
                reason: "it joins vertices whose labels pass edges unchanged".into(),
            });
        }
        // Whichever way an edge points, it joins its ends: one direction is enough.
        let labels =
            Labels::new(host, &request, partition, (Edges::Out, Wanted::Forward), &KERNELS)?;
        let mut labels = labels.at_both_ends();
        labels.field.active.queue_fill(0)?;
        let proxies = labels.proxies();
        let parents = Buffer::new(driver, proxies as usize)?;
        let start = arguments![parents.address(), proxies];
        labels.kernels.launch("union_start", proxies.into(), &start)?;
        Ok(UnionEngine {
            best: Buffer::new(driver, labels.field.values.len())?,
            outside: Buffer::new(driver, labels.field.words() as usize)?,
            queue: Queue::new(driver, proxies as usize, &labels.directions.forward)?,
            sees_both_ends: labels.is_alone() && request.edges == Edges::Out,
            has_joined: false,
            labels,
            parents,
        })
    }

    /// Joins the ends of all edges of this host.
    fn join(&mut self) -> Result<u64> {
        let Labels { kernels, directions, field, .. } = &self.labels;
        let (parents, proxies) = (self.parents.address(), self.labels.proxies());
        let edges = directions.forward.argument();
        for number in 0..SAMPLED_NEIGHBOURS {
            let sample = arguments![parents, proxies, edges, number];
            kernels.launch("union_sample", proxies.into(), &sample)?;
            kernels.launch("union_compress", proxies.into(), &arguments![parents, proxies])?;
        }
        let (words, outside, active) =
            (field.words(), self.outside.address(), field.active.address());
        let largest = arguments![parents, proxies, self.largest()?, outside];
        kernels.launch("union_outside", proxies.into(), &largest)?;
        let listed = match self.sees_both_ends {
            // Edges between a vertex inside and one outside are seen from outside.
            true => outside,
            false => {
                let all = arguments![parents, proxies, NO_VERTEX, active];
                kernels.launch("union_outside", proxies.into(), &all)?;
                active
            }
        };
        let list = arguments![listed, words, edges];
        let found = self.queue.list(kernels, ("union_list", None), words, list)?;
        let [vertices, chunks, counts] = self.queue.addresses();
        let join = arguments![parents, outside, edges, vertices, chunks, counts];
        kernels.launch("union_join", self.queue.work(kernels), &join)?;
        kernels.launch("union_compress", proxies.into(), &arguments![parents, proxies])?;
        Ok(found.edges)
    }

    /// The root of the component that most of some vertices are in.
    fn largest(&self) -> Result<u32> {
        let mut sample = vec![0; SAMPLED_VERTICES.min(self.parents.len())];
        self.parents.download(0, &mut sample)?;
        sample.sort_unstable();
        let groups = sample.chunk_by(|a, b| a == b);
        Ok(groups.max_by_key(|group| group.len()).map_or(NO_VERTEX, |group| group[0]))
    }

    /// Gives every proxy the best label of its component here.
    fn agree(&mut self) -> Result<u64> {
        let proxies = self.labels.proxies();
        if proxies == 0 {
            return Ok(0);
        }
        let mut edges = 0;
        let mut members = self.labels.field.active.address();
        if !self.has_joined {
            edges = self.join()?;
            let bytes = self.best.len();
            self.best.queue_copy(0, &self.labels.field.values, 0..bytes)?;
            self.has_joined = true;
            members = Address(0);
        }
        let Labels { kernels, field, .. } = &mut self.labels;
        let (parents, best, labels) =
            (self.parents.address(), self.best.address(), field.values.address());
        let gather = arguments![parents, proxies, members, labels, best];
        kernels.launch("union_gather", proxies.into(), &gather)?;
        let spread = arguments![parents, proxies, best, labels, field.updated_if_shared()];
        kernels.launch("union_spread", proxies.into(), &spread)?;
        field.active.queue_fill(0)?;
        Ok(edges)
    }
}

impl Engine for UnionEngine<'_> {
    fn begin(&mut self, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        // Every proxy knows its first label. The exchange keeps hosts in step.
        self.exchange(Phase::Broadcast, substrate)
    }

    fn compute(&mut self) -> SyncResult<u64> {
        self.agree().map_err(failed)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        self.labels.exchange(phase, substrate)
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        let changed = self.labels.num_changed().map_err(failed)?;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> SyncResult<Next> {
        let active = self.labels.field.active.address();
        let count = self.labels.count(active, self.labels.proxies()).map_err(failed)?;
        Ok(Next::new(count > 0))
    }

    fn paced(&mut self) -> SyncResult<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl Paced for UnionEngine<'_> {
    fn leave_rounds(&mut self, _: bool) {}
}

impl DeviceEngine for UnionEngine<'_> {
    fn read_values(&self, into: &mut [u8]) -> SyncResult<()> {
        self.labels.field.read(into).map_err(failed)
    }

    fn update_parameters(&mut self, _: &DeviceProgram<'_>) -> SyncResult<()> {
        Ok(())
    }
}
