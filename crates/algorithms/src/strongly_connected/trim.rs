//! Trimming: a vertex without in-edges or without out-edges is a component of its own, and its removal
//! may leave others without edges.
//!
//! Every master stores how many in- and out-edges it has left, without self-loops. A removed vertex takes
//! one off at the other end of each of its edges. Inside a host, trimming goes on until nothing changes,
//! for masters without mirrors on other hosts.

use parton_engine::{EdgeRows, EdgeView, Engine, Next, Paced, Tally};
use parton_graph::bits::BitSet;
use parton_graph::{LocalId, VertexSet, parallel};
use parton_net::HostId;
use parton_partition::End;
use parton_sync::reduction::{Max, Sum};
use parton_sync::{CpuField, Delivery, Phase, Result, Substrate};
use rayon::prelude::*;

/// Several threads are faster from this many edges on.
const MIN_PARALLEL_EDGES: u64 = 1 << 11;
/// Vertices per task of a thread.
const VERTICES_PER_TASK: usize = 1 << 8;

/// One in-edge, in a number that counts in-edges in its lower and out-edges in its upper half.
const IN_EDGE: u64 = 1;
/// One out-edge.
const OUT_EDGE: u64 = 1 << 32;

/// The vertices that are left, and their numbers of edges among each other.
pub(super) struct RemainingGraph<'a> {
    out_edges: EdgeView<'a, ()>,
    in_edges: EdgeView<'a, ()>,
    /// Edges left of each master.
    left: Vec<u64>,
    /// Edges that proxies have lost and their masters have not subtracted yet.
    lost: CpuField<Sum<u64>>,
    /// 1 for a removed vertex.
    gone: CpuField<Max<u32>>,
    /// Masters with mirrors on other hosts.
    shared: BitSet,
    /// Removed proxies whose edges are still to be taken away.
    frontier: Vec<LocalId>,
    /// Masters removed by trimming since the last call of `take_trimmed`.
    trimmed: VertexSet,
}

impl<'a> RemainingGraph<'a> {
    /// All vertices. Every host must call this.
    pub(super) fn new(substrate: &mut Substrate<'a>) -> Result<Self> {
        let partition = substrate.partition();
        let proxies = partition.num_proxies();
        let out_edges = EdgeView::new(partition.out_edges());
        let in_edges = EdgeView::new(partition.in_edges());
        let mut shared = BitSet::new(partition.num_masters());
        for peer in HostId::all(partition.num_hosts()) {
            let masters = partition.routes(peer).masters(End::Either);
            masters.iter().for_each(|master| _ = shared.insert(master.index()));
        }
        let mut remaining = RemainingGraph {
            out_edges,
            in_edges,
            left: vec![0; partition.num_masters()],
            lost: CpuField::accumulator(proxies),
            gone: CpuField::new(proxies, Delivery::Label, |_| 0),
            shared,
            frontier: Vec::new(),
            trimmed: VertexSet::new(proxies),
        };
        let counts_loops = !partition.is_simple();
        remaining.count(substrate, |rows, proxy| {
            let targets = if counts_loops { rows.targets(proxy) } else { &[] };
            let loops = targets.iter().filter(|&&target| target == proxy).count() as u64;
            rows.degree(proxy) - loops
        })?;
        remaining.trim_all();
        Ok(remaining)
    }

    /// Counts the edges between vertices that are left. After the removal of many vertices, this is much
    /// less work than taking their edges away one by one. Every host must call this.
    pub(super) fn recount(&mut self, substrate: &mut Substrate<'a>) -> Result<()> {
        substrate.broadcast(&mut self.gone, End::Either)?;
        self.gone.drain_active();
        let gone = std::mem::replace(&mut self.gone, CpuField::new(0, Delivery::Label, |_| 0));
        let cells = gone.cells();
        let counted = self.count(substrate, |rows, proxy| {
            if cells.get(proxy) == 1 {
                return 0;
            }
            let stays = |&&end: &&LocalId| end != proxy && cells.get(end) == 0;
            rows.targets(proxy).iter().filter(stays).count() as u64
        });
        self.gone = gone;
        counted?;
        self.trim_all();
        Ok(())
    }

    /// Sets the edges that masters have left; `count` yields those of a proxy on this host.
    fn count(
        &mut self,
        substrate: &mut Substrate<'a>,
        count: impl Fn(EdgeRows<'_, ()>, LocalId) -> u64 + Sync,
    ) -> Result<()> {
        let (out, into, lost) = (self.out_edges.rows(), self.in_edges.rows(), &self.lost);
        parallel::for_each_index(lost.num_proxies(), |proxy| {
            let proxy = LocalId(proxy as u32);
            let mine = count(into, proxy) * IN_EDGE + count(out, proxy) * OUT_EDGE;
            if mine > 0 {
                lost.put(proxy, mine);
                lost.updated().insert(proxy);
            }
        });
        substrate.reduce(&mut self.lost, End::Either)?;
        let lost = self.lost.cells();
        self.left = parallel::generate(self.left.len(), |master| {
            let master = LocalId(master as u32);
            let left = lost.get(master);
            lost.put(master, 0);
            left
        });
        self.lost.updated().remove_range(0..self.left.len() as u32);
        Ok(())
    }

    /// Removes all masters that can be trimmed.
    fn trim_all(&self) {
        parallel::for_each_index(self.left.len(), |master| self.try_trim(LocalId(master as u32)));
    }

    /// Whether this host knows a vertex as removed.
    pub(super) fn is_gone(&self, proxy: LocalId) -> bool {
        self.gone.get(proxy) == 1
    }

    /// In-edges and out-edges that a master has left.
    pub(super) fn edges_left(&self, master: LocalId) -> (u64, u64) {
        let left = self.left[master.index()];
        (left % OUT_EDGE, left / OUT_EDGE)
    }

    /// Removes a master whose component was found. The caller must then [`recount`].
    ///
    /// [`recount`]: RemainingGraph::recount
    pub(super) fn remove(&self, master: LocalId) {
        if self.gone.fold(master, 1) {
            self.gone.touch(master);
        }
    }

    /// Takes the masters removed by trimming since the last call.
    pub(super) fn take_trimmed(&mut self) -> Vec<LocalId> {
        self.trimmed.drain()
    }

    /// Removes a master without in-edges or without out-edges left.
    fn try_trim(&self, master: LocalId) {
        let (into, out) = self.edges_left(master);
        if (into == 0 || out == 0) && self.gone.fold(master, 1) {
            self.gone.touch(master);
            self.trimmed.insert(master);
        }
    }

    /// Takes the edges of removed vertices off their other ends. Returns the number of edges.
    fn take_edges(&self) -> u64 {
        let (out, into) = (self.out_edges.rows(), self.in_edges.rows());
        let degree = |&vertex: &LocalId| out.degree(vertex) + into.degree(vertex);
        let edges: u64 = self.frontier.iter().map(degree).sum();
        let lose = |end: LocalId, edge: u64| {
            if self.gone.get(end) == 0 {
                self.lost.fold(end, edge);
                self.lost.updated().insert(end);
            }
        };
        let leave = |&vertex: &LocalId| {
            out.targets(vertex).iter().for_each(|&target| lose(target, IN_EDGE));
            into.targets(vertex).iter().for_each(|&source| lose(source, OUT_EDGE));
        };
        match edges < MIN_PARALLEL_EDGES {
            true => self.frontier.iter().for_each(leave),
            false => self.frontier.par_iter().with_max_len(VERTICES_PER_TASK).for_each(leave),
        }
        edges
    }

    /// Subtracts lost edges of masters; with `only_unshared` only of masters without mirrors.
    fn settle(&mut self, only_unshared: bool) {
        let masters = 0..self.left.len() as u32;
        let mut losing: Vec<LocalId> = self.lost.updated().iter_range(masters).collect();
        if only_unshared {
            losing.retain(|master| !self.shared.contains(master.index()));
        }
        for &master in &losing {
            self.left[master.index()] -= self.lost.get(master);
            self.lost.put(master, 0);
            self.lost.updated().remove_range(master.0..master.0 + 1);
            self.try_trim(master);
        }
    }
}

impl Engine for RemainingGraph<'_> {
    fn compute(&mut self) -> Result<u64> {
        let mut edges = 0;
        while !self.frontier.is_empty() {
            edges += self.take_edges();
            self.settle(true);
            self.frontier = self.gone.drain_active();
        }
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.lost, End::Either),
            Phase::Broadcast => substrate.broadcast(&mut self.gone, End::Either),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        self.settle(false);
        let masters = 0..self.left.len() as u32;
        let changed = self.gone.updated().count_range(masters) as u64;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        self.frontier = self.gone.drain_active();
        Ok(Next::new(!self.frontier.is_empty()))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl Paced for RemainingGraph<'_> {
    fn leave_rounds(&mut self, _: bool) {}
}
