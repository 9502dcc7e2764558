//! Direction-optimising search (Beamer, Asanović, Patterson, SC'12): one step of the frontier per round,
//! top-down or bottom-up, whichever visits fewer edges.
//!
//! A small frontier spreads its labels along its out-edges (top-down). For a large one every vertex looks
//! through its in-edges for neighbours in the frontier (bottom-up), which needs no atomic writes, sums in
//! a fixed order, and may stop at the first neighbour found.

use parton_graph::parallel;
use parton_partition::{End, Partition};
use parton_sync::{Field, Interest, Phase, Reduction, Result, Substrate, Tally};

use super::traversal::{LargeFrontier, Traversal};
use super::vertex::{Direction, VertexEngine};
use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::{Edges, Relaxation, VertexProgram};
use crate::registry::{BuildEngine, EngineInfo, ProgramEngine, Programs, RelaxationEngine};
use crate::state::directions::Directions;
use crate::techniques::VERTICES_PER_TASK;
use crate::techniques::agreement::DirectionAgreement;
use crate::techniques::bottom_up::{BottomUp, pays_off};
use crate::techniques::throttle::{MIN_LABELS_PER_EXCHANGE, Throttled};

/// A bottom-up step that labels more than one vertex in this many may leave few without a label.
const VERTICES_PER_LATE_LABEL: u64 = 16;

/// Builds the engine.
pub(super) struct FrontierEngine;

impl BuildEngine for FrontierEngine {
    const INFO: EngineInfo = EngineInfo {
        name: "frontier",
        about: "level by level, pushing or pulling, whichever is less work",
    };
    const SUITS: Programs = Programs::LevelByLevel;

    fn relaxation<'a, P: Relaxation>(
        program: &'a P,
        partition: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        Ok(Box::new(LevelSynchronous::new(program, partition)))
    }

    fn vertex_program<'a, P: VertexProgram + 'a>(
        program: P,
        partition: &'a Partition,
    ) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
        Ok(Box::new(VertexEngine::new(program, partition, Direction::Either)?))
    }
}

/// A relaxation on one host, one step per round.
pub(super) struct LevelSynchronous<'a, P: Relaxation> {
    traversal: Traversal<'a, P>,
    bottom_up: BottomUp<'a, P>,
    /// Whether every step is bottom-up.
    always_pulls: bool,
    /// What hosts have agreed on, where each edge is on two of them.
    agreement: Option<DirectionAgreement>,
    /// The mirrors that masters without a label can still find one at, once these are few.
    interest: Option<Interest>,
}

impl<'a, P: Relaxation> LevelSynchronous<'a, P> {
    fn new(program: &'a P, partition: &'a Partition) -> Self {
        let edges = program.edges();
        if partition.in_edges_of_masters().is_none() {
            return Self::pulling(program, partition, false);
        }
        let directions = |edges| Directions::forward_of_masters(partition, edges);
        let ends = if edges == Edges::Both { 2 } else { 1 };
        let num_masters = partition.num_masters();
        let traversal = Traversal::along(directions(edges), program, partition, num_masters);
        LevelSynchronous {
            bottom_up: BottomUp::new(directions(edges.reversed()), &traversal.labels),
            traversal,
            always_pulls: false,
            agreement: Some(DirectionAgreement::new(ends * partition.num_edges())),
            interest: None,
        }
    }

    /// Over the host's own edges.
    pub(super) fn pulling(program: &'a P, partition: &'a Partition, always_pulls: bool) -> Self {
        let traversal = Traversal::new(program, partition);
        let reverse = Directions::reverse(partition, program.edges());
        LevelSynchronous {
            bottom_up: BottomUp::new(reverse, &traversal.labels),
            traversal,
            always_pulls,
            agreement: None,
            interest: None,
        }
    }

    fn is_bottom_up(&self) -> bool {
        match &self.agreement {
            Some(agreement) => agreement.is_bottom_up(),
            None => self.always_pulls || self.pull_visits_fewer_edges(),
        }
    }

    fn pull_visits_fewer_edges(&self) -> bool {
        let Traversal { labels, frontier, round, .. } = &self.traversal;
        let (edges, all) = (frontier.num_edges(), self.traversal.num_edges());
        let many = pays_off(edges, all);
        if round.in_rounds() || frontier.is_large() || !many {
            return frontier.is_large() || many;
        }
        // A frontier of several levels: a vertex stops only at the best label, and only if the first wins.
        if !labels.program.first_wins() {
            return false;
        }
        let best = labels.program.relax(self.traversal.best_of_frontier(), P::Weight::default());
        let cells = labels.field.cells();
        let is_unsettled = |&proxy: &usize| {
            let label = cells.get(parton_graph::LocalId(proxy as u32));
            P::Reduction::combine(label, best) != label
        };
        let pieces = parallel::pieces(0..labels.field.num_proxies(), VERTICES_PER_TASK);
        let counts = parallel::map(&pieces, |piece| piece.clone().filter(is_unsettled).count());
        // A vertex visits about as many edges as there are for each edge that leaves the frontier.
        let unsettled = counts.into_iter().sum::<usize>() as f64;
        unsettled * all as f64 / (edges as f64) < edges as f64
    }

    /// Broadcasts the labels of the frontier to mirrors, which become part of it: to those that matter, if they are few.
    /// On all hosts this many labels are new.
    fn broadcast_frontier(&mut self, changed: u64, substrate: &mut Substrate<'_>) -> Result<()> {
        let end = self.traversal.labels.program.edges().read();
        let is_late = changed > substrate.partition().num_vertices() / VERTICES_PER_LATE_LABEL;
        if is_late && self.interest.is_none() && self.traversal.labels.program.first_wins() {
            self.ask_for_open_ends(changed, end, substrate)?;
        }
        let Traversal { labels, frontier, .. } = &mut self.traversal;
        labels.field.swap_active(frontier.members_mut());
        match &self.interest {
            Some(interest) => substrate.broadcast_to(interest, &mut labels.field)?,
            None => substrate.broadcast(&mut labels.field, end)?,
        }
        labels.field.swap_active(frontier.members_mut());
        Ok(())
    }

    /// From now on only mirrors are told at which a master without a label can find one, if these are fewer than the
    /// labels that are to be told.
    fn ask_for_open_ends(
        &mut self,
        changed: u64,
        end: End,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        let (labels, bottom_up) = (&self.traversal.labels, &self.bottom_up);
        let open = substrate.net().all_reduce(bottom_up.num_open_edges(labels), |a, b| a + b)?;
        if open < changed {
            let ends = bottom_up.ends_of_open_edges(labels);
            self.interest = Some(substrate.ask_for(&ends, end)?);
            let num_vertices = substrate.partition().num_vertices();
            self.agreement.iter_mut().for_each(|agreement| agreement.lower_cost(num_vertices));
        }
        Ok(())
    }

    /// Whether a vertex here has a label to spread, or can find one that a master elsewhere has.
    fn has_frontier(&self) -> bool {
        let frontier = &self.traversal.frontier;
        !frontier.is_empty() || self.agreement.is_some() && !frontier.members().is_empty()
    }
}

impl<P: Relaxation> Engine for LevelSynchronous<'_, P> {
    fn compute(&mut self) -> Result<u64> {
        // Hosts that do not wait for each other pass by here without a frontier, too.
        let edges = if !self.has_frontier() {
            0
        } else if self.is_bottom_up() {
            let Traversal { labels, frontier, round, helpers, .. } = &self.traversal;
            self.bottom_up.step(labels, frontier, helpers, round.in_rounds())
        } else {
            self.traversal.push()
        };
        self.traversal.round.close_round();
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match (&self.agreement, phase) {
            // Masters have pulled for themselves.
            (Some(agreement), Phase::Reduce) if agreement.is_bottom_up() => Ok(()),
            // `conclude` broadcasts, if hosts agree to pull.
            (Some(_), Phase::Broadcast) => Ok(()),
            _ => self.traversal.exchange(phase, substrate),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        Ok(self.traversal.tally())
    }

    fn next(&mut self) -> Result<Next> {
        let Traversal { labels, round, .. } = &self.traversal;
        // A frontier of several levels is pulled only where a vertex can stop at the best label.
        let may_pull = round.in_rounds() || labels.program.first_wins() && self.agreement.is_none();
        let large = if may_pull { LargeFrontier::Pulled } else { LargeFrontier::Listed };
        self.traversal.advance(MIN_LABELS_PER_EXCHANGE, large);
        let frontier = &self.traversal.frontier;
        Ok(Next { is_active: !frontier.is_empty(), frontier_edges: frontier.num_edges() })
    }

    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        let conclusion = Conclusion::when_idle(total);
        let Some(agreement) = self.agreement.as_mut().filter(|_| !conclusion.has_ended) else {
            return Ok(conclusion);
        };
        if self.traversal.round.in_rounds() {
            agreement.decide(total.frontier_edges);
        }
        if agreement.is_bottom_up() {
            self.broadcast_frontier(total.changed, substrate)?;
        } else {
            // No mirror needs the labels of this frontier.
            let labels = &mut self.traversal.labels;
            let masters = 0..labels.num_masters;
            labels.field.reset(Phase::Broadcast, End::Either, &[masters])?;
        }
        Ok(conclusion)
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl<P: Relaxation> Paced for LevelSynchronous<'_, P> {
    fn shorten_first_rounds(&mut self) {
        self.traversal.round.shorten();
    }

    fn leave_rounds(&mut self, is_governed: bool) {
        if let Some(agreement) = &mut self.agreement {
            agreement.leave_rounds();
        }
        self.traversal.leave_rounds(is_governed);
    }

    fn throttled(&self) -> Throttled {
        self.traversal.throttled()
    }
}

impl<P: Relaxation> RelaxationEngine<P> for LevelSynchronous<'_, P> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        Ok(self.traversal.labels.of_masters())
    }
}
