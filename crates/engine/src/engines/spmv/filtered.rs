//! Vertices that are left out of rounds: sources are multiplied once, sinks when the last round is over.
//!
//! Vertices without in-edges share one state, so that what they contribute to a vertex is a sum that never
//! changes, times one number per round. Sinks and isolated vertices hold, after the last round, what that
//! round would have given them: they collect from the messages that it began with, which are kept for them.

use std::ops::Range;

use parton_graph::{LocalId, VertexSet, parallel};
use parton_sync::{CpuField, Delivery, Reduction, Result, ScheduleFault, Substrate};

use super::Product;
use super::classes::Classes;
use crate::program::filtering::Filter;
use crate::program::{Accumulated, Vertex, VertexProgram};
use crate::state::directions::Directions;
use crate::techniques::VERTICES_PER_TASK;

/// Vertices that are left out of rounds, and what stands in for them.
pub(super) struct LeftOutVertices<P: VertexProgram> {
    pub(super) sets: LeftOutSets,
    /// What sources contribute to each master in the unit state; empty if sources take part in rounds.
    of_sources: Vec<Accumulated<P>>,
    /// The factor of the last round that was applied.
    factor: f64,
    /// While a round is under way: the messages of the next one. Afterwards: those it began with.
    pub(super) other_messages: CpuField<P::Messages>,
}

/// Which vertices are left out.
pub(super) struct LeftOutSets {
    classes: Classes,
    filter: Filter,
}

impl LeftOutSets {
    /// Whether an edge is multiplied in every round.
    pub(super) fn keeps(&self, source: LocalId, destination: LocalId) -> bool {
        !(self.filter.sources && self.classes.sources.contains(source)
            || self.classes.sinks.contains(destination))
    }

    /// Whether a master takes part in rounds.
    pub(super) fn is_regular(&self, master: LocalId) -> bool {
        self.classes.regular.contains(master)
            || !self.filter.sources && self.classes.sources.contains(master)
    }

    /// Adds the masters that take part in rounds.
    fn mark_updated(&self, updated: &VertexSet, masters: Range<u32>) {
        updated.insert_all(&self.classes.regular, masters.clone());
        if !self.filter.sources {
            updated.insert_all(&self.classes.sources, masters);
        }
    }
}

impl<P: VertexProgram> LeftOutVertices<P> {
    /// What a master has collected, with what sources contribute.
    pub(super) fn with_sources(
        &self,
        program: &P,
        master: usize,
        accumulated: Accumulated<P>,
    ) -> Accumulated<P> {
        match self.of_sources.get(master) {
            Some(&unit) => P::Reduction::combine(accumulated, program.scale(unit, self.factor)),
            None => accumulated,
        }
    }

    /// Marks the messages of masters that take part in rounds.
    pub(super) fn mark_updated(&self, masters: Range<u32>) {
        self.sets.mark_updated(self.other_messages.updated(), masters);
    }
}

impl<P: VertexProgram> Product<'_, P> {
    /// Decides which vertices are left out. Every host must call this.
    pub(super) fn prepare_left_out(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let filter = Filter::of(&self.base.program);
        if !self.schedule.filter || !filter.any() {
            return Ok(());
        }
        let mut classes = Classes::find(substrate, self.properties().edges)?;
        if self.schedule.fault == Some(ScheduleFault::FilterReadVertex) {
            classes.plant_fault();
        }
        let of_sources = match filter.sources {
            true => self.multiply_sources(&classes, substrate)?,
            false => Vec::new(),
        };
        self.base.program.leave_out(classes.left_out);
        let messages = &self.base.messages;
        let proxies = messages.num_proxies();
        let cells = messages.cells();
        let other_messages = CpuField::new(proxies, Delivery::Label, |proxy| cells.get(proxy));
        let sets = LeftOutSets { classes, filter };
        // Only messages of masters that take part are sent.
        let masters = 0..self.base.partition.num_masters() as u32;
        messages.updated().remove_range(masters.clone());
        sets.mark_updated(messages.updated(), masters);
        self.left_out = Some(LeftOutVertices { sets, of_sources, factor: 0.0, other_messages });
        Ok(())
    }

    /// What sources in the unit state contribute to each master.
    fn multiply_sources(
        &mut self,
        classes: &Classes,
        substrate: &mut Substrate<'_>,
    ) -> Result<Vec<Accumulated<P>>> {
        let partition = self.base.partition;
        let (program, edges) = (&self.base.program, self.properties().edges);
        let Some(shared) = program.shared_source() else { return Ok(Vec::new()) };
        let mut messages =
            CpuField::<P::Messages>::new(partition.num_proxies(), Delivery::Label, |_| {
                P::Messages::identity()
            });
        let masters = 0..partition.num_masters() as u32;
        for source in classes.sources.iter_range(masters.clone()) {
            let vertex = Vertex::new(partition.globals(), source);
            if let Some(message) = program.scatter(vertex, &shared.unit) {
                messages.put(source, message);
                messages.update(source);
            }
        }
        substrate.broadcast(&mut messages, edges.read())?;
        let mut sums = CpuField::<P::Reduction>::accumulator(partition.num_proxies());
        let sources = &classes.sources;
        self.collect(&messages, &sums, |_| true, |source| sources.contains(source));
        substrate.reduce(&mut sums, edges.written())?;
        Ok(masters.map(|master| sums.get(LocalId(master))).collect())
    }

    /// Lets some rows collect from some of their neighbours, without tiles. Returns the number of edges.
    fn collect(
        &self,
        messages: &CpuField<P::Messages>,
        sums: &CpuField<P::Reduction>,
        is_row: impl Fn(LocalId) -> bool + Sync,
        is_source: impl Fn(LocalId) -> bool + Sync,
    ) -> u64 {
        let base = &self.base;
        let reverse = Directions::<P::Weight>::reverse(base.partition, self.properties().edges);
        let pieces = parallel::pieces(0..base.partition.num_proxies(), VERTICES_PER_TASK);
        let edges = parallel::map(&pieces, |piece| {
            let (rows, messages, mut edges) = (reverse.rows(), messages.cells(), 0);
            for row in piece.clone().map(|row| LocalId(row as u32)).filter(|&row| is_row(row)) {
                let mut total = None;
                rows.each(
                    row,
                    |_| (),
                    |source, weight| {
                        if is_source(source) {
                            let value = base.program.along(messages.get(source), weight);
                            let sum = total.unwrap_or_else(P::Reduction::identity);
                            total = Some(P::Reduction::combine(sum, value));
                            edges += 1;
                        }
                    },
                );
                if let Some(total) = total {
                    sums.put(row, total);
                    sums.updated().insert(row);
                }
            }
            edges
        });
        edges.into_iter().sum()
    }

    /// Learns the factor of the round that is being applied.
    pub(super) fn note_factor(&mut self) {
        let shared = self.base.program.shared_source();
        if let (Some(left_out), Some(shared)) = (&mut self.left_out, shared) {
            left_out.factor = shared.factor;
        }
    }

    /// The messages of the next round become the current ones; those of this round are kept.
    pub(super) fn swap_messages(&mut self) {
        if let Some(left_out) = &mut self.left_out {
            std::mem::swap(&mut left_out.other_messages, &mut self.base.messages);
        }
    }

    /// After the last round: gives vertices that were left out the states that it would have given them.
    /// Every host must call this.
    pub(super) fn conclude_left_out(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        if self.account.rounds == 0 {
            return Ok(());
        }
        let Some(left_out) = self.left_out.take() else { return Ok(()) };
        // A round that was begun ahead of the vote has left partial sums.
        self.discard_partial_sums();
        let is_late = self.schedule.fault == Some(ScheduleFault::LateSinks);
        let messages = if is_late { &self.base.messages } else { &left_out.other_messages };
        let LeftOutSets { classes, filter } = &left_out.sets;
        let (sinks, sources) = (&classes.sinks, &classes.sources);
        let takes_part = |source| !(filter.sources && sources.contains(source));
        let sums = &self.base.accumulators;
        self.account.edges += self.collect(messages, sums, |row| sinks.contains(row), takes_part);
        let written = self.properties().edges.written();
        substrate.reduce(&mut self.base.accumulators, written)?;
        let base = &mut self.base;
        let (program, accumulators) = (&base.program, &base.accumulators);
        let globals = base.partition.globals();
        let chunks = base.states.chunks_mut(VERTICES_PER_TASK);
        parallel::for_each_owned(chunks, |number, states| {
            for (master, state) in (number * VERTICES_PER_TASK..).zip(states) {
                let local = LocalId(master as u32);
                if !left_out.sets.is_regular(local) {
                    let collected = accumulators.get(local);
                    let all = left_out.with_sources(program, master, collected);
                    program.apply_late(Vertex::new(globals, local), state, all);
                }
            }
        });
        Ok(())
    }

    fn discard_partial_sums(&mut self) {
        let sums = &self.base.accumulators;
        let proxies = sums.num_proxies() as u32;
        sums.updated().remove_range(0..proxies);
        parallel::for_each_index(proxies as usize, |proxy| {
            sums.put(LocalId(proxy as u32), P::Reduction::identity());
        });
    }
}

impl Classes {
    /// Tests only: makes a sink of the first master that others read.
    fn plant_fault(&mut self) {
        let first = self.regular.iter().next();
        if let Some(vertex) = first {
            let proxies = VertexSet::new(vertex.index() + 1);
            proxies.insert(vertex);
            self.regular.remove_range(vertex.0..vertex.0 + 1);
            self.sinks.insert(vertex);
        }
    }
}
