//! Writes random programs as Rust, each with a graph and arguments on which it ends. The tests compile them.

#[path = "../program/tests/random/generate.rs"]
mod generate;

use std::fmt::Write;

use generate::{Random, program, random_graph};
use parton_compile::program::interpret::{PlainGraph, sequential};
use parton_compile::program::lower::lower;
use parton_compile::program::parse::parse;
use parton_plan::Class;

/// Programs in ordinary tests, and in long ones.
const PROGRAMS: (usize, usize) = (100, 400);
/// Visits to vertices and edges after which a program counts as endless.
const BUDGET: u64 = 100_000;

fn main() {
    println!("cargo::rerun-if-changed=../program/tests/random/generate.rs");
    println!("cargo::rerun-if-env-changed=PARTON_LONG");
    let is_long = std::env::var_os("PARTON_LONG").is_some();
    let wanted = if is_long { PROGRAMS.1 } else { PROGRAMS.0 };
    let random = &mut Random(0x2127_599b_f432_5c37);
    let (mut programs, mut checks) = (String::new(), String::new());
    let mut written = 0;
    while written < wanted {
        let text = program(random);
        let (vertices, edges) = random_graph(random);
        let arguments = [random.below(vertices) as u64, random.below(5) as u64];
        if !is_meant(&text, vertices, &edges, &arguments) {
            continue;
        }
        let [root, k] = arguments;
        let text = text.replacen("fn random(", &format!("pub(crate) fn program_{written}("), 1);
        _ = write!(programs, "#[program(crate = parton_program)]\n{text}\n");
        _ = writeln!(
            checks,
            "check({written}, {vertices}, &{edges:?},\n    \
             |venue| program_{written}::run(venue, Vertex({root}), {k}),\n    \
             |graph| program_{written}(graph, Vertex({root}), {k}));"
        );
        written += 1;
    }
    let text = format!("{programs}\npub(crate) fn check_all() {{\n{checks}}}\n");
    let folder = std::env::var("OUT_DIR").expect("Cargo says where");
    std::fs::write(format!("{folder}/programs.rs"), text).expect("a file that can be written");
}

/// Whether a program is accepted and ends, without numbers that wrap around where values settle.
fn is_meant(text: &str, vertices: usize, edges: &[(u32, u32, u32)], arguments: &[u64]) -> bool {
    let function = syn::parse_str(text).expect("the generator writes Rust");
    let Ok(parsed) = parse(&function) else { return false };
    let Ok(lowered) = lower(parsed.clone()) else { return false };
    let edges = edges.iter().map(|&(s, t, w)| (s, t, u64::from(w))).collect();
    let graph = PlainGraph { vertices, edges };
    let Ok(meaning) = sequential(&parsed, &graph, arguments, BUDGET) else { return false };
    let settles = lowered.plan.operators.iter().any(|operator| operator.class == Class::Settling);
    !(meaning.has_wrapped && settles)
}
