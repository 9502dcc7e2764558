//! Checks of whole programs: all their functions, on random arguments, against their translation.
//!
//! Tests of other crates include this file, too.

#![allow(dead_code, reason = "not every crate that includes this file needs all of it")]

use parton_engine::program::Accumulated;
use parton_engine::{Relaxation, Tally, Vertex, VertexProgram};
use parton_graph::{GlobalId, LocalId};
use parton_sync::Reduction;

use super::harness::{Compiled, Outcome, RESULT_SLOTS, Random, Slot, compile, parameters, wrapper};

const INPUTS: usize = 10_000;

/// What every program's functions begin with.
const SELF: &str = "const Program& self = *(const Program*)program; (void)self;";

/// Compares the functions of a relaxation. `globals` are ids of proxies; `labels` yields labels that
/// the program takes.
pub(crate) fn relaxation<P>(
    program: &P,
    globals: &[u32],
    mut labels: impl FnMut(&mut Random) -> P::Label,
) where
    P: Relaxation<Label: Slot, Weight: Slot>,
{
    let device = Relaxation::device(program).expect("a translated program");
    let vertex = "Vertex{(u32)a[0], a[1]}";
    let mut text = device.text();
    text += &wrapper("start_", 2, &format!("{SELF} to_slots(results, start(self, {vertex}));"));
    let pair = "from_slot<Label>(a[0]), from_slot<Weight>(a[1])";
    text += &wrapper("relax_", 2, &format!("{SELF} to_slots(results, relax(self, {pair}));"));
    text += &wrapper(
        "fold_",
        2,
        "to_slots(results, Fold::combine(from_slot<Label>(a[0]), from_slot<Label>(a[1])));",
    );
    if device.has_own("bucket") {
        let call = "to_slots(results, bucket(self, from_slot<Label>(a[0])));";
        text += &wrapper("bucket_", 1, &format!("{SELF} {call}"));
    }
    if device.has_own("passes") {
        let call = "to_slots(results, passes(self, a[0], a[1], from_slot<Weight>(a[2])));";
        text += &wrapper("passes_", 3, &format!("{SELF} {call}"));
    }
    let check = Check { compiled: compile(&text), parameters: parameters(&device) };
    let mut random = Random(7);
    let proxies = proxies(globals, &mut random);
    check.function(
        "start_",
        &proxies,
        |&proxy| vertex_slots(globals, proxy),
        |&proxy| program.start(Vertex::new(globals, proxy)),
    );
    let pairs: Vec<_> =
        (0..INPUTS).map(|_| (labels(&mut random), random.value::<P::Weight>())).collect();
    check.function(
        "relax_",
        &pairs,
        |pair| vec![pair.0.bits(), pair.1.bits()],
        |&pair| program.relax(pair.0, pair.1),
    );
    let of_labels: Vec<_> =
        (0..INPUTS).map(|_| (labels(&mut random), labels(&mut random))).collect();
    check.function(
        "fold_",
        &of_labels,
        |pair| vec![pair.0.bits(), pair.1.bits()],
        |&pair| P::Reduction::combine(pair.0, pair.1),
    );
    if device.has_own("bucket") {
        let labels: Vec<_> = of_labels.iter().map(|pair| pair.0).collect();
        check.function(
            "bucket_",
            &labels,
            |label| vec![label.bits()],
            |&label| program.bucket(label) as u64,
        );
    }
    if device.has_own("passes") {
        let edges: Vec<_> = proxies.windows(2).map(|pair| (pair[0], pair[1])).collect();
        check.function(
            "passes_",
            &edges,
            |edge| vec![edge.0.0.into(), edge.1.0.into(), 0],
            |edge| program.passes(edge.0, edge.1, P::Weight::of_bits(0)),
        );
    }
}

/// A state that tests take to slots and back.
pub(crate) trait State: Copy {
    fn random(random: &mut Random) -> Self;

    fn state_slots(&self) -> Vec<u64>;

    /// The slots with NaNs made equal.
    fn known(slots: &[u64]) -> Vec<u64>;
}

impl State for f64 {
    fn random(random: &mut Random) -> Self {
        random.value()
    }

    fn state_slots(&self) -> Vec<u64> {
        vec![self.to_bits()]
    }

    fn known(slots: &[u64]) -> Vec<u64> {
        slots.iter().map(|bits| f64::from_bits(*bits).known_bits()).collect()
    }
}

/// Compares the functions of a vertex program.
pub(crate) fn vertex_program<P>(program: &P, globals: &[u32])
where
    P: VertexProgram<State: State, Message: Slot, Reduction: Reduction<Value: Slot>, Weight: Slot>,
{
    let device = VertexProgram::device(program).expect("a translated program");
    let mut text = device.text();
    let begin = format!(
        "{SELF} const Vertex vertex{{(u32)a[0], a[1]}}; State state; \
         __builtin_memcpy(&state, a + 3, sizeof state);"
    );
    let width = 3 + P::State::random(&mut Random(1)).state_slots().len();
    text += &wrapper("init_", width, &format!("{begin} to_slots(results, init(self, vertex));"));
    let call = "to_slots(results, scatter(self, vertex, state));";
    text += &wrapper("scatter_", width, &format!("{begin} {call}"));
    let call = "to_slots(results, along(self, from_slot<Message>(a[0]), from_slot<Weight>(a[1])));";
    text += &wrapper("along_", 2, &format!("{SELF} {call}"));
    let call = "Tally tally = {}; \
                results[0] = apply(self, vertex, state, from_slot<Accumulated>(a[2]), tally); \
                to_slots(results + 1, tally.sums[0]); to_slots(results + 2, tally.sums[1]); \
                results[3] = tally.counts[0]; to_slots(results + 4, state);";
    text += &wrapper("apply_", width, &format!("{begin} {call}"));
    let check = Check { compiled: compile(&text), parameters: parameters(&device) };
    let mut random = Random(3);
    let inputs: Vec<_> = proxies(globals, &mut random)
        .into_iter()
        .map(|proxy| {
            let accumulated: Accumulated<P> = random.value();
            (proxy, accumulated, P::State::random(&mut random))
        })
        .collect();
    let slots = |input: &(LocalId, Accumulated<P>, P::State)| {
        let mut slots = vertex_slots(globals, input.0);
        slots.push(input.1.bits());
        slots.extend(input.2.state_slots());
        slots
    };
    let known = |slots: &[u64; RESULT_SLOTS]| P::State::known(slots);
    check.raw("init_", &inputs, slots, known, |input| {
        program.init(Vertex::new(globals, input.0)).state_slots()
    });
    check.function("scatter_", &inputs, slots, |input| {
        program.scatter(Vertex::new(globals, input.0), &input.2)
    });
    let messages: Vec<_> =
        (0..INPUTS).map(|_| (random.value::<P::Message>(), random.value::<P::Weight>())).collect();
    check.function(
        "along_",
        &messages,
        |pair| vec![pair.0.bits(), pair.1.bits()],
        |&pair| program.along(pair.0, pair.1),
    );
    let known = |slots: &[u64; RESULT_SLOTS]| {
        let sums = <f64 as State>::known(&slots[1..3]);
        [&slots[..1], &sums, &slots[3..4], &P::State::known(&slots[4..])].concat()
    };
    check.raw("apply_", &inputs, slots, known, |input| {
        let (mut state, mut tally) = (input.2, Tally::default());
        let again = program.apply(Vertex::new(globals, input.0), &mut state, input.1, &mut tally);
        let sums = tally.sums[..2].iter().map(|sum| sum.to_bits());
        let mut slots: Vec<u64> = [again.into()].into_iter().chain(sums).collect();
        slots.push(tally.counts[0] as u64);
        slots.extend(state.state_slots());
        slots
    });
}

fn proxies(globals: &[u32], random: &mut Random) -> Vec<LocalId> {
    (0..INPUTS).map(|_| LocalId((random.next() % globals.len() as u64) as u32)).collect()
}

fn vertex_slots(globals: &[u32], proxy: LocalId) -> Vec<u64> {
    let GlobalId(global) = Vertex::new(globals, proxy).id();
    vec![proxy.0.into(), global]
}

/// A program that was compiled.
struct Check {
    compiled: Compiled,
    parameters: Vec<u64>,
}

impl Check {
    /// Compares a function that returns a number, a truth value, or an option of one.
    fn function<I, R: Outcome>(
        &self,
        name: &str,
        inputs: &[I],
        slots: impl Fn(&I) -> Vec<u64>,
        expected: impl Fn(&I) -> R,
    ) {
        let known = |slots: &[u64; RESULT_SLOTS]| R::known(*slots).to_vec();
        self.raw(name, inputs, slots, known, |input| expected(input).slots().to_vec());
    }

    /// Compares a function whose results are slots, as far as `known` says what must be equal.
    fn raw<I>(
        &self,
        name: &str,
        inputs: &[I],
        slots: impl Fn(&I) -> Vec<u64>,
        known: impl Fn(&[u64; RESULT_SLOTS]) -> Vec<u64>,
        expected: impl Fn(&I) -> Vec<u64>,
    ) {
        let arguments: Vec<u64> = inputs.iter().flat_map(&slots).collect();
        for results in self.compiled.call(name, &self.parameters, &arguments, inputs.len()) {
            for (input, result) in inputs.iter().zip(results) {
                let mut all = [0; RESULT_SLOTS];
                let expected = expected(input);
                all[..expected.len()].copy_from_slice(&expected);
                assert_eq!(known(&result), known(&all), "{name} of {:x?}", slots(input));
            }
        }
    }
}
