//! The seam between a relaxation and the loop: what hosts exchange, and what they decide together.

use parton_graph::LocalId;
use parton_partition::{End, Partition};
use parton_sync::{Field, Phase, Result, Substrate, Tally};

use super::{DENSE, LONGER, Relaxing, Together};
use crate::engine::Engine;
use crate::engines::Relaxer;
use crate::program::Relaxation;
use crate::strategy::Strategy;
use crate::waiting::{Held, Waiting};

impl<P: Relaxation> Relaxing<'_, P> {
    /// Lets mirrors know the labels of the frontier, and be part of it.
    fn tell_frontier(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        // Whoever hears of a label becomes active.
        self.labels.swap_active(&mut self.frontier);
        substrate.broadcast(&mut self.labels, self.program.edges().read())?;
        self.labels.swap_active(&mut self.frontier);
        Ok(())
    }
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
            None => {
                let strategy = &self.strategy;
                self.host.agree_on_looking(substrate.net(), |host| strategy.best(host))
            }
            Some(Together { pull: true, .. }) => self.host.tell_frontier(substrate),
            Some(_) => {
                // Nobody looks for the labels of this frontier.
                let masters = 0..self.host.num_masters;
                self.host.labels.reset(Phase::Broadcast, End::Either, &[masters])
            }
        }
    }

    fn compute(&mut self) -> u64 {
        // Hosts that do not wait for each other come by to pass on what they hear, too.
        let edges = match self.host.has_frontier() || self.strategy.has_more() {
            true => self.strategy.relax(&mut self.host),
            false => 0,
        };
        if self.host.in_rounds {
            self.host.talk_after = self.host.talk_after.map(|enough| enough.saturating_mul(LONGER));
        }
        edges
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
        self.host.list_edges + self.host.edges_found() + self.strategy.edges_ahead()
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        if let Some(together) = &mut self.host.together {
            together.pull = self.host.in_rounds && total.frontier_edges > together.edges / DENSE;
        }
        self.host.consider_looking(total.frontier_edges);
        total.active == 0
    }

    fn needs_rounds(&self) -> Option<&'static str> {
        None
    }

    fn begin_short(&mut self) {
        self.host.talk_soon();
    }

    fn leave_rounds(&mut self, governed: bool) {
        if let Some(together) = &mut self.host.together {
            together.pull = false;
        }
        // A host that is alone has nobody to wait for: its frontiers are levels.
        self.host.in_rounds = self.host.is_alone;
        if self.host.is_alone {
            return;
        }
        self.host.talk_soon();
        // Nobody knows the best label any more that is still to be spread.
        self.host.consider_looking(0);
        if governed && !S::SORTS {
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
