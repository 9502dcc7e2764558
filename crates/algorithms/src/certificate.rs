//! Proof that the labels of a relaxation are right, without other labels to compare with.
//!
//! Labels are the least fixed point if and only if
//!
//! 1. no vertex has a worse label than it starts with,
//! 2. no edge can improve the label at its other end, and
//! 3. every label is *grounded*: it is the vertex's first, or follows along a chain of edges from
//!    one that is. Without this, vertices on a cycle of weight 0 could vouch for each other.
//!
//! The first two take one look at every edge. The third is a search over *tight* edges, which
//! give exactly the label at their other end, from the vertices with their first label.

use parton_engine::{Directions, Edges, Limits, Pacing, Relaxation, Vertex, engines, run};
use parton_graph::{LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::cpu_field::Cells;
use parton_sync::reduction::{Latest, Max};
use parton_sync::{CpuField, Delivery, Reduction};

use crate::algorithm::Job;
use crate::error::Result;

/// Checks the labels of this host's masters, and returns what is wrong. Every host must call this, and
/// all get the same verdict.
pub fn relaxation<P: Relaxation>(
    job: &mut Job<'_, '_>,
    program: &P,
    masters: &[P::Label],
) -> Result<Option<String>> {
    let partition = job.substrate.partition();
    let known = at_proxies::<P>(job, masters)?;
    let claimed = Claimed { program, partition, labels: known.cells() };
    let mut search = engines::push_relaxation(None, &claimed, partition)?;
    run(&mut *search, job.substrate, Pacing::default(), Limits::default(), &mut ())?;
    let ungrounded = masters
        .iter()
        .zip(search.labels()?)
        .filter(|&(label, is_grounded)| *label != P::Reduction::identity() && is_grounded == 0);
    let mine = [claimed.bad_starts(), claimed.improvable(), ungrounded.count() as u64];
    let all =
        job.substrate.net().all_reduce(mine, |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]])?;
    let complaints = [
        "vertices are worse off than they started",
        "edges could still improve a vertex",
        "vertices have a value that no path gives",
    ];
    let found = all.iter().zip(complaints).find(|(count, _)| **count > 0);
    Ok(found.map(|(count, complaint)| format!("{count} {complaint}")))
}

/// True if a label has overflowed: an edge leads from a vertex with a label to one without, and gives
/// it none. Every host must call this with the labels of its masters, and all get the same verdict.
pub(crate) fn has_overflow<P: Relaxation>(
    job: &mut Job<'_, '_>,
    program: &P,
    masters: &[P::Label],
) -> Result<bool> {
    let partition = job.substrate.partition();
    let known = at_proxies::<P>(job, masters)?;
    let identity = P::Reduction::identity();
    let claimed = Claimed { program, partition, labels: known.cells() };
    let mine = claimed.count_edges(|there, relaxed| there == identity && relaxed == identity);
    Ok(job.substrate.net().all_reduce(mine, |a, b| a + b)? > 0)
}

/// The labels of masters at all proxies, as both ends of every edge are compared.
fn at_proxies<P: Relaxation>(
    job: &mut Job<'_, '_>,
    masters: &[P::Label],
) -> Result<CpuField<Latest<P::Label>>> {
    let proxies = job.substrate.partition().num_proxies();
    let mut known = CpuField::<Latest<P::Label>>::new(proxies, Delivery::Label, |proxy| {
        masters.get(proxy.index()).copied().unwrap_or_default()
    });
    known.updated().insert_range(0..masters.len() as u32);
    job.substrate.broadcast(&mut known, End::Either)?;
    Ok(known)
}

/// Labels that a run claims to be right, at every proxy. As a relaxation it is the search for grounded
/// labels: 1 spreads along tight edges from the vertices that have their first label.
struct Claimed<'a, P: Relaxation> {
    program: &'a P,
    partition: &'a Partition,
    labels: Cells<'a, Latest<P::Label>>,
}

impl<P: Relaxation> Claimed<'_, P> {
    fn first(&self, proxy: LocalId) -> Option<P::Label> {
        self.program.start(Vertex::new(self.partition.globals(), proxy))
    }

    /// Masters whose label is worse than their first.
    fn bad_starts(&self) -> u64 {
        parallel::sum(self.partition.num_masters(), |master| {
            let master = LocalId(master as u32);
            let label = self.labels.get(master);
            let is_worse = |first| P::Reduction::combine(label, first) != label;
            u64::from(self.first(master).is_some_and(is_worse))
        })
    }

    /// Edges that would improve the label at their other end.
    fn improvable(&self) -> u64 {
        self.count_edges(|there, relaxed| P::Reduction::combine(there, relaxed) != there)
    }

    /// Edges of labelled vertices for which `is_counted` holds, given the label at their other end and
    /// the one that they give.
    fn count_edges(&self, is_counted: impl Fn(P::Label, P::Label) -> bool + Sync) -> u64 {
        let forward =
            Directions::<P::Weight>::forward_of_masters(self.partition, self.program.edges());
        let identity = P::Reduction::identity();
        parallel::sum(self.partition.num_proxies(), |from| {
            let from = LocalId(from as u32);
            let label = self.labels.get(from);
            let mut count = 0;
            if label != identity {
                let mut visit = |to, weight| {
                    let relaxed = self.program.relax(label, weight);
                    count += u64::from(is_counted(self.labels.get(to), relaxed));
                };
                forward.rows().each(from, |_| (), &mut visit);
            }
            count
        })
    }
}

impl<P: Relaxation> Relaxation for Claimed<'_, P> {
    type Label = u32;
    type Reduction = Max<u32>;
    type Weight = P::Weight;

    const FILTERS: bool = true;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        let label = self.labels.get(vertex.local);
        self.first(vertex.local).is_some_and(|first| first == label).then_some(1)
    }

    fn relax(&self, is_grounded: u32, _: P::Weight) -> u32 {
        is_grounded
    }

    fn passes(&self, from: LocalId, to: LocalId, weight: P::Weight) -> bool {
        self.program.relax(self.labels.get(from), weight) == self.labels.get(to)
    }

    fn edges(&self) -> Edges {
        self.program.edges()
    }
}
