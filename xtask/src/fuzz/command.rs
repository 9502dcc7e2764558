//! The command itself under random options and damaged files: whatever it is given, it ends with a
//! documented exit code and a sentence, in time, and leaves nothing half-written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::super::{cargo, root, step};

/// Commands that read or make graphs, and the one that reads a program.
const COMMANDS: [&str; 9] = [
    "run",
    "convert",
    "inspect",
    "partition",
    "generate",
    "plan",
    "bench",
    "explain",
    "graphalytics",
];
/// Options that say how often something is done: as much as is asked for is no hang.
const REPEATING: [&str; 3] = ["--max-rounds", "--rounds", "--repetitions"];
/// Exit codes that docs/running.md explains, but for 70: that one is a bug in Parton.
const EXIT_CODES: [i32; 8] = [0, 2, 3, 65, 66, 69, 71, 74];
/// The exit code for arguments that make no sense.
const USAGE: i32 = 2;
/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30);
/// Address space of a run, so that a request for too much is an error instead of swapping.
const MAX_BYTES: u64 = 8 << 30;
/// The first pause before a run is looked at again; each further one is longer.
const FIRST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// What is given for an option that takes any text.
const VALUES: [&str; 20] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "64",
    "-1",
    "0.5",
    "1e308",
    "nan",
    "",
    "x",
    "1,2",
    "1,2,3",
    "source,target",
    "auto",
    "random:1..9",
    "18446744073709551615",
    "4294967296",
    "no/such/file",
];
const GRAPHS: [&str; 8] =
    ["rmat:6", "grid:5x4", "path:0", "star:9", "complete:5", "uniform:20,50", "rmat:99", "web:x"];

/// Numbers that follow from a seed (a linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound.max(1)
    }

    fn of<'v, T>(&mut self, all: &'v [T]) -> &'v T {
        &all[self.below(all.len())]
    }
}

/// An option of a command, as its help names it.
struct Flag {
    name: String,
    takes_value: bool,
    possible: Vec<String>,
}

/// What there is to choose from.
struct Choices {
    parton: PathBuf,
    flags: Vec<Vec<Flag>>,
    algorithms: Vec<String>,
    files: Vec<PathBuf>,
}

/// What to run, and how often.
struct Settings {
    runs: u64,
    /// The number of the first run, which decides its options and files.
    first: u64,
    jobs: usize,
    /// `None` if the command is to be built.
    parton: Option<PathBuf>,
    files: PathBuf,
}

impl Settings {
    /// Reads `--runs N` and the like; `None` if something else is there.
    fn parse(arguments: &[&str]) -> Option<Self> {
        let mut settings = Settings {
            runs: 100_000,
            first: 0,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            parton: None,
            files: root().join("crates/graph/tests"),
        };
        for pair in arguments.chunks(2) {
            let &[name, value] = pair else { return None };
            match name {
                "--runs" => settings.runs = value.parse().ok()?,
                "--first" => settings.first = value.parse().ok()?,
                "--jobs" => settings.jobs = value.parse().ok()?,
                "--parton" => settings.parton = Some(fs::canonicalize(value).ok()?),
                "--files" => settings.files = fs::canonicalize(value).ok()?,
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// Runs the command as often as the arguments say; whether every run ended as it should.
pub(super) fn run(arguments: &[&str]) -> bool {
    let Some(settings) = Settings::parse(arguments) else {
        eprintln!("expected --runs, --first, --jobs, --parton or --files, each with its value");
        return false;
    };
    let is_built =
        settings.parton.is_some() || step("release build", &mut cargo(&["build", "--release"]));
    if !is_built {
        return false;
    }
    let choices = match Choices::new(&settings) {
        Ok(choices) => choices,
        Err(problem) => {
            eprintln!("{problem}");
            return false;
        }
    };
    // What this process starts inherits its limit; a shell for each run would cost as much as the run.
    let limit = format!("--as={MAX_BYTES}");
    let own = std::process::id().to_string();
    if !step("limit of memory", Command::new("prlimit").args(["--pid", &own, &limit])) {
        return false;
    }
    let Settings { runs, first, jobs, .. } = settings;
    let (next, findings) = (AtomicU64::new(first), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let seeds = || {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    Some(seed).filter(|&seed| seed < first + runs)
                };
                for seed in std::iter::from_fn(seeds) {
                    if let Err(problem) = choices.try_one(seed) {
                        findings.fetch_add(1, Ordering::Relaxed);
                        eprintln!("run {seed}: {problem}");
                    }
                }
            });
        }
    });
    let findings = findings.into_inner();
    eprintln!("{runs} runs of the command, {findings} findings");
    findings == 0
}

impl Choices {
    fn new(settings: &Settings) -> Result<Self, String> {
        let built = || root().join("target/release/parton");
        let parton = settings.parton.clone().unwrap_or_else(built);
        let say = |arguments: &[&str]| {
            let output = Command::new(&parton).args(arguments).output();
            let output = output.map_err(|error| format!("{}: {error}", parton.display()))?;
            Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let helps = COMMANDS.iter().map(|command| say(&[command, "--help"]));
        let flags = helps.map(|help| Ok(flags(&help?))).collect::<Result<_, String>>()?;
        let list = say(&["list"])?;
        let algorithms = list.lines().skip_while(|line| !line.starts_with("Algorithms"));
        let algorithms = algorithms.skip(1).take_while(|line| line.starts_with(' '));
        // What is farther to the right belongs to the algorithm above.
        let algorithms = algorithms.filter(|line| !line.starts_with("   "));
        let algorithms = algorithms.filter_map(|line| line.split_whitespace().next());
        let algorithms: BTreeSet<_> = algorithms.map(str::to_owned).collect();
        let mut files = Vec::new();
        find_files(&settings.files, &mut files);
        if algorithms.is_empty() || files.is_empty() {
            return Err("no algorithms or no files to try".into());
        }
        Ok(Choices { flags, algorithms: algorithms.into_iter().collect(), files, parton })
    }

    /// One run; what is wrong with how it ended. Where options are refused, the last is left out and
    /// the others are tried again: most combinations make no sense, and would hide what lies behind.
    fn try_one(&self, seed: u64) -> Result<(), String> {
        let random = &mut Random(seed.wrapping_mul(0x5851_F42D_4C95_7F2D) + 1);
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (arguments, mut options) = self.arguments(random, folder.path())?;
        loop {
            let line = [&arguments[..], &options.concat()].concat();
            let output = self.launch(&line, folder.path());
            let judged = output.and_then(|output| judge(&output, folder.path()));
            match judged {
                Ok(USAGE) if options.pop().is_some() => {}
                Ok(_) => return Ok(()),
                Err(problem) => {
                    let (kept, line) = (folder.keep(), line.join(" "));
                    return Err(format!("{problem}\n  in {}: parton {line}", kept.display()));
                }
            }
        }
    }

    /// The arguments of a run, and its options, each with its value.
    fn arguments(
        &self,
        random: &mut Random,
        folder: &Path,
    ) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
        let number = random.below(COMMANDS.len());
        let command = COMMANDS[number];
        let mut arguments = vec![command.to_owned()];
        if command == "run" {
            arguments.push(random.of(&self.algorithms).clone());
        }
        arguments.push(match (command, random.below(4)) {
            ("explain", 1..) => random.of(&self.algorithms).clone(),
            ("graphalytics", 1..) => self.data_set(random, folder)?,
            (_, 0) => random.of(&GRAPHS).to_string(),
            _ => damaged(&random.of(&self.files).clone(), random, folder)?,
        });
        if matches!(command, "convert" | "generate") {
            arguments
                .push(format!("written.{}", random.of(&["parton", "csv", "mtx", "parquet", "gr"])));
        }
        let mut options = Vec::new();
        for _ in 0..random.below(5) {
            let flag = random.of(&self.flags[number]);
            if REPEATING.contains(&&flag.name[..]) {
                options.push(vec![flag.name.clone(), random.below(20).to_string()]);
                continue;
            }
            let mut option = vec![flag.name.clone()];
            if flag.takes_value {
                option.push(match flag.possible.is_empty() || random.below(8) == 0 {
                    true => random.of(&VALUES).to_string(),
                    false => random.of(&flag.possible).clone(),
                });
            }
            options.push(option);
        }
        Ok((arguments, options))
    }

    /// A data set of Graphalytics, its files damaged one by one; the name of the file that describes it.
    fn data_set(&self, random: &mut Random, folder: &Path) -> Result<String, String> {
        let is_description = |file: &&PathBuf| file.extension().is_some_and(|e| e == "properties");
        let descriptions: Vec<&PathBuf> = self.files.iter().filter(is_description).collect();
        if descriptions.is_empty() {
            return Err("no data set of Graphalytics among the files".into());
        }
        let description = *random.of(&descriptions);
        let is_beside = |file: &&PathBuf| file.with_extension("properties") == *description;
        for file in self.files.iter().filter(is_beside) {
            damaged(file, random, folder)?;
        }
        Ok(description.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Runs the command with little memory, and no longer than it may.
    fn launch(&self, arguments: &[String], folder: &Path) -> Result<Output, String> {
        let mut command = Command::new(&self.parton);
        command.args(arguments).current_dir(folder).env("TMPDIR", folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        // Pauses are counted, since a machine may stand still.
        let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
        while child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if waited > LIMIT {
                let _ = child.kill();
                return Err("it hangs".into());
            }
            std::thread::sleep(pause);
            waited += pause;
            pause = LONGEST_PAUSE.min(pause.mul_f32(1.5));
        }
        child.wait_with_output().map_err(|error| error.to_string())
    }
}

/// The exit code of a run, or what is wrong with its end.
fn judge(output: &Output, folder: &Path) -> Result<i32, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let Some(code) = output.status.code() else {
        return Err(format!("ended by a signal: {:?}\n{said}", output.status));
    };
    if !EXIT_CODES.contains(&code) || said.contains("panicked") {
        return Err(format!("exit code {code}\n{said}"));
    }
    if code != 0 && said.trim().is_empty() {
        return Err(format!("exit code {code} without a word"));
    }
    let mut left = Vec::new();
    find_names(folder, &mut left);
    // Files and folders are written under hidden names first.
    let is_left =
        |name: &&String| name.starts_with('.') || code != 0 && name.starts_with("written.");
    match left.iter().find(is_left) {
        Some(name) => Err(format!("exit code {code}, but {name} is there\n{said}")),
        None => Ok(code),
    }
}

/// The names of everything in a folder and the folders in it.
fn find_names(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_names(&entry.path(), found);
        }
    }
}

/// The options that a help text lists.
fn flags(help: &str) -> Vec<Flag> {
    let mut all: Vec<Flag> = Vec::new();
    for line in help.lines().map(str::trim) {
        if let Some(at) = line.find("--").filter(|_| line.starts_with('-')) {
            let mut words = line[at..].split_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            all.push(Flag { name, takes_value: words.next().is_some(), possible: Vec::new() });
        }
        let listed =
            line.strip_prefix("[possible values: ").and_then(|rest| rest.strip_suffix(']'));
        if let (Some(listed), Some(flag)) = (listed, all.last_mut()) {
            flag.possible = listed.split(", ").map(str::to_owned).collect();
        }
    }
    // These end a run before anything is tried.
    all.retain(|flag| !matches!(&flag.name[..], "--help" | "--version"));
    all
}

/// A copy of a file, most often with some bytes changed, dropped or repeated.
fn damaged(file: &Path, random: &mut Random, folder: &Path) -> Result<String, String> {
    let mut bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len());
        match random.below(3) {
            0 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
            1 => bytes.truncate(at),
            _ => {
                let end = bytes.len().min(at + random.below(64));
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    fs::write(folder.join(&name), bytes).map_err(|error| error.to_string())?;
    Ok(name)
}

/// All small files of a folder that hold no code.
fn find_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_files(&path, found);
        } else if path.extension().is_none_or(|ending| ending != "rs") {
            found.push(path);
        }
    }
    found.sort();
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn ended(code: i32, said: &str, folder: &Path) -> Result<i32, String> {
        let status = std::process::ExitStatus::from_raw(code << 8);
        judge(&Output { status, stdout: Vec::new(), stderr: said.into() }, folder)
    }

    #[test]
    fn an_end_is_judged_by_its_code_its_words_and_what_it_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert_eq!(ended(0, "", path), Ok(0));
        assert_eq!(ended(65, "g.csv:1: no", path), Ok(65));
        assert!(ended(65, " ", path).unwrap_err().contains("without a word"));
        assert!(ended(70, "a bug", path).unwrap_err().contains("exit code 70"));
        fs::write(path.join("written.csv"), "").unwrap();
        assert_eq!(ended(0, "", path), Ok(0));
        assert!(ended(74, "no room", path).unwrap_err().contains("written.csv is there"));
        for hidden in [".parton-x.tmp", "parts/.parts.parton-new"] {
            let hidden = path.join(hidden);
            fs::create_dir_all(hidden.parent().unwrap()).unwrap();
            fs::write(&hidden, "").unwrap();
            assert!(ended(0, "", path).unwrap_err().contains("parton-"));
            fs::remove_file(hidden).unwrap();
        }
    }
}
