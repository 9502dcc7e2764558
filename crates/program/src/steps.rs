//! The engine for compiled programs: operator after operator, with only the communication between them that their plan
//! asks for.
//!
//! A round of the loop is one operator that visits edges. [`conclude`](Engine::conclude) follows the program's control
//! flow, the same on all hosts, up to the next such operator. It runs the statements of masters that come before their
//! edges, and broadcasts stale values that the edges read. Scalars that operators fold into are added up when read.

mod operators;
mod place;
mod traffic;

use parton_engine::degrees::{in_degrees, out_degrees};
use parton_engine::device::device_operators;
use parton_engine::{Conclusion, Engine, EngineInfo, Next};
use parton_graph::LocalId;
use parton_partition::Partition;
use parton_partition::partition::Finder;
use parton_plan::{ColumnRole, EdgeSide, Instruction, PlannedOperator};
use parton_sync::{Error, Phase, Result, Substrate, Tally};

use crate::code::{Outline, Uniform};
use crate::communication::{Communication, end};
use crate::compiled::FieldValues;
use crate::gather::GatherPlaces;
use crate::host::HostData;

use place::{OperatorsOf, request};

pub use operators::OperatorReport;
pub(crate) use place::Place;

/// The engine `steps`.
pub const STEPS: &EngineInfo =
    &EngineInfo { name: "steps", about: "a compiled program, operator by operator" };

/// A compiled program on one host.
pub struct Steps<'a> {
    code: &'a dyn Outline,
    partition: &'a Partition,
    operators: OperatorsOf<'a>,
    communication: Communication,
    scalars: Scalars,
    /// Out- and in-degrees of masters, where the program asks.
    degrees: [Vec<u64>; 2],
    /// The instruction of the plan that comes next, or that runs.
    at: usize,
    /// Whether the operator at that instruction waits for its edges.
    is_running: bool,
    /// Columns whose mirrors at sources and at destinations may not know what masters have.
    stale: Vec<[bool; 2]>,
    finder: Option<Finder>,
    /// The operator of every round so far.
    ran: Vec<usize>,
    /// An operator that somebody else runs.
    stop_at: Option<usize>,
}

/// The scalars of a program.
struct Scalars {
    /// Their bits, the same on all hosts but for what is pending.
    bits: Vec<u64>,
    /// Those of which hosts know their own part alone.
    pending: Vec<bool>,
}

/// Which columns other hosts see.
fn shared(code: &dyn Outline, partition: &Partition, communication: Communication) -> Vec<bool> {
    let syncs_all = communication != Communication::OnDemand;
    let is_shared = code.plan().columns.iter().map(|column| {
        let is_field = column.role == ColumnRole::Field;
        partition.num_hosts() > 1 && (column.is_shared || (syncs_all && is_field))
    });
    is_shared.collect()
}

impl<'a> Steps<'a> {
    /// A compiled program. An error if it is to run on a device and has no form for that.
    pub(crate) fn new(
        code: &'a dyn Outline,
        partition: &'a Partition,
        communication: Communication,
        place: Place<'a, '_>,
    ) -> Result<Self> {
        let is_shared = shared(code, partition, communication);
        let operators = match place {
            Place::Processors(operators) => OperatorsOf::Processors(operators(&is_shared)),
            Place::Device(device, weight) => {
                let request = request(code, weight, is_shared)?;
                OperatorsOf::Device(device_operators(device, request, partition)?)
            }
        };
        Ok(Steps::over(code, partition, communication, operators))
    }

    /// One host's data, where its operators run on processors.
    pub(crate) fn host(&self) -> Option<&HostData<'a>> {
        match &self.operators {
            OperatorsOf::Processors(operators) => Some(operators.host()),
            OperatorsOf::Device(_) => None,
        }
    }

    fn over(
        code: &'a dyn Outline,
        partition: &'a Partition,
        communication: Communication,
        operators: OperatorsOf<'a>,
    ) -> Self {
        let plan = code.plan();
        let mut steps = Steps {
            stale: vec![[false; 2]; plan.columns.len()],
            scalars: Scalars {
                bits: vec![0; plan.scalars.len()],
                pending: vec![false; plan.scalars.len()],
            },
            degrees: [Vec::new(), Vec::new()],
            code,
            partition,
            operators,
            communication,
            at: 0,
            is_running: false,
            finder: None,
            ran: Vec::new(),
            stop_at: None,
        };
        for (scalar, bits) in code.arguments().into_iter().enumerate() {
            steps.set(scalar, bits);
        }
        steps
    }

    /// What code outside operators sees.
    pub fn uniform(&self) -> Uniform<'_> {
        Uniform {
            scalars: &self.scalars.bits,
            num_vertices: self.partition.num_vertices(),
            num_edges: self.partition.num_edges(),
        }
    }

    /// The columns that the program returns, of this host's masters.
    pub fn results(&self) -> Result<Vec<FieldValues>> {
        let (plan, masters) = (self.code.plan(), self.num_masters());
        let results = plan.results.iter().map(|&column| {
            FieldValues::read(&plan.columns[column].ty, masters, |into| {
                self.operators.read_masters(column, into)
            })
        });
        results.collect()
    }

    fn set(&mut self, scalar: usize, bits: u64) {
        self.scalars.bits[scalar] = bits;
        self.operators.set_scalar(scalar, bits);
    }

    fn value(&self, number: usize) -> u64 {
        self.code.value(number, self.uniform())
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
        self.settle(&(0..self.scalars.pending.len()).collect::<Vec<_>>(), substrate)?;
        Ok(self.at < self.code.plan().instructions.len())
    }

    fn find_degrees(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let [out, into] = self.code.plan().degrees;
        if out {
            self.degrees[0] = out_degrees(substrate)?;
        }
        if into {
            self.degrees[1] = in_degrees(substrate)?;
        }
        self.operators.set_degrees(&self.degrees)
    }

    /// Out- and in-degrees of masters, where the program asks.
    pub(crate) fn take_degrees(&mut self) -> [Vec<u64>; 2] {
        std::mem::take(&mut self.degrees)
    }

    /// Goes on after an operator that somebody else has run, to the end of the program. No operator visits edges
    /// there.
    pub(crate) fn finish(
        &mut self,
        places: GatherPlaces,
        substrate: &mut Substrate<'_>,
    ) -> Result<()> {
        if let Some(list) = places.drains {
            self.operators.fill(list, false)?;
        }
        (self.stop_at, self.at) = (None, places.after);
        self.advance(substrate)
    }

    /// Follows the control flow to the next operator that visits edges, or to the end.
    fn advance(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let plan = self.code.plan();
        while let Some(instruction) = plan.instructions.get(self.at) {
            match instruction {
                Instruction::Assign { scalar, value, reads } => {
                    self.settle(reads, substrate)?;
                    self.set(*scalar, self.value(*value));
                    // What was folded in before is overwritten.
                    if std::mem::take(&mut self.scalars.pending[*scalar]) {
                        self.operators.take_folded(&[*scalar])?;
                    }
                }
                Instruction::Start { column, value, everywhere, reads } => {
                    self.settle(reads, substrate)?;
                    self.start(*column, *value, *everywhere)?;
                }
                Instruction::Point { column, vertex, value, reads } => {
                    self.settle(reads, substrate)?;
                    if let Some(local) = self.find(self.value(*vertex)) {
                        self.operators.start(*column, *value, local.0..local.0 + 1)?;
                    }
                }
                Instruction::Fill { list, all } => self.operators.fill(*list, *all)?,
                Instruction::Join { list, vertex, reads } => {
                    self.settle(reads, substrate)?;
                    self.join(*list, self.value(*vertex))?;
                }
                Instruction::Swap(a, b) => {
                    self.operators.swap(*a, *b);
                    self.stale.swap(*a, *b);
                }
                Instruction::Branch { condition, otherwise, reads } => {
                    self.settle(reads, substrate)?;
                    if self.value(*condition) == 0 {
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
    fn join(&mut self, list: usize, vertex: u64) -> Result<()> {
        let masters = self.num_masters();
        match self.find(vertex).filter(|local| local.index() < masters) {
            Some(master) => self.operators.join(list, master),
            None => Ok(()),
        }
    }

    fn num_masters(&self) -> usize {
        self.partition.num_masters()
    }

    /// The proxy of a vertex on this host.
    fn find(&mut self, vertex: u64) -> Option<LocalId> {
        let partition = self.partition;
        let finder = self.finder.get_or_insert_with(|| partition.finder());
        finder.local(vertex as u32)
    }

    /// Gives a column its first values.
    fn start(&mut self, column: usize, value: usize, everywhere: bool) -> Result<()> {
        let partition = self.partition;
        let count = if everywhere { partition.num_proxies() } else { partition.num_masters() };
        self.operators.start(column, value, 0..count as u32)?;
        // Where all proxies agree, nobody has to be told what an earlier life of the column left behind.
        self.operators.mark(column, 0..count as u32, !everywhere)?;
        self.stale[column] = [!everywhere; 2];
        Ok(())
    }

    /// Whether an operator has anything to visit, on any host.
    fn has_work(
        &mut self,
        operator: &PlannedOperator,
        substrate: &mut Substrate<'_>,
    ) -> Result<bool> {
        let Some(list) = operator.list else { return Ok(true) };
        let mine = u32::from(!self.operators.is_empty(list)?);
        Ok(substrate.net().all_reduce(mine, |a, b| a | b)? != 0)
    }

    /// Makes scalars known that hosts have folded values into.
    fn settle(&mut self, scalars: &[usize], substrate: &mut Substrate<'_>) -> Result<()> {
        if !scalars.iter().any(|scalar| self.scalars.pending[*scalar]) {
            return Ok(());
        }
        // All of them at once: the next reader will not have to ask.
        let asked: Vec<usize> = (0..self.scalars.pending.len())
            .filter(|scalar| self.scalars.pending[*scalar])
            .collect();
        let mine = self.operators.take_folded(&asked)?;
        let all = substrate.net().all_gather(bytemuck::cast_slice(&mine).to_vec())?;
        for theirs in all {
            let theirs: Vec<u64> = bytemuck::pod_collect_to_vec(&theirs);
            for (&scalar, bits) in asked.iter().zip(theirs) {
                self.set(scalar, self.code.combine(scalar, self.scalars.bits[scalar], bits));
            }
        }
        asked.into_iter().for_each(|scalar| self.scalars.pending[scalar] = false);
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
            if self.value(*value) == 0 {
                return Err(self.failure(format!("at {}: {why}", operator.name)));
            }
        }
        self.operators.before_edges(number)?;
        operator.tallies.iter().for_each(|scalar| self.scalars.pending[*scalar] = true);
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
                let column = self.operators.column(*column);
                substrate.broadcast(column, end(direction, EdgeSide::Near))?;
            }
        }
        Ok(())
    }
}

impl Engine for Steps<'_> {
    fn begin(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        self.find_degrees(substrate)?;
        self.advance(substrate)
    }

    fn compute(&mut self) -> Result<u64> {
        let Some((number, _)) = self.operator() else { return Ok(0) };
        self.ran.push(number);
        self.operators.visit_edges(number)
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
        if let Some((number, _)) = self.operator() {
            let faults = self.operators.after_edges(number)?;
            tally.counts[0] = i64::from(faults.underflow);
            tally.counts[1] = i64::from(faults.overflow);
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
