//! A host's part of a general program: states, messages, contributions, and applying.

use std::ops::Range;

use parton_graph::bits::BitSet;
use parton_graph::{LocalId, huge};
use parton_partition::{End, Partition};
use parton_sync::{AtomicValue, CpuField, Delivery, Field, Reduction, Tally};
use rayon::prelude::*;

use crate::bands::{self, Band, Totals};
use crate::engine::Engine;
use crate::engines::Stepper;
use crate::program::{Accumulated, Vertex, VertexProgram};
use crate::relaxing::{FRONTIER_PIECE, PIECE};
use crate::slices::cut;
use crate::spares::Spares;
use crate::strategy::Strategy;
use crate::ways::{WayRows, Ways, is_complete};

/// Below so many edges threads cost more than they bring.
const FEW_EDGES: u64 = 1 << 11;
/// Edges whose contributions wait at a time.
const EDGES_PER_BATCH: u64 = 1 << 20;
/// Edges of one piece of a batch.
const EDGES_PER_PIECE: u64 = 1 << 14;
/// Groups of destinations that threads deliver to at the same time.
const GROUPS: usize = 64;

/// Data of a host's proxies, and the edges messages take.
pub struct Stepping<'a, P: VertexProgram> {
    program: P,
    partition: &'a Partition,
    /// Of masters.
    states: Vec<P::State>,
    messages: CpuField<P::Messages>,
    accumulators: CpuField<P::Reduction>,
    /// From where messages start; `None` where they are only ever collected.
    forth: Option<Ways<'a, P::Weight>>,
    num_edges: u64,
    /// From where messages arrive, for an engine that pulls.
    back: Option<Ways<'a, P::Weight>>,
    /// The same, in bands; none where that is not worth it.
    bands: Vec<Band>,
    totals: Spares<Totals<Accumulated<P>>>,
    /// What has something to tell in the next round.
    frontier: Vec<LocalId>,
    /// Whether all collect in every round, and all that comes to this host's masters comes along edges
    /// of this host, so that they can take it in as they collect it.
    at_once: bool,
    /// What came of it where that has happened in this round: sums, and the new messages.
    applied: Option<Tally>,
    next_messages: Vec<<P::Message as AtomicValue>::Cell>,
    /// Whether hosts do not wait for each other, so that a proxy may hear several messages before
    /// it tells them: what is told must be forgotten.
    forgets: bool,
}

impl<'a, P: VertexProgram> Stepping<'a, P> {
    fn new(program: P, partition: &'a Partition, pulls: bool) -> Self {
        let proxies = partition.num_proxies();
        let properties = program.properties();
        // Where all vertices tell in every round, a message is what a vertex has to say until it
        // says otherwise. Elsewhere telling is what happens, also if it is the same as before.
        let delivery = match properties.stationary {
            true => Delivery::Label,
            false => Delivery::Event,
        };
        let masters = (0..partition.num_masters() as u32).into_par_iter().map(LocalId);
        let mut states = huge::vec_with_capacity(partition.num_masters());
        states
            .par_extend(masters.map(|local| program.init(Vertex::new(partition.globals(), local))));
        let messages = CpuField::new(proxies, delivery, |_| P::Messages::identity());
        states.par_iter().enumerate().with_min_len(PIECE).for_each(|(place, state)| {
            let local = LocalId(place as u32);
            if let Some(message) = program.scatter(Vertex::new(partition.globals(), local), state) {
                messages.put(local, message);
                messages.touch(local);
            }
        });
        let at_once =
            pulls && properties.stationary && is_complete(partition, properties.edges.written());
        let forth = (!at_once).then(|| Ways::forth(partition, properties.edges));
        let back = pulls.then(|| Ways::back(partition, properties.edges));
        let is_banded = properties.stationary
            && properties.rounds >= bands::MANY_ROUNDS
            && size_of::<P::Weight>() == 0;
        let bands = back.as_ref().filter(|_| is_banded).map(|back| {
            if at_once {
                let at_hand = [partition.out_edges_at_hand(), partition.in_edges_at_hand()];
                let others = at_hand.into_iter().flatten().filter(|edges| !back.has(edges));
                others.for_each(|edges| edges.set_aside(0..edges.num_edges() as usize));
            }
            let collecting = if at_once { partition.num_masters() } else { proxies };
            Band::all(back.rows(), collecting, |rows| back.set_aside(rows))
        });
        let mut frontier = Vec::new();
        // Only what pushes needs a list of those that tell in all rounds.
        if let (true, false, Some(forth)) = (properties.stationary, pulls, &forth) {
            let all = (0..proxies as u32).map(LocalId);
            let rows = forth.rows();
            frontier.extend(all.filter(|&vertex| rows.degree(vertex) > 0));
        }
        let mut next_messages = Vec::new();
        if at_once {
            next_messages = huge::vec_with_capacity(proxies);
            let unsaid = (0..proxies).into_par_iter().map(|_| P::Messages::identity().cell());
            next_messages.par_extend(unsaid);
        }
        let edges = forth.as_ref().or(back.as_ref());
        // What is taken in at once is not kept, and nobody else asks for it.
        let keeps = !at_once || partition.num_hosts() > 1;
        Stepping {
            program,
            partition,
            states,
            messages,
            accumulators: CpuField::accumulator(if keeps { proxies } else { 0 }),
            num_edges: edges.map_or(0, Ways::num_edges),
            forth,
            back,
            bands: bands.unwrap_or_default(),
            totals: Spares::new(),
            frontier,
            at_once,
            applied: None,
            next_messages,
            forgets: false,
        }
    }

    /// The program.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// Number of edges that leave whatever has something to tell.
    pub fn frontier_edges(&self) -> u64 {
        match self.program.properties().stationary {
            true => self.num_edges,
            false => {
                let forth = self.forth();
                self.frontier.iter().map(|&vertex| forth.degree(vertex)).sum()
            }
        }
    }

    /// Number of edges that messages can take.
    pub fn num_edges(&self) -> u64 {
        self.num_edges
    }

    fn forth(&self) -> WayRows<'_, P::Weight> {
        self.forth.as_ref().expect("edges to push along").rows()
    }

    /// Delivers the frontier's messages along its edges.
    pub fn push(&self, edges: u64) {
        let deliver = |neighbour, value| {
            self.accumulators.fold(neighbour, value);
            self.accumulators.updated().insert(neighbour);
        };
        if edges < FEW_EDGES {
            self.frontier.iter().for_each(|&vertex| self.each_message(vertex, deliver));
        } else if P::Reduction::ORDERED {
            self.push_in_order(deliver);
        } else {
            let pieces = self.frontier.par_iter().with_max_len(FRONTIER_PIECE);
            pieces.for_each(|&vertex| self.each_message(vertex, deliver));
        }
    }

    fn each_message(&self, vertex: LocalId, mut deliver: impl FnMut(LocalId, Accumulated<P>)) {
        let message = self.messages.get(vertex);
        let soon = |_| ();
        self.forth().each(vertex, soon, |neighbour, weight| {
            deliver(neighbour, self.program.along(message, weight));
        });
    }

    /// Threads sort contributions by groups of destinations, then each group is delivered by one
    /// thread in the order of the frontier: the same sums for any number of threads.
    fn push_in_order(&self, deliver: impl Fn(LocalId, Accumulated<P>) + Sync) {
        let per_group = self.partition.num_proxies().div_ceil(GROUPS).max(1);
        for batch in self.cut(&self.frontier, EDGES_PER_BATCH) {
            let pieces: Vec<_> = self.cut(batch, EDGES_PER_PIECE).collect();
            let sort = |piece: &[LocalId]| {
                let mut groups = vec![Vec::new(); GROUPS];
                for &vertex in piece {
                    self.each_message(vertex, |neighbour, value| {
                        groups[neighbour.index() / per_group].push((neighbour, value));
                    });
                }
                groups
            };
            let sorted: Vec<_> = pieces.into_par_iter().map(sort).collect();
            (0..GROUPS).into_par_iter().for_each(|group| {
                for &(neighbour, value) in sorted.iter().flat_map(|piece| &piece[group]) {
                    deliver(neighbour, value);
                }
            });
        }
    }

    /// Consecutive pieces of some vertices with about so many edges each.
    fn cut<'f>(&self, vertices: &'f [LocalId], edges: u64) -> impl Iterator<Item = &'f [LocalId]> {
        let (forth, mut rest) = (self.forth(), vertices);
        std::iter::from_fn(move || {
            let mut sum = 0;
            let fits = rest.iter().take_while(|&&vertex| {
                let room = sum < edges;
                sum += forth.degree(vertex);
                room
            });
            let (piece, after) = rest.split_at(fits.count());
            rest = after;
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// Lets every proxy collect, in turn, from its neighbours that have something to tell.
    pub fn pull(&mut self) {
        if !self.program.properties().stationary {
            self.pull_from_telling();
        } else if self.at_once {
            self.pull_and_apply();
        } else {
            self.pull_from_all();
        }
    }

    fn back(&self) -> &Ways<'a, P::Weight> {
        self.back.as_ref().expect("an engine that pulls says so")
    }

    fn pull_from_telling(&self) {
        let back = self.back();
        let mut telling = BitSet::new(self.messages.num_proxies());
        self.frontier.iter().for_each(|vertex| _ = telling.insert(vertex.index()));
        let proxies = self.partition.num_proxies();
        let collect_word = |word: usize| {
            let (messages, accumulators) = (self.messages.cells(), self.accumulators.cells());
            let (back, program) = (back.rows(), &self.program);
            let mut got = 0u64;
            for proxy in (word * 64..proxies.min((word + 1) * 64)).map(|p| LocalId(p as u32)) {
                let (mut all, mut any) = (P::Reduction::identity(), false);
                back.each(
                    proxy,
                    |_| (),
                    |neighbour, weight| {
                        if telling.contains(neighbour.index()) {
                            let value = program.along(messages.get(neighbour), weight);
                            (all, any) = (P::Reduction::combine(all, value), true);
                        }
                    },
                );
                if any {
                    accumulators.put(proxy, all);
                    got |= 1 << (proxy.0 % 64);
                }
            }
            self.accumulators.updated().insert_word(word, got);
        };
        let words = (0..proxies.div_ceil(64)).into_par_iter().with_max_len(PIECE / 64);
        words.for_each(collect_word);
    }

    fn pull_from_all(&self) {
        let (accumulators, back) = (self.accumulators.cells(), self.back().rows());
        let spans = self.spans(self.partition.num_proxies()).into_par_iter().with_max_len(1);
        spans.enumerate().for_each(|(place, span)| {
            let mut totals = self.collect(place, &span);
            let mut collected = span.clone().zip(totals.drain(span.len()));
            // Spans begin with a word.
            for word in span.start / 64..span.end.div_ceil(64) {
                let mut got = 0u64;
                for (proxy, total) in collected.by_ref().take(64) {
                    if back.degree(LocalId(proxy as u32)) > 0 {
                        accumulators.put(LocalId(proxy as u32), total);
                        got |= 1 << (proxy % 64);
                    }
                }
                self.accumulators.updated().insert_word(word, got);
            }
            drop(collected);
            self.totals.leave(totals);
        });
    }

    /// Lets every master collect from all its neighbours and take it in at once. The others go on
    /// reading the messages of this round: new ones wait until it is over.
    fn pull_and_apply(&mut self) {
        let mut states = std::mem::take(&mut self.states);
        let spans = self.spans(states.len());
        let lengths = spans.iter().map(Range::len);
        let spans = spans.par_iter().with_max_len(1).zip(cut(&mut states, lengths));
        let take_in = |(place, (span, states)): (usize, (&Range<usize>, &mut [P::State]))| {
            let (program, messages) = (&self.program, self.messages.cells());
            let (globals, next) = (self.partition.globals(), &self.next_messages[span.clone()]);
            let mut tally = Tally::default();
            let mut totals = self.collect(place, span);
            let both = states.iter_mut().zip(next);
            for ((row, total), (state, next)) in
                span.clone().zip(totals.drain(span.len())).zip(both)
            {
                let local = LocalId(row as u32);
                let told = apply(program, Vertex::new(globals, local), state, total, &mut tally);
                told.unwrap_or_else(|| messages.get(local)).store(next);
            }
            self.totals.leave(totals);
            tally
        };
        // Sums are rounded span by span: spans do not depend on the number of threads.
        let tallies: Vec<Tally> = spans.enumerate().map(take_in).collect();
        self.states = states;
        self.applied = Some(tallies.into_iter().fold(Tally::default(), Tally::plus));
    }

    /// Rows that collect at a time.
    fn spans(&self, rows: usize) -> Vec<Range<usize>> {
        match &self.bands[..] {
            [] => (0..rows).step_by(PIECE).map(|row| row..rows.min(row + PIECE)).collect(),
            bands => bands.iter().map(Band::rows).collect(),
        }
    }

    /// What comes to the rows of a span, all of whose neighbours tell.
    #[inline(always)]
    fn collect(&self, place: usize, span: &Range<usize>) -> Totals<Accumulated<P>> {
        let mut totals = self.totals.take_or(|| Totals::new(P::Reduction::identity()));
        let (program, messages) = (&self.program, self.messages.cells());
        let value = |end, weight| program.along(messages.get(end), weight);
        match self.bands.get(place) {
            Some(band) => {
                let value = |end| value(end, P::Weight::default());
                band.combine(&mut totals, value, P::Reduction::combine);
            }
            None => {
                let soon = |end| messages.prefetch(end);
                let (first, totals) = (LocalId(span.start as u32), totals.first(span.len()));
                self.back().rows().combine(first, totals, soon, value, P::Reduction::combine);
            }
        }
        totals
    }
}

/// Lets a master take in what has come; what it tells next, if it must.
#[inline(always)]
fn apply<P: VertexProgram>(
    program: &P,
    vertex: Vertex<'_>,
    state: &mut P::State,
    accumulated: Accumulated<P>,
    tally: &mut Tally,
) -> Option<P::Message> {
    if !program.apply(vertex, state, accumulated, tally) {
        return None;
    }
    tally.changed += 1;
    program.scatter(vertex, state)
}

/// A program with a way through its edges.
pub(crate) struct SteppingEngine<'a, P: VertexProgram, S> {
    host: Stepping<'a, P>,
    strategy: S,
}

impl<'a, P: VertexProgram, S: Strategy> SteppingEngine<'a, P, S> {
    pub(crate) fn new(program: P, partition: &'a Partition) -> Self {
        let host = Stepping::new(program, partition, S::PULLS);
        SteppingEngine { host, strategy: S::default() }
    }
}

impl<P: VertexProgram, S: Strategy> Engine for SteppingEngine<'_, P, S> {
    fn compute(&mut self) -> u64 {
        // Hosts that do not wait for each other come by to pass on what they hear, too.
        if self.host.frontier.is_empty() && !self.host.program.properties().stationary {
            return 0;
        }
        let edges = match self.host.at_once {
            // Nothing else would do, whatever the strategy.
            true => {
                self.host.pull();
                self.host.num_edges()
            }
            false => self.strategy.step(&mut self.host),
        };
        if self.host.forgets {
            let Stepping { frontier, messages, .. } = &self.host;
            frontier.iter().for_each(|&vertex| messages.put(vertex, P::Messages::identity()));
        }
        edges
    }

    fn accumulators(&mut self) -> (&mut dyn Field, End) {
        (&mut self.host.accumulators, self.host.program.properties().edges.written())
    }

    fn apply(&mut self) -> Tally {
        let Stepping {
            program,
            partition,
            states,
            messages,
            accumulators,
            applied,
            next_messages,
            ..
        } = &mut self.host;
        let stationary = program.properties().stationary;
        if stationary && partition.num_hosts() > 1 {
            // All of them will have told; those that nobody listens to are on no route.
            messages.updated().insert_range(0..partition.num_masters() as u32);
        }
        if let Some(tally) = applied.take() {
            messages.replace_first(next_messages, partition.num_masters());
            return tally;
        }
        let (program, messages, accumulators) = (&*program, &*messages, &*accumulators);
        // Sums are rounded piece by piece: pieces do not depend on the number of threads.
        let apply_piece = |(piece, states): (usize, &mut [P::State])| {
            let mut tally = Tally::default();
            let first = (piece * PIECE) as u32;
            let masters = first..first + states.len() as u32;
            let contributions = accumulators.cells();
            let mut take_in = |local: LocalId| {
                let accumulated = contributions.get(local);
                contributions.put(local, P::Reduction::identity());
                let state = &mut states[(local.0 - first) as usize];
                apply(
                    program,
                    Vertex::new(partition.globals(), local),
                    state,
                    accumulated,
                    &mut tally,
                )
            };
            if stationary {
                let messages = messages.cells();
                for local in masters.map(LocalId) {
                    if let Some(message) = take_in(local) {
                        messages.put(local, message);
                    }
                }
            } else {
                for local in accumulators.updated().iter_range(masters) {
                    if let Some(message) = take_in(local) {
                        messages.put(local, message);
                        messages.touch(local);
                    }
                }
            }
            tally
        };
        let pieces = states.par_chunks_mut(PIECE).enumerate();
        let tallies: Vec<Tally> = pieces.map(apply_piece).collect();
        accumulators.updated().remove_range(0..partition.num_masters() as u32);
        tallies.into_iter().fold(Tally::default(), Tally::plus)
    }

    fn messages(&mut self) -> (&mut dyn Field, End) {
        (&mut self.host.messages, self.host.program.properties().edges.read())
    }

    fn is_active(&mut self) -> bool {
        let host = &mut self.host;
        if host.program.properties().stationary {
            return host.num_edges() > 0;
        }
        let mut frontier = host.messages.drain_active();
        let forth = host.forth();
        frontier.retain(|&vertex| forth.degree(vertex) > 0);
        host.frontier = frontier;
        !host.frontier.is_empty()
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        let properties = self.host.program.properties();
        if properties.stationary {
            Some("every vertex takes part in every round")
        } else if !properties.any_order {
            Some("the program does not say that its answer is the same in any order")
        } else if !P::Messages::COMMUTES {
            Some("of two messages of a vertex only the last would be heard")
        } else {
            None
        }
    }

    fn leave_rounds(&mut self, _governed: bool) {
        let Stepping { frontier, messages, .. } = &self.host;
        let mut untold = BitSet::new(messages.num_proxies());
        frontier.iter().for_each(|vertex| _ = untold.insert(vertex.index()));
        for proxy in (0..messages.num_proxies() as u32).map(LocalId) {
            let told = !(untold.contains(proxy.index())
                || messages.active().contains(proxy)
                || messages.updated().contains(proxy));
            if told {
                messages.put(proxy, P::Messages::identity());
            }
        }
        self.host.forgets = true;
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.host.program.conclude(total)
    }
}

impl<P: VertexProgram, S: Strategy> Stepper<P> for SteppingEngine<'_, P, S> {
    fn states(&self) -> &[P::State] {
        &self.host.states
    }

    fn program(&self) -> &P {
        &self.host.program
    }
}
