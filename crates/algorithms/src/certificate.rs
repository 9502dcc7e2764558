//! Proof that the labels of a relaxation are right, without other labels to compare with.
//!
//! Labels are the least fixed point if and only if
//!
//! 1. no vertex has a worse label than it starts with,
//! 2. no edge can improve the label at its other end, and
//! 3. every label is *grounded*: it is the vertex's first, or follows along a chain of edges from
//!    one that is. Without this, vertices on a cycle of weight 0 could vouch for each other.
//!
//! The first two take one look at every edge. The third is a search over *tight* edges, those that
//! give exactly the label at their other end, from the vertices with their first label.

use parton_engine::ways::Ways;
use parton_engine::{Engine, Limits, Pacing, Relaxation, Tally, run};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::{Latest, Max};
use parton_sync::{CpuField, Delivery, Field, Reduction};
use rayon::prelude::*;

use crate::algorithm::Job;
use crate::error::Result;

/// What is wrong with labels of this host's masters, if anything. Every host must call this, and
/// all get the same verdict.
pub fn relaxation<P: Relaxation>(
    job: &mut Job<'_, '_>,
    program: &P,
    masters: &[P::Label],
) -> Result<Option<String>> {
    let partition = job.substrate.partition();
    let mut known =
        CpuField::<Latest<P::Label>>::new(partition.num_proxies(), Delivery::Label, |proxy| {
            masters.get(proxy.index()).copied().unwrap_or_default()
        });
    known.updated().insert_range(0..masters.len() as u32);
    // Both ends of every edge are compared.
    job.substrate.broadcast(&mut known, End::Either)?;
    let mut proof = Proof::new(program, partition, &known);
    let bad_starts = proof.bad_starts();
    let improvable = proof.improvable();
    run(&mut proof, job.substrate, Pacing::default(), Limits::default(), &mut ())?;
    let ungrounded = proof.ungrounded();
    let mine = [bad_starts, improvable, ungrounded];
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

/// The search for grounded labels.
struct Proof<'a, P: Relaxation> {
    program: &'a P,
    partition: &'a Partition,
    labels: &'a CpuField<Latest<P::Label>>,
    ways: Ways<'a, P::Weight>,
    /// 1 where the label is grounded.
    grounded: CpuField<Max<u32>>,
    frontier: Vec<LocalId>,
}

impl<'a, P: Relaxation> Proof<'a, P> {
    fn new(
        program: &'a P,
        partition: &'a Partition,
        labels: &'a CpuField<Latest<P::Label>>,
    ) -> Self {
        let is_first = |proxy| {
            program.start(partition.global(proxy)).is_some_and(|first| first == labels.get(proxy))
        };
        let grounded = CpuField::new(partition.num_proxies(), Delivery::Label, |proxy| {
            u32::from(is_first(proxy))
        });
        for proxy in (0..partition.num_proxies() as u32).map(LocalId) {
            if grounded.get(proxy) == 1 {
                grounded.active().insert(proxy);
            }
        }
        let ways = Ways::whole(partition, program.edges());
        Proof { program, partition, labels, ways, grounded, frontier: Vec::new() }
    }

    fn masters(&self) -> impl ParallelIterator<Item = LocalId> {
        (0..self.partition.num_masters() as u32).into_par_iter().map(LocalId)
    }

    fn bad_starts(&self) -> u64 {
        let is_worse = |&master: &LocalId| {
            let label = self.labels.get(master);
            let first = self.program.start(self.partition.global(master));
            first.is_some_and(|first| P::Reduction::combine(label, first) != label)
        };
        self.masters().filter(is_worse).count() as u64
    }

    fn improvable(&self) -> u64 {
        let identity = P::Reduction::identity();
        let proxies = (0..self.partition.num_proxies() as u32).into_par_iter().map(LocalId);
        let improves = |source: LocalId| {
            let label = self.labels.get(source);
            if label == identity {
                return 0;
            }
            let mut count = 0;
            self.ways.rows().each(
                source,
                |_| (),
                |target, weight| {
                    let there = self.labels.get(target);
                    let better = P::Reduction::combine(there, self.program.relax(label, weight));
                    count += u64::from(better != there);
                },
            );
            count
        };
        proxies.map(improves).sum()
    }

    fn ungrounded(&self) -> u64 {
        let identity = P::Reduction::identity();
        let lacks = |&master: &LocalId| {
            self.labels.get(master) != identity && self.grounded.get(master) == 0
        };
        self.masters().filter(lacks).count() as u64
    }
}

impl<P: Relaxation> Engine for Proof<'_, P> {
    fn compute(&mut self) -> u64 {
        let mut edges = 0;
        while !self.frontier.is_empty() {
            edges +=
                self.frontier.iter().map(|&vertex| self.ways.rows().degree(vertex)).sum::<u64>();
            self.frontier.par_iter().for_each(|&vertex| {
                let label = self.labels.get(vertex);
                self.ways.rows().each(
                    vertex,
                    |_| (),
                    |target, weight| {
                        let tight = self.program.relax(label, weight) == self.labels.get(target);
                        if tight && self.grounded.fold(target, 1) {
                            self.grounded.touch(target);
                        }
                    },
                );
            });
            self.is_active();
        }
        edges
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.grounded, self.program.edges().written())
    }

    fn apply(&mut self) -> Tally {
        Tally::default()
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.grounded, self.program.edges().read())
    }

    fn is_active(&mut self) -> bool {
        self.frontier = self.grounded.drain_active();
        self.frontier.retain(|&vertex| self.ways.rows().degree(vertex) > 0);
        !self.frontier.is_empty()
    }
}
