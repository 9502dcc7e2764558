//! Figures in the documents: one command measures, writes JSON under `bench/results/`, and fills the
//! tables and drawings of the pages from it.
//!
//! | kind | measured by | shown in |
//! |---|---|---|
//! | `figures` | [`measure`]: the `parton` command itself | README.md, docs/performance.md |
//! | `volume` | `bench/src/volume.rs` | docs/communication.md |
//! | `pace` | `bench/src/pace.rs`, in virtual time | docs/async.md |
//! | `gpu` | `bench/src/gpu.rs` | docs/gpu.md |
//! | `plan` | [`plan_runs`]: the `parton` command itself | docs/planning.md |
//! | `levels` | a test of the crate `parton-program` | docs/compiler-performance.md |
//! | `twins` | `bench/src/twins.rs` | docs/compiler-performance.md |
//! | `compile` | [`compile_time`]: Cargo itself | docs/compiler-performance.md |
//! | `spmv` | `bench/src/spmv.rs`, over links of a given rate | docs/spmv.md |
//! | `la3` | LA3's public code beside the `parton` command | docs/spmv.md |
//! | `scaling` | `bench/scaling.py`, on a machine with many cores | docs/performance.md |
//!
//! A page marks a place with `<!-- figures: NAME -->` and ends it with `<!-- end -->`; [`tables`] knows
//! the names. A test fails when a page and the newest JSON disagree.

mod bars;
mod communication;
mod compile_time;
mod compiler;
mod drawings;
mod gpu;
mod head;
mod lines;
mod measure;
mod performance;
mod plan;
mod plan_graphs;
mod plan_runs;
mod scaling;
mod spmv;
mod tables;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::head::{head, said};
use crate::{cargo, root, step};
pub(crate) use compile_time::compile;
pub(crate) use measure::figures;
pub(crate) use spmv::spmv;

/// The kinds of results, by the names of their files.
const KINDS: [&str; 12] = [
    "figures",
    "volume",
    "pace",
    "gpu",
    "plan",
    "levels",
    "twins",
    "compile",
    "spmv",
    "la3",
    "scaling",
    "other-graphs",
];
/// The pages with marked places.
const PAGES: [&str; 8] = [
    "README.md",
    "docs/performance.md",
    "docs/communication.md",
    "docs/async.md",
    "docs/gpu.md",
    "docs/planning.md",
    "docs/compiler-performance.md",
    "docs/spmv.md",
];
/// A web graph, in the folder of graphs.
const CNR: &str = "law/cnr-2000/cnr-2000.txt.gz";
const BEGIN: &str = "<!-- figures: ";
const END: &str = "<!-- end -->";

/// The newest results of every kind; `null` where there are none.
struct Results([Value; KINDS.len()]);

impl Results {
    fn newest() -> Self {
        Results(KINDS.map(|kind| match newest(&root().join("bench/results"), kind) {
            Some(file) => read(&file),
            None => Value::Null,
        }))
    }

    /// Results of one kind.
    #[cfg(test)]
    fn only(kind: &str, result: Value) -> Self {
        Results(KINDS.map(|known| if known == kind { result.clone() } else { Value::Null }))
    }

    fn of(&self, kind: &str) -> &Value {
        let at = KINDS.iter().position(|known| *known == kind);
        at.map_or(&Value::Null, |at| &self.0[at])
    }
}

/// The newest file of a kind: names end in the date.
fn newest(folder: &Path, kind: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!("{kind}-")) && name.ends_with(".json")
    };
    entries.flatten().map(|entry| entry.path()).filter(named).max()
}

fn read(file: &Path) -> Value {
    let text = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The commit of this checkout.
fn commit() -> String {
    said(Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root()))
}

/// The command as somebody else would write it: folders and files are their own.
fn portable<'a>(command: &[&'a str]) -> Vec<&'a str> {
    let word = |at: usize| match at.checked_sub(1).map(|before| command[before]) {
        Some("--data" | "--gap" | "--folder") => "DIR",
        Some("--parton" | "--against" | "--output" | "--measured") => "FILE",
        _ => command[at],
    };
    (0..command.len()).map(word).collect()
}

/// Keeps what was measured under these names.
fn keep(kind: &str, command: &[&str], body: &[(&str, Value)]) -> bool {
    let words = format!("cargo xtask bench {}", portable(command).join(" "));
    let mut result = head(&words, &commit());
    body.iter().for_each(|(name, value)| result[*name] = value.clone());
    keep_result(kind, command, &result)
}

/// Keeps a result: where `--output` says, or in `bench/results/`, whence the pages are filled.
fn keep_result(kind: &str, command: &[&str], result: &Value) -> bool {
    let date = result["date"].as_str().unwrap_or_default();
    let kept = root().join(format!("bench/results/{kind}-{date}.json"));
    let asked = option(command, "--output").map(PathBuf::from);
    let file = asked.as_ref().unwrap_or(&kept);
    if let Err(error) = std::fs::write(file, format!("{result:#}\n")) {
        eprintln!("{}: {error}", file.display());
        return false;
    }
    eprintln!("wrote {}", file.display());
    asked.is_some() || render()
}

/// The argument after an option's name.
fn option<'a>(arguments: &[&'a str], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| *argument == name)?;
    arguments.get(at + 1).copied()
}

/// The arguments without an option and what follows it.
fn without<'a>(arguments: &[&'a str], name: &str) -> Vec<&'a str> {
    let at = arguments.iter().position(|argument| *argument == name);
    let left = arguments.iter().enumerate();
    left.filter(|(i, _)| at.is_none_or(|at| *i != at && *i != at + 1)).map(|(_, a)| *a).collect()
}

/// A call of the program in `bench/`, which compares with other libraries and uses Parton's.
pub(crate) fn bench_program(arguments: &[&str]) -> Command {
    let run = ["run", "--release", "--quiet", "--manifest-path", "bench/Cargo.toml", "--"];
    cargo(&[&run[..], arguments].concat())
}

/// The `parton` command to measure: the one that `--parton` names, or this checkout's, built now.
fn parton(command: &[&str]) -> Option<String> {
    let path = match option(command, "--parton") {
        Some(given) => PathBuf::from(given),
        None => {
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
            let build = ["build", "--release", "--package", "parton"];
            step("build", &mut cargo(&build)).then(|| target.join("release/parton"))?
        }
    };
    // Commands run in other folders.
    match path.canonicalize() {
        Ok(path) => Some(path.to_string_lossy().into_owned()),
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            None
        }
    }
}

/// Measures with the program in `bench/` and keeps the rows as a result of that kind.
fn rows(kind: &str, command: &[&str], more: &[&str]) -> bool {
    let measured = measured(kind, command, more);
    measured.is_some_and(|rows| keep(kind, command, &[("rows", rows)]))
}

/// What the program in `bench/` writes.
fn measured(kind: &str, command: &[&str], more: &[&str]) -> Option<Value> {
    let folder = tempfile::tempdir().ok()?;
    let file = folder.path().join("rows.json");
    let file_name = file.to_string_lossy();
    let asked = without(&command[1..], "--output");
    let arguments = [&[kind], &asked[..], more, &["--output", &file_name]].concat();
    step(kind, &mut bench_program(&arguments)).then(|| read(&file))
}

/// Bytes on the wire beside D-Galois's.
pub(crate) fn volume(command: &[&str]) -> bool {
    let asked = without(command, "--parton");
    parton(command).is_some_and(|parton| rows("volume", &asked, &["--parton", &parton]))
}

/// BSP beside BASP in virtual time, on the graphs of the page.
pub(crate) fn pace(command: &[&str]) -> bool {
    let Some(data) = option(command, "--data") else {
        eprintln!("bench pace: --data DIR, where DIR/dimacs9 has USA-road-d.NY; or --graphs …");
        return false;
    };
    let roads = format!("{data}/dimacs9/USA-road-d.NY/USA-road-d.NY.gr.gz");
    let graphs = format!("{roads}+web:100000,chains=500+web:100000+rmat:15");
    rows("pace", command, &["--simulated", "--graphs", &graphs])
}

/// Compiled programs beside the same written by hand.
pub(crate) fn twins(command: &[&str]) -> bool {
    rows("twins", command, &[])
}

/// Engines on a GPU, beside those on the processor. The program writes whole results, so that it can also
/// measure on a machine without this checkout.
pub(crate) fn gpu(command: &[&str]) -> bool {
    let asked = without(command, "--parton");
    parton(command).is_some_and(|parton| {
        let more = ["--parton", &parton, "--commit", &commit()];
        measured("gpu", &asked, &more).is_some_and(|result| keep_result("gpu", &asked, &result))
    })
}

/// Plans beside runs; whether all is measured and plans are as good as they must be.
pub(crate) fn plan(command: &[&str]) -> bool {
    let Some(parton) = parton(command) else { return false };
    let measured = match plan_runs::runs(&parton, command) {
        Ok(measured) => measured,
        Err(problem) => {
            eprintln!("bench plan: {problem}");
            return false;
        }
    };
    let complaints = plan::complaints(&measured);
    let is_kept = keep("plan", command, &measured);
    complaints.iter().for_each(|complaint| eprintln!("bench plan: {complaint}"));
    is_kept && complaints.is_empty()
}

/// Bytes of compiled programs at each level of communication, exact in any build.
pub(crate) fn levels(command: &[&str]) -> bool {
    let Some(data) = option(command, "--data") else {
        eprintln!("bench levels: --data DIR, where DIR/law has cnr-2000");
        return false;
    };
    let Ok(folder) = tempfile::tempdir() else { return false };
    let file = folder.path().join("rows.json");
    let test = ["test", "--package", "parton-program", "--test", "all", "communication_on_demand"];
    let mut measure = cargo(&test);
    let web = Path::new(data).canonicalize().unwrap_or_default().join(CNR);
    measure.env("PARTON_TEST_VOLUME", format!("rmat:20,16+{}", web.display()));
    measure.env("PARTON_TEST_VOLUME_OUTPUT", &file);
    step("levels", &mut measure) && keep("levels", command, &[("rows", read(&file))])
}

/// Fills the pages and draws the drawings from the newest results.
pub(crate) fn render() -> bool {
    let results = Results::newest();
    let mut files: Vec<(String, String)> = drawings::all(&results);
    for page in PAGES {
        let text = std::fs::read_to_string(root().join(page)).expect("a page");
        match fill(&text, &results) {
            Ok(text) => files.push((page.into(), text)),
            Err(problem) => {
                eprintln!("{page}: {problem}");
                return false;
            }
        }
    }
    for (file, text) in files {
        std::fs::write(root().join(&file), text).expect("a page that can be written");
        eprintln!("rendered {file}");
    }
    true
}

/// A page with its marked places filled.
fn fill(page: &str, results: &Results) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), page);
    while let Some(at) = rest.find(BEGIN) {
        let (before, marked) = rest.split_at(at);
        let line = marked.lines().next().unwrap_or_default();
        let name = line.trim_start_matches(BEGIN).trim_end_matches("-->").trim();
        let table = tables::by_name(name).ok_or(format!("no figures are called '{name}'"))?;
        let end = marked.find(END).ok_or(format!("'{line}' has no '{END}'"))?;
        filled += &format!("{before}{line}\n{}{END}", table(results));
        rest = &marked[end + END.len()..];
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_show_the_newest_results() {
        let results = Results::newest();
        for page in PAGES {
            let text = std::fs::read_to_string(root().join(page)).expect("a page");
            let filled = fill(&text, &results).expect("known figures");
            assert!(text == filled, "{page} is stale: run `cargo xtask bench render`");
        }
        for (file, drawn) in drawings::all(&results) {
            let text = std::fs::read_to_string(root().join(&file)).unwrap_or_default();
            assert!(text == drawn, "{file} is stale: run `cargo xtask bench render`");
        }
    }

    #[test]
    fn a_page_is_filled_between_its_marks_only() {
        let results = Results(Default::default());
        let page = format!("a\n{BEGIN}volume -->\nold\n{END}\nb\n");
        let filled = fill(&page, &results).expect("a known name");
        assert_eq!(filled, format!("a\n{BEGIN}volume -->\n{}{END}\nb\n", tables::NOTHING));
        assert_eq!(fill(&filled, &results), Ok(filled.clone()));
        assert!(fill(&page.replace("volume", "nothing"), &results).is_err());
        assert!(fill(&page.replace(END, ""), &results).is_err());
    }

    #[test]
    fn commands_name_nobodys_folders() {
        let command = ["volume", "--data", "elsewhere/graphs", "--turns", "3"];
        assert_eq!(portable(&command).join(" "), "volume --data DIR --turns 3");
        assert_eq!(portable(&["pace", "--output", "a.json"]).join(" "), "pace --output FILE");
        assert_eq!(without(&command, "--data"), ["volume", "--turns", "3"]);
    }

    #[test]
    fn the_newest_result_of_a_kind_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["pace-2026-01-02.json", "pace-2026-01-10.json", "volume-2027-01-01.json"] {
            std::fs::write(folder.path().join(name), "{}").expect("a file");
        }
        let file = newest(folder.path(), "pace").expect("a file");
        assert!(file.ends_with("pace-2026-01-10.json"));
        assert_eq!(newest(folder.path(), "figures"), None);
    }
}
