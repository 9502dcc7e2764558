//! Rounds in which every vertex counts its neighbours' labels.
//!
//! Labels are a field: masters broadcast changes to their mirrors. Counts are not a field, since their
//! size grows with the number of neighbours. A host with all edges of a vertex counts and decides
//! alone. If several hosts hold edges of a vertex, each sends the counts of its part to the master
//! whenever they change; the master keeps the last counts of every host.

use parton_engine::{DirectionRows, Directions, Edges, Engine, EngineInfo, Next, Paced, Tally};
use parton_graph::{LocalId, VertexSet};
use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::cpu_field::Cells;
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery, Phase, Result, Shipment, Substrate};
use rayon::prelude::*;

use super::ballot::{Ballot, write_number};
use super::remote::RemoteVotes;

/// Every vertex counts the labels of its neighbours.
pub(super) const BALLOT: EngineInfo = EngineInfo {
    name: "ballot",
    about: "every vertex counts its neighbours' labels; hosts exchange counts",
};

/// Vertices per task of a thread.
const VERTICES_PER_TASK: usize = 1 << 8;
/// All vertices count again if more than one in this many edges leads to a changed neighbour.
const FULL_RECOUNT_DIVISOR: u64 = 4;

/// Which vertices count again in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recount {
    /// Vertices with a neighbour whose label changed.
    NearChanges,
    /// All vertices, in every round; counts of other hosts are not kept.
    Everywhere,
}

/// The edges that labels travel along. In a symmetric graph in-edges suffice: both directions would double
/// every count.
pub(super) fn edges_of(partition: &Partition) -> Edges {
    if partition.is_symmetric() { Edges::In } else { Edges::Both }
}

/// Label propagation on one host's threads.
pub(super) struct Propagation<'a> {
    partition: &'a Partition,
    recount: Recount,
    labels: CpuField<Latest<u32>>,
    edges: Edges,
    /// The neighbours of a vertex.
    neighbours: Directions<'a, ()>,
    /// The vertices that count a vertex as their neighbour.
    dependents: Directions<'a, ()>,
    remote: RemoteVotes<'a>,
    /// Proxies that must count again.
    stale: VertexSet,
    /// Counts for other hosts.
    shipments: Vec<Shipment>,
    /// Labels that masters get at the end of the round.
    decided: Vec<(LocalId, u32)>,
}

impl<'a> Propagation<'a> {
    pub(super) fn new(partition: &'a Partition, recount: Recount) -> Self {
        let proxies = partition.num_proxies();
        let edges = edges_of(partition);
        let labels =
            CpuField::new(proxies, Delivery::Label, |proxy| partition.global(proxy).0 as u32);
        let labels = if partition.num_hosts() == 1 { labels.alone() } else { labels };
        let stale = VertexSet::new(proxies);
        stale.insert_range(0..proxies as u32);
        Propagation {
            partition,
            recount,
            labels,
            edges,
            neighbours: Directions::reverse(partition, edges),
            dependents: Directions::forward(partition, edges),
            remote: RemoteVotes::new(partition, edges),
            stale,
            shipments: Vec::new(),
            decided: Vec::new(),
        }
    }

    /// The labels of masters.
    pub(super) fn labels(&self) -> Vec<u32> {
        let masters = (0..self.partition.num_masters() as u32).into_par_iter();
        masters.map(|master| self.labels.get(LocalId(master))).collect()
    }

    /// The counts of some mirrors' neighbours here, for the host of their masters.
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
        let pieces = mirrors.par_chunks(VERTICES_PER_TASK);
        let counted: Vec<_> = pieces.clone().map_init(Ballot::default, count_piece).collect();
        let (mut bytes, mut values, mut before) = (Vec::new(), 0, 0);
        for (piece, (votes, ends)) in mirrors.chunks(VERTICES_PER_TASK).zip(counted) {
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
}

/// Counts the labels of a vertex's neighbours on this host, with room for `others` more labels.
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
        let edges =
            stale.par_iter().with_min_len(VERTICES_PER_TASK).map(|&proxy| rows.degree(proxy)).sum();
        let masters = stale.partition_point(|proxy| proxy.index() < self.partition.num_masters());
        let (masters, mirrors) = stale.split_at(masters);
        let (shared, alone): (Vec<LocalId>, Vec<LocalId>) =
            masters.iter().partition(|master| self.remote.shared().contains(master.index()));
        shared.into_iter().for_each(|master| self.remote.decide_later(master));
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
        let decided: Vec<_> =
            alone.par_chunks(VERTICES_PER_TASK).map_init(Ballot::default, decide).collect();
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
        if self.recount == Recount::Everywhere {
            self.remote.clear();
        }
        self.remote.exchange(substrate, std::mem::take(&mut self.shipments))
    }

    fn apply(&mut self) -> Result<Tally> {
        let undecided = self.remote.take_undecided();
        let (rows, labels, remote) = (self.neighbours.rows(), self.labels.cells(), &self.remote);
        let decide = |ballot: &mut Ballot, &master: &LocalId| {
            count(ballot, rows, labels, master, remote.of(master).count());
            remote.of(master).for_each(|&(label, count)| ballot.add(label, count));
            Some((master, ballot.winner()?))
        };
        let decided = undecided
            .par_iter()
            .with_min_len(VERTICES_PER_TASK / 4)
            .map_init(Ballot::default, decide);
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
        if self.recount == Recount::Everywhere {
            self.stale.insert_range(0..proxies);
            return Ok(Next::new(true));
        }
        let rows = self.dependents.rows();
        let edges: u64 = changed
            .par_iter()
            .with_min_len(VERTICES_PER_TASK)
            .map(|&proxy| rows.degree(proxy))
            .sum();
        if edges > self.dependents.num_edges() / FULL_RECOUNT_DIVISOR {
            self.stale.insert_range(0..proxies);
        } else {
            changed.par_iter().with_min_len(VERTICES_PER_TASK).for_each(|&proxy| {
                rows.each(proxy, |_| (), |dependent, ()| _ = self.stale.insert(dependent));
            });
        }
        // Before the first round every vertex has to count.
        Ok(Next::new(!self.stale.is_empty()))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Err(super::NEEDS_ROUNDS)
    }
}
