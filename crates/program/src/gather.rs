//! Compiled programs that are vertex programs: stationary gathers, whose rounds follow the program's control flow,
//! and rotated ones, after whose rounds the program goes on operator by operator.

use std::sync::atomic::{AtomicBool, Ordering};

use parton_engine::{Accumulated, Properties, Tally, Vertex, VertexProgram};
use parton_plan::Instruction;
use parton_sync::reduction::{Latest, Min};

use crate::code::{Outline, Uniform};
use crate::compiled::FieldValues;

/// Where in its plan a vertex program goes on.
#[derive(Clone, Copy, Debug)]
pub struct GatherPlaces {
    /// The operator that visits edges.
    pub operator: usize,
    /// The instruction after the loops over vertices that follow it; of a rotated program, after the loop that runs
    /// the operator.
    pub after: usize,
    /// The worklist that the operator drains.
    pub drains: Option<usize>,
}

/// A compiled program as a vertex program. The attribute `program` implements this.
pub trait Gathering<'a>: VertexProgram + Sized + 'a {
    /// The program, about to run.
    fn new(given: GatherStart<'a, Self::State>) -> Self;

    /// The columns that the program returns.
    fn results(states: &[Self::State]) -> Vec<FieldValues>;

    /// Where the program is.
    fn control(&self) -> &Control<'a>;

    /// Whether a number without a sign became less than 0 on this host.
    fn has_underflow(&self, states: &[Self::State]) -> bool;
}

/// What a gather begins with.
pub struct GatherStart<'a, S> {
    /// Where the program is.
    pub control: Control<'a>,
    /// What masters know.
    pub start: &'a [S],
    /// Out- and in-degrees of masters, where the program asks.
    pub degrees: [&'a [u64]; 2],
    /// About how many rounds there will be.
    pub rounds: u64,
}

/// A sum over all vertices.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The loop over vertices that it belongs to, if that stands before the operator.
    pub ahead: Option<usize>,
    /// The scalar that it is folded into.
    pub scalar: usize,
    /// The sum.
    pub bits: u64,
}

/// The control flow of a program between rounds.
pub struct Control<'a> {
    code: &'a dyn Outline,
    places: GatherPlaces,
    scalars: Vec<u64>,
    num_vertices: u64,
    num_edges: u64,
    underflow: AtomicBool,
}

impl<'a> Control<'a> {
    /// The control flow, standing before the operator.
    pub(crate) fn new(code: &'a dyn Outline, places: GatherPlaces, uniform: Uniform<'_>) -> Self {
        let Uniform { scalars, num_vertices, num_edges } = uniform;
        let scalars = scalars.to_vec();
        let underflow = AtomicBool::new(false);
        Control { code, places, scalars, num_vertices, num_edges, underflow }
    }

    /// Scalars, as they are before the next round.
    pub fn uniform(&self) -> Uniform<'_> {
        let Control { scalars, num_vertices, num_edges, .. } = self;
        Uniform { scalars, num_vertices: *num_vertices, num_edges: *num_edges }
    }

    /// The program subtracted more than there was.
    pub fn underflow(&self) {
        self.underflow.store(true, Ordering::Relaxed);
    }

    /// Whether it did so on this host.
    pub fn has_underflow(&self) -> bool {
        self.underflow.load(Ordering::Relaxed)
    }

    /// Follows the control flow from the end of a round to the operator's next run. Returns whether there is
    /// none.
    pub fn conclude(&mut self, told: &[Told]) -> bool {
        self.learn(told.iter().filter(|told| told.ahead.is_none()));
        let instructions = &self.code.plan().instructions;
        let mut at = self.places.after;
        while let Some(instruction) = instructions.get(at) {
            at += 1;
            match instruction {
                Instruction::Assign { scalar, value, .. } => {
                    self.scalars[*scalar] = self.code.value(*value, self.uniform());
                }
                Instruction::Branch { condition, otherwise, .. } => {
                    if self.code.value(*condition, self.uniform()) == 0 {
                        at = *otherwise;
                    }
                }
                Instruction::Jump(to) => at = *to,
                Instruction::Run(operator) if *operator == self.places.operator => return false,
                Instruction::Run(ahead) => {
                    self.learn(told.iter().filter(|told| told.ahead == Some(*ahead)));
                }
                _ => unreachable!("the compiler finds only these between rounds"),
            }
        }
        true
    }

    fn learn<'t>(&mut self, told: impl Iterator<Item = &'t Told>) {
        for &Told { scalar, bits, .. } in told {
            self.scalars[scalar] = self.code.combine(scalar, self.scalars[scalar], bits);
        }
    }
}

/// The gather of a program that is none.
pub enum NotGathering {}

impl VertexProgram for NotGathering {
    type State = u32;
    type Message = u32;
    type Messages = Latest<u32>;
    type Reduction = Min<u32>;
    type Weight = ();

    fn init(&self, _: Vertex<'_>) -> u32 {
        match *self {}
    }

    fn scatter(&self, _: Vertex<'_>, _: &u32) -> Option<u32> {
        match *self {}
    }

    fn along(&self, _: u32, (): ()) -> u32 {
        match *self {}
    }

    fn apply(&self, _: Vertex<'_>, _: &mut u32, _: Accumulated<Self>, _: &mut Tally) -> bool {
        match *self {}
    }

    fn properties(&self) -> Properties {
        match *self {}
    }
}

impl<'a> Gathering<'a> for NotGathering {
    fn new(_: GatherStart<'a, u32>) -> Self {
        unreachable!("programs that are no gathers never ask")
    }

    fn results(_: &[u32]) -> Vec<FieldValues> {
        Vec::new()
    }

    fn control(&self) -> &Control<'a> {
        match *self {}
    }

    fn has_underflow(&self, _: &[u32]) -> bool {
        match *self {}
    }
}
