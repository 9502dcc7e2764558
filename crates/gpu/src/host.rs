//! A host that computes on a GPU: which engine runs which program there.

use std::sync::{Arc, Mutex, PoisonError};

use parton_engine::device::{
    Ballots, Device, DeviceEngine, Intersections, Operators, OperatorsRequest, ProgramRequest,
    RelaxationRequest, SortedLists,
};
use parton_engine::{Edges, EngineInfo, engines};
use parton_graph::bits::BitSet;
use parton_partition::Partition;

use crate::driver::Driver;
use crate::engines::ballot::RowLists;
use crate::engines::relaxation::{RelaxationEngine, Strategy};
use crate::engines::{ballot, intersect, operators, union, vertex};
use crate::error::Error;
use crate::memory::{Grant, Ledger, Membership, MemoryModel, MemoryPlan, Uploaded, Uploader};

/// A host's device.
pub struct GpuHost {
    driver: Arc<dyn Driver>,
    uploader: Uploader,
    /// Bytes of the device's memory that this host may use.
    memory_limit: Option<u64>,
    /// What this host and others may use of the device's memory.
    membership: Membership,
    /// What the last engine takes of the device's memory.
    model: Mutex<Option<MemoryModel>>,
    /// Whether a round is one step of a frontier, also where several could be taken at once.
    pub(crate) takes_single_steps: bool,
}

impl GpuHost {
    /// A host over this device.
    pub fn new(driver: Arc<dyn Driver>) -> Self {
        let uploader = Uploader::new(&driver);
        GpuHost {
            uploader,
            memory_limit: None,
            membership: Arc::new(Ledger::default()).join(&*driver),
            model: Mutex::new(None),
            takes_single_steps: false,
            driver,
        }
    }

    /// Enters this host in a ledger with others of its process, which may share its device.
    pub fn ledger(self, ledger: &Arc<Ledger>) -> Self {
        GpuHost { membership: ledger.join(&*self.driver), ..self }
    }

    /// Limits the bytes of the device's memory that this host may use.
    pub fn memory_limit(self, memory_limit: Option<u64>) -> Self {
        GpuHost { memory_limit, ..self }
    }

    /// Makes a round one step of a frontier: the meaning of rounds for users who count them.
    pub fn single_steps(self, takes_single_steps: bool) -> Self {
        GpuHost { takes_single_steps, ..self }
    }

    /// Takes offsets of 64 bits where a host has more edges than this, also where 32 bits would do: for tests.
    pub fn max_narrow_edges(mut self, max_narrow_edges: u64) -> Self {
        self.uploader.max_narrow_edges = max_narrow_edges;
        self
    }

    /// Bytes of the device's memory that this host may plan with: an equal part of what is free, if hosts share
    /// the device, and what the user allows at most.
    pub fn free_memory(&self) -> crate::Result<u64> {
        let free = self.membership.fair_part(&*self.driver)?;
        Ok(self.memory_limit.map_or(free, |limit| limit.min(free)))
    }

    /// What the last engine takes of the device's memory, for any part of a graph. `None` before there was
    /// an engine.
    pub fn memory_model(&self) -> Option<MemoryModel> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The memory for an engine that is about to be built. Fails if that is more than this host may use.
    fn reserve(&self, model: MemoryModel, partition: &Partition) -> parton_sync::Result<Grant<'_>> {
        let plan = model.plan(partition);
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model);
        self.grant(plan, partition.num_hosts() as u64)
    }

    /// The memory for what one of `hosts` hosts plans.
    fn grant(&self, plan: MemoryPlan, hosts: u64) -> parton_sync::Result<Grant<'_>> {
        let granted = self.membership.grant(&*self.driver, self.memory_limit, plan.total());
        granted.map_err(failed)?.map_err(|free| {
            let is_limited = self.memory_limit == Some(free);
            failed(Error::DoesNotFit { device: self.name(), plan, free, is_limited, hosts })
        })
    }

    /// The edges that the last engine uploaded.
    pub fn last_upload(&self) -> Uploaded {
        self.uploader.last_edges()
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    pub(crate) fn uploader(&self) -> &Uploader {
        &self.uploader
    }
}

impl Device for GpuHost {
    fn name(&self) -> String {
        self.driver.info().name.clone()
    }

    fn wait(&self) -> parton_sync::Result<()> {
        self.driver.synchronize().map_err(failed)
    }

    fn relaxation<'a>(
        &'a self,
        engine: &EngineInfo,
        request: RelaxationRequest<'_>,
        partition: &'a Partition,
    ) -> parton_sync::Result<Box<dyn DeviceEngine + 'a>> {
        check_bytes(self, request.label.bytes())?;
        if engine == engines::UNION {
            // An edge joins its ends whichever way it points.
            let followed = (Edges::Out, false);
            let model = MemoryModel::of_relaxation(&request, partition, followed);
            let _granted = self.reserve(model, partition)?;
            let built = union::UnionEngine::new(self, request, partition);
            return Ok(Box::new(built.map_err(failed)?));
        }
        let strategy = Strategy::of(engine);
        let followed = (request.edges, strategy.may_pull());
        let model = MemoryModel::of_relaxation(&request, partition, followed);
        let _granted = self.reserve(model, partition)?;
        let built = RelaxationEngine::new(self, strategy, request, partition);
        Ok(Box::new(built.map_err(failed)?))
    }

    fn vertex_program<'a>(
        &'a self,
        _: &EngineInfo,
        request: ProgramRequest<'_>,
        partition: &'a Partition,
    ) -> parton_sync::Result<Box<dyn DeviceEngine + 'a>> {
        check_bytes(self, request.accumulated.bytes())?;
        let _granted = self.reserve(MemoryModel::of_program(&request, partition), partition)?;
        let built = vertex::VertexEngine::new(self, request, partition);
        Ok(Box::new(built.map_err(failed)?))
    }

    fn operators<'a>(
        &'a self,
        request: OperatorsRequest<'a>,
        partition: &'a Partition,
    ) -> parton_sync::Result<Box<dyn Operators + 'a>> {
        if let Some(reason) = operators::misfit(request.plan) {
            return Err(parton_sync::Error::DeviceMisfit { device: self.name(), reason });
        }
        let _granted = self.reserve(MemoryModel::of_operators(&request), partition)?;
        let built = operators::OperatorEngine::new(self, request, partition);
        Ok(Box::new(built.map_err(failed)?))
    }

    fn intersections<'a>(
        &'a self,
        lists: SortedLists<'_>,
        num_hosts: usize,
    ) -> parton_sync::Result<Box<dyn Intersections + 'a>> {
        let _granted = self.grant(MemoryPlan::of_lists(lists), num_hosts as u64)?;
        Ok(Box::new(intersect::IntersectEngine::new(self, lists).map_err(failed)?))
    }

    fn ballots<'a>(
        &'a self,
        partition: &'a Partition,
        edges: Edges,
        shared: &BitSet,
    ) -> parton_sync::Result<Box<dyn Ballots + 'a>> {
        let rows = RowLists::new(partition, edges, shared);
        let _granted = self.reserve(MemoryModel::of_ballots(&rows, partition, edges), partition)?;
        let built = ballot::BallotEngine::new(self, partition, edges, rows);
        Ok(Box::new(built.map_err(failed)?))
    }
}

/// Threads fold values of 4 or 8 bytes at once.
fn check_bytes(host: &GpuHost, bytes: usize) -> parton_sync::Result<()> {
    match bytes {
        4 | 8 => Ok(()),
        _ => Err(parton_sync::Error::DeviceMisfit {
            device: host.name(),
            reason: format!("its values have {bytes} bytes, and devices fold values of 4 or 8"),
        }),
    }
}

/// A device's failure as that of an exchange.
pub(crate) fn failed(error: Error) -> parton_sync::Error {
    let device = match &error {
        Error::OutOfMemory { device, .. }
        | Error::OutOfPinned { device, .. }
        | Error::DoesNotFit { device, .. }
        | Error::Compile { device, .. }
        | Error::Driver { device, .. } => device.clone(),
        Error::Missing(_) => "device".into(),
    };
    let text = error.to_string();
    let reason = text.strip_prefix(&format!("{device}: ")).unwrap_or(&text).to_owned();
    match error {
        Error::OutOfMemory { .. } | Error::OutOfPinned { .. } | Error::DoesNotFit { .. } => {
            parton_sync::Error::DeviceMemory { device, reason }
        }
        _ => parton_sync::Error::Device { device, reason },
    }
}

#[cfg(test)]
mod tests {
    use parton_net::Cluster;
    use parton_partition::{Input, Plan};

    use super::*;
    use crate::emulated::{Emulated, Settings};

    const LISTS: SortedLists<'_> =
        SortedLists { ends: &[0, 1, 3], entries: &[0, 0, 1], weights: &[] };

    /// A host's part of a graph that two hosts have, with the masters that have neighbours on the other.
    fn part() -> (Partition, BitSet) {
        let input = Input::open("rmat:11").expect("a graph");
        let parts =
            Cluster::local(2).launch(|net| Partition::build(net, &input, &Plan::new("oec")));
        let part = parts.expect("partitions").swap_remove(0);
        let mut shared = BitSet::new(part.num_masters());
        shared.insert_range(0..part.num_masters());
        (part, shared)
    }

    #[test]
    fn work_without_a_program_is_planned_too() {
        let (part, shared) = part();
        let driver = Arc::new(Emulated::new(Settings::default()));
        let host = GpuHost::new(driver.clone()).memory_limit(Some(1000));
        let refusals = [
            host.intersections(LISTS, 2).err().expect("no memory"),
            host.ballots(&part, Edges::Both, &shared).err().expect("no memory"),
        ];
        for refusal in refusals.map(|error| error.to_string()) {
            let words = ["not enough memory: this host's part", "`device_memory`", "`hosts`"];
            assert!(words.iter().all(|word| refusal.contains(word)), "{refusal}");
        }
        assert_eq!(driver.peak_memory(), 0, "refused before anything is allocated");

        let host = GpuHost::new(driver.clone());
        drop(host.intersections(LISTS, 2).expect("a small engine"));
        assert!(driver.peak_memory() <= MemoryPlan::of_lists(LISTS).total());
        for edges in [Edges::Out, Edges::Both] {
            let driver = Arc::new(Emulated::new(Settings::default()));
            let host = GpuHost::new(driver.clone());
            drop(host.ballots(&part, edges, &shared).expect("an engine"));
            let planned = host.memory_model().expect("a plan").plan(&part).total();
            let peak = driver.peak_memory();
            assert!(peak <= planned && planned < 2 * peak, "{peak} of {planned}, {edges:?}");
        }
    }

    #[test]
    fn memory_that_cannot_be_pinned_is_a_lack_of_memory() {
        let driver = Emulated::new(Settings::default());
        let error = driver.allocate_pinned(1 << 60).err().expect("too much");
        assert!(matches!(error, Error::OutOfPinned { needed, .. } if needed == 1 << 60), "{error}");
        assert!(matches!(failed(error), parton_sync::Error::DeviceMemory { .. }));
    }
}
