//! A host's part of a relaxation: one label per proxy, and ways to spread it.

use parton_graph::LocalId;
use parton_graph::bits::BitSet;
use parton_partition::{End, Partition};
use parton_sync::{CpuField, Delivery, Field, Reduction};
use rayon::prelude::*;

use crate::engine::{Engine, Tally};
use crate::engines::Relaxer;
use crate::program::Relaxation;
use crate::strategy::Strategy;
use crate::ways::Ways;

/// Below so many edges threads cost more than they bring.
pub(crate) const FEW_EDGES: u64 = 1 << 13;
/// Vertices that a thread takes at a time where it looks at all.
pub(crate) const PIECE: usize = 1 << 12;

/// Labels of a host's proxies, and the edges they take.
pub struct Relaxing<'a, P: Relaxation> {
    program: &'a P,
    labels: CpuField<P::Reduction>,
    forth: Ways<'a, P::Weight>,
    back: Option<Ways<'a, P::Weight>>,
    num_masters: u32,
    /// What the next round starts from.
    frontier: Vec<LocalId>,
}

impl<'a, P: Relaxation> Relaxing<'a, P> {
    /// Every proxy with its vertex's first label.
    fn new(program: &'a P, partition: &'a Partition, pulls: bool) -> Self {
        let identity = P::Reduction::identity();
        // Every proxy knows its vertex's first label, so nothing is updated yet.
        let labels = CpuField::new(partition.num_proxies(), Delivery::Label, |proxy| {
            program.start(partition.global(proxy)).unwrap_or(identity)
        });
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
        self.frontier.iter().map(|&vertex| self.forth.degree(vertex)).sum()
    }

    /// Number of edges that labels can take.
    pub fn num_edges(&self) -> u64 {
        self.forth.num_edges()
    }

    /// Makes what is active the frontier; whether that is anything.
    pub fn next_frontier(&mut self) -> bool {
        self.frontier = self.labels.active().drain();
        self.frontier.retain(|&vertex| self.forth.degree(vertex) > 0);
        !self.frontier.is_empty()
    }

    /// Spreads the frontier's labels along its edges; whoever gets a better one is active.
    pub fn push(&self, edges: u64) {
        let spread = |&vertex: &LocalId| {
            let label = self.labels.get(vertex);
            self.forth.each(vertex, |neighbour, weight| {
                if self.labels.fold(neighbour, self.program.relax(label, weight)) {
                    self.labels.touch(neighbour);
                }
            });
        };
        if edges < FEW_EDGES {
            self.frontier.iter().for_each(spread);
        } else {
            self.frontier.par_iter().for_each(spread);
        }
    }

    /// Lets every proxy look for better labels in the frontier; how many edges they looked at.
    pub fn pull(&self) -> u64 {
        let back = self.back.as_ref().expect("an engine that pulls says so");
        let identity = P::Reduction::identity();
        let first_wins = self.program.first_wins();
        let mut frontier = BitSet::new(self.labels.num_proxies());
        self.frontier.iter().for_each(|vertex| _ = frontier.insert(vertex.index()));
        let look = |proxy: LocalId| -> u64 {
            let mut label = self.labels.get(proxy);
            if first_wins && label != identity {
                return 0;
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
                there && first_wins
            });
            if label != old {
                self.labels.put(proxy, label);
                self.labels.touch(proxy);
            }
            looked
        };
        let proxies = (0..self.labels.num_proxies() as u32).into_par_iter();
        proxies.with_min_len(PIECE).map(|proxy| look(LocalId(proxy))).sum()
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
}

impl<P: Relaxation, S: Strategy> Relaxer<P> for RelaxingEngine<'_, P, S> {
    fn label(&self, proxy: LocalId) -> P::Label {
        self.host.labels.get(proxy)
    }
}
