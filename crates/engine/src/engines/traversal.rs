//! What all engines of relaxations share: labels, a frontier, and the top-down step.

use std::sync::{Mutex, PoisonError};

use parton_graph::{LocalId, Weight};
use parton_partition::Partition;
use parton_sync::cpu_field::Cells;
use parton_sync::{AtomicValue, Phase, Reduction, Result, Substrate, Tally};

use crate::program::{Relaxation, may_win_first};
use crate::state::directions::{DirectionRows, Directions};
use crate::state::frontier::{Frontier, VertexList};
use crate::state::labels::Labels;
use crate::techniques::bottom_up::best_of_members;
use crate::techniques::helpers::Helpers;
use crate::techniques::round_length::RoundLength;
use crate::techniques::throttle::{Throttle, Throttled};
use crate::techniques::{FRONTIER_VERTICES_PER_TASK, VERTICES_PER_TASK};

/// Below this many edges a step is faster in one thread, even if its helpers are awake.
const MIN_EDGES_PER_STEP: u64 = 1 << 9;
/// Edges of one vertex that a thread takes at a time where few vertices have many edges,
const EDGES_PER_PIECE: usize = 1 << 11;
/// and pieces of rows that it takes at a time.
const PIECES_PER_TASK: usize = 4;
/// More edges than this for each vertex are many.
const MIN_EDGES_OF_LONG_ROW: u64 = 1 << 6;
/// A frontier with more than one in this many vertices may be left a set.
const VERTICES_PER_LARGE_FRONTIER: usize = 8;

/// What an engine does with a frontier that has too many members to be worth listing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LargeFrontier {
    /// Lists it all the same.
    Listed,
    /// Leaves it a set: the next step is bottom-up.
    Pulled,
    /// Leaves it a set: the next step may be a pruned pull.
    Pruned,
}

/// A relaxation on one host.
pub(super) struct Traversal<'a, P: Relaxation> {
    pub(super) labels: Labels<'a, P>,
    pub(super) frontier: Frontier,
    pub(super) round: RoundLength,
    /// Holds labels back where hosts do not wait for each other.
    throttle: Option<Throttle<P::Label>>,
    /// Threads for steps that are too short for the pool.
    pub(super) helpers: Helpers,
}

impl<'a, P: Relaxation> Traversal<'a, P> {
    /// Labels that travel along the host's own edges.
    pub(super) fn new(program: &'a P, partition: &'a Partition) -> Self {
        let forward = Directions::forward(partition, program.edges());
        Self::along(forward, program, partition, partition.num_proxies())
    }

    /// Labels that travel along `forward`, in which only the first `rows_end` proxies have edges.
    pub(super) fn along(
        forward: Directions<'a, P::Weight>,
        program: &'a P,
        partition: &'a Partition,
        rows_end: usize,
    ) -> Self {
        Traversal {
            labels: Labels::new(program, partition, forward, rows_end),
            frontier: Frontier::new(partition.num_proxies()),
            round: RoundLength::unlimited(),
            throttle: None,
            helpers: Helpers::of_pool(),
        }
    }

    /// Number of edges that labels can travel along.
    pub(super) fn num_edges(&self) -> u64 {
        self.labels.forward.num_edges()
    }

    /// Makes the active vertices the frontier, or some of them, but at least `min_labels`, where labels
    /// are held back.
    pub(super) fn advance(&mut self, min_labels: usize, large: LargeFrontier) {
        let Traversal { labels, frontier, throttle, .. } = self;
        if frontier.advance(&mut labels.field) {
            return;
        }
        let rows = 0..labels.rows_end;
        let members = || frontier.members().iter_range(rows.clone());
        let mut passes = || throttle.as_mut().is_none_or(|throttle| throttle.pass_all(members));
        let many = (rows.len() / VERTICES_PER_LARGE_FRONTIER).max(VERTICES_PER_TASK);
        let is_large = frontier.members().count_range(rows.clone()) > many;
        let forward = labels.forward.rows();
        match large {
            LargeFrontier::Pulled if is_large && passes() => {
                frontier.leave_large(labels.forward.num_edges());
            }
            LargeFrontier::Pruned if is_large => {
                frontier.leave_large(frontier.estimate_edges(forward, rows.end));
            }
            _ => {
                frontier.list(forward, rows.end);
                self.throttle_frontier(min_labels);
            }
        }
    }

    /// Leaves in the frontier the labels that the throttle lets pass.
    fn throttle_frontier(&mut self, min_labels: usize) {
        if let Some(throttle) = &mut self.throttle {
            let labels = (self.labels.field.cells(), self.labels.forward.rows());
            hold_back(throttle, &mut self.frontier, labels, min_labels);
        }
    }

    /// Lists the frontier after all, if it was left a set.
    pub(super) fn list_frontier(&mut self) {
        if self.frontier.is_large() {
            self.frontier.list(self.labels.forward.rows(), self.labels.rows_end);
        }
    }

    /// The best label of the frontier.
    pub(super) fn best_of_frontier(&self) -> P::Label {
        match self.frontier.is_large() {
            true => best_of_members(&self.labels, &self.frontier),
            false => self.labels.best_of_list(self.frontier.vertices()),
        }
    }

    /// A top-down step: spreads the labels of the frontier, and makes active what gets better ones.
    /// Returns the number of edges visited.
    pub(super) fn push(&mut self) -> u64 {
        self.list_frontier();
        let Traversal { labels, frontier, helpers, .. } = &*self;
        let (active, first_wins) = (labels.field.active(), labels.program.first_wins());
        let vertices = frontier.vertices();
        let is_short = frontier.num_edges() < MIN_EDGES_PER_STEP || helpers.is_empty();
        let edges = frontier.num_edges();
        if labels.is_alone() && (is_short || first_wins) {
            // Listing what improves costs less than finding it in the set of active vertices.
            let found = if const { may_win_first::<P>() } && first_wins {
                match is_short {
                    true => self.relax_and_list([vertices], |_| true),
                    false => self.relax_and_list_by_all(),
                }
            } else {
                self.relax_and_list([vertices], |v| active.insert_alone(v))
            };
            self.frontier.found(found);
        } else if is_short {
            let improved = |neighbour, _| _ = active.insert_alone(neighbour);
            labels.relax_edges_of::<true>(vertices, |_| true, improved);
        } else if self.has_few_long_rows() {
            let pieces = frontier.edge_pieces(labels.forward.rows(), EDGES_PER_PIECE);
            helpers.share_out(&[pieces], PIECES_PER_TASK, |_, pieces| {
                let improved = |neighbour, _| _ = active.insert(neighbour);
                pieces.for_each(|piece| labels.relax_pieces::<false>(piece, improved));
            });
        } else {
            helpers.share_out(&[vertices], FRONTIER_VERTICES_PER_TASK, |_, pieces| {
                let improved = |neighbour, _| _ = active.insert(neighbour);
                pieces.for_each(|piece| {
                    labels.relax_edges_of::<false>(piece, |_| true, improved);
                });
            });
        }
        edges
    }

    /// Spreads labels, and lists the vertices with better ones that are new.
    fn relax_and_list<'v>(
        &self,
        pieces: impl IntoIterator<Item = &'v [LocalId]>,
        is_new: impl Fn(LocalId) -> bool,
    ) -> VertexList {
        let mut found = Vec::new();
        for piece in pieces {
            found.reserve(2 * piece.len());
            let mut improved = |neighbour, _| {
                if is_new(neighbour) {
                    found.push(neighbour);
                }
            };
            self.labels.relax_edges_of::<true>(piece, |_| true, &mut improved);
        }
        VertexList::new(found, self.labels.forward.rows())
    }

    /// The same for the whole frontier, by all threads, where it is one level: two threads that write a
    /// label at once write the same. Both then list the vertex, which is rare and costs one more visit of
    /// its edges.
    fn relax_and_list_by_all(&self) -> VertexList {
        let found = Mutex::new(Vec::with_capacity(self.helpers.num_threads()));
        let keep = |mine| found.lock().unwrap_or_else(PoisonError::into_inner).push(mine);
        let (labels, vertices) = (&self.labels, self.frontier.vertices());
        if self.has_few_long_rows() {
            let rows = labels.forward.rows();
            let pieces = self.frontier.edge_pieces(rows, EDGES_PER_PIECE);
            self.helpers.share_out(&[pieces], PIECES_PER_TASK, |_, pieces| {
                let mut mine = Vec::new();
                pieces.for_each(|piece| {
                    labels.relax_pieces::<true>(piece, |neighbour, _| mine.push(neighbour));
                });
                keep(VertexList::new(mine, rows));
            });
        } else {
            self.helpers.share_out(&[vertices], FRONTIER_VERTICES_PER_TASK, |_, pieces| {
                keep(self.relax_and_list(pieces, |_| true));
            });
        }
        VertexList::concat(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether threads must share the edges of a vertex to have enough to do.
    fn has_few_long_rows(&self) -> bool {
        let (vertices, edges) = (self.frontier.vertices().len(), self.frontier.num_edges());
        let tasks = vertices.div_ceil(FRONTIER_VERTICES_PER_TASK);
        tasks < self.helpers.num_threads() && edges > MIN_EDGES_OF_LONG_ROW * vertices as u64
    }

    /// Brings updated labels to masters, or to mirrors.
    pub(super) fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        let (field, edges) = (&mut self.labels.field, self.labels.program.edges());
        match phase {
            Phase::Reduce => substrate.reduce(field, edges.written()),
            Phase::Broadcast => substrate.broadcast(field, edges.read()),
        }
    }

    /// Counts the masters whose labels changed.
    pub(super) fn tally(&self) -> Tally {
        let masters = 0..self.labels.num_masters;
        let changed = self.labels.field.updated().count_range(masters) as u64;
        Tally { changed, ..Tally::default() }
    }

    /// Hosts do not wait for each other any more.
    pub(super) fn leave_rounds(&mut self, throttles: bool) {
        // A host that is alone waits for no other: its frontiers stay levels.
        if self.labels.is_alone() {
            return;
        }
        self.round.leave_rounds();
        if throttles {
            self.throttle = Some(Throttle::new(self.labels.field.num_proxies()));
        }
    }

    /// What was held back so far.
    pub(super) fn throttled(&self) -> Throttled {
        self.throttle.as_ref().map_or_else(Throttled::default, Throttle::throttled)
    }
}

/// Leaves in a frontier the labels that the throttle lets pass, at least `min_labels` if there are as many.
#[inline(never)]
fn hold_back<R: Reduction<Value: AtomicValue>, W: Weight>(
    throttle: &mut Throttle<R::Value>,
    frontier: &mut Frontier,
    (cells, forward): (Cells<'_, R>, DirectionRows<'_, W>),
    min_labels: usize,
) {
    let is_worse = |label, than| label != than && R::combine(label, than) == than;
    let order = |a: &R::Value, b: &R::Value| is_worse(*a, *b).cmp(&is_worse(*b, *a));
    let label = |vertex| cells.get(vertex);
    let degree = |vertex| forward.degree(vertex);
    frontier.narrow(forward, |list| throttle.choose(list, min_labels, label, order, degree));
}
