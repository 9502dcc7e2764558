//! Rounds in which every vertex asks its neighbours.
//!
//! Labels are a field: whoever changes tells its mirrors. What neighbours say is none: it takes as
//! much room as they are many. Where a host has all edges of a vertex, it counts and decides. Where
//! edges of a vertex are on several hosts, each sends the master what its part of the neighbours
//! says, once that has changed; the master remembers what the others said last.

use std::collections::HashMap;

use parton_engine::{DirectionRows, Directions, Edges, Engine, EngineInfo, Next, Paced, Tally};
use parton_graph::bits::BitSet;
use parton_graph::{LocalId, VertexSet};
use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::cpu_field::Cells;
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery, Error, Phase, Result, Shipment, Substrate};
use rayon::prelude::*;

use super::ballot::{Ballot, Vote, read_number, read_votes, write_number};

/// Every vertex counts the labels of its neighbours.
pub(super) const BALLOT: EngineInfo = EngineInfo {
    name: "ballot",
    about: "every vertex counts its neighbours' labels; hosts exchange counts",
};

/// Vertices that a thread takes at a time.
const PIECE: usize = 1 << 8;
/// If more than one in so many edges leads to somebody who changed, all look again.
const MANY: u64 = 4;

/// Who looks at its neighbours again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// Whoever has a neighbour that changed.
    WhereChanged,
    /// Everybody, in all rounds, and nothing is remembered.
    Everywhere,
}

/// Label propagation on one host.
pub(super) struct Propagation<'a> {
    partition: &'a Partition,
    looks: Looks,
    labels: CpuField<Latest<u32>>,
    edges: Edges,
    /// The neighbours of a vertex.
    neighbours: Directions<'a, ()>,
    /// Who has a vertex as a neighbour.
    listeners: Directions<'a, ()>,
    /// Masters that have neighbours on other hosts, too.
    shared: BitSet,
    /// What other hosts said of masters.
    heard: HashMap<LocalId, Vec<(HostId, Vec<Vote>)>>,
    /// Proxies that must count.
    stale: VertexSet,
    /// Shared masters that must decide.
    due: VertexSet,
    /// What others have to be told.
    shipments: Vec<Shipment>,
    /// Labels that masters will have.
    decided: Vec<(LocalId, u32)>,
}

impl<'a> Propagation<'a> {
    pub(super) fn new(partition: &'a Partition, looks: Looks) -> Self {
        let proxies = partition.num_proxies();
        // Where every edge is there both ways, one of them is enough: all count half as much.
        let edges = if partition.is_symmetric() { Edges::In } else { Edges::Both };
        let labels =
            CpuField::new(proxies, Delivery::Label, |proxy| partition.global(proxy).0 as u32);
        let labels = if partition.num_hosts() == 1 { labels.alone() } else { labels };
        let mut shared = BitSet::new(partition.num_masters());
        for peer in HostId::all(partition.num_hosts()) {
            let masters = partition.routes(peer).masters(edges.written());
            masters.iter().for_each(|master| _ = shared.insert(master.index()));
        }
        let stale = VertexSet::new(proxies);
        stale.insert_range(0..proxies as u32);
        Propagation {
            partition,
            looks,
            labels,
            edges,
            neighbours: Directions::reverse(partition, edges),
            listeners: Directions::forward(partition, edges),
            shared,
            heard: HashMap::new(),
            stale,
            due: VertexSet::new(proxies),
            shipments: Vec::new(),
            decided: Vec::new(),
        }
    }

    /// The labels of masters.
    pub(super) fn labels(&self) -> Vec<u32> {
        let masters = (0..self.partition.num_masters() as u32).into_par_iter();
        masters.map(|master| self.labels.get(LocalId(master))).collect()
    }

    /// What this host's neighbours of some of its mirrors say, for their masters' host.
    fn shipment(&self, mirrors: &[LocalId], first: u32) -> Shipment {
        let (rows, labels) = (self.neighbours.rows(), self.labels.cells());
        let count_piece = |ballot: &mut Ballot, piece: &[LocalId]| {
            let (mut bytes, mut ends) = (Vec::new(), Vec::new());
            for &mirror in piece {
                count(ballot, rows, labels, mirror, 0);
                ballot.write(&mut bytes);
                ends.push(bytes.len());
            }
            (bytes, ends)
        };
        let pieces = mirrors.par_chunks(PIECE);
        let counted: Vec<_> = pieces.clone().map_init(Ballot::default, count_piece).collect();
        let (mut bytes, mut values, mut before) = (Vec::new(), 0, 0);
        for (piece, (votes, ends)) in mirrors.chunks(PIECE).zip(counted) {
            let mut start = 0;
            for (mirror, end) in piece.iter().zip(ends) {
                let place = mirror.0 - first;
                write_number(&mut bytes, u64::from(place - before));
                bytes.extend_from_slice(&votes[start..end]);
                (before, start) = (place, end);
            }
            values += votes.len() as u64;
        }
        Shipment { bytes, values }
    }

    /// Remembers what a peer says; `None` if it makes no sense.
    fn hear(&mut self, peer: HostId, mut bytes: &[u8]) -> Option<()> {
        let masters = self.partition.routes(peer).masters(self.edges.written());
        let mut place = 0;
        while !bytes.is_empty() {
            place += usize::try_from(read_number(&mut bytes)?).ok()?;
            let votes = read_votes(&mut bytes)?;
            let master = *masters.get(place)?;
            let heard = self.heard.entry(master).or_default();
            match heard.iter_mut().find(|(host, _)| *host == peer) {
                Some((_, before)) => *before = votes,
                None => heard.push((peer, votes)),
            }
            self.due.insert_alone(master);
        }
        Some(())
    }
}

/// Counts the labels of a vertex's neighbours on this host; up to so many others may be added.
fn count(
    ballot: &mut Ballot,
    rows: DirectionRows<'_, ()>,
    labels: Cells<'_, Latest<u32>>,
    vertex: LocalId,
    others: usize,
) {
    ballot.begin(rows.degree(vertex) as usize + others);
    let soon = |neighbour| labels.prefetch(neighbour);
    rows.each(vertex, soon, |neighbour, ()| ballot.add(labels.get(neighbour), 1));
}

impl Engine for Propagation<'_> {
    fn compute(&mut self) -> Result<u64> {
        let stale = self.stale.drain();
        let rows = self.neighbours.rows();
        let edges = stale.par_iter().with_min_len(PIECE).map(|&proxy| rows.degree(proxy)).sum();
        let masters = stale.partition_point(|proxy| proxy.index() < self.partition.num_masters());
        let (masters, mirrors) = stale.split_at(masters);
        let (shared, alone): (Vec<LocalId>, Vec<LocalId>) =
            masters.iter().partition(|master| self.shared.contains(master.index()));
        shared.into_iter().for_each(|master| _ = self.due.insert_alone(master));
        let labels = self.labels.cells();
        let decide = |ballot: &mut Ballot, piece: &[LocalId]| -> Vec<(LocalId, u32)> {
            let mut decided = Vec::new();
            for (place, &master) in piece.iter().enumerate() {
                rows.prepare(piece, place, |end| labels.prefetch(end));
                count(ballot, rows, labels, master, 0);
                decided.extend(ballot.winner().map(|label| (master, label)));
            }
            decided
        };
        let decided: Vec<_> = alone.par_chunks(PIECE).map_init(Ballot::default, decide).collect();
        self.decided = decided.concat();
        let shipments = HostId::all(self.partition.num_hosts()).map(|peer| {
            let range = self.partition.routes(peer).mirrors(self.edges.written());
            let start = mirrors.partition_point(|mirror| mirror.0 < range.start);
            let end = mirrors.partition_point(|mirror| mirror.0 < range.end);
            self.shipment(&mirrors[start..end], range.start)
        });
        self.shipments = shipments.collect();
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        if phase == Phase::Broadcast {
            return substrate.broadcast(&mut self.labels, self.edges.read());
        }
        if self.looks == Looks::Everywhere {
            self.heard.clear();
        }
        let shipments = std::mem::take(&mut self.shipments);
        let arrived = substrate.ship(Phase::Reduce, self.edges.written(), shipments)?;
        for (from, bytes) in HostId::all(arrived.len()).zip(&arrived) {
            self.hear(from, bytes).ok_or(Error::Shipment { from })?;
        }
        Ok(())
    }

    fn apply(&mut self) -> Result<Tally> {
        let due = self.due.drain();
        let (rows, labels, heard) = (self.neighbours.rows(), self.labels.cells(), &self.heard);
        let decide = |ballot: &mut Ballot, &master: &LocalId| {
            let others = heard.get(&master).map_or(&[][..], |heard| heard);
            let votes = || others.iter().flat_map(|(_, votes)| votes);
            count(ballot, rows, labels, master, votes().count());
            votes().for_each(|&(label, count)| ballot.add(label, count));
            Some((master, ballot.winner()?))
        };
        let decided = due.par_iter().with_min_len(PIECE / 4).map_init(Ballot::default, decide);
        let decided: Vec<_> = decided.flatten_iter().collect();
        self.decided.extend(decided);
        let changes = |&&(master, label): &&(LocalId, u32)| labels.get(master) != label;
        let changed: Vec<_> = self.decided.par_iter().filter(changes).collect();
        changed.par_iter().for_each(|&&(master, label)| {
            self.labels.put(master, label);
            self.labels.touch(master);
        });
        Ok(Tally { changed: changed.len() as u64, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        let changed = self.labels.drain_active();
        let proxies = self.partition.num_proxies() as u32;
        if self.looks == Looks::Everywhere {
            self.stale.insert_range(0..proxies);
            return Ok(Next::new(true));
        }
        let rows = self.listeners.rows();
        let edges: u64 =
            changed.par_iter().with_min_len(PIECE).map(|&proxy| rows.degree(proxy)).sum();
        if edges > self.listeners.num_edges() / MANY {
            self.stale.insert_range(0..proxies);
        } else {
            changed.par_iter().with_min_len(PIECE).for_each(|&proxy| {
                rows.each(proxy, |_| (), |listener, ()| _ = self.stale.insert(listener));
            });
        }
        // Before the first round every vertex has to count.
        Ok(Next::new(!self.stale.is_empty()))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err(super::NEEDS_ROUNDS)
    }
}
