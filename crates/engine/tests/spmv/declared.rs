//! Programs are what they declare to be, and one that is not is noticed.

use super::rank::Rank;
use crate::common;

use common::programs::{Heard, Tokens};
use parton_engine::program::check::{Samples, check_properties};
use parton_engine::{Properties, SharedSource, Tally, Vertex, VertexProgram};
use parton_sync::reduction::{Latest, Sum};

const STATES: [f64; 5] = [0.0, 0.1, -3.5, 1e-9, f64::MAX];
const ARRIVED: [f64; 4] = [0.0, 0.2, 7.5, 1e-12];

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * a.abs()
}

fn check<P>(make: impl Fn() -> P) -> Result<(), String>
where
    P: VertexProgram<State = f64, Reduction = Sum<f64>>,
{
    let samples = Samples { vertices: 20, states: &STATES, arrived: &ARRIVED, is_close };
    check_properties(make, &samples)
}

#[test]
fn programs_of_these_tests_are_what_they_declare() {
    for shares_source in [false, true] {
        check(|| Rank::<u32> { shares_source, ..Rank::new(3, 20) }).expect("it is");
    }
    check(|| Rank::<()> { is_local: false, ..Rank::new(3, 20) }).expect("it is");
    let samples = Samples {
        vertices: 20,
        states: &[Heard::default()],
        arrived: &[1, 2],
        is_close: |a, b| a == b,
    };
    check_properties(|| Tokens::<Sum<u64>>::new(3), &samples).expect("it declares nothing");
}

/// What a program says of itself and is not.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// Its constant says that it is stationary, its properties that it is not.
    Constant,
    /// Some vertices send nothing.
    Stationary,
    /// The state keeps part of what it was.
    LastMessageWins,
    /// What it adds follows a sum over all vertices.
    LocalSums,
    /// What it sends follows the number of rounds.
    LocalRounds,
    /// What it adds late is that of the next round.
    Late,
    /// Each source has a state of its own.
    SharedState,
    /// The factor stays that of the first round.
    SharedFactor,
    /// What sources contribute does not scale.
    Scale,
}

/// A stationary program with one lie.
struct Liar {
    lie: Lie,
    round: u64,
    base: f64,
    last_base: f64,
}

impl Liar {
    fn is(&self, lie: Lie) -> bool {
        self.lie == lie
    }
}

impl VertexProgram for Liar {
    type State = f64;
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();
    const STATIONARY: Option<bool> = Some(true);

    fn init(&self, _: Vertex<'_>) -> f64 {
        0.5
    }

    fn scatter(&self, vertex: Vertex<'_>, state: &f64) -> Option<f64> {
        let times = if self.is(Lie::LocalRounds) { self.round as f64 } else { 0.25 };
        let is_silent = self.is(Lie::Stationary) && vertex.id().0 == 7;
        (!is_silent).then_some(state * times)
    }

    fn along(&self, message: f64, (): ()) -> f64 {
        message
    }

    fn apply(&self, vertex: Vertex<'_>, state: &mut f64, sum: f64, _: &mut Tally) -> bool {
        let kept = if self.is(Lie::LastMessageWins) { 0.1 * *state } else { 0.0 };
        let own = if self.is(Lie::SharedState) { vertex.id().0 as f64 } else { 0.0 };
        *state = self.base + 0.5 * sum + kept + own;
        true
    }

    fn properties(&self) -> Properties {
        let is_local = ![Lie::None, Lie::Late, Lie::SharedFactor].contains(&self.lie);
        let stationary = !self.is(Lie::Constant);
        Properties { stationary, last_message_wins: true, is_local, ..Properties::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.round += 1;
        self.last_base = self.base;
        if self.is(Lie::LocalSums) || !self.properties().is_local {
            self.base = 0.3 + total.sums[0];
        }
        false
    }

    fn shared_source(&self) -> Option<SharedSource<f64>> {
        let is_shared = !self.is(Lie::LocalSums) && !self.is(Lie::LocalRounds);
        let factor = match self.round {
            _ if self.is(Lie::SharedFactor) => 0.5,
            0 => 0.5,
            _ => self.last_base,
        };
        is_shared.then_some(SharedSource { unit: 1.0, factor })
    }

    fn scale(&self, unit: f64, factor: f64) -> f64 {
        if self.is(Lie::Scale) { unit + factor } else { unit * factor }
    }

    fn apply_late(&self, vertex: Vertex<'_>, state: &mut f64, sum: f64) {
        let base = if self.is(Lie::Late) { self.base } else { self.last_base };
        let own = if self.is(Lie::SharedState) { vertex.id().0 as f64 } else { 0.0 };
        *state = base + 0.5 * sum + own;
    }
}

#[test]
fn every_lie_is_noticed() {
    let told = |lie| check(|| Liar { lie, round: 0, base: 0.5, last_base: 0.0 });
    told(Lie::None).expect("no lie");
    for (lie, name) in [
        (Lie::Constant, "STATIONARY"),
        (Lie::Stationary, "stationary"),
        (Lie::LastMessageWins, "last_message_wins"),
        (Lie::LocalSums, "is_local"),
        (Lie::LocalRounds, "is_local"),
        (Lie::Late, "apply_late"),
        (Lie::SharedState, "shared_source"),
        (Lie::SharedFactor, "shared_source"),
        (Lie::Scale, "shared_source"),
    ] {
        let complaint = told(lie).expect_err(name);
        assert!(complaint.starts_with(name), "{complaint}");
    }
}
