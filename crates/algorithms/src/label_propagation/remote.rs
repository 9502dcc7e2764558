//! Counts that several hosts have of one vertex: what they send to its master, and what the master keeps.

use std::collections::HashMap;

use parton_graph::bits::BitSet;
use parton_graph::{LocalId, VertexSet};
use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::{Error, Phase, Result, Shipment, Substrate};

use parton_engine::Edges;

use super::ballot::{Vote, read_number, read_votes};

/// The counts of other hosts for this host's masters.
pub(super) struct RemoteVotes<'a> {
    partition: &'a Partition,
    edges: Edges,
    /// Masters with edges on other hosts, too.
    shared: BitSet,
    /// The last counts of each host for its proxy of a master.
    votes: HashMap<LocalId, Vec<(HostId, Vec<Vote>)>>,
    /// Shared masters that must choose a label in this round.
    undecided: VertexSet,
}

impl<'a> RemoteVotes<'a> {
    pub(super) fn new(partition: &'a Partition, edges: Edges) -> Self {
        let mut shared = BitSet::new(partition.num_masters());
        for peer in HostId::all(partition.num_hosts()) {
            let masters = partition.routes(peer).masters(edges.written());
            masters.iter().for_each(|master| _ = shared.insert(master.index()));
        }
        let undecided = VertexSet::new(partition.num_proxies());
        RemoteVotes { partition, edges, shared, votes: HashMap::new(), undecided }
    }

    /// Masters with edges on other hosts, too.
    pub(super) fn shared(&self) -> &BitSet {
        &self.shared
    }

    /// Forgets all counts.
    pub(super) fn clear(&mut self) {
        self.votes.clear();
    }

    /// The counts that are kept for a master.
    pub(super) fn of(&self, master: LocalId) -> impl Iterator<Item = &Vote> {
        let of_hosts = self.votes.get(&master).map_or(&[][..], |votes| votes);
        of_hosts.iter().flat_map(|(_, votes)| votes)
    }

    /// Lets a master choose a label in this round.
    pub(super) fn decide_later(&mut self, master: LocalId) {
        self.undecided.insert_alone(master);
    }

    /// Takes the masters that must choose a label.
    pub(super) fn take_undecided(&mut self) -> Vec<LocalId> {
        self.undecided.drain()
    }

    /// Keeps the counts of a host in place of its earlier ones.
    pub(super) fn keep(&mut self, host: HostId, master: LocalId, votes: Vec<Vote>) {
        let of_hosts = self.votes.entry(master).or_default();
        match of_hosts.iter_mut().find(|(known, _)| *known == host) {
            Some((_, before)) => *before = votes,
            None => of_hosts.push((host, votes)),
        }
        self.undecided.insert_alone(master);
    }

    /// Sends counts to the hosts of their masters, and keeps arriving counts.
    pub(super) fn exchange(
        &mut self,
        substrate: &mut Substrate<'_>,
        shipments: Vec<Shipment>,
    ) -> Result<()> {
        let arrived = substrate.ship(Phase::Reduce, self.edges.written(), shipments)?;
        for (from, bytes) in HostId::all(arrived.len()).zip(&arrived) {
            self.receive(from, bytes).ok_or(Error::Shipment { from })?;
        }
        Ok(())
    }

    /// Keeps the counts that a peer sent. Returns `None` if the message is malformed.
    fn receive(&mut self, peer: HostId, mut bytes: &[u8]) -> Option<()> {
        let masters = self.partition.routes(peer).masters(self.edges.written());
        let mut place = 0;
        while !bytes.is_empty() {
            place += usize::try_from(read_number(&mut bytes)?).ok()?;
            let votes = read_votes(&mut bytes)?;
            self.keep(peer, *masters.get(place)?, votes);
        }
        Some(())
    }
}
