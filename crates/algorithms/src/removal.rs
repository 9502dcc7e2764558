//! The engine that removes vertices one after another: a vertex goes when it has too little left, and
//! takes something off its neighbours, which may then go, too.
//!
//! A [`Rule`] says what edges count for and which vertices go: trimming of strongly connected
//! components and the proof of coreness have one each. Inside a host, removal goes on until nothing
//! changes, for masters without mirrors on other hosts.

use parton_engine::{Engine, Next, Paced, Tally};
use parton_graph::bits::BitSet;
use parton_graph::{LocalId, VertexSet, parallel};
use parton_net::HostId;
use parton_partition::{End, Partition};
use parton_sync::reduction::{Max, Sum};
use parton_sync::{CpuField, Delivery, Phase, Result, Substrate};
use rayon::prelude::*;

/// Several threads are faster from this many edges on.
const MIN_PARALLEL_EDGES: u64 = 1 << 11;
/// Vertices per task of a thread.
const VERTICES_PER_TASK: usize = 1 << 8;

/// Which vertices are removed.
pub(crate) trait Rule: Sync {
    /// The end of an edge that loses something when the other end is removed.
    const LOSING_END: End;
    /// The end of an edge whose removal matters to the other.
    const REMOVED_END: End;

    /// Number of edges that [`Rule::take_edges`] visits.
    fn degree(&self, removed: LocalId) -> u64;

    /// Calls `lose` with every neighbour of a removed vertex on this host, and with what it loses.
    fn take_edges(&self, removed: LocalId, lose: impl FnMut(LocalId, u64));

    /// Whether a master goes that has this much left.
    fn goes(&self, master: LocalId, left: u64) -> bool;
}

/// The vertices that are left, and what each has left.
pub(crate) struct Removal<R> {
    rule: R,
    /// What each master has left.
    left: Vec<u64>,
    /// What proxies have lost and their masters have not subtracted yet.
    lost: CpuField<Sum<u64>>,
    /// 1 for a removed vertex.
    gone: CpuField<Max<u32>>,
    /// Masters with mirrors on other hosts.
    shared: BitSet,
    /// Removed proxies whose edges are still to be taken away.
    frontier: Vec<LocalId>,
    /// Masters that the rule has removed since they were last asked for.
    removed: VertexSet,
}

impl<R: Rule> Removal<R> {
    /// All vertices. The caller must then [`count`](Removal::count) what they have.
    pub(crate) fn new(partition: &Partition, rule: R) -> Self {
        let proxies = partition.num_proxies();
        let mut shared = BitSet::new(partition.num_masters());
        for peer in HostId::all(partition.num_hosts()) {
            let masters = partition.routes(peer).masters(End::Either);
            masters.iter().for_each(|master| _ = shared.insert(master.index()));
        }
        Removal {
            rule,
            left: vec![0; partition.num_masters()],
            lost: CpuField::accumulator(proxies),
            gone: CpuField::new(proxies, Delivery::Label, |_| 0),
            shared,
            frontier: Vec::new(),
            removed: VertexSet::new(proxies),
        }
    }

    /// Sets what masters have left, and removes all that go; `count` yields what a proxy has on this host,
    /// among the vertices that are left. Every host must call this.
    pub(crate) fn count(
        &mut self,
        substrate: &mut Substrate<'_>,
        count: impl Fn(&R, &CpuField<Max<u32>>, LocalId) -> u64 + Sync,
    ) -> Result<()> {
        let Removal { rule, lost, gone, .. } = self;
        parallel::for_each_index(lost.num_proxies(), |proxy| {
            let proxy = LocalId(proxy as u32);
            let mine = count(rule, gone, proxy);
            if mine > 0 {
                lost.put(proxy, mine);
                lost.updated().insert(proxy);
            }
        });
        substrate.reduce(lost, End::Either)?;
        let cells = lost.cells();
        self.left = parallel::generate(self.left.len(), |master| {
            let master = LocalId(master as u32);
            let left = cells.get(master);
            cells.put(master, 0);
            left
        });
        self.lost.updated().remove_range(0..self.left.len() as u32);
        parallel::for_each_index(self.left.len(), |master| self.try_remove(LocalId(master as u32)));
        Ok(())
    }

    /// Tells all hosts who has been removed. The caller must then [`count`](Removal::count): after the
    /// removal of many vertices, this is much less work than taking their edges away one by one.
    pub(crate) fn announce(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        substrate.broadcast(&mut self.gone, End::Either)?;
        self.gone.drain_active();
        Ok(())
    }

    /// Whether this host knows a vertex as removed.
    pub(crate) fn is_gone(&self, proxy: LocalId) -> bool {
        self.gone.get(proxy) == 1
    }

    /// What a master has left.
    pub(crate) fn left(&self, master: LocalId) -> u64 {
        self.left[master.index()]
    }

    /// Removes a master, whatever it has left. The caller must then [`announce`](Removal::announce).
    pub(crate) fn remove(&self, master: LocalId) -> bool {
        let is_new = self.gone.fold(master, 1);
        if is_new {
            self.gone.touch(master);
        }
        is_new
    }

    /// Takes the masters that the rule has removed since the last call.
    pub(crate) fn take_removed(&mut self) -> Vec<LocalId> {
        self.removed.drain()
    }

    fn try_remove(&self, master: LocalId) {
        if self.rule.goes(master, self.left(master)) && self.remove(master) {
            self.removed.insert(master);
        }
    }

    /// Takes the edges of removed vertices off their other ends. Returns the number of edges.
    fn take_edges(&self) -> u64 {
        let edges: u64 = self.frontier.iter().map(|&vertex| self.rule.degree(vertex)).sum();
        let leave = |&vertex: &LocalId| {
            self.rule.take_edges(vertex, |end, loss| {
                if self.gone.get(end) == 0 {
                    self.lost.fold(end, loss);
                    self.lost.updated().insert(end);
                }
            });
        };
        match edges < MIN_PARALLEL_EDGES {
            true => self.frontier.iter().for_each(leave),
            false => self.frontier.par_iter().with_max_len(VERTICES_PER_TASK).for_each(leave),
        }
        edges
    }

    /// Subtracts what masters have lost; with `only_unshared` only of masters without mirrors.
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
            self.try_remove(master);
        }
    }
}

impl<R: Rule> Engine for Removal<R> {
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
            Phase::Reduce => substrate.reduce(&mut self.lost, R::LOSING_END),
            Phase::Broadcast => substrate.broadcast(&mut self.gone, R::REMOVED_END),
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

impl<R: Rule> Paced for Removal<R> {
    fn leave_rounds(&mut self, _: bool) {}
}
