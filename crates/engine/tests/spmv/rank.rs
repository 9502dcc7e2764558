//! The program that tests of `spmv` run: its sums are rounded, and it declares what may be left out.

use std::marker::PhantomData;

use parton_engine::{Edges, LeftOut, Properties, SharedSource, Tally, Vertex, VertexProgram};
use parton_graph::Weight;
use parton_sync::reduction::{Latest, Sum};

/// A stationary program whose sums are rounded: `rank = base + d · Σ message`, with a base that follows the
/// sum over all ranks unless the program is local.
pub(super) struct Rank<W = u32> {
    pub(super) edges: Edges,
    pub(super) rounds: u64,
    /// What it says of that number.
    pub(super) expected_rounds: u64,
    pub(super) round: u64,
    pub(super) is_local: bool,
    pub(super) shares_source: bool,
    pub(super) base: f64,
    pub(super) last_base: f64,
    pub(super) source: f64,
    pub(super) left_out: Option<LeftOut>,
    pub(super) vertices: f64,
    pub(super) weight: PhantomData<fn() -> W>,
}

// Not derived: nothing is asked of the weight.
impl<W> Clone for Rank<W> {
    fn clone(&self) -> Self {
        Rank { ..*self }
    }
}

impl<W> Rank<W> {
    pub(super) fn new(rounds: u64, vertices: usize) -> Self {
        let vertices = vertices as f64;
        Rank {
            edges: Edges::Out,
            rounds,
            expected_rounds: rounds,
            round: 0,
            is_local: true,
            shares_source: false,
            base: 0.15 / vertices,
            last_base: 0.0,
            source: 1.0 / vertices,
            left_out: None,
            vertices,
            weight: PhantomData,
        }
    }
}

impl<W: Weight> VertexProgram for Rank<W> {
    type State = f64;
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = W;

    fn init(&self, _: Vertex<'_>) -> f64 {
        1.0 / self.vertices
    }

    fn scatter(&self, vertex: Vertex<'_>, rank: &f64) -> Option<f64> {
        Some(rank / (3 + vertex.id().0 % 5) as f64)
    }

    fn along(&self, message: f64, weight: W) -> f64 {
        message * (1.0 + weight.to_f64() % 3.0) * 0.3
    }

    fn apply(&self, _: Vertex<'_>, rank: &mut f64, sum: f64, tally: &mut Tally) -> bool {
        *rank = self.base + 0.85 * sum;
        tally.sums[0] += *rank;
        true
    }

    fn properties(&self) -> Properties {
        Properties {
            stationary: true,
            last_message_wins: true,
            is_local: self.is_local,
            edges: self.edges,
            rounds: self.expected_rounds,
            ..Properties::default()
        }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.round += 1;
        (self.last_base, self.source) = (self.base, self.base);
        if !self.is_local && self.left_out.is_none() {
            self.base = 0.1 * total.sums[0] / self.vertices;
        }
        self.round == self.rounds
    }

    fn shared_source(&self) -> Option<SharedSource<f64>> {
        self.shares_source.then_some(SharedSource { unit: 1.0, factor: self.source })
    }

    fn scale(&self, unit: f64, factor: f64) -> f64 {
        unit * factor
    }

    fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out = Some(left_out);
    }

    fn apply_late(&self, _: Vertex<'_>, rank: &mut f64, sum: f64) {
        *rank = self.last_base + 0.85 * sum;
    }
}
