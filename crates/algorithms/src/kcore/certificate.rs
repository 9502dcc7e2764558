//! Proof that coreness is right, without other values to compare with.
//!
//! Every vertex claims a *level*. Levels are those of the cores if and only if
//!
//! 1. each vertex has at least as many neighbours of its level or above as its level says: then the
//!    vertices from any level on form a core, and no vertex claims too much; and
//! 2. all vertices of a level can go, one after the other, such that each has at most as many
//!    neighbours left as its level says, where those below are gone and those above are not: then
//!    no vertex claims too little.
//!
//! The second condition is checked by peeling all levels at the same time. Every edge is visited once,
//! on whichever host it is: no host needs all edges of a vertex.

use parton_engine::{EdgeView, Engine, Limits, Next, Pacing, Tally, run};
use parton_graph::{LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::reduction::{Latest, Max, Sum};
use parton_sync::{CpuField, Delivery, Phase, Result as SyncResult, Substrate};
use rayon::prelude::*;

use crate::algorithm::Job;
use crate::error::Result;

/// The claim about a vertex.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    /// Its level.
    pub(super) level: u32,
    /// Whether it claims to have neighbours enough for the level.
    pub(super) is_supported: bool,
    /// Whether it claims that it is not in the next one.
    pub(super) must_go: bool,
}

/// Checks the claims about this host's masters. Returns what is wrong, the same on all hosts. Every host
/// must call this.
pub(super) fn check(job: &mut Job<'_, '_>, claims: &[Claim]) -> Result<Option<String>> {
    let partition = job.substrate.partition();
    let mut levels =
        CpuField::<Latest<u32>>::new(partition.num_proxies(), Delivery::Label, |proxy| {
            claims.get(proxy.index()).map_or(0, |claim| claim.level)
        });
    levels.updated().insert_range(0..claims.len() as u32);
    job.substrate.broadcast(&mut levels, End::Either)?;

    let edges = EdgeView::<()>::new(partition.out_edges());
    let rows = edges.rows();
    let mut peers = CpuField::<Sum<u32>>::accumulator(partition.num_proxies());
    parallel::for_each_index(partition.num_proxies(), |proxy| {
        let proxy = LocalId(proxy as u32);
        let level = levels.get(proxy);
        let others = rows.targets(proxy).iter().filter(|other| levels.get(**other) >= level);
        match others.count() as u32 {
            0 => {}
            count => {
                peers.put(proxy, count);
                peers.update(proxy);
            }
        }
    });
    job.substrate.reduce(&mut peers, End::Source)?;
    let left: Vec<u32> = (0..claims.len() as u32).map(|m| peers.get(LocalId(m))).collect();
    let lacks = |(claim, left): (&Claim, &u32)| claim.is_supported && *left < claim.level;
    let unsupported = claims.iter().zip(&left).filter(|pair| lacks(*pair)).count() as u64;

    let mut proof = PeelingProof::new(claims, partition, &levels, edges, left);
    run(&mut proof, job.substrate, Pacing::default(), Limits::default(), &mut ())?;
    let stuck = proof.stuck();
    let all =
        job.substrate.net().all_reduce([unsupported, stuck], |a, b| [a[0] + b[0], a[1] + b[1]])?;
    let complaints = [
        "vertices have too few neighbours of their core or above",
        "vertices are in a core beyond theirs",
    ];
    let found = all.iter().zip(complaints).find(|(count, _)| **count > 0);
    Ok(found.map(|(count, complaint)| format!("{count} {complaint}")))
}

/// The search for an order in which all vertices can be removed.
struct PeelingProof<'a> {
    claims: &'a [Claim],
    levels: &'a CpuField<Latest<u32>>,
    edges: EdgeView<'a, ()>,
    /// Neighbours left of each master.
    left: Vec<u32>,
    /// Removed neighbours of a proxy that its master has not subtracted yet.
    losses: CpuField<Sum<u32>>,
    /// 1 for a removed vertex.
    gone: CpuField<Max<u32>>,
    frontier: Vec<LocalId>,
}

impl<'a> PeelingProof<'a> {
    fn new(
        claims: &'a [Claim],
        partition: &'a Partition,
        levels: &'a CpuField<Latest<u32>>,
        edges: EdgeView<'a, ()>,
        left: Vec<u32>,
    ) -> Self {
        let losses = CpuField::accumulator(partition.num_proxies());
        let gone = CpuField::new(partition.num_proxies(), Delivery::Label, |_| 0);
        let proof =
            PeelingProof { claims, levels, edges, left, losses, gone, frontier: Vec::new() };
        (0..claims.len() as u32).for_each(|master| proof.settle(LocalId(master)));
        proof
    }

    /// Removes a master with at most as many neighbours left as its level.
    fn settle(&self, master: LocalId) {
        let can_go = self.left[master.index()] <= self.claims[master.index()].level;
        if can_go && self.gone.fold_alone(master, 1) {
            self.gone.touch(master);
        }
    }

    /// Subtracts removed neighbours from those that masters have left.
    fn take_losses(&mut self) {
        for proxy in self.losses.drain_active() {
            if proxy.index() < self.claims.len() {
                self.left[proxy.index()] -= self.losses.get(proxy);
                self.losses.put(proxy, 0);
                self.settle(proxy);
            }
        }
        // Losses of masters are subtracted and need not be sent.
        self.losses.updated().remove_range(0..self.claims.len() as u32);
    }

    fn stuck(&self) -> u64 {
        let is_stuck =
            |(claim, master): &(&Claim, u32)| claim.must_go && self.gone.get(LocalId(*master)) == 0;
        self.claims.iter().zip(0..).filter(is_stuck).count() as u64
    }
}

impl Engine for PeelingProof<'_> {
    fn compute(&mut self) -> SyncResult<u64> {
        let mut edges = 0;
        while !self.frontier.is_empty() {
            let (rows, losses) = (self.edges.rows(), &self.losses);
            edges += self.frontier.iter().map(|&vertex| rows.degree(vertex)).sum::<u64>();
            self.frontier.par_iter().with_min_len(1 << 6).for_each(|&vertex| {
                let level = self.levels.get(vertex);
                for &other in rows.targets(vertex) {
                    if self.levels.get(other) == level && losses.fold(other, 1) {
                        losses.touch(other);
                    }
                }
            });
            self.take_losses();
            self.next()?;
        }
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.losses, End::Destination),
            Phase::Broadcast => substrate.broadcast(&mut self.gone, End::Source),
        }
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        self.take_losses();
        Ok(Tally::default())
    }

    fn next(&mut self) -> SyncResult<Next> {
        self.frontier = self.gone.drain_active();
        self.frontier.retain(|&vertex| self.edges.rows().degree(vertex) > 0);
        Ok(Next::new(!self.frontier.is_empty()))
    }
}
