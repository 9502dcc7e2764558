//! Random programs through the attribute and rustc: what they return on many hosts is what the functions return.

#[path = "../../program/tests/common/mod.rs"]
#[allow(dead_code, reason = "other tests need more of it")]
mod common;

use std::fmt::Debug;

use common::{Hosts, graph};
use parton_partition::policies;
use parton_program::{Communication, Graph};

#[allow(unused, clippy::all, clippy::pedantic)]
mod programs {
    use parton_program::{Field, Graph, Improve, Vertex, Worklist, program};

    use super::check;

    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

/// Runs a program on some hosts, operator by operator and as whatever was recognised.
fn check<O: PartialEq + Debug>(
    number: usize,
    vertices: usize,
    edges: &[(u32, u32, u32)],
    run: impl Fn(&mut Hosts<'_>) -> Result<O, String>,
    function: impl Fn(&Graph<u32>) -> O,
) {
    let expected = function(&Graph::new(vertices, edges));
    let input = &graph(vertices, edges).into();
    let policies: Vec<_> =
        policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect();
    for turn in 0..4 {
        let venue = &mut Hosts {
            hosts: 1 + (number + 2 * turn) % 7,
            policy: policies[(number + turn) % policies.len()],
            engine: (turn % 2 == 0).then_some("steps"),
            communication: Communication::NAMES[2 - turn % 3].1,
            ..Hosts::new(input)
        };
        match run(venue) {
            Ok(found) => assert_eq!(
                found, expected,
                "program_{number}, {} on {} hosts, {:?}, of {vertices} {edges:?}",
                venue.policy, venue.hosts, venue.engine
            ),
            // What the compiler cannot know is checked when the program runs.
            Err(error) => assert!(error.contains("cannot go on"), "program_{number}: {error}"),
        }
    }
}

#[test]
fn code_of_random_programs_is_that_of_their_functions() {
    programs::check_all();
}
