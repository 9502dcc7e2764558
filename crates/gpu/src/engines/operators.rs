//! Operators of compiled programs on a device: columns, sets of vertices and worklists stay there.
//!
//! A part of an operator is a kernel over masters. Edges are visited from a list of the active vertices, and threads
//! fold what does not depend on the order. Sums of real numbers are collected row by row, by degree class, at
//! whichever end of the edges they belong to: their order depends on the row alone.

mod columns;
mod edges;
mod folded;

use std::ops::Range;
use std::sync::Arc;

use parton_engine::device::DeviceProgram;
use parton_engine::device::operators::{
    NumberFaults, Operators, OperatorsRequest, ProgramColumns, Worklists,
};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_plan::{CompiledPlan, EdgeSide, PlannedOperator};
use parton_sync::{Field, Phase, Result as SyncResult};

use super::queue::Queue;
use crate::driver::Address;
use crate::error::Result;
use crate::field::DeviceField;
use crate::host::{GpuHost, failed};
use crate::launch::{Arguments, Kernels, arguments, read};
use crate::memory::Buffer;
pub(crate) use columns::kind;
use edges::{OperatorEdges, rows_of};
use folded::Folded;

/// Bytes of parameters that a kernel can have.
const MAX_PARAMETER_BYTES: usize = 4096;
/// Bytes of the other parameters of a kernel.
const OTHER_PARAMETER_BYTES: usize = 256;
/// Columns of which `Host` has three words each, and words before the scalars: `HostParts` of `operators.cu`.
const WORDS_PER_COLUMN: usize = 3;
const FIXED_WORDS: usize = 7;

/// The operators of a program on a device.
pub(crate) struct OperatorEngine<'a> {
    plan: &'a CompiledPlan,
    partition: &'a Partition,
    kernels: Arc<Kernels>,
    /// The names of the program's own kernels.
    names: &'a [&'a str],
    columns: Vec<DeviceField>,
    scalars: Vec<u64>,
    lists: Vec<Buffer<u32>>,
    vertices: Vertices,
    folded: Folded,
    edges: OperatorEdges,
    queue: Queue,
}

/// What is known of vertices beside their columns, and sets of them.
struct Vertices {
    globals: Buffer<u32>,
    degrees: [Buffer<u64>; 2],
    /// Masters that will visit their edges.
    activated: Buffer<u32>,
    /// Proxies that visit their edges.
    near: Buffer<u32>,
    /// All proxies.
    everyone: Buffer<u32>,
    /// Masters to which something happens in a part.
    members: Buffer<u32>,
    faults: Buffer<u32>,
    cell: Buffer<u64>,
}

impl Vertices {
    fn new(host: &GpuHost, partition: &Partition) -> Result<Self> {
        let driver = host.driver();
        let words = partition.num_proxies().div_ceil(32);
        let set = || Buffer::zeroed(driver, words);
        Ok(Vertices {
            globals: host.uploader().buffer(partition.globals())?,
            degrees: [Buffer::new(driver, 0)?, Buffer::new(driver, 0)?],
            activated: set()?,
            near: set()?,
            everyone: set()?,
            members: set()?,
            faults: Buffer::zeroed(driver, 2)?,
            cell: Buffer::zeroed(driver, 1)?,
        })
    }
}

/// The rows that the operators of a program need.
pub(crate) fn needed(plan: &CompiledPlan) -> Vec<parton_engine::Edges> {
    edges::needed(plan).0
}

/// Why a program does not fit into kernels' parameters and a block's memory, if it does not.
pub(crate) fn misfit(plan: &CompiledPlan) -> Option<String> {
    let words = FIXED_WORDS
        + plan.scalars.len().max(1)
        + plan.lists.len().max(1)
        + WORDS_PER_COLUMN * plan.columns.len();
    if words * size_of::<u64>() + OTHER_PARAMETER_BYTES > MAX_PARAMETER_BYTES {
        let (columns, scalars) = (plan.columns.len(), plan.scalars.len());
        return Some(format!("its {columns} fields and {scalars} scalars are too many"));
    }
    folded::misfit(plan)
}

impl<'a> OperatorEngine<'a> {
    pub(crate) fn new(
        host: &'a GpuHost,
        request: OperatorsRequest<'a>,
        partition: &'a Partition,
    ) -> Result<Self> {
        let OperatorsRequest { plan, operators, weight, is_shared, identities } = request;
        let (driver, staging) = (host.driver(), host.uploader());
        let edges = OperatorEdges::upload(host, plan, partition, weight)?;
        let program = DeviceProgram::new("", &[]);
        let fields = columns::texts(plan);
        let mut texts: Vec<&str> = fields.iter().map(|(_, text)| text.as_str()).collect();
        texts.extend([include_str!("../../kernels/operators.cu"), operators.text]);
        let own = ["insert_range", "insert_members", "list_near", "count_members", "sum_tallies"];
        let of_fields: Vec<String> =
            fields.iter().flat_map(|(name, _)| crate::field::kernel_names(name)).collect();
        let names = own.into_iter().chain(of_fields.iter().map(String::as_str));
        let names: Vec<&str> = names.chain(operators.kernels.iter().copied()).collect();
        let kernels = Kernels::new(driver, &program, &edges.define(), &texts, &names)?;
        let kernels = Arc::new(kernels);
        let columns = columns::columns(plan, &is_shared, (driver, &kernels), partition)?;
        let lists = plan.lists.iter();
        let words = partition.num_proxies().div_ceil(32);
        let lists = lists.map(|_| Buffer::zeroed(driver, words)).collect::<Result<Vec<_>>>()?;
        let engine = OperatorEngine {
            plan,
            partition,
            names: operators.kernels,
            columns,
            scalars: vec![0; plan.scalars.len()],
            lists,
            vertices: Vertices::new(host, partition)?,
            folded: Folded::new(driver, plan, identities)?,
            queue: Queue::new(driver, partition.num_proxies(), &edges.all())?,
            edges,
            kernels,
        };
        let (everyone, proxies) = (&engine.vertices.everyone, partition.num_proxies());
        engine.insert_range(everyone, 0..proxies as u32)?;
        driver.synchronize()?;
        staging.release();
        Ok(engine)
    }

    fn operator(&self, operator: usize) -> &'a PlannedOperator {
        &self.plan.operators[operator]
    }

    fn num_masters(&self) -> u32 {
        self.partition.num_masters() as u32
    }

    fn words(&self) -> u32 {
        self.vertices.near.len() as u32
    }

    /// `Host` of the program's text, the first parameter of its kernels.
    fn host(&self) -> Arguments {
        let Vertices { globals, degrees: [out, into], activated, faults, .. } = &self.vertices;
        let mut words = vec![
            globals.address(),
            out.address(),
            into.address(),
            activated.address(),
            faults.address(),
        ]
        .into_iter()
        .map(|address| address.0)
        .collect::<Vec<u64>>();
        words.extend([self.partition.num_vertices(), self.partition.num_edges()]);
        words.extend(&self.scalars);
        // An array of nothing has one place in C++.
        words.extend(self.scalars.is_empty().then_some(0));
        words.extend(self.lists.iter().map(|list| list.address().0));
        words.extend(self.lists.is_empty().then_some(0));
        for column in &self.columns {
            let updated = column.updated_if_shared();
            words.extend([column.values.address().0, updated.0, column.active.address().0]);
        }
        let mut arguments = Arguments::default();
        arguments.push_words(&words);
        arguments
    }

    /// Queues a kernel of the program, if it has that one, in the form that also folds values into scalars if it has
    /// that.
    fn run(&self, kernel: &str, work: u64, mut arguments: Arguments) -> Result<()> {
        let tallying = format!("{kernel}_tallying");
        if self.names.contains(&tallying.as_str()) {
            return self.folded.run(&self.kernels, &tallying, work, arguments);
        }
        match self.names.contains(&kernel) {
            true => self.kernels.launch(kernel, work, &std::mem::take(&mut arguments)),
            false => Ok(()),
        }
    }

    /// Masters do a part of an operator: those of a set, or all.
    fn part(&self, operator: usize, part: &str, members: Address) -> Result<()> {
        let mut arguments = self.host();
        arguments.push(members);
        arguments.push(self.num_masters());
        self.run(&format!("part_{operator}_{part}"), self.num_masters().into(), arguments)
    }

    fn insert_range(&self, set: &Buffer<u32>, range: Range<u32>) -> Result<()> {
        let arguments = arguments![set.address(), range.start, range.end];
        self.kernels.launch("insert_range", range.len() as u64, &arguments)
    }

    fn insert_members(&self, set: &Buffer<u32>, members: &Buffer<u32>) -> Result<()> {
        let arguments = arguments![set.address(), members.address(), self.words()];
        self.kernels.launch("insert_members", self.words().into(), &arguments)
    }

    /// Number of members of a worklist.
    fn count(&mut self, list: usize) -> Result<u64> {
        self.vertices.cell.queue_fill(0)?;
        let cell = &self.vertices.cell;
        let arguments = arguments![self.lists[list].address(), self.num_masters(), cell.address()];
        self.kernels.launch("count_members", self.words().into(), &arguments)?;
        read(cell)
    }

    fn before(&mut self, operator: usize) -> Result<()> {
        self.part(operator, "derive", Address(0))?;
        let members = match self.operator(operator).list {
            None => Address(0),
            Some(list) => {
                std::mem::swap(&mut self.lists[list], &mut self.vertices.members);
                self.lists[list].queue_fill(0)?;
                self.vertices.members.address()
            }
        };
        self.part(operator, "before", members)
    }

    /// Finds out which proxies visit their edges; null if all do.
    fn find_near(&mut self, operator: &PlannedOperator) -> Result<Address> {
        if !operator.is_partial {
            return Ok(Address(0));
        }
        let words = self.words() as usize;
        self.vertices.near.queue_copy(0, &self.vertices.activated, 0..words)?;
        for &column in &operator.traffic.messages {
            self.insert_members(&self.vertices.near, &self.columns[column].active)?;
            self.columns[column].active.queue_fill(0)?;
        }
        Ok(self.vertices.near.address())
    }

    fn visit(&mut self, number: usize) -> Result<u64> {
        let operator = self.operator(number);
        let Some(direction) = operator.direction else { return Ok(0) };
        let near = self.find_near(operator)?;
        let rows = rows_of(direction);
        let edges = self.edges.by(rows);
        let set = if operator.is_partial { &self.vertices.near } else { &self.vertices.everyone };
        let list = arguments![set.address(), self.words(), edges.argument()];
        let words = self.words();
        let found = self.queue.list(&self.kernels, ("list_near", None), words, list)?;
        if found.edges == 0 {
            return Ok(0);
        }
        let mut arguments = self.host();
        arguments.push(edges.argument());
        self.queue.addresses().into_iter().for_each(|address| arguments.push(address));
        self.run(&format!("edges_{number}"), self.queue.work(&self.kernels), arguments)?;
        let mut arguments = self.host();
        arguments.push(edges.argument());
        arguments.push(near);
        arguments.push(self.partition.num_proxies() as u32);
        let lanes = 32 * self.partition.num_proxies() as u64;
        self.run(&format!("rows_{number}"), lanes, arguments)?;
        for &(column, side) in &operator.traffic.folds {
            if self.plan.columns[column].is_ordered() {
                self.collect(number, column, (near, side))?;
            }
        }
        if self.partition.num_hosts() > 1 {
            // The time would else count as that of the exchange.
            self.kernels.synchronize()?;
        }
        Ok(found.edges)
    }

    /// Rows collect what is folded into a column, at that side of the edges.
    fn collect(
        &self,
        operator: usize,
        column: usize,
        (near, side): (Address, EdgeSide),
    ) -> Result<()> {
        let Some(direction) = self.operator(operator).direction else { return Ok(()) };
        let rows = match side {
            EdgeSide::Near => rows_of(direction),
            EdgeSide::Far => rows_of(direction).reversed(),
        };
        let edges = self.edges.by(rows).argument();
        self.edges.classes(rows).each(self.kernels.threads(), |class, rows, launch| {
            let mut arguments = self.host();
            arguments.push(near);
            arguments.push(edges);
            arguments.push(rows.address());
            arguments.push(rows.len() as u32);
            let kernel = format!("collect_{operator}_{column}_{class}");
            self.kernels.launch_as(&kernel, launch, &arguments)
        })
    }

    fn after(&mut self, number: usize) -> Result<()> {
        let operator = self.operator(number);
        let activated = match operator.is_partial {
            true => self.vertices.activated.address(),
            false => Address(0),
        };
        self.part(number, "after", activated)?;
        self.vertices.activated.queue_fill(0)?;
        let far = operator.traffic.folds.iter().filter(|(_, side)| *side == EdgeSide::Far);
        let far: Vec<usize> = far.map(|(column, _)| *column).collect();
        if !far.is_empty() {
            self.vertices.members.queue_fill(0)?;
            for column in far {
                self.insert_members(&self.vertices.members, &self.columns[column].active)?;
            }
            self.part(number, "arrive", self.vertices.members.address())?;
        }
        operator
            .traffic
            .folds
            .iter()
            .try_for_each(|(column, _)| self.columns[*column].forget(false))
    }
}

impl ProgramColumns for OperatorEngine<'_> {
    fn column(&mut self, column: usize) -> &mut dyn Field {
        &mut self.columns[column]
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.columns.swap(a, b);
    }

    fn mark(&mut self, column: usize, proxies: Range<u32>, is_updated: bool) -> SyncResult<()> {
        match is_updated {
            true => self.insert_range(&self.columns[column].updated, proxies).map_err(failed),
            false => self.columns[column].reset(Phase::Broadcast, End::Either, &[proxies]),
        }
    }

    fn start(&mut self, _: usize, value: usize, proxies: Range<u32>) -> SyncResult<()> {
        let mut arguments = self.host();
        arguments.push(proxies.start);
        arguments.push(proxies.end);
        let kernel = format!("start_{value}");
        self.run(&kernel, proxies.len() as u64, arguments).map_err(failed)
    }

    fn read_masters(&self, column: usize, into: &mut [u8]) -> SyncResult<()> {
        self.columns[column].read(into).map_err(failed)
    }
}

impl Worklists for OperatorEngine<'_> {
    fn fill(&mut self, list: usize, all: bool) -> SyncResult<()> {
        self.lists[list].queue_fill(0).map_err(failed)?;
        let masters = if all { self.num_masters() } else { 0 };
        self.insert_range(&self.lists[list], 0..masters).map_err(failed)
    }

    fn join(&mut self, list: usize, master: LocalId) -> SyncResult<()> {
        self.insert_range(&self.lists[list], master.0..master.0 + 1).map_err(failed)
    }

    fn is_empty(&mut self, list: usize) -> SyncResult<bool> {
        Ok(self.count(list).map_err(failed)? == 0)
    }
}

impl Operators for OperatorEngine<'_> {
    fn set_degrees(&mut self, degrees: &[Vec<u64>; 2]) -> SyncResult<()> {
        for (buffer, degrees) in self.vertices.degrees.iter_mut().zip(degrees) {
            *buffer = Buffer::from_slice(buffer.driver(), degrees).map_err(failed)?;
        }
        Ok(())
    }

    fn set_scalar(&mut self, scalar: usize, bits: u64) {
        self.scalars[scalar] = bits;
    }

    fn take_folded(&mut self, scalars: &[usize]) -> SyncResult<Vec<u64>> {
        self.folded.take(scalars).map_err(failed)
    }

    fn before_edges(&mut self, operator: usize) -> SyncResult<()> {
        self.before(operator).map_err(failed)
    }

    fn visit_edges(&mut self, operator: usize) -> SyncResult<u64> {
        self.visit(operator).map_err(failed)
    }

    fn after_edges(&mut self, operator: usize) -> SyncResult<NumberFaults> {
        let masters = 0..self.num_masters();
        for (column, _) in &self.operator(operator).traffic.folds {
            // Masters' own contributions have arrived, and no mirror reads them.
            self.columns[*column].reset(
                Phase::Broadcast,
                End::Either,
                std::slice::from_ref(&masters),
            )?;
        }
        self.after(operator).map_err(failed)?;
        let mut faults = [0; 2];
        self.vertices.faults.download(0, &mut faults).map_err(failed)?;
        Ok(NumberFaults { underflow: faults[0] != 0, overflow: faults[1] != 0 })
    }
}
