//! The steps of a round beside multiplying: receive, post, fold, apply, tell.

use std::ops::Range;
use std::time::Duration;

use parton_graph::{LocalId, parallel};
use parton_net::HostId;
use parton_partition::End;
use parton_sync::{
    Activity, CpuField, Field, OpenExchange, PendingTotal, Phase, Reduction, Result, ScheduleFault,
    Substrate, Tally,
};

use super::Product;
use super::flow::{Chunk, Flow, Rules, chunks_of_routes};
use crate::engines::vertex::{VertexEngine, apply};
use crate::program::{Edges, Vertex, VertexProgram};
use crate::state::directions::Directions;
use crate::techniques::VERTICES_PER_TASK;
use crate::techniques::row_blocks;

impl<'a, P: VertexProgram> Product<'a, P> {
    /// Makes tiles, and cuts masters into chunks.
    pub(super) fn prepare_tiles(&mut self) {
        let (partition, properties) = (self.base.partition, self.properties());
        let num_masters = partition.num_masters();
        self.prepare_matrix();
        let mut pieces = parallel::pieces(0..num_masters, VERTICES_PER_TASK);
        if properties.stationary {
            let reverse = Directions::<P::Weight>::reverse(partition, properties.edges);
            // The engine `pull` applies row blocks where no other host contributes: sums over masters are
            // rounded chunk by chunk, and shall be the same.
            let rows = reverse.rows();
            if !partition.shares_proxies_at(properties.edges.written())
                && row_blocks::pay_off(rows, num_masters, properties.rounds)
            {
                pieces = row_blocks::spans(rows, 0..num_masters);
            }
        }
        // Messages of a program that turns go either way.
        let end = |end| if properties.turns { End::Either } else { end };
        self.chunks = Chunk::all(partition, pieces, end(properties.edges.written()));
        self.read_by = chunks_of_routes(partition, &self.chunks, end(properties.edges.read()));
    }

    /// Opens the exchange of messages.
    pub(super) fn open_broadcast(&mut self, substrate: &mut Substrate<'_>) -> OpenExchange {
        let edges = self.properties().edges_in(self.base.round);
        substrate.open(self.base.messages.shape(), Phase::Broadcast, edges.read())
    }

    /// Sends all messages of the round that comes next, unless they have been sent.
    pub(super) fn send_kept_messages(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let Some(open) = self.broadcast.as_ref().filter(|_| self.keeps_messages) else {
            return Ok(());
        };
        for peer in substrate.net().peers() {
            substrate.post(open, &mut self.base.messages, peer)?;
        }
        self.keeps_messages = false;
        substrate.close_broadcast(open, &mut self.base.messages)
    }

    /// Whether the current round is the last that the program expects. Hosts agree on that.
    fn expects_end(&self) -> bool {
        let is_last = self.account.rounds + 1 == self.properties().rounds;
        is_last && self.schedule.overlap && self.base.is_stationary()
    }

    /// Begins a round unless it has begun.
    pub(super) fn begin_round(&mut self) {
        if self.flow.is_some() {
            return;
        }
        self.take_active_masters();
        let fault = self.schedule.fault;
        let is_ordered = P::Reduction::ORDERED && !self.schedule.any_order;
        let rules = Rules {
            is_ordered,
            folds_in_order: is_ordered && fault != Some(ScheduleFault::FoldOnArrival),
            overlaps: self.schedule.overlap,
            needs_all_messages: self.matrix.active.is_bottom_up,
            multiplies_early: fault == Some(ScheduleFault::MultiplyEarly),
            sends_early: fault == Some(ScheduleFault::SendEarly),
        };
        let (host, hosts) = (self.base.partition.host().index(), self.base.partition.num_hosts());
        let mut flow = Flow::new(host, hosts, &self.matrix.with_edges, self.chunks.len(), rules);
        if self.broadcast.is_none() {
            (0..hosts).for_each(|host| flow.arrive(host));
        }
        self.account.tallies = vec![Tally::default(); self.chunks.len()];
        self.account.is_active = false;
        self.flow = Some(flow);
    }

    /// Takes in the messages that have arrived. Returns whether any had.
    fn absorb_messages(&mut self, substrate: &mut Substrate<'_>) -> Result<bool> {
        let (Some(flow), Some(open)) = (&mut self.flow, &mut self.broadcast) else {
            return Ok(false);
        };
        let mut any = false;
        for host in flow.awaited_messages().collect::<Vec<_>>() {
            let from = HostId(host as u16);
            if substrate.absorb_arrived(open, &mut self.base.messages, from)? {
                flow.arrive(host);
                any = true;
            }
        }
        Ok(any)
    }

    /// Waits for all messages of an open exchange.
    pub(super) fn receive_messages(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let Some(mut open) = self.broadcast.take() else { return Ok(()) };
        for peer in self.peers() {
            while !substrate.absorb_arrived(&mut open, &mut self.base.messages, peer)? {
                substrate.wait_for_arrival(&open, peer)?;
            }
        }
        Ok(())
    }

    /// Begins the next round and multiplies what arrives until the vote is over.
    pub(super) fn multiply_until(
        &mut self,
        vote: &PendingTotal,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        self.begin_round();
        loop {
            substrate.progress()?;
            self.absorb_messages(substrate)?;
            if vote.has_arrived(substrate) {
                return Ok(());
            }
            if self.multiply_timed(substrate) {
                continue;
            }
            if let (Some(open), Some(peer)) = (&self.broadcast, self.peers().next()) {
                substrate.wait_for_arrival(open, peer)?;
            }
        }
    }

    /// Notes time that was spent computing beside messages.
    pub(super) fn note_computing(&mut self, start: Duration, substrate: &mut Substrate<'_>) {
        self.account.time += substrate.net().now() - start;
        substrate.log_span(Activity::Compute, start);
    }

    /// Goes on with a round until all tiles are multiplied, all partial sums sent, all masters applied, and
    /// their messages sent.
    pub(super) fn finish_round(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        self.send_kept_messages(substrate)?;
        self.keeps_messages = self.expects_end();
        let edges = self.properties().edges_in(self.base.round);
        let mut sums =
            substrate.open(self.base.accumulators.shape(), Phase::Reduce, edges.written());
        let told = self.open_broadcast(substrate);
        loop {
            substrate.progress()?;
            let mut has_worked = self.absorb_messages(substrate)?;
            has_worked |= self.post_sums(&sums, substrate)?;
            has_worked |= self.fold_sums(&mut sums, substrate)?;
            has_worked |= self.apply_and_tell(&told, edges, substrate)?;
            has_worked |= self.multiply_timed(substrate);
            let flow = self.flow.as_ref().expect("a round has begun");
            if flow.is_complete() {
                break;
            }
            if !has_worked {
                // Something is missing, or the round would be complete.
                let (mut messages, mut partials) =
                    (flow.awaited_messages(), flow.awaited_contributions());
                match (messages.next(), &self.broadcast, partials.next()) {
                    (Some(host), Some(open), _) => {
                        substrate.wait_for_arrival(open, HostId(host as u16))?;
                    }
                    (_, _, host) => {
                        let host = HostId(host.unwrap_or(flow.host()) as u16);
                        substrate.wait_for_arrival(&sums, host)?;
                    }
                }
            }
        }
        if !self.keeps_messages {
            substrate.close_broadcast(&told, self.next_messages())?;
        }
        let masters = 0..self.base.partition.num_masters() as u32;
        self.base.accumulators.updated().remove_range(masters);
        self.swap_messages();
        self.forget_active_mirrors();
        (self.broadcast, self.flow) = (Some(told), None);
        Ok(())
    }

    fn post_sums(&mut self, sums: &OpenExchange, substrate: &mut Substrate<'_>) -> Result<bool> {
        let Some(flow) = &mut self.flow else { return Ok(false) };
        let ready = flow.ready_to_post();
        for &host in &ready {
            substrate.post(sums, &mut self.base.accumulators, HostId(host as u16))?;
            flow.posted(host);
        }
        Ok(!ready.is_empty())
    }

    fn fold_sums(
        &mut self,
        sums: &mut OpenExchange,
        substrate: &mut Substrate<'_>,
    ) -> Result<bool> {
        let Some(flow) = &mut self.flow else { return Ok(false) };
        let mut any = false;
        for host in flow.may_contribute() {
            let from = HostId(host as u16);
            if substrate.absorb_arrived(sums, &mut self.base.accumulators, from)? {
                flow.contributed(host);
                any = true;
            }
        }
        Ok(any)
    }

    fn apply_and_tell(
        &mut self,
        told: &OpenExchange,
        edges: Edges,
        substrate: &mut Substrate<'_>,
    ) -> Result<bool> {
        let flow = self.flow.as_ref().expect("a round has begun");
        let ready = flow.ready_to_apply(&self.chunks);
        if !ready.is_empty() {
            let start = substrate.net().now();
            self.apply_chunks(&ready, edges);
            self.note_computing(start, substrate);
        }
        let flow = self.flow.as_mut().expect("a round has begun");
        ready.iter().for_each(|&chunk| flow.applied(chunk));
        let to_tell = flow.ready_to_tell(&self.read_by);
        for &host in &to_tell {
            if !self.keeps_messages {
                substrate.post(told, self.next_messages(), HostId(host as u16))?;
            }
            self.flow.as_mut().expect("a round has begun").told(host);
        }
        Ok(!ready.is_empty() || !to_tell.is_empty())
    }

    /// Lets the masters of some chunks apply what they have collected.
    fn apply_chunks(&mut self, ready: &[usize], edges: Edges) {
        self.note_factor();
        let is_stationary = self.base.is_stationary();
        let VertexEngine { program, partition, states, messages, accumulators, round, .. } =
            &mut self.base;
        let base = &Shared {
            program: &*program,
            globals: partition.globals(),
            messages: &*messages,
            accumulators: &*accumulators,
            is_stationary,
            keeps_labels: self.matrix.labels.is_some(),
            applies_everywhere: round.applies_everywhere,
        };
        let tasks = cut_out(states, ready.iter().map(|&chunk| self.chunks[chunk].masters.clone()));
        let left_out = self.left_out.as_ref();
        let next = left_out.map_or(base.messages, |left_out| &left_out.other_messages);
        let apply_task = |_, (masters, states): (Range<usize>, &mut [P::State])| {
            let mut tally = Tally::default();
            let totals = base.accumulators.cells();
            let mut apply_at = |master: usize| {
                let local = LocalId(master as u32);
                let mut accumulated = totals.get(local);
                if !base.keeps_labels {
                    totals.put(local, P::Reduction::identity());
                }
                if let Some(left_out) = left_out {
                    accumulated = left_out.with_sources(base.program, master, accumulated);
                }
                let vertex = Vertex::new(base.globals, local);
                let state = &mut states[master - masters.start];
                let message = apply(base.program, vertex, state, accumulated, &mut tally);
                (local, message)
            };
            if base.is_stationary {
                for master in masters.clone() {
                    let is_left_out = left_out
                        .is_some_and(|left_out| !left_out.sets.is_regular(LocalId(master as u32)));
                    if !is_left_out {
                        let (local, message) = apply_at(master);
                        let stands = || base.messages.get(local);
                        next.put(local, message.unwrap_or_else(stands));
                    }
                }
                return tally;
            }
            let mut apply_and_send = |master: usize| {
                let (local, message) = apply_at(master);
                if let Some(message) = message {
                    next.put(local, message);
                    next.touch(local);
                }
            };
            let range = masters.start as u32..masters.end as u32;
            match base.applies_everywhere {
                true => masters.clone().for_each(&mut apply_and_send),
                false => {
                    let updated = base.accumulators.updated().iter_range(range);
                    updated.for_each(|local| apply_and_send(local.index()));
                }
            }
            tally
        };
        let tallies = parallel::map_owned(tasks, apply_task);
        for (&chunk, tally) in ready.iter().zip(tallies) {
            self.account.tallies[chunk] = tally;
            let masters = self.chunks[chunk].masters.clone();
            self.mark_messages(masters.start as u32..masters.end as u32, edges);
        }
    }

    /// Marks what masters send in the next round, and notes whether they send anything.
    fn mark_messages(&mut self, masters: Range<u32>, edges: Edges) {
        let base = &self.base;
        if base.is_stationary() {
            self.account.is_active |= base.partition.edges().num_edges() > 0;
            match &self.left_out {
                Some(left_out) => left_out.mark_updated(masters),
                None => base.messages.updated().insert_range(masters),
            }
            return;
        }
        if self.account.is_active {
            return;
        }
        let parts = base.partition.master_parts();
        let is_alone = base.partition.num_hosts() == 1;
        let rows = base.edges.forward.as_ref().map(Directions::rows);
        let has_edges = |master: LocalId| match (is_alone, edges) {
            (true, _) => rows.is_some_and(|rows| rows.degree(master) > 0),
            (_, Edges::Out) => master.0 < parts.read,
            (_, Edges::In) => {
                master.0 < parts.both || (parts.read..parts.written).contains(&master.0)
            }
            (_, Edges::Both) => master.0 < parts.written,
        };
        self.account.is_active = base.messages.active().iter_range(masters).any(has_edges);
    }
}

/// What threads share while they apply.
struct Shared<'s, P: VertexProgram> {
    program: &'s P,
    globals: &'s [u32],
    messages: &'s CpuField<P::Messages>,
    accumulators: &'s CpuField<P::Reduction>,
    is_stationary: bool,
    /// Whether accumulators are the best labels so far, and no contributions of one round.
    keeps_labels: bool,
    applies_everywhere: bool,
}

/// The elements of ascending ranges, each with its range.
fn cut_out<T>(
    mut rest: &mut [T],
    ranges: impl Iterator<Item = Range<usize>>,
) -> Vec<(Range<usize>, &mut [T])> {
    let mut cut_off = 0;
    let cut = |range: Range<usize>| {
        let (_, from) = std::mem::take(&mut rest).split_at_mut(range.start - cut_off);
        let (piece, after) = from.split_at_mut(range.len());
        (rest, cut_off) = (after, range.end);
        (range, piece)
    };
    ranges.map(cut).collect()
}
