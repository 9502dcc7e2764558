//! The figures of docs/performance.md, by the `parton` command: `bench` for times, `run` for memory
//! and the way to the first round, and the peers that a user has built.
//!
//! All sizes follow from one scale, so that a small one tries everything out in seconds.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{bench_program, keep, option, read};
use crate::step;

/// Vertices of the R-MAT graph, as a power of two, unless `--scale` says otherwise.
const SCALE: u32 = 22;
/// Samples of every time, unless `--turns` says otherwise.
const TURNS: &str = "5";
/// PageRank by counted rounds: the same work as GAP's `pr -i 20 -t 0`.
const PAGERANK: [&str; 6] = ["--max-rounds", "20", "--tolerance", "0", "--dangling", "drop"];
/// Bucket widths from which the best is taken for GAP's sssp; Parton chooses by itself.
const GAP_DELTAS: [&str; 5] = ["2", "16", "128", "1024", "8192"];

/// A graph to measure on, in the folder of the measurement.
struct Input {
    file: &'static str,
    name: String,
    /// Arguments of `parton` that make it.
    made_by: Vec<String>,
}

fn input(file: &'static str, name: &str, made_by: &str) -> Input {
    let made_by = made_by.split(' ').map(str::to_owned).collect();
    Input { file, name: name.into(), made_by }
}

/// The graphs of the comparison, and the one on which all algorithms run.
fn inputs(scale: u32, data: Option<&str>) -> (Vec<Input>, Input) {
    let (side, pages, less) = (1 << (scale / 2), 1 << (scale - 2), scale - 2);
    let weights = "--weights random:1..64";
    let mut inputs = vec![
        input(
            "rmat.parton",
            &format!("R-MAT {scale}"),
            &format!("generate rmat:{scale} rmat.parton --simple {weights}"),
        ),
        input(
            "grid.parton",
            &format!("grid {side} × {side}, ids permuted"),
            &format!("generate grid:{side}x{side},permute grid.parton {weights}"),
        ),
        input("web.parton", "web", &format!("generate web:{pages} web.parton --simple {weights}")),
    ];
    if let Some(data) = data {
        let roads = format!("convert {data}/dimacs9/NW/NW.gr.gz roads.parton --simple");
        inputs.push(input("roads.parton", "roads of NW", &roads));
    }
    let all = input(
        "undirected.parton",
        &format!("R-MAT {less}, undirected"),
        &format!("generate rmat:{less} undirected.parton --undirected --simple"),
    );
    (inputs, all)
}

/// Calls of `parton` in one folder.
struct Parton<'a> {
    program: String,
    folder: &'a Path,
}

impl Parton<'_> {
    fn call(&self, arguments: &[&str]) -> Option<Value> {
        eprintln!("parton {}", arguments.join(" "));
        let mut command = Command::new(&self.program);
        let output = command.args(arguments).current_dir(self.folder).output().ok()?;
        if !matches!(output.status.code(), Some(0)) {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
    }

    /// One `parton bench`, as it reports itself.
    fn bench(&self, graphs: &[&str], turns: &str, more: &[&str]) -> Option<Value> {
        let how = ["--hosts", "1,4", "--repetitions", turns, "--json", "--quiet"];
        self.call(&[&["bench"], graphs, &how[..], more].concat())
    }

    /// Memory and the way to the first round, of a process of its own for each run.
    fn starts(&self, graph: &str) -> Option<Vec<Value>> {
        let mut starts = Vec::new();
        for algorithm in ["bfs", "sssp", "components", "pagerank"] {
            for hosts in ["1", "4"] {
                let rounds = if algorithm == "pagerank" { &PAGERANK[..] } else { &[] };
                let how = ["run", algorithm, graph, "--hosts", hosts, "--json", "--quiet"];
                let report = self.call(&[&how[..], rounds].concat())?;
                starts.push(json!({
                    "algorithm": algorithm,
                    "hosts": report["hosts"],
                    "seconds": report["seconds"],
                    "memory_peak_bytes": report["memory_peak_bytes"],
                }));
            }
        }
        Some(starts)
    }
}

/// `cargo xtask bench figures [--scale N] [--turns N] [--data DIR] [--gap DIR] [--folder DIR]
/// [--against FILE] [--output FILE]`.
pub(crate) fn figures(command: &[&str]) -> bool {
    let Ok(temporary) = tempfile::tempdir() else { return false };
    let folder = option(command, "--folder").map_or(temporary.path(), Path::new);
    let Some(program) = super::parton(command) else { return false };
    measure(&Parton { program, folder }, command).is_some_and(|kept| kept)
}

fn measure(parton: &Parton<'_>, command: &[&str]) -> Option<bool> {
    let scale = option(command, "--scale").map_or(Some(SCALE), |scale| scale.parse().ok())?;
    let turns = option(command, "--turns").unwrap_or(TURNS);
    // The commands run in another folder.
    let data = option(command, "--data").and_then(|data| Path::new(data).canonicalize().ok());
    let data = data.as_ref().map(|data| data.to_string_lossy().into_owned());
    let (inputs, all) = inputs(scale, data.as_deref());
    let mut graphs = Vec::new();
    for input in inputs.iter().chain([&all]) {
        if !parton.folder.join(input.file).exists() {
            let arguments: Vec<&str> = input.made_by.iter().map(String::as_str).collect();
            parton.call(&arguments)?;
        }
        let made_by = input.made_by.join(" ").replace(data.as_deref().unwrap_or("\0"), "DIR");
        let about = parton.call(&["inspect", input.file, "--json", "--quiet"])?;
        graphs.push(json!({
            "file": input.file,
            "name": input.name,
            "made_by": format!("parton {made_by}"),
            "vertices": about["vertices"],
            "edges": about["edges"],
            "directed": about["directed"],
        }));
    }
    let files: Vec<&str> = inputs.iter().map(|input| input.file).collect();
    let searches = ["--algorithms", "bfs,sssp,components"];
    let ranks = [&["--algorithms", "pagerank"], &PAGERANK[..]].concat();
    let benches = [
        parton.bench(&files, turns, &searches)?,
        parton.bench(&files, turns, &ranks)?,
        parton.bench(&[all.file], "3", &[])?,
    ];
    let starts = parton.starts(files[0])?;
    let peers = match option(command, "--gap") {
        Some(gap) => {
            let program = |name: &str| Path::new(gap).join(name).canonicalize().ok();
            let pairs = inputs.iter().zip(&graphs);
            let peers: Option<Vec<Vec<Value>>> = pairs
                .map(|(input, about)| Gap { parton, program: &program, turns }.on(input, about))
                .collect();
            peers?.concat()
        }
        None => Vec::new(),
    };
    let [loading, partitioning] = ["load", "partition"].map(|what| {
        let file = parton.folder.join(format!("{what}.json"));
        let (scale, folder) = (scale.to_string(), parton.folder.to_string_lossy());
        let arguments = [what, "--scale", &scale, "--turns", "3", "--folder", &folder];
        let output = ["--output", &file.to_string_lossy()].map(str::to_owned);
        let output = output.each_ref().map(String::as_str);
        let passed = step(what, &mut bench_program(&[&arguments[..], &output].concat()));
        passed.then(|| read(&file))
    });
    if let Some(old) = option(command, "--against") {
        compare(parton, &read(Path::new(old)), &benches)?;
    }
    let body = [
        ("graphs", json!(graphs)),
        ("benches", json!(benches)),
        ("starts", json!(starts)),
        ("peers", json!(peers)),
        ("loading", loading?),
        ("partitioning", partitioning?),
    ];
    Some(keep("figures", command, &body))
}

/// Says what changed since an older result, by the rule of `parton bench --against`.
fn compare(parton: &Parton<'_>, old: &Value, benches: &[Value]) -> Option<()> {
    let olds = old["benches"].as_array()?;
    for (old, new) in olds.iter().zip(benches) {
        for (file, bench) in [("old.json", old), ("new.json", new)] {
            std::fs::write(parton.folder.join(file), bench.to_string()).ok()?;
        }
        let mut command = Command::new(&parton.program);
        command.args(["bench", "--against", "old.json", "new.json"]).current_dir(parton.folder);
        command.status().ok()?;
    }
    Some(())
}

/// The GAP benchmark suite, as a user has built it.
struct Gap<'a> {
    parton: &'a Parton<'a>,
    program: &'a dyn Fn(&str) -> Option<std::path::PathBuf>,
    turns: &'a str,
}

impl Gap<'_> {
    /// Its four algorithms on a graph, from the vertex that Parton searches from.
    fn on(&self, input: &Input, about: &Value) -> Option<Vec<Value>> {
        self.parton.call(&["convert", input.file, "gap.wel", "--to", "edges", "--quiet"])?;
        let symmetric = if about["directed"] == true { &[][..] } else { &["-s"] };
        self.call("converter", &[&["-f", "gap.wel", "-b", "gap.sg"], symmetric].concat())?;
        self.call("converter", &[&["-f", "gap.wel", "-wb", "gap.wsg"], symmetric].concat())?;
        let report = self.parton.call(&["run", "bfs", input.file, "--json", "--quiet"])?;
        let root = report["result"]["root"].to_string();
        let mut rows = vec![
            ("bfs", self.trials("bfs", &["-f", "gap.sg", "-r", &root])?),
            ("components", self.trials("cc", &["-f", "gap.sg"])?),
            ("pagerank", self.trials("pr", &["-f", "gap.sg", "-i", "20", "-t", "0"])?),
        ];
        let sssp = GAP_DELTAS
            .map(|delta| self.trials("sssp", &["-f", "gap.wsg", "-r", &root, "-d", delta]));
        let best = |trials: &Vec<f64>| trials.iter().copied().fold(f64::MAX, f64::min);
        let sssp = sssp.into_iter().flatten().min_by(|a, b| best(a).total_cmp(&best(b)))?;
        rows.push(("sssp", sssp));
        let row = |(algorithm, seconds): (&str, Vec<f64>)| json!({ "peer": "GAP", "graph": input.file, "algorithm": algorithm, "seconds": seconds });
        Some(rows.into_iter().map(row).collect())
    }

    fn trials(&self, program: &str, arguments: &[&str]) -> Option<Vec<f64>> {
        let said = self.call(program, &[arguments, &["-n", self.turns]].concat())?;
        Some(trial_times(&said))
    }

    fn call(&self, program: &str, arguments: &[&str]) -> Option<String> {
        eprintln!("{program} {}", arguments.join(" "));
        let mut command = Command::new((self.program)(program)?);
        let output = command.args(arguments).current_dir(self.parton.folder).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The times of all trials that a program of GAP prints.
fn trial_times(said: &str) -> Vec<f64> {
    let times = said.lines().filter_map(|line| line.strip_prefix("Trial Time:"));
    times.filter_map(|time| time.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_says_its_times_in_lines() {
        let said = "Read Time:           0.1\nTrial Time:          0.00012\nTrial Time:  2.5\nAverage Time: 1.25\n";
        assert_eq!(trial_times(said), [0.00012, 2.5]);
    }

    #[test]
    fn graphs_follow_from_the_scale() {
        let (inputs, all) = inputs(12, Some("/data"));
        assert_eq!(inputs.len(), 4);
        assert!(inputs[1].made_by.contains(&"grid:64x64,permute".to_owned()));
        assert!(all.made_by.contains(&"rmat:10".to_owned()));
        assert_eq!(super::inputs(12, None).0.len(), 3);
    }
}
