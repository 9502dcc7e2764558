//! One row for each engine on each device: the best and the median of several runs.

use parton_algorithms::options::Given;
use parton_algorithms::{ALL, Algorithm, Answer, Error, Fact, Job, Options};
use parton_engine::device::Device;
use parton_gpu::GpuHost;
use parton_gpu::memory::Uploaded;
use parton_graph::WeightKind;
use parton_graph::hash::splitmix64;
use parton_sync::Substrate;
use serde_json::{Value, json};

use crate::option;

/// What is measured on graphs without weights, and on graphs with weights.
const ROWS: [&str; 2] = ["bfs/frontier+components/union+pagerank/pull", "sssp/delta"];
/// Where the sequence of random roots starts.
const SEED: u64 = 1;

/// What some runs of an engine took.
pub(super) struct Row {
    pub(super) graph: String,
    edges: u64,
    pub(super) device: String,
    pub(super) algorithm: String,
    rounds: usize,
    /// Levels of a search from one root.
    levels: Option<u64>,
    setup: f64,
    best: f64,
    median: f64,
    /// Bytes of the device's memory that the engine needs.
    pub(super) memory: u64,
    /// The fastest upload of edges.
    upload: Option<Uploaded>,
}

impl Row {
    pub(super) fn line(&self) -> String {
        let Row { graph, device, algorithm, rounds, setup, best, median, .. } = self;
        let (best_ms, median_ms) = (best * 1e3, median * 1e3);
        let rate = self.edges as f64 / best / 1e9;
        format!(
            "| {graph} | {device} | {algorithm} | {rounds} | {setup:.2} | {best_ms:.3} | \
             {median_ms:.3} | {rate:.1} |"
        )
    }

    pub(super) fn json(&self) -> Value {
        let upload = |upload: Uploaded| json!({ "bytes": upload.bytes, "seconds": upload.time.as_secs_f64() });
        json!({
            "graph": self.graph, "edges": self.edges, "device": self.device,
            "algorithm": self.algorithm, "rounds": self.rounds, "levels": self.levels,
            "setup": self.setup, "best": self.best, "median": self.median,
            "memory": self.memory, "upload": self.upload.map(upload),
        })
    }
}

/// One graph on one device, or on the processor.
pub(super) struct Bench<'b, 's> {
    pub(super) graph: &'b str,
    pub(super) device: &'b str,
    pub(super) substrate: &'b mut Substrate<'s>,
    pub(super) host: Option<&'b GpuHost>,
}

impl Bench<'_, '_> {
    /// Measures all rows of this graph.
    pub(super) fn measure_all(&mut self, options: &[&str]) -> Result<Vec<Row>, Error> {
        let number = |name| option(options, name).map(|n| n.parse().expect("a number"));
        let (turns, num_roots) = (number("--turns").unwrap_or(5), number("--roots").unwrap_or(0));
        let weights = self.substrate.partition().out_edges().weight_kind();
        let rows = ROWS[usize::from(weights != WeightKind::None)];
        let mut found = Vec::new();
        for row in option(options, "--runs").unwrap_or(rows).split('+') {
            let (algorithm, options) = request(row);
            let (mut answers, mut uploads) = (Vec::new(), Vec::new());
            for _ in 0..turns {
                answers.push(self.run(algorithm, &options)?);
                uploads.extend(self.host.map(GpuHost::last_upload));
            }
            let upload = uploads.into_iter().min_by_key(|upload| upload.time);
            found.push(Row { upload, ..self.row(row, &answers, false) });
            if num_roots > 0 && row.starts_with("bfs") {
                let answers = self.search_from_roots(row, num_roots, &answers[0])?;
                found.push(self.row(&format!("{row}, {num_roots} random roots"), &answers, true));
            }
        }
        Ok(found)
    }

    fn run(&mut self, algorithm: &dyn Algorithm, options: &Options) -> Result<Answer, Error> {
        let device = self.host.map(|host| host as &dyn Device);
        let substrate = &mut *self.substrate;
        algorithm.run(&mut Job { substrate, options, watch: &mut (), device })
    }

    /// The row of some runs. Where each has a root of its own, the harmonic mean of their rates counts:
    /// the mean of their times.
    fn row(&self, algorithm: &str, answers: &[Answer], is_mean: bool) -> Row {
        let mut seconds: Vec<f64> = answers.iter().map(per_run).collect();
        seconds.sort_by(f64::total_cmp);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let last = answers.last().expect("a run");
        let partition = self.substrate.partition();
        let model = self.host.and_then(GpuHost::memory_model);
        Row {
            graph: self.graph.to_owned(),
            edges: partition.num_edges(),
            device: self.device.to_owned(),
            algorithm: algorithm.to_owned(),
            rounds: last.report.rounds.len(),
            levels: count(last, "max").filter(|_| algorithm.starts_with("bfs") && !is_mean),
            setup: last.setup_seconds,
            best: if is_mean { mean } else { seconds[0] },
            median: seconds[seconds.len() / 2],
            memory: model.map_or(0, |model| model.plan(partition).total()),
            upload: None,
        }
    }

    /// Searches from vertices that are drawn at random. A root counts if it has edges and its search reaches at least
    /// half as many vertices as that from the vertex of most edges: in an undirected graph, if it lies in the same
    /// component.
    fn search_from_roots(
        &mut self,
        row: &str,
        num_roots: usize,
        widest: &Answer,
    ) -> Result<Vec<Answer>, Error> {
        let (algorithm, mut options) = request(row);
        let enough = count(widest, "reached").expect("a search") / 2;
        let partition = self.substrate.partition();
        let offsets = partition.out_edges().offsets();
        let vertices = partition.num_vertices();
        let drawn = (0..).map(|turn| splitmix64(SEED ^ splitmix64(turn)) % vertices);
        let mut drawn = drawn.filter(|&v| offsets[v as usize + 1] > offsets[v as usize]);
        let mut answers = Vec::new();
        while answers.len() < num_roots {
            let root = drawn.next().expect("an endless sequence") as usize;
            let root = partition.globals()[root].to_string();
            options.set(algorithm, "root", Given::Text(&root)).expect("a root");
            let answer = self.run(algorithm, &options)?;
            if count(&answer, "reached").expect("a search") >= enough {
                answers.push(answer);
            }
        }
        Ok(answers)
    }
}

/// Seconds of a run, or of a round where every round visits every edge.
fn per_run(answer: &Answer) -> f64 {
    let is_stationary = answer.columns[0].name == "rank";
    answer.report.seconds / if is_stationary { answer.report.rounds.len() as f64 } else { 1.0 }
}

/// A count among the facts of an answer.
fn count(answer: &Answer, name: &str) -> Option<u64> {
    answer.result.iter().find_map(|(known, fact)| match fact {
        Fact::Integer(count) if *known == name => Some(*count),
        _ => None,
    })
}

/// `bfs/frontier`, with options behind further slashes: `sssp/delta/delta=8`.
fn request(row: &str) -> (&'static dyn Algorithm, Options) {
    let mut words = row.split('/');
    let name = words.next().expect("an algorithm");
    let algorithm = *ALL.iter().find(|known| known.name() == name).expect("an algorithm");
    let mut options = Options::default();
    let engine = words.next().filter(|&word| word != "auto");
    options.engine = engine.map(|name| {
        *algorithm.engines().iter().find(|known| known.name == name).expect("an engine")
    });
    if name == "pagerank" {
        options.max_rounds = Some(20);
    }
    for setting in words {
        let (name, value) = setting.split_once('=').expect("NAME=VALUE");
        options.set(algorithm, name, Given::Text(value)).expect("an option");
    }
    (algorithm, options)
}
