//! How much of a device's memory a host's part of a program takes, before anything is uploaded.
//!
//! The plan is an upper bound that is close for large graphs: edges are exact, and vertices and
//! messages are counted with all arrays that any engine of the kind has. A test compares plans with
//! what engines allocate.

use parton_engine::Edges;
use parton_engine::device::program::Word;
use parton_engine::device::{
    DeviceProgram, OperatorsRequest, ProgramRequest, RelaxationRequest, SortedLists,
};
use parton_graph::WeightKind;
use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::{Value, ValueKind};

use crate::engines::ballot::RowLists;
use crate::engines::operators;
use crate::field::{MAX_LOANS, is_lendable};
use crate::rows::{MAX_EDGES_PER_CHUNK, MAX_EDGES_PER_VERTEX};

/// Bytes that a host's part takes on its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Edges with their weights, in the directions that the engine follows.
    pub edges: u64,
    /// Values, sets and lists of vertices.
    pub vertices: u64,
    /// What is sent to and received from other hosts.
    pub messages: u64,
}

/// Ids of vertices on a device.
const ID_BYTES: u64 = 4;
/// Bytes that describe a chunk of a long row.
const CHUNK_BYTES: u64 = 24;
/// Lists of vertices that an engine of relaxations has: global ids, frontiers, parents.
const LISTS_OF_RELAXATIONS: u64 = 4;
/// Lists of vertices that an engine of vertex programs has: global ids, senders, rows by degree.
const LISTS_OF_PROGRAMS: u64 = 6;
/// Lists of vertices for label propagation: labels, rows by degree, winners, global ids.
const LISTS_OF_BALLOTS: u64 = 4;
/// Sets of vertices that an engine has: updated, active, the frontier, those that a label may reach.
const SETS: u64 = 8;
/// Sets of proxies of a compiled program's column.
const SETS_PER_COLUMN: u64 = 4;
/// Counters, tallies and what memory is lost between arrays.
const FIXED_BYTES: u64 = 128 << 10;

/// What a program takes of a device's memory, for any part of a graph.
#[derive(Clone, Debug)]
pub struct MemoryModel {
    edges: Edges,
    needs_reverse: bool,
    weight: WeightKind,
    /// Bytes of values and lists for each proxy.
    per_proxy: u64,
    /// Bytes of the program's arrays for each proxy.
    parameters_per_proxy: f64,
    /// Bytes of what an engine finds and keeps for each edge.
    found_per_edge: f64,
    /// Sets of proxies.
    sets: u64,
    /// What travels between hosts.
    messages: Vec<ValueKind>,
}

impl MemoryModel {
    /// For a relaxation whose engine follows these edges, and also their reverse if it needs that.
    pub(crate) fn of_relaxation(
        request: &RelaxationRequest<'_>,
        partition: &Partition,
        (edges, needs_reverse): (Edges, bool),
    ) -> Self {
        let label = request.label.bytes() as u64;
        MemoryModel {
            edges,
            needs_reverse,
            weight: request.weight,
            // The best label of a component is kept beside its vertices' labels.
            per_proxy: LISTS_OF_RELAXATIONS * ID_BYTES + 2 * label,
            parameters_per_proxy: parameters_per_proxy(&request.program, partition),
            found_per_edge: 0.0,
            sets: SETS,
            messages: vec![request.label],
        }
    }

    /// For a vertex program.
    pub(crate) fn of_program(request: &ProgramRequest<'_>, partition: &Partition) -> Self {
        let turns = request.properties.turns;
        let collects = request.is_ordered || request.properties.stationary;
        let (message, accumulated) = (request.message.bytes(), request.accumulated.bytes());
        let values = (request.state_bytes + message + accumulated) as u64;
        // A program that turns has rows by degree in both directions.
        let lists = LISTS_OF_PROGRAMS + u64::from(turns);
        // Where every message is in every round, there is a copy of all in hub order.
        let is_collected_only = request.properties.stationary && !turns;
        let in_hub_order = if is_collected_only { ID_BYTES + message as u64 } else { 0 };
        MemoryModel {
            edges: request.properties.edges,
            needs_reverse: !is_collected_only && (collects || turns),
            weight: request.weight,
            per_proxy: lists * ID_BYTES + values + in_hub_order,
            parameters_per_proxy: parameters_per_proxy(&request.program, partition),
            found_per_edge: 0.0,
            sets: SETS,
            messages: vec![request.accumulated, request.message],
        }
    }

    /// For the operators of a compiled program.
    pub(crate) fn of_operators(request: &OperatorsRequest<'_>) -> Self {
        let plan = request.plan;
        let rows = operators::needed(plan);
        let needs_both = rows.iter().any(|edges| *edges != rows[0]) || rows.contains(&Edges::Both);
        let kinds = plan.columns.iter().map(|column| operators::kind(&column.ty));
        let values: u64 = kinds.clone().map(|kind| kind.bytes() as u64).sum();
        let degrees = plan.degrees.iter().filter(|is_asked| **is_asked).count() as u64;
        let shared = kinds.zip(&request.is_shared).filter(|(_, is_shared)| **is_shared);
        MemoryModel {
            edges: Edges::Out,
            needs_reverse: needs_both,
            weight: request.weight,
            per_proxy: LISTS_OF_PROGRAMS * ID_BYTES + values + degrees * size_of::<u64>() as u64,
            parameters_per_proxy: 0.0,
            found_per_edge: 0.0,
            // Which proxies of a column are updated, active, and owed to either end.
            sets: SETS + SETS_PER_COLUMN * plan.columns.len() as u64 + plan.lists.len() as u64,
            messages: shared.map(|(kind, _)| kind).collect(),
        }
    }

    /// For the votes of label propagation, with these rows.
    pub(crate) fn of_ballots(rows: &RowLists, partition: &Partition, edges: Edges) -> Self {
        let found = rows.bytes() as f64 / partition.edges().num_edges().max(1) as f64;
        MemoryModel {
            edges: edges.reversed(),
            needs_reverse: false,
            weight: WeightKind::None,
            per_proxy: LISTS_OF_BALLOTS * ID_BYTES,
            parameters_per_proxy: 0.0,
            found_per_edge: found,
            sets: SETS,
            messages: vec![u32::KIND],
        }
    }

    /// What this part of a graph takes.
    pub fn plan(&self, partition: &Partition) -> MemoryPlan {
        let &MemoryModel { edges, needs_reverse, weight, per_proxy, sets, .. } = self;
        let parameters = self.parameters_per_proxy * partition.num_proxies() as f64;
        let found = self.found_per_edge * partition.edges().num_edges() as f64;
        MemoryPlan {
            edges: edge_bytes(partition, edges, weight, needs_reverse) + found.round() as u64,
            vertices: vertex_bytes(partition, per_proxy, sets) + parameters.round() as u64,
            messages: self.messages.iter().map(|&kind| message_bytes(partition, kind)).sum(),
        }
    }
}

impl MemoryPlan {
    /// For sorted lists and the counts of their entries. Lists that other hosts send come in batches, which are
    /// much smaller.
    pub(crate) fn of_lists(lists: SortedLists<'_>) -> Self {
        let SortedLists { ends, entries, weights } = lists;
        let counts = entries.len() as u64 * size_of::<u32>() as u64;
        MemoryPlan {
            edges: (size_of_val(entries) + size_of_val(weights)) as u64 + counts,
            // Where lists end, and a total for each.
            vertices: 2 * size_of_val(ends) as u64 + FIXED_BYTES,
            messages: 0,
        }
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.edges + self.vertices + self.messages
    }
}

/// Rows of one or both directions, and chunks of long rows.
fn edge_bytes(partition: &Partition, edges: Edges, weight: WeightKind, needs_reverse: bool) -> u64 {
    let count = partition.edges().num_edges();
    let weight = match partition.edges().weight_kind() {
        WeightKind::None => 0,
        _ => weight.bytes() as u64,
    };
    let offset = if count > u64::from(u32::MAX) { 8 } else { 4 };
    let rows = (partition.num_proxies() as u64 + 1) * offset + count * (ID_BYTES + weight);
    // A host that is alone with a symmetric graph has one array for both directions.
    let is_same = partition.num_hosts() == 1 && partition.is_symmetric();
    let directions = if (needs_reverse || edges == Edges::Both) && !is_same { 2 } else { 1 };
    let followed = if edges == Edges::Both { 2 * count } else { count };
    // Each chunk but the last of a row is full.
    let chunks = followed / MAX_EDGES_PER_VERTEX + followed / MAX_EDGES_PER_CHUNK;
    directions * rows + chunks * CHUNK_BYTES
}

fn vertex_bytes(partition: &Partition, each: u64, sets: u64) -> u64 {
    let proxies = partition.num_proxies() as u64;
    proxies * each + sets * proxies.div_ceil(32) * 4 + FIXED_BYTES
}

/// Bytes of a program's arrays on this part of a graph, for each of its proxies.
fn parameters_per_proxy(program: &DeviceProgram<'_>, partition: &Partition) -> f64 {
    let bytes = program.words().iter().map(|word| match word {
        Word::Array(bytes) => bytes.len(),
        Word::Bits(_) => 0,
    });
    bytes.sum::<usize>() as f64 / partition.num_proxies().max(1) as f64
}

/// Lists of masters on all routes, room for places and values of all messages that go out in a phase, also of those
/// that other hosts still read, and of the longest message that comes in.
fn message_bytes(partition: &Partition, kind: ValueKind) -> u64 {
    let value = kind.bytes() as u64;
    let loans = if is_lendable(kind) { MAX_LOANS as u64 } else { 0 };
    let peers = HostId::all(partition.num_hosts()).filter(|peer| *peer != partition.host());
    let (mut masters, mut mirrors, mut longest) = (0, 0, 0);
    for peer in peers {
        let routes = partition.routes(peer);
        let shared = [routes.mirror_parts().len() as u64, routes.master_parts().len() as u64];
        mirrors += shared[0];
        masters += shared[1];
        longest = longest.max(shared[0]).max(shared[1]);
    }
    let outgoing = masters.max(mirrors) * (ID_BYTES + (1 + loans) * value);
    masters * ID_BYTES + outgoing + longest * (ID_BYTES + value)
}
