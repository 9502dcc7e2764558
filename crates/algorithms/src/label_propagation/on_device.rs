//! The same rounds on a host whose device counts.
//!
//! The device keeps the labels and decides for vertices with all their neighbours here. The counts of other
//! vertices come back: this host sends those of mirrors to their masters, as hosts without a device do, and
//! keeps those of its own masters beside what other hosts send.

use parton_engine::device::ballots::Vote as DeviceVote;
use parton_engine::device::{Ballots, Device};
use parton_engine::{Edges, Engine, Next, Paced, Tally};
use parton_graph::LocalId;
use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::{Phase, Result, Shipment, Substrate};
use rayon::prelude::*;

use super::ballot::{Ballot, write_number, write_votes};
use super::engine::{Recount, edges_of};
use super::remote::RemoteVotes;

/// Masters that one task of a thread decides for at least.
const MIN_MASTERS_PER_TASK: usize = 1 << 6;

/// Label propagation on one host's device.
pub(super) struct DevicePropagation<'a> {
    partition: &'a Partition,
    recount: Recount,
    edges: Edges,
    ballots: Box<dyn Ballots + 'a>,
    remote: RemoteVotes<'a>,
    /// Counts of masters with edges on other hosts, too.
    of_masters: Vec<DeviceVote>,
    /// Counts for other hosts.
    shipments: Vec<Shipment>,
    has_counted: bool,
}

impl<'a> DevicePropagation<'a> {
    pub(super) fn new(
        device: &'a dyn Device,
        partition: &'a Partition,
        recount: Recount,
    ) -> Result<Self> {
        let edges = edges_of(partition);
        let remote = RemoteVotes::new(partition, edges);
        Ok(DevicePropagation {
            ballots: device.ballots(partition, edges, remote.shared())?,
            partition,
            recount,
            edges,
            remote,
            of_masters: Vec::new(),
            shipments: Vec::new(),
            has_counted: false,
        })
    }

    /// The labels of masters.
    pub(super) fn labels(&self) -> Result<Vec<u32>> {
        self.ballots.read_labels()
    }

    /// The counts of some mirrors' neighbours here, for the host of their masters.
    fn shipment(&self, peer: HostId, votes: &[DeviceVote]) -> Shipment {
        let range = self.partition.routes(peer).mirrors(self.edges.written());
        let start = votes.partition_point(|vote| vote.proxy < range.start);
        let end = votes.partition_point(|vote| vote.proxy < range.end);
        let (mut shipment, mut before) = (Shipment::default(), 0);
        for votes in votes[start..end].chunk_by(|a, b| a.proxy == b.proxy) {
            let place = votes[0].proxy - range.start;
            write_number(&mut shipment.bytes, u64::from(place - before));
            let head = shipment.bytes.len();
            let pairs = votes.iter().map(|vote| (vote.label, vote.count));
            write_votes(&mut shipment.bytes, votes.len(), pairs);
            shipment.values += (shipment.bytes.len() - head) as u64;
            before = place;
        }
        shipment
    }
}

impl Engine for DevicePropagation<'_> {
    fn compute(&mut self) -> Result<u64> {
        // Before the first round every vertex has to count.
        let everywhere = self.recount == Recount::Everywhere || !self.has_counted;
        self.has_counted = true;
        let mut votes = self.ballots.count(everywhere)?;
        let masters = self.partition.num_masters() as u32;
        let of_masters = votes.shared.partition_point(|vote| vote.proxy < masters);
        let of_mirrors = votes.shared.split_off(of_masters);
        self.of_masters = votes.shared;
        let peers = HostId::all(self.partition.num_hosts());
        self.shipments = peers.map(|peer| self.shipment(peer, &of_mirrors)).collect();
        Ok(votes.edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        if phase == Phase::Broadcast {
            return substrate.broadcast(self.ballots.labels(), self.edges.read());
        }
        if self.recount == Recount::Everywhere {
            self.remote.clear();
        }
        for votes in self.of_masters.chunk_by(|a, b| a.proxy == b.proxy) {
            let counts = votes.iter().map(|vote| (vote.label, vote.count)).collect();
            self.remote.keep(self.partition.host(), LocalId(votes[0].proxy), counts);
        }
        self.remote.exchange(substrate, std::mem::take(&mut self.shipments))
    }

    fn apply(&mut self) -> Result<Tally> {
        let undecided = self.remote.take_undecided();
        let remote = &self.remote;
        let decide = |ballot: &mut Ballot, &master: &LocalId| {
            ballot.begin(remote.of(master).count());
            remote.of(master).for_each(|&(label, count)| ballot.add(label, count));
            Some([master.0, ballot.winner()?])
        };
        let undecided = undecided.par_iter().with_min_len(MIN_MASTERS_PER_TASK);
        let chosen: Vec<[u32; 2]> =
            undecided.map_init(Ballot::default, decide).flatten_iter().collect();
        let changed = self.ballots.decide(&chosen)?;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        let has_changed = self.ballots.close_round()?;
        Ok(Next::new(has_changed || self.recount == Recount::Everywhere))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err(super::NEEDS_ROUNDS)
    }
}
