//! The results of a measurement, as JSON, text and plot. The names in the JSON are a contract.

use crate::engine::RunReport;
use serde_json::{Map, Value, json};

use super::samples::Samples;
use crate::cli::machine;
use crate::cli::page::{self, Bar, BarGroup};
use crate::cli::show;
use crate::cli::task::bytes_as_json;

/// The key by which rows of two measurements are matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) algorithm: String,
    pub(super) graph: String,
    /// The engine asked for: a better choice of `auto` shows as a gain.
    pub(super) engine: String,
    pub(super) hosts: usize,
    pub(super) threads: usize,
    pub(super) policy: String,
}

/// How the graph was cut, and what computed for each part.
pub(super) struct Cut {
    pub(super) policy: String,
    pub(super) replication: f64,
    pub(super) seconds: f64,
    /// Of each host.
    pub(super) devices: Vec<String>,
}

/// One configuration, all repetitions.
pub(super) struct Row {
    pub(super) key: Key,
    pub(super) vertices: u64,
    pub(super) edges: u64,
    pub(super) engine_used: &'static str,
    /// From the file to the answer; `None` for a stream.
    pub(super) whole_seconds: Option<Samples>,
    pub(super) load_seconds: f64,
    pub(super) cut: Cut,
    pub(super) setup_seconds: Vec<f64>,
    pub(super) run_seconds: Samples,
    /// Of the best repetition.
    pub(super) report: RunReport,
    pub(super) verified: Option<bool>,
}

/// Everything that was measured.
pub(super) struct Results {
    pub(super) repetitions: usize,
    /// Arguments that are not in the rows, by the names that users write.
    pub(super) options: Vec<(String, String)>,
    pub(super) rows: Vec<Row>,
}

/// Bars by number of hosts: one, the next, …
const COLOURS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

impl Row {
    fn edges_per_second(&self) -> f64 {
        self.edges as f64 / self.run_seconds.best()
    }

    fn work(&self) -> u64 {
        self.report.rounds.iter().map(|round| round.edges).sum()
    }

    fn engine(&self) -> String {
        match self.key.engine == self.engine_used {
            true => self.key.engine.clone(),
            false => format!("{} ({})", self.key.engine, self.engine_used),
        }
    }
}

impl Results {
    /// The best row of one host for a row of several hosts. Prefers rows that converged like this
    /// one, because a run that was stopped has done less work.
    fn single_host(&self, row: &Row) -> Option<&Row> {
        let same = |other: &&Row| {
            other.key.hosts == 1
                && other.key.algorithm == row.key.algorithm
                && other.key.graph == row.key.graph
        };
        let candidates = self.rows.iter().filter(same).filter(|_| row.key.hosts > 1);
        candidates.min_by(|a, b| {
            let unlike = |other: &Row| other.report.converged != row.report.converged;
            let bests = a.run_seconds.best().total_cmp(&b.run_seconds.best());
            unlike(a).cmp(&unlike(b)).then(bests)
        })
    }

    pub(super) fn as_json(&self) -> Value {
        let options = self.options.iter().map(|(name, value)| (name.clone(), json!(value)));
        json!({
            "cores": crate::defaults::cores(),
            "repetitions": self.repetitions,
            "options": options.collect::<Map<_, _>>(),
            "rows": self.rows.iter().map(|row| self.row_as_json(row)).collect::<Vec<_>>(),
        })
    }

    fn row_as_json(&self, row: &Row) -> Value {
        let (key, run, sent) = (&row.key, &row.run_seconds, row.report.sent());
        let single = self.single_host(row).map(|single| {
            json!({
                "engine": single.key.engine,
                "threads": single.key.threads,
                "seconds": single.run_seconds.best(),
                "ratio": run.best() / single.run_seconds.best(),
            })
        });
        json!({
            "algorithm": key.algorithm,
            "graph": { "name": key.graph, "vertices": row.vertices, "edges": row.edges },
            "engine": key.engine,
            "engine_used": row.engine_used,
            "hosts": key.hosts,
            "threads": key.threads,
            "policy": key.policy,
            "policy_used": row.cut.policy,
            "devices": row.cut.devices,
            "replication": row.cut.replication,
            "rounds": row.report.rounds.len(),
            "converged": row.report.converged,
            "verified": row.verified,
            "seconds": {
                "whole": row.whole_seconds.as_ref().map(Samples::as_slice),
                "load": row.load_seconds,
                "partition": row.cut.seconds,
                "setup": row.setup_seconds,
                "run": run.as_slice(),
            },
            "best_whole": row.whole_seconds.as_ref().map(Samples::best),
            "best": run.best(),
            "median": run.median(),
            "spread": run.spread(),
            "edges_per_second": row.edges_per_second(),
            "work": row.work(),
            "bytes": bytes_as_json(&sent),
            "messages": sent.messages,
            "single_host": single,
        })
    }

    const NAMES: usize = 3;
    const HEAD: [&str; 13] = [
        "algorithm",
        "graph",
        "engine",
        "hosts",
        "whole",
        "best",
        "median",
        "spread",
        "rounds",
        "edges/s",
        "sent",
        "best of 1 host",
        "÷ 1 host",
    ];

    fn cells(&self) -> Vec<Vec<String>> {
        let cells = |row: &Row| {
            let (key, run) = (&row.key, &row.run_seconds);
            let single = self.single_host(row).map(|single| single.run_seconds.best());
            let whole = row.whole_seconds.as_ref().map(Samples::best);
            let stopped = if row.report.converged { "" } else { "+" };
            vec![
                key.algorithm.clone(),
                key.graph.clone(),
                row.engine(),
                format!("{} × {}", key.hosts, key.threads),
                whole.map_or(String::new(), show::seconds),
                show::seconds(run.best()),
                show::seconds(run.median()),
                format!("{:.2}", run.spread()),
                format!("{}{stopped}", show::count(row.report.rounds.len() as u64)),
                show::count(row.edges_per_second() as u64),
                show::bytes(row.report.sent().total()),
                single.map_or(String::new(), show::seconds),
                single.map_or(String::new(), |single| format!("{:.2}", run.best() / single)),
            ]
        };
        self.rows.iter().map(cells).collect()
    }

    pub(super) fn as_text(&self) -> String {
        show::table(Self::NAMES, &Self::HEAD, &self.cells())
    }

    /// Bars by algorithm and graph, as a drawing that stands alone.
    pub(super) fn as_svg(&self) -> String {
        let mut hosts: Vec<usize> = self.rows.iter().map(|row| row.key.hosts).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let mut groups: Vec<BarGroup> = Vec::new();
        for row in &self.rows {
            let heading = format!("{} on {}", row.key.algorithm, row.key.graph);
            let place = hosts.iter().position(|&hosts| hosts == row.key.hosts).unwrap_or(0);
            let bar = Bar {
                name: format!("{}, {} × {}", row.engine(), row.key.hosts, row.key.threads),
                value: row.run_seconds.best(),
                greatest: row.run_seconds.worst(),
                class: COLOURS[place % COLOURS.len()],
                kind: format!(
                    "{} host{}",
                    row.key.hosts,
                    if row.key.hosts == 1 { "" } else { "s" }
                ),
            };
            match groups.iter_mut().find(|group| group.heading == heading) {
                Some(group) => group.bars.push(bar),
                None => groups.push(BarGroup { heading, bars: vec![bar] }),
            }
        }
        let what =
            "Time of a run, engine and hosts × threads: the best, and a line towards the worst";
        page::bars(what, &groups, &show::seconds)
    }

    /// The drawing and the table in one page.
    pub(super) fn as_page(&self) -> String {
        let row = |tag: &str, cells: &[String]| {
            let cell = |(number, cell): (usize, &String)| {
                let class = if number < Self::NAMES { " class=\"left\"" } else { "" };
                format!("<{tag}{class}>{}</{tag}>", page::escape(cell))
            };
            format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
        };
        let head = row("th", &Self::HEAD.map(str::to_owned));
        let body: String = self.cells().iter().map(|cells| row("td", cells)).collect();
        let drawing = self.as_svg();
        let body = format!(
            "<h1>Parton, measured</h1>\n<p class=\"faint\">Every configuration ran {}, in turns, on {}.\
             </p>\n<figure>{drawing}</figure>\n<h2>All figures</h2>\n\
             <div class=\"wide\"><table class=\"numbers\">\n{head}{body}</table></div>\n",
            if self.repetitions == 1 {
                "once".into()
            } else {
                format!("{} times", self.repetitions)
            },
            page::escape(&machine::describe())
        );
        page::page("Parton, measured", &body)
    }
}
