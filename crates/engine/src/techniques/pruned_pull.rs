//! Pruned pull: look for labels only along in-edges that can still improve their destination.
//!
//! Let `bound` be the best label that any host has still to spread. An edge can matter only if `bound`
//! itself, relaxed along it, would improve the label at its destination; an edge that cannot matter now
//! never will. In graphs of many edges per vertex few edges matter once most vertices have some label
//! (compare the pruning of Chakaravarthy et al., "Scalable single source shortest path algorithms for
//! massively parallel systems", IPDPS'14). Finding them reads weights in order, while spreading a label
//! touches a vertex anywhere in memory.
//!
//! All hosts pull in the same round, or none. After a pull, only the labels it found are left to be
//! spread. Where mirrors are written but not read, their masters tell them before a pull what is left to be
//! spread. From the first pull on masters tell only mirrors that an edge leaves which can still matter.

mod pieces;
mod scan;

use std::ops::Range;

use parton_graph::{Adjacency, LocalId, VertexSet, parallel};
use parton_net::Net;
use parton_partition::{End, Partition};
use parton_sync::{Interest, Reduction, Result, Substrate};

use self::pieces::{Found, Piece, improves};
use super::spares::Spares;
use crate::program::{Edges, Relaxation};
use crate::state::edges::EdgeView;
use crate::state::labels::Labels;
use crate::techniques::VERTICES_PER_TASK;
pub(crate) use scan::Scans;

/// Vertices, and edges, in a sample that estimates all,
const SAMPLE: usize = 1 << 9;
/// and the least vertices for each one in it: sampling must cost less than spreading their labels.
const MIN_VERTICES_PER_SAMPLE: usize = 16;
/// Cost of spreading a label along an edge, and of pulling one along it, in edges whose weight is read.
const SPREAD_COST: u64 = 8;
const PULL_COST: u64 = 8;
/// Below this many edges hosts spread labels faster than they agree.
const MIN_EDGES_TO_COMPARE: u64 = 1 << 14;
/// The pull may cost this many times less than when it was last estimated.
const MAX_OVERESTIMATE: u64 = 4;

/// The edges that can still matter, and what hosts have agreed on.
pub(crate) struct PrunedPull<'a, P: Relaxation> {
    edges: Candidates<'a, P>,
    /// The end of edges where mirrors must learn the labels of their masters before a pull; `None` if they
    /// always know them.
    untold: Option<End>,
    /// The mirrors that edges which can still matter leave, once most edges cannot.
    interest: Option<Interest>,
    num_hosts: u64,
    /// Whether hosts wait for each other: else no host knows the bound.
    in_rounds: bool,
    /// Cost of a pull on all hosts, as last estimated.
    pull_cost: u64,
    /// The best label that any host has still to spread, if this round pulls.
    bound: Option<P::Label>,
    /// What the last pull found, until it is spread.
    found: Found<P::Label>,
}

/// Edges that can still matter, by destination.
enum Candidates<'a, P: Relaxation> {
    All(EdgeView<'a, P::Weight>),
    /// The edges that were left after the last pull, in pieces.
    Left(Vec<Piece<P::Weight>>),
}

impl<'a, P: Relaxation> PrunedPull<'a, P> {
    /// For a host that has all in-edges of its masters at hand; `None` for others.
    pub(crate) fn new(program: &P, partition: &'a Partition) -> Option<Self> {
        let (edges, untold) = in_edges_of_masters(partition, program.edges())?;
        // Hosts agree on a pull, and devices take no part in that.
        let can_agree = !partition.is_beside_devices();
        (can_agree && !P::FILTERS).then(|| PrunedPull {
            edges: Candidates::All(EdgeView::new(edges)),
            untold,
            interest: None,
            num_hosts: partition.num_hosts() as u64,
            in_rounds: true,
            pull_cost: partition.num_edges(),
            bound: None,
            found: Found::nothing::<P>(),
        })
    }

    /// Makes all hosts pull, or none, and all tell their mirrors in the same rounds. Every host must call this
    /// where none computes on a device: devices do not agree.
    pub(crate) fn for_all_hosts(mine: Option<Self>, net: &mut Net) -> Result<Option<Self>> {
        let (never, before_pulls, always) = (0u64, 1, 2);
        let tells = match &mine {
            None => never,
            Some(pull) if pull.untold.is_some() => before_pulls,
            Some(_) => always,
        };
        let [least, most] = net.all_reduce([tells; 2], |a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
        // A host that shares nothing does not know that others tell their mirrors in every round.
        let untold = |end: Option<End>| end.filter(|_| most == before_pulls);
        let mine = mine.filter(|_| least > never);
        Ok(mine.map(|pull| PrunedPull { untold: untold(pull.untold), ..pull }))
    }

    /// An estimate of the edges that leave these vertices.
    pub(crate) fn estimate_edges(&self, labels: &Labels<'_, P>, vertices: &[LocalId]) -> u64 {
        if vertices.is_empty() {
            return 0;
        }
        let step = vertices.len().div_ceil(SAMPLE).max(MIN_VERTICES_PER_SAMPLE);
        let (sample, rows) = (vertices.iter().step_by(step), labels.forward.rows());
        let count = sample.len() as u64;
        sample.map(|&vertex| rows.degree(vertex)).sum::<u64>() * vertices.len() as u64 / count
    }

    /// Whether hosts should compare costs before labels are spread along this many edges of all hosts.
    fn should_compare(&self, edges: u64) -> bool {
        let may_pay_off = MAX_OVERESTIMATE * SPREAD_COST * edges >= self.pull_cost;
        self.in_rounds && edges >= MIN_EDGES_TO_COMPARE && may_pay_off
    }

    /// Whether this host should end its round before it spreads labels along this many edges, so that
    /// hosts can compare costs.
    pub(crate) fn should_end_round(&self, edges: u64) -> bool {
        self.should_compare(self.num_hosts * edges)
    }

    /// Agrees with all hosts on whether the next round pulls. This many edges leave what all hosts have to
    /// spread; `best` is the best label that this host has to spread.
    pub(crate) fn agree(
        &mut self,
        labels: &Labels<'_, P>,
        frontier_edges: u64,
        net: &mut Net,
        best: impl FnOnce(&Self) -> P::Label,
    ) -> Result<()> {
        self.bound = None;
        if self.should_compare(frontier_edges) {
            let bound = net.all_reduce(best(self), P::Reduction::combine)?;
            self.pull_cost = net.all_reduce(self.estimate_cost(labels, bound), |a, b| a + b)?;
            let spread_cost = SPREAD_COST * frontier_edges;
            self.bound = (self.pull_cost <= spread_cost).then_some(bound);
        }
        Ok(())
    }

    /// Whether the next round pulls.
    pub(crate) fn is_agreed(&self) -> bool {
        self.bound.is_some()
    }

    /// Brings mirrors the labels of their masters, if the next round pulls and mirrors do not know them. They do not
    /// become active: no edges leave them here.
    pub(crate) fn tell_mirrors(
        &mut self,
        labels: &mut Labels<'_, P>,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        match self.untold.filter(|_| self.is_agreed()) {
            None => Ok(()),
            Some(end) => {
                self.broadcast(labels, end, substrate)?;
                let mirrors = labels.num_masters..labels.field.num_proxies() as u32;
                labels.field.active().remove_range(mirrors);
                Ok(())
            }
        }
    }

    /// Whether masters tell only mirrors that can still matter in every round.
    pub(crate) fn narrows_broadcasts(&self) -> bool {
        let has_pulled = matches!(self.edges, Candidates::Left(_));
        has_pulled && self.in_rounds && self.untold.is_none() && self.num_hosts > 1
    }

    /// Brings mirrors at an end of edges what is new at their masters: all of them, or those that can still matter.
    pub(crate) fn broadcast(
        &mut self,
        labels: &mut Labels<'_, P>,
        end: End,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        if let (Candidates::Left(pieces), None) = (&self.edges, &self.interest) {
            self.interest = Some(substrate.ask_for(&sources(pieces, labels), end)?);
        }
        match &self.interest {
            None => substrate.broadcast(&mut labels.field, end),
            Some(interest) => substrate.broadcast_to(interest, &mut labels.field),
        }
    }

    /// Hosts do not wait for each other any more: no host knows the best label that is left to be spread.
    pub(crate) fn leave_rounds(&mut self) {
        self.in_rounds = false;
        self.bound = None;
    }

    /// The cost of a pull on this host.
    fn estimate_cost(&self, labels: &Labels<'_, P>, bound: P::Label) -> u64 {
        match &self.edges {
            Candidates::Left(pieces) => {
                PULL_COST * pieces.iter().map(|piece| piece.edges.len() as u64).sum::<u64>()
            }
            Candidates::All(edges) => {
                let sample = edges.rows().sample(SAMPLE).map(|(vertex, weight)| {
                    let label = labels.get(vertex);
                    match is_as_good::<P>(label, bound) {
                        true => 0,
                        false => 1 + PULL_COST * u64::from(improves(labels, label, bound, weight)),
                    }
                });
                sample.sum::<u64>() * edges.num_edges() / SAMPLE as u64
            }
        }
    }

    /// Lets every vertex look for a better label, if hosts have agreed on that. Then only what was
    /// [found](Self::take_found) is left to be spread. Returns the number of edges visited.
    pub(crate) fn pull(&mut self, labels: &Labels<'_, P>) -> Option<u64> {
        let bound = self.bound.take()?;
        let edges = std::mem::replace(&mut self.edges, Candidates::Left(Vec::new()));
        let (pieces, found): (Vec<_>, Vec<_>) = match edges {
            Candidates::All(edges) => {
                let rows = edges.rows();
                let tasks = parallel::pieces(0..labels.num_masters as usize, VERTICES_PER_TASK);
                let room = Spares::new();
                let pull = |task: &Range<usize>| {
                    let mut piece = room.take_or(Piece::default);
                    piece.fill(labels, rows, task.clone(), bound);
                    let found = piece.pull(labels, bound);
                    // The clone holds only what is left, the original keeps its room for the next task.
                    let left = piece.clone();
                    room.leave(piece);
                    (left, found)
                };
                parallel::map(&tasks, pull).into_iter().unzip()
            }
            Candidates::Left(pieces) => {
                let pull = |_, mut piece: Piece<_>| {
                    let found = piece.pull(labels, bound);
                    (piece, found)
                };
                parallel::map_owned(pieces, pull).into_iter().unzip()
            }
        };
        let (found, visited): (Vec<_>, Vec<u64>) = found.into_iter().unzip();
        self.edges = Candidates::Left(pieces);
        self.found = found.into_iter().fold(Found::nothing::<P>(), Found::and::<P>);
        Some(visited.into_iter().sum())
    }

    /// Number of edges that leave what was found.
    pub(crate) fn found_edges(&self) -> u64 {
        self.found.edges
    }

    /// The best label that was found.
    pub(crate) fn best_found(&self) -> P::Label {
        self.found.best
    }

    /// Takes the vertices whose labels were found, to spread them.
    pub(crate) fn take_found(&mut self) -> Vec<Vec<LocalId>> {
        std::mem::replace(&mut self.found, Found::nothing::<P>()).vertices
    }
}

/// All edges along which labels arrive at this host's masters, by their masters, if they are at hand. Also the end of
/// edges where mirrors are not told labels in every round.
fn in_edges_of_masters(partition: &Partition, edges: Edges) -> Option<(&Adjacency, Option<End>)> {
    let is_shared_at = |end| partition.shares_proxies_at(end);
    // No mirror has in-edges of its own.
    let own = match edges {
        Edges::Out => partition.in_edges_at_hand(),
        Edges::In => partition.out_edges_at_hand(),
        Edges::Both => None,
    };
    let own = own.filter(|_| !is_shared_at(edges.written())).map(|edges| (edges, None));
    if own.is_some() || edges != Edges::Out {
        return own;
    }
    // Where each edge has its mirror image, the out-edges of masters are their in-edges, if all are here.
    let is_same = partition.is_symmetric() && !is_shared_at(End::Source);
    let out = partition.out_edges_at_hand().filter(|_| is_same);
    let kept = || partition.in_edges_of_masters().map(|edges| (edges, None));
    out.map(|out| (out, Some(edges.written()))).or_else(kept)
}

/// The proxies that some edges leave.
fn sources<P: Relaxation>(pieces: &[Piece<P::Weight>], labels: &Labels<'_, P>) -> VertexSet {
    let sources = VertexSet::new(labels.field.num_proxies());
    parallel::for_each(pieces, |piece| {
        piece.edges.iter().for_each(|(source, _)| _ = sources.insert(*source));
    });
    sources
}

/// Whether a label is as good as another.
#[inline(always)]
fn is_as_good<P: Relaxation>(label: P::Label, other: P::Label) -> bool {
    P::Reduction::combine(label, other) == label
}
