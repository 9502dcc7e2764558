//! Programs that engines are tried with, all but one with operators in CUDA by hand.

use parton_engine::device::DeviceProgram;
use parton_engine::{Edges, Properties, Relaxation, Vertex, VertexProgram, device};
use parton_sync::Tally;
use parton_sync::reduction::{Latest, Min, Sum};

/// Least sums of weights, or numbers of edges, from vertex 0.
pub(crate) struct Paths {
    pub(crate) edges: Edges,
}

impl Relaxation for Paths {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = u32;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id().0 == 0).then_some(0)
    }

    fn relax(&self, label: u32, weight: u32) -> u32 {
        label.saturating_add(weight)
    }

    fn edges(&self) -> Edges {
        self.edges
    }

    fn bucket(&self, label: u32) -> usize {
        (label >> 2) as usize
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE Option<Label> start(const Program&, Vertex vertex) { return {vertex.global == 0, 0}; }
            DEVICE Label relax(const Program&, Label label, Weight weight) {
                return label + weight < label ? 0xffffffffu : label + weight;
            }
            DEVICE u64 bucket(const Program&, Label label) { return label >> 2; }";
        let program = DeviceProgram::new(TEXT, &["bucket"]);
        let program = program.with_type::<u32>("Label").with_type::<u32>("Weight");
        Some(program.with_reduction::<Min<u32>>("Fold"))
    }
}

/// Numbers of edges from vertex 0.
pub(crate) struct Hops;

impl Relaxation for Hops {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id().0 == 0).then_some(0)
    }

    fn relax(&self, label: u32, (): ()) -> u32 {
        label + 1
    }

    fn first_wins(&self) -> bool {
        true
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE Option<Label> start(const Program&, Vertex vertex) { return {vertex.global == 0, 0}; }
            DEVICE Label relax(const Program&, Label label, Weight) { return label + 1; }";
        let program = DeviceProgram::new(TEXT, &[]);
        let program = program.with_type::<u32>("Label").with_type::<()>("Weight");
        Some(program.with_reduction::<Min<u32>>("Fold"))
    }
}

/// The least vertex that a path joins.
pub(crate) struct Least;

impl Relaxation for Least {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        Some(vertex.id().0 as u32)
    }

    fn relax(&self, label: u32, (): ()) -> u32 {
        label
    }

    fn passes_unchanged(&self) -> bool {
        true
    }

    fn edges(&self) -> Edges {
        Edges::Both
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE Option<Label> start(const Program&, Vertex vertex) { return {true, (u32)vertex.global}; }
            DEVICE Label relax(const Program&, Label label, Weight) { return label; }";
        let program = DeviceProgram::new(TEXT, &[]);
        let program = program.with_type::<u32>("Label").with_type::<()>("Weight");
        Some(program.with_reduction::<Min<u32>>("Fold"))
    }
}

/// Tokens that are passed on for some rounds: a sum that shows lost and doubled contributions.
pub(crate) struct Tokens {
    pub(crate) rounds: u64,
    pub(crate) round: u64,
    pub(crate) stationary: bool,
    pub(crate) edges: Edges,
}

impl VertexProgram for Tokens {
    type State = u64;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Sum<u64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> u64 {
        if self.stationary || vertex.id().0 % 3 == 1 { vertex.id().0 + 1 } else { 0 }
    }

    fn scatter(&self, _: Vertex<'_>, state: &u64) -> Option<u64> {
        (*state != 0 || self.stationary).then_some(*state)
    }

    fn along(&self, message: u64, (): ()) -> u64 {
        message
    }

    fn apply(&self, _: Vertex<'_>, state: &mut u64, sum: u64, tally: &mut Tally) -> bool {
        *state = state.wrapping_mul(3).wrapping_add(sum);
        tally.counts[1] = tally.counts[1].wrapping_add(sum as i64);
        self.round + 1 < self.rounds
    }

    fn properties(&self) -> Properties {
        Properties { stationary: self.stationary, edges: self.edges, ..Properties::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.round += 1;
        total.active == 0 || self.round == self.rounds
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE State init(const Program& self, Vertex vertex) {
                return self.stationary || vertex.global % 3 == 1 ? vertex.global + 1 : 0;
            }
            DEVICE Option<Message> scatter(const Program& self, Vertex, const State& state) {
                return {state != 0 || self.stationary, state};
            }
            DEVICE Accumulated along(const Program&, Message message, Weight) { return message; }
            DEVICE bool apply(const Program& self, Vertex, State& state, Accumulated sum, Tally& tally) {
                state = state * 3 + sum;
                tally.counts[1] += (i64)sum;
                return self.round + 1 < self.rounds;
            }";
        let program = DeviceProgram::new(TEXT, &[])
            .with_type::<u64>("State")
            .with_type::<u64>("Message")
            .with_type::<u64>("Accumulated")
            .with_type::<()>("Weight")
            .with_reduction::<Latest<u64>>("Messages")
            .with_reduction::<Sum<u64>>("Fold");
        let program = program.with("rounds", &self.rounds).with("round", &self.round);
        Some(program.with("stationary", &self.stationary))
    }
}

/// Whole numbers as floating-point ones, which every vertex adds up in every round: sums are exact in any order.
pub(crate) struct Shares {
    pub(crate) rounds: u32,
}

#[device]
impl VertexProgram for Shares {
    type State = f64;
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, vertex: Vertex) -> f64 {
        (vertex.id().0 + 1) as f64
    }

    fn scatter(&self, _: Vertex, state: &f64) -> Option<f64> {
        Some(*state)
    }

    fn along(&self, message: f64, (): ()) -> f64 {
        message
    }

    fn apply(&self, _: Vertex, state: &mut f64, sum: f64, _: &mut Tally) -> bool {
        *state = sum + 1.0;
        true
    }

    fn properties(&self) -> Properties {
        Properties { stationary: true, ..Properties::default() }
    }

    fn conclude(&mut self, _: &Tally) -> bool {
        self.rounds -= 1;
        self.rounds == 0
    }
}
