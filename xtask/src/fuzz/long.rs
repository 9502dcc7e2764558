//! Every target with many inputs, on all cores: `cargo xtask fuzz long`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::super::root;
use super::{build, messy_files, on_target, targets};

/// Inputs of one run of the fuzzer. Runs of one target share what they learn.
const INPUTS_PER_RUN: u64 = 500_000;

/// What to run, and how long.
struct Settings {
    inputs: u64,
    /// The number of the first run, which decides its inputs.
    first: usize,
    jobs: usize,
    limit: Duration,
    /// `None` if the fuzzer is to be built.
    fuzzer: Option<PathBuf>,
    messy: PathBuf,
    /// Where the corpus, logs and findings go.
    folder: PathBuf,
}

impl Settings {
    /// Reads `--inputs N` and the like; `None` if something else is there.
    fn parse(arguments: &[&str]) -> Option<Self> {
        let mut settings = Settings {
            inputs: 5_000_000,
            first: 0,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: Duration::from_secs(86_400),
            fuzzer: None,
            messy: messy_files(),
            folder: root().join("fuzz"),
        };
        for pair in arguments.chunks(2) {
            let &[name, value] = pair else { return None };
            match name {
                "--inputs" => settings.inputs = value.parse().ok()?,
                "--first" => settings.first = value.parse().ok()?,
                "--jobs" => settings.jobs = value.parse().ok()?,
                "--seconds" => settings.limit = Duration::from_secs(value.parse().ok()?),
                "--fuzzer" => settings.fuzzer = Some(fs::canonicalize(value).ok()?),
                "--files" => settings.messy = fs::canonicalize(value).ok()?,
                "--folder" => settings.folder = value.into(),
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// How far a target has come.
#[derive(Clone, Default)]
struct Progress {
    inputs: u64,
    seconds: f64,
    findings: u64,
}

/// Gives every target as many inputs as the arguments say; whether nothing was found and all were tried.
pub(super) fn run(arguments: &[&str]) -> bool {
    let Some(settings) = Settings::parse(arguments) else {
        eprintln!(
            "expected --inputs, --first, --jobs, --seconds, --fuzzer, --files or --folder, each with its value"
        );
        return false;
    };
    let Some(fuzzer) = settings.fuzzer.clone().or_else(build) else { return false };
    match fuzz_all(&settings, &fuzzer) {
        Ok(is_complete) => is_complete,
        Err(problem) => {
            eprintln!("{problem}");
            false
        }
    }
}

fn fuzz_all(settings: &Settings, fuzzer: &Path) -> Result<bool, String> {
    let targets = targets(fuzzer)?;
    let logs = settings.folder.join("logs");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    // Targets take turns, so that a limit of time does not leave one of them out.
    let runs_each = settings.inputs.div_ceil(INPUTS_PER_RUN) as usize;
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let progress = Mutex::new(vec![Progress::default(); targets.len()]);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let left = settings.limit.saturating_sub(began.elapsed());
            if number >= runs_each * targets.len() || left < Duration::from_secs(1) {
                return;
            }
            let (run, target) = (number / targets.len(), number % targets.len());
            let log = logs.join(format!("{}-{run}.log", targets[target]));
            let inputs = INPUTS_PER_RUN.min(settings.inputs - run as u64 * INPUTS_PER_RUN);
            let began = Instant::now();
            let outcome = fuzz_once(settings, fuzzer, &targets[target], (run, inputs, left), &log);
            let mut progress = progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let progress = &mut progress[target];
            progress.seconds += began.elapsed().as_secs_f64();
            match outcome {
                Ok(inputs) => progress.inputs += inputs,
                Err(problem) => {
                    progress.findings += 1;
                    eprintln!("{}: {problem}; see {}", targets[target], log.display());
                }
            }
        }
    };
    std::thread::scope(|scope| (0..settings.jobs).for_each(|_| _ = scope.spawn(work)));
    let progress = progress.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    for (target, Progress { inputs, seconds, findings }) in targets.iter().zip(&progress) {
        let rate = *inputs as f64 / seconds.max(f64::MIN_POSITIVE);
        println!("{target:14} {inputs:>9} inputs {rate:>7.0}/s {findings} findings");
    }
    Ok(progress.iter().all(|p| p.findings == 0 && p.inputs >= settings.inputs))
}

/// One run of the fuzzer, with its number, its inputs and the time that it may take. Returns how many
/// inputs were tried without a finding.
fn fuzz_once(
    settings: &Settings,
    fuzzer: &Path,
    target: &str,
    (run, inputs, limit): (usize, u64, Duration),
    log: &Path,
) -> Result<u64, String> {
    let output = fs::File::create(log).map_err(|error| error.to_string())?;
    let fuzzer = on_target(fuzzer, target, &settings.folder, &settings.messy);
    let mut fuzzer = fuzzer.map_err(|error| error.to_string())?;
    fuzzer.arg(format!("-runs={inputs}")).arg(format!("-seed={}", settings.first + run + 1));
    fuzzer.arg(format!("-max_total_time={}", limit.as_secs()));
    let status = fuzzer.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).status();
    let status = status.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("a finding ({status})"));
    }
    let log = fs::read(log).map_err(|error| error.to_string())?;
    let log = String::from_utf8_lossy(&log);
    let executed =
        log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let executed = executed.and_then(|count| count.trim().parse().ok());
    executed.ok_or_else(|| "no count of inputs".into())
}
