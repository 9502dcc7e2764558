//! A host's part of a relaxation: one label per proxy, and ways to spread it.

mod engine;
mod gathering;
mod looking;
mod pulling;

use std::sync::{Mutex, PoisonError};

use parton_graph::bits::BitSet;
use parton_graph::{LocalId, VertexSet};
use parton_partition::Partition;
use parton_sync::{CpuField, Delivery, Reduction};
use rayon::prelude::*;

use crate::edges::WITHIN;
use crate::helpers::Helpers;
use crate::program::{Edges, Relaxation};
use crate::strategy::Strategy;
use crate::waiting::Waiting;
use crate::ways::Ways;
pub(crate) use engine::RelaxingEngine;
use gathering::Listed;
use looking::Looking;

/// Below so many edges threads cost more than they bring, even those that are awake.
const FEW_EDGES: u64 = 1 << 9;
/// Vertices that a thread takes at a time where it looks at all. Threads must not take half of
/// what is left, as they would by themselves: the vertices with most edges come first.
pub(crate) const PIECE: usize = 1 << 12;
/// The same of a frontier.
pub(crate) const FRONTIER_PIECE: usize = 1 << 7;

/// Pull when more than one edge in so many leaves the frontier.
pub(crate) const DENSE: u64 = 8;
/// How many vertices before its turn a vertex's label is asked for.
const LABELS_AHEAD: usize = 16;

/// Edges, of each thread, after which hosts that do not wait for each other talk; and in the first round,
/// where they may come to that.
const ENOUGH: u64 = 1 << 13;
/// How many times as many it takes in every round after that.
const LONGER: u64 = 16;

/// Where an edge is with both of its ends, either all hosts spread labels in a round or all look for
/// them: else it could be left to a host that does not go along it either.
struct Together {
    /// Whether this round looks.
    pull: bool,
    /// Number of edges that labels can take, on all hosts.
    edges: u64,
}

/// Labels of a host's proxies, and the edges they take.
pub struct Relaxing<'a, P: Relaxation> {
    program: &'a P,
    labels: CpuField<P::Reduction>,
    forth: Ways<'a, P::Weight>,
    /// The proxies that edges leave.
    leads: BitSet,
    back: Option<Ways<'a, P::Weight>>,
    /// The edges from where labels arrive, where it may turn out that few of them matter.
    looking: Option<Looking<'a, P>>,
    num_masters: u32,
    /// Proxies from this one on have no edges here.
    rows_end: u32,
    /// What hosts decide together, where each edge is on two of them.
    together: Option<Together>,
    /// Whether no other host changes labels.
    is_alone: bool,
    /// Threads for what is too little for the pool.
    helpers: Helpers,
    /// What became active in this round, where it was noted down instead, but for those that no edge leaves;
    /// those that could become active twice are in the set, too, unless that is too rare to matter.
    noted: Option<Listed>,
    /// What the next round starts from; empty where a list is all there is.
    frontier: VertexSet,
    /// Whether it has too many members to be worth listing.
    is_large: bool,
    /// The same as a list, but for those that no edge leaves; empty if it is large.
    list: Vec<LocalId>,
    /// How many edges leave it, about, where it is large.
    list_edges: u64,
    /// Whether hosts wait for each other, so that a frontier is one level.
    in_rounds: bool,
    /// So many edges are enough before hosts talk; `None`: that is up to the engine.
    talk_after: Option<u64>,
    /// Labels that wait for better ones, where hosts do not wait for each other.
    waiting: Option<Waiting<P::Label>>,
}

impl<'a, P: Relaxation> Relaxing<'a, P> {
    /// Every proxy with its vertex's first label.
    fn new<S: Strategy>(program: &'a P, partition: &'a Partition) -> Self {
        let identity = P::Reduction::identity();
        let proxies = partition.num_proxies();
        // Every proxy knows its vertex's first label, so nothing is updated yet.
        let labels = CpuField::new(proxies, Delivery::Label, |proxy| {
            program.start(partition.global(proxy)).unwrap_or(identity)
        });
        let labels = if partition.num_hosts() == 1 { labels.alone() } else { labels };
        (0..proxies as u32).into_par_iter().map(LocalId).for_each(|proxy| {
            if labels.get(proxy) != identity {
                labels.active().insert(proxy);
            }
        });
        let is_whole = S::AGREES && partition.whole_in_edges().is_some();
        let ways = |edges| match is_whole {
            true => Ways::whole(partition, edges),
            false => Ways::forth(partition, edges),
        };
        let forth = ways(program.edges());
        let num_masters = partition.num_masters() as u32;
        let from_ends = if program.edges() == Edges::Both { 2 } else { 1 };
        let rows = forth.rows();
        let words = (0..proxies.div_ceil(64)).into_par_iter().map(|word| {
            let of_word = (word * 64..proxies.min((word + 1) * 64)).map(|p| LocalId(p as u32));
            of_word.rev().fold(0, |all, proxy| all << 1 | u64::from(rows.degree(proxy) > 0))
        });
        let leads = BitSet::from_words(words.collect(), proxies);
        Relaxing {
            program,
            labels,
            forth,
            leads,
            back: S::PULLS.then(|| ways(program.edges().turned())),
            looking: S::LOOKS.then(|| Looking::new(program, partition)).flatten(),
            num_masters,
            rows_end: if is_whole { num_masters } else { proxies as u32 },
            together: is_whole
                .then(|| Together { pull: false, edges: from_ends * partition.num_edges() }),
            is_alone: partition.num_hosts() == 1,
            helpers: Helpers::of_pool(),
            noted: None,
            frontier: VertexSet::new(proxies),
            is_large: false,
            list: Vec::new(),
            list_edges: 0,
            in_rounds: true,
            talk_after: None,
            waiting: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &P {
        self.program
    }

    /// Threads for what is too little for the pool.
    pub(crate) fn helpers(&self) -> &Helpers {
        &self.helpers
    }

    /// Whether no other host changes labels.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Whether so many edges are enough before hosts talk. Where they wait for each other it is up to
    /// the engine, but for the first rounds, if hosts may leave them. Elsewhere talking costs little, and
    /// news are worth most while they are new: those who have nothing to do can begin, and those who do
    /// see early what they do in vain.
    pub fn should_talk(&self, edges: u64) -> bool {
        self.talk_after.is_some_and(|enough| edges >= enough)
    }

    /// Talks after little work, in this round or from now on.
    fn talk_soon(&mut self) {
        self.talk_after = Some(ENOUGH * rayon::current_num_threads() as u64);
    }

    /// Whether the frontier is too large to be listed, as it may not have to be. Never, for an engine that
    /// neither pulls nor looks.
    pub fn is_large(&self) -> bool {
        self.is_large
    }

    /// What has a label to spread, if it is listed.
    pub fn frontier(&self) -> &[LocalId] {
        &self.list
    }

    /// Number of edges that leave what is listed.
    pub fn frontier_edges(&self) -> u64 {
        self.list_edges
    }

    /// Whether edges leave a proxy.
    #[inline(always)]
    pub fn leads(&self, proxy: LocalId) -> bool {
        self.leads.contains(proxy.index())
    }

    /// Number of edges that labels can take.
    pub fn num_edges(&self) -> u64 {
        self.forth.num_edges()
    }

    /// Whether fewer edges are looked at when every vertex looks for the frontier than when the
    /// frontier is spread.
    pub fn pull_is_less(&self) -> bool {
        if let Some(together) = &self.together {
            return together.pull;
        }
        let many = self.list_edges > self.num_edges() / DENSE;
        if self.in_rounds || self.is_large || !many {
            return self.is_large || many;
        }
        // It stops at the best label, if the first wins.
        if !self.program.first_wins() {
            return false;
        }
        let labels = self.labels.cells();
        let frontier = self.list.iter().map(|&vertex| labels.get(vertex));
        let best = frontier.fold(P::Reduction::identity(), P::Reduction::combine);
        let best = self.program.relax(best, P::Weight::default());
        let proxies = (0..self.labels.num_proxies() as u32).into_par_iter().with_min_len(PIECE);
        let looks = |&proxy: &u32| {
            let label = labels.get(LocalId(proxy));
            P::Reduction::combine(label, best) != label
        };
        // It has looked at as many edges by then as there are for each that leaves the frontier.
        let looking = proxies.filter(looks).count() as f64;
        looking * self.num_edges() as f64 / (self.list_edges as f64) < self.list_edges as f64
    }

    /// The label of a proxy.
    #[inline]
    pub fn label(&self, proxy: LocalId) -> P::Label {
        self.labels.get(proxy)
    }

    /// Spreads the label of each of these vertices for which `due` says so along its edges, and
    /// calls `improved` with whoever gets a better one. That must be sent; whether it is spread
    /// further is up to the caller. `ALONE`: no other thread spreads other labels at the same time.
    /// Returns how many edges that took.
    #[inline(always)]
    pub fn spread<const ALONE: bool>(
        &self,
        vertices: &[LocalId],
        mut due: impl FnMut(P::Label) -> bool,
        mut improved: impl FnMut(LocalId, P::Label),
    ) -> u64 {
        let (labels, forth, program) = (self.labels.cells(), self.forth.rows(), self.program);
        let mut edges = 0;
        vertices.iter().take(LABELS_AHEAD).for_each(|&vertex| labels.prefetch(vertex));
        forth.prepare_first(vertices);
        for (place, &vertex) in vertices.iter().enumerate() {
            if let Some(&later) = vertices.get(place + LABELS_AHEAD) {
                labels.prefetch(later);
            }
            forth.prepare(vertices, place, |end| labels.prefetch(end));
            let label = labels.get(vertex);
            if !due(label) {
                continue;
            }
            edges += forth.degree(vertex);
            // Written out: closures for this are not compiled into the loop.
            for rows in forth.parts() {
                let (ends, weights) = rows.row(vertex);
                for (edge, &neighbour) in ends.iter().enumerate() {
                    if let Some(&later) = ends.get(edge + WITHIN) {
                        labels.prefetch(later);
                    }
                    let better = program.relax(label, weights[edge]);
                    let changed = match ALONE {
                        true => labels.fold_alone(neighbour, better),
                        false => labels.fold(neighbour, better),
                    };
                    if changed {
                        match ALONE {
                            true => self.labels.update_alone(neighbour),
                            false => self.labels.update(neighbour),
                        }
                        improved(neighbour, better);
                    }
                }
            }
        }
        edges
    }

    /// Spreads the labels of what is listed; whoever gets a better one is active.
    pub fn push(&mut self) {
        // Others may have so little to spread that nobody looks.
        self.list_large();
        let (active, first_wins) = (self.labels.active(), self.program.first_wins());
        let little = self.list_edges < FEW_EDGES || self.helpers.is_empty();
        if self.is_alone && (little || first_wins) {
            // Noting costs less than finding them in the set.
            self.noted = Some(match (little, first_wins) {
                (true, true) => self.spread_and_note([&self.list[..]], |_| true),
                (true, false) => self.spread_and_note([&self.list[..]], |v| active.insert_alone(v)),
                (false, _) => self.spread_and_note_by_all(),
            });
        } else if little {
            let improved = |neighbour, _| _ = active.insert_alone(neighbour);
            self.spread::<true>(&self.list, |_| true, improved);
        } else {
            self.helpers.share_out(&[&self.list], FRONTIER_PIECE, |_, pieces| {
                let improved = |neighbour, _| _ = active.insert(neighbour);
                pieces.for_each(|piece| _ = self.spread::<false>(piece, |_| true, improved));
            });
        }
    }

    /// Spreads labels; those with better ones for which `is_new` says so.
    fn spread_and_note<'v>(
        &self,
        pieces: impl IntoIterator<Item = &'v [LocalId]>,
        is_new: impl Fn(LocalId) -> bool,
    ) -> Listed {
        let mut noted = Vec::new();
        for piece in pieces {
            noted.reserve(2 * piece.len());
            let mut note = |neighbour, _| {
                if is_new(neighbour) {
                    noted.push(neighbour);
                }
            };
            self.spread::<true>(piece, |_| true, &mut note);
        }
        Listed::new(noted, self.forth.rows())
    }

    /// The same for what is listed, by all threads, where it is one level: whoever else writes a label
    /// writes the same. Two that write it at once both note it, which hardly ever happens and costs a
    /// look at the same edges again.
    fn spread_and_note_by_all(&self) -> Listed {
        let noted = Mutex::new(Listed::default());
        self.helpers.share_out(&[&self.list], FRONTIER_PIECE, |_, pieces| {
            let mine = self.spread_and_note(pieces, |_| true);
            noted.lock().unwrap_or_else(PoisonError::into_inner).add(mine);
        });
        noted.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
