//! All neighbours of a vertex on the host of its master.
//!
//! Most programs fold what comes along edges, wherever those are. Some have to see all neighbours
//! of a vertex at once: an h-index, an intersection. Where the policy has put all out-edges of a
//! vertex on its master's host (`oec`), or all in-edges (`iec`) of a symmetric graph, that is so
//! already. Otherwise edges travel there, each once, in batches.

use parton_graph::tidy::{Merge, Tidy};
use parton_graph::{Adjacency, Csr, Graph, LocalId, with_csr};
use parton_net::{HostId, Net};
use rayon::prelude::*;

use crate::edge_set::EdgeSet;
use crate::exchange::{batches, exchange_batches};
use crate::id_set::IdSet;
use crate::routes::{Parts, Routes};
use crate::{Originals, Partition, Result};

/// Channel of the edges.
const CHANNEL: u16 = 0x5f;
/// Edges a thread packs at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;
/// Numbers of an edge on its way: vertex, neighbour, host of the neighbour's master.
const WORDS: usize = 3;

/// A partition in which masters have all their neighbours beside them, and mirrors have none.
pub struct Neighbourhoods<'a> {
    partition: Whole<'a>,
    is_counted: bool,
    moved: Vec<u64>,
}

enum Whole<'a> {
    AsItIs(&'a Partition),
    Made(Box<Partition>),
}

impl Neighbourhoods<'_> {
    /// The partition. Its masters are numbered as they were.
    pub fn partition(&self) -> &Partition {
        match &self.partition {
            Whole::AsItIs(partition) => partition,
            Whole::Made(partition) => partition,
        }
    }

    /// Whether edges were taken both ways: then their weights are the numbers of edges between two
    /// vertices, 1 or 2.
    pub fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// Bytes that this host has sent to each for it.
    pub fn moved(&self) -> &[u64] {
        &self.moved
    }
}

impl Partition {
    /// The neighbours of all vertices: in a graph that is known to be symmetric its edges, else the
    /// ends of edges either way. There must be no parallel edges. Every host must call this.
    pub fn neighbourhoods(&self, net: &mut Net) -> Result<Neighbourhoods<'_>> {
        let parts = || self.routes.iter().map(|routes| routes.mirror_parts);
        let uses = [
            u64::from(parts().any(|parts| parts.both + parts.read > 0)),
            u64::from(parts().any(|parts| parts.both + parts.written > 0)),
        ];
        let [read, written] = net.all_reduce(uses, |a, b| [a[0] | b[0], a[1] | b[1]])?;
        let mut moved = vec![0; self.num_hosts()];
        let partition = match (self.is_symmetric(), read, written) {
            (true, 0, _) => Whole::AsItIs(self),
            (true, _, 0) => Whole::Made(Box::new(self.turned())),
            _ if self.num_hosts() == 1 => Whole::Made(Box::new(self.counted())),
            _ => Whole::Made(Box::new(self.gathered(net, &mut moved)?)),
        };
        Ok(Neighbourhoods { partition, is_counted: !self.is_symmetric(), moved })
    }

    /// A host's part like this one, with other edges.
    fn with_edges(&self, globals: Vec<u32>, adjacency: Adjacency, routes: Vec<Routes>) -> Self {
        let sizes = (self.num_vertices, self.num_edges);
        let originals = Originals::Offset(0);
        let mut edges = EdgeSet::by_source(adjacency, routes.len());
        edges.is_symmetric = true;
        let mut made =
            Self::from_parts(self.host, sizes, self.masters, globals, edges, routes, originals);
        made.simple = self.simple;
        made
    }

    /// In-edges as out-edges, in a symmetric graph.
    fn turned(&self) -> Self {
        let turn = |parts: Parts| Parts { written: parts.read, read: parts.written, ..parts };
        let routes = self.routes.iter().map(|routes| Routes {
            mirror_parts: turn(routes.mirror_parts),
            master_parts: turn(routes.master_parts),
            ..routes.clone()
        });
        let adjacency = self.in_edges().clone().unweighted();
        self.with_edges(self.globals.to_vec(), adjacency, routes.collect())
    }

    /// Edges either way with their numbers, on a host that is alone.
    fn counted(&self) -> Self {
        let once: Csr<u32> =
            with_csr!(self.out_edges().clone(), csr => csr.reweighted(|_, _, _| 1));
        let tidy = Tidy { merge: Some(Merge::Sum), sort: true, ..Tidy::default() };
        let graph = Graph::dense(once, "").undirected().tidied(tidy);
        self.with_edges(self.globals.to_vec(), graph.adjacency, self.routes.clone())
    }

    fn gathered(&self, net: &mut Net, moved: &mut [u64]) -> Result<Self> {
        let both_ways = !self.is_symmetric();
        let owners = self.owners();
        let offsets = self.out_edges().offsets();
        let targets = self.out_edges().all_targets();
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < self.num_proxies() {
            let goal = offsets[start] + EDGES_PER_PIECE;
            let end = offsets.partition_point(|&o| o < goal).clamp(start + 1, self.num_proxies());
            pieces.push(start..end);
            start = end;
        }
        let make = |piece: &std::ops::Range<usize>| {
            let mut messages: Vec<Vec<u8>> = vec![Vec::new(); self.num_hosts()];
            let mut add = |of: usize, other: usize| {
                let words = [self.globals[of], self.globals[other], u32::from(owners[other].0)];
                messages[owners[of].index()].extend_from_slice(bytemuck::cast_slice(&words));
            };
            for source in piece.clone() {
                for target in &targets[offsets[source] as usize..offsets[source + 1] as usize] {
                    add(source, target.index());
                    if both_ways {
                        add(target.index(), source);
                    }
                }
            }
            messages
        };
        let mut received: Vec<[u32; WORDS]> = Vec::new();
        let counted = |group: &[Vec<Vec<u8>>], moved: &mut [u64]| {
            for batches in group {
                for (sum, batch) in moved.iter_mut().zip(batches) {
                    *sum += batch.len() as u64;
                }
            }
        };
        let mut next = batches(&pieces, make);
        let next = || {
            let group = next()?;
            group.iter().for_each(|group| counted(group, moved));
            Ok(group)
        };
        exchange_batches(net, CHANNEL, next, |_, batch| {
            received.extend(bytemuck::pod_collect_to_vec::<u8, [u32; WORDS]>(&batch));
        })?;
        moved[self.host.index()] = 0;
        self.lay_out_neighbours(net, received, both_ways)
    }

    /// The hosts that master this host's proxies.
    fn owners(&self) -> Vec<HostId> {
        let mut owners = vec![self.host; self.num_proxies()];
        for (host, routes) in HostId::all(self.num_hosts()).zip(&self.routes) {
            let mirrors = routes.mirrors(crate::End::Either);
            owners[mirrors.start as usize..mirrors.end as usize].fill(host);
        }
        owners
    }

    /// Rows of masters from edges in any order; mirrors for neighbours that other hosts master.
    fn lay_out_neighbours(
        &self,
        net: &mut Net,
        mut received: Vec<[u32; WORDS]>,
        count: bool,
    ) -> Result<Self> {
        let universe = self.num_vertices as u32;
        let mine = &self.globals[..self.num_masters()];
        let wanted: Vec<IdSet> = (0..self.num_hosts()).map(|_| IdSet::new(universe)).collect();
        let known = IdSet::new(universe);
        known.extend(mine);
        for &[_, neighbour, owner] in &received {
            if owner != u32::from(self.host.0) {
                wanted[owner as usize].insert(neighbour);
                known.insert(neighbour);
            }
        }
        let mut globals = mine.to_vec();
        let mut lists = Vec::new();
        let mut routes = Vec::new();
        for wanted in &wanted {
            let first_mirror = globals.len() as u32;
            globals.extend(wanted.iter());
            let list = &globals[first_mirror as usize..];
            let mirror_parts = Parts { written: list.len() as u32, ..Parts::default() };
            lists.push(bytemuck::cast_slice(list).to_vec());
            routes.push(Routes { first_mirror, mirror_parts, ..Routes::default() });
        }
        drop(wanted);
        let locals = known.ranked().numbered_by(&globals, 0..0);
        for (routes, list) in routes.iter_mut().zip(net.all_to_all(lists)?) {
            let ids = list.chunks_exact(4).map(bytemuck::pod_read_unaligned);
            routes.masters = ids.map(|id| LocalId(locals.number(id))).collect();
            routes.master_parts.written = routes.masters.len() as u32;
        }
        received.par_iter_mut().for_each(|edge| {
            *edge = [locals.number(edge[0]), locals.number(edge[1]), 1];
        });
        received.par_sort_unstable();
        received.dedup_by(|next, kept| {
            let same = next[..2] == kept[..2];
            kept[2] += u32::from(same);
            same
        });
        let mut offsets = vec![0u64; globals.len() + 1];
        received.iter().for_each(|edge| offsets[edge[0] as usize + 1] += 1);
        for at in 1..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let targets: Vec<LocalId> = received.iter().map(|edge| LocalId(edge[1])).collect();
        let adjacency: Adjacency = if count {
            let weights: Vec<u32> = received.iter().map(|edge| edge[2]).collect();
            Csr::from_parts(offsets.into(), targets.into(), weights.into()).into()
        } else {
            let nothing = vec![(); targets.len()];
            Csr::from_parts(offsets.into(), targets.into(), nothing.into()).into()
        };
        Ok(self.with_edges(globals, adjacency, routes))
    }
}
