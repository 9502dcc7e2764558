//! Random programs for the compiler: refused, or right on many hosts. Parts of a long run can be had one by one.

use super::super::{cargo, step};

/// Programs of a part: what has passed is said so often.
const PART: u64 = 5_000;
const TEST: &str = "random_programs_are_refused_or_right";

/// `cargo xtask fuzz programs [--runs N] [--first N]`; whether all parts passed. The first that fails ends the run.
pub(super) fn run(arguments: &[&str]) -> bool {
    let Some((first, runs)) = parse(arguments) else {
        eprintln!("expected --runs or --first, each with its value");
        return false;
    };
    let end = first + runs;
    let mut parts = (first..end).step_by(PART as usize);
    parts.all(|from| {
        let count = PART.min(end - from);
        let mut test = cargo(&["test", "--quiet", "--package", "parton-program", "--test", "all"]);
        test.args([TEST, "--", "--nocapture"]);
        test.env("PARTON_PROGRAMS", format!("{from}+{count}"));
        test.env("PARTON_CACHE", super::super::root().join("target/kernels"));
        step(&format!("programs {from} to {}", from + count - 1), &mut test)
    })
}

/// The number of the first program, and how many there are.
fn parse(arguments: &[&str]) -> Option<(u64, u64)> {
    let (mut first, mut runs) = (0, 100_000);
    for pair in arguments.chunks(2) {
        match *pair {
            ["--first", value] => first = value.parse().ok()?,
            ["--runs", value] => runs = value.parse().ok()?,
            _ => return None,
        }
    }
    Some((first, runs))
}
