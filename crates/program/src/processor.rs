//! Operators on the processors of this machine: the compiled code of their parts, over columns in memory.

use std::ops::Range;

use parton_engine::device::operators::{NumberFaults, Operators, ProgramColumns, Worklists};
use parton_graph::{LocalId, Weight};
use parton_partition::Partition;
use parton_plan::{EdgeSide, OperatorPart, PlannedOperator};
use parton_sync::{Field, Result};

use crate::code::Code;
use crate::host::{Host, HostData, Vertices};

/// A type of weights, for which this crate compiles what runs operators on processors: users' crates need not.
pub trait ProgramWeight: Weight {
    /// A program on the processors of this host.
    fn on_processors<'a>(
        code: &'a dyn Code<Weight = Self>,
        partition: &'a Partition,
        is_shared: &[bool],
    ) -> Box<dyn OnProcessors<'a> + 'a>;
}

macro_rules! program_weights {
    ($($weight:ty),+) => {
        $(impl ProgramWeight for $weight {
            fn on_processors<'a>(
                code: &'a dyn Code<Weight = Self>,
                partition: &'a Partition,
                is_shared: &[bool],
            ) -> Box<dyn OnProcessors<'a> + 'a> {
                Box::new(Processor::new(code, partition, is_shared))
            }
        })+
    };
}

program_weights!((), u32, f32, f64);

/// Operators that run on processors.
pub trait OnProcessors<'a>: Operators {
    /// One host's data.
    fn host(&self) -> &HostData<'a>;
}

impl<'a, W: ProgramWeight> OnProcessors<'a> for Processor<'a, W> {
    fn host(&self) -> &HostData<'a> {
        &self.host
    }
}

/// One host's operators on processors.
struct Processor<'a, W: ProgramWeight> {
    code: &'a dyn Code<Weight = W>,
    host: Host<'a, W>,
}

impl<'a, W: ProgramWeight> Processor<'a, W> {
    /// The columns of a program, of which other hosts see some, and nothing done yet.
    fn new(code: &'a dyn Code<Weight = W>, partition: &'a Partition, is_shared: &[bool]) -> Self {
        let plan = code.plan();
        let proxies = partition.num_proxies();
        let columns = is_shared.iter().enumerate();
        let columns = columns.map(|(number, &is_shared)| code.column(number, proxies, is_shared));
        let identities = (0..plan.scalars.len()).map(|scalar| code.identity(scalar)).collect();
        let fold = Box::new(|scalar: usize, a, b| match plan.tallies[scalar] {
            Some(_) => code.combine(scalar, a, b),
            None => a,
        });
        let columns = columns.collect();
        let data = HostData::new(partition, columns, plan.lists.len(), identities, fold);
        Processor { code, host: Host::new(data) }
    }

    fn operator(&self, operator: usize) -> &'a PlannedOperator {
        &self.code.plan().operators[operator]
    }

    fn num_masters(&self) -> usize {
        self.host.partition.num_masters()
    }

    /// Runs a part of an operator at some vertices, if it has that part.
    fn run(&mut self, operator: usize, part: OperatorPart, vertices: Vertices) {
        self.host.data.vertices = vertices;
        if self.operator(operator).parts.contains(&part) {
            self.code.part(operator, part, &self.host);
        }
    }

    /// The proxies that visit edges.
    fn near(&mut self, operator: &PlannedOperator) -> Vertices {
        if !operator.is_partial {
            return Vertices::First(self.host.partition.num_proxies());
        }
        let mut active: Vec<LocalId> = self.host.activated.iter().collect();
        let masters = active.len();
        for column in &operator.traffic.messages {
            active.extend(self.host.data.columns[*column].drain_active());
        }
        if operator.traffic.messages.len() > 1 {
            active[masters..].sort_unstable();
            active.dedup();
        }
        Vertices::These(active)
    }

    /// Masters that were given something, by accumulator. What they were given stays here.
    fn given(&mut self, operator: &PlannedOperator) -> Vec<(usize, Vec<LocalId>)> {
        let masters = self.num_masters();
        let given = operator.traffic.folds.iter().map(|(column, _)| {
            let field = &mut self.host.data.columns[*column];
            let mut given = field.drain_active();
            given.truncate(given.partition_point(|vertex| vertex.index() < masters));
            // Masters' own contributions have arrived, and no mirror reads them.
            field.updated().remove_range(0..masters as u32);
            (*column, given)
        });
        given.collect()
    }
}

impl<W: ProgramWeight> ProgramColumns for Processor<'_, W> {
    fn column(&mut self, column: usize) -> &mut dyn Field {
        self.host.data.columns[column].as_field()
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.host.data.columns.swap(a, b);
    }

    fn mark(&mut self, column: usize, proxies: Range<u32>, is_updated: bool) -> Result<()> {
        let updated = self.host.columns[column].updated();
        match is_updated {
            true => updated.insert_range(proxies),
            false => updated.remove_range(proxies),
        }
        Ok(())
    }

    fn start(&mut self, column: usize, value: usize, proxies: Range<u32>) -> Result<()> {
        self.host.data.vertices = match proxies.start {
            0 => Vertices::First(proxies.end as usize),
            _ => Vertices::These(proxies.map(LocalId).collect()),
        };
        self.code.start(column, value, &self.host);
        Ok(())
    }

    fn read_masters(&self, column: usize, into: &mut [u8]) -> Result<()> {
        self.host.columns[column].read_first(into);
        Ok(())
    }
}

impl<W: ProgramWeight> Worklists for Processor<'_, W> {
    fn fill(&mut self, list: usize, all: bool) -> Result<()> {
        self.host.data.lists[list].clear();
        if all {
            let masters = 0..self.num_masters() as u32;
            self.host.data.lists[list].insert_range(masters);
        }
        Ok(())
    }

    fn join(&mut self, list: usize, master: LocalId) -> Result<()> {
        self.host.lists[list].insert(master);
        Ok(())
    }

    fn is_empty(&mut self, list: usize) -> Result<bool> {
        Ok(self.host.lists[list].is_empty())
    }
}

impl<W: ProgramWeight> Operators for Processor<'_, W> {
    fn set_degrees(&mut self, degrees: &[Vec<u64>; 2]) -> Result<()> {
        self.host.data.degrees = degrees.clone();
        Ok(())
    }

    fn set_scalar(&mut self, scalar: usize, bits: u64) {
        self.host.data.scalars[scalar] = bits;
    }

    fn take_folded(&mut self, scalars: &[usize]) -> Result<Vec<u64>> {
        Ok(scalars.iter().map(|scalar| self.host.take_partial(*scalar)).collect())
    }

    fn before_edges(&mut self, operator: usize) -> Result<()> {
        let all = Vertices::First(self.num_masters());
        self.run(operator, OperatorPart::Derive, all.clone());
        let vertices = match self.operator(operator).list {
            Some(list) => Vertices::These(self.host.data.lists[list].drain()),
            None => all,
        };
        self.run(operator, OperatorPart::Before, vertices);
        Ok(())
    }

    fn visit_edges(&mut self, operator: usize) -> Result<u64> {
        let planned = self.operator(operator);
        let Some(direction) = planned.direction else { return Ok(0) };
        let vertices = self.near(planned);
        let directions = self.host.directions(direction);
        let rows = directions.rows();
        let edges = match &vertices {
            Vertices::First(_) => directions.num_edges(),
            Vertices::These(these) => these.iter().map(|&vertex| rows.degree(vertex)).sum(),
        };
        self.run(operator, OperatorPart::Edges, vertices);
        Ok(edges)
    }

    fn after_edges(&mut self, operator: usize) -> Result<NumberFaults> {
        let planned = self.operator(operator);
        let given = self.given(planned);
        let vertices = match planned.is_partial {
            true => Vertices::These(self.host.activated.iter().collect()),
            false => Vertices::First(self.num_masters()),
        };
        self.run(operator, OperatorPart::After, vertices);
        self.host.data.activated.clear();
        if planned.parts.contains(&OperatorPart::Arrive) {
            let folds = planned.traffic.folds.iter().zip(&given);
            let far = folds.filter(|((_, side), _)| *side == EdgeSide::Far);
            let mut told: Vec<LocalId> = far.flat_map(|(_, (_, given))| given).copied().collect();
            told.sort_unstable();
            told.dedup();
            self.run(operator, OperatorPart::Arrive, Vertices::These(told));
        }
        for (column, given) in given {
            self.host.columns[column].forget(&given);
        }
        Ok(self.host.faults())
    }
}
