//! Operators of compiled programs: the seam between what all hosts do alike, the control flow of a program and what
//! travels, and what computes at vertices and edges.
//!
//! Numbers of columns, operators, lists, values and scalars are those of the program's [plan](CompiledPlan).

use std::ops::Range;

use parton_graph::{LocalId, WeightKind};
use parton_plan::CompiledPlan;
use parton_sync::{Field, Result};

/// The operators of a program as a device gets them.
#[derive(Clone, Copy, Debug)]
pub struct OperatorText<'p> {
    /// Functions and kernels, over the names of `kernels/operators.cu` of the crate `parton-gpu`.
    pub text: &'p str,
    /// The names of the kernels.
    pub kernels: &'p [&'p str],
}

/// What a device needs to run the operators of a program.
pub struct OperatorsRequest<'p> {
    /// What happens when.
    pub plan: &'p CompiledPlan,
    /// The operators.
    pub operators: OperatorText<'p>,
    /// The weights that the program asks for.
    pub weight: WeightKind,
    /// Whether other hosts see a column.
    pub is_shared: Vec<bool>,
    /// The bits of what changes nothing when it is folded into a scalar.
    pub identities: Vec<u64>,
}

/// What whole numbers did that they must not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberFaults {
    /// A number without a sign became less than 0.
    pub underflow: bool,
    /// A number outgrew its type.
    pub overflow: bool,
}

/// The columns of a compiled program on one host.
pub trait ProgramColumns {
    /// A column, to be synchronised.
    fn column(&mut self, column: usize) -> &mut dyn Field;

    /// Two columns trade places.
    fn swap(&mut self, a: usize, b: usize);

    /// The values of these proxies must be sent, or need not be.
    fn mark(&mut self, column: usize, proxies: Range<u32>, is_updated: bool) -> Result<()>;

    /// Gives these proxies the value of that number.
    fn start(&mut self, column: usize, value: usize, proxies: Range<u32>) -> Result<()>;

    /// Copies the values of masters, one after another as they lie in memory.
    fn read_masters(&self, column: usize, into: &mut [u8]) -> Result<()>;
}

/// The worklists of a compiled program on one host: sets of masters.
pub trait Worklists {
    /// A worklist becomes empty, or has all masters.
    fn fill(&mut self, list: usize, all: bool) -> Result<()>;

    /// A master joins a worklist.
    fn join(&mut self, list: usize, master: LocalId) -> Result<()>;

    /// Whether a worklist has no members.
    fn is_empty(&mut self, list: usize) -> Result<bool>;
}

/// What runs the operators of a compiled program on one host.
pub trait Operators: ProgramColumns + Worklists {
    /// Learns out- and in-degrees of masters, where the program asks.
    fn set_degrees(&mut self, degrees: &[Vec<u64>; 2]) -> Result<()>;

    /// Learns the bits of a scalar.
    fn set_scalar(&mut self, scalar: usize, bits: u64);

    /// What this host has folded into some scalars since it was last asked.
    fn take_folded(&mut self, scalars: &[usize]) -> Result<Vec<u64>>;

    /// Masters do what comes before their edges; those of a worklist, which becomes empty, or all.
    fn before_edges(&mut self, operator: usize) -> Result<()>;

    /// Proxies of active vertices visit their edges. Returns the number of edges.
    fn visit_edges(&mut self, operator: usize) -> Result<u64>;

    /// Masters take in what their edges and their neighbours brought.
    fn after_edges(&mut self, operator: usize) -> Result<NumberFaults>;
}
