//! How good a partition is: how often vertices are copied, how even the shares are, and what a
//! round of communication costs.

use parton_net::{HostId, Net};

use crate::routes::End;
use crate::{Partition, Result};

/// One host's share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Share {
    /// Vertices it masters.
    pub masters: u64,
    /// Vertices it mirrors.
    pub mirrors: u64,
    /// Edges it has.
    pub edges: u64,
    /// Mirrors that have in-edges only.
    pub written: u64,
    /// Mirrors that have in- and out-edges.
    pub both: u64,
    /// Mirrors that have out-edges only.
    pub read: u64,
    /// Messages it sends per round of forward flow, at most.
    pub messages: u64,
    /// Values it sends per round of forward flow when all are sent.
    pub values: u64,
    /// Bytes of its partition.
    pub bytes: u64,
    /// Most bytes it held while partitioning.
    pub peak_bytes: u64,
}

/// All hosts' shares, and what follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Number of vertices of the graph.
    pub vertices: u64,
    /// Number of edges of the graph.
    pub edges: u64,
    /// One per host.
    pub hosts: Vec<Share>,
}

/// Bytes of the values that dense figures assume.
const VALUE_BYTES: u64 = 4;

impl Share {
    /// The share of one host.
    pub fn of(partition: &Partition) -> Self {
        let mut share = Share {
            masters: partition.num_masters() as u64,
            mirrors: (partition.num_proxies() - partition.num_masters()) as u64,
            edges: partition.edges().num_edges(),
            bytes: partition.bytes(),
            peak_bytes: partition.peak_bytes(),
            ..Share::default()
        };
        for peer in HostId::all(partition.num_hosts()) {
            let routes = partition.routes(peer);
            let parts = routes.mirror_parts();
            share.written += u64::from(parts.written);
            share.both += u64::from(parts.both);
            share.read += u64::from(parts.read);
            for sent in [routes.mirrors(End::Destination).len(), routes.masters(End::Source).len()]
            {
                share.messages += u64::from(sent > 0);
                share.values += sent as u64;
            }
        }
        share
    }
}

impl Quality {
    /// Of the partition that all hosts hold parts of. Every host must call this.
    pub fn measure(net: &mut Net, partition: &Partition) -> Result<Self> {
        let share = Share::of(partition);
        let shares = net.all_gather_short(bytemuck::bytes_of(&share))?;
        let hosts = shares.iter().map(|share| bytemuck::pod_read_unaligned(share)).collect();
        Ok(Quality { vertices: partition.num_vertices(), edges: partition.num_edges(), hosts })
    }

    fn sum(&self, what: impl Fn(&Share) -> u64) -> u64 {
        self.hosts.iter().map(what).sum()
    }

    /// Greatest share over the mean one: 1 is even.
    fn imbalance(&self, what: impl Fn(&Share) -> u64) -> f64 {
        let greatest = self.hosts.iter().map(&what).max().unwrap_or(0);
        match self.sum(&what) {
            0 => 1.0,
            sum => greatest as f64 * self.hosts.len() as f64 / sum as f64,
        }
    }

    /// Proxies per vertex.
    pub fn replication(&self) -> f64 {
        match self.vertices {
            0 => 1.0,
            vertices => self.sum(|h| h.masters + h.mirrors) as f64 / vertices as f64,
        }
    }

    /// Most edges of a host over the mean.
    pub fn edge_imbalance(&self) -> f64 {
        self.imbalance(|h| h.edges)
    }

    /// Most masters of a host over the mean.
    pub fn master_imbalance(&self) -> f64 {
        self.imbalance(|h| h.masters)
    }

    /// Mirrors that are only written, both, only read.
    pub fn proxies(&self) -> [u64; 3] {
        [self.sum(|h| h.written), self.sum(|h| h.both), self.sum(|h| h.read)]
    }

    /// Messages of a round of forward flow.
    pub fn messages_per_round(&self) -> u64 {
        self.sum(|h| h.messages)
    }

    /// Bytes of a round of forward flow in which every shared value travels.
    pub fn dense_bytes_per_round(&self) -> u64 {
        VALUE_BYTES * self.sum(|h| h.values)
    }
}
