//! Random programs through the attribute and rustc: what they return on many hosts, by every engine that runs them, is
//! what the functions return.

#[path = "../../program/tests/common/mod.rs"]
#[allow(dead_code, reason = "other tests need more of it")]
mod common;

use common::{Hosts, are_close, graph};
use parton_engine::{Pace, Pacing, ProgramForm};
use parton_partition::policies;
use parton_program::{Communication, Graph, Program, Venue};

#[allow(unused, clippy::all, clippy::pedantic)]
mod programs {
    use parton_program::{Field, Graph, Improve, Vertex, Worklist, program};

    use super::{Shapes, check};

    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

/// How many programs have which shape.
#[derive(Debug, Default)]
struct Shapes {
    relaxations: usize,
    gathers: usize,
    rotated: usize,
    others: usize,
    runs: usize,
    /// Runs that did not come to their end.
    stopped: usize,
}

/// Runs a program on some hosts: once by every engine that runs it, a relaxation at every pace too.
fn check<P: Program<Weight = u32>>(
    count: &mut Shapes,
    number: usize,
    tolerance: f64,
    vertices: usize,
    edges: &[(u32, u32, u32)],
    program: &P,
) {
    let shape = match P::FORM {
        Some(ProgramForm::Relaxation { .. }) => &mut count.relaxations,
        Some(ProgramForm::VertexProgram { .. }) => &mut count.gathers,
        Some(ProgramForm::Rotated) => &mut count.rotated,
        None => &mut count.others,
    };
    *shape += 1;
    let engines: Vec<_> = P::ENGINES.iter().map(|engine| engine.name).collect();
    assert_eq!(engines, P::compiled_plan().fit.engines, "program_{number}");
    let expected = P::columns(program.sequential(&Graph::new(vertices, edges)));
    let input = &graph(vertices, edges).into();
    let policies: Vec<_> =
        policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect();
    for turn in 0..P::ENGINES.len().max(4) {
        let engine = P::ENGINES[turn % P::ENGINES.len()].name;
        let has_paces = (P::IS_RELAXATION || P::IS_ANY_ORDER) && engine != "steps";
        let pacing = match (has_paces, (number + turn) % 3) {
            (false, _) | (true, 0) => Pacing::default(),
            (true, 1) => Pace::Basp.into(),
            (true, _) => Pacing::AT_ONCE,
        };
        let venue = &mut Hosts {
            hosts: 1 + (number + 2 * turn) % 7,
            policy: policies[(number + turn) % policies.len()],
            engine: Some(engine),
            communication: Communication::NAMES[2 - turn % 3].1,
            pacing,
            ..Hosts::new(input)
        };
        count.runs += 1;
        match venue.run(program) {
            Ok(found) => {
                let found = P::columns(found);
                assert!(
                    are_close(&found, &expected, tolerance),
                    "program_{number}, {} on {} hosts by {engine}, {pacing:?}, of {vertices} {edges:?}: {found:?}, not \
                     {expected:?}",
                    venue.policy,
                    venue.hosts,
                );
            }
            // What the compiler cannot know is checked when the program runs: whether it can go on, and whether sums of
            // labels fit their type. Where they might not, it runs operator by operator, and that in rounds.
            Err(error) => {
                let has_no_rounds = pacing.pace == Pace::Basp;
                let is_known = error.contains("cannot go on")
                    || has_no_rounds && error.contains("hosts have to wait for each other");
                assert!(is_known, "program_{number}: {error}");
                count.stopped += 1;
            }
        }
    }
}

#[test]
fn code_of_random_programs_is_that_of_their_functions() {
    let mut count = Shapes::default();
    programs::check_all(&mut count);
    println!("{count:?}");
    let Shapes { relaxations, gathers, rotated, others, runs, stopped } = count;
    assert!(
        [relaxations, gathers, rotated, others].into_iter().all(|shape| shape >= 12),
        "{count:?}"
    );
    assert!(stopped < runs / 10, "{count:?}");
}
