//! A host's part of a relaxation: one label per proxy, and ways to spread it.

use parton_graph::LocalId;
use parton_graph::bits::BitSet;
use parton_partition::{End, Partition};
use parton_sync::{CpuField, Delivery, Field, Reduction, Tally};
use rayon::prelude::*;

use crate::engine::Engine;
use crate::engines::Relaxer;
use crate::program::Relaxation;
use crate::strategy::Strategy;
use crate::ways::Ways;

/// Below so many edges threads cost more than they bring.
pub(crate) const FEW_EDGES: u64 = 1 << 13;
/// Vertices that a thread takes at a time where it looks at all. Threads must not take half of
/// what is left, as they would by themselves: the vertices with most edges come first.
pub(crate) const PIECE: usize = 1 << 12;
/// The same of a frontier.
pub(crate) const FRONTIER_PIECE: usize = 1 << 8;

/// Labels of a host's proxies, and the edges they take.
pub struct Relaxing<'a, P: Relaxation> {
    program: &'a P,
    labels: CpuField<P::Reduction>,
    forth: Ways<'a, P::Weight>,
    back: Option<Ways<'a, P::Weight>>,
    num_masters: u32,
    /// What the next round starts from, and how many edges leave it.
    frontier: Vec<LocalId>,
    frontier_edges: u64,
}

impl<'a, P: Relaxation> Relaxing<'a, P> {
    /// Every proxy with its vertex's first label.
    fn new(program: &'a P, partition: &'a Partition, pulls: bool) -> Self {
        let identity = P::Reduction::identity();
        // Every proxy knows its vertex's first label, so nothing is updated yet.
        let labels = CpuField::new(partition.num_proxies(), Delivery::Label, |proxy| {
            program.start(partition.global(proxy)).unwrap_or(identity)
        });
        let labels = if partition.num_hosts() == 1 { labels.alone() } else { labels };
        let proxies = (0..partition.num_proxies() as u32).map(LocalId);
        for proxy in proxies.filter(|&proxy| labels.get(proxy) != identity) {
            labels.active().insert(proxy);
        }
        Relaxing {
            program,
            labels,
            forth: Ways::forth(partition, program.edges()),
            back: pulls.then(|| Ways::back(partition, program.edges())),
            num_masters: partition.num_masters() as u32,
            frontier: Vec::new(),
            frontier_edges: 0,
        }
    }

    /// The program.
    pub fn program(&self) -> &P {
        self.program
    }

    /// What has a label to spread.
    pub fn frontier(&self) -> &[LocalId] {
        &self.frontier
    }

    /// Number of edges that leave the frontier.
    pub fn frontier_edges(&self) -> u64 {
        self.frontier_edges
    }

    /// Number of edges that labels can take.
    pub fn num_edges(&self) -> u64 {
        self.forth.num_edges()
    }

    /// Makes what is active the frontier; whether that is anything.
    pub fn next_frontier(&mut self) -> bool {
        self.frontier = self.labels.active().drain();
        self.frontier_edges = 0;
        self.frontier.retain(|&vertex| {
            let degree = self.forth.degree(vertex);
            self.frontier_edges += degree;
            degree > 0
        });
        !self.frontier.is_empty()
    }

    /// The label of a proxy.
    #[inline]
    pub fn label(&self, proxy: LocalId) -> P::Label {
        self.labels.get(proxy)
    }

    /// Number of edges that a proxy's label can take.
    #[inline]
    pub fn degree(&self, proxy: LocalId) -> u64 {
        self.forth.degree(proxy)
    }

    /// Spreads a vertex's label along its edges and calls `improved` with whoever gets a better
    /// one. That must be sent; whether it is spread further is up to the caller.
    #[inline]
    pub fn spread(&self, vertex: LocalId, mut improved: impl FnMut(LocalId, P::Label)) {
        let label = self.labels.get(vertex);
        self.forth.each(vertex, |neighbour, weight| {
            let better = self.program.relax(label, weight);
            if self.labels.fold(neighbour, better) {
                self.labels.update(neighbour);
                improved(neighbour, better);
            }
        });
    }

    /// Spreads the frontier's labels; whoever gets a better one is active.
    pub fn push(&self, edges: u64) {
        let spread = |&vertex: &LocalId| {
            self.spread(vertex, |neighbour, _| _ = self.labels.active().insert(neighbour));
        };
        if edges < FEW_EDGES {
            self.frontier.iter().for_each(spread);
        } else {
            self.frontier.par_iter().with_max_len(FRONTIER_PIECE).for_each(spread);
        }
    }

    /// Lets every proxy look for better labels in the frontier; how many edges they looked at.
    pub fn pull(&self) -> u64 {
        let back = self.back.as_ref().expect("an engine that pulls says so");
        let identity = P::Reduction::identity();
        // The best that the frontier can give, where that is known beforehand.
        let best = self.program.first_wins().then(|| {
            let labels = self.frontier.iter().map(|&vertex| self.labels.get(vertex));
            self.program.relax(labels.fold(identity, P::Reduction::combine), P::Weight::default())
        });
        let is_best = |label| best.is_some_and(|best| P::Reduction::combine(label, best) == label);
        let mut frontier = BitSet::new(self.labels.num_proxies());
        self.frontier.iter().for_each(|vertex| _ = frontier.insert(vertex.index()));
        // A better label, if there is one, and how many edges that took.
        let look = |proxy: LocalId| -> (bool, u64) {
            let mut label = self.labels.get(proxy);
            if is_best(label) {
                return (false, 0);
            }
            let old = label;
            let mut looked = 0;
            back.until(proxy, |neighbour, weight| {
                looked += 1;
                let there = frontier.contains(neighbour.index());
                if there {
                    let other = self.program.relax(self.labels.get(neighbour), weight);
                    label = P::Reduction::combine(label, other);
                }
                there && is_best(label)
            });
            if label != old {
                self.labels.put(proxy, label);
            }
            (label != old, looked)
        };
        let proxies = self.labels.num_proxies();
        let words = (0..proxies.div_ceil(64)).into_par_iter().with_max_len(PIECE / 64);
        let look_at_word = |word: usize| -> u64 {
            let (mut better, mut looked) = (0u64, 0);
            for proxy in word * 64..proxies.min((word + 1) * 64) {
                let (found, edges) = look(LocalId(proxy as u32));
                better |= u64::from(found) << (proxy % 64);
                looked += edges;
            }
            self.labels.touch_word(word, better);
            looked
        };
        words.map(look_at_word).sum()
    }
}

/// A relaxation with a way through its edges.
pub(crate) struct RelaxingEngine<'a, P: Relaxation, S> {
    host: Relaxing<'a, P>,
    strategy: S,
}

impl<'a, P: Relaxation, S: Strategy> RelaxingEngine<'a, P, S> {
    pub(crate) fn new(program: &'a P, partition: &'a Partition) -> Self {
        let host = Relaxing::new(program, partition, S::PULLS);
        RelaxingEngine { host, strategy: S::default() }
    }
}

impl<P: Relaxation, S: Strategy> Engine for RelaxingEngine<'_, P, S> {
    fn compute(&mut self) -> u64 {
        self.strategy.relax(&mut self.host)
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.host.labels, self.host.program.edges().written())
    }

    fn apply(&mut self) -> Tally {
        let masters = 0..self.host.num_masters;
        let changed = self.host.labels.updated().iter_range(masters).count() as u64;
        Tally { changed, ..Tally::default() }
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.host.labels, self.host.program.edges().read())
    }

    fn is_active(&mut self) -> bool {
        self.host.next_frontier()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }
}

impl<P: Relaxation, S: Strategy> Relaxer<P> for RelaxingEngine<'_, P, S> {
    fn label(&self, proxy: LocalId) -> P::Label {
        self.host.labels.get(proxy)
    }
}
