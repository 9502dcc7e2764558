//! Parton's own chores: `cargo xtask test`, `tidy`, `bench`, `fuzz`, `release`.

mod figures;
mod fuzz;
mod nvrtc;
mod packages;
mod publish;
mod release;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "\
cargo xtask test [--long] [--gpu]    everything that must pass: format, tidy, lints, tests (under MPI, too),
                                     docs; long: whole products of settings instead of samples, more seeds;
                                     gpu: on a GPU as well, which must be there
cargo xtask tidy [CHECK]             links and commands in docs, words, sizes, twins, unused items; a second
cargo xtask bench figures [OPTIONS]  times, memory and loading; fills docs/performance.md
                                     --data DIR   real graphs: DIR/dimacs9/NW/NW.gr.gz
                                     --gap DIR    programs of the GAP benchmark suite, to compare with
                                     --scale N, --turns N, --folder DIR (keeps graphs), --parton FILE,
                                     --against FILE (says what changed), --output FILE (fills no page)
cargo xtask bench volume --data DIR  bytes on the wire beside D-Galois's; fills docs/communication.md
cargo xtask bench levels --data DIR  bytes of compiled programs at each level of communication; fills
                                     docs/compiler-performance.md
cargo xtask bench twins              compiled programs beside the same written by hand; fills
                                     docs/compiler-performance.md
                                     --graph GRAPH (rmat:18), --turns N (7)
cargo xtask bench compile            what the attribute adds to the time that a crate takes to compile; fills
                                     docs/compiler-performance.md; --turns N (3)
cargo xtask bench pace --data DIR    BSP beside BASP in virtual time; fills docs/async.md
cargo xtask bench pace --graphs …    the same on other graphs, or on threads with one made slow
cargo xtask bench gpu --graphs FILE+FILE…
                                     engines on a GPU beside the processor; fills docs/gpu.md
cargo xtask bench plan --data DIR    plans of memory and bytes beside runs of every data set in DIR; fills
                                     docs/planning.md, and fails if plans are worse than they must be
                                     --measured FILE (only plans what that result has measured),
                                     --jobs N (runs at a time)
cargo xtask bench spmv --data DIR    the engine spmv beside the others on ranks over slow links; fills docs/spmv.md
                                     --turns N, --scale N, --prefix COMMAND (before every measurement)
cargo xtask bench render             fills the pages from the newest files in bench/results
cargo xtask bench load|partition|net|wire|overhead
                                     single measurements, printed
cargo xtask release                  programs for others, packed into target/release-archives: one that
                                     finds MPI and CUDA when it runs, one that needs nothing (musl-tools)
cargo xtask fuzz [TARGET] [SECONDS]  coverage-guided fuzzing of readers and messages, on stable Rust
cargo xtask fuzz long [OPTIONS]      five million inputs for each of them, on all cores
cargo xtask fuzz command [OPTIONS]   the command under random options and damaged files
                                     --runs N (100000), --first N (the number of the first run), --jobs N
                                     (at a time), --parton FILE (built otherwise), --files DIR (to damage)
cargo xtask fuzz programs [OPTIONS]  random programs: refused by the compiler, or right on many hosts
                                     --runs N (100000), --first N (the number of the first program)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match words[..] {
        ["test", ref flags @ ..] if flags.iter().all(|flag| ["--long", "--gpu"].contains(flag)) => {
            test(flags.contains(&"--long"), flags.contains(&"--gpu"))
        }
        ["tidy", ref rest @ ..] => tidy::run(rest),
        ["bench", ref rest @ ..] if !rest.is_empty() => bench(rest),
        ["release"] => release::run(),
        ["fuzz", ref rest @ ..] => fuzz::run(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The top of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the checkout").into()
}

/// A cargo call at the top of the checkout.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command, says what it was and how long it took; whether it succeeded.
fn step(what: &str, command: &mut Command) -> bool {
    eprintln!("== {what}");
    let start = Instant::now();
    let passed = match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot run {:?}: {error}", command.get_program());
            false
        }
    };
    let outcome = if passed { "ok" } else { "FAILED" };
    eprintln!("== {what}: {outcome} ({:.0} s)", start.elapsed().as_secs_f64());
    passed
}

/// Everything that must pass, quickest first; `long` also tries what takes minutes, `gpu` what needs a
/// GPU.
fn test(long: bool, gpu: bool) -> bool {
    let strict = ["--", "--deny", "warnings"];
    let lint = |arguments: &[&str]| {
        cargo(&[&["clippy", "--quiet", "--all-targets"], arguments, &strict[..]].concat())
    };
    let format = |manifest: &str| cargo(&["fmt", "--all", "--check", "--manifest-path", manifest]);
    // What both workspaces depend on is checked once.
    let beside = ["--manifest-path", "bench/Cargo.toml", "--target-dir", "target"];
    // One failure does not hide another.
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    if long {
        tests.env("PARTON_LONG", "1");
    }
    if gpu {
        tests.env("PARTON_TEST_GPU", "1");
    }
    // Compiled kernels of tests stay out of the user's folder.
    tests.env("PARTON_CACHE", root().join("target/kernels"));
    let manifests = ["Cargo.toml", "bench/Cargo.toml", "fuzz/Cargo.toml"];
    manifests.iter().all(|path| step(&format!("format of {path}"), &mut format(path)))
        && tidy::run(&[])
        && step("lints", &mut lint(&["--workspace"]))
        && step("lints of bench", &mut lint(&beside))
        && packages::install(long)
        && {
            tests.envs(nvrtc::install().map(|file| ("PARTON_NVRTC", file)));
            step("tests", &mut tests)
        }
        && (!long || step("remote stores", &mut remote_stores()))
        && publish::try_all()
        && step(
            "documentation",
            cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"),
        )
}

/// Graphs behind URLs are a feature of their own, which doubles what is to be built.
fn remote_stores() -> Command {
    cargo(&["test", "--package", "parton", "--features", "remote", "--test", "remote"])
}

/// Benchmarks that use libraries live in a workspace of their own, so that rivals stay out of Parton's
/// lock file.
fn bench(arguments: &[&str]) -> bool {
    match arguments {
        ["figures", ..] => figures::figures(arguments),
        ["volume", ..] => figures::volume(arguments),
        ["gpu", ..] => figures::gpu(arguments),
        ["plan", ..] => figures::plan(arguments),
        ["levels", ..] => figures::levels(arguments),
        ["twins", ..] => figures::twins(arguments),
        ["compile", ..] => figures::compile(arguments),
        ["spmv", ..] => figures::spmv(arguments),
        ["pace", ..] if !arguments.contains(&"--graphs") => figures::pace(arguments),
        ["render"] => figures::render(),
        _ => step("bench", &mut figures::bench_program(arguments)),
    }
}
