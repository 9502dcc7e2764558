//! libFuzzer on stable Rust: coverage instrumentation needs only stable code-generation options,
//! so no nightly toolchain and no extra cargo command is needed.

mod command;
mod long;
mod programs;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{cargo, root, step};

const INSTRUMENT: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions";

/// Targets that start from the messy tables of the tests, too.
const TABLES: [&str; 2] = ["edges", "tables"];

/// Fuzzes one target, a format or the messages between hosts, or all of them in turn, each for
/// `SECONDS`; all of them with many inputs; or the command itself.
pub(crate) fn run(arguments: &[&str]) -> bool {
    match arguments {
        ["command", rest @ ..] => return command::run(rest),
        ["long", rest @ ..] => return long::run(rest),
        ["programs", rest @ ..] => return programs::run(rest),
        _ => {}
    }
    let (wanted, seconds) = match arguments {
        [] => (None, "60"),
        [target] => (Some(*target), "60"),
        [target, seconds, ..] => (Some(*target), *seconds),
    };
    let Some(fuzzer) = build() else { return false };
    let known = match targets(&fuzzer) {
        Ok(known) => known,
        Err(problem) => {
            eprintln!("{problem}");
            return false;
        }
    };
    match wanted {
        Some(target) if !known.iter().any(|name| name == target) => {
            eprintln!("unknown target '{target}'; known: {}", known.join(", "));
            false
        }
        Some(target) => fuzz(&fuzzer, target, seconds),
        None => known.iter().all(|target| fuzz(&fuzzer, target, seconds)),
    }
}

/// Builds the fuzzer. `None` if that fails.
fn build() -> Option<PathBuf> {
    // With an explicit target, build scripts and macros are not instrumented.
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let build = ["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &target];
    let is_built = step("build the fuzzer", cargo(&build).env("RUSTFLAGS", INSTRUMENT));
    is_built.then(|| root().join("fuzz/target").join(target).join("release/parton-fuzz"))
}

/// The names of all targets, which the fuzzer prints when it is given none.
fn targets(fuzzer: &Path) -> Result<Vec<String>, String> {
    let mut fuzzer = Command::new(fuzzer);
    let output = fuzzer.env_remove("PARTON_FUZZ_TARGET").stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("the fuzzer cannot be run: {error}"))?;
    if !output.status.success() {
        return Err("the fuzzer does not name its targets".into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// How long an input of a target may be: what its reader can be led to lies within a few lines, a
/// few nested objects, or the tables of a binary file.
fn most_bytes(target: &str) -> u32 {
    match target {
        "parquet" | "arrow" | "parton" => 4096,
        "json" | "jsonl" | "graphml" | "gml" => 1024,
        _ => 512,
    }
}

/// The fuzzer on one target, with what it finds and learns in folders under `folder`.
fn on_target(fuzzer: &Path, target: &str, folder: &Path, messy: &Path) -> std::io::Result<Command> {
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|name| folder.join(name).join(target));
    std::fs::create_dir_all(&corpus)?;
    std::fs::create_dir_all(&artifacts)?;
    let mut fuzzer = Command::new(fuzzer);
    fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display()));
    // Processor time shows inputs that take long; this limit ends inputs that wait.
    fuzzer.args(["-rss_limit_mb=4096", "-timeout=900", "-print_final_stats=1"]);
    // Weighing what is known by its entropy takes longer than reading a few hundred bytes.
    fuzzer.args([format!("-max_len={}", most_bytes(target)), "-entropic=0".into()]);
    fuzzer.env("PARTON_FUZZ_TARGET", target).env("PARTON_FUZZ_CORPUS", &corpus);
    // It writes to the first folder and only reads the second.
    fuzzer.arg(&corpus);
    if TABLES.contains(&target) {
        fuzzer.arg(messy);
    }
    Ok(fuzzer)
}

/// Files as other programs write them.
fn messy_files() -> PathBuf {
    root().join("crates/graph/tests/corpus")
}

fn fuzz(fuzzer: &Path, target: &str, seconds: &str) -> bool {
    match on_target(fuzzer, target, &root().join("fuzz"), &messy_files()) {
        Ok(mut fuzzer) => {
            step(&format!("fuzz {target}"), fuzzer.arg(format!("-max_total_time={seconds}")))
        }
        Err(error) => {
            eprintln!("{}: {error}", root().join("fuzz").display());
            false
        }
    }
}
