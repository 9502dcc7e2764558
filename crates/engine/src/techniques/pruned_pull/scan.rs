//! Scans: labels of few vertices are spread along in-edges, where no host has turned its edges around.
//!
//! Hosts that have edges by destination pull most labels. What they would push before the first pull are few labels,
//! and after it few edges can still matter. Going through all of these edges, and past those whose source has nothing
//! to spread, costs far less than turning them around, unless it happens often.

use std::ops::Range;

use parton_graph::vertex_set::{Inserter, Members};
use parton_graph::{LocalId, VertexSet, Weight, parallel};
use parton_partition::Partition;

use super::{Candidates, Piece, PrunedPull};
use crate::program::Relaxation;
use crate::state::degrees::estimate_ends;
use crate::state::directions::Directions;
use crate::state::edges::EdgeView;
use crate::state::labels::Labels;
use crate::techniques::VERTICES_PER_TASK;

/// Turning an edge around costs as much as going past this many.
const TURN_COST: u64 = 24;

/// What a host needs to scan its edges.
pub(crate) struct Scans {
    /// The vertices whose labels the next scan spreads.
    pub(crate) sources: VertexSet,
    /// Edges that may be scanned before turning all edges around would have cost less.
    edges_left: u64,
}

impl Scans {
    /// For a host of several that can pull, but would have to turn its edges around to push. Also an estimate of the
    /// degrees that proxies would then have.
    pub(crate) fn new<'a, P: Relaxation>(
        pull: Option<&PrunedPull<'a, P>>,
        program: &P,
        partition: &'a Partition,
    ) -> Option<(Self, Directions<'a, P::Weight>)> {
        let in_edges = match &pull?.edges {
            Candidates::All(edges) => edges.adjacency(),
            Candidates::Left(_) => return None,
        };
        if Directions::<P::Weight>::are_forward_at_hand(partition, program.edges()) {
            return None;
        }
        let degrees = estimate_ends(in_edges, partition.num_proxies());
        let forward = EdgeView::degrees_of_turned(in_edges, &degrees).into();
        let sources = VertexSet::new(partition.num_proxies());
        Some((Scans { sources, edges_left: TURN_COST * in_edges.num_edges() }, forward))
    }

    /// Whether turning edges around would have cost less than the scans so far.
    pub(crate) fn are_too_many(&self) -> bool {
        self.edges_left == 0
    }

    /// Spreads the labels of the sources along all edges that can still matter. Returns the vertices that get better
    /// labels, in parts, each with the number of edges from sources.
    pub(crate) fn spread<P: Relaxation>(
        &mut self,
        pull: &PrunedPull<'_, P>,
        labels: &Labels<'_, P>,
    ) -> Vec<(Vec<LocalId>, u64)> {
        let (found, edges) = match &pull.edges {
            Candidates::All(edges) => {
                let rows = edges.rows();
                let scan = |task: &Range<usize>| {
                    let mut scan = Scan::new(labels, &self.sources);
                    let sources = scan.sources;
                    let vertices = task.start as u32..task.end as u32;
                    rows.each_to(vertices, |end| sources.contains(end), |edge| scan.relax(edge));
                    (scan.found, scan.visited)
                };
                let tasks = parallel::pieces(0..labels.num_masters as usize, VERTICES_PER_TASK);
                (parallel::map(&tasks, scan), edges.num_edges())
            }
            Candidates::Left(pieces) => {
                let scan = |piece: &Piece<P::Weight>| {
                    let mut scan = Scan::new(labels, &self.sources);
                    let sources = scan.sources;
                    let due = piece.each().filter(|(_, source, _)| sources.contains(*source));
                    due.for_each(|edge| scan.relax(edge));
                    (scan.found, scan.visited)
                };
                let edges = pieces.iter().map(|piece| piece.edges.len() as u64).sum();
                (parallel::map(pieces, scan), edges)
            }
        };
        self.edges_left = self.edges_left.saturating_sub(edges);
        self.sources.clear();
        found
    }
}

/// A scan of some destinations, which no other thread has.
struct Scan<'s, 'a, P: Relaxation> {
    labels: &'s Labels<'a, P>,
    sources: Members<'s>,
    updated: Inserter<'s>,
    found: Vec<LocalId>,
    visited: u64,
}

impl<'s, 'a, P: Relaxation> Scan<'s, 'a, P> {
    fn new(labels: &'s Labels<'a, P>, sources: &'s VertexSet) -> Self {
        let updated = labels.field.updated().inserter();
        Scan { labels, sources: sources.members(), updated, found: Vec::new(), visited: 0 }
    }

    /// Spreads the label of the source of an edge to its destination.
    #[inline]
    fn relax(&mut self, (vertex, source, weight): (LocalId, LocalId, P::Weight)) {
        self.visited += 1;
        let cells = self.labels.field.cells();
        let better = self.labels.program.relax(cells.get(source), weight);
        if cells.fold_alone(vertex, better) {
            self.updated.insert_if(vertex, self.labels.field.is_shared());
            if self.found.last() != Some(&vertex) {
                self.found.push(vertex);
            }
        }
    }
}

impl<W: Weight> Piece<W> {
    /// Edges: destination, source and weight.
    fn each(&self) -> impl Iterator<Item = (LocalId, LocalId, W)> {
        let starts = std::iter::once(0).chain(self.rows.iter().map(|(_, end)| *end));
        self.rows.iter().zip(starts).flat_map(|(&(vertex, end), start)| {
            self.edges[start..end].iter().map(move |&(source, weight)| (vertex, source, weight))
        })
    }
}
