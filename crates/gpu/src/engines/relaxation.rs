//! Relaxations on a device: top-down and bottom-up steps, and near–far lists for weighted paths.
//!
//! - `push`: the host's worklist runs dry before labels are exchanged.
//! - `frontier`: direction-optimising search (Beamer, Asanović, Patterson, SC'12), one step per round. A
//!   host that is alone takes many steps of a narrow frontier in one cooperative launch.
//! - `pull`: bottom-up; where the first neighbour does not win, until nothing is left to do here.
//! - `delta`: near–far (Davidson et al., IPDPS'14), the form of delta-stepping for GPUs: labels of the
//!   lowest buckets are spread until none is left, the others wait. As many buckets are worked off before an
//!   exchange as on the CPU.

use parton_engine::device::{
    BucketWindow, DeviceEngine, DeviceProgram, RelaxationRequest, WorkedOff,
};
use parton_engine::{Engine, EngineInfo, Next, Paced, Tally, engines};
use parton_partition::Partition;
use parton_sync::{Phase, Result as SyncResult, Substrate};

use super::labels::{KernelSet, Labels};
use super::narrow::{self, Narrow};
use super::queue::Queue;
use crate::error::Result;
use crate::host::{GpuHost, failed};
use crate::launch::arguments;
use crate::memory::Buffer;
use crate::rows::Wanted;

/// Bottom-up pays off when more than one edge in this many leaves the frontier, as on the CPU.
const PULL_THRESHOLD_DIVISOR: u64 = 8;
/// Edges after which a host that does not wait for others exchanges labels.
const EDGES_PER_EXCHANGE: u64 = 1 << 22;
/// Buckets that are near at a time, at most. A device has more to do at once than the threads of a
/// processor, and loses more by waiting.
const NEAR_BUCKETS: u64 = 16;

/// The kernels of this engine.
const KERNELS: KernelSet = KernelSet {
    text: include_str!("../../kernels/narrow.cu"),
    names: &[
        "relax_list",
        "relax_take",
        "relax_push",
        "relax_no_label",
        "relax_best",
        "relax_pull",
        "relax_pull_first",
        narrow::KERNEL,
    ],
};

/// Which steps an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Top-down, until nothing is left to do here.
    Push,
    /// Bottom-up, one step per round where the first neighbour wins, else until nothing is left to do here.
    Pull,
    /// One step per round, in the direction that visits fewer edges.
    Either,
    /// Top-down for the labels of the lowest bucket, until none is left.
    NearFar,
}

impl Strategy {
    /// What an engine does on a device. One that has no form of its own there chooses by the edges to visit.
    pub(crate) fn of(engine: &EngineInfo) -> Self {
        match engine {
            engines::PUSH => Strategy::Push,
            engines::DELTA => Strategy::NearFar,
            engines::PULL => Strategy::Pull,
            _ => Strategy::Either,
        }
    }

    /// Whether some steps are bottom-up.
    pub(crate) fn may_pull(self) -> bool {
        matches!(self, Strategy::Pull | Strategy::Either)
    }
}

/// A relaxation on a device.
pub(crate) struct RelaxationEngine<'a> {
    labels: Labels<'a>,
    strategy: Strategy,
    window: BucketWindow,
    first_wins: bool,
    /// The vertices that are active.
    queue: Queue,
    narrow: Narrow,
    /// The frontier as a set, where a step is bottom-up.
    frontier: Buffer<u32>,
    takes_single_steps: bool,
    in_rounds: bool,
}

impl<'a> RelaxationEngine<'a> {
    pub(crate) fn new(
        host: &GpuHost,
        strategy: Strategy,
        request: RelaxationRequest<'_>,
        partition: &'a Partition,
    ) -> Result<Self> {
        let pulls =
            strategy == Strategy::Pull || strategy == Strategy::Either && request.first_wins;
        let wanted = if pulls { Wanted::Both } else { Wanted::Forward };
        let labels = Labels::new(host, &request, partition, (request.edges, wanted), &KERNELS)?;
        let driver = host.driver();
        Ok(RelaxationEngine {
            queue: Queue::new(driver, partition.num_proxies(), &labels.directions.forward)?,
            narrow: Narrow::new(&labels)?,
            frontier: Buffer::zeroed(driver, labels.field.words() as usize)?,
            takes_single_steps: host.takes_single_steps,
            in_rounds: true,
            first_wins: request.first_wins,
            strategy,
            window: BucketWindow::default(),
            labels,
        })
    }

    /// Lists all active vertices.
    fn list(&mut self) -> Result<()> {
        let (words, active) = (self.labels.field.words(), self.labels.field.active.address());
        let arguments = arguments![active, words, self.labels.directions.forward.argument()];
        self.queue.list(&self.labels.kernels, ("relax_list", None), words, arguments)?;
        Ok(())
    }

    /// Lists the active vertices of buckets up to this one, which are then active no more. Returns the
    /// lowest bucket of the others.
    fn take(&mut self, last_bucket: u64) -> Result<Option<u64>> {
        let words = self.labels.field.words();
        let arguments = arguments![
            self.labels.field.values.address(),
            self.labels.field.active.address(),
            words,
            self.labels.directions.forward.argument(),
            last_bucket
        ];
        let kernel = ("relax_take", Some(&self.labels.program));
        let found = self.queue.list(&self.labels.kernels, kernel, words, arguments)?;
        Ok(found.lowest_waiting())
    }

    /// Spreads the labels of the listed vertices.
    fn push(&mut self) -> Result<u64> {
        let [vertices, chunks, found] = self.queue.addresses();
        let arguments = arguments![
            self.labels.field.values.address(),
            self.labels.field.active.address(),
            self.labels.field.updated_if_shared(),
            self.labels.directions.forward.argument(),
            vertices,
            chunks,
            found
        ];
        let work = self.queue.work(&self.labels.kernels);
        self.labels.kernels.run("relax_push", work, &self.labels.program, &arguments)?;
        Ok(self.queue.listed().edges)
    }

    /// A top-down step from all active vertices, which were listed.
    fn top_down(&mut self) -> Result<u64> {
        self.labels.field.active.queue_fill(0)?;
        self.push()
    }

    /// A bottom-up step.
    fn bottom_up(&mut self) -> Result<u64> {
        let proxies = self.labels.proxies();
        let Labels { kernels, program, field, directions, cell, .. } = &mut self.labels;
        std::mem::swap(&mut self.frontier, &mut field.active);
        field.active.queue_fill(0)?;
        let (values, frontier) = (field.values.address(), self.frontier.address());
        let reverse = directions.reverse.as_ref().expect("uploaded for bottom-up steps");
        let (active, updated) = (field.active.address(), field.updated_if_shared());
        let mut arguments =
            arguments![values, frontier, active, updated, reverse.argument(), proxies];
        let kernel = match self.first_wins {
            true => {
                kernels.launch("relax_no_label", 1, &arguments![cell.address()])?;
                let words = field.words();
                let best = arguments![values, frontier, words, cell.address()];
                kernels.launch("relax_best", words.into(), &best)?;
                arguments.push(cell.address());
                "relax_pull_first"
            }
            false => "relax_pull",
        };
        kernels.run(kernel, proxies.into(), program, &arguments)?;
        Ok(reverse.num_edges())
    }

    /// Spreads the labels of the lowest buckets until none of them is left; a host that is alone goes on.
    fn near_far(&mut self) -> Result<u64> {
        let width = if self.labels.is_alone() {
            NEAR_BUCKETS
        } else {
            self.window.num_buckets().min(NEAR_BUCKETS)
        };
        let (mut done, mut bucket, mut end) = (WorkedOff::default(), 0, None);
        loop {
            let waiting = self.take(bucket + (width - 1))?;
            if self.queue.listed().vertices > 0 {
                let edges = self.push()?;
                self.window.count(&mut done, bucket, edges);
                end.get_or_insert(bucket.saturating_add(self.window.num_buckets()));
                continue;
            }
            let is_due =
                |lowest: &u64| self.labels.is_alone() || end.is_none_or(|end| *lowest < end);
            match waiting.filter(is_due) {
                Some(lowest) => bucket = lowest,
                None => break,
            }
        }
        self.window.close_round(done, bucket + (width - 1));
        Ok(done.edges)
    }

    /// Spreads labels by such steps until nothing is left to do here.
    fn step_until_dry(&mut self, step: fn(&mut Self) -> Result<u64>) -> Result<u64> {
        let mut edges = 0;
        while self.queue.listed().edges > 0 {
            edges += step(self)?;
            self.list()?;
            if !self.in_rounds && edges >= EDGES_PER_EXCHANGE {
                break;
            }
        }
        Ok(edges)
    }

    fn narrow_or_top_down(&mut self) -> Result<u64> {
        match Narrow::suits(self.queue.listed()) {
            true => self.narrow.run(&mut self.labels, &self.queue, self.first_wins),
            false => self.top_down(),
        }
    }

    fn step(&mut self) -> Result<u64> {
        let (all, listed) = (self.labels.directions.forward.num_edges(), self.queue.listed());
        let pulls = match self.strategy {
            Strategy::Push => return self.step_until_dry(Self::narrow_or_top_down),
            // A step of a device reads the labels of the step before, where a processor's threads read
            // those of the same step: with one step a round more labels would be sent.
            Strategy::Pull if !self.first_wins => return self.step_until_dry(Self::bottom_up),
            Strategy::NearFar => return self.near_far(),
            Strategy::Pull => listed.edges > 0,
            // Where a vertex cannot stop early, a pull visits all edges.
            Strategy::Either => self.first_wins && listed.edges > all / PULL_THRESHOLD_DIVISOR,
        };
        if listed.edges == 0 {
            Ok(0)
        } else if pulls {
            self.bottom_up()
        } else if self.labels.is_alone() && !self.takes_single_steps && Narrow::suits(listed) {
            self.narrow.run(&mut self.labels, &self.queue, self.first_wins)
        } else {
            self.top_down()
        }
    }

    fn list_next(&mut self) -> Result<Next> {
        self.list()?;
        let edges = self.queue.listed().edges;
        if edges == 0 {
            // Vertices without edges have nothing to spread.
            self.labels.field.active.queue_fill(0)?;
        }
        Ok(Next { is_active: edges > 0, frontier_edges: edges })
    }
}

impl Engine for RelaxationEngine<'_> {
    fn compute(&mut self) -> SyncResult<u64> {
        self.step().map_err(failed)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        self.labels.exchange(phase, substrate)
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        let changed = self.labels.num_changed().map_err(failed)?;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> SyncResult<Next> {
        self.list_next().map_err(failed)
    }

    fn paced(&mut self) -> SyncResult<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl Paced for RelaxationEngine<'_> {
    fn leave_rounds(&mut self, _: bool) {
        self.in_rounds = false;
    }
}

impl DeviceEngine for RelaxationEngine<'_> {
    fn read_values(&self, into: &mut [u8]) -> SyncResult<()> {
        self.labels.field.read(into).map_err(failed)
    }

    fn update_parameters(&mut self, program: &DeviceProgram<'_>) -> SyncResult<()> {
        self.labels.program.update(program);
        Ok(())
    }
}
