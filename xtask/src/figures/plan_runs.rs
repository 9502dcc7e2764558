//! Plans beside runs: what `parton plan` says of memory and bytes, and what `parton run` then took.
//!
//! Every run is a process of its own (or as many as it has ranks), so that its peak is that of the work alone. A
//! plan or a run that fails is a row that says so.

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::plan_graphs::{self, PlanGraph};
use super::{option, read};

const ALGORITHMS: [&str; 12] = [
    "bfs",
    "sssp",
    "components",
    "pagerank",
    "kcore",
    "triangles",
    "lcc",
    "betweenness",
    "strongly-connected",
    "label-propagation",
    "widest-path",
    "hits",
];
/// The algorithm of ratings.
const OF_RATINGS: [&str; 1] = ["matrix-completion"];
/// What runs on ranks, by turns, and how many ranks there are.
const ON_RANKS: [&str; 2] = ["bfs", "pagerank"];
const RANKS: &str = "4";
/// Numbers of hosts, which take turns.
const HOSTS: [&str; 4] = ["1", "2", "4", "8"];
/// Policies that need no argument.
const POLICIES: [&str; 10] =
    ["oec", "iec", "dual", "cvc", "hvc", "staggered", "fennel", "ginger", "sugar", "random"];
/// What shortens runs without changing what they hold.
const SHORTER: [(&str, &[&str]); 3] = [
    ("pagerank", &["--max-rounds", "10"]),
    ("betweenness", &["--sources", "4"]),
    ("matrix-completion", &["--max-rounds", "3"]),
];

/// One call of the command: its JSON, or why there is none.
fn call(mut command: Command, arguments: &[&str]) -> Result<Value, String> {
    eprintln!("parton {}", arguments.join(" "));
    let output = command.args(arguments).args(["--json", "--quiet"]).output();
    let output = output.map_err(|error| error.to_string())?;
    let said = || {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        eprintln!("{said}");
        format!("parton {}: {}", arguments[..2].join(" "), said.lines().next().unwrap_or_default())
    };
    match output.status.code() {
        Some(0 | 3) => serde_json::from_slice(&output.stdout).map_err(|_| said()),
        _ => Err(said()),
    }
}

/// Figures of a result beside its rows.
pub(super) const REFUSAL: &str = "seconds_of_refusal";
pub(super) const THOUSAND_HOSTS: &str = "thousand_hosts_bytes";

/// What is measured of a run.
const MEASURED: [&str; 2] = ["measured_bytes", "measured_traffic"];

/// Runs with the `parton` command. Those of an earlier result are planned anew, and not run again.
struct Runs<'r> {
    parton: &'r str,
    earlier: HashMap<String, &'r Value>,
}

/// What of a row says which run it is.
fn key(row: &Value) -> String {
    ["graph", "algorithm", "hosts", "policy", "on_ranks"]
        .map(|name| row[name].to_string())
        .join(" ")
}

/// One algorithm on a graph, on hosts of one process or on ranks.
struct Case<'c> {
    /// Its place among all of them.
    number: usize,
    graph: &'c PlanGraph,
    algorithm: &'c str,
    hosts: &'c str,
    policies: Vec<&'c str>,
    on_ranks: bool,
}

impl Case<'_> {
    /// Arguments that say what is read.
    fn graph(&self) -> Vec<&str> {
        let reading = self.graph.reading.iter().map(String::as_str);
        [&*self.graph.graph].into_iter().chain(reading).collect()
    }

    fn row(&self, policy: &str) -> Value {
        json!({
            "graph": self.graph.name,
            "algorithm": self.algorithm,
            "hosts": self.hosts.parse::<u64>().expect("a number"),
            "policy": policy,
            "on_ranks": self.on_ranks,
            "is_large": self.graph.is_large,
        })
    }

    /// The memory that is planned: of the fullest rank, or of the one process.
    fn planned<'p>(&self, plan: &'p Value) -> &'p Value {
        let peak = if self.on_ranks { "host_peak" } else { "process_peak" };
        &plan["memory"][peak]["likely"]
    }
}

impl Runs<'_> {
    /// A plan for all policies, and one run for each of them.
    fn of_case(&self, case: &Case<'_>) -> Vec<Value> {
        let named = case.policies.join(",");
        let plan = ["--algorithm", case.algorithm, "--hosts", case.hosts];
        let plan = [&["plan"], &case.graph()[..], &plan, &["--policy", &named]].concat();
        let planned = call(Command::new(self.parton), &plan);
        let row_of = |(at, policy): (usize, &&str)| {
            let mut row = case.row(policy);
            match &planned {
                Ok(plan) => {
                    row["planned_bytes"] = case.planned(&plan["plans"][at]).clone();
                    row["planned_traffic"] = plan["plans"][at]["bytes_per_round"]["likely"].clone();
                    row["replication"] = plan["plans"][at]["replication"].clone();
                    let graph = &plan["graph"];
                    row["vertices"] = graph["vertices"].clone();
                    row["edges"] = graph["edges"].clone();
                }
                Err(said) => row["failed"] = said.as_str().into(),
            }
            match self.measured(case, policy, &key(&row)) {
                Ok(measured) => {
                    MEASURED.into_iter().for_each(|name| row[name] = measured[name].clone());
                }
                Err(said) => row["failed"] = said.into(),
            }
            row
        };
        case.policies.iter().enumerate().map(row_of).collect()
    }

    /// The rows of all cases, some of which run at the same time: neither memory nor bytes depend on what else runs.
    fn of_cases(&self, cases: &[Case<'_>], at_a_time: usize) -> Vec<Value> {
        let next = AtomicUsize::new(0);
        let take_turns = || {
            let mut done = Vec::new();
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((case.number, self.of_case(case)));
            }
            done
        };
        let mut done = std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..at_a_time).map(|_| scope.spawn(take_turns)).collect();
            jobs.into_iter().flat_map(|job| job.join().expect("no panic")).collect::<Vec<_>>()
        });
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().flat_map(|(_, rows)| rows).collect()
    }

    /// What a run takes, or took.
    fn measured(&self, case: &Case<'_>, policy: &str, key: &str) -> Result<Value, String> {
        if let Some(row) = self.earlier.get(key).filter(|row| row["measured_bytes"].is_number()) {
            return Ok((*row).clone());
        }
        let shorter = SHORTER.iter().find(|(algorithm, _)| *algorithm == case.algorithm);
        let shorter = shorter.map_or(&[][..], |(_, options)| options);
        let (command, hosts, peak) = match case.on_ranks {
            true => (ranks(self.parton), &[][..], "memory_peak_of_process_bytes"),
            false => (Command::new(self.parton), &["--hosts", case.hosts][..], "memory_peak_bytes"),
        };
        let run = [&["run", case.algorithm], &case.graph()[..], &["--policy", policy]].concat();
        let report = call(command, &[&run, hosts, shorter].concat())?;
        if !report[peak].is_number() {
            return Err(format!("the report has no {peak}"));
        }
        let rounds = report["rounds"].as_f64().unwrap_or(1.0).max(1.0);
        Ok(json!({
            "measured_bytes": report[peak],
            "measured_traffic": report["bytes"]["total"].as_f64().map(|bytes| bytes / rounds),
        }))
    }
}

/// The command on ranks, which may outnumber cores and belong to root.
fn ranks(parton: &str) -> Command {
    let mut command = Command::new("mpirun.openmpi");
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command.env(name, "1");
    }
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.args(["-n", RANKS, parton]);
    command
}

/// Processor time of a `run` that is refused because no machine holds its graph: all that it does is its plan. Time on
/// the clock would be that of whatever else runs.
fn seconds_of_refusal(parton: &str) -> Result<f64, String> {
    let once = || {
        let before = seconds_of_children()?;
        let refused = Command::new(parton).args(["run", "bfs", "rmat:31", "--quiet"]).output();
        match refused.is_ok_and(|output| output.status.code() == Some(71)) {
            true => Ok(seconds_of_children()? - before),
            false => Err("bfs on rmat:31 is not refused".to_owned()),
        }
    };
    let all: Result<Vec<f64>, String> = (0..5).map(|_| once()).collect();
    Ok(all?.into_iter().fold(f64::INFINITY, f64::min))
}

/// Processor time of all commands that have ended, in user's and system's mode.
fn seconds_of_children() -> Result<f64, String> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    // Fields 16 and 17 of proc(5); the second, a name in brackets, may have blanks.
    let (_, fields) = stat.rsplit_once(')').ok_or("/proc/self/stat has no name")?;
    let ticks = fields.split_whitespace().skip(13).take(2);
    Ok(ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND)
}

/// The peak of one process with a thousand hosts on a graph of a million edges.
fn bytes_of_a_thousand_hosts(parton: &str) -> Result<Value, String> {
    let run = ["run", "bfs", "uniform:100000,1000000", "--hosts", "1000", "--threads", "1"];
    let report = call(Command::new(parton), &run)?;
    Ok(report["memory_peak_bytes"].clone())
}

/// Plans and runs all graphs: the parts of a result.
pub(super) fn runs(parton: &str, command: &[&str]) -> Result<Vec<(&'static str, Value)>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let graphs = plan_graphs::all(parton, option(command, "--data"), folder.path())?;
    let earlier = option(command, "--measured").map(|file| read(std::path::Path::new(file)));
    let earlier = earlier.unwrap_or_default();
    let at_a_time = option(command, "--jobs").and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let mut cases: Vec<_> =
        graphs.iter().enumerate().flat_map(|(number, graph)| cases(graph, number)).collect();
    (0..).zip(&mut cases).for_each(|(number, case)| case.number = number);
    let rows = earlier["rows"].as_array().into_iter().flatten();
    let runs = Runs { parton, earlier: rows.map(|row| (key(row), row)).collect() };
    let thousand_hosts = match &earlier[THOUSAND_HOSTS] {
        Value::Null => bytes_of_a_thousand_hosts(parton)?,
        measured => measured.clone(),
    };
    let refusal = seconds_of_refusal(parton)?;
    Ok(vec![
        ("rows", runs.of_cases(&cases, at_a_time).into()),
        (REFUSAL, refusal.into()),
        (THOUSAND_HOSTS, thousand_hosts),
    ])
}

/// What is run on a graph. Numbers of hosts take turns over algorithms and graphs, and so do halves of the policies
/// and, on large graphs, of the algorithms.
fn cases(graph: &PlanGraph, number: usize) -> Vec<Case<'_>> {
    let algorithms: Vec<&str> = match (graph.is_ratings, graph.is_large) {
        (true, _) => OF_RATINGS.to_vec(),
        (_, true) => ALGORITHMS.into_iter().skip(number % 2).step_by(2).collect(),
        _ => ALGORITHMS.to_vec(),
    };
    let case = |(turn, algorithm): (usize, &&'static str)| {
        let hosts = HOSTS[(turn + number) % HOSTS.len()];
        let half = || POLICIES.into_iter().skip((turn + number / 4) % 2).step_by(2).collect();
        let policies = if hosts == "1" { vec![POLICIES[0]] } else { half() };
        Case { number: 0, graph, algorithm, hosts, policies, on_ranks: false }
    };
    let mut cases: Vec<_> = algorithms.iter().enumerate().map(case).collect();
    if graph.is_large && !graph.is_ratings {
        let algorithm = ON_RANKS[number % ON_RANKS.len()];
        let policies = vec!["oec", "cvc"];
        cases.push(Case { number: 0, graph, algorithm, hosts: RANKS, policies, on_ranks: true });
    }
    cases
}
