//! Vertex programs on one host: states and messages, in rounds of scatter, combine and apply.
//!
//! The engines `push`, `frontier` and `pull` run vertex programs by this engine; they differ in the
//! direction they take.

mod data;
mod edge_access;

use std::borrow::Cow;
use std::ops::Range;

use parton_graph::bits::BitSet;
use parton_graph::{LocalId, parallel};
use parton_partition::{End, Partition};
use parton_sync::{AtomicValue, CpuField, Field, Phase, Reduction, Result, Substrate, Tally};

use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::{
    Accumulated, Properties, Round, Vertex, VertexProgram, may_be_otherwise, may_be_stationary,
    next_round,
};
use crate::registry::ProgramEngine;
use crate::techniques::VERTICES_PER_TASK;
use crate::techniques::bottom_up;
use crate::techniques::collector::Collector;
use crate::techniques::ordered_push::push;
use crate::techniques::slices::cut;
use data::first_messages;
use edge_access::EdgeAccess;

/// Why hosts wait for each other where the program is stationary.
pub(super) const ALL_TAKE_PART: &str = "every vertex takes part in every round";

/// From which end messages travel along edges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From where they start.
    Push,
    /// From where they arrive.
    Pull,
    /// Whichever visits fewer edges.
    Either,
}

/// A vertex program on one host.
pub(super) struct VertexEngine<'a, P: VertexProgram> {
    pub(super) program: P,
    pub(super) partition: &'a Partition,
    direction: Direction,
    /// Of masters.
    pub(super) states: Vec<P::State>,
    pub(super) messages: CpuField<P::Messages>,
    pub(super) accumulators: CpuField<P::Reduction>,
    pub(super) edges: EdgeAccess<'a, P>,
    /// The same edges in the direction that messages do not take now, of a program that turns.
    opposite: Option<EdgeAccess<'a, P>>,
    /// What the program asks of this round.
    pub(super) round: Round,
    /// Vertices that have a message in the next round; all of them in a stationary program.
    frontier: Vec<LocalId>,
    /// Set where masters apply what they collect at once.
    fused: Option<FusedApply<P>>,
    /// Whether a message is forgotten once it was spread: hosts that do not wait for each other may receive
    /// several before they spread one.
    forgets: bool,
}

/// A stationary program whose masters have all their edges here applies what it collects at once. Other
/// vertices go on reading the messages of this round: new ones are kept apart until the round is over.
struct FusedApply<P: VertexProgram> {
    /// What the masters' applying added up to in this round.
    tally: Option<Tally>,
    next_messages: Vec<<P::Message as AtomicValue>::Cell>,
}

impl<P: VertexProgram> FusedApply<P> {
    fn new(proxies: usize) -> Self {
        let next_messages = parallel::generate(proxies, |_| P::Messages::identity().cell());
        FusedApply { tally: None, next_messages }
    }
}

impl<'a, P: VertexProgram> VertexEngine<'a, P> {
    pub(super) fn new(program: P, partition: &'a Partition, direction: Direction) -> Result<Self> {
        let proxies = partition.num_proxies();
        let properties = program.properties();
        let pulls = direction != Direction::Push;
        let is_fused = pulls
            && properties.stationary
            && !partition.shares_proxies_at(properties.edges.written());
        let fused = match const { may_be_stationary::<P>() } {
            true => is_fused.then(|| FusedApply::new(proxies)),
            false => None,
        };
        let (states, messages) = first_messages(&program, partition);
        let edges = EdgeAccess::new(partition, properties, pulls, is_fused)?;
        let opposite = properties.turns.then(|| {
            let properties = Properties { edges: properties.edges.reversed(), ..properties };
            EdgeAccess::new(partition, properties, pulls, is_fused)
        });
        let opposite = opposite.transpose()?;
        let mut frontier = Vec::new();
        // Only a push needs a list of the vertices that have a message in every round.
        if let (true, false, Some(forward)) = (properties.stationary, pulls, &edges.forward) {
            let all = (0..proxies as u32).map(LocalId);
            let rows = forward.rows();
            frontier.extend(all.filter(|&vertex| rows.degree(vertex) > 0));
        }
        // A host that is alone keeps no contributions that it applies at once.
        let keeps = !is_fused || partition.num_hosts() > 1;
        let mut engine = VertexEngine {
            round: Round::default(),
            program,
            partition,
            direction,
            states,
            messages,
            accumulators: CpuField::accumulator(if keeps { proxies } else { 0 }),
            edges,
            opposite,
            frontier,
            fused,
            forgets: false,
        };
        engine.turn()?;
        Ok(engine)
    }

    /// Learns what the program asks of the next round. Returns whether messages turn round.
    fn turn(&mut self) -> Result<bool> {
        let next = next_round(&self.program)?;
        let turns = next.is_reversed != self.round.is_reversed;
        if let Some(opposite) = self.opposite.as_mut().filter(|_| turns) {
            std::mem::swap(&mut self.edges, opposite);
        }
        self.round = next;
        Ok(turns)
    }

    pub(super) fn is_stationary(&self) -> bool {
        self.program.properties().stationary
    }

    /// Number of edges that leave the vertices with a message.
    fn frontier_edges(&self) -> u64 {
        match &self.edges.forward {
            Some(forward) if !self.is_stationary() => {
                let rows = forward.rows();
                self.frontier.iter().map(|&vertex| rows.degree(vertex)).sum()
            }
            _ => self.edges.num_edges,
        }
    }

    /// Delivers messages along edges, in the engine's direction. Returns the number of edges visited.
    fn deliver(&mut self) -> u64 {
        if const { may_be_stationary::<P>() } && self.fused.is_some() {
            self.collect_and_apply();
            return self.edges.num_edges;
        }
        let edges = self.frontier_edges();
        let pulls = match self.direction {
            Direction::Push => false,
            Direction::Pull => true,
            Direction::Either => bottom_up::pays_off(edges, self.edges.num_edges),
        };
        match (&self.edges.collector, &self.edges.forward) {
            (Some(collector), _) if pulls => {
                // The constants come first: what is behind one that is false is not compiled.
                if const { may_be_stationary::<P>() } && self.is_stationary() {
                    self.collect_from_all(collector);
                } else if const { may_be_otherwise::<P>() } {
                    self.collect_from_frontier(collector);
                }
                self.edges.num_edges
            }
            (_, Some(forward)) => {
                let (program, messages) = (&self.program, self.messages.cells());
                let sends = |vertex| {
                    let message = messages.get(vertex);
                    move |weight| program.along(message, weight)
                };
                push(&self.accumulators, forward.rows(), (&self.frontier, edges), sends);
                edges
            }
            (_, None) => 0,
        }
    }

    /// Lets every proxy collect from its neighbours that have a message.
    fn collect_from_frontier(&self, collector: &Collector<'a, P>) {
        let mut has_message = BitSet::new(self.messages.num_proxies());
        self.frontier.iter().for_each(|vertex| _ = has_message.insert(vertex.index()));
        let proxies = self.partition.num_proxies();
        let collect_word = |word: usize| {
            let (messages, accumulators) = (self.messages.cells(), self.accumulators.cells());
            let (reverse, program) = (collector.rows(), &self.program);
            let mut got = 0u64;
            for proxy in (word * 64..proxies.min((word + 1) * 64)).map(|p| LocalId(p as u32)) {
                let (mut all, mut any) = (P::Reduction::identity(), false);
                reverse.each(
                    proxy,
                    |_| (),
                    |neighbour, weight| {
                        if has_message.contains(neighbour.index()) {
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
        let words = parallel::pieces(0..proxies.div_ceil(64), VERTICES_PER_TASK / 64);
        parallel::for_each(&words, |words| words.clone().for_each(collect_word));
    }

    /// Lets every proxy collect from all its neighbours.
    fn collect_from_all(&self, collector: &Collector<'a, P>) {
        let (accumulators, reverse) = (self.accumulators.cells(), collector.rows());
        let (program, messages) = (&self.program, self.messages.cells());
        let tasks = collector.tasks(self.partition.num_proxies());
        parallel::for_each_owned(tasks, |number, rows| {
            let mut totals = collector.collect(program, messages, number, &rows);
            let mut collected = rows.clone().zip(totals.drain(rows.len()));
            // Tasks begin with a word.
            for word in rows.start / 64..rows.end.div_ceil(64) {
                let mut got = 0u64;
                for (proxy, total) in collected.by_ref().take(64) {
                    if reverse.degree(LocalId(proxy as u32)) > 0 {
                        accumulators.put(LocalId(proxy as u32), total);
                        got |= 1 << (proxy % 64);
                    }
                }
                self.accumulators.updated().insert_word(word, got);
            }
            drop(collected);
            collector.leave(totals);
        });
    }

    /// Lets every master collect from all its neighbours and apply that at once.
    fn collect_and_apply(&mut self) {
        let VertexEngine { program, partition, states, messages, .. } = self;
        let (Some(collector), Some(fused)) = (&self.edges.collector, &mut self.fused) else {
            return;
        };
        let tasks = collector.tasks(states.len());
        let lengths = tasks.iter().map(Range::len);
        let tasks = tasks.iter().zip(cut(states, lengths));
        let next_messages = &fused.next_messages;
        let apply_task = |number, (rows, states): (&Range<usize>, &mut [P::State])| {
            let (program, messages) = (&*program, messages.cells());
            let (globals, next) = (partition.globals(), &next_messages[rows.clone()]);
            let mut tally = Tally::default();
            let mut totals = collector.collect(program, messages, number, rows);
            let both = states.iter_mut().zip(next);
            for ((row, total), (state, next)) in
                rows.clone().zip(totals.drain(rows.len())).zip(both)
            {
                let local = LocalId(row as u32);
                let message = apply(program, Vertex::new(globals, local), state, total, &mut tally);
                message.unwrap_or_else(|| messages.get(local)).store(next);
            }
            collector.leave(totals);
            tally
        };
        // Sums are rounded task by task: tasks do not depend on the number of threads.
        let tallies = parallel::map_owned(tasks, apply_task);
        fused.tally = Some(tallies.into_iter().fold(Tally::default(), Tally::plus));
    }

    /// Lets masters apply the contributions that have arrived.
    fn apply_contributions(&mut self) -> Tally {
        let VertexEngine { program, partition, states, messages, accumulators, .. } = self;
        let stationary = program.properties().stationary;
        let everywhere = self.round.applies_everywhere;
        let (program, messages, accumulators) = (&*program, &*messages, &*accumulators);
        // Sums are rounded task by task: tasks do not depend on the number of threads.
        let apply_task = |number, states: &mut [P::State]| {
            let mut tally = Tally::default();
            let first = (number * VERTICES_PER_TASK) as u32;
            let masters = first..first + states.len() as u32;
            let contributions = accumulators.cells();
            let mut apply_at = |local: LocalId| {
                let accumulated = contributions.get(local);
                contributions.put(local, P::Reduction::identity());
                let state = &mut states[(local.0 - first) as usize];
                let vertex = Vertex::new(partition.globals(), local);
                apply(program, vertex, state, accumulated, &mut tally)
            };
            if stationary {
                let messages = messages.cells();
                for local in masters.map(LocalId) {
                    if let Some(message) = apply_at(local) {
                        messages.put(local, message);
                    }
                }
                return tally;
            }
            let mut apply_and_send = |local: LocalId| {
                if let Some(message) = apply_at(local) {
                    messages.put(local, message);
                    messages.touch(local);
                }
            };
            match everywhere {
                true => masters.map(LocalId).for_each(&mut apply_and_send),
                false => accumulators.updated().iter_range(masters).for_each(&mut apply_and_send),
            }
            tally
        };
        let tallies = parallel::map_owned(states.chunks_mut(VERTICES_PER_TASK), apply_task);
        accumulators.updated().remove_range(0..partition.num_masters() as u32);
        tallies.into_iter().fold(Tally::default(), Tally::plus)
    }
}

/// Lets a master apply what it has collected. Returns the message it sends next, if any.
#[inline(always)]
pub(super) fn apply<P: VertexProgram>(
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

impl<P: VertexProgram> Engine for VertexEngine<'_, P> {
    fn compute(&mut self) -> Result<u64> {
        // Hosts that do not wait for each other pass by here without messages, too.
        if self.frontier.is_empty() && !self.is_stationary() {
            return Ok(0);
        }
        let edges = self.deliver();
        if self.forgets {
            let messages = self.messages.cells();
            self.frontier.iter().for_each(|&v| messages.put(v, P::Messages::identity()));
        }
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        let edges = self.program.properties().edges_in(self.round);
        match phase {
            Phase::Reduce => substrate.reduce(&mut self.accumulators, edges.written()),
            Phase::Broadcast => substrate.broadcast(&mut self.messages, edges.read()),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        let num_masters = self.partition.num_masters();
        if self.is_stationary() && self.partition.num_hosts() > 1 {
            // Every master sends in every round; those without mirrors are on no route.
            self.messages.updated().insert_range(0..num_masters as u32);
        }
        if let Some(fused) = &mut self.fused
            && let Some(tally) = fused.tally.take()
        {
            // Mirrors have other values now, until the broadcast of all masters that follows.
            self.messages.swap_values(&mut fused.next_messages);
            return Ok(tally);
        }
        Ok(self.apply_contributions())
    }

    fn next(&mut self) -> Result<Next> {
        let forward = match &self.edges.forward {
            Some(forward) if !self.is_stationary() => forward.rows(),
            _ => return Ok(Next::new(self.edges.num_edges > 0)),
        };
        self.frontier = self.messages.drain_active();
        self.frontier.retain(|&vertex| forward.degree(vertex) > 0);
        Ok(Next::new(!self.frontier.is_empty()))
    }

    fn conclude(&mut self, total: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        let has_ended = self.program.conclude(total);
        let conclusion = Conclusion { has_ended, measure: self.program.measure() };
        if self.turn()? {
            // No mirror is owed a message that went the other way.
            let masters = 0..self.partition.num_masters() as u32;
            self.messages.reset(Phase::Broadcast, End::Either, &[masters])?;
        }
        Ok(conclusion)
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        let Properties { stationary, any_order, .. } = self.program.properties();
        if stationary {
            Err(ALL_TAKE_PART)
        } else if !any_order {
            Err("the program does not say that its answer is the same in any order")
        } else if !P::Messages::COMMUTES {
            Err("of two messages of a vertex only the last would be heard")
        } else {
            match const { may_be_otherwise::<P>() } {
                true => Ok(self),
                false => Err(ALL_TAKE_PART),
            }
        }
    }
}

impl<P: VertexProgram> Paced for VertexEngine<'_, P> {
    /// Forgets the messages that have been spread: from now on messages of several rounds may combine.
    fn leave_rounds(&mut self, _: bool) {
        let messages = &self.messages;
        let mut is_pending = BitSet::new(messages.num_proxies());
        self.frontier.iter().for_each(|vertex| _ = is_pending.insert(vertex.index()));
        for proxy in (0..messages.num_proxies() as u32).map(LocalId) {
            let was_spread = !(is_pending.contains(proxy.index())
                || messages.active().contains(proxy)
                || messages.updated().contains(proxy));
            if was_spread {
                messages.put(proxy, P::Messages::identity());
            }
        }
        self.forgets = true;
    }
}

impl<P: VertexProgram> ProgramEngine<P> for VertexEngine<'_, P> {
    fn states(&self) -> Result<Cow<'_, [P::State]>> {
        Ok(Cow::Borrowed(&self.states))
    }

    fn program(&self) -> &P {
        &self.program
    }
}
