//! How long a crate with the programs of docs/compiler.md takes to compile: without the attribute, with it, and with
//! it where every program runs on hosts.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::{keep, option};
use crate::{cargo, root, step};

/// Programs of the page that make up the crate.
const PROGRAMS: usize = 5;
const ATTRIBUTE: &str = "#[parton::program]\n";
/// What is timed.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("cargo check", &["check"]),
    ("cargo build", &["build"]),
    ("cargo build --release", &["build", "--release"]),
];

/// What the crate does with its programs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Functions without the attribute are called.
    Without,
    /// Functions with the attribute are called.
    With,
    /// The programs run on hosts.
    Run,
}

impl Form {
    const ALL: [(&str, Form); 3] =
        [("without", Form::Without), ("with", Form::With), ("run", Form::Run)];
}

/// `cargo xtask bench compile [--turns N] [--output FILE]`.
pub(crate) fn compile(command: &[&str]) -> bool {
    let turns = option(command, "--turns").and_then(|turns| turns.parse().ok()).unwrap_or(3);
    let page = std::fs::read_to_string(root().join("docs/compiler.md")).expect("a page");
    let folder = root().join("target/compile-time");
    if let Err(error) = write_crate(&folder) {
        eprintln!("{}: {error}", folder.display());
        return false;
    }
    let mut rows = Vec::new();
    for (name, arguments) in COMMANDS {
        let mut row = json!({ "command": name });
        for (form_name, form) in Form::ALL {
            let Some(seconds) = measure(&folder, arguments, &crate_text(&page, form), turns) else {
                return false;
            };
            eprintln!("{name}, {form_name}: {seconds:.2?} s");
            row[form_name] = json!(seconds);
        }
        rows.push(row);
    }
    keep("compile", command, &[("rows", Value::from(rows))])
}

/// A crate beside this workspace, with the versions of its dependencies.
fn write_crate(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let parton = root().join("crates/parton");
    let manifest = format!(
        "[package]\nname = \"compile-time\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nparton = {{ path = \"{}\" }}\n\n[workspace]\n",
        parton.display()
    );
    std::fs::write(folder.join("Cargo.toml"), manifest)
}

/// Seconds that a command takes each time after the source was written.
fn measure(folder: &Path, arguments: &[&str], text: &str, turns: usize) -> Option<Vec<f64>> {
    let source = folder.join("src/main.rs");
    let manifest = folder.join("Cargo.toml").to_string_lossy().into_owned();
    let mut seconds = Vec::new();
    for turn in 0..=turns {
        std::fs::write(&source, text).ok()?;
        let mut command = cargo(arguments);
        command.args(["--quiet", "--offline", "--manifest-path", &manifest]);
        command.env("CARGO_TARGET_DIR", folder.join("target"));
        let began = Instant::now();
        let is_built = match turn {
            0 => step(&format!("dependencies of {}", arguments.join(" ")), &mut command),
            _ => command.status().is_ok_and(|status| status.success()),
        };
        if !is_built {
            return None;
        }
        // The first time dependencies are built.
        if turn > 0 {
            seconds.push(began.elapsed().as_secs_f64());
        }
    }
    Some(seconds)
}

/// The source of the crate.
fn crate_text(page: &str, form: Form) -> String {
    let (mut modules, mut calls) = (String::new(), String::new());
    for program in programs(page) {
        let Program { name, weight, arguments, text } = program;
        let attribute = if form == Form::Without { "" } else { ATTRIBUTE };
        let arguments: String = arguments.iter().map(|one| format!(", {one}")).collect();
        let call = match form {
            Form::Run => {
                format!("{name}::run(&mut parton::On::new(&graph)?.hosts(2){arguments})?.output")
            }
            _ => format!("{name}(&graph{arguments})"),
        };
        _ = write!(
            modules,
            "mod {name}_program {{\nuse parton::program::*;\n{attribute}pub {text}\n\
             pub fn call() -> Result<(), parton::Error> {{\n\
             let graph = Graph::<{weight}>::new(2, &[(0, 1, Default::default())]);\n\
             std::hint::black_box({call});\nOk(())\n}}\n}}\n\n"
        );
        _ = writeln!(calls, "    {name}_program::call()?;");
    }
    format!(
        "#![allow(unused)]\n\n{modules}fn main() -> Result<(), parton::Error> {{\n{calls}    Ok(())\n}}\n"
    )
}

/// A program of the page.
struct Program<'p> {
    name: &'p str,
    /// The type of weights.
    weight: &'p str,
    /// Arguments after the graph.
    arguments: Vec<&'static str>,
    text: &'p str,
}

/// The first programs of the page.
fn programs(page: &str) -> Vec<Program<'_>> {
    let programs = page.split(ATTRIBUTE).skip(1).take(PROGRAMS).map(|rest| {
        let text = &rest[..rest.find("\n}\n").expect("the end of a function") + 3];
        let (head, parameters) = text.split_once('(').expect("parameters");
        let (parameters, _) = parameters.split_once(") -> ").expect("what it returns");
        let weight = if parameters.contains("Graph<()>") { "()" } else { "u32" };
        let arguments =
            parameters.split(", ").skip(1).map(|parameter| match parameter.rsplit(' ').next() {
                Some("Vertex") => "Vertex(0)",
                Some("f64") => "0.5",
                _ => "2",
            });
        Program {
            name: head.trim_start_matches("fn "),
            weight,
            arguments: arguments.collect(),
            text,
        }
    });
    programs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_programs() {
        let page = std::fs::read_to_string(root().join("docs/compiler.md")).expect("a page");
        let known: Vec<_> =
            programs(&page).into_iter().map(|one| (one.name, one.weight, one.arguments)).collect();
        assert_eq!(
            known,
            [
                ("weighted_degrees", "u32", vec![]),
                ("shortest_paths", "u32", vec!["Vertex(0)"]),
                ("core", "()", vec!["2"]),
                ("pagerank", "()", vec!["0.5", "0.5"]),
                ("betweenness", "()", vec!["Vertex(0)"]),
            ]
        );
        for (form, calls) in [(Form::Without, "core(&graph, 2)"), (Form::Run, "core::run(")] {
            let text = crate_text(&page, form);
            assert!(text.contains(calls), "{text}");
            assert_eq!(text.contains(ATTRIBUTE), form != Form::Without);
        }
    }
}
