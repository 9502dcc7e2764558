//! Random programs: refused, or equal to their sequential meaning on random graphs, under every policy, on one
//! to seven hosts.

pub(crate) mod generate;
mod interpreted;

use parton_compile::program::interpret::{PlainGraph, sequential};
use parton_compile::program::lower::{Lowered, lower};
use parton_compile::program::parse::parse;
use parton_partition::policies;
use parton_program::plan::{Class, PlannedOperator};
use parton_program::{Communication, Element, FieldValues, Venue};

use crate::common::{Hosts, graph};
use generate::{Random, program, random_graph};
use interpreted::Interpreted;

/// Random programs that are accepted, in ordinary tests and in long ones.
const ACCEPTED: (usize, usize) = (1_000, 100_000);
/// One program of this number runs on emulated devices, on some hosts or all: of the first thousand, and of later ones.
/// Each is compiled.
const ONE_ON_DEVICES: (usize, usize) = (50, 1_000);

#[test]
fn random_programs_are_refused_or_right() {
    let is_long = std::env::var_os("PARTON_LONG").is_some();
    let wanted = if is_long { ACCEPTED.1 } else { ACCEPTED.0 };
    let random = &mut Random(0x9e37_79b9_7f4a_7c15);
    let policies: Vec<_> =
        policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect();
    let (mut accepted, mut refused, mut stopped, mut classes) = (0, 0, 0, [0; 4]);
    while accepted < wanted {
        let text = program(random);
        let function = syn::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let parsed = parse(&function).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let meaning = parsed.clone();
        let Ok(lowered) = lower(parsed) else {
            refused += 1;
            continue;
        };
        lowered.plan.operators.iter().for_each(|operator| classes[operator.class as usize] += 1);
        let (vertices, edges) = random_graph(random);
        let wide = edges.iter().map(|&(source, target, weight)| (source, target, weight.into()));
        let plain = PlainGraph { vertices, edges: wide.collect() };
        let arguments = [random.below(plain.vertices) as u64, random.below(5) as u64];
        let Ok(answer) = sequential(&meaning, &plain, &arguments, 200_000) else {
            refused += 1;
            continue;
        };
        // Improvements by sums that wrap around are no improvements. The function itself panics there.
        let settles = |operator: &PlannedOperator| operator.class == Class::Settling;
        if answer.has_wrapped && lowered.plan.operators.iter().any(settles) {
            continue;
        }
        let expected = answer.fields;
        accepted += 1;
        if accepted % 10_000 == 0 {
            println!("{accepted} accepted");
        }
        let stored = graph(plain.vertices, &edges).into();
        let hosts = 1 + random.below(7);
        let is_first = accepted <= ACCEPTED.0;
        let one_of = if is_first { ONE_ON_DEVICES.0 } else { ONE_ON_DEVICES.1 };
        let is_on_devices = accepted % one_of == 0;
        let venue = &mut Hosts {
            hosts,
            policy: policies[random.below(policies.len())],
            communication: Communication::NAMES[[2, 2, 1, 0][random.below(4)]].1,
            devices: if is_on_devices { 1 + random.below((1 << hosts) - 1) as u32 } else { 0 },
            ..Hosts::new(&stored)
        };
        let code = Interpreted::new(lowered, arguments.to_vec());
        match venue.run(&code) {
            Ok(found) => assert_eq!(
                bits(found),
                expected,
                "{text}\n{} {} {:?} {:b} on {} {:?} {arguments:?}\n{}",
                venue.policy,
                venue.hosts,
                venue.communication,
                venue.devices,
                plain.vertices,
                plain.edges,
                describe(&code.lowered),
            ),
            // What the compiler cannot know it has checked when the program ran.
            Err(error) if error.contains("cannot go on") => stopped += 1,
            Err(error) => panic!("{error}\n{text}"),
        }
    }
    println!("{accepted} accepted, {refused} refused, {stopped} stopped, classes {classes:?}");
    assert!(classes[..3].iter().all(|count| *count > wanted / 50), "{classes:?}");
    assert!(stopped < wanted / 5, "{stopped} stopped");
}

fn describe(lowered: &Lowered) -> String {
    parton_program::plan::text(&lowered.plan)
}

fn bits(columns: Vec<FieldValues>) -> Vec<Vec<u64>> {
    fn of<T: Element>(values: Vec<T>) -> Vec<u64> {
        values.into_iter().map(Element::to_bits).collect()
    }
    let each = columns.into_iter().map(|column| match column {
        FieldValues::U32(values) => of(values),
        FieldValues::U64(values) => of(values),
        FieldValues::I32(values) => of(values),
        FieldValues::I64(values) => of(values),
        FieldValues::F32(values) => of(values),
        FieldValues::F64(values) => of(values),
        FieldValues::Bool(values) => of(values),
    });
    each.collect()
}
