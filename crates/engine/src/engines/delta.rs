//! Delta-stepping (Meyer, Sanders 2003) with bucket fusion (GraphIt, CGO'20): labels are spread in the order
//! of their buckets, so that few relaxations are redundant.
//!
//! Before an exchange each host works off as many buckets as promise to be right ([`BucketWindow`]), and never
//! many edges where hosts do not wait for each other. A host that is alone works off all buckets.
//!
//! Within a bucket the order does not matter: threads take pieces of it, and each keeps what it improves in
//! buckets of its own. What falls back into the current bucket a thread works off right away as long as it
//! is little, without a barrier (bucket fusion).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use parton_graph::LocalId;
use parton_partition::Partition;
use parton_sync::{Phase, Reduction, Result, Substrate, Tally};

use super::traversal::{LargeFrontier, Traversal};
use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::Relaxation;
use crate::registry::{BuildEngine, EngineInfo, Programs, RelaxationEngine};
use crate::state::labels::Labels;
use crate::techniques::bucket_window::{BucketWindow, WorkedOff};
use crate::techniques::pruned_pull::PrunedPull;

/// Vertices that a thread takes at a time.
const VERTICES_PER_TASK: usize = 128;
/// Vertices that a thread puts into buckets at a time.
const VERTICES_PER_FILLING: usize = 1 << 11;
/// A bucket with fewer vertices is left to one thread.
const MIN_VERTICES_TO_SHARE: usize = 500;

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
        let pruned_pull = PrunedPull::new(program, partition);
        Ok(Box::new(DeltaStepping::new(program, partition, pruned_pull)))
    }
}

/// A relaxation on one host, in buckets.
struct DeltaStepping<'a, P: Relaxation> {
    traversal: Traversal<'a, P>,
    pruned_pull: Option<PrunedPull<'a, P>>,
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
    fn new(
        program: &'a P,
        partition: &'a Partition,
        pruned_pull: Option<PrunedPull<'a, P>>,
    ) -> Self {
        DeltaStepping {
            traversal: Traversal::new(program, partition),
            pruned_pull,
            pulls: false,
            buckets: ThreadBuckets::default(),
            window: BucketWindow::default(),
            has_more: false,
            edges_ahead: 0,
        }
    }
}

/// Vertices by bucket. A vertex may be in several; the bucket of its label is the one that counts.
#[derive(Default)]
struct Buckets(Vec<Vec<LocalId>>);

impl Buckets {
    #[inline]
    fn bucket(&mut self, bucket: usize) -> &mut Vec<LocalId> {
        if bucket >= self.0.len() {
            self.0.resize_with(bucket + 1, Vec::new);
        }
        &mut self.0[bucket]
    }

    #[inline]
    fn put(&mut self, bucket: usize, vertex: LocalId) {
        self.bucket(bucket).push(vertex);
    }

    /// The first bucket from `from` on that is not empty.
    fn next(&self, from: usize) -> Option<usize> {
        let rest = self.0.get(from..)?;
        Some(from + rest.iter().position(|bucket| !bucket.is_empty())?)
    }

    /// Takes what a bucket holds, if that is little but not nothing.
    fn take_little(&mut self, bucket: usize) -> Option<Vec<LocalId>> {
        let held = self.0.get_mut(bucket)?;
        (1..MIN_VERTICES_TO_SHARE).contains(&held.len()).then(|| std::mem::take(held))
    }

    /// Relaxes the edges of those vertices whose labels belong into the bucket. Returns the number of edges
    /// visited.
    fn relax<P: Relaxation, const EXCLUSIVE: bool>(
        &mut self,
        labels: &Labels<'_, P>,
        bucket: usize,
        vertices: &[LocalId],
    ) -> u64 {
        let bucket_of = |label| labels.program.bucket(label);
        // A vertex that has moved to an earlier bucket was relaxed there.
        let is_due = |label| bucket_of(label) == bucket;
        labels.relax_edges_of::<EXCLUSIVE>(vertices, is_due, |vertex, label| {
            if labels.has_edges(vertex) {
                self.put(bucket_of(label), vertex);
            }
        })
    }

    /// Works off what falls back into the bucket meanwhile.
    fn fuse<P: Relaxation, const EXCLUSIVE: bool>(
        &mut self,
        labels: &Labels<'_, P>,
        bucket: usize,
    ) -> u64 {
        let mut edges = 0;
        while let Some(again) = self.take_little(bucket) {
            edges += self.relax::<P, EXCLUSIVE>(labels, bucket, &again);
        }
        edges
    }
}

/// The buckets of each thread.
#[derive(Default)]
struct ThreadBuckets(Vec<Mutex<Buckets>>);

impl ThreadBuckets {
    fn of(&self, thread: usize) -> MutexGuard<'_, Buckets> {
        locked(&self.0[thread])
    }

    /// The first bucket of any thread from `from` on that is not empty.
    fn next(&self, from: usize) -> Option<usize> {
        self.0.iter().filter_map(|buckets| locked(buckets).next(from)).min()
    }

    /// Takes what each thread has in a bucket.
    fn take(&self, bucket: usize) -> Vec<Vec<LocalId>> {
        let held = |buckets: &Mutex<Buckets>| {
            locked(buckets).0.get_mut(bucket).map(std::mem::take).unwrap_or_default()
        };
        self.0.iter().map(held).collect()
    }

    /// Gives back what was taken.
    fn put_back(&self, bucket: usize, lists: Vec<Vec<LocalId>>) {
        for (buckets, list) in self.0.iter().zip(lists) {
            *locked(buckets).bucket(bucket) = list;
        }
    }

    /// The best label that belongs into the bucket its vertex is in.
    fn best<P: Relaxation>(&self, labels: &Labels<'_, P>) -> P::Label {
        let buckets: Vec<_> = self.0.iter().map(locked).collect();
        let num_buckets = buckets.iter().map(|buckets| buckets.0.len()).max().unwrap_or(0);
        let identity = P::Reduction::identity();
        let of_bucket = |bucket| {
            let all = buckets.iter().filter_map(|buckets| buckets.0.get(bucket)).flatten();
            let is_due = |vertex: &LocalId| labels.program.bucket(labels.get(*vertex)) == bucket;
            labels.best_of(all.copied().filter(is_due))
        };
        (0..num_buckets).map(of_bucket).find(|best| *best != identity).unwrap_or(identity)
    }
}

fn locked(buckets: &Mutex<Buckets>) -> MutexGuard<'_, Buckets> {
    buckets.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (done, last_bucket) = self.work_off(first);
        self.window.close_round(done, last_bucket as u64);
        let next = self.buckets.next(last_bucket);
        self.has_more = next.is_some();
        if let Some(bucket) = next {
            let ahead = self.buckets.0.iter().map(|buckets| {
                locked(buckets).0.get(bucket).map_or(0, |vertices| self.estimate_edges(vertices))
            });
            self.edges_ahead = ahead.sum();
        }
        done.edges
    }

    /// Sorts the frontier, and what a pull has found, into buckets. Each thread fills its own.
    fn fill_buckets(&mut self) {
        self.traversal.list_frontier();
        self.buckets.0.resize_with(self.traversal.helpers.num_threads(), Mutex::default);
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

    /// Works off buckets from this one on until it is time for an exchange. Returns the last of them, too.
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
            let edges_ahead = || batch.iter().map(|list| self.estimate_edges(list)).sum();
            let should_end = |pull: &PrunedPull<'_, P>| pull.should_end_round(edges_ahead());
            if done.edges > 0 && is_much && self.pruned_pull.as_ref().is_some_and(should_end) {
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
        match phase {
            Phase::Reduce if self.pulls => Ok(()),
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
