//! What every engine of relaxations has on the device: labels, edges, the program and its kernels.

use std::sync::Arc;

use parton_engine::Edges;
use parton_engine::device::RelaxationRequest;
use parton_partition::{End, Partition};
use parton_sync::{Delivery, Phase, Result as SyncResult, Substrate};

use crate::driver::Address;
use crate::error::Result;
use crate::field::{self, DeviceField};
use crate::host::GpuHost;
use crate::launch::{Kernels, Parameters, arguments, read};
use crate::memory::Buffer;
use crate::rows::Directions;

/// The kernels of every relaxation, and those of one engine beside them.
pub(super) struct KernelSet {
    /// Text after that of `relax.cu`.
    pub(super) text: &'static str,
    /// All that the engine launches.
    pub(super) names: &'static [&'static str],
}

/// A relaxation's data on a device.
pub(super) struct Labels<'a> {
    pub(super) kernels: Arc<Kernels>,
    pub(super) program: Parameters,
    pub(super) partition: &'a Partition,
    pub(super) directions: Directions,
    pub(super) field: DeviceField,
    /// At which ends of edges labels are written, and read.
    ends: [End; 2],
    /// One number that kernels fold into.
    pub(super) cell: Buffer<u64>,
}

impl<'a> Labels<'a> {
    /// Uploads the edges that an engine follows, and gives vertices their first labels.
    pub(super) fn new(
        host: &GpuHost,
        request: &RelaxationRequest<'_>,
        partition: &'a Partition,
        (followed, needs_reverse): (Edges, bool),
        set: &KernelSet,
    ) -> Result<Self> {
        let (driver, staging) = (host.driver(), host.uploader());
        let proxies = partition.num_proxies();
        let directions = Directions::upload(
            staging,
            driver,
            partition,
            followed,
            request.weight,
            needs_reverse,
        )?;
        let of_field = field::text("labels", "Label", "Fold");
        let of_fields = field::kernel_names("labels");
        let names = of_fields.iter().map(String::as_str);
        let names: Vec<_> = names
            .chain(["relax_start", "count_members"])
            .chain(set.names.iter().copied())
            .collect();
        let texts = [of_field.as_str(), include_str!("../../kernels/relax.cu"), set.text];
        let defines = defines(request, &directions);
        let kernels = Arc::new(Kernels::new(driver, &request.program, &defines, &texts, &names)?);
        let program = Parameters::new(staging, &request.program)?;
        let kind = (request.label, Delivery::Label);
        let is_shared = partition.num_hosts() > 1;
        let mut field = DeviceField::new("labels", &kernels, driver, proxies, kind, is_shared)?;
        field.prepare(partition)?;
        let globals = staging.buffer(partition.globals())?;
        let (values, active) = (field.values.address(), field.active.address());
        let start = arguments![globals.address(), proxies as u32, values, active];
        kernels.run("relax_start", proxies as u64, &program, &start)?;
        driver.synchronize()?;
        staging.release();
        let cell = Buffer::zeroed(driver, 1)?;
        let ends = [request.edges.written(), request.edges.read()];
        Ok(Labels { kernels, program, partition, directions, field, ends, cell })
    }

    /// The same labels, written and read at both ends of edges.
    pub(super) fn at_both_ends(self) -> Self {
        Labels { ends: [End::Either; 2], ..self }
    }

    /// True if no other host has proxies.
    pub(super) fn is_alone(&self) -> bool {
        !self.field.is_shared
    }

    /// Number of proxies.
    pub(super) fn proxies(&self) -> u32 {
        self.partition.num_proxies() as u32
    }

    /// One phase of a round.
    pub(super) fn exchange(
        &mut self,
        phase: Phase,
        substrate: &mut Substrate<'_>,
    ) -> SyncResult<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.field, self.ends[0]),
            Phase::Broadcast => substrate.broadcast(&mut self.field, self.ends[1]),
        }
    }

    /// Members of a set below `end`.
    pub(super) fn count(&mut self, set: Address, end: u32) -> Result<u64> {
        self.cell.queue_fill(0)?;
        let arguments = arguments![set, end, self.cell.address()];
        self.kernels.launch("count_members", u64::from(end).div_ceil(32), &arguments)?;
        read(&self.cell)
    }

    /// Masters whose labels changed, as far as another host may have to know.
    pub(super) fn num_changed(&mut self) -> Result<u64> {
        match self.is_alone() {
            true => Ok(0),
            false => self.count(self.field.updated.address(), self.partition.num_masters() as u32),
        }
    }
}

/// Lines before the kernels of a relaxation.
fn defines(request: &RelaxationRequest<'_>, directions: &Directions) -> String {
    let mut text = directions.define();
    text.push_str(&format!("#define FILTERS {}\n", u32::from(request.filters)));
    if !request.program.has_own("bucket") {
        text.push_str("DEVICE u64 bucket(const Program&, Label) { return 0; }\n");
    }
    text
}
