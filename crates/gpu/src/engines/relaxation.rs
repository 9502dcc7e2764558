//! Relaxations on a device: top-down and bottom-up steps, and near–far lists for weighted paths.
//!
//! - `push`: the host's worklist runs dry before labels are exchanged.
//! - `frontier`: direction-optimising search (Beamer, Asanović, Patterson, SC'12), one step per round. A
//!   host that is alone takes many steps of a narrow frontier in one cooperative launch.
//! - `delta`: near–far (Davidson et al., IPDPS'14), the form of delta-stepping for GPUs: labels of the
//!   lowest bucket are spread until none is left, the others wait.

use parton_engine::device::{DeviceEngine, DeviceProgram, RelaxationRequest};
use parton_engine::{Edges, Engine, Next, Paced, Tally};
use parton_partition::Partition;
use parton_sync::{Delivery, Phase, Result as SyncResult, Substrate};
use std::sync::Arc;

use super::queue::{Found, Queue};
use crate::driver::Launch;
use crate::error::Result;
use crate::field::{self, DeviceField};
use crate::host::{GpuHost, failed};
use crate::launch::{Kernels, Parameters, arguments, read};
use crate::memory::Buffer;
use crate::rows::Directions;

/// Bottom-up pays off when more than one edge in this many leaves the frontier, as on the CPU.
const PULL_THRESHOLD_DIVISOR: u64 = 8;
/// A frontier is narrow up to this many vertices of this many edges: then the time between steps counts.
const MAX_NARROW_VERTICES: u32 = 1 << 13;
const MAX_NARROW_EDGES: u64 = 1 << 15;
/// Blocks and threads of the launch for narrow frontiers: few wait for each other faster.
const NARROW_BLOCKS: u32 = 64;
const NARROW_THREADS: u32 = 128;
/// Steps of one launch, so that a host can be stopped.
const STEPS_PER_LAUNCH: u32 = 1 << 14;
/// Edges after which a host that does not wait for others exchanges labels.
const EDGES_PER_EXCHANGE: u64 = 1 << 22;

/// Which steps an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Top-down, until nothing is left to do here.
    Push,
    /// Bottom-up, one step per round.
    Pull,
    /// One step per round, in the direction that visits fewer edges.
    Either,
    /// Top-down for the labels of the lowest bucket, until none is left.
    NearFar,
}

/// A relaxation on a device.
pub(crate) struct RelaxationEngine<'a> {
    kernels: Arc<Kernels>,
    program: Parameters,
    partition: &'a Partition,
    strategy: Strategy,
    edges: Edges,
    first_wins: bool,
    directions: Directions,
    labels: DeviceField,
    queue: Queue,
    /// The second queue of narrow frontiers, and its three counts.
    other_queue: Buffer<u32>,
    counts: Buffer<u32>,
    /// The frontier as a set, where a step is bottom-up.
    frontier: Buffer<u32>,
    /// One number that kernels fold into.
    cell: Buffer<u64>,
    /// What `next` has listed.
    found: Found,
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
        let (driver, staging) = (host.driver(), host.uploader());
        let (proxies, edges) = (partition.num_proxies(), request.edges);
        let needs_reverse = matches!(strategy, Strategy::Pull | Strategy::Either);
        let directions =
            Directions::upload(staging, driver, partition, edges, request.weight, needs_reverse)?;
        let defines = defines(&request, &directions);
        let of_field = field::text("labels", "Label", "Fold");
        let mut names = field::kernel_names("labels");
        let own = ["start", "list", "lowest_bucket", "push", "no_label", "best", "pull", "narrow"];
        names.extend(own.iter().map(|kernel| format!("relax_{kernel}")));
        names.push("count_members".into());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let texts = [of_field.as_str(), include_str!("../../kernels/relax.cu")];
        let kernels = Arc::new(Kernels::new(driver, &request.program, &defines, &texts, &names)?);
        let program = Parameters::new(staging, &request.program)?;
        let kind = (request.label, Delivery::Label);
        let is_shared = partition.num_hosts() > 1;
        let labels = DeviceField::new("labels", &kernels, driver, proxies, kind, is_shared)?;
        let globals = staging.buffer(partition.globals())?;
        let start = arguments![
            globals.address(),
            proxies as u32,
            labels.values.address(),
            labels.active.address()
        ];
        kernels.run("relax_start", proxies as u64, &program, &start)?;
        driver.synchronize()?;
        staging.release();
        Ok(RelaxationEngine {
            queue: Queue::new(driver, proxies, &directions.forward)?,
            other_queue: Buffer::new(driver, proxies)?,
            counts: Buffer::zeroed(driver, 3)?,
            frontier: Buffer::zeroed(driver, labels.words() as usize)?,
            cell: Buffer::zeroed(driver, 1)?,
            found: Found::default(),
            takes_single_steps: host.takes_single_steps,
            in_rounds: true,
            first_wins: request.first_wins,
            kernels,
            program,
            partition,
            strategy,
            edges,
            directions,
            labels,
        })
    }

    fn is_alone(&self) -> bool {
        !self.labels.is_shared
    }

    /// Lists active vertices. `last_bucket`: those of later buckets wait.
    fn list(&mut self, last_bucket: Option<u64>) -> Result<Found> {
        self.queue.clear()?;
        let [vertices, chunks, found] = self.queue.addresses();
        let (words, edges) = (self.labels.words(), self.directions.forward.argument());
        let takes = u32::from(last_bucket.is_some());
        let arguments = arguments![
            self.labels.values.address(),
            self.labels.active.address(),
            words,
            edges,
            takes,
            last_bucket.unwrap_or(0),
            vertices,
            chunks,
            found
        ];
        self.kernels.run("relax_list", words.into(), &self.program, &arguments)?;
        self.queue.found()
    }

    /// Spreads the labels of the listed vertices.
    fn push(&mut self, listed: Found) -> Result<u64> {
        let [vertices, chunks, found] = self.queue.addresses();
        let edges = self.directions.forward.argument();
        let arguments = arguments![
            self.labels.values.address(),
            self.labels.active.address(),
            self.labels.updated_if_shared(),
            edges,
            vertices,
            chunks,
            found
        ];
        let threads = u64::from(self.kernels.threads());
        let work = u64::from(listed.vertices).max(u64::from(listed.chunks) * threads);
        self.kernels.run("relax_push", work, &self.program, &arguments)?;
        Ok(listed.edges)
    }

    /// A top-down step from all active vertices, which were listed.
    fn top_down(&mut self) -> Result<u64> {
        self.labels.active.queue_fill(0)?;
        self.push(self.found)
    }

    /// A bottom-up step.
    fn bottom_up(&mut self) -> Result<u64> {
        std::mem::swap(&mut self.frontier, &mut self.labels.active);
        self.labels.active.queue_fill(0)?;
        let proxies = self.partition.num_proxies() as u32;
        let (labels, frontier) = (self.labels.values.address(), self.frontier.address());
        if self.first_wins {
            self.kernels.launch("relax_no_label", 1, &arguments![self.cell.address()])?;
            let words = self.labels.words();
            let best = arguments![labels, frontier, words, self.cell.address()];
            self.kernels.launch("relax_best", words.into(), &best)?;
        }
        let reverse = self.directions.reverse.as_ref().expect("uploaded for bottom-up steps");
        let arguments = arguments![
            labels,
            frontier,
            self.labels.active.address(),
            self.labels.updated_if_shared(),
            reverse.argument(),
            proxies,
            u32::from(self.first_wins),
            self.cell.address()
        ];
        self.kernels.run("relax_pull", proxies.into(), &self.program, &arguments)?;
        Ok(reverse.num_edges())
    }

    /// Many steps of a narrow frontier in one launch.
    fn narrow(&mut self) -> Result<u64> {
        self.counts.upload(0, &[self.found.vertices, 0, 0])?;
        self.cell.queue_fill(0)?;
        let [vertices, ..] = self.queue.addresses();
        let at_once = self.kernels.blocks_at_once("relax_narrow", self.narrow_threads())?;
        let launch = Launch {
            blocks: NARROW_BLOCKS.min(at_once).max(1),
            threads: self.narrow_threads(),
            is_cooperative: true,
        };
        let arguments = arguments![
            self.labels.values.address(),
            self.labels.active.address(),
            self.labels.updated_if_shared(),
            self.directions.forward.argument(),
            vertices,
            self.other_queue.address(),
            self.counts.address(),
            MAX_NARROW_VERTICES,
            STEPS_PER_LAUNCH,
            self.cell.address()
        ];
        self.kernels.run_as("relax_narrow", launch, &self.program, &arguments)?;
        read(&self.cell)
    }

    fn narrow_threads(&self) -> u32 {
        NARROW_THREADS.min(self.kernels.threads())
    }

    fn is_narrow(&self) -> bool {
        self.found.chunks == 0
            && self.found.vertices <= MAX_NARROW_VERTICES
            && self.found.edges <= MAX_NARROW_EDGES
    }

    /// The lowest bucket of the active vertices.
    fn lowest_bucket(&mut self) -> Result<u64> {
        self.cell.queue_fill(0xff)?;
        let words = self.labels.words();
        let arguments = arguments![
            self.labels.values.address(),
            self.labels.active.address(),
            words,
            self.cell.address()
        ];
        self.kernels.run("relax_lowest_bucket", words.into(), &self.program, &arguments)?;
        read(&self.cell)
    }

    /// Spreads the labels of the lowest bucket until none of it is left; a host that is alone goes on.
    fn near_far(&mut self) -> Result<u64> {
        let mut edges = 0;
        loop {
            let bucket = self.lowest_bucket()?;
            if bucket == u64::MAX {
                return Ok(edges);
            }
            loop {
                let found = self.list(Some(bucket))?;
                if found.edges == 0 {
                    break;
                }
                edges += self.push(found)?;
            }
            if !self.is_alone() {
                return Ok(edges);
            }
        }
    }

    /// Spreads labels until nothing is left to do here.
    fn push_all(&mut self) -> Result<u64> {
        let mut edges = 0;
        while self.found.edges > 0 {
            edges += match self.is_narrow() {
                true => self.narrow()?,
                false => self.top_down()?,
            };
            self.found = self.list(None)?;
            if !self.in_rounds && edges >= EDGES_PER_EXCHANGE {
                break;
            }
        }
        Ok(edges)
    }

    fn step(&mut self) -> Result<u64> {
        let all = self.directions.forward.num_edges();
        let pulls = match self.strategy {
            Strategy::Push => return self.push_all(),
            Strategy::NearFar => return self.near_far(),
            Strategy::Pull => self.found.edges > 0,
            Strategy::Either => self.found.edges > all / PULL_THRESHOLD_DIVISOR,
        };
        if self.found.edges == 0 {
            Ok(0)
        } else if pulls {
            self.bottom_up()
        } else if self.is_alone() && !self.takes_single_steps && self.is_narrow() {
            self.narrow()
        } else {
            self.top_down()
        }
    }

    /// Masters whose labels changed, as far as another host may have to know.
    fn num_changed(&mut self) -> Result<u64> {
        if self.is_alone() {
            return Ok(0);
        }
        self.cell.queue_fill(0)?;
        let masters = self.partition.num_masters() as u32;
        let arguments = arguments![self.labels.updated.address(), masters, self.cell.address()];
        self.kernels.launch("count_members", u64::from(masters).div_ceil(32), &arguments)?;
        read(&self.cell)
    }
}

/// Lines before the kernels of a relaxation.
pub(super) fn defines(request: &RelaxationRequest<'_>, directions: &Directions) -> String {
    let mut text = directions.define();
    text.push_str(&format!("#define FILTERS {}\n", u32::from(request.filters)));
    if !request.program.has_own("bucket") {
        text.push_str("DEVICE u64 bucket(const Program&, Label) { return 0; }\n");
    }
    text
}

impl Engine for RelaxationEngine<'_> {
    fn compute(&mut self) -> SyncResult<u64> {
        self.step().map_err(failed)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.labels, self.edges.written()),
            Phase::Broadcast => substrate.broadcast(&mut self.labels, self.edges.read()),
        }
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        let changed = self.num_changed().map_err(failed)?;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> SyncResult<Next> {
        self.found = self.list(None).map_err(failed)?;
        let is_active = self.found.edges > 0;
        if !is_active {
            // Vertices without edges have nothing to spread.
            self.labels.active.queue_fill(0).map_err(failed)?;
        }
        Ok(Next { is_active, frontier_edges: self.found.edges })
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
        self.labels.read(into).map_err(failed)
    }

    fn update_parameters(&mut self, program: &DeviceProgram<'_>) -> SyncResult<()> {
        self.program.update(program);
        Ok(())
    }
}
