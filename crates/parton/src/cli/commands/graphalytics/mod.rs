//! `parton graphalytics`: the LDBC Graphalytics benchmark on one of its data sets.
//!
//! A data set names its algorithms, their roots and numbers of rounds. Outputs have the form of the
//! benchmark, and are compared with the references beside the data set by the benchmark's rules.

mod benchmark;
mod judge;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::algorithms::{Access, Algorithm};
use crate::graph::formats::graphalytics::Parameters;
use crate::graph::formats::{self, ColumnKey, Columns, ReadOptions};
use crate::graph::progress::Silent;
use crate::graph::save::Output;
use crate::graph::source::Source;
use crate::graph::{Error, Graph};
use crate::net::Cluster;
use crate::output::{Table, TablePart};
use crate::partition::{Fit, Input, Partition, Plan};
use crate::sync::{Optimize, Schedule};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Context;
use crate::cli::exit::{CommandOutput, Failure};
use crate::cli::origin::Origin;
use crate::cli::show;
use crate::cli::task::{self, AUTO, PartitionSource, Task, TaskOutcome, Verdict};
use crate::cli::watch::Watch;
use crate::defaults::{InputTraits, choose_policy, threads_per_host};
use benchmark::{Benchmark, Case};
use judge::Difference;

/// Run the LDBC Graphalytics benchmark on one of its data sets, and check what comes out.
#[derive(Args)]
pub(crate) struct Graphalytics {
    /// The data set: NAME.properties, beside NAME.v and NAME.e, packed or not
    #[arg(value_name = "NAME.properties")]
    data_set: PathBuf,

    /// Run only these of the data set's algorithms
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    algorithms: Vec<String>,

    /// The folder of references NAME-BFS, NAME-PR, …, packed or not [default: that of the data set]
    #[arg(long, value_name = "FOLDER")]
    reference: Option<PathBuf>,

    /// Number of hosts, all in this process
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    hosts: u16,

    /// How to cut the graph (see `parton list`)
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    policy: String,

    /// Write the outputs into this new folder, in the form of the benchmark
    #[arg(long, value_name = "FOLDER/")]
    output: Option<PathBuf>,

    /// Check the certificate of every answer, too
    #[arg(long)]
    verify: bool,

    /// Print the results as one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

impl Graphalytics {
    /// Number of hosts.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts.into()
    }

    pub(crate) fn run(self, context: &Context<'_>) -> Result<CommandOutput, Failure> {
        let watch = context.watch;
        let source = Source::file(&self.data_set)?;
        let data = Parameters::read(&source)?;
        let cases = Case::all(&data, &self.algorithms, context)?;
        let hosts = self.hosts();
        let policy = match &self.policy[..] {
            AUTO => choose_policy(hosts, Access::Sources, InputTraits::default()).0,
            asked => asked,
        };
        Plan::new(policy).check(hosts)?;
        let threads = threads_per_host(context.threads, hosts);
        if let Some(folder) = &self.output {
            make_folder(folder)?;
        }
        let start = Instant::now();
        let graph = read(source.clone(), &data, watch)?;
        watch.has_read(Origin::new(source.name(), Some(&source), &graph.read_as));
        let load_seconds = start.elapsed().as_secs_f64();
        // An undirected edge counts once.
        let edges = data.number("meta.edges")?.unwrap_or(graph.num_edges());
        let size = (graph.num_vertices() as u64, edges);
        let graph = PartitionedGraph { graph, plan: Plan::new(policy), parts: Vec::new() };
        let mut hosts = Hosts { graph, cluster: task::cluster(hosts, threads) };
        let mut results = Vec::new();
        for case in cases {
            results.push(self.result(&mut hosts, case, data.name(), watch)?);
        }
        let report = Results { request: &self, data: &data, size, threads, policy, load_seconds };
        let text = match self.json {
            true => format!("{:#}\n", watch.signed(report.as_json(&results))),
            false => report.as_text(&results),
        };
        Ok(CommandOutput { text, failure: failure(&results) })
    }

    /// Runs one algorithm and judges what comes out.
    fn result(
        &self,
        hosts: &mut Hosts,
        case: Case,
        name: &str,
        watch: &Watch,
    ) -> Result<Row, Failure> {
        let file = case.benchmark.file(name);
        let Some(algorithm) = case.algorithm else {
            return Ok(Row { case, run: None, file, reference: None, difference: None });
        };
        let mut run = hosts.run(algorithm, &case, self.verify, watch)?;
        run.finished.answer.notes.drain(..).for_each(|note| watch.note(&note));
        if let Some(folder) = &self.output {
            write(case.benchmark, &run.table, &folder.join(&file))?;
        }
        let beside = self.data_set.parent().unwrap_or(Path::new(""));
        let reference = judge::find(self.reference.as_deref().unwrap_or(beside), &file);
        let difference = match &reference {
            Some(reference) => Some(judge::compare(case.benchmark, &run.table, reference)?),
            None => None,
        };
        Ok(Row { case, run: Some(run), file, reference, difference })
    }
}

/// Reads the graph, with the weights that the data set names.
fn read(source: Source, data: &Parameters, watch: &Watch) -> Result<Graph, Failure> {
    const NAMES: &str = "edge-properties.names";
    let names: Vec<&str> = match data.get(NAMES) {
        Some(names) => names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
        None => Vec::new(),
    };
    let weight = match data.get("sssp.weight-property") {
        None => None,
        Some(wanted) => {
            let place = names.iter().position(|name| *name == wanted).ok_or_else(|| {
                data.error(
                    "sssp.weight-property",
                    format!("there is no '{wanted}' among the {NAMES}: {}", names.join(", ")),
                )
            })?;
            // After the two ends of an edge.
            Some(ColumnKey::Position(place + 2))
        }
    };
    let (source_column, destination) = (ColumnKey::Position(0), ColumnKey::Position(1));
    let options = ReadOptions {
        columns: Some(Columns { source: source_column, destination, weight: weight.clone() }),
        weights: weight.is_some(),
        header: Some(false),
        progress: watch,
        ..ReadOptions::default()
    };
    let format = formats::by_name("graphalytics")?;
    Ok(formats::read(&source, Some(format), &options)?)
}

/// The folder for outputs, which must be empty.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    let failed = |e| Error::io(folder, "write", e);
    std::fs::create_dir_all(folder).map_err(failed)?;
    match std::fs::read_dir(folder).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!(
            "{}: there are files in this folder; give a new name",
            folder.display()
        ))),
    }
}

/// Writes a line for every vertex.
fn write(benchmark: &Benchmark, table: &Table, path: &Path) -> Result<(), Failure> {
    let mut out = Output::create(path)?;
    for row in 0..table.len() {
        let value = benchmark.shown(table.cell(0, row));
        out.write(format!("{} {value}\n", table.id(row)).as_bytes())?;
    }
    Ok(out.commit()?)
}

/// The graph, partitioned as algorithms need it.
struct PartitionedGraph {
    graph: Graph,
    plan: Plan,
    /// For every fit that was needed so far: the partitions of all hosts, and the seconds it took.
    parts: Vec<(Fit, Vec<Partition>, f64)>,
}

/// The graph and the hosts.
struct Hosts {
    graph: PartitionedGraph,
    cluster: Cluster,
}

/// The run of one algorithm.
struct AlgorithmRun {
    finished: TaskOutcome,
    table: Table,
    partition_seconds: f64,
}

impl Hosts {
    fn run(
        &mut self,
        algorithm: &'static dyn Algorithm,
        case: &Case,
        verify: bool,
        watch: &Watch,
    ) -> Result<AlgorithmRun, Failure> {
        // One algorithm ignores weights that another uses: with weights, both share a partition.
        let fit = Fit { weights: true, ..algorithm.needs(&case.options).fit() };
        let (parts, partition_seconds) = self.graph.parts(fit, &mut self.cluster, watch)?;
        let options = &case.options;
        let task = Task {
            algorithm,
            options,
            optimize: Optimize::ALL,
            schedule: Schedule::default(),
            verify,
        };
        let outcomes = self.cluster.launch(|net| -> Result<_, Failure> {
            let part = &parts[net.host().index()];
            let mut finished = task.on_host(net, part, None, &mut ())?;
            let rows = TablePart::of(net, part, &mut finished.answer)?;
            Ok((finished, rows))
        })?;
        let (mut finished, parts): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
        // All hosts give the same account.
        let finished = finished.swap_remove(0);
        Ok(AlgorithmRun { finished, table: Table::new(parts), partition_seconds })
    }
}

impl PartitionedGraph {
    /// The partitions for this fit, built when they are first needed.
    fn parts(
        &mut self,
        fit: Fit,
        cluster: &mut Cluster,
        watch: &Watch,
    ) -> Result<(&[Partition], f64), Failure> {
        if !self.parts.iter().any(|(known, ..)| *known == fit) {
            let input = Input::from(self.graph.clone()).fitted(fit);
            let source = PartitionSource::Build(&input, self.plan.clone());
            let built = cluster.launch(|net| source.on_host(net, &Silent))?;
            let (parts, seconds): (Vec<_>, Vec<f64>) = built.into_iter().unzip();
            let changes = parts.iter().flat_map(Partition::changes);
            changes.for_each(|change| watch.note(change));
            self.parts.push((fit, parts, seconds.into_iter().fold(0.0, f64::max)));
        }
        let known = self.parts.iter().find(|(known, ..)| *known == fit);
        let (_, parts, seconds) = known.ok_or_else(|| Failure::bug("parts that were not cut"))?;
        Ok((parts, *seconds))
    }
}

/// One algorithm of a data set.
struct Row {
    case: Case,
    /// `None` if the algorithm could not be run.
    run: Option<AlgorithmRun>,
    /// The name of its output.
    file: String,
    reference: Option<PathBuf>,
    /// The difference from the reference, if there is one.
    difference: Option<Difference>,
}

impl Row {
    /// True if the output is right, `None` if that is not known.
    fn passed(&self) -> Option<bool> {
        let proved = self.run.as_ref().map(|run| run.finished.verdict.is_right());
        match (proved, &self.difference) {
            (None, _) | (Some(Some(false)), _) => Some(false),
            (_, Some(difference)) => Some(difference.vertices == 0),
            (Some(proved), None) => proved,
        }
    }

    /// The verdict in words.
    fn verdict(&self) -> String {
        let Some(run) = &self.run else {
            return "not run: there is no such algorithm".into();
        };
        let mut verdict = match &self.difference {
            None => format!("no reference {}", self.file),
            Some(Difference { first: None, .. }) => "matches".into(),
            Some(Difference { vertices, first: Some(first) }) => {
                let plural = if *vertices == 1 { "vertex" } else { "vertices" };
                format!("DIFFERS in {} {plural}; {first}", show::count(*vertices))
            }
        };
        match &run.finished.verdict {
            Verdict::NotAsked => {}
            Verdict::Right => verdict += ", proved",
            Verdict::Wrong(complaint) => verdict += &format!(", WRONG: {complaint}"),
        }
        verdict
    }
}

/// The failure of the command, if an output is wrong.
fn failure(rows: &[Row]) -> Option<Failure> {
    let failed = rows.iter().filter(|row| row.passed() == Some(false));
    let failed: Vec<_> = failed.map(|row| format!("{}: {}", row.file, row.verdict())).collect();
    (!failed.is_empty()).then(|| Failure::bug(failed.join("; ")))
}

/// The results of all algorithms.
struct Results<'r> {
    request: &'r Graphalytics,
    data: &'r Parameters,
    /// Vertices and edges.
    size: (u64, u64),
    threads: usize,
    policy: &'r str,
    load_seconds: f64,
}

impl Results<'_> {
    fn as_text(&self, rows: &[Row]) -> String {
        let (vertices, edges) = self.size;
        let head = ["algorithm", "rounds", "seconds", "EVPS", "rule", "reference"];
        let row = |row: &Row| {
            let figures = match &row.run {
                None => ["-".to_owned(), "-".into(), "-".into()],
                Some(run) => {
                    let report = &run.finished.answer.report;
                    [
                        show::count(report.rounds.len() as u64),
                        format!("{:.3}", report.seconds),
                        format!("{:.2e}", self.evps(report.seconds)),
                    ]
                }
            };
            let [rounds, seconds, evps] = figures;
            let name = row.case.benchmark.acronym.to_uppercase();
            vec![name, rounds, seconds, evps, row.case.benchmark.rule.name().into(), row.verdict()]
        };
        let table: Vec<_> = rows.iter().map(row).collect();
        format!(
            "{}: {} vertices, {} edges, {}; {} × {}, {}; {:.3} s load\n{}",
            self.data.name(),
            show::count(vertices),
            show::count(edges),
            if self.is_directed() { "directed" } else { "undirected" },
            plural(self.request.hosts(), "host"),
            plural(self.threads, "thread"),
            self.policy,
            self.load_seconds,
            show::table_of(&[true, false, false, false, true, true], &head, &table)
        )
    }

    fn as_json(&self, rows: &[Row]) -> Value {
        let (vertices, edges) = self.size;
        let results: Vec<Value> = rows.iter().map(|row| self.row_as_json(row)).collect();
        json!({
            "data_set": self.data.name(),
            "graph": { "vertices": vertices, "edges": edges, "directed": self.is_directed() },
            "hosts": self.request.hosts(),
            "threads": self.threads,
            "policy": self.policy,
            "load_seconds": self.load_seconds,
            "results": results,
            "passed": rows.iter().all(|row| row.passed() != Some(false)),
        })
    }

    fn row_as_json(&self, row: &Row) -> Value {
        let path = |path: &Path| path.display().to_string();
        let output = self.request.output.as_ref().filter(|_| row.run.is_some());
        let mut result = json!({
            "algorithm": row.case.benchmark.acronym,
            "rule": row.case.benchmark.rule.name(),
            "output": output.map(|folder| path(&folder.join(&row.file))),
            "reference": row.reference.as_deref().map(path),
            "matches": row.difference.as_ref().map(|difference| difference.vertices == 0),
            "differs": row.difference.as_ref().map(|difference| difference.vertices),
            "verdict": row.verdict(),
        });
        if let Some(run) = &row.run {
            let report = &run.finished.answer.report;
            result["rounds"] = report.rounds.len().into();
            result["seconds"] = json!({
                "partition": run.partition_seconds,
                "setup": run.finished.setup_seconds,
                "run": report.seconds,
            });
            result["evps"] = self.evps(report.seconds).into();
            result["bytes"] = task::bytes_as_json(&report.sent());
            result["verified"] = run.finished.verdict.is_right().into();
        }
        result
    }

    /// Edges and vertices per second.
    fn evps(&self, seconds: f64) -> f64 {
        (self.size.0 + self.size.1) as f64 / seconds.max(1e-9)
    }

    fn is_directed(&self) -> bool {
        self.data.get("directed") == Some("true")
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
