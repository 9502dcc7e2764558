//! Spreading the least label inside regions of a graph.

use parton_engine::edges::EdgeView;
use parton_engine::{Edges, Engine, Tally};
use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::reduction::Min;
use parton_sync::{CpuField, Delivery, Field};
use rayon::prelude::*;

/// Below so many edges threads cost more than they bring.
const FEW_EDGES: u64 = 1 << 11;
/// Vertices that a thread takes at a time.
const PIECE: usize = 1 << 8;

/// The region of vertices that take no part.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Labels that spread along edges, in or out, between vertices of the same region. The region of a
/// vertex must be known to all its proxies.
pub(super) struct Spread<'s, 'a> {
    edges: Edges,
    rows: EdgeView<'a, ()>,
    regions: &'s [u32],
    labels: CpuField<Min<u32>>,
    num_masters: u32,
    frontier: Vec<LocalId>,
}

impl<'s, 'a> Spread<'s, 'a> {
    /// Every proxy with the first label that `start` has for it, if any.
    pub(super) fn new(
        partition: &'a Partition,
        edges: Edges,
        regions: &'s [u32],
        start: impl Fn(LocalId) -> Option<u32> + Sync,
    ) -> Self {
        let proxies = partition.num_proxies();
        let first = |proxy: LocalId| start(proxy).filter(|_| regions[proxy.index()] != NOWHERE);
        let labels =
            CpuField::new(proxies, Delivery::Label, |proxy| first(proxy).unwrap_or(u32::MAX));
        let labels = if partition.num_hosts() == 1 { labels.alone() } else { labels };
        (0..proxies as u32).into_par_iter().map(LocalId).for_each(|proxy| {
            if labels.get(proxy) != u32::MAX {
                labels.active().insert(proxy);
            }
        });
        let adjacency = match edges {
            Edges::In => partition.in_edges(),
            Edges::Out | Edges::Both => partition.out_edges(),
        };
        Spread {
            edges,
            rows: EdgeView::new(adjacency),
            regions,
            labels,
            num_masters: partition.num_masters() as u32,
            frontier: Vec::new(),
        }
    }

    /// The label of a master, if one has reached it.
    pub(super) fn label(&self, master: LocalId) -> Option<u32> {
        Some(self.labels.get(master)).filter(|&label| label != u32::MAX)
    }
}

impl Engine for Spread<'_, '_> {
    fn compute(&mut self) -> u64 {
        let mut all = 0;
        while !self.frontier.is_empty() {
            let (rows, labels, regions) = (self.rows.rows(), self.labels.cells(), self.regions);
            let edges: u64 = self.frontier.iter().map(|&vertex| rows.degree(vertex)).sum();
            let tell = |&vertex: &LocalId| {
                let (label, region) = (labels.get(vertex), regions[vertex.index()]);
                rows.each(
                    vertex,
                    |_| (),
                    |end, ()| {
                        if regions[end.index()] == region && labels.fold(end, label) {
                            self.labels.touch(end);
                        }
                    },
                );
            };
            match edges < FEW_EDGES {
                true => self.frontier.iter().for_each(tell),
                false => self.frontier.par_iter().with_max_len(PIECE).for_each(tell),
            }
            all += edges;
            self.is_active();
        }
        all
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.labels, self.edges.written())
    }

    fn apply(&mut self) -> Tally {
        let changed = self.labels.updated().count_range(0..self.num_masters) as u64;
        Tally { changed, ..Tally::default() }
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.labels, self.edges.read())
    }

    fn is_active(&mut self) -> bool {
        self.frontier = self.labels.drain_active();
        let rows = self.rows.rows();
        self.frontier.retain(|&vertex| rows.degree(vertex) > 0);
        !self.frontier.is_empty()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }
}
