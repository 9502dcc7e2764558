//! All test programs, several at a time. Cargo runs one after the other, and many of them wait: for ranks to start, for
//! hosts that take turns, for the longest of their tests.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::cargo;

/// A variable of test programs, and its value.
pub(crate) type Variable = (&'static str, OsString);

/// Packages whose programs take longest, so that none of them is left at the end.
const LONGEST: [&str; 4] = ["algorithms", "parton", "program", "generated"];

/// A program with tests.
#[derive(Debug, PartialEq)]
struct Program {
    file: PathBuf,
    /// Where Cargo runs it.
    folder: PathBuf,
    name: String,
}

/// Builds all test programs of the workspace and runs them, some at a time. Each uses all cores while it has tests to
/// run. Whether all tests passed.
pub(crate) fn run(variables: &[Variable], at_once: usize) -> bool {
    // Without programs of examples: lints compile them, and tests contain them.
    let arguments = ["test", "--workspace", "--tests", "--no-run", "--message-format"];
    let mut build = cargo(&arguments);
    build.arg("json-render-diagnostics").stderr(Stdio::inherit());
    // What is built depends on them, too.
    build.envs(variables.iter().cloned());
    eprintln!("== test programs");
    let start = Instant::now();
    let built = match build.output() {
        Ok(built) if built.status.success() => built,
        Ok(_) => return false,
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            return false;
        }
    };
    eprintln!("== test programs: ok ({:.0} s)", start.elapsed().as_secs_f64());
    let mut programs = of_messages(&String::from_utf8_lossy(&built.stdout));
    if programs.is_empty() {
        eprintln!("cargo names no test programs");
        return false;
    }
    let rank = |program: &Program| {
        let package = program.folder.file_name().unwrap_or_default();
        LONGEST.iter().position(|name| *name == package).unwrap_or(LONGEST.len())
    };
    programs.sort_by_key(rank);
    run_all(programs, variables, at_once)
}

/// The test programs that Cargo says it has built.
fn of_messages(messages: &str) -> Vec<Program> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = |message: Value| {
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        let file = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
        let manifest = PathBuf::from(message["manifest_path"].as_str()?);
        let folder = manifest.parent()?.to_path_buf();
        let package = folder.file_name()?.to_string_lossy();
        let name = format!("{package} {}", message["target"]["name"].as_str()?);
        Some(Program { file, folder, name })
    };
    messages.filter_map(program).collect()
}

/// Runs programs and prints what each says when it ends. One failure does not hide another.
fn run_all(programs: Vec<Program>, variables: &[Variable], at_once: usize) -> bool {
    let (queue, failed) = (Mutex::new(VecDeque::from(programs)), Mutex::new(Vec::new()));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(program) = next() {
                    if !run_one(&program, variables) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(program.name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        eprintln!("== tests failed in: {}", failed.join(", "));
    }
    failed.is_empty()
}

fn run_one(program: &Program, variables: &[Variable]) -> bool {
    let start = Instant::now();
    let mut command = Command::new(&program.file);
    // As Cargo does.
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    command.stdin(Stdio::null());
    let ended = command.envs(variables.iter().cloned()).output();
    let seconds = start.elapsed().as_secs_f64();
    let (passed, mut text) = match ended {
        Ok(ended) => (ended.status.success(), [ended.stdout, ended.stderr].concat()),
        Err(error) => (false, error.to_string().into_bytes()),
    };
    let outcome = if passed { "ok" } else { "FAILED" };
    text.extend(format!("== tests of {}: {outcome} ({seconds:.0} s)\n", program.name).bytes());
    // In one piece: others end at the same time.
    let _ = std::io::stderr().lock().write_all(&text);
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_messages_of_cargo() {
        let messages = r#"{"reason":"compiler-artifact","profile":{"test":false},"executable":"/t/parton"}
{"reason":"compiler-artifact","manifest_path":"/c/net/Cargo.toml","target":{"name":"mpi"},"profile":{"test":true},"executable":"/t/mpi-1"}
{"reason":"compiler-artifact","manifest_path":"/c/net/Cargo.toml","target":{"name":"x"},"profile":{"test":true},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let (file, folder, name) = ("/t/mpi-1".into(), "/c/net".into(), "net mpi".into());
        assert_eq!(of_messages(messages), [Program { file, folder, name }]);
    }

    #[test]
    fn all_programs_run_and_one_that_fails_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a file");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&file, mode).expect("a file of ours");
            Program { file, folder: folder.path().into(), name: name.into() }
        };
        let variables = [("SAID", "yes".into())];
        let good = |name| program(name, &format!("test $SAID = yes && touch {name}.done"));
        assert!(run_all(vec![good("a"), good("b"), good("c")], &variables, 2));
        assert!(!run_all(vec![program("d", "exit 1"), good("e"), good("f")], &variables, 2));
        for name in ["a", "b", "c", "e", "f"] {
            assert!(folder.path().join(format!("{name}.done")).exists(), "{name}");
        }
    }
}
