//! Every target with many inputs: `cargo xtask fuzz long`. The logs of a folder say how far its targets
//! have come, so that a run that was ended is taken up again by the same command.

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
    /// The number of the first run, which decides its inputs and names its log.
    first: u64,
    jobs: usize,
    limit: Duration,
    /// `None` if the fuzzer is to be built.
    fuzzer: Option<PathBuf>,
    messy: PathBuf,
    /// Where the corpus, logs and findings go.
    folder: PathBuf,
    /// All, if there are none.
    targets: Vec<String>,
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
            targets: Vec::new(),
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
                "--targets" => settings.targets = value.split(',').map(str::to_owned).collect(),
                _ => return None,
            }
        }
        Some(settings)
    }

    fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }
}

/// How far a target has come.
#[derive(Clone, Default)]
struct Progress {
    /// Inputs of all runs that have a log.
    inputs: u64,
    /// Those of this call.
    inputs_now: u64,
    seconds: f64,
    findings: u64,
    /// The number of the next run.
    next: u64,
}

/// A run of the fuzzer.
struct Task {
    target: usize,
    number: u64,
    inputs: u64,
}

/// Gives every target as many inputs as the arguments say; whether nothing was found and all were tried.
pub(super) fn run(arguments: &[&str]) -> bool {
    let Some(settings) = Settings::parse(arguments) else {
        eprintln!(
            "expected --inputs, --first, --jobs, --seconds, --fuzzer, --files, --folder or --targets, \
             each with its value"
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
    let targets = wanted(settings, targets(fuzzer)?)?;
    let logs = settings.logs();
    let failed = |error| format!("{}: {error}", logs.display());
    fs::create_dir_all(&logs).map_err(failed)?;
    let progress = targets.iter().map(|target| earlier(&logs, target, settings.first));
    let progress: Vec<Progress> = progress.collect::<Result<_, _>>().map_err(failed)?;
    let tasks = tasks(&progress, settings.inputs);
    let progress = Mutex::new(progress);
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let work = || {
        loop {
            let task = tasks.get(next.fetch_add(1, Ordering::Relaxed));
            let left = settings.limit.saturating_sub(began.elapsed());
            let Some(task) = task.filter(|_| left >= Duration::from_secs(1)) else { return };
            let target = &targets[task.target];
            let log = logs.join(format!("{target}-{}.log", task.number));
            let began = Instant::now();
            let outcome = fuzz_once(settings, fuzzer, target, (task, left), &log);
            let mut progress = progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let progress = &mut progress[task.target];
            progress.seconds += began.elapsed().as_secs_f64();
            match outcome {
                Ok(inputs) => {
                    progress.inputs += inputs;
                    progress.inputs_now += inputs;
                }
                Err(problem) => {
                    progress.findings += 1;
                    eprintln!("{target}: {problem}; see {}", log.display());
                }
            }
        }
    };
    std::thread::scope(|scope| (0..settings.jobs).for_each(|_| _ = scope.spawn(work)));
    let progress = progress.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    for (target, Progress { inputs, inputs_now, seconds, findings, .. }) in
        targets.iter().zip(&progress)
    {
        let rate = *inputs_now as f64 / seconds.max(f64::MIN_POSITIVE);
        println!("{target:14} {inputs:>9} inputs {rate:>7.0}/s {findings} findings");
    }
    Ok(progress.iter().all(|p| p.findings == 0 && p.inputs >= settings.inputs))
}

/// The known targets that were asked for.
fn wanted(settings: &Settings, known: Vec<String>) -> Result<Vec<String>, String> {
    match settings.targets.iter().find(|target| !known.contains(target)) {
        Some(target) => Err(format!("unknown target '{target}'; known: {}", known.join(", "))),
        None if settings.targets.is_empty() => Ok(known),
        None => Ok(settings.targets.clone()),
    }
}

/// How far a target has come by the logs of earlier calls. A run with a finding counts for nothing.
fn earlier(logs: &Path, target: &str, first: u64) -> std::io::Result<Progress> {
    let mut progress = Progress { next: first, ..Progress::default() };
    for entry in fs::read_dir(logs)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let number = name.strip_prefix(target).and_then(|rest| rest.strip_prefix('-'));
        if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
            let log = fs::read(&path)?;
            progress.inputs += executed(&String::from_utf8_lossy(&log)).unwrap_or(0);
            progress.next = progress.next.max(number + 1);
        }
    }
    Ok(progress)
}

/// The runs that are left. Targets take turns, so that a limit of time does not leave one of them out.
fn tasks(progress: &[Progress], inputs: u64) -> Vec<Task> {
    let left = progress.iter().map(|progress| inputs.saturating_sub(progress.inputs));
    let mut left: Vec<u64> = left.collect();
    let mut tasks = Vec::new();
    for round in 0.. {
        let before = tasks.len();
        for (target, left) in left.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
            let inputs = INPUTS_PER_RUN.min(*left);
            *left -= inputs;
            tasks.push(Task { target, number: progress[target].next + round, inputs });
        }
        if tasks.len() == before {
            break;
        }
    }
    tasks
}

/// One run of the fuzzer, no longer than the time that is left. Returns how many inputs were tried
/// without a finding.
fn fuzz_once(
    settings: &Settings,
    fuzzer: &Path,
    target: &str,
    (task, limit): (&Task, Duration),
    log: &Path,
) -> Result<u64, String> {
    let output = fs::File::create(log).map_err(|error| error.to_string())?;
    let fuzzer = on_target(fuzzer, target, &settings.folder, &settings.messy);
    let mut fuzzer = fuzzer.map_err(|error| error.to_string())?;
    fuzzer.arg(format!("-runs={}", task.inputs)).arg(format!("-seed={}", task.number + 1));
    fuzzer.arg(format!("-max_total_time={}", limit.as_secs()));
    let status = fuzzer.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).status();
    let status = status.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("a finding ({status})"));
    }
    let log = fs::read(log).map_err(|error| error.to_string())?;
    executed(&String::from_utf8_lossy(&log)).ok_or_else(|| "no count of inputs".into())
}

/// How many inputs were tried, as a log says: in the end, or, where the fuzzer was ended, from time to
/// time. `None` if there is a finding or no count.
fn executed(log: &str) -> Option<u64> {
    if log.contains("ERROR: libFuzzer") {
        return None;
    }
    let total = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let pulse = || {
        let count = |line: &str| line.strip_prefix('#')?.split_whitespace().next()?.parse().ok();
        log.lines().rev().find_map(count)
    };
    total.and_then(|count| count.trim().parse().ok()).or_else(pulse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_say_how_far_a_target_has_come() {
        let logs = tempfile::tempdir().unwrap();
        let write = |name, text: &str| fs::write(logs.path().join(name), text).unwrap();
        write("json-0.log", "#2 INITED\n#500000 DONE\nstat::number_of_executed_units: 500000\n");
        write("json-1.log", "#2\tINITED cov: 7\n#65536\tpulse  cov: 9\n");
        write("json-4.log", "#70000 NEW\n==1== ERROR: libFuzzer: deadly signal\n");
        write("jsonl-9.log", "stat::number_of_executed_units: 77\n");
        let json = earlier(logs.path(), "json", 0).unwrap();
        assert_eq!((json.inputs, json.next), (565_536, 5));
        let lines = earlier(logs.path(), "jsonl", 20).unwrap();
        assert_eq!((lines.inputs, lines.next), (77, 20));
    }

    #[test]
    fn targets_take_turns_until_each_has_its_inputs() {
        let progress = [(600_000, 3), (1_000_000, 0), (0, 0)].map(|(inputs, next)| Progress {
            inputs,
            next,
            ..Progress::default()
        });
        let tasks = tasks(&progress, 1_000_000);
        let tasks: Vec<_> = tasks.iter().map(|t| (t.target, t.number, t.inputs)).collect();
        assert_eq!(tasks, [(0, 3, 400_000), (2, 0, 500_000), (2, 1, 500_000)]);
    }
}
