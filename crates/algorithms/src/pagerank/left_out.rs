//! Ranks of vertices that the engine `spmv` leaves out of rounds, and when it is worth it.
//!
//! Vertices without in-edges all have the same rank, and all ranks together are 1. So what vertices without
//! out-edges lose is known without their ranks.

use parton_engine::{EngineInfo, LeftOut, engines};
use parton_net::HostId;
use parton_partition::End;

use crate::algorithm::Job;
use crate::error::Result;

/// What stands in for vertices that are left out of rounds.
pub(super) struct LeftOutRanks {
    /// How many there are; `None` if all vertices take part.
    pub(super) vertices: Option<LeftOut>,
    /// The rank that all vertices without in-edges have now: what every vertex got in the last round apart from
    /// its in-edges.
    pub(super) source_rank: f64,
    /// How much the ranks of vertices with out-edges changed in the last round.
    change_of_senders: f64,
}

/// What all hosts summed up in a round.
pub(super) struct RoundSums {
    /// How much ranks changed, at most.
    pub(super) change: f64,
    /// The rank of vertices without out-edges.
    pub(super) lost: f64,
    /// All ranks.
    pub(super) sum: f64,
}

impl LeftOutRanks {
    /// Before the first round all sources have this rank.
    pub(super) fn new(source_rank: f64) -> Self {
        LeftOutRanks { vertices: None, source_rank, change_of_senders: f64::INFINITY }
    }

    /// Completes the sums of a round in which every vertex got `teleport_rank` apart from its in-edges. The
    /// change of a sink is no more than its share of what its in-neighbours changed in the round before, and
    /// of what all vertices get changed now.
    pub(super) fn conclude(
        &mut self,
        sums: RoundSums,
        damping: f64,
        teleport_rank: f64,
    ) -> RoundSums {
        let step = (teleport_rank - self.source_rank).abs();
        self.source_rank = teleport_rank;
        let Some(LeftOut { sources, sinks, isolated }) = self.vertices else { return sums };
        // Without vertices, what each of them gets is no number.
        let times = |count: u64, value: f64| if count == 0 { 0.0 } else { count as f64 * value };
        let of_sinks = if sinks == 0 { 0.0 } else { damping * self.change_of_senders };
        self.change_of_senders = sums.change + times(sources, step);
        RoundSums {
            change: self.change_of_senders + of_sinks + times(sinks + isolated, step),
            lost: 1.0 - sums.sum - times(sources, teleport_rank),
            sum: 1.0,
        }
    }
}

/// From this many hosts on, waiting for messages takes longer than computing.
const MIN_HOSTS_TO_OVERLAP: usize = 8;
/// Up to this many hosts: the books of a round have an entry for every peer and group of sources, on every host.
const MAX_HOSTS_TO_OVERLAP: usize = 64;
/// From this share of sources and sinks on, leaving them out saves more than tiles cost.
const MIN_SHARE_TO_FILTER: f64 = 0.25;
/// A network is measured only if a host sends this much in a round: the measurement takes longer than less.
const MIN_BYTES_TO_MEASURE: u64 = 1 << 18;
/// What a message takes for a vertex, about.
const BYTES_PER_MESSAGE: u64 = 8;
/// What an edge takes on one thread, about.
const SECONDS_PER_EDGE: f64 = 1e-9;

/// The engine for the power method, and what to add to the reasons for it. Every host must call this.
pub(super) fn suitable_engine(job: &mut Job<'_, '_>) -> Result<(&'static EngineInfo, String)> {
    let partition = job.substrate.partition();
    let hosts = partition.num_hosts();
    // A host that is alone has nothing to overlap with; devices have no tiles.
    let fits = (2..=MAX_HOSTS_TO_OVERLAP).contains(&hosts);
    if !fits || partition.is_beside_devices() || job.device.is_some() {
        return Ok((engines::PULL, String::new()));
    }
    let parts = partition.master_parts();
    let left_out = u64::from(parts.written - parts.both);
    let left_out = job.substrate.net().all_reduce(left_out, |a, b| a + b)?;
    let share = left_out as f64 / partition.num_vertices().max(1) as f64;
    if share >= MIN_SHARE_TO_FILTER {
        let percent = 100.0 * share;
        let why = format!(", {percent:.0} % of the vertices are left out of rounds");
        return Ok((engines::SPMV, why));
    }
    if hosts >= MIN_HOSTS_TO_OVERLAP {
        let why = format!(", {hosts} hosts compute while messages are under way");
        return Ok((engines::SPMV, why));
    }
    let Some(round) = RoundTimes::measure(job)? else { return Ok((engines::PULL, String::new())) };
    let [messages, edges] = [round.messages, round.edges].map(|seconds| 1e3 * seconds);
    let times = format!("messages of a round take {messages:.1} ms and its edges {edges:.1} ms");
    Ok(match messages >= edges {
        true => (engines::SPMV, format!(", {times} at the same time")),
        false => (engines::PULL, format!(", {times}")),
    })
}

/// What a round takes, by the host that it takes longest.
struct RoundTimes {
    messages: f64,
    edges: f64,
}

impl RoundTimes {
    /// Measures the network. `None` if messages are few or take no time. Every host must call this.
    fn measure(job: &mut Job<'_, '_>) -> Result<Option<Self>> {
        let partition = job.substrate.partition();
        let sent_to = |host: usize| {
            let routes = partition.routes(HostId(host as u16));
            let (read, written) = (routes.masters(End::Source), routes.mirrors(End::Destination));
            (read.len() + written.len()) as u64 * BYTES_PER_MESSAGE
        };
        let bytes: u64 = (0..partition.num_hosts()).map(sent_to).sum();
        let edges = partition.edges().num_edges();
        let net = job.substrate.net();
        let bytes = net.all_reduce(bytes, u64::max)?;
        let edges = net.all_reduce(edges, u64::max)?;
        if bytes < MIN_BYTES_TO_MEASURE {
            return Ok(None);
        }
        let threads = rayon::current_num_threads() as f64;
        Ok(net.sending_rate()?.map(|rate| RoundTimes {
            messages: bytes as f64 / rate,
            edges: edges as f64 * SECONDS_PER_EDGE / threads,
        }))
    }
}
