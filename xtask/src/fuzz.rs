//! libFuzzer on stable Rust: coverage instrumentation needs only stable code-generation options,
//! so no nightly toolchain and no extra cargo command is needed.

mod command;

use std::process::{Command, Stdio};

use super::{cargo, root, step};

const INSTRUMENT: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions";

/// Fuzzes one target, a format or the messages between hosts, or all of them in turn, each for
/// `SECONDS`; or the command itself.
pub(crate) fn run(arguments: &[&str]) -> bool {
    if let ["command", rest @ ..] = arguments {
        return command::run(rest);
    }
    let (wanted, seconds) = match arguments {
        [] => (None, "60"),
        [target] => (Some(*target), "60"),
        [target, seconds, ..] => (Some(*target), *seconds),
    };
    let known = match targets() {
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
        Some(target) => fuzz(target, seconds),
        None => known.iter().all(|target| fuzz(target, seconds)),
    }
}

/// The fuzzer with these arguments of libFuzzer; it is built first where that is needed.
fn fuzzer(arguments: &[&str]) -> Command {
    // With an explicit target, build scripts and macros are not instrumented.
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let run = ["run", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &target, "--"];
    let mut fuzzer = cargo(&[&run[..], arguments].concat());
    fuzzer.env("RUSTFLAGS", INSTRUMENT).env_remove("PARTON_FUZZ_TARGET");
    fuzzer
}

/// The names of all targets, which the fuzzer prints when it is given none.
fn targets() -> Result<Vec<String>, String> {
    let output = fuzzer(&[]).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("the fuzzer cannot be built or run".into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

fn fuzz(target: &str, seconds: &str) -> bool {
    let [corpus, artifacts] =
        ["corpus", "artifacts"].map(|folder| root().join("fuzz").join(folder).join(target));
    for folder in [&corpus, &artifacts] {
        if let Err(error) = std::fs::create_dir_all(folder) {
            eprintln!("{}: {error}", folder.display());
            return false;
        }
    }
    let mut fuzzer = fuzzer(&[
        &format!("-max_total_time={seconds}"),
        &format!("-artifact_prefix={}/", artifacts.display()),
        "-max_len=4096",
        "-rss_limit_mb=4096",
        "-timeout=10",
        "-print_final_stats=1",
        &corpus.to_string_lossy(),
    ]);
    fuzzer.env("PARTON_FUZZ_TARGET", target).env("PARTON_FUZZ_CORPUS", &corpus);
    step(&format!("fuzz {target}"), &mut fuzzer)
}
