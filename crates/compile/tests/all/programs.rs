//! Whole programs: parameters, states, tallies, reductions and helpers together.

use parton_engine::{DeviceType, Relaxation, Tally, Vertex, VertexProgram, device};
use parton_graph::{GlobalId, LocalId};
use parton_sync::Reduction;
use parton_sync::reduction::{Max, Sum};
use parton_sync::value::Number;

use crate::checks::{self, State};
use crate::harness::{Random, Slot};

/// Every kind of parameter.
struct Walk<'a> {
    root: Option<GlobalId>,
    first: LocalId,
    limits: Limits,
    others: Option<Limits>,
    table: Vec<f32>,
    regions: &'a [u32],
    steps: [i64; 3],
    is_open: bool,
    count: usize,
}

#[derive(Clone, Copy, Default, DeviceType)]
#[repr(C)]
struct Limits {
    least: f32,
    greatest: f32,
    region: u32,
}

impl Walk<'_> {
    const SHIFT: u32 = 3;
}

#[device]
fn within(x: f32, limits: &Limits) -> f32 {
    if x < limits.least { limits.least } else { x }
}

#[device]
impl Relaxation for Walk<'_> {
    type Label = f32;
    type Reduction = Max<f32>;
    type Weight = f32;

    const FILTERS: bool = true;

    fn start(&self, vertex: Vertex<'_>) -> Option<f32> {
        if let Some(root) = self.root
            && root == vertex.id()
        {
            return Some(0.1);
        }
        let other = match self.others {
            Some(limits) => limits.greatest,
            None => -0.0,
        };
        (vertex.local == self.first).then_some(other + self.table[vertex.local.index() % 5])
    }

    fn relax(&self, label: f32, weight: f32) -> f32 {
        let limits = self.limits;
        within(label * weight, &limits).min(self.limits.greatest)
    }

    fn bucket(&self, label: f32) -> usize {
        let step = self.steps[1] + self.steps[(label as usize) % 3];
        (label as usize).min(self.count) + (step as usize >> Self::SHIFT)
    }

    fn passes(&self, from: LocalId, to: LocalId, _: f32) -> bool {
        self.is_open && self.regions[from.index()] == self.regions[to.index()]
            || self.regions[to.index()] == self.limits.region
            || self.table.len() == 9
    }
}

#[test]
fn all_kinds_of_parameters() {
    let globals: Vec<u32> = (0..64).map(|id| id * 3).collect();
    let regions: Vec<u32> = (0..64).map(|id| id % 7).collect();
    for has_options in [false, true] {
        let limits = Limits { least: -1.0, greatest: 1e30, region: 2 };
        let walk = Walk {
            root: has_options.then_some(GlobalId(9)),
            first: LocalId(5),
            limits,
            others: has_options.then_some(limits),
            table: vec![0.5, 0.1, -3.0, 7.0, f32::INFINITY],
            regions: &regions,
            steps: [1, -2, 300],
            is_open: has_options,
            count: 1000,
        };
        checks::relaxation(&walk, &globals, Random::value);
    }
}

/// A pair of numbers that is folded as one.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Best {
    score: f32,
    from: u32,
}

const NO_VERTEX: u32 = u32::MAX;

#[device]
fn is_better(a: Best, b: Best) -> bool {
    a.score > b.score || a.score == b.score && a.from < b.from
}

#[device]
impl Reduction for FoldedBest {
    type Value = u64;
    const IDEMPOTENT: bool = true;
    const ORDERED: bool = false;

    fn identity() -> u64 {
        u64::MAX - NO_VERTEX as u64
    }

    fn combine(a: u64, b: u64) -> u64 {
        let first = Best { score: f32::from_bits(a as u32), from: (a >> 32) as u32 };
        let second = Best { score: f32::from_bits(b as u32), from: (b >> 32) as u32 };
        if is_better(first, second) { a } else { b }
    }
}

/// The greatest score; of equal ones the one from the lowest id. Both are in one number.
struct FoldedBest;

/// A program with arrays in its state, a reduction of its own, and sums over all vertices.
struct Votes {
    weights: Vec<f64>,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Ballot {
    lanes: [f64; 2],
    rounds: u64,
}

impl State for Ballot {
    fn random(random: &mut Random) -> Self {
        Ballot { lanes: [random.value(), random.value()], rounds: random.value() }
    }

    fn state_slots(&self) -> Vec<u64> {
        vec![self.lanes[0].to_bits(), self.lanes[1].to_bits(), self.rounds]
    }

    fn known(slots: &[u64]) -> Vec<u64> {
        let lanes = slots[..2].iter().map(|bits| f64::from_bits(*bits).known_bits());
        lanes.chain([slots[2]]).collect()
    }
}

#[device]
fn next_round(ballot: &mut Ballot, tally: &mut Tally, by: u64) -> u64 {
    ballot.rounds += by;
    tally.counts[0] += 2;
    ballot.rounds
}

#[device]
impl VertexProgram for Votes {
    type State = Ballot;
    type Message = u64;
    type Messages = FoldedBest;
    type Reduction = FoldedBest;
    type Weight = u32;

    fn init(&self, vertex: Vertex<'_>) -> Ballot {
        let weight = self.weights[vertex.local.index()];
        let mut ballot = Ballot { lanes: [0.0; 2], rounds: 0 };
        for lane in 0..2 {
            ballot.lanes[lane] = weight / (lane + 1) as f64;
        }
        ballot
    }

    fn scatter(&self, vertex: Vertex<'_>, ballot: &Ballot) -> Option<u64> {
        match ballot.rounds % 4 {
            0 => None,
            1 if ballot.lanes[0] > 0.0 => Some(vertex.id().0),
            rounds => Some(rounds + u64::from(vertex.local.0)),
        }
    }

    fn along(&self, message: u64, weight: u32) -> u64 {
        message ^ u64::from(weight) << 5
    }

    fn apply(&self, _: Vertex<'_>, ballot: &mut Ballot, best: u64, tally: &mut Tally) -> bool {
        let rounds = next_round(ballot, tally, best % 3);
        if rounds == 7 {
            *ballot = Ballot { rounds: 1, lanes: [ballot.lanes[1], 0.1] };
            return false;
        }
        ballot.lanes[1] += ballot.lanes[0];
        tally.sums[0] += ballot.lanes[1] * 0.1;
        tally.sums[1] -= 1.0;
        let old = std::mem::replace(&mut ballot.lanes[0], 0.5);
        old > 0.25 && rounds != best
    }
}

#[test]
fn arrays_in_states_and_reductions_of_ones_own() {
    let globals: Vec<u32> = (100..164).collect();
    let weights = globals.iter().map(|&id| f64::from(id) * 0.3).collect();
    checks::vertex_program(&Votes { weights }, &globals);
}

/// A parameter of a type that devices get by another path.
#[derive(Clone, Copy, DeviceType)]
#[device(crate = parton_engine)]
#[repr(C)]
struct Factor {
    factor: f64,
}

/// Generic, and folded by a sum.
struct Flow<W> {
    factor: Factor,
    types: std::marker::PhantomData<W>,
}

#[device(crate = parton_engine)]
impl<W: parton_graph::Weight + DeviceType> VertexProgram for Flow<W> {
    type State = f64;
    type Message = f32;
    type Messages = Sum<f32>;
    type Reduction = Sum<f64>;
    type Weight = W;

    fn init(&self, _: Vertex<'_>) -> f64 {
        1.0
    }

    fn scatter(&self, _: Vertex<'_>, flow: &f64) -> Option<f32> {
        Some((flow * self.factor.factor) as f32)
    }

    fn along(&self, share: f32, weight: W) -> f64 {
        f64::from(share) * f64::from_weight(weight)
    }

    fn apply(&self, _: Vertex<'_>, flow: &mut f64, sum: f64, tally: &mut Tally) -> bool {
        tally.sums[0] += (*flow - sum).abs();
        *flow = sum;
        true
    }
}

#[test]
fn programs_of_several_types_of_weights() {
    fn check<W: parton_graph::Weight + DeviceType + Slot>() {
        let flow = Flow::<W> { factor: Factor { factor: 0.3 }, types: std::marker::PhantomData };
        checks::vertex_program(&flow, &[5, 6, 7]);
    }
    check::<()>();
    check::<u32>();
    check::<f32>();
    check::<f64>();
}
