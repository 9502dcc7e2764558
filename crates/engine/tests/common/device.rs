//! Engines of a made-up device: values live in its memory, and the host reaches them only in bulk.
//!
//! A kernel that `compute` launches is over when the exchange waits for it and no earlier, so that a loop
//! which reads results too early finds the old values.

use std::borrow::Cow;

use parton_engine::{
    Conclusion, Directions, Engine, Next, Paced, ProgramEngine, Relaxation, RelaxationEngine,
    Tally, Vertex, VertexProgram, program::Accumulated,
};
use parton_graph::LocalId;
use parton_partition::Partition;
use parton_sync::{Delivery, Phase, Reduction, Result, Substrate};

use super::device_field::{AnyField, DeviceField};

/// A relaxation on a device.
pub(crate) struct DeviceRelaxation<'a, P: Relaxation> {
    program: &'a P,
    num_masters: usize,
    forward: Directions<'a, P::Weight>,
    labels: DeviceField<P::Reduction>,
    frontier: Vec<(LocalId, P::Label)>,
    /// What the last kernel finds.
    launched: Vec<(LocalId, P::Label)>,
}

impl<'a, P: Relaxation> DeviceRelaxation<'a, P> {
    /// The device is lost at its call number `calls`.
    pub(crate) fn new(program: &'a P, partition: &'a Partition, calls: u64) -> Self {
        let start = |proxy| program.start(Vertex::new(partition.globals(), proxy));
        let identity = P::Reduction::identity();
        let (proxies, delivery) = (partition.num_proxies(), Delivery::Label);
        let labels = DeviceField::new(proxies, delivery, |proxy| start(proxy).unwrap_or(identity));
        let started = (0..proxies as u32).map(LocalId).filter_map(|p| Some((p, start(p)?)));
        DeviceRelaxation {
            program,
            num_masters: partition.num_masters(),
            forward: Directions::forward(partition, program.edges()),
            labels: labels.failing_after(calls),
            frontier: started.collect(),
            launched: Vec::new(),
        }
    }
}

impl<P: Relaxation> Engine for DeviceRelaxation<'_, P> {
    /// Every proxy knows its first label: there is nothing to tell before the first round.
    fn begin(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        self.exchange(Phase::Broadcast, substrate)
    }

    fn compute(&mut self) -> Result<u64> {
        self.labels.check("compute")?;
        let (rows, program, launched) = (self.forward.rows(), self.program, &mut self.launched);
        let mut edges = 0;
        for &(vertex, label) in &self.frontier {
            edges += rows.degree(vertex);
            let mut visit = |end, weight| {
                if !P::FILTERS || program.passes(vertex, end, weight) {
                    launched.push((end, program.relax(label, weight)));
                }
            };
            rows.each(vertex, |_| (), &mut visit);
        }
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        let edges = self.program.edges();
        match phase {
            Phase::Reduce => {
                let values = self.labels.values();
                let is_better = |&(proxy, label): &(LocalId, P::Label)| {
                    P::Reduction::combine(values[proxy.index()], label) != values[proxy.index()]
                };
                self.launched.retain(is_better);
                self.labels.fold_all(&std::mem::take(&mut self.launched));
                substrate.reduce(&mut self.labels, edges.written())
            }
            Phase::Broadcast => substrate.broadcast(&mut self.labels, edges.read()),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        Ok(Tally::default())
    }

    fn next(&mut self) -> Result<Next> {
        self.frontier = self.labels.take_active();
        let rows = self.forward.rows();
        self.frontier.retain(|&(vertex, _)| rows.degree(vertex) > 0);
        Ok(Next::new(!self.frontier.is_empty()))
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        Ok(self)
    }
}

impl<P: Relaxation> Paced for DeviceRelaxation<'_, P> {
    fn leave_rounds(&mut self, _: bool) {}
}

impl<P: Relaxation> RelaxationEngine<P> for DeviceRelaxation<'_, P> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        self.labels.check("labels")?;
        let mut labels = self.labels.values();
        labels.truncate(self.num_masters);
        Ok(labels)
    }
}

/// A vertex program on a device.
pub(crate) struct DeviceProgram<'a, P: VertexProgram> {
    program: P,
    partition: &'a Partition,
    forward: Directions<'a, P::Weight>,
    states: Vec<P::State>,
    messages: DeviceField<P::Messages>,
    accumulators: DeviceField<P::Reduction>,
    frontier: Vec<(LocalId, P::Message)>,
    launched: Vec<(LocalId, Accumulated<P>)>,
}

impl<'a, P: VertexProgram> DeviceProgram<'a, P> {
    pub(crate) fn new(program: P, partition: &'a Partition) -> Self {
        let properties = program.properties();
        let (proxies, globals) = (partition.num_proxies(), partition.globals());
        let delivery = if properties.stationary { Delivery::Label } else { Delivery::Event };
        let masters = || (0..partition.num_masters() as u32).map(LocalId);
        let states: Vec<_> = masters().map(|m| program.init(Vertex::new(globals, m))).collect();
        let mut messages = DeviceField::new(proxies, delivery, |_| P::Messages::identity());
        let first = masters().zip(&states).filter_map(|(master, state)| {
            Some((master, program.scatter(Vertex::new(globals, master), state)?))
        });
        messages.fold_all(&first.collect::<Vec<_>>());
        let identity = P::Reduction::identity();
        DeviceProgram {
            forward: Directions::forward(partition, properties.edges),
            program,
            partition,
            states,
            messages,
            accumulators: DeviceField::new(proxies, Delivery::Event, |_| identity),
            frontier: Vec::new(),
            launched: Vec::new(),
        }
    }

    fn is_stationary(&self) -> bool {
        self.program.properties().stationary
    }
}

impl<P: VertexProgram> Engine for DeviceProgram<'_, P> {
    fn compute(&mut self) -> Result<u64> {
        let rows = self.forward.rows();
        if self.is_stationary() {
            self.frontier = (0..).map(LocalId).zip(self.messages.values()).collect();
        }
        let (program, launched) = (&self.program, &mut self.launched);
        for &(vertex, message) in &self.frontier {
            let mut visit = |end, weight| launched.push((end, program.along(message, weight)));
            rows.each(vertex, |_| (), &mut visit);
        }
        Ok(self.frontier.iter().map(|&(vertex, _)| rows.degree(vertex)).sum())
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        let edges = self.program.properties().edges;
        match phase {
            Phase::Reduce => {
                self.accumulators.fold_all(&std::mem::take(&mut self.launched));
                substrate.reduce(&mut self.accumulators, edges.written())
            }
            Phase::Broadcast => substrate.broadcast(&mut self.messages, edges.read()),
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        let masters = 0..self.partition.num_masters();
        let mut arrived = self.accumulators.take_contributions(masters.clone());
        if self.is_stationary() {
            let mut all = vec![P::Reduction::identity(); masters.len()];
            arrived.iter().for_each(|(master, value)| all[master.index()] = *value);
            arrived = (0..).map(LocalId).zip(all).collect();
        }
        let (mut tally, mut told) = (Tally::default(), Vec::new());
        for (master, value) in arrived {
            let vertex = Vertex::new(self.partition.globals(), master);
            let state = &mut self.states[master.index()];
            if self.program.apply(vertex, state, value, &mut tally) {
                tally.changed += 1;
                told.extend(self.program.scatter(vertex, state).map(|message| (master, message)));
            }
        }
        let forgotten: Vec<_> =
            told.iter().map(|(master, _)| (*master, P::Messages::identity())).collect();
        self.messages.put_all(&forgotten);
        self.messages.fold_all(&told);
        Ok(tally)
    }

    fn next(&mut self) -> Result<Next> {
        let rows = self.forward.rows();
        self.frontier = self.messages.take_active();
        self.frontier.retain(|&(vertex, _)| rows.degree(vertex) > 0);
        let is_active = match self.is_stationary() {
            true => self.forward.num_edges() > 0,
            false => !self.frontier.is_empty(),
        };
        Ok(Next::new(is_active))
    }

    fn conclude(&mut self, total: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        Ok(Conclusion::new(self.program.conclude(total)))
    }
}

impl<P: VertexProgram> ProgramEngine<P> for DeviceProgram<'_, P> {
    fn states(&self) -> Result<Cow<'_, [P::State]>> {
        Ok(Cow::Owned(self.states.clone()))
    }

    fn program(&self) -> &P {
        &self.program
    }
}
