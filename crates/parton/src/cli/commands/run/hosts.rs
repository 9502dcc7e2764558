//! The work of one host in a run: its partition, the algorithm, the certificate, its rows.

use crate::devices::{HostDevice, HostDevices, partition_for};
use crate::engine::{self, device::Device};
use crate::host_weights::{HostWeights, WeightTrial};
use crate::net::{HostId, Net};
use crate::output::TablePart;
use crate::partition::quality::Quality;
use crate::partition::{Partition, Plan};

use super::histogram::Histogram;
use super::report::Seconds;
use super::target::Target;
use crate::cli::exit::Failure;
use crate::cli::task::{PartitionSource, Task, TaskOutcome, Verdict};
use crate::cli::team::{CommandStage, RoundCounter};
use crate::cli::watch::{ShareProgress, Watch};

/// The work of every host.
pub(super) struct HostTask<'w> {
    pub(super) source: PartitionSource<'w>,
    /// How hosts are measured; `None` if partitions were saved.
    pub(super) trial: Option<WeightTrial<'w>>,
    /// How much each host gets, if the user says.
    pub(super) asked_weights: Option<&'w HostWeights>,
    pub(super) task: Task<'w>,
    pub(super) devices: &'w HostDevices,
    /// The file for rows, if one was asked for.
    pub(super) target: Option<&'w Target>,
    /// True if a page is to show how values are spread.
    pub(super) draws: bool,
    pub(super) load_seconds: f64,
    /// True if hosts are processes.
    pub(super) is_distributed: bool,
    pub(super) stage: &'w CommandStage,
    pub(super) watch: &'w Watch,
}

/// The result of one host. Seconds are those of the slowest host and memory is that of all
/// processes, so both are the same on all hosts.
pub(super) struct HostRun {
    pub(super) seconds: Seconds,
    pub(super) memory_peak: Option<MemoryPeak>,
    /// The same on all hosts.
    pub(super) quality: Quality,
    /// What computed for each host.
    pub(super) devices: Vec<HostDevice>,
    /// The changes that made the graph fit the algorithm.
    pub(super) changes: Vec<String>,
    /// A note of the policy.
    pub(super) policy_note: Option<String>,
    pub(super) finished: TaskOutcome,
    /// How values are spread, the same on all hosts.
    pub(super) histogram: Option<Histogram>,
    /// Rows to be written by this process.
    pub(super) parts: Vec<(HostId, TablePart)>,
}

/// The most memory that the processes of a run had, each at a moment of its own.
#[derive(Clone, Copy)]
pub(super) struct MemoryPeak {
    /// Bytes of all of them.
    pub(super) all: u64,
    /// Bytes of the one that had most.
    pub(super) process: u64,
}

impl HostTask<'_> {
    /// One host's share of the work. Every host must call this.
    pub(super) fn on_host(&self, net: &mut Net) -> Result<HostRun, Failure> {
        let (partition, devices, partition_seconds) = self.partition(net)?;
        let quality = Quality::measure(net, &partition)?;
        let mut rounds = (partition.host() == HostId(0)).then(|| self.watch.rounds());
        let then = rounds.as_mut().map(|rounds| rounds as &mut dyn engine::Watch);
        self.stage.rounds_begin();
        let watch = &mut RoundCounter { stage: self.stage, then };
        let device = self.devices.get(net.host()).map(|gpu| gpu as &dyn Device);
        let mut finished = self.task.on_host(net, &partition, device, watch)?;
        let histogram = match finished.answer.columns.first().filter(|_| self.draws) {
            Some(column) => Some(Histogram::of(net, column)?),
            None => None,
        };
        let parts = match (&finished.verdict, self.target) {
            (Verdict::Wrong(_), _) | (_, None) => Vec::new(),
            (_, Some(target)) => {
                let part = TablePart::of(net, &partition, &mut finished.answer)?;
                match self.is_distributed && target.is_one_file() {
                    true => part.gather(net)?,
                    false => vec![(net.host(), part)],
                }
            }
        };
        let mut seconds = [self.load_seconds, partition_seconds, finished.setup_seconds];
        net.all_reduce_slice(&mut seconds, f64::max)?;
        let [load, partition_seconds, setup] = seconds;
        let run = finished.answer.report.seconds;
        let seconds = Seconds { load, partition: partition_seconds, setup, run };
        let memory_peak = match (memory_peak(), self.is_distributed) {
            (Some(own), true) => Some(MemoryPeak {
                all: net.all_reduce(own, |a, b| a + b)?,
                process: net.all_reduce(own, u64::max)?,
            }),
            (own, _) => own.map(|own| MemoryPeak { all: own, process: own }),
        };
        let policy_note = partition.note().map(str::to_owned);
        let changes = partition.changes().to_vec();
        Ok(HostRun {
            seconds,
            memory_peak,
            quality,
            devices,
            changes,
            policy_note,
            finished,
            histogram,
            parts,
        })
    }
}

impl HostTask<'_> {
    /// This host's partition, what computes for all hosts, and the seconds that measuring hosts and
    /// cutting took.
    fn partition(&self, net: &mut Net) -> Result<(Partition, Vec<HostDevice>, f64), Failure> {
        let speaks = net.host() == HostId(0);
        let hosts = if self.is_distributed { 1 } else { net.num_hosts() as u64 };
        let progress = ShareProgress { watch: self.watch, speaks, hosts };
        let (PartitionSource::Build(input, plan), Some(trial)) = (&self.source, &self.trial) else {
            let devices = self.devices.of_all_hosts(net)?;
            let (partition, seconds) = self.source.on_host(net, &progress)?;
            return Ok((partition_for(&devices, partition), devices, seconds));
        };
        let build = |net: &mut Net, plan: &Plan| {
            PartitionSource::Build(input, plan.clone()).on_host(net, &progress)
        };
        let cut = trial.cut(net, self.devices, self.asked_weights, plan, build)?;
        Ok((cut.partition, cut.computing, cut.seconds))
    }
}

/// The peak memory of this process, if the system tells.
fn memory_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
