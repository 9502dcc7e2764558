//! Vertex programs on a device: messages travel along edges, and masters apply what arrives.
//!
//! A stationary program collects in every round, rows by degree class: a thread, a warp or a block for
//! each. The order in which a row is folded depends on the row alone, so sums are the same in every run.
//! Other programs push from the vertices that have a message, or collect from these where the order of
//! folding shows.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use parton_engine::device::{DeviceEngine, DeviceProgram, ProgramRequest};
use parton_engine::{Edges, Engine, Next, Paced, Properties, Round, Tally};
use parton_partition::{End, Partition};
use parton_sync::{Delivery, Field, Phase, Result as SyncResult, Substrate};

use super::classes::Classes;
use super::hub_order::{self, HubOrder};
use super::queue::Queue;
use crate::driver::{Address, Driver, Launch};
use crate::error::Result;
use crate::field::{self, DeviceField};
use crate::host::{GpuHost, failed};
use crate::launch::{Kernels, Parameters, arguments};
use crate::memory::Buffer;
use crate::rows::{Directions, Wanted};

/// Threads of a block that adds up tallies.
const TALLY_THREADS: u32 = 128;
/// Blocks of the same: a fixed number, so that sums are rounded the same way on every device.
const TALLY_BLOCKS: u64 = 2048;

/// A vertex program on a device.
pub(crate) struct VertexEngine<'a> {
    kernels: Arc<Kernels>,
    program: Parameters,
    partition: &'a Partition,
    properties: Properties,
    /// What the program asks of this round.
    round: Round,
    directions: Directions,
    masters: Masters,
    messages: Messages,
    accumulators: DeviceField,
    /// Rows by degree class, where messages are collected.
    classes: Option<Classes>,
    /// The same for the direction that messages do not take now, of a program that turns.
    opposite_classes: Option<Classes>,
    /// The vertices that have a message in this round, where messages are pushed.
    queue: Queue,
}

/// What masters know, and what they add up.
struct Masters {
    globals: Buffer<u32>,
    states: Buffer<u8>,
    tallies: Buffer<DeviceTally>,
}

/// What vertices send.
struct Messages {
    field: DeviceField,
    /// The vertices that have a message in this round, as a set.
    senders: Buffer<u32>,
    /// The order in which messages are collected, where every message is in every round.
    order: Option<HubOrder>,
    /// Whether several messages of a vertex may become one.
    commute: bool,
    /// Whether a message counts once: hosts do not wait for each other.
    are_forgotten: bool,
}

impl Masters {
    fn new(host: &GpuHost, partition: &Partition, state_bytes: usize) -> Result<Self> {
        let driver = host.driver();
        Ok(Masters {
            globals: host.uploader().buffer(partition.globals())?,
            states: Buffer::new(driver, partition.num_masters() * state_bytes)?,
            tallies: Buffer::new(driver, TALLY_BLOCKS as usize)?,
        })
    }

    /// Gives masters their first states and messages.
    fn init(
        &self,
        (kernels, program): (&Kernels, &Parameters),
        partition: &Partition,
        messages: &DeviceField,
        accumulators: &DeviceField,
    ) -> Result<()> {
        let proxies = partition.num_proxies();
        let arguments = arguments![
            self.globals.address(),
            partition.num_masters() as u32,
            proxies as u32,
            self.states.address(),
            messages.values.address(),
            accumulators.values.address(),
            messages.active.address(),
            messages.updated_if_shared()
        ];
        kernels.run("vertex_init", proxies as u64, program, &arguments)
    }
}

/// The kernels of a program.
fn kernels(
    driver: &Arc<dyn Driver>,
    program: &DeviceProgram<'_>,
    directions: &Directions,
) -> Result<Kernels> {
    let of_messages = field::text("messages", "Message", "Messages");
    let of_accumulators = field::text("accumulators", "Accumulated", "Fold");
    let own = ["init", "list", "push", "pull_thread", "pull_warp", "pull_block"];
    let own = own.into_iter().chain(["apply", "sum_tallies", "forget"]).chain(hub_order::KERNELS);
    let mut names: Vec<String> = own.map(|kernel| format!("vertex_{kernel}")).collect();
    names.extend(field::kernel_names("messages"));
    names.extend(field::kernel_names("accumulators"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let kernel_text = include_str!("../../kernels/vertex.cu");
    let texts = [of_messages.as_str(), of_accumulators.as_str(), kernel_text];
    Kernels::new(driver, program, &directions.define(), &texts, &names)
}

impl<'a> VertexEngine<'a> {
    pub(crate) fn new(
        host: &GpuHost,
        request: ProgramRequest<'_>,
        partition: &'a Partition,
    ) -> Result<Self> {
        let (driver, staging) = (host.driver(), host.uploader());
        let proxies = partition.num_proxies();
        let Properties { stationary, edges, turns, .. } = request.properties;
        // A device collects for all vertices as fast as it pushes, and without atomics.
        let collects = request.is_ordered || stationary;
        let wanted = match (collects, stationary && !turns) {
            (_, true) => Wanted::Reverse,
            (false, _) if !turns => Wanted::Forward,
            _ => Wanted::Both,
        };
        let directions =
            Directions::upload(staging, driver, partition, edges, request.weight, wanted)?;
        let kernels = Arc::new(kernels(driver, &request.program, &directions)?);
        let program = Parameters::new(staging, &request.program)?;
        let is_shared = partition.num_hosts() > 1;
        let delivery = if stationary { Delivery::Label } else { Delivery::Event };
        let messages = (request.message, delivery);
        let mut messages =
            DeviceField::new("messages", &kernels, driver, proxies, messages, is_shared)?;
        let kind = (request.accumulated, Delivery::Event);
        let mut accumulators =
            DeviceField::new("accumulators", &kernels, driver, proxies, kind, true)?;
        messages.prepare(partition)?;
        accumulators.prepare(partition)?;
        let data = Masters::new(host, partition, request.state_bytes)?;
        data.init((&kernels, &program), partition, &messages, &accumulators)?;
        let classes_of = |edges: Edges| Classes::new(host, partition, edges);
        let classes = collects.then(|| classes_of(edges)).transpose()?;
        let opposite_classes =
            (collects && turns).then(|| classes_of(edges.reversed())).transpose()?;
        let order = match (&directions.reverse, wanted) {
            (Some(reverse), Wanted::Reverse) => {
                let bytes = request.message.bytes();
                Some(HubOrder::new(&kernels, (driver, staging), reverse, proxies, bytes)?)
            }
            _ => None,
        };
        driver.synchronize()?;
        staging.release();
        let mut engine = VertexEngine {
            queue: Queue::new(driver, proxies, &directions.forward)?,
            messages: Messages {
                senders: Buffer::zeroed(driver, messages.words() as usize)?,
                field: messages,
                order,
                commute: request.messages_commute,
                are_forgotten: false,
            },
            masters: data,
            properties: request.properties,
            kernels,
            program,
            partition,
            directions,
            accumulators,
            classes,
            opposite_classes,
            round: Round::default(),
        };
        engine.turn(request.round);
        Ok(engine)
    }

    /// Learns what the program asks of the next round.
    fn turn(&mut self, next: Round) {
        if next.is_reversed != self.round.is_reversed {
            self.directions.turn();
            std::mem::swap(&mut self.classes, &mut self.opposite_classes);
        }
        self.round = next;
    }

    fn deliver(&mut self) -> Result<u64> {
        let stationary = self.properties.stationary;
        if !stationary && self.queue.listed().edges == 0 {
            return Ok(0);
        }
        let edges = match &self.classes {
            Some(_) => self.collect()?,
            None => self.push()?,
        };
        let Messages { field, senders, are_forgotten, .. } = &self.messages;
        if *are_forgotten {
            let words = field.words();
            let forget = arguments![senders.address(), words, field.values.address()];
            self.kernels.launch("vertex_forget", words.into(), &forget)?;
        }
        Ok(edges)
    }

    fn push(&mut self) -> Result<u64> {
        let [vertices, chunks, found] = self.queue.addresses();
        let arguments = arguments![
            self.messages.field.values.address(),
            self.accumulators.values.address(),
            self.accumulators.updated.address(),
            self.directions.forward.argument(),
            vertices,
            chunks,
            found
        ];
        let work = self.queue.work(&self.kernels);
        self.kernels.run("vertex_push", work, &self.program, &arguments)?;
        Ok(self.queue.listed().edges)
    }

    fn collect(&mut self) -> Result<u64> {
        let (Some(classes), Some(reverse)) = (&self.classes, &self.directions.reverse) else {
            return Ok(0);
        };
        let stationary = self.properties.stationary;
        let senders = if stationary { Address(0) } else { self.messages.senders.address() };
        let touched = match stationary {
            // Every row with edges collects in every round.
            true => {
                let words = classes.with_edges.len();
                self.accumulators.updated.queue_copy(0, &classes.with_edges, 0..words)?;
                Address(0)
            }
            false => self.accumulators.updated.address(),
        };
        let messages = self.messages.field.values.address();
        let messages = match &self.messages.order {
            Some(order) => order.place(&self.kernels, messages)?,
            None => messages,
        };
        classes.each(self.kernels.threads(), |class, rows, launch| {
            let arguments = arguments![
                messages,
                senders,
                reverse.argument(),
                rows.address(),
                rows.len() as u32,
                self.accumulators.values.address(),
                touched
            ];
            let kernel = format!("vertex_pull_{class}");
            self.kernels.run_as(&kernel, launch, &self.program, &arguments)
        })?;
        Ok(reverse.num_edges())
    }

    fn apply_arrived(&mut self) -> Result<Tally> {
        let masters = self.partition.num_masters() as u32;
        let stationary = self.properties.stationary;
        let everywhere = stationary || self.round.applies_everywhere;
        let threads = TALLY_THREADS.min(self.kernels.threads());
        let blocks = u64::from(masters).div_ceil(threads.into()).clamp(1, TALLY_BLOCKS) as u32;
        let arguments = arguments![
            self.masters.globals.address(),
            masters,
            u32::from(everywhere),
            u32::from(stationary),
            self.masters.states.address(),
            self.messages.field.values.address(),
            self.accumulators.values.address(),
            self.accumulators.updated.address(),
            self.messages.field.active.address(),
            self.messages.field.updated_if_shared(),
            self.masters.tallies.address()
        ];
        let launch = Launch { blocks, threads, is_cooperative: false };
        self.kernels.run_as("vertex_apply", launch, &self.program, &arguments)?;
        let sum = Launch { blocks: 1, ..launch };
        let tallies = arguments![self.masters.tallies.address(), blocks];
        self.kernels.launch_as("vertex_sum_tallies", sum, &tallies)?;
        let mut tally = [DeviceTally::zeroed()];
        self.masters.tallies.download(0, &mut tally)?;
        if self.messages.field.is_shared && stationary {
            // Every master sends in every round; those without mirrors are on no route.
            self.mark_masters()?;
        }
        Ok(Tally::from(&tally[0]))
    }

    /// Every master is updated. Bits of mirrors in its last word are never read.
    fn mark_masters(&mut self) -> Result<()> {
        let words = self.partition.num_masters().div_ceil(32);
        self.messages.field.updated.queue_fill_part(0..words, 0xff)
    }

    fn gather_next(&mut self) -> Result<Next> {
        if self.properties.stationary {
            let reverse = self.directions.reverse.as_ref();
            return Ok(Next::new(reverse.is_some_and(|edges| edges.num_edges() > 0)));
        }
        let Messages { field, senders, .. } = &mut self.messages;
        std::mem::swap(senders, &mut field.active);
        field.active.queue_fill(0)?;
        let words = field.words();
        let list = arguments![senders.address(), words, self.directions.forward.argument()];
        let found = self.queue.list(&self.kernels, ("vertex_list", None), words, list)?;
        Ok(Next::new(found.edges > 0))
    }
}

/// `Tally` of the prelude.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DeviceTally {
    changed: u64,
    sums: [f64; 4],
    counts: [i64; 4],
    least: [f64; 2],
    greatest: [f64; 2],
}

impl From<&DeviceTally> for Tally {
    fn from(tally: &DeviceTally) -> Tally {
        let &DeviceTally { changed, sums, counts, least, greatest } = tally;
        Tally { changed, sums, counts, least, greatest, ..Tally::default() }
    }
}

impl Engine for VertexEngine<'_> {
    fn compute(&mut self) -> SyncResult<u64> {
        self.deliver().map_err(failed)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        let edges = self.properties.edges_in(self.round);
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.accumulators, edges.written()),
            Phase::Broadcast => substrate.broadcast(&mut self.messages.field, edges.read()),
        }
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        let tally = self.apply_arrived().map_err(failed)?;
        let masters = 0..self.partition.num_masters() as u32;
        // Contributions were applied, and are not sent.
        self.accumulators.reset(Phase::Broadcast, End::Either, &[masters])?;
        Ok(tally)
    }

    fn next(&mut self) -> SyncResult<Next> {
        self.gather_next().map_err(failed)
    }

    fn paced(&mut self) -> SyncResult<&mut dyn Paced, &'static str> {
        let Properties { stationary, any_order, .. } = self.properties;
        if stationary {
            Err("every vertex takes part in every round")
        } else if !any_order {
            Err("the program does not say that its answer is the same in any order")
        } else if !self.messages.commute {
            Err("of two messages of a vertex only the last would be heard")
        } else {
            Ok(self)
        }
    }
}

impl Paced for VertexEngine<'_> {
    fn leave_rounds(&mut self, _: bool) {
        self.messages.are_forgotten = true;
    }
}

impl DeviceEngine for VertexEngine<'_> {
    fn read_values(&self, into: &mut [u8]) -> SyncResult<()> {
        self.masters.states.download(0, into).map_err(failed)
    }

    fn update_parameters(&mut self, program: &DeviceProgram<'_>) -> SyncResult<()> {
        self.program.update(program);
        Ok(())
    }

    fn prepare_round(&mut self, round: Round) -> SyncResult<()> {
        self.turn(round);
        Ok(())
    }
}
