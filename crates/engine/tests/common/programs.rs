//! Programs that notice what no search would: messages lost, doubled, or told again.

use std::marker::PhantomData;

use parton_engine::{Edges, Properties, Relaxation, Tally, Vertex, VertexProgram};
use parton_graph::GlobalId;
use parton_sync::Reduction;
use parton_sync::reduction::{Latest, Max, Min, Or};

/// Every vertex passes on exactly what arrived in the last round, and writes down when it heard
/// what. With sums it counts walks. Nothing about it is monotone, whatever the reduction: a
/// message that is lost, doubled, late or left over from an earlier round shows at the end.
pub(crate) struct Tokens<R> {
    pub(crate) edges: Edges,
    pub(crate) stationary: bool,
    /// What a vertex has before the first round, if anything.
    pub(crate) start: fn(u64) -> Option<u64>,
    /// What a message becomes on its way along an edge.
    pub(crate) along: fn(u64, u32) -> u64,
    /// Rounds to go.
    pub(crate) rounds: u64,
    /// Rounds gone.
    pub(crate) round: u64,
    pub(crate) reduction: PhantomData<fn() -> R>,
}

// Not derived: nothing is asked of the reduction.
impl<R> Clone for Tokens<R> {
    fn clone(&self) -> Self {
        Tokens { ..*self }
    }
}

impl<R> Tokens<R> {
    /// A token at every vertex, which edges do not change.
    pub(crate) fn new(rounds: u64) -> Self {
        Tokens {
            edges: Edges::Out,
            stationary: false,
            start: |_| Some(1),
            along: |token, _| token,
            rounds,
            round: 0,
            reduction: PhantomData,
        }
    }
}

/// What a vertex knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    token: Option<u64>,
    /// Everything that arrived, and in which round.
    pub(crate) history: u64,
}

impl<R: Reduction<Value = u64>> VertexProgram for Tokens<R> {
    type State = Heard;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = R;
    type Weight = u32;

    fn init(&self, vertex: Vertex<'_>) -> Heard {
        Heard { token: (self.start)(vertex.id().0), history: 0 }
    }

    fn scatter(&self, _: Vertex<'_>, heard: &Heard) -> Option<u64> {
        heard.token
    }

    fn along(&self, token: u64, weight: u32) -> u64 {
        (self.along)(token, weight)
    }

    fn apply(&self, _: Vertex<'_>, heard: &mut Heard, arrived: u64, _: &mut Tally) -> bool {
        let when = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(self.round + 1);
        let event = arrived.wrapping_mul(3).wrapping_add(1).wrapping_mul(when | 1);
        *heard = Heard { token: Some(arrived), history: heard.history.wrapping_add(event) };
        // Some vertices keep some tokens for themselves.
        arrived % 11 != 10
    }

    fn properties(&self) -> Properties {
        Properties { stationary: self.stationary, edges: self.edges, ..Properties::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.round += 1;
        self.round == self.rounds || total.active == 0
    }
}

/// Which of up to 32 roots, every third vertex, reach a vertex.
#[derive(Clone, Copy)]
pub(crate) struct Reach(pub(crate) Edges);

impl Relaxation for Reach {
    type Label = u32;
    type Reduction = Or<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        let vertex = vertex.id().0;
        (vertex.is_multiple_of(3) && vertex < 96).then(|| 1 << (vertex / 3))
    }

    fn relax(&self, roots: u32, (): ()) -> u32 {
        roots
    }

    fn edges(&self) -> Edges {
        self.0
    }
}

/// The greatest vertex that reaches a vertex, but not those named by a multiple of 4.
#[derive(Clone, Copy)]
pub(crate) struct Greatest(pub(crate) Edges);

impl Relaxation for Greatest {
    type Label = u64;
    type Reduction = Max<u64>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u64> {
        let vertex = vertex.id().0;
        (!vertex.is_multiple_of(4)).then_some(vertex)
    }

    fn relax(&self, vertex: u64, (): ()) -> u64 {
        vertex
    }

    fn edges(&self) -> Edges {
        self.0
    }
}

/// Distances from vertex 0, whose label is what fields of numbers start with.
#[derive(Clone, Copy)]
pub(crate) struct Near(pub(crate) Edges);

impl Relaxation for Near {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = u32;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id() == GlobalId(0)).then_some(0)
    }

    fn relax(&self, distance: u32, weight: u32) -> u32 {
        distance.saturating_add(weight)
    }

    fn edges(&self) -> Edges {
        self.0
    }
}

/// Edges from vertex 0, level by level.
#[derive(Clone, Copy)]
pub(crate) struct Hops;

impl Relaxation for Hops {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id() == GlobalId(0)).then_some(0)
    }

    fn relax(&self, hops: u32, (): ()) -> u32 {
        hops + 1
    }

    fn first_wins(&self) -> bool {
        true
    }
}
