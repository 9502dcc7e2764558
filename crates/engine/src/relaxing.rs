//! A host's part of a relaxation: one label per proxy, and ways to spread it.

use parton_graph::bits::{BitSet, ones_of};
use parton_graph::{LocalId, VertexSet, Weight};
use parton_partition::{End, Partition};
use parton_sync::{CpuField, Delivery, Field, Phase, Reduction, Result, Substrate, Tally};
use rayon::prelude::*;

use crate::edges::WITHIN;
use crate::engine::Engine;
use crate::engines::Relaxer;
use crate::program::{Edges, Relaxation};
use crate::strategy::Strategy;
use crate::waiting::{Held, Waiting};
use crate::ways::{WayRows, Ways};

/// Below so many edges threads cost more than they bring.
pub(crate) const FEW_EDGES: u64 = 1 << 11;
/// Vertices that a thread takes at a time where it looks at all. Threads must not take half of
/// what is left, as they would by themselves: the vertices with most edges come first.
pub(crate) const PIECE: usize = 1 << 12;
/// The same of a frontier.
pub(crate) const FRONTIER_PIECE: usize = 1 << 8;

/// Pull when more than one edge in so many leaves the frontier.
pub(crate) const DENSE: u64 = 8;
/// How many vertices before its turn a vertex's label is asked for.
const LABELS_AHEAD: usize = 16;
/// A large frontier with more than one in so many vertices is not listed for an engine that pulls.
const MANY: usize = 8;
/// Vertices that are listed at a time.
const LIST_PIECE: u32 = 1 << 16;

/// Edges, of each thread, after which hosts that do not wait for each other talk.
const ENOUGH: u64 = 1 << 13;

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
    num_masters: u32,
    /// Proxies from this one on have no edges here.
    rows_end: u32,
    /// What hosts decide together, where each edge is on two of them.
    together: Option<Together>,
    /// Whether no other host changes labels.
    is_alone: bool,
    /// What became active in this round, where it was noted down instead; those that could become
    /// active twice are in the set, too.
    noted: Option<Vec<LocalId>>,
    /// What the next round starts from; empty where a list is all there is.
    frontier: VertexSet,
    /// Whether it has too many members to be worth listing.
    is_large: bool,
    /// The same as a list, but for those that no edge leaves; empty if it is large.
    list: Vec<LocalId>,
    /// How many edges leave what is listed.
    list_edges: u64,
    /// Whether hosts wait for each other, so that a frontier is one level.
    in_rounds: bool,
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
            num_masters,
            rows_end: if is_whole { num_masters } else { proxies as u32 },
            together: is_whole
                .then(|| Together { pull: false, edges: from_ends * partition.num_edges() }),
            is_alone: partition.num_hosts() == 1,
            noted: None,
            frontier: VertexSet::new(proxies),
            is_large: false,
            list: Vec::new(),
            list_edges: 0,
            in_rounds: true,
            waiting: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &P {
        self.program
    }

    /// Whether no other host changes labels.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Whether so many edges are enough before hosts talk. Where they wait for each other it is up to
    /// the engine. Elsewhere talking costs little, and news are worth most while they are new: those
    /// who have nothing to do can begin, and those who do see early what they do in vain.
    pub fn should_talk(&self, edges: u64) -> bool {
        !self.in_rounds && edges >= ENOUGH * rayon::current_num_threads() as u64
    }

    /// Whether the frontier is too large to be listed. Never, for an engine that does not pull.
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

    /// Makes what is active the frontier; whether that is anything.
    pub fn next_frontier(&mut self) -> bool {
        self.gather(1)
    }

    /// Makes what is active the frontier, at least `few` if so many wait; whether that is anything.
    fn gather(&mut self, few: usize) -> bool {
        self.frontier.clear();
        self.labels.swap_active(&mut self.frontier);
        self.is_large = false;
        if let Some(noted) = self.noted.take() {
            self.frontier.clear();
            (self.list, self.list_edges) = with_edges(noted, self.forth.rows());
            return !self.list.is_empty();
        }
        self.list_frontier();
        if !self.is_large {
            self.take_turns(few);
        }
        self.is_large || !self.list.is_empty()
    }

    /// Lists the frontier, unless it is large.
    fn list_frontier(&mut self) {
        self.list.clear();
        self.list_edges = 0;
        let (members, proxies) = (self.frontier.len(), self.labels.num_proxies());
        // Hosts that do not wait have frontiers of more than one level: whoever looks through its edges
        // looks at all of them, unless the first label wins.
        let may_pull = self.back.is_some()
            && (self.in_rounds || self.program.first_wins() && self.together.is_none());
        let all = || self.frontier.iter_range(0..proxies as u32);
        let mut may_go = || self.waiting.as_mut().is_none_or(|waiting| waiting.let_through(all));
        self.is_large = may_pull && members > (proxies / MANY).max(PIECE) && may_go();
        if !self.is_large {
            self.list_members();
        }
    }

    /// Lists the frontier, but for those that no edge leaves.
    fn list_members(&mut self) {
        let (frontier, forth, end) = (&self.frontier, self.forth.rows(), self.rows_end);
        let list = |range| with_edges(frontier.iter_range(range).collect(), forth);
        if frontier.len() < LIST_PIECE as usize {
            (self.list, self.list_edges) = list(0..end);
        } else {
            let pieces = (0..end).into_par_iter().step_by(LIST_PIECE as usize);
            let piece = |first| list(first..end.min(first.saturating_add(LIST_PIECE)));
            let pieces: Vec<(Vec<LocalId>, u64)> = pieces.map(piece).collect();
            self.list_edges = pieces.iter().map(|(_, edges)| edges).sum();
            self.list.par_extend(pieces.into_par_iter().flat_map_iter(|(piece, _)| piece));
        }
    }

    /// Leaves in the list whose turn it is, where hosts do not wait for each other.
    fn take_turns(&mut self, few: usize) {
        let Some(waiting) = &mut self.waiting else { return };
        // What is listed is all there is.
        self.frontier.clear();
        let (labels, forth) = (self.labels.cells(), self.forth.rows());
        let is_worse = |label, than| label != than && P::Reduction::combine(label, than) == than;
        let order = |a: &P::Label, b: &P::Label| is_worse(*a, *b).cmp(&is_worse(*b, *a));
        let degree = |vertex| forth.degree(vertex);
        waiting.choose(&mut self.list, few, |vertex| labels.get(vertex), order, degree);
        self.list_edges = self.list.iter().map(|&vertex| degree(vertex)).sum();
    }

    /// Whether anybody here has a label to spread, or may find one that a master elsewhere has.
    fn has_frontier(&self) -> bool {
        let listed = self.is_large || !self.list.is_empty();
        listed || self.together.is_some() && !self.frontier.is_empty()
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

    /// Lets mirrors know the labels of the frontier, and be part of it.
    fn tell_frontier(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        // Whoever hears of a label becomes active.
        self.labels.swap_active(&mut self.frontier);
        substrate.broadcast(&mut self.labels, self.program.edges().read())?;
        self.labels.swap_active(&mut self.frontier);
        Ok(())
    }

    /// The label of a proxy.
    #[inline]
    pub fn label(&self, proxy: LocalId) -> P::Label {
        self.labels.get(proxy)
    }

    /// Spreads the label of each of these vertices for which `due` says so along its edges, and
    /// calls `improved` with whoever gets a better one. That must be sent; whether it is spread
    /// further is up to the caller. `ALONE`: no other thread spreads labels at the same time.
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

    /// Whether work on so many edges is best left to one thread.
    fn is_little(edges: u64) -> bool {
        edges < FEW_EDGES || rayon::current_num_threads() == 1
    }

    /// Spreads the labels of what is listed; whoever gets a better one is active.
    pub fn push(&mut self) {
        if std::mem::take(&mut self.is_large) {
            // Others have so little to spread that nobody looks.
            self.list_members();
        }
        let (active, first_wins) = (self.labels.active(), self.program.first_wins());
        let little = Self::is_little(self.list_edges);
        if self.is_alone && (little || first_wins) {
            // Noting costs less than finding them in the set.
            self.noted = Some(match (little, first_wins) {
                (true, true) => self.spread_and_note::<true>(&self.list, |_| true),
                (true, false) => {
                    self.spread_and_note::<true>(&self.list, |v| active.insert_alone(v))
                }
                (false, _) => {
                    let pieces = self.list.par_chunks(FRONTIER_PIECE);
                    let noted = pieces.map(|piece| self.spread_and_note::<false>(piece, |_| true));
                    noted.collect::<Vec<_>>().concat()
                }
            });
        } else if little {
            let improved = |neighbour, _| _ = active.insert_alone(neighbour);
            self.spread::<true>(&self.list, |_| true, improved);
        } else {
            self.list.par_chunks(FRONTIER_PIECE).for_each(|piece| {
                self.spread::<false>(piece, |_| true, |neighbour, _| _ = active.insert(neighbour));
            });
        }
    }

    /// Spreads labels; those with better ones for which `is_new` says so.
    fn spread_and_note<const ALONE: bool>(
        &self,
        vertices: &[LocalId],
        is_new: impl Fn(LocalId) -> bool,
    ) -> Vec<LocalId> {
        let mut noted = Vec::with_capacity(2 * vertices.len());
        self.spread::<ALONE>(
            vertices,
            |_| true,
            |neighbour, _| {
                if is_new(neighbour) {
                    noted.push(neighbour);
                }
            },
        );
        noted
    }

    /// The best label that the frontier can give, where all edges are the same.
    fn best_of_frontier(&self) -> P::Label {
        let pieces = (0..self.labels.num_proxies() as u32).into_par_iter();
        let best = pieces.step_by(LIST_PIECE as usize).map(|first| {
            let piece =
                first..first.saturating_add(LIST_PIECE).min(self.labels.num_proxies() as u32);
            let labels = self.frontier.iter_range(piece).map(|vertex| self.labels.get(vertex));
            labels.fold(P::Reduction::identity(), P::Reduction::combine)
        });
        let best = best.reduce(P::Reduction::identity, P::Reduction::combine);
        self.program.relax(best, P::Weight::default())
    }

    /// Lets every proxy look for better labels in the frontier; how many edges they looked at.
    pub fn pull(&self) -> u64 {
        // A list may be all there is of the frontier.
        self.list.iter().for_each(|&vertex| _ = self.frontier.insert_alone(vertex));
        let back = self.back.as_ref().expect("an engine that pulls says so");
        let identity = P::Reduction::identity();
        let first_wins = self.program.first_wins();
        let best = (first_wins && !self.in_rounds).then(|| self.best_of_frontier());
        // Whether the frontier cannot improve a label.
        let is_good = |label| match best {
            Some(best) => P::Reduction::combine(label, best) == label,
            None => first_wins && label != identity,
        };
        let (proxies, looking_end) = (self.labels.num_proxies(), self.rows_end as usize);
        let one_level = first_wins && self.in_rounds;
        let first = self.frontier.iter_range(0..proxies as u32).next().filter(|_| one_level);
        let first_label = first.map(|vertex| self.labels.get(vertex));
        let look_at_word = |word: usize| -> u64 {
            let (labels, back, frontier) =
                (self.labels.cells(), back.rows(), self.frontier.members());
            let of_word = word * 64..looking_end.min((word + 1) * 64);
            let looking = of_word.fold(0u64, |all, proxy| {
                let looks = !is_good(labels.get(LocalId(proxy as u32)));
                all | u64::from(looks) << (proxy % 64)
            });
            let (mut better, mut looked) = (0u64, 0);
            for proxy in ones_of(word * 64, looking).map(|proxy| LocalId(proxy as u32)) {
                let old = labels.get(proxy);
                let mut label = old;
                back.until(proxy, |neighbour, weight| {
                    looked += 1;
                    let there = frontier.contains(neighbour);
                    if there {
                        let other = first_label.unwrap_or_else(|| labels.get(neighbour));
                        label = P::Reduction::combine(label, self.program.relax(other, weight));
                    }
                    there && is_good(label)
                });
                if label != old {
                    labels.put(proxy, label);
                    better |= 1 << (proxy.0 % 64);
                }
            }
            self.labels.touch_word(word, better);
            looked
        };
        let words = (0..looking_end.div_ceil(64)).into_par_iter().with_max_len(PIECE / 64);
        words.map(look_at_word).sum()
    }
}

/// Those of some vertices that edges leave, and how many.
fn with_edges<W: Weight>(mut vertices: Vec<LocalId>, forth: WayRows<'_, W>) -> (Vec<LocalId>, u64) {
    let (mut kept, mut edges) = (0, 0);
    for place in 0..vertices.len() {
        forth.prepare_degree(&vertices, place);
        let degree = forth.degree(vertices[place]);
        vertices[kept] = vertices[place];
        kept += usize::from(degree > 0);
        edges += degree;
    }
    vertices.truncate(kept);
    (vertices, edges)
}

/// A relaxation with a way through its edges.
pub(crate) struct RelaxingEngine<'a, P: Relaxation, S> {
    host: Relaxing<'a, P>,
    strategy: S,
}

impl<'a, P: Relaxation, S: Strategy> RelaxingEngine<'a, P, S> {
    pub(crate) fn new(program: &'a P, partition: &'a Partition) -> Self {
        let host = Relaxing::new::<S>(program, partition);
        RelaxingEngine { host, strategy: S::default() }
    }
}

impl<P: Relaxation, S: Strategy> Engine for RelaxingEngine<'_, P, S> {
    fn trade(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        match &self.host.together {
            None => Ok(()),
            Some(Together { pull: true, .. }) => self.host.tell_frontier(substrate),
            Some(_) => {
                // Nobody looks for the labels of this frontier.
                self.host.labels.reset(0..self.host.num_masters, Phase::Broadcast);
                Ok(())
            }
        }
    }

    fn compute(&mut self) -> u64 {
        // Hosts that do not wait for each other come by to pass on what they hear, too.
        match self.host.has_frontier() || self.strategy.has_more() {
            true => self.strategy.relax(&mut self.host),
            false => 0,
        }
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.host.labels, self.host.program.edges().written())
    }

    fn reduce(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        match &self.host.together {
            // Masters have looked for themselves.
            Some(Together { pull: true, .. }) => Ok(()),
            _ => substrate.reduce(&mut self.host.labels, self.host.program.edges().written()),
        }
    }

    fn apply(&mut self) -> Tally {
        let masters = 0..self.host.num_masters;
        let changed = self.host.labels.updated().count_range(masters) as u64;
        Tally { changed, ..Tally::default() }
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.host.labels, self.host.program.edges().read())
    }

    fn broadcast(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        match &self.host.together {
            // When hosts have agreed to look.
            Some(_) => Ok(()),
            None => substrate.broadcast(&mut self.host.labels, self.host.program.edges().read()),
        }
    }

    fn is_active(&mut self) -> bool {
        self.host.gather(S::FEW_LABELS) || self.strategy.has_more()
    }

    fn frontier_edges(&self) -> u64 {
        if self.host.is_large { self.host.num_edges() } else { self.host.list_edges }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        if let Some(together) = &mut self.host.together {
            together.pull = self.host.in_rounds && total.frontier_edges > together.edges / DENSE;
        }
        total.active == 0
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }

    fn leave_rounds(&mut self, governed: bool) {
        if let Some(together) = &mut self.host.together {
            together.pull = false;
        }
        // A host that is alone has nobody to wait for: its frontiers are levels.
        self.host.in_rounds = self.host.is_alone;
        if governed && !self.host.is_alone && !S::SORTS {
            self.host.waiting = Some(Waiting::new(self.host.labels.num_proxies()));
        }
    }

    fn held(&self) -> Held {
        self.host.waiting.as_ref().map_or(Held::default(), |waiting| waiting.held)
    }
}

impl<P: Relaxation, S: Strategy> Relaxer<P> for RelaxingEngine<'_, P, S> {
    fn label(&self, proxy: LocalId) -> P::Label {
        self.host.labels.get(proxy)
    }
}
