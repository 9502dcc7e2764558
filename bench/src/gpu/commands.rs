//! What only whole runs of the `parton` command show: hosts that share a GPU, a graph that needs the processor
//! beside it, and what hosts send each other.

use std::process::{Command, Output};

use serde_json::{Value, json};

use super::stem;

/// Rounds of ranks, as elsewhere in the tables.
const ROUNDS: &str = "20";
/// Runs of which the fastest counts.
const TURNS: usize = 2;

/// Hosts that share the work on edges, and the graph, where bytes are compared.
const HOSTS: &str = "4";
const POLICY: &str = "cvc";
const GRAPH: &str = "rmat:16";
/// Algorithms by their engines. Those with weights get random ones.
const SENDERS: [(&str, &[&str]); 4] = [
    ("bfs", &["frontier", "pull", "push"]),
    ("components", &["frontier", "pull", "push"]),
    ("pagerank", &["pull"]),
    ("sssp", &["frontier", "delta", "push"]),
];

/// The command, and the device that it is measured with.
pub(super) struct Commands<'c> {
    pub(super) parton: &'c str,
    pub(super) device: &'c str,
}

impl Commands<'_> {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.parton);
        command.arg("run").args(arguments).args(["--json", "--quiet"]);
        command.output().expect("the parton command")
    }

    /// The report of a run, or what the command said instead.
    fn report(&self, arguments: &[&str]) -> Result<Value, String> {
        let output = self.run(arguments);
        match output.status.success() {
            true => Ok(serde_json::from_slice(&output.stdout).expect("a report")),
            false => {
                Err(format!("{}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
            }
        }
    }

    /// The report of the fastest of several runs of PageRank.
    fn ranks(&self, graph: &str, options: &[&str]) -> Result<Value, String> {
        let ranks = ["pagerank", graph, "--engine", "pull", "--max-rounds", ROUNDS];
        let reports = (0..TURNS).map(|_| self.report(&[&ranks, options].concat()));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        let fastest = reports.into_iter().min_by(|a, b| round(a).total_cmp(&round(b)));
        Ok(fastest.expect("a run"))
    }

    /// PageRank by one host on the device, and by two that share it: seconds of a round.
    pub(super) fn sharing(&self, graph: &str) -> Result<Value, String> {
        let seconds = |hosts| {
            let found = self.ranks(graph, &["--hosts", hosts, "--devices", self.device])?;
            Ok::<_, String>(round(&found))
        };
        let (one, two) = (seconds("1")?, seconds("2")?);
        Ok(json!({ "graph": stem(graph), "algorithm": "pagerank/pull", "one": one, "two": two }))
    }

    /// PageRank where the device may use too little memory for the graph: alone, and beside the processor.
    pub(super) fn split(&self, graph: &str, limit: &str) -> Result<Value, String> {
        let ranks = ["pagerank", graph, "--engine", "pull", "--device-memory", limit];
        let refused = self.run(&[&ranks[..], &["--devices", self.device]].concat());
        let both = format!("{},cpu", self.device);
        let beside = ["--hosts", "2", "--devices", &both, "--device-memory", limit];
        let found = self.ranks(graph, &beside)?;
        Ok(json!({
            "graph": stem(graph), "algorithm": "pagerank/pull", "limit": limit,
            "refused": refused.status.code(),
            "said": String::from_utf8_lossy(&refused.stderr).trim(),
            "round": round(&found), "hosts": found["per_host"],
        }))
    }

    /// Bytes between hosts that are devices and between hosts that are not, for each algorithm and engine.
    pub(super) fn bytes(&self) -> Result<Value, String> {
        let mut rows = Vec::new();
        for (algorithm, engines) in SENDERS {
            let more: &[&str] = match algorithm {
                "pagerank" => &["--max-rounds", ROUNDS],
                "sssp" => &["--weights", "random:1..64"],
                _ => &[],
            };
            for engine in engines {
                let mut row = json!({ "algorithm": format!("{algorithm}/{engine}") });
                for (name, device) in [("cpu", "cpu"), ("device", self.device)] {
                    let hosts = ["--hosts", HOSTS, "--policy", POLICY, "--devices", device];
                    let command = [algorithm, GRAPH, "--engine", engine];
                    let found = self.report(&[&command, &hosts[..], more].concat())?;
                    row[name] =
                        json!({ "bytes": found["bytes"]["total"], "rounds": found["rounds"] });
                }
                rows.push(row);
            }
        }
        Ok(json!({ "graph": GRAPH, "hosts": HOSTS, "policy": POLICY, "rows": rows }))
    }
}

/// Seconds of a round.
fn round(report: &Value) -> f64 {
    let number = |value: &Value| value.as_f64().expect("a number");
    number(&report["seconds"]["run"]) / number(&report["rounds"])
}
