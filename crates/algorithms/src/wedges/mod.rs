//! Closed wedges: how many edges join neighbours of a vertex. A wedge is a vertex with two of its
//! neighbours; an edge between the two closes it to a triangle.
//!
//! The engine intersects ordered neighbour lists (the forward algorithm: Schank, Wagner 2005; Latapy
//! 2008). Vertices are ordered by descending degree, and every vertex lists its neighbours that come
//! before it. Lists are short, even those of vertices with very many neighbours. Every triangle is found
//! once, at its last vertex: that list holds the second vertex, and both their lists hold the first.
//!
//! ```text
//! begin      degree order ── lists ── entries that peers need ── lists of mirrors, in batches
//! compute    for every vertex: mark its list, scan the lists of the vertices on it
//! reduce     counts of mirrors
//! ```
//!
//! The list of a vertex is sent once to each host with a later neighbour of it, without entries that
//! occur in no list there.

pub(crate) mod certificate;
mod count;
mod counting;
mod lists;
mod order;

use std::time::Instant;

use parton_engine::device::Device;
use parton_engine::{Conclusion, Engine, EngineInfo, Next, Paced, RunReport, Tally, run};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Sum;
use parton_sync::{CpuField, Phase, Result as SyncResult, Substrate};

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact};
use crate::error::Result;
use crate::neighbours;
use count::Counter;
use counting::Counting;
use lists::{Lists, Remote};
use order::DegreeOrder;

/// Intersects lists of neighbours.
pub(crate) const INTERSECT: EngineInfo = EngineInfo {
    name: "intersect",
    about: "looks for neighbours in common; hosts exchange lists of them",
};

/// The counts of this host's masters.
pub(crate) struct Found {
    /// Edges that join neighbours of each master, every direction counted.
    pub(crate) closed: Vec<u64>,
    /// Number of neighbours of each master.
    pub(crate) degrees: Vec<u32>,
    engine: &'static EngineInfo,
    why: String,
    setup_seconds: f64,
    report: RunReport,
    notes: Vec<String>,
}

impl Found {
    /// The answer with this column and fact.
    pub(crate) fn answer(self, column: Column, fact: (&'static str, Fact)) -> Answer {
        Answer {
            columns: vec![column],
            result: vec![fact],
            engine: self.engine,
            why: self.why,
            setup_seconds: self.setup_seconds,
            report: self.report,
            notes: self.notes,
        }
    }
}

/// Counts the edges between neighbours of every vertex, for this algorithm. Every host must call this.
pub(crate) fn count(job: &mut Job<'_, '_>, algorithm: &dyn Algorithm) -> Result<Found> {
    let (engine, why) = job.engine(algorithm, &INTERSECT, || {
        "lists of those neighbours that have more neighbours themselves".into()
    })?;
    let start = Instant::now();
    let (near, notes) = neighbours::gather(job)?;
    let mut wedges = Wedges::new(near.partition(), near.is_counted(), job.device);
    let setup_seconds = start.elapsed().as_secs_f64();
    let (limits, pacing) = (job.limits(), job.options.pacing);
    let substrate = &mut job.substrate.over(near.partition());
    let report = run(&mut wedges, substrate, pacing, limits, job.watch)?;
    let degrees = degrees_in(near.partition());
    Ok(Found { closed: wedges.closed(), degrees, engine, why, setup_seconds, report, notes })
}

/// Number of neighbours of masters, in either direction. Every host must call this.
pub(crate) fn degrees(job: &mut Job<'_, '_>) -> Result<Vec<u32>> {
    Ok(degrees_in(neighbours::gather(job)?.0.partition()))
}

fn degrees_in(partition: &Partition) -> Vec<u32> {
    let rows = partition.out_edges().offsets().windows(2).take(partition.num_masters());
    rows.map(|ends| (ends[1] - ends[0]) as u32).collect()
}

/// The counting engine on one host, which must hold all edges of its masters.
struct Wedges<'a> {
    partition: &'a Partition,
    /// Whether edges have multiplicities.
    is_weighted: bool,
    order: DegreeOrder,
    lists: Lists,
    remote: Option<Remote>,
    device: Option<&'a dyn Device>,
    counting: Counting<'a>,
    /// Counts of mirrors, for their masters.
    found: CpuField<Sum<u64>>,
    totals: Vec<u64>,
    has_begun: bool,
    has_published: bool,
}

impl<'a> Wedges<'a> {
    fn new(partition: &'a Partition, is_weighted: bool, device: Option<&'a dyn Device>) -> Self {
        Wedges {
            partition,
            is_weighted,
            order: DegreeOrder::default(),
            lists: Lists::default(),
            remote: None,
            device,
            counting: Counting::Threads(Counter::default()),
            found: CpuField::accumulator(partition.num_proxies()),
            totals: vec![0; partition.num_masters()],
            has_begun: false,
            has_published: false,
        }
    }

    /// Edges between neighbours, every direction counted.
    fn closed(&self) -> Vec<u64> {
        // Without multiplicities, every edge exists in both directions.
        let directions = if self.is_weighted { 1 } else { 2 };
        self.totals.iter().map(|&total| directions * total).collect()
    }

    /// Adds the counts of masters to their totals, and marks those of mirrors to be sent.
    fn publish_counts(&mut self) -> SyncResult<()> {
        self.has_published = true;
        let found = self.counting.take()?;
        for (&proxy, &count) in self.order.proxies().iter().zip(&found) {
            if count == 0 {
                continue;
            }
            match self.totals.get_mut(proxy as usize) {
                Some(total) => *total += count,
                None => {
                    self.found.put(LocalId(proxy), count);
                    self.found.update(LocalId(proxy));
                }
            }
        }
        Ok(())
    }

    /// Sends the lists that the other hosts need in the next round, and receives theirs.
    fn exchange_lists(&mut self, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        match &mut self.remote {
            Some(remote) => remote.next_batch(self.partition, &self.order, &self.lists, substrate),
            None => Ok(()),
        }
    }

    fn is_last(&self) -> bool {
        self.remote.as_ref().is_none_or(Remote::is_done)
    }
}

impl Engine for Wedges<'_> {
    fn begin(&mut self, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        self.order = DegreeOrder::new(self.partition, substrate)?;
        self.lists = Lists::new(self.partition, &self.order, self.is_weighted);
        self.counting = Counting::new(
            self.device,
            &self.lists,
            (self.order.len(), self.partition.num_hosts()),
        )?;
        if self.partition.num_hosts() > 1 {
            let (order, lists) = (&self.order, &self.lists);
            self.remote = Some(Remote::new(self.partition, order, lists, substrate)?);
        }
        self.exchange_lists(substrate)
    }

    fn compute(&mut self) -> SyncResult<u64> {
        let batch = self.remote.as_ref().map(Remote::batch);
        let edges = self.counting.run(&self.lists, batch, !self.has_begun)?;
        self.has_begun = true;
        if self.is_last() && !self.has_published {
            self.publish_counts()?;
        }
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> SyncResult<()> {
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.found, End::Destination),
            // Nothing is updated here: no mirror needs the counts of its master.
            Phase::Broadcast => substrate.broadcast(&mut self.found, End::Source),
        }
    }

    fn apply(&mut self) -> SyncResult<Tally> {
        let mut changed = 0;
        for proxy in self.found.drain_active() {
            if let Some(total) = self.totals.get_mut(proxy.index()) {
                *total += self.found.get(proxy);
                self.found.put(proxy, 0);
                changed += 1;
            }
        }
        self.found.updated().remove_range(0..self.totals.len() as u32);
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> SyncResult<Next> {
        Ok(Next::new(!self.is_last()))
    }

    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> SyncResult<Conclusion> {
        let conclusion = Conclusion::when_idle(total);
        if !conclusion.has_ended {
            self.exchange_lists(substrate)?;
        }
        Ok(conclusion)
    }

    fn paced(&mut self) -> SyncResult<&mut dyn Paced, &'static str> {
        Err(NEEDS_ROUNDS)
    }
}

/// The reason why this engine needs rounds.
pub(crate) const NEEDS_ROUNDS: &str = "hosts ask each other for lists of neighbours";
