//! Looking for labels along those edges only that can still improve one.
//!
//! Once it is known that no label better than some `best` is still to be spread, an edge matters only
//! if `best` itself would improve the label at its end, and one that does not matter never will again.
//! Where vertices have many edges, few matter as soon as most vertices have some label. To tell them
//! from where labels arrive takes a look at each weight, one after another; to spread a label takes a
//! look at a vertex that may be anywhere.
//!
//! All hosts look in the same round, or none: then nothing is left to be spread but what was found.

use parton_graph::LocalId;
use parton_net::Net;
use parton_partition::Partition;
use parton_sync::value::Number;
use parton_sync::{Reduction, Result};
use rayon::prelude::*;

use super::{PIECE, Relaxing};
use crate::edges::{EdgeView, Rows, WITHIN};
use crate::program::{Edges, Relaxation};
use crate::ways::is_complete;

/// How many vertices, and edges, are asked to estimate all,
const SAMPLE: usize = 1 << 9;
/// but never more than one vertex in so many: asking must cost less than spreading their labels.
pub(super) const ONE_IN: usize = 16;
/// What it takes to spread a label along an edge, and to look for one along it, if it takes 1 to look
/// at its weight.
const SPREADING: u64 = 8;
const LOOKING: u64 = 8;
/// Below so many edges hosts spread labels faster than they agree on anything.
const WORTH_COMPARING: u64 = 1 << 14;
/// To look may have come to take so much less since it was last estimated.
const OVERRATED: u64 = 4;

/// The edges that may matter, and what hosts have agreed on.
pub(super) struct Looking<'a, P: Relaxation> {
    edges: Mattering<'a, P>,
    hosts: u64,
    /// What it takes all hosts, as last estimated.
    cost: u64,
    /// What it would take all hosts to spread labels instead, if they should compare.
    spreading: Option<u64>,
    /// The best label that is still to be spread, if this round looks.
    best: Option<P::Label>,
    /// What was found when labels were last looked for, until it is spread.
    found: Found<P::Label>,
}

/// Edges that may matter, from where labels arrive.
enum Mattering<'a, P: Relaxation> {
    All(EdgeView<'a, P::Weight>),
    /// Those that did when labels were last looked for, piece by piece.
    Some(Vec<Piece<P::Weight>>),
}

/// Edges of some vertices.
#[derive(Clone, Default)]
struct Piece<W> {
    /// Vertices, and where their edges end.
    rows: Vec<(LocalId, usize)>,
    edges: Vec<(LocalId, W)>,
    /// How many edges have to be looked at.
    looked: u64,
}

/// Better labels that were found.
struct Found<L> {
    /// Vertices that have them and that edges leave, in parts.
    vertices: Vec<Vec<LocalId>>,
    /// How many edges leave them.
    edges: u64,
    best: L,
}

impl<'a, P: Relaxation> Looking<'a, P> {
    /// For a host whose masters have all of their edges at hand from where labels arrive.
    pub(super) fn new(program: &P, partition: &'a Partition) -> Option<Self> {
        let edges = match program.edges() {
            Edges::Out => partition.in_edges_at_hand(),
            Edges::In => partition.out_edges_at_hand(),
            Edges::Both => None,
        }?;
        is_complete(partition, program.edges().written()).then(|| Looking {
            edges: Mattering::All(EdgeView::new(edges)),
            hosts: partition.num_hosts() as u64,
            cost: partition.num_edges(),
            spreading: None,
            best: None,
            found: Found::nothing::<P>(),
        })
    }
}

impl<P: Relaxation> Relaxing<'_, P> {
    /// The best of some vertices' labels.
    pub fn best_of(&self, vertices: impl Iterator<Item = LocalId>) -> P::Label {
        let labels = vertices.map(|vertex| self.label(vertex));
        labels.fold(P::Reduction::identity(), P::Reduction::combine)
    }

    /// About how many edges leave these vertices; 0 if nobody will look for labels anyway.
    pub fn edges_ahead(&self, vertices: &[LocalId]) -> u64 {
        if self.looking.is_none() || vertices.is_empty() {
            return 0;
        }
        let one_in = vertices.len().div_ceil(SAMPLE).max(ONE_IN);
        let (asked, rows) = (vertices.iter().step_by(one_in), self.forth.rows());
        let count = asked.len() as u64;
        asked.map(|&vertex| rows.degree(vertex)).sum::<u64>() * vertices.len() as u64 / count
    }

    /// Whether hosts should compare, before so many edges are spread along on all of them.
    fn should_compare(&self, edges: u64) -> bool {
        let may_pay = |looking: &Looking<'_, P>| OVERRATED * SPREADING * edges >= looking.cost;
        let is_worth_it = self.in_rounds && edges >= WORTH_COMPARING;
        is_worth_it && self.looking.as_ref().is_some_and(may_pay)
    }

    /// Whether a round should end before so many edges are spread along here, for hosts to compare
    /// what that takes with what looking takes.
    pub fn should_ask(&self, edges: u64) -> bool {
        let hosts = self.looking.as_ref().map_or(0, |looking| looking.hosts);
        self.should_compare(hosts * edges)
    }

    /// Learns how many edges leave what all hosts have to spread.
    pub(super) fn consider_looking(&mut self, edges: u64) {
        let asks = self.should_compare(edges);
        if let Some(looking) = &mut self.looking {
            looking.spreading = asks.then_some(SPREADING * edges);
        }
    }

    /// Agrees with all hosts on whether this round looks, if that is to be considered; `best` tells the
    /// best label that this host has to spread.
    pub(super) fn agree_on_looking(
        &mut self,
        net: &mut Net,
        best: impl FnOnce(&Self) -> P::Label,
    ) -> Result<()> {
        let Some(looking) = &mut self.looking else { return Ok(()) };
        looking.best = None;
        let Some(spreading) = looking.spreading.take() else { return Ok(()) };
        let best = net.all_reduce(best(self), P::Reduction::combine)?;
        let cost = net.all_reduce(self.cost_of_looking(best), |a, b| a + b)?;
        if let Some(looking) = &mut self.looking {
            looking.cost = cost;
            looking.best = (cost <= spreading).then_some(best);
        }
        Ok(())
    }

    /// What it takes this host to look for labels, none of which is better than `best`.
    fn cost_of_looking(&self, best: P::Label) -> u64 {
        match self.looking.as_ref().map(|looking| &looking.edges) {
            None => 0,
            Some(Mattering::Some(pieces)) => {
                LOOKING * pieces.iter().map(|piece| piece.edges.len() as u64).sum::<u64>()
            }
            Some(Mattering::All(edges)) => {
                let asked = edges.rows().sample(SAMPLE).map(|(vertex, weight)| {
                    let label = self.label(vertex);
                    match self.is_good(label, best) {
                        true => 0,
                        false => 1 + LOOKING * u64::from(self.improves(label, best, weight)),
                    }
                });
                asked.sum::<u64>() * edges.num_edges() / SAMPLE as u64
            }
        }
    }

    /// Whether a label is as good as another.
    #[inline(always)]
    fn is_good(&self, label: P::Label, other: P::Label) -> bool {
        P::Reduction::combine(label, other) == label
    }

    /// Whether a label is improved by another that comes along an edge.
    #[inline(always)]
    fn improves(&self, label: P::Label, other: P::Label, weight: P::Weight) -> bool {
        !self.is_good(label, self.program.relax(other, weight))
    }

    /// Lets every vertex look for a better label, if hosts have agreed on that; how many edges it looked
    /// at. Nothing has to be spread any more then but what is [found](Self::take_found).
    pub fn look(&mut self) -> Option<u64> {
        let looking = self.looking.as_mut()?;
        let best = looking.best.take()?;
        let edges = std::mem::replace(&mut looking.edges, Mattering::Some(Vec::new()));
        let (pieces, found): (Vec<_>, Vec<_>) = match edges {
            Mattering::All(edges) => {
                let rows = edges.rows();
                let firsts = (0..rows.num_vertices()).into_par_iter().step_by(PIECE);
                let look = |piece: &mut Piece<_>, first| {
                    self.fill(piece, rows, first, best);
                    let found = self.look_along(piece, best);
                    // Only what is left takes memory of its own.
                    (piece.clone(), found)
                };
                firsts.with_max_len(1).map_init(Piece::default, look).unzip()
            }
            Mattering::Some(pieces) => {
                let look = |mut piece: Piece<_>| {
                    let found = self.look_along(&mut piece, best);
                    (piece, found)
                };
                pieces.into_par_iter().with_max_len(1).map(look).unzip()
            }
        };
        let (found, looked): (Vec<_>, Vec<u64>) = found.into_iter().unzip();
        let looking = self.looking.as_mut()?;
        looking.edges = Mattering::Some(pieces);
        looking.found = found.into_iter().fold(Found::nothing::<P>(), Found::and::<P>);
        Some(looked.into_iter().sum())
    }

    /// Whether anything was found that edges leave.
    pub fn has_found(&self) -> bool {
        self.edges_found() > 0
    }

    /// How many edges leave what was found.
    pub(super) fn edges_found(&self) -> u64 {
        self.looking.as_ref().map_or(0, |looking| looking.found.edges)
    }

    /// The best label that was found.
    pub fn best_found(&self) -> P::Label {
        self.looking.as_ref().map_or(P::Reduction::identity(), |looking| looking.found.best)
    }

    /// What was found, to be spread.
    pub fn take_found(&mut self) -> Vec<Vec<LocalId>> {
        let take = |looking: &mut Looking<'_, P>| {
            std::mem::replace(&mut looking.found, Found::nothing::<P>()).vertices
        };
        self.looking.as_mut().map_or_else(Vec::new, take)
    }

    /// Replaces a piece by those edges of some vertices that matter.
    fn fill(
        &self,
        piece: &mut Piece<P::Weight>,
        rows: Rows<'_, P::Weight>,
        first: usize,
        best: P::Label,
    ) {
        let labels = self.labels.cells();
        piece.rows.clear();
        piece.edges.clear();
        piece.looked = 0;
        let vertices = first..rows.num_vertices().min(first + PIECE);
        for vertex in vertices.map(|vertex| LocalId(vertex as u32)) {
            let label = labels.get(vertex);
            if self.is_good(label, best) {
                continue;
            }
            piece.looked += rows.degree(vertex);
            let start = piece.edges.len();
            let matters = |weight| self.improves(label, best, weight);
            rows.each_with(vertex, matters, |end, weight| piece.edges.push((end, weight)));
            if piece.edges.len() > start {
                piece.rows.push((vertex, piece.edges.len()));
            }
        }
    }

    /// Looks for better labels along these edges, and leaves those that still matter; what was found,
    /// and how many edges were looked at.
    fn look_along(&self, piece: &mut Piece<P::Weight>, best: P::Label) -> (Found<P::Label>, u64) {
        let (labels, forth) = (self.labels.cells(), self.forth.rows());
        // No other thread has vertices of this piece.
        let (mut updated, is_shared) = (self.labels.updated().inserter(), self.labels.is_shared());
        let mut found = Found::nothing::<P>();
        let mut vertices = Vec::new();
        let (mut rows, mut edges, mut start) = (0, 0, 0);
        for row in 0..piece.rows.len() {
            let (vertex, end) = piece.rows[row];
            let old = labels.get(vertex);
            let mut label = old;
            for at in start..end {
                if let Some(&(later, _)) = piece.edges.get(at + WITHIN) {
                    labels.prefetch(later);
                }
                let (other, weight) = piece.edges[at];
                label = P::Reduction::combine(label, self.program.relax(labels.get(other), weight));
            }
            if label != old {
                labels.put(vertex, label);
                updated.insert_if(vertex, is_shared);
                if self.leads(vertex) {
                    vertices.push(vertex);
                    found.edges += forth.degree(vertex);
                    found.best = P::Reduction::combine(found.best, label);
                }
            }
            let first = edges;
            for at in start..end {
                let edge = piece.edges[at];
                piece.edges[edges] = edge;
                edges += usize::from(self.improves(label, best, edge.1));
            }
            if edges > first {
                piece.rows[rows] = (vertex, edges);
                rows += 1;
            }
            start = end;
        }
        piece.rows.truncate(rows);
        piece.edges.truncate(edges);
        let looked = std::mem::replace(&mut piece.looked, edges as u64);
        found.vertices.push(vertices);
        (found, looked)
    }
}

impl<L: Number> Found<L> {
    fn nothing<P: Relaxation<Label = L>>() -> Self {
        Found { vertices: Vec::new(), edges: 0, best: P::Reduction::identity() }
    }

    fn and<P: Relaxation<Label = L>>(mut self, other: Self) -> Self {
        self.vertices.extend(other.vertices);
        self.edges += other.edges;
        self.best = P::Reduction::combine(self.best, other.best);
        self
    }
}
