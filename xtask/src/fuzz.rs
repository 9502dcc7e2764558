//! libFuzzer on stable Rust: coverage instrumentation needs only stable code-generation options,
//! so no nightly toolchain and no extra cargo command is needed.

use super::{cargo, root, step};

const INSTRUMENT: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions";

/// Fuzzes one format, or all of them in turn, for so many seconds each.
pub(crate) fn run(arguments: &[&str]) -> bool {
    let (format, seconds) = match arguments {
        [] => ("all", "60"),
        [format] => (*format, "60"),
        [format, seconds, ..] => (*format, *seconds),
    };
    // With an explicit target, build scripts and macros are not instrumented.
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let run = ["run", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &target, "--"];
    let formats = match format {
        "all" => {
            let mut list = cargo(&["run", "--quiet", "--", "list", "--names", "formats"]);
            match list.output() {
                Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
                Err(error) => {
                    eprintln!("cannot list the formats: {error}");
                    return false;
                }
            }
        }
        one => one.to_owned(),
    };
    formats.split_whitespace().all(|format| {
        let corpus = root().join("fuzz/corpus").join(format);
        if let Err(error) = std::fs::create_dir_all(&corpus) {
            eprintln!("{}: {error}", corpus.display());
            return false;
        }
        let limits = [&format!("-max_total_time={seconds}"), "-max_len=4096", "-rss_limit_mb=4096"];
        let corpus = corpus.to_string_lossy();
        let arguments = [&run[..], &limits, &["-timeout=10", &*corpus]].concat();
        let mut fuzz = cargo(&arguments);
        fuzz.env("RUSTFLAGS", INSTRUMENT).env("PARTON_FUZZ_FORMAT", format);
        step(&format!("fuzz {format}"), &mut fuzz)
    })
}
