//! Label propagation on a device: rows by degree class count the labels of neighbours.
//!
//! Labels stay on the device. Votes that other hosts need, and those of masters with neighbours on other hosts,
//! come back in bulk.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use parton_engine::Edges;
use parton_engine::device::ballots::{LabelCount, Votes};
use parton_engine::device::{Ballots, DeviceProgram};
use parton_graph::bits::BitSet;
use parton_graph::{Adjacency, WeightKind};
use parton_partition::Partition;
use parton_sync::{Delivery, Field, Result as SyncResult, Value};
use rayon::slice::ParallelSliceMut;

use crate::driver::Address;
use crate::error::Result;
use crate::field::{self, DeviceField};
use crate::host::{GpuHost, failed};
use crate::launch::{Arguments, Kernels, arguments, read};
use crate::memory::Buffer;
use crate::rows::{Directions, EdgeArgument, Wanted};

/// Edges of a row that a thread, a warp and a block count at most, as in `ballot.cu`.
const MAX_EDGES: [u64; 3] = [16, 256, 2048];
const KERNELS: [&str; 3] = ["ballot_thread", "ballot_warp", "ballot_block"];
/// Numbers in the tables of the longest rows that count at once, but for a single row with more.
const MAX_TABLE_NUMBERS: u64 = 1 << 25;

/// Labels and their counts.
pub(crate) struct BallotEngine<'a> {
    kernels: Arc<Kernels>,
    partition: &'a Partition,
    neighbours: Directions,
    labels: DeviceField,
    /// Proxies whose labels changed in the round before.
    changed: Buffer<u32>,
    classes: [Buffer<u32>; 3],
    long_rows: LongRows,
    outcome: Outcome,
    cell: Buffer<u64>,
}

/// What a round finds: `Outcome` of `ballot.cu`.
struct Outcome {
    winners: Buffer<u32>,
    decided: Buffer<u32>,
    shared: Buffer<u32>,
    votes: Buffer<LabelCount>,
    /// Number of votes, and of edges.
    counts: Buffer<u64>,
}

/// The rows that need a table in the device's memory, in groups whose tables fit.
struct LongRows {
    groups: Vec<(Buffer<u32>, Buffer<u64>)>,
    tables: Buffer<u32>,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BallotArgument {
    edges: EdgeArgument,
    labels: Address,
    changed: Address,
}

/// Rows by the number of their edges, and the votes that shared ones can have.
#[derive(Default)]
pub(crate) struct RowLists {
    classes: [Vec<u32>; 3],
    long: Vec<(u32, u64)>,
    /// Masters with neighbours on other hosts, and all mirrors.
    shared: BitSet,
    max_votes: u64,
}

impl RowLists {
    /// `shared` are the masters with neighbours on other hosts.
    pub(crate) fn new(partition: &Partition, edges: Edges, shared: &BitSet) -> Self {
        let (proxies, masters) = (partition.num_proxies(), partition.num_masters());
        // All that mirrors have to say goes to their masters.
        let mut all_shared = BitSet::new(proxies.next_multiple_of(32));
        (0..masters).filter(|&m| shared.contains(m)).for_each(|m| _ = all_shared.insert(m));
        all_shared.insert_range(masters..proxies);
        let parts: Vec<&Adjacency> = match edges {
            Edges::Out => vec![partition.in_edges()],
            Edges::In => vec![partition.out_edges()],
            Edges::Both => vec![partition.in_edges(), partition.out_edges()],
        };
        let mut lists = RowLists { shared: all_shared, ..RowLists::default() };
        for row in 0..partition.num_proxies() {
            let degree = |part: &&Adjacency| part.offsets()[row + 1] - part.offsets()[row];
            let degree: u64 = parts.iter().map(degree).sum();
            if degree == 0 {
                continue;
            }
            match MAX_EDGES.iter().position(|&most| degree <= most) {
                Some(class) => lists.classes[class].push(row as u32),
                None => lists.long.push((row as u32, degree)),
            }
            if lists.shared.contains(row) {
                lists.max_votes += degree;
            }
        }
        lists
    }

    /// Bytes of votes, and of the tables of long rows.
    pub(crate) fn bytes(&self) -> u64 {
        let tables = table_groups(&self.long).map(|group| group.numbers).max().unwrap_or(0);
        let votes = self.max_votes * size_of::<LabelCount>() as u64;
        votes + tables * size_of::<u32>() as u64
    }
}

/// Long rows whose tables fit at once.
struct TableGroup {
    rows: Vec<u32>,
    /// Where the table of each row starts.
    starts: Vec<u64>,
    /// Numbers in all tables.
    numbers: u64,
}

/// Groups of long rows, in order.
fn table_groups(mut rows: &[(u32, u64)]) -> impl Iterator<Item = TableGroup> {
    std::iter::from_fn(move || {
        let mut group = TableGroup { rows: Vec::new(), starts: Vec::new(), numbers: 0 };
        while let ([(row, degree), rest @ ..], true) = (rows, group.numbers < MAX_TABLE_NUMBERS) {
            group.rows.push(*row);
            group.starts.push(group.numbers);
            // A label and a count for each slot, of which half stay free.
            group.numbers += 2 * (2 * degree).next_power_of_two();
            rows = rest;
        }
        (!group.rows.is_empty()).then_some(group)
    })
}

impl LongRows {
    fn new(host: &GpuHost, rows: &[(u32, u64)]) -> Result<Self> {
        let (mut groups, mut most) = (Vec::new(), 0);
        for TableGroup { rows, starts, numbers } in table_groups(rows) {
            groups.push((host.uploader().buffer(&rows)?, host.uploader().buffer(&starts)?));
            most = most.max(numbers);
        }
        Ok(LongRows { groups, tables: Buffer::new(host.driver(), most as usize)? })
    }
}

impl Outcome {
    fn push(&self, arguments: &mut Arguments) {
        let Outcome { winners, decided, shared, votes, counts } = self;
        let [num_votes, edges] = [0, 1].map(|place| counts.address_of(place));
        let buffers = [winners.address(), decided.address(), shared.address(), votes.address()];
        arguments.push([buffers[0], buffers[1], buffers[2], buffers[3], num_votes, edges]);
    }
}

impl<'a> BallotEngine<'a> {
    /// An engine over these rows of the partition.
    pub(crate) fn new(
        host: &GpuHost,
        partition: &'a Partition,
        edges: Edges,
        lists: RowLists,
    ) -> Result<Self> {
        let (driver, uploader) = (host.driver(), host.uploader());
        let (proxies, masters) = (partition.num_proxies(), partition.num_masters());
        let (reversed, none) = (edges.reversed(), WeightKind::None);
        let neighbours =
            Directions::upload(uploader, driver, partition, reversed, none, Wanted::Forward)?;
        let program = DeviceProgram::new("", &[]).with_type::<()>("Weight");
        let of_field = field::text("labels", "u32", "Latest<u32>");
        let texts = [of_field.as_str(), include_str!("../../kernels/ballot.cu")];
        let mut names = field::kernel_names("labels");
        let own = ["start", "thread", "warp", "block", "long", "choose", "apply"];
        names.extend(own.iter().map(|kernel| format!("ballot_{kernel}")));
        names.push("count_members".into());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let defines = neighbours.define();
        let kernels = Arc::new(Kernels::new(driver, &program, &defines, &texts, &names)?);
        let (kind, is_shared) = ((u32::KIND, Delivery::Label), partition.num_hosts() > 1);
        let mut labels = DeviceField::new("labels", &kernels, driver, proxies, kind, is_shared)?;
        labels.prepare(partition)?;
        let globals = uploader.buffer(partition.globals())?;
        let start = arguments![globals.address(), proxies as u32, labels.values.address()];
        kernels.launch("ballot_start", proxies as u64, &start)?;
        driver.synchronize()?;
        let [few, more, many] = &lists.classes;
        let words = labels.words() as usize;
        let engine = BallotEngine {
            changed: Buffer::zeroed(driver, words)?,
            classes: [uploader.buffer(few)?, uploader.buffer(more)?, uploader.buffer(many)?],
            long_rows: LongRows::new(host, &lists.long)?,
            outcome: Outcome {
                winners: Buffer::new(driver, masters)?,
                decided: Buffer::zeroed(driver, words)?,
                shared: uploader.buffer(&halves(lists.shared.words())[..words])?,
                votes: Buffer::new(driver, lists.max_votes as usize)?,
                counts: Buffer::zeroed(driver, 2)?,
            },
            cell: Buffer::zeroed(driver, 1)?,
            kernels,
            partition,
            neighbours,
            labels,
        };
        uploader.release();
        Ok(engine)
    }

    fn count_rows(&mut self, everywhere: bool) -> Result<Votes> {
        self.outcome.decided.queue_fill(0)?;
        self.outcome.counts.queue_fill(0)?;
        let ballot = BallotArgument {
            edges: self.neighbours.forward.argument(),
            labels: self.labels.values.address(),
            changed: if everywhere { Address(0) } else { self.changed.address() },
        };
        let arguments_for = |rows: &Buffer<u32>| {
            let mut arguments = arguments![ballot, rows.address(), rows.len() as u32];
            self.outcome.push(&mut arguments);
            arguments
        };
        let threads_per_row = [1, 32, u64::from(self.kernels.threads())];
        for ((kernel, rows), threads) in KERNELS.iter().zip(&self.classes).zip(threads_per_row) {
            if !rows.is_empty() {
                let work = rows.len() as u64 * threads;
                self.kernels.launch(kernel, work, &arguments_for(rows))?;
            }
        }
        for (rows, starts) in &self.long_rows.groups {
            let mut arguments = arguments_for(rows);
            arguments.push(self.long_rows.tables.address());
            arguments.push(starts.address());
            let work = rows.len() as u64 * u64::from(self.kernels.threads());
            self.kernels.launch("ballot_long", work, &arguments)?;
        }
        let mut counts = [0; 2];
        self.outcome.counts.download(0, &mut counts)?;
        let [num_votes, edges] = counts;
        let mut shared = vec![LabelCount::default(); num_votes as usize];
        self.outcome.votes.download(0, &mut shared)?;
        shared.par_sort_unstable();
        Ok(Votes { shared, edges })
    }

    fn apply(&mut self, chosen: &[[u32; 2]]) -> Result<u64> {
        let (winners, decided) = (self.outcome.winners.address(), self.outcome.decided.address());
        let masters = self.partition.num_masters() as u32;
        let chosen = Buffer::from_slice(self.cell.driver(), chosen)?;
        if !chosen.is_empty() {
            let choose = arguments![chosen.address(), chosen.len() as u32, winners, decided];
            self.kernels.launch("ballot_choose", chosen.len() as u64, &choose)?;
        }
        self.cell.queue_fill(0)?;
        let apply = arguments![
            winners,
            decided,
            masters,
            self.labels.values.address(),
            self.labels.active.address(),
            self.labels.updated_if_shared(),
            self.cell.address()
        ];
        self.kernels.launch("ballot_apply", masters.into(), &apply)?;
        // What the host chose is freed after this.
        read(&self.cell)
    }

    fn close(&mut self) -> Result<bool> {
        let proxies = self.partition.num_proxies() as u32;
        std::mem::swap(&mut self.changed, &mut self.labels.active);
        self.labels.active.queue_fill(0)?;
        self.cell.queue_fill(0)?;
        let count = arguments![self.changed.address(), proxies, self.cell.address()];
        self.kernels.launch("count_members", u64::from(proxies).div_ceil(32), &count)?;
        Ok(read(&self.cell)? > 0)
    }
}

/// Words of 64 bits as words of 32.
fn halves(words: &[u64]) -> Vec<u32> {
    words.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]).collect()
}

impl Ballots for BallotEngine<'_> {
    fn labels(&mut self) -> &mut dyn Field {
        &mut self.labels
    }

    fn count(&mut self, everywhere: bool) -> SyncResult<Votes> {
        self.count_rows(everywhere).map_err(failed)
    }

    fn decide(&mut self, chosen: &[[u32; 2]]) -> SyncResult<u64> {
        self.apply(chosen).map_err(failed)
    }

    fn close_round(&mut self) -> SyncResult<bool> {
        self.close().map_err(failed)
    }

    fn read_labels(&self) -> SyncResult<Vec<u32>> {
        let mut labels = vec![0u32; self.partition.num_masters()];
        self.labels.read(bytemuck::cast_slice_mut(&mut labels)).map_err(failed)?;
        Ok(labels)
    }
}
