//! The engine for compiled programs: operator after operator, with exactly the communication between them
//! that their plan asks for.
//!
//! A round of the loop is one operator that visits edges. [`conclude`](Engine::conclude) follows the program's
//! control flow, the same on all hosts, up to the next such operator, runs what masters do before their edges,
//! and broadcasts what the edges read where it is stale. Scalars that operators fold into are added up over
//! hosts when somebody reads them.

mod operators;
mod traffic;

use parton_engine::degrees::{in_degrees, out_degrees};
use parton_engine::{Conclusion, Engine, EngineInfo, Next, check_weights};
use parton_graph::LocalId;
use parton_partition::Partition;
use parton_partition::partition::Finder;
use parton_plan::{ColumnRole, EdgeSide, Instruction, OperatorPart, PlannedOperator};
use parton_sync::{Error, Phase, Result, Substrate, Tally};

use crate::code::Code;
use crate::communication::{Communication, end};
use crate::host::{Host, Vertices};

pub use operators::OperatorReport;

/// The engine `steps`.
pub const STEPS: &EngineInfo =
    &EngineInfo { name: "steps", about: "a compiled program, operator by operator" };

/// A compiled program on one host.
pub struct Steps<'a, C: Code> {
    code: &'a C,
    host: Host<'a, C::Weight>,
    communication: Communication,
    /// The instruction of the plan that comes next, or that runs.
    at: usize,
    /// Whether the operator at that instruction waits for its edges.
    is_running: bool,
    /// Columns whose mirrors at sources and at destinations may not know what masters have.
    stale: Vec<[bool; 2]>,
    /// Scalars of which hosts know their own part alone.
    pending: Vec<bool>,
    finder: Option<Finder>,
    /// The operator of every round so far.
    ran: Vec<usize>,
    /// An operator that somebody else runs.
    stop_at: Option<usize>,
}

impl<'a, C: Code> Steps<'a, C> {
    /// A compiled program on this partition. An error if weights of edges do not fit.
    pub fn new(
        code: &'a C,
        partition: &'a Partition,
        communication: Communication,
    ) -> Result<Self> {
        check_weights::<C::Weight>(partition)?;
        let plan = code.plan();
        let syncs_all = communication != Communication::OnDemand;
        let columns = plan.columns.iter().enumerate().map(|(number, column)| {
            let is_field = column.role == ColumnRole::Field;
            let is_shared =
                partition.num_hosts() > 1 && (column.is_shared || (syncs_all && is_field));
            code.column(number, partition.num_proxies(), is_shared)
        });
        let num_scalars = plan.scalars.len();
        let mut scalars = code.arguments();
        scalars.resize(num_scalars, 0);
        let identities = (0..num_scalars).map(|scalar| code.identity(scalar)).collect();
        let fold = Box::new(|scalar: usize, a, b| match plan.tallies[scalar] {
            Some(_) => code.combine(scalar, a, b),
            None => a,
        });
        let columns: Vec<_> = columns.collect();
        Ok(Steps {
            stale: vec![[false; 2]; columns.len()],
            host: Host::new(partition, columns, plan.lists.len(), (scalars, identities), fold),
            code,
            communication,
            at: 0,
            is_running: false,
            pending: vec![false; num_scalars],
            finder: None,
            ran: Vec::new(),
            stop_at: None,
        })
    }

    /// One host's data: the answer, when the run is over.
    pub fn host(&self) -> &Host<'a, C::Weight> {
        &self.host
    }

    fn failure(&self, why: impl Into<String>) -> Error {
        Error::Program { program: self.code.plan().name.clone(), why: why.into() }
    }

    /// The operator that runs.
    fn operator(&self) -> Option<(usize, &'a PlannedOperator)> {
        let plan = self.code.plan();
        match plan.instructions.get(self.at) {
            Some(Instruction::Run(number)) if self.is_running => {
                Some((*number, &plan.operators[*number]))
            }
            _ => None,
        }
    }

    /// Runs the program up to an operator that visits edges. Returns whether it came there.
    pub fn reach(&mut self, operator: usize, substrate: &mut Substrate<'_>) -> Result<bool> {
        self.find_degrees(substrate)?;
        self.stop_at = Some(operator);
        self.advance(substrate)?;
        self.settle(&(0..self.pending.len()).collect::<Vec<_>>(), substrate)?;
        Ok(self.at < self.code.plan().instructions.len())
    }

    fn find_degrees(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let [out, into] = self.code.plan().degrees;
        if out {
            self.host.degrees[0] = out_degrees(substrate)?;
        }
        if into {
            self.host.degrees[1] = in_degrees(substrate)?;
        }
        Ok(())
    }

    /// Out- and in-degrees of masters, where the program asks, and everything else dropped.
    pub(crate) fn into_degrees(self) -> [Vec<u64>; 2] {
        self.host.degrees
    }

    /// Follows the control flow to the next operator that visits edges, or to the end.
    fn advance(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let code = self.code;
        let plan = code.plan();
        while let Some(instruction) = plan.instructions.get(self.at) {
            match instruction {
                Instruction::Assign { scalar, value, reads } => {
                    self.settle(reads, substrate)?;
                    self.host.scalars[*scalar] = code.value(*value, self.host.uniform());
                    // What was folded in before is overwritten.
                    self.host.take_partial(*scalar);
                    self.pending[*scalar] = false;
                }
                Instruction::Start { column, value, everywhere, reads } => {
                    self.settle(reads, substrate)?;
                    self.start(*column, *value, *everywhere);
                }
                Instruction::Point { column, vertex, value, reads } => {
                    self.settle(reads, substrate)?;
                    let vertex = code.value(*vertex, self.host.uniform());
                    if let Some(local) = self.find(vertex) {
                        self.host.vertices = Vertices::These(vec![local]);
                        code.start(*column, *value, &self.host);
                    }
                }
                Instruction::Fill { list, all } => {
                    self.host.lists[*list].clear();
                    if *all {
                        self.host.lists[*list].insert_range(0..self.num_masters() as u32);
                    }
                }
                Instruction::Join { list, vertex, reads } => {
                    self.settle(reads, substrate)?;
                    self.join(*list, code.value(*vertex, self.host.uniform()));
                }
                Instruction::Swap(a, b) => {
                    self.host.columns.swap(*a, *b);
                    self.stale.swap(*a, *b);
                }
                Instruction::Branch { condition, otherwise, reads } => {
                    self.settle(reads, substrate)?;
                    if code.value(*condition, self.host.uniform()) == 0 {
                        self.at = *otherwise;
                        continue;
                    }
                }
                Instruction::Jump(to) => {
                    self.at = *to;
                    continue;
                }
                Instruction::Run(number) if self.stop_at == Some(*number) => return Ok(()),
                Instruction::Run(number) => {
                    let operator = &plan.operators[*number];
                    if self.has_work(operator, substrate)? {
                        self.prepare(*number, operator, substrate)?;
                        if self.is_running {
                            return Ok(());
                        }
                        if operator.list.is_some() {
                            continue;
                        }
                    }
                }
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A vertex joins a worklist, if its master is here.
    fn join(&mut self, list: usize, vertex: u64) {
        let masters = self.num_masters();
        if let Some(local) = self.find(vertex).filter(|local| local.index() < masters) {
            self.host.lists[list].insert(local);
        }
    }

    fn num_masters(&self) -> usize {
        self.host.partition.num_masters()
    }

    /// The proxy of a vertex on this host.
    fn find(&mut self, vertex: u64) -> Option<LocalId> {
        let partition = self.host.partition;
        let finder = self.finder.get_or_insert_with(|| partition.finder());
        finder.local(vertex as u32)
    }

    /// Gives a column its first values.
    fn start(&mut self, column: usize, value: usize, everywhere: bool) {
        let partition = self.host.partition;
        let count = if everywhere { partition.num_proxies() } else { partition.num_masters() };
        self.host.vertices = Vertices::First(count);
        self.code.start(column, value, &self.host);
        if everywhere {
            // All proxies agree: nobody has to be told what an earlier life of the column left behind.
            self.host.columns[column].updated().remove_range(0..partition.num_proxies() as u32);
            self.stale[column] = [false; 2];
        } else {
            self.host.columns[column].updated().insert_range(0..partition.num_masters() as u32);
            self.stale[column] = [true; 2];
        }
    }

    /// Whether an operator has anything to visit, on any host.
    fn has_work(
        &mut self,
        operator: &PlannedOperator,
        substrate: &mut Substrate<'_>,
    ) -> Result<bool> {
        let Some(list) = operator.list else { return Ok(true) };
        let mine = u32::from(!self.host.lists[list].is_empty());
        Ok(substrate.net().all_reduce(mine, |a, b| a | b)? != 0)
    }

    /// Makes scalars known that hosts have folded values into.
    fn settle(&mut self, scalars: &[usize], substrate: &mut Substrate<'_>) -> Result<()> {
        if !scalars.iter().any(|scalar| self.pending[*scalar]) {
            return Ok(());
        }
        // All of them at once: the next reader will not have to ask.
        let asked: Vec<usize> =
            (0..self.pending.len()).filter(|scalar| self.pending[*scalar]).collect();
        let mine: Vec<u64> = asked.iter().map(|scalar| self.host.take_partial(*scalar)).collect();
        let all = substrate.net().all_gather(bytemuck::cast_slice(&mine).to_vec())?;
        for theirs in all {
            let theirs: Vec<u64> = bytemuck::pod_collect_to_vec(&theirs);
            for (scalar, bits) in asked.iter().zip(theirs) {
                self.host.scalars[*scalar] =
                    (self.host.fold)(*scalar, self.host.scalars[*scalar], bits);
            }
        }
        asked.into_iter().for_each(|scalar| self.pending[scalar] = false);
        Ok(())
    }

    /// Runs what comes before the edges of an operator, and makes fresh what its edges read.
    fn prepare(
        &mut self,
        number: usize,
        operator: &PlannedOperator,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        self.settle(&operator.scalars, substrate)?;
        for (value, why) in &operator.requires {
            if self.code.value(*value, self.host.uniform()) == 0 {
                return Err(self.failure(format!("at {}: {why}", operator.name)));
            }
        }
        let all = Vertices::First(self.num_masters());
        if operator.parts.contains(&OperatorPart::Derive) {
            self.host.vertices = all.clone();
            self.code.part(number, OperatorPart::Derive, &self.host);
        }
        self.host.vertices = match operator.list {
            Some(list) => Vertices::These(self.host.lists[list].drain()),
            None => all,
        };
        if operator.parts.contains(&OperatorPart::Before) {
            self.code.part(number, OperatorPart::Before, &self.host);
        }
        operator.tallies.iter().for_each(|scalar| self.pending[*scalar] = true);
        operator.writes.iter().for_each(|column| self.stale[*column] = [true; 2]);
        let Some(direction) = operator.direction else {
            return self.after_operator(operator, substrate);
        };
        self.is_running = true;
        for (column, side) in &operator.traffic.reads {
            self.freshen(*column, end(direction, *side), substrate)?;
        }
        if substrate.net().num_hosts() > 1 {
            for column in &operator.traffic.messages {
                let column = self.host.columns[*column].as_field();
                substrate.broadcast(column, end(direction, EdgeSide::Near))?;
            }
        }
        self.host.vertices = self.near(operator);
        Ok(())
    }

    /// What masters do with what their edges and their neighbours brought.
    fn absorb(&mut self, number: usize, operator: &PlannedOperator) {
        let masters = self.num_masters();
        let mut told: Vec<LocalId> = Vec::new();
        let mut gathered: Vec<(usize, Vec<LocalId>)> = Vec::new();
        for (column, side) in &operator.traffic.folds {
            let mut given = self.host.columns[*column].drain_active();
            given.truncate(given.partition_point(|vertex| vertex.index() < masters));
            // Masters' own contributions have arrived; nobody has to be told.
            self.host.columns[*column].updated().remove_range(0..masters as u32);
            if *side == EdgeSide::Far {
                told.extend_from_slice(&given);
            }
            gathered.push((*column, given));
        }
        if operator.parts.contains(&OperatorPart::After) {
            self.host.vertices = match operator.is_partial {
                true => Vertices::These(self.host.activated.iter().collect()),
                false => Vertices::First(masters),
            };
            self.code.part(number, OperatorPart::After, &self.host);
        }
        self.host.activated.clear();
        if operator.parts.contains(&OperatorPart::Arrive) {
            told.sort_unstable();
            told.dedup();
            self.host.vertices = Vertices::These(told);
            self.code.part(number, OperatorPart::Arrive, &self.host);
        }
        for (column, given) in gathered {
            self.host.columns[column].forget(&given);
        }
    }
}

impl<C: Code> Engine for Steps<'_, C> {
    fn begin(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        self.find_degrees(substrate)?;
        self.advance(substrate)
    }

    fn compute(&mut self) -> Result<u64> {
        let Some((number, operator)) = self.operator() else { return Ok(0) };
        let Some(direction) = operator.direction else { return Ok(0) };
        self.ran.push(number);
        let directions = self.host.directions(direction);
        let rows = directions.rows();
        let edges = match &self.host.vertices {
            Vertices::First(_) => directions.num_edges(),
            Vertices::These(these) => these.iter().map(|&vertex| rows.degree(vertex)).sum(),
        };
        self.code.part(number, OperatorPart::Edges, &self.host);
        Ok(edges)
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            Phase::Reduce => self.reduce(substrate),
            Phase::Broadcast => match self.operator() {
                Some((_, operator)) => self.after_operator(operator, substrate),
                None => Ok(()),
            },
        }
    }

    fn apply(&mut self) -> Result<Tally> {
        let mut tally = Tally::default();
        if let Some((number, operator)) = self.operator() {
            self.absorb(number, operator);
            tally.counts[0] = i64::from(self.host.has_underflow());
            tally.counts[1] = i64::from(self.host.has_overflow());
        }
        Ok(tally)
    }

    fn next(&mut self) -> Result<Next> {
        Ok(Next::new(self.is_running))
    }

    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        if total.counts[0] > 0 {
            return Err(self.failure("a number without a sign became less than 0"));
        }
        if total.counts[1] > 0 {
            return Err(self.failure(
                "a whole number outgrew its type: take a wider one, or `saturating_add` and the like",
            ));
        }
        if let Some((_, operator)) = self.operator()
            && operator.list.is_none()
        {
            self.at += 1;
        }
        self.is_running = false;
        self.advance(substrate)?;
        Ok(Conclusion::new(!self.is_running))
    }
}
