//! The engine that suits a stationary program on a partition: `spmv` where messages take time or much is left
//! out of rounds, else `pull`.

use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::{Result, Substrate};

use crate::engines;
use crate::program::filtering::Filter;
use crate::program::{Edges, Properties, VertexProgram};
use crate::registry::EngineInfo;

/// From this many hosts on, waiting for messages takes longer than computing.
const MIN_HOSTS_TO_OVERLAP: usize = 8;
/// Up to this many hosts: a policy that lets all hosts talk to all makes a tile for each pair of peers, and every
/// tile costs a look in every round.
const MAX_HOSTS_TO_OVERLAP: usize = 256;
/// From this share of sources and sinks on, leaving them out saves more than tiles cost.
const MIN_SHARE_TO_FILTER: f64 = 0.25;
/// A network is measured only if a host sends this much in a round: the measurement takes longer than less.
const MIN_BYTES_TO_MEASURE: u64 = 1 << 18;
/// What a message takes for a vertex, about.
const BYTES_PER_MESSAGE: u64 = 8;
/// What an edge takes on one thread, about.
const SECONDS_PER_EDGE: f64 = 1e-9;

/// What is known of a stationary program before it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct StationaryProgram {
    /// Which edges its messages travel along.
    pub edges: Edges,
    /// What may be left out of its rounds.
    pub filter: Filter,
    /// Whether a device computes for this host.
    pub is_on_device: bool,
}

impl StationaryProgram {
    /// What a program declares; `None` if it is not stationary.
    pub fn of<P: VertexProgram>(program: &P, is_on_device: bool) -> Option<Self> {
        let Properties { stationary, edges, .. } = program.properties();
        stationary.then(|| StationaryProgram { edges, filter: Filter::of(program), is_on_device })
    }

    /// The engine that suits it, and what to add to the reasons for that. Every host must call this.
    pub fn engine(self, substrate: &mut Substrate<'_>) -> Result<(&'static EngineInfo, String)> {
        let partition = substrate.partition();
        let hosts = partition.num_hosts();
        // A host that is alone has nothing to overlap with; devices have no tiles.
        let fits = (2..=MAX_HOSTS_TO_OVERLAP).contains(&hosts);
        if !fits || partition.is_beside_devices() || self.is_on_device {
            return Ok((engines::PULL, String::new()));
        }
        let left_out = substrate.net().all_reduce(self.left_out(partition), |a, b| a + b)?;
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
        let Some(round) = MeasuredRound::measure(substrate, self.edges)? else {
            return Ok((engines::PULL, String::new()));
        };
        let [messages, edges] = [round.messages, round.edges].map(|seconds| 1e3 * seconds);
        let times =
            format!("messages of a round take {messages:.1} ms and its edges {edges:.1} ms");
        Ok(match messages >= edges {
            true => (engines::SPMV, format!(", {times} at the same time")),
            false => (engines::PULL, format!(", {times}")),
        })
    }

    /// Masters with edges that the filter leaves out of rounds.
    fn left_out(self, partition: &Partition) -> u64 {
        let parts = partition.master_parts();
        let (only_out, only_in) = (parts.read - parts.both, parts.written - parts.read);
        let (sources, sinks) = match self.edges {
            Edges::Out => (only_out, only_in),
            Edges::In => (only_in, only_out),
            // The filter leaves nothing out.
            Edges::Both => (0, 0),
        };
        let count =
            |is_left_out: bool, vertices: u32| if is_left_out { vertices.into() } else { 0 };
        count(self.filter.sources, sources) + count(self.filter.sinks, sinks)
    }
}

/// What a round takes, by the host that it takes longest.
struct MeasuredRound {
    messages: f64,
    edges: f64,
}

impl MeasuredRound {
    /// Measures the network. `None` if messages are few or take no time. Every host must call this.
    fn measure(substrate: &mut Substrate<'_>, along: Edges) -> Result<Option<Self>> {
        let partition = substrate.partition();
        let sent_to = |host: usize| {
            let routes = partition.routes(HostId(host as u16));
            let (read, written) = (routes.masters(along.read()), routes.mirrors(along.written()));
            (read.len() + written.len()) as u64 * BYTES_PER_MESSAGE
        };
        let bytes: u64 = (0..partition.num_hosts()).map(sent_to).sum();
        let edges = partition.edges().num_edges();
        let net = substrate.net();
        let bytes = net.all_reduce(bytes, u64::max)?;
        let edges = net.all_reduce(edges, u64::max)?;
        if bytes < MIN_BYTES_TO_MEASURE {
            return Ok(None);
        }
        let threads = rayon::current_num_threads() as f64;
        Ok(net.sending_rate()?.map(|rate| MeasuredRound {
            messages: bytes as f64 / rate,
            edges: edges as f64 * SECONDS_PER_EDGE / threads,
        }))
    }
}
