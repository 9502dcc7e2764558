//! Components on a device: union-find with sampling (Afforest: Sutton, Ben-Nun, Barak, IPDPS'18), then
//! labels between hosts.
//!
//! A host joins the ends of its own edges once. From then on a label that arrives anywhere in a component
//! of the host is the label of all of it, so rounds are counted between hosts, not between vertices.

use std::sync::Arc;

use parton_engine::device::{DeviceEngine, DeviceProgram, RelaxationRequest};
use parton_engine::{Edges, Engine, Next, Paced, Tally};
use parton_partition::{End, Partition};
use parton_sync::{Delivery, Error, Phase, Result as SyncResult, Substrate};

use super::queue::Queue;
use super::relaxation::defines;
use crate::driver::Address;
use crate::error::Result;
use crate::field::{self, DeviceField};
use crate::host::{GpuHost, failed};
use crate::launch::{Kernels, Parameters, arguments, read};
use crate::memory::Buffer;
use crate::rows::Directions;

/// Neighbours that every vertex is joined with first.
const SAMPLED_NEIGHBOURS: u32 = 2;
/// Vertices that tell which component is the largest.
const SAMPLED_VERTICES: usize = 1 << 12;
/// No vertex: no component is skipped.
const NO_VERTEX: u32 = u32::MAX;

/// A relaxation whose labels pass edges unchanged, on a device.
pub(crate) struct UnionEngine<'a> {
    kernels: Arc<Kernels>,
    partition: &'a Partition,
    edges: Edges,
    directions: Directions,
    labels: DeviceField,
    /// Of every proxy: one of no greater id in the same component.
    parents: Buffer<u32>,
    /// The best label of a component, at its root.
    best: Buffer<u8>,
    queue: Queue,
    cell: Buffer<u64>,
    has_joined: bool,
}

impl<'a> UnionEngine<'a> {
    pub(crate) fn new(
        host: &GpuHost,
        request: RelaxationRequest<'_>,
        partition: &'a Partition,
    ) -> Result<Self> {
        let (driver, staging) = (host.driver(), host.uploader());
        let proxies = partition.num_proxies();
        if !request.passes_unchanged || request.filters {
            return Err(crate::Error::Driver {
                device: driver.info().name.clone(),
                action: "engine union",
                reason: "it joins vertices whose labels pass edges unchanged".into(),
            });
        }
        // Whichever way an edge points, it joins its ends: one direction is enough.
        let directions =
            Directions::upload(staging, driver, partition, Edges::Out, request.weight, false)?;
        let of_field = field::text("labels", "Label", "Fold");
        let mut names = field::kernel_names("labels");
        let own = ["start", "sample", "compress", "list", "join", "gather", "spread"];
        names.extend(own.iter().map(|kernel| format!("union_{kernel}")));
        names.extend(["relax_start".into(), "count_members".into()]);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let texts = [
            of_field.as_str(),
            include_str!("../../kernels/relax.cu"),
            include_str!("../../kernels/union.cu"),
        ];
        let defines = defines(&request, &directions);
        let kernels = Arc::new(Kernels::new(driver, &request.program, &defines, &texts, &names)?);
        let program = Parameters::new(staging, &request.program)?;
        let kind = (request.label, Delivery::Label);
        let is_shared = partition.num_hosts() > 1;
        let mut labels = DeviceField::new("labels", &kernels, driver, proxies, kind, is_shared)?;
        let globals = staging.buffer(partition.globals())?;
        let start = arguments![
            globals.address(),
            proxies as u32,
            labels.values.address(),
            labels.active.address()
        ];
        kernels.run("relax_start", proxies as u64, &program, &start)?;
        labels.active.queue_fill(0)?;
        let parents = Buffer::new(driver, proxies)?;
        kernels.launch(
            "union_start",
            proxies as u64,
            &arguments![parents.address(), proxies as u32],
        )?;
        driver.synchronize()?;
        staging.release();
        Ok(UnionEngine {
            best: Buffer::new(driver, labels.values.len())?,
            queue: Queue::new(driver, proxies, &directions.forward)?,
            cell: Buffer::zeroed(driver, 1)?,
            edges: request.edges,
            has_joined: false,
            kernels,
            partition,
            directions,
            labels,
            parents,
        })
    }

    fn proxies(&self) -> u32 {
        self.partition.num_proxies() as u32
    }

    /// Joins the ends of all edges of this host.
    fn join(&mut self) -> Result<u64> {
        let (parents, proxies) = (self.parents.address(), self.proxies());
        let edges = self.directions.forward.argument();
        for number in 0..SAMPLED_NEIGHBOURS {
            let sample = arguments![parents, proxies, edges, number];
            self.kernels.launch("union_sample", proxies.into(), &sample)?;
            self.kernels.launch("union_compress", proxies.into(), &arguments![parents, proxies])?;
        }
        // A vertex of the largest component needs no look at its edges, if its neighbours outside see
        // these edges too.
        let sees_both_ends = !self.labels.is_shared && self.edges == Edges::Out;
        let largest = if sees_both_ends { self.largest()? } else { NO_VERTEX };
        self.queue.clear()?;
        let [vertices, chunks, found] = self.queue.addresses();
        let list = arguments![parents, proxies, edges, largest, vertices, chunks, found];
        self.kernels.launch("union_list", proxies.into(), &list)?;
        let listed = self.queue.found()?;
        let threads = u64::from(self.kernels.threads());
        let work = u64::from(listed.vertices).max(u64::from(listed.chunks) * threads);
        let join = arguments![parents, edges, vertices, chunks, found];
        self.kernels.launch("union_join", work, &join)?;
        self.kernels.launch("union_compress", proxies.into(), &arguments![parents, proxies])?;
        Ok(listed.edges)
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
        let proxies = self.proxies();
        let edges = match self.has_joined {
            false => self.join()?,
            true => 0,
        };
        let members = if self.has_joined { self.labels.active.address() } else { Address(0) };
        let (parents, labels) = (self.parents.address(), self.labels.values.address());
        let best = self.best.address();
        let bytes = self.best.len();
        if !self.has_joined {
            self.best.queue_copy(0, &self.labels.values, 0..bytes)?;
        }
        self.has_joined = true;
        let gather = arguments![parents, proxies, members, labels, best];
        self.kernels.launch("union_gather", proxies.into(), &gather)?;
        let updated = self.labels.updated_if_shared();
        let spread = arguments![parents, proxies, best, labels, updated];
        self.kernels.launch("union_spread", proxies.into(), &spread)?;
        self.labels.active.queue_fill(0)?;
        Ok(edges)
    }

    fn count(&mut self, set: Address, end: u32) -> Result<u64> {
        self.cell.queue_fill(0)?;
        let arguments = arguments![set, end, self.cell.address()];
        self.kernels.launch("count_members", u64::from(end).div_ceil(32), &arguments)?;
        read(&self.cell)
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
        match phase {
            // An edge joins its ends whichever way it points.
            Phase::Reduce => substrate.reduce(&mut self.labels, End::Either),
            Phase::Broadcast => substrate.broadcast(&mut self.labels, End::Either),
        }
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        let masters = self.partition.num_masters() as u32;
        let updated = self.labels.updated.address();
        let changed = match self.labels.is_shared {
            true => self.count(updated, masters).map_err(failed)?,
            false => 0,
        };
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> SyncResult<Next> {
        let (active, proxies) = (self.labels.active.address(), self.proxies());
        Ok(Next::new(self.count(active, proxies).map_err(failed)? > 0))
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
        self.labels.read(into).map_err(failed)
    }

    fn update_parameters(&mut self, _: &DeviceProgram<'_>) -> SyncResult<()> {
        Ok::<(), Error>(())
    }
}
