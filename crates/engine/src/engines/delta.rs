//! Delta-stepping (Meyer, Sanders 2003) with bucket fusion (GraphIt, CGO'20): labels are spread in the order
//! of their buckets, so that few relaxations are redundant.
//!
//! Before an exchange each host works off as many buckets as promise to be right ([`BucketWindow`]), and never
//! many edges where hosts do not wait for each other. A host that is alone works off all buckets.
//!
//! Within a bucket the order does not matter: threads take pieces of it, and each keeps what it improves in
//! buckets of its own. What falls back into the current bucket a thread works off right away as long as it
//! is little, without a barrier (bucket fusion).
//!
//! Hosts that have edges by destination alone pull most labels, and scan their edges to spread the few others. They
//! turn edges around only if scans become many.

mod buckets;

use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::LocalId;
use parton_partition::Partition;
use parton_sync::{Phase, Reduction, Result, Substrate, Tally};

use self::buckets::{MIN_VERTICES_TO_SHARE, ThreadBuckets};
use super::traversal::{LargeFrontier, Traversal};
use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::Relaxation;
use crate::registry::{BuildEngine, EngineInfo, Programs, RelaxationEngine};
use crate::state::directions::Directions;
use crate::techniques::bucket_window::{BucketWindow, WorkedOff};
use crate::techniques::pruned_pull::{PrunedPull, Scans};

/// Vertices that a thread takes at a time.
const VERTICES_PER_TASK: usize = 128;
/// Vertices that a thread puts into buckets at a time.
const VERTICES_PER_FILLING: usize = 1 << 11;

/// Builds the engine.
pub(super) struct Delta;

impl BuildEngine for Delta {
    const INFO: EngineInfo =
        EngineInfo { name: "delta", about: "nearest labels first, in buckets" };
    const FITS: Programs = Programs::Adding;

    fn relaxation<'a, P: Relaxation>(
        program: &'a P,
        partition: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        Ok(Box::new(DeltaStepping::new(program, partition)))
    }
}

/// A relaxation on one host, in buckets.
struct DeltaStepping<'a, P: Relaxation> {
    partition: &'a Partition,
    traversal: Traversal<'a, P>,
    pruned_pull: Option<PrunedPull<'a, P>>,
    /// What spreads labels as long as edges are not turned around; `None` where rows of their sources are at hand.
    scans: Option<Scans>,
    /// Whether the current round pulls: then mirrors have nothing for their masters.
    pulls: bool,
    buckets: ThreadBuckets,
    window: BucketWindow,
    /// Whether vertices are left in later buckets,
    has_more: bool,
    /// and an estimate of the edges that leave the first of these, where a pull could replace it.
    edges_ahead: u64,
}

impl<'a, P: Relaxation> DeltaStepping<'a, P> {
    fn new(program: &'a P, partition: &'a Partition) -> Self {
        let pruned_pull = PrunedPull::new(program, partition);
        let (scans, traversal) = match Scans::new(pruned_pull.as_ref(), program, partition) {
            None => (None, Traversal::new(program, partition)),
            Some((scans, forward)) => {
                let proxies = partition.num_proxies();
                (Some(scans), Traversal::along(forward, program, partition, proxies))
            }
        };
        DeltaStepping {
            partition,
            traversal,
            pruned_pull,
            scans,
            pulls: false,
            buckets: ThreadBuckets::default(),
            window: BucketWindow::default(),
            has_more: false,
            edges_ahead: 0,
        }
    }
}

impl<P: Relaxation> DeltaStepping<'_, P> {
    /// Works off buckets until it is time for an exchange.
    fn step(&mut self) -> u64 {
        self.edges_ahead = 0;
        let pulled = self.pruned_pull.as_mut().and_then(|pull| pull.pull(&self.traversal.labels));
        if let Some(edges) = pulled {
            self.buckets = ThreadBuckets::default();
            self.has_more = self.found_edges() > 0;
            return edges;
        }
        self.fill_buckets();
        let Some(first) = self.buckets.next(0) else {
            self.has_more = false;
            return 0;
        };
        let (done, last_bucket) = match self.scans.is_some() {
            true => self.scan(first),
            false => self.work_off(first),
        };
        self.window.close_round(done, last_bucket as u64);
        let next = self.buckets.next(first);
        self.has_more = next.is_some();
        if let Some(bucket) = next {
            self.edges_ahead =
                self.buckets.sum_of(bucket, |vertices| self.estimate_edges(vertices));
        }
        done.edges
    }

    /// Sorts the frontier, and what a pull has found, into buckets. Each thread fills its own.
    fn fill_buckets(&mut self) {
        self.traversal.list_frontier();
        self.buckets.resize(self.traversal.helpers.num_threads());
        let found = self.pruned_pull.as_mut().map(PrunedPull::take_found).unwrap_or_default();
        let Traversal { labels, frontier, helpers, .. } = &self.traversal;
        let lists: Vec<&[LocalId]> =
            found.iter().map(Vec::as_slice).chain([frontier.vertices()]).collect();
        let fill = |thread, pieces: &mut dyn Iterator<Item = &[LocalId]>| {
            let mut buckets = self.buckets.of(thread);
            for &vertex in pieces.flatten() {
                buckets.put(labels.program.bucket(labels.get(vertex)), vertex);
            }
        };
        let is_much = lists.iter().map(|list| list.len()).sum::<usize>() >= VERTICES_PER_FILLING;
        match is_much && !helpers.is_empty() {
            true => helpers.share_out(&lists, VERTICES_PER_FILLING, |thread, mut pieces| {
                fill(thread, &mut pieces);
            }),
            false => fill(0, &mut lists.iter().copied()),
        }
    }

    /// Works off buckets from this one on until it is time for an exchange.
    fn work_off(&self, first: usize) -> (WorkedOff, usize) {
        let Traversal { labels, round, helpers, .. } = &self.traversal;
        let end = match labels.is_alone() {
            true => usize::MAX,
            false => first.saturating_add(self.window.num_buckets() as usize),
        };
        let (mut done, mut last_bucket) = (WorkedOff::default(), first);
        // Labels only grow along edges, so nothing falls back behind the current bucket.
        while let Some(bucket) = self.buckets.next(last_bucket).filter(|bucket| *bucket < end)
            && !round.is_over(done.edges)
        {
            last_bucket = bucket;
            let batch = self.buckets.take(bucket);
            let is_much = batch.iter().map(Vec::len).sum::<usize>() >= MIN_VERTICES_TO_SHARE;
            if is_much && self.should_end_before(&batch, done.edges) {
                self.buckets.put_back(bucket, batch);
                break;
            }
            let visited = if is_much && !helpers.is_empty() {
                self.relax_by_all(bucket, &batch)
            } else {
                let mut buckets = self.buckets.of(0);
                let lists = batch.iter().map(|list| buckets.relax::<P, true>(labels, bucket, list));
                lists.sum::<u64>() + buckets.fuse::<P, true>(labels, bucket)
            };
            self.window.count(&mut done, bucket as u64, visited);
        }
        (done, last_bucket)
    }

    /// Whether hosts should compare costs before this batch, if they have visited edges in this round.
    fn should_end_before(&self, batch: &[Vec<LocalId>], visited: u64) -> bool {
        let edges_ahead = || batch.iter().map(|list| self.estimate_edges(list)).sum();
        let should_end = |pull: &PrunedPull<'_, P>| pull.should_end_round(edges_ahead());
        visited > 0 && self.pruned_pull.as_ref().is_some_and(should_end)
    }

    /// Works off buckets from this one on, all at once, without rows of their sources.
    fn scan(&mut self, first: usize) -> (WorkedOff, usize) {
        let Some(mut scans) = self.scans.take() else { return self.work_off(first) };
        let labels = &self.traversal.labels;
        let (forward, bucket_of) = (labels.forward.rows(), |label| labels.program.bucket(label));
        let end = first.saturating_add(self.window.num_buckets() as usize);
        let (mut due_edges, mut last_bucket) = (WorkedOff::default(), first);
        while let Some(bucket) = self.buckets.next(first).filter(|bucket| *bucket < end) {
            let batch = self.buckets.take(bucket);
            if self.should_end_before(&batch, due_edges.edges) {
                self.buckets.put_back(bucket, batch);
                break;
            }
            last_bucket = bucket;
            let is_due = |vertex: &LocalId| bucket_of(labels.get(*vertex)) == bucket;
            let due = batch.into_iter().flatten().filter(is_due);
            let is_new = |vertex: &LocalId| scans.sources.insert_alone(*vertex);
            let edges = due.filter(is_new).map(|vertex| forward.degree(vertex)).sum::<u64>();
            self.window.count(&mut due_edges, bucket as u64, edges);
        }
        let mut done = WorkedOff { edges: 0, ..due_edges };
        if let Some(pull) = &self.pruned_pull {
            let mut buckets = self.buckets.of(0);
            for (found, visited) in scans.spread(pull, labels) {
                done.edges += visited;
                for vertex in found.into_iter().filter(|vertex| labels.has_edges(*vertex)) {
                    buckets.put(bucket_of(labels.get(vertex)), vertex);
                }
            }
        }
        match scans.are_too_many() {
            true => self.turn_edges(),
            false => self.scans = Some(scans),
        }
        (done, last_bucket)
    }

    /// Makes rows of sources, so that labels need no more scans.
    fn turn_edges(&mut self) {
        let edges = self.traversal.labels.program.edges();
        self.traversal.labels.forward = Directions::forward(self.partition, edges);
        self.scans = None;
    }

    fn relax_by_all(&self, bucket: usize, batch: &[Vec<LocalId>]) -> u64 {
        let Traversal { labels, helpers, .. } = &self.traversal;
        let edges = AtomicU64::new(0);
        helpers.share_out(batch, VERTICES_PER_TASK, |thread, pieces| {
            let mut buckets = self.buckets.of(thread);
            let relaxed = pieces.map(|piece| buckets.relax::<P, false>(labels, bucket, piece));
            let visited = relaxed.sum::<u64>() + buckets.fuse::<P, false>(labels, bucket);
            edges.fetch_add(visited, Ordering::Relaxed);
        });
        edges.into_inner()
    }

    /// An estimate of the edges that leave these vertices; 0 if no pull can replace spreading.
    fn estimate_edges(&self, vertices: &[LocalId]) -> u64 {
        let labels = &self.traversal.labels;
        self.pruned_pull.as_ref().map_or(0, |pull| pull.estimate_edges(labels, vertices))
    }

    /// Number of edges that leave what the last pull found.
    fn found_edges(&self) -> u64 {
        self.pruned_pull.as_ref().map_or(0, PrunedPull::found_edges)
    }
}

impl<P: Relaxation> Engine for DeltaStepping<'_, P> {
    fn prepare(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        if !substrate.partition().is_beside_devices() {
            self.pruned_pull = PrunedPull::for_all_hosts(self.pruned_pull.take(), substrate.net())?;
        }
        if self.pruned_pull.is_none() && self.scans.is_some() {
            self.turn_edges();
        }
        Ok(())
    }

    fn compute(&mut self) -> Result<u64> {
        self.pulls = self.pruned_pull.as_ref().is_some_and(PrunedPull::is_agreed);
        // Hosts that do not wait for each other pass by here without a frontier, too.
        let is_idle = self.traversal.frontier.is_empty() && !self.has_more && !self.pulls;
        let edges = if is_idle { 0 } else { self.step() };
        self.traversal.round.close_round();
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        let labels = &mut self.traversal.labels;
        match (phase, &mut self.pruned_pull) {
            (Phase::Reduce, _) if self.pulls => Ok(()),
            (Phase::Broadcast, Some(pull)) if pull.narrows_broadcasts() => {
                pull.broadcast(labels, labels.program.edges().read(), substrate)
            }
            _ => self.traversal.exchange(phase, substrate),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        Ok(self.traversal.tally())
    }

    fn next(&mut self) -> Result<Next> {
        let may_prune = self.pruned_pull.is_some() && self.traversal.round.in_rounds();
        let large = if may_prune { LargeFrontier::Pruned } else { LargeFrontier::Listed };
        self.traversal.advance(1, large);
        let frontier = &self.traversal.frontier;
        Ok(Next {
            is_active: !frontier.is_empty() || self.has_more,
            frontier_edges: frontier.num_edges() + self.found_edges() + self.edges_ahead,
        })
    }

    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        let conclusion = Conclusion::when_idle(total);
        let DeltaStepping { traversal, pruned_pull, buckets, .. } = self;
        if let Some(pull) = pruned_pull.as_mut().filter(|_| !conclusion.has_ended) {
            let best = |pull: &PrunedPull<'_, P>| {
                let others = [pull.best_found(), buckets.best(&traversal.labels)];
                others.into_iter().fold(traversal.best_of_frontier(), P::Reduction::combine)
            };
            pull.agree(&traversal.labels, total.frontier_edges, substrate.net(), best)?;
            pull.tell_mirrors(&mut traversal.labels, substrate)?;
        }
        Ok(conclusion)
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl<P: Relaxation> Paced for DeltaStepping<'_, P> {
    fn shorten_first_rounds(&mut self) {
        self.traversal.round.shorten();
    }

    fn leave_rounds(&mut self, _: bool) {
        if self.scans.is_some() {
            self.turn_edges();
        }
        // Buckets are an order of their own: nothing is throttled.
        self.traversal.leave_rounds(false);
        if let Some(pull) = self.pruned_pull.as_mut().filter(|_| !self.traversal.labels.is_alone())
        {
            pull.leave_rounds();
        }
    }
}

impl<P: Relaxation> RelaxationEngine<P> for DeltaStepping<'_, P> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        Ok(self.traversal.labels.of_masters())
    }
}
