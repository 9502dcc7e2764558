//! Writes random programs as Rust, each with a graph and arguments on which it ends. The tests compile them.

#[path = "../program/tests/random/generate.rs"]
mod generate;
#[path = "../program/tests/random/shapes.rs"]
mod shapes;

use std::fmt::Write;

use generate::{Random, random_graph};
use parton_compile::program::interpret::{PlainGraph, sequential};
use parton_compile::program::lower::lower;
use parton_compile::program::parse::parse;
use parton_compile::program::{recognise, vertex_form};
use parton_plan::{Class, ProgramShape};
use shapes::Family;

/// Programs of every family in ordinary tests: how many of them must have its shape, if it is one.
const PROGRAMS: [(Family, usize); 4] =
    [(Family::General, 40), (Family::Relaxation, 12), (Family::Gather, 12), (Family::Flow, 12)];
/// This many times as many in long tests.
const LONG: usize = 8;
/// Visits to vertices and edges after which a program counts as endless.
const BUDGET: u64 = 100_000;
/// Random programs of which one at least is of the shape of its family.
const MAX_TRIES: usize = 10_000;

fn main() {
    println!("cargo::rerun-if-changed=../program/tests/random/generate.rs");
    println!("cargo::rerun-if-changed=../program/tests/random/shapes.rs");
    println!("cargo::rerun-if-env-changed=PARTON_LONG");
    let times = if std::env::var_os("PARTON_LONG").is_some() { LONG } else { 1 };
    let random = &mut Random::of(0);
    let (mut programs, mut checks) = (String::new(), String::new());
    let mut written = 0;
    for (family, wanted) in PROGRAMS {
        for _ in 0..wanted * times {
            let (text, check) = meant(family, written, random);
            _ = write!(programs, "#[program(crate = parton_program)]\n{text}\n");
            checks += &check;
            written += 1;
        }
    }
    let text = format!("{programs}\npub(crate) fn check_all(count: &mut Shapes) {{\n{checks}}}\n");
    let folder = std::env::var("OUT_DIR").expect("Cargo says where");
    std::fs::write(format!("{folder}/programs.rs"), text).expect("a file that can be written");
}

/// A program of the family's shape that is accepted and ends, and a call that checks it.
fn meant(family: Family, number: usize, random: &mut Random) -> (String, String) {
    for _ in 0..MAX_TRIES {
        let text = family.program(random);
        let (vertices, edges) = random_graph(random);
        let arguments = [random.below(vertices) as u64, random.below(5) as u64];
        if !is_meant(family, &text, vertices, &edges, &arguments) {
            continue;
        }
        let [root, k] = arguments;
        let text = text.replacen("fn random(", &format!("pub(crate) fn program_{number}("), 1);
        let check = format!(
            "check(count, {number}, {:?}, {vertices}, &{edges:?}, &program_{number} {{ root: Vertex({root}), k: {k} }});\n",
            family.tolerance()
        );
        return (text, check);
    }
    panic!("no program of {family:?} is what it is meant to be: the compiler recognises none")
}

/// Whether a program is accepted, is of the family's shape and ends, without numbers that wrap around where values
/// settle.
fn is_meant(
    family: Family,
    text: &str,
    vertices: usize,
    edges: &[(u32, u32, u32)],
    arguments: &[u64],
) -> bool {
    let function = syn::parse_str(text).expect("the generator writes Rust");
    let Ok(parsed) = parse(&function) else { return false };
    let Ok(mut lowered) = lower(parsed.clone()) else { return false };
    if recognise::recognise(&mut lowered).is_none() {
        vertex_form::recognise(&mut lowered);
    }
    let shape = lowered.plan.shape;
    let is_of_shape = match family {
        Family::Relaxation => matches!(shape, ProgramShape::Relaxation { .. }),
        Family::Gather => matches!(shape, ProgramShape::Gather { .. }),
        Family::Flow => matches!(shape, ProgramShape::Rotated { .. }),
        Family::General => true,
    };
    let edges = edges.iter().map(|&(s, t, w)| (s, t, u64::from(w))).collect();
    let graph = PlainGraph { vertices, edges };
    let Ok(meaning) = sequential(&parsed, &graph, arguments, BUDGET) else { return false };
    let settles = lowered.plan.operators.iter().any(|operator| operator.class == Class::Settling);
    is_of_shape && !(meaning.has_wrapped && settles)
}
