//! The product of one round, tile by tile: all edges of a stationary program, active columns of another, or
//! bottom-up where most of the graph is active and the first neighbour decides.

use parton_graph::{LocalId, Weight, parallel};
use parton_partition::Partition;
use parton_sync::{Reduction, Substrate};

use super::Product;
use super::filtered::LeftOutSets;
use super::flow::OWN_GROUP;
use crate::program::{
    Accumulated, Edges, Properties, VertexProgram, may_be_otherwise, may_be_stationary,
};
use crate::state::directions::Directions;
use crate::techniques::VERTICES_PER_TASK;
use crate::techniques::bottom_up::pays_off;
use crate::techniques::columns::Columns;
use crate::techniques::tiles::{Groups, Tiles};

/// A host's edges, and how this round visits them.
pub(super) struct Matrix<'a, P: VertexProgram> {
    form: Form<P::Weight>,
    /// For each group of destinations, the groups of sources that it has edges from.
    pub(super) with_edges: Vec<Vec<usize>>,
    /// What states that are labels allow.
    pub(super) labels: Option<LabelRules<'a, P>>,
    pub(super) active: ActiveVertices,
}

impl<P: VertexProgram> Matrix<'_, P> {
    /// Without edges.
    pub(super) fn unprepared() -> Self {
        Matrix {
            form: Form::Unprepared,
            with_edges: Vec::new(),
            labels: None,
            active: ActiveVertices::default(),
        }
    }
}

/// Edges as a program visits them.
enum Form<W: Weight> {
    /// Nothing yet.
    Unprepared,
    /// All of them in every round.
    Tiles(Tiles<W>),
    /// Those that leave active vertices; `against` are the same edges in rounds that go the other way.
    Columns { along: Columns<W>, against: Option<Columns<W>> },
}

impl<W: Weight> Form<W> {
    /// Tiles, and for each group of destinations the groups of sources that it has edges from.
    #[inline(never)]
    fn tiles(
        partition: &Partition,
        edges: Edges,
        left_out: Option<&LeftOutSets>,
    ) -> (Self, Vec<Vec<usize>>) {
        let reverse = Directions::reverse(partition, edges);
        let tiles = Tiles::new(partition, reverse.rows(), |source, destination| {
            left_out.is_none_or(|left_out| left_out.keeps(source, destination))
        });
        let with_edges = tiles.tiles();
        (Form::Tiles(tiles), with_edges)
    }

    /// Columns, and for each group of destinations the groups of sources that it has edges from.
    #[inline(never)]
    fn columns(
        partition: &Partition,
        properties: Properties,
        groups: &Groups,
    ) -> (Self, Vec<Vec<usize>>) {
        let columns = |edges: Edges| {
            let forward = Directions::<W>::forward(partition, edges);
            Columns::new(groups, forward.rows(), partition.num_proxies())
        };
        let along = columns(properties.edges);
        let against = properties.turns.then(|| columns(properties.edges.reversed()));
        let mut with_edges = along.tiles();
        for (groups, others) in with_edges.iter_mut().zip(against.iter().flat_map(Columns::tiles)) {
            groups.extend(others);
            groups.sort_unstable();
            groups.dedup();
        }
        (Form::Columns { along, against }, with_edges)
    }
}

/// What a program whose states are labels allows.
pub(super) struct LabelRules<'a, P: VertexProgram> {
    /// A message as what it would be as a contribution: both are labels.
    pub(super) contribution: fn(P::Message) -> Accumulated<P>,
    /// Edges by the end where labels arrive, if the first neighbour in the frontier decides.
    pub(super) reverse: Option<Directions<'a, P::Weight>>,
}

/// How the messages of this round are multiplied.
#[derive(Default)]
pub(super) struct ActiveVertices {
    /// The active vertices of each group of sources that is multiplied top-down.
    of_group: Vec<Option<Vec<LocalId>>>,
    /// Whether this round is bottom-up.
    pub(super) is_bottom_up: bool,
}

impl<P: VertexProgram> Product<'_, P> {
    /// Makes tiles, or columns.
    pub(super) fn prepare_matrix(&mut self) {
        let (partition, properties) = (self.base.partition, self.properties());
        (self.matrix.form, self.matrix.with_edges) = match properties.stationary {
            true => {
                let left_out = self.left_out.as_ref().map(|left_out| &left_out.sets);
                Form::tiles(partition, properties.edges, left_out)
            }
            false => Form::columns(partition, properties, &self.groups),
        };
    }

    /// Finds which of this host's masters have something to send, and decides how to multiply it.
    pub(super) fn take_active_masters(&mut self) {
        self.matrix.active = ActiveVertices::default();
        if const { may_be_otherwise::<P>() } && matches!(self.matrix.form, Form::Columns { .. }) {
            self.take_active_columns();
        }
    }

    fn take_active_columns(&mut self) {
        self.matrix.active.of_group = (0..self.groups.len()).map(|_| None).collect();
        self.matrix.active.is_bottom_up = self.is_bottom_up_less_work();
        if !self.matrix.active.is_bottom_up {
            self.take_active(OWN_GROUP);
        }
    }

    /// Masters are a sample of the frontier that is known before the first message arrives.
    fn is_bottom_up_less_work(&self) -> bool {
        let has_reverse =
            self.matrix.labels.as_ref().is_some_and(|labels| labels.reverse.is_some());
        let (true, Form::Columns { along, .. }) = (has_reverse, &self.matrix.form) else {
            return false;
        };
        let Some(forward) = &self.base.edges.forward else { return false };
        let (rows, masters) = (forward.rows(), self.groups.range(OWN_GROUP));
        let active = self.base.messages.active().iter_range(masters);
        let active = active.map(|master| rows.degree(master)).sum();
        pays_off(active, along.num_edges(OWN_GROUP))
    }

    /// Takes the vertices of a group that have something to send, once their messages are here.
    fn take_active(&mut self, group: usize) {
        let range = self.groups.range(group);
        let active = self.base.messages.active();
        let vertices: Vec<_> = active.iter_range(range.clone()).collect();
        active.remove_range(range);
        if group != OWN_GROUP {
            self.settle(&vertices);
        }
        self.matrix.active.of_group[group] = Some(vertices);
    }

    /// A mirror that has been sent its label contributes nothing worse.
    fn settle(&self, mirrors: &[LocalId]) {
        let Some(labels) = &self.matrix.labels else { return };
        let (messages, totals) = (self.base.messages.cells(), self.base.accumulators.cells());
        for &mirror in mirrors {
            totals.fold_alone(mirror, (labels.contribution)(messages.get(mirror)));
        }
    }

    /// No mirror is active any more.
    pub(super) fn forget_active_mirrors(&mut self) {
        let (masters, proxies) =
            (self.base.partition.num_masters(), self.base.messages.num_proxies());
        self.base.messages.active().remove_range(masters as u32..proxies as u32);
    }

    /// Multiplies all tiles whose messages are here.
    pub(super) fn multiply_own(&mut self) {
        while self.multiply_piece() {}
    }

    pub(super) fn multiply_timed(&mut self, substrate: &mut Substrate<'_>) -> bool {
        let start = substrate.net().now();
        let has_multiplied = self.multiply_piece();
        if has_multiplied {
            self.note_computing(start, substrate);
        }
        has_multiplied
    }

    /// Multiplies a piece of the tile that was begun, or of one whose messages are here. Returns whether there is any.
    fn multiply_piece(&mut self) -> bool {
        if const { may_be_otherwise::<P>() } && self.matrix.active.is_bottom_up {
            return self.multiply_bottom_up();
        }
        let begun = self.account.begun.take();
        let fresh = || Some((self.flow.as_ref()?.next_tile()?, 0));
        let Some(((lane, group), first)) = begun.or_else(fresh) else { return false };
        let (edges, next) = match &self.matrix.form {
            Form::Unprepared => unreachable!("rounds begin when edges are prepared"),
            Form::Tiles(tiles) if const { may_be_stationary::<P>() } => {
                let base = &self.base;
                let (messages, totals) = (base.messages.cells(), base.accumulators.cells());
                tiles.multiply(&base.program, messages, totals, (group, lane), first)
            }
            Form::Columns { .. } if const { may_be_otherwise::<P>() } => {
                (self.multiply_columns(lane, group), None)
            }
            Form::Tiles(_) | Form::Columns { .. } => {
                unreachable!("tiles are for stationary programs, columns for others")
            }
        };
        self.account.edges += edges;
        self.account.begun = next.map(|next| ((lane, group), next));
        if next.is_none() {
            self.conclude_tile(lane, group);
        }
        true
    }

    fn conclude_tile(&mut self, lane: usize, group: usize) {
        let flow = self.flow.as_mut().expect("a round has begun");
        flow.multiplied(lane, group);
        if let (Form::Tiles(tiles), true) = (&self.matrix.form, flow.is_final(lane)) {
            let updated = self.base.accumulators.updated();
            updated.insert_all(tiles.written(), tiles.groups().range(lane));
        }
    }

    /// Multiplies the columns of a tile whose vertices have something to send.
    fn multiply_columns(&mut self, lane: usize, group: usize) -> u64 {
        if self.matrix.active.of_group[group].is_none() {
            self.take_active(group);
        }
        let base = &self.base;
        let Form::Columns { along, against } = &self.matrix.form else { return 0 };
        let columns = if base.round.is_reversed { against.as_ref() } else { Some(along) };
        let (Some(columns), Some(active)) = (columns, &self.matrix.active.of_group[group]) else {
            return 0;
        };
        let (program, messages) = (&base.program, base.messages.cells());
        let sends = |vertex| {
            let message = messages.get(vertex);
            move |weight| program.along(message, weight)
        };
        columns.multiply((lane, group), active, &base.accumulators, sends)
    }

    /// Lets the destinations of a lane look for the best label of the frontier. Returns whether any is left to do
    /// so; all messages must be here.
    fn multiply_bottom_up(&mut self) -> bool {
        let Some(lane) = self.flow.as_ref().and_then(|flow| flow.next_lane()) else { return false };
        self.account.edges += self.look_for_labels(lane);
        let flow = self.flow.as_mut().expect("a round has begun");
        flow.multiplied_lane(lane);
        if flow.next_lane().is_none() {
            let proxies = self.base.messages.num_proxies() as u32;
            self.base.messages.active().remove_range(0..proxies);
        }
        true
    }

    /// The best label that a vertex of the frontier can give. All edges are the same.
    fn best_of_frontier(&self) -> Accumulated<P> {
        let base = &self.base;
        let (messages, active) = (base.messages.cells(), base.messages.active());
        let given = |vertex| base.program.along(messages.get(vertex), P::Weight::default());
        let best = |labels: &mut dyn Iterator<Item = Accumulated<P>>| {
            labels.fold(P::Reduction::identity(), P::Reduction::combine)
        };
        let pieces = parallel::pieces(0..base.messages.num_proxies(), VERTICES_PER_TASK);
        let of_pieces = parallel::map(&pieces, |piece| {
            best(&mut active.iter_range(piece.start as u32..piece.end as u32).map(given))
        });
        best(&mut of_pieces.into_iter())
    }

    /// Gives the destinations of a lane the best label that the frontier has for them. One whose label is as good
    /// as the frontier can give does not look, and stops when it is.
    fn look_for_labels(&self, lane: usize) -> u64 {
        let base = &self.base;
        let Some(labels) = &self.matrix.labels else { return 0 };
        let Some(reverse) = &labels.reverse else { return 0 };
        let (rows, active) = (reverse.rows(), base.messages.active().members());
        let (messages, totals) = (base.messages.cells(), base.accumulators.cells());
        let along = |vertex, weight| base.program.along(messages.get(vertex), weight);
        let best = self.best_of_frontier();
        let range = self.groups.range(lane);
        let pieces = parallel::pieces(range.start as usize..range.end as usize, VERTICES_PER_TASK);
        let visited = parallel::map(&pieces, |piece| {
            let mut visited = 0;
            for proxy in piece.clone().map(|proxy| LocalId(proxy as u32)) {
                // What masters have sent, a mirror need not send back.
                let sent = (labels.contribution)(messages.get(proxy));
                let old = P::Reduction::combine(totals.get(proxy), sent);
                let (is_best, mut label) =
                    (|label| P::Reduction::combine(label, best) == label, old);
                if is_best(old) {
                    continue;
                }
                rows.until(proxy, |neighbour, weight| {
                    visited += 1;
                    let gives = active.contains(neighbour);
                    if gives {
                        label = P::Reduction::combine(label, along(neighbour, weight));
                    }
                    gives && is_best(label)
                });
                if label != old {
                    totals.put(proxy, label);
                    base.accumulators.updated().insert(proxy);
                }
            }
            visited
        });
        visited.into_iter().sum()
    }
}
