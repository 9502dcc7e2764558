//! Proof that coreness is right, without other values to compare with.
//!
//! Every vertex claims a *level*. Levels are those of the cores if and only if
//!
//! 1. each vertex of level k has at least k neighbours of level k or above. The vertices from any level on then
//!    form a core, and no vertex claims too much.
//! 2. the vertices of level k can be removed one after the other once all lower levels are gone, and each has at
//!    most k neighbours left when its turn comes. No vertex then claims too little.
//!
//! The second condition is checked by peeling all levels at the same time. Every edge is visited once, by the host
//! that has it: no host needs all edges of a vertex.

use parton_engine::{EdgeView, Limits, Pacing, run};
use parton_graph::LocalId;
use parton_partition::End;
use parton_sync::reduction::Latest;
use parton_sync::{CpuField, Delivery};

use crate::algorithm::Job;
use crate::error::Result;
use crate::removal::{Removal, Rule};

/// The claim about a vertex.
#[derive(Clone, Copy)]
pub(super) struct CoreClaim {
    /// Its level.
    pub(super) level: u32,
    /// Whether it claims to have neighbours enough for the level.
    pub(super) is_supported: bool,
    /// Whether it claims that it is not in the next one.
    pub(super) must_go: bool,
}

/// Checks the claims about this host's masters. Returns what is wrong, the same on all hosts. Every host
/// must call this.
pub(super) fn check(job: &mut Job<'_, '_>, claims: &[CoreClaim]) -> Result<Option<String>> {
    let partition = job.substrate.partition();
    let mut levels =
        CpuField::<Latest<u32>>::new(partition.num_proxies(), Delivery::Label, |proxy| {
            claims.get(proxy.index()).map_or(0, |claim| claim.level)
        });
    levels.updated().insert_range(0..claims.len() as u32);
    job.substrate.broadcast(&mut levels, End::Either)?;

    let rule = PeelingRule { claims, levels, edges: EdgeView::new(partition.out_edges()) };
    let mut proof = Removal::new(partition, rule);
    proof.count(job.substrate, |rule, _, proxy| rule.peers(proxy))?;
    let count = |is_bad: &dyn Fn(&CoreClaim, LocalId) -> bool| {
        claims.iter().zip((0..).map(LocalId)).filter(|(claim, m)| is_bad(claim, *m)).count() as u64
    };
    let unsupported =
        count(&|claim, master| claim.is_supported && proof.left(master) < claim.level.into());
    run(&mut proof, job.substrate, Pacing::default(), Limits::default(), &mut ())?;
    let stuck = count(&|claim, master| claim.must_go && !proof.is_gone(master));
    let all =
        job.substrate.net().all_reduce([unsupported, stuck], |a, b| [a[0] + b[0], a[1] + b[1]])?;
    let complaints = [
        "vertices have too few neighbours of their core or above",
        "vertices are in a core beyond theirs",
    ];
    let found = all.iter().zip(complaints).find(|(count, _)| **count > 0);
    Ok(found.map(|(count, complaint)| format!("{count} {complaint}")))
}

/// A vertex goes that has at most as many neighbours left as its level, not counting those below.
struct PeelingRule<'a> {
    /// Of masters.
    claims: &'a [CoreClaim],
    /// Of all proxies.
    levels: CpuField<Latest<u32>>,
    edges: EdgeView<'a, ()>,
}

impl PeelingRule<'_> {
    /// Neighbours of this level or above, of those on this host.
    fn peers(&self, proxy: LocalId) -> u64 {
        let level = self.levels.get(proxy);
        let others = self.edges.rows().targets(proxy).iter();
        others.filter(|other| self.levels.get(**other) >= level).count() as u64
    }
}

/// Edges are there in both directions: a vertex loses its neighbours where they have their out-edges.
impl Rule for PeelingRule<'_> {
    const LOSING_END: End = End::Destination;
    const REMOVED_END: End = End::Source;

    fn degree(&self, removed: LocalId) -> u64 {
        self.edges.rows().degree(removed)
    }

    fn take_edges(&self, removed: LocalId, mut lose: impl FnMut(LocalId, u64)) {
        let level = self.levels.get(removed);
        for &other in self.edges.rows().targets(removed) {
            if self.levels.get(other) == level {
                lose(other, 1);
            }
        }
    }

    fn goes(&self, master: LocalId, left: u64) -> bool {
        left <= self.claims[master.index()].level.into()
    }
}
