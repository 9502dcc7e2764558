//! Random programs: refused, or equal to their sequential meaning on random graphs, under every policy, on one
//! to seven hosts.

pub(crate) mod generate;
mod interpreted;
mod relaxed;
mod shapes;

use std::ops::Range;

use parton_compile::program::interpret::{Meaning, PlainGraph, sequential};
use parton_compile::program::ir::{Fold, Ty};
use parton_compile::program::lower::{Lowered, lower};
use parton_compile::program::parse::parse;
use parton_compile::program::recognise::Relaxed;
use parton_compile::program::{recognise, vertex_form};
use parton_engine::{Pace, Pacing};
use parton_partition::policies;
use parton_program::plan::{Class, ProgramShape};
use parton_program::reduction::{Max, Min, Reduction};
use parton_program::{Communication, Element, FieldValues, Typed, Venue};
use parton_sync::value::Number;

use crate::common::{Hosts, are_close, graph};
use generate::{Random, random_graph};
use interpreted::Interpreted;
use shapes::Family;

/// Random programs that are accepted, in ordinary tests and in long ones.
const ACCEPTED: (usize, usize) = (1_000, 100_000);
/// One program of this number runs on emulated devices, on some hosts or all: of the first thousand, and of later ones.
/// Each is compiled.
const ONE_ON_DEVICES: (usize, usize) = (50, 1_000);

/// Programs of which at least this share in a hundred must have come to pass: relaxations, gathers.
const SHAPES: (usize, usize) = (10, 10);
/// Wrong answers after which there is enough to look at.
const MANY_WRONG: usize = 20;

#[test]
fn random_programs_are_refused_or_right() {
    let numbers = numbers();
    let mut counts = Counts::default();
    let mut all_wrong = Vec::new();
    for number in numbers.clone() {
        if let Err(wrong) = counts.try_program(number) {
            all_wrong.push(format!("program {number}: {wrong}"));
        }
        assert!(all_wrong.len() < MANY_WRONG, "{}", all_wrong.join("\n"));
    }
    println!("programs {numbers:?}: {counts:?}");
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
    // A few programs need not be of all kinds.
    if numbers.len() >= ACCEPTED.0 {
        counts.check(numbers.len());
    }
}

/// The numbers of the programs to try: `PARTON_PROGRAMS=FIRST+COUNT` names them, else there are as many as in ordinary
/// tests, or in long ones.
fn numbers() -> Range<usize> {
    let is_long = std::env::var_os("PARTON_LONG").is_some();
    let Ok(given) = std::env::var("PARTON_PROGRAMS") else {
        return 0..if is_long { ACCEPTED.1 } else { ACCEPTED.0 };
    };
    let numbers = given.split_once('+').and_then(|(first, count)| {
        let first: usize = first.parse().ok()?;
        Some(first..first + count.parse::<usize>().ok()?)
    });
    numbers.expect("PARTON_PROGRAMS is FIRST+COUNT")
}

/// How many programs of which kind there were.
#[derive(Debug, Default)]
struct Counts {
    accepted: usize,
    refused: usize,
    stopped: usize,
    classes: [usize; 4],
    relaxations: usize,
    gathers: usize,
}

impl Counts {
    /// Tries the program of this number: the first that is accepted of those that follow from it.
    fn try_program(&mut self, number: usize) -> Result<(), String> {
        let random = &mut Random::of(number);
        let trial = loop {
            match Trial::random(random) {
                // Improvements by sums that wrap around are no improvements. The function itself panics there.
                Some(trial) if trial.meaning.has_wrapped && trial.is(Class::Settling) => {}
                Some(trial) => break trial,
                None => self.refused += 1,
            }
        };
        self.accepted += 1;
        self.note(&trial);
        let is_first = number < ACCEPTED.0;
        let one_of = if is_first { ONE_ON_DEVICES.0 } else { ONE_ON_DEVICES.1 };
        let came_to_its_end = trial.run_somewhere(random, number.is_multiple_of(one_of))?;
        self.stopped += usize::from(!came_to_its_end);
        Ok(())
    }

    /// All kinds of programs have come to pass.
    fn check(&self, wanted: usize) {
        assert!(self.classes.iter().all(|count| *count > wanted / 50), "{self:?}");
        assert!(self.relaxations > wanted * SHAPES.0 / 100, "{self:?}");
        assert!(self.gathers > wanted * SHAPES.1 / 100, "{self:?}");
        assert!(self.stopped < wanted / 5, "{self:?}");
    }

    fn note(&mut self, trial: &Trial) {
        let operators = &trial.lowered.plan.operators;
        operators.iter().for_each(|operator| self.classes[operator.class as usize] += 1);
        match trial.lowered.plan.shape {
            ProgramShape::Relaxation { .. } => self.relaxations += 1,
            ProgramShape::Gather { .. } => self.gathers += 1,
            _ => {}
        }
    }
}

/// A random program that is accepted and ends, with a random graph and arguments.
struct Trial {
    family: Family,
    text: String,
    lowered: Lowered,
    relaxed: Option<Relaxed>,
    graph: PlainGraph,
    arguments: [u64; 2],
    meaning: Meaning,
}

impl Trial {
    fn random(random: &mut Random) -> Option<Trial> {
        let family = match random.below(20) {
            0..=7 => Family::General,
            8..=13 => Family::Relaxation,
            14..=17 => Family::Gather,
            _ => Family::Flow,
        };
        let text = family.program(random);
        let function = syn::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let parsed = parse(&function).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut lowered = lower(parsed.clone()).ok()?;
        let relaxed = recognise::recognise(&mut lowered);
        if relaxed.is_none() {
            vertex_form::recognise(&mut lowered);
        }
        let (vertices, edges) = random_graph(random);
        let wide = edges.iter().map(|&(source, target, weight)| (source, target, weight.into()));
        let graph = PlainGraph { vertices, edges: wide.collect() };
        let arguments = [random.below(vertices) as u64, random.below(5) as u64];
        let meaning = sequential(&parsed, &graph, &arguments, 200_000).ok()?;
        Some(Trial { family, text, lowered, relaxed, graph, arguments, meaning })
    }

    fn is(&self, class: Class) -> bool {
        self.lowered.plan.operators.iter().any(|operator| operator.class == class)
    }

    /// Runs the program on random hosts, as what it was recognised as or operator by operator. Returns whether it came
    /// to its end: what the compiler cannot know is checked when a program runs. An error says what is wrong.
    fn run_somewhere(self, random: &mut Random, is_on_devices: bool) -> Result<bool, String> {
        let narrow = |&(source, target, weight): &(u32, u32, u64)| (source, target, weight as u32);
        let edges: Vec<_> = self.graph.edges.iter().map(narrow).collect();
        let stored = graph(self.graph.vertices, &edges).into();
        let policies = policies::ALL.iter().filter(|kind| kind.argument.is_none());
        let policies: Vec<_> = policies.map(|kind| kind.name).collect();
        let hosts = 1 + random.below(7);
        let engines = match &self.relaxed {
            Some(relaxed) if !is_on_devices => relaxed.engines(),
            _ => vec!["steps"],
        };
        let engine = engines[random.below(engines.len())];
        let venue = Hosts {
            hosts,
            policy: policies[random.below(policies.len())],
            engine: Some(engine),
            communication: Communication::NAMES[[2, 2, 1, 0][random.below(4)]].1,
            pacing: any_pacing(random, engine),
            devices: if is_on_devices { 1 + random.below((1 << hosts) - 1) as u32 } else { 0 },
            ..Hosts::new(&stored)
        };
        // A few types of labels stand for all: engines are compiled for each.
        match self.relaxed.as_ref().map(|relaxed| (relaxed.fold, relaxed.ty)) {
            Some((Fold::Max, Ty::U32)) => self.run_on::<Max<u32>>(venue),
            Some((Fold::Min, Ty::U64)) => self.run_on::<Min<u64>>(venue),
            Some((Fold::Max, Ty::I64)) => self.run_on::<Max<i64>>(venue),
            Some((Fold::Min, Ty::F32)) => self.run_on::<Min<f32>>(venue),
            Some((Fold::Min, Ty::U32)) => self.run_on::<Min<u32>>(venue),
            _ => {
                let (engine, pacing) = (Some("steps"), Pacing::default());
                self.run_on::<Min<u32>>(Hosts { engine, pacing, ..venue })
            }
        }
    }

    fn run_on<R: Reduction>(self, mut venue: Hosts<'_>) -> Result<bool, String>
    where
        R::Value: Number + Typed,
    {
        let Trial { family, text, lowered, relaxed, graph, arguments, meaning } = self;
        let results = lowered.program.results.iter();
        let types: Vec<_> = results.map(|id| lowered.program.fields[id.0].ty).collect();
        let expected = types.into_iter().zip(meaning.fields).map(|(ty, bits)| typed(ty, bits));
        let expected: Vec<_> = expected.collect();
        let code = Interpreted::<R>::new(lowered, arguments.to_vec(), relaxed);
        let found = match venue.run(&code) {
            Ok(found) if are_close(&found, &expected, family.tolerance()) => return Ok(true),
            Ok(found) => format!("{found:?}, not {expected:?}"),
            Err(error) if error.contains("cannot go on") => return Ok(false),
            Err(error) => error,
        };
        let Hosts { hosts, policy, engine, communication, pacing, devices, .. } = venue;
        let PlainGraph { vertices, edges } = graph;
        let plan = parton_program::plan::text(&code.lowered.plan);
        Err(format!(
            "{text}\n{policy} {hosts} {engine:?} {pacing:?} {communication:?} {devices:b} on {vertices} {edges:?} \
             {arguments:?}\n{plan}\n{found}"
        ))
    }
}

/// A pace at which the engine runs relaxations.
fn any_pacing(random: &mut Random, engine: &str) -> Pacing {
    match (engine, random.below(3)) {
        ("steps", _) | (_, 0) => Pacing::default(),
        (_, 1) => Pace::Basp.into(),
        _ => Pacing::AT_ONCE,
    }
}

/// Values of the type from their bits.
fn typed(ty: Ty, bits: Vec<u64>) -> FieldValues {
    fn of<T: Element>(bits: Vec<u64>) -> Vec<T> {
        bits.into_iter().map(T::of_bits).collect()
    }
    match ty {
        Ty::U64 => FieldValues::U64(of(bits)),
        Ty::I32 => FieldValues::I32(of(bits)),
        Ty::I64 => FieldValues::I64(of(bits)),
        Ty::F32 => FieldValues::F32(of(bits)),
        Ty::F64 => FieldValues::F64(of(bits)),
        Ty::Bool => FieldValues::Bool(of(bits)),
        _ => FieldValues::U32(of(bits)),
    }
}
