//! What only whole runs of the `parton` command show: hosts that share a GPU, a graph that needs the processor
//! beside it, and what hosts send each other.

use std::process::{Command, Output};

use serde_json::{Value, json};

use super::stem;

/// Rounds of ranks, as elsewhere in the tables.
const ROUNDS: &str = "20";
/// Runs of which the fastest counts.
const TURNS: usize = 3;

/// Hosts that share the work on edges, and the graph, where bytes are compared.
const HOSTS: &str = "4";
const POLICY: &str = "cvc";
const GRAPH: &str = "rmat:18";
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

    fn report(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        serde_json::from_slice(&output.stdout).expect("a report")
    }

    /// The report of the fastest of several runs of PageRank.
    fn ranks(&self, graph: &str, options: &[&str]) -> Value {
        let ranks = ["pagerank", graph, "--engine", "pull", "--max-rounds", ROUNDS];
        let reports = (0..TURNS).map(|_| self.report(&[&ranks, options].concat()));
        reports.min_by(|a, b| round(a).total_cmp(&round(b))).expect("a run")
    }

    /// PageRank by one host on the device, and by two that share it: seconds of a round.
    pub(super) fn sharing(&self, graph: &str) -> Value {
        let [one, two] = ["1", "2"]
            .map(|hosts| round(&self.ranks(graph, &["--hosts", hosts, "--devices", self.device])));
        json!({ "graph": stem(graph), "algorithm": "pagerank/pull", "one": one, "two": two })
    }

    /// PageRank where the device may use too little memory for the graph: alone, and beside the processor.
    pub(super) fn split(&self, graph: &str, limit: &str) -> Value {
        let ranks = ["pagerank", graph, "--engine", "pull", "--device-memory", limit];
        let refused = self.run(&[&ranks[..], &["--devices", self.device]].concat());
        let both = format!("{},cpu", self.device);
        let beside = ["--hosts", "2", "--devices", &both, "--device-memory", limit];
        let found = self.ranks(graph, &beside);
        json!({
            "graph": stem(graph), "algorithm": "pagerank/pull", "limit": limit,
            "refused": refused.status.code(),
            "said": String::from_utf8_lossy(&refused.stderr).trim(),
            "round": round(&found), "hosts": found["per_host"],
        })
    }

    /// Bytes between hosts that are devices and between hosts that are not, for each algorithm and engine.
    pub(super) fn bytes(&self) -> Value {
        let runs = SENDERS
            .iter()
            .flat_map(|(algorithm, engines)| engines.iter().map(move |e| (algorithm, e)));
        let rows = runs.map(|(algorithm, engine)| {
            let more: &[&str] = match *algorithm {
                "pagerank" => &["--max-rounds", ROUNDS],
                "sssp" => &["--weights", "random:1..64"],
                _ => &[],
            };
            let [cpu, device] = ["cpu", self.device].map(|device| {
                let hosts = ["--hosts", HOSTS, "--policy", POLICY, "--devices", device];
                let command = [algorithm, GRAPH, "--engine", engine];
                let found = self.report(&[&command, &hosts[..], more].concat());
                json!({ "bytes": found["bytes"]["total"], "rounds": found["rounds"] })
            });
            json!({ "algorithm": format!("{algorithm}/{engine}"), "cpu": cpu, "device": device })
        });
        let rows: Vec<Value> = rows.collect();
        json!({ "graph": GRAPH, "hosts": HOSTS, "policy": POLICY, "rows": rows })
    }
}

/// Seconds of a round.
fn round(report: &Value) -> f64 {
    let number = |value: &Value| value.as_f64().expect("a number");
    number(&report["seconds"]["run"]) / number(&report["rounds"])
}
