//! `parton bench`: algorithms × graphs × engines × hosts, measured in turns; and what changed
//! between two such measurements.
//!
//! Every configuration is measured twice: from the file to the answer, and in its rounds alone.
//!
//! One host is always measured, too, with the engines asked for and with the one that suits: several
//! hosts are a gain only if they are faster than that.

mod compare;
mod measure;
mod results;
mod samples;
mod whole;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithms::{self, Algorithm, Options};
use crate::engine::Pacing;
use crate::graph::save::Output;
use crate::partition::saved::Manifest;
use crate::partition::{Fit, Plan};
use clap::Args;

use crate::cli::device_arguments::DeviceArguments;
use crate::cli::exit::Failure;
use crate::cli::graph_arguments::{ChangeArguments, GraphArguments, ReadArguments};
use crate::cli::options::{self, OwnArguments};
use crate::cli::task::AUTO;
use crate::cli::team::Team;
use crate::cli::watch::Watch;
use crate::cli::{Context, parse_hosts};
use crate::defaults::threads_per_host;
use measure::{Case, Measurement};
use results::Results;

/// Measure algorithms on graphs, by engines and numbers of hosts; or compare two measurements.
#[derive(Args)]
pub(crate) struct Bench {
    /// Graphs: files, folders or generators such as rmat:18
    #[arg(required_unless_present = "against", value_name = "GRAPH")]
    graphs: Vec<String>,

    /// What to compute [default: all that run on any graph]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    algorithms: Vec<String>,

    /// Engines; if there are several, those that cannot run an algorithm are left out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = AUTO)]
    engines: Vec<String>,

    /// Numbers of hosts, all in this process; 1 is always measured, too
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", value_parser = parse_hosts)]
    hosts: Vec<NonZeroU16>,

    #[command(flatten)]
    devices: DeviceArguments,

    /// How to cut the graphs (see `parton list`)
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    policy: String,

    /// How often each is measured: from the file to the answer (`whole`), and in its rounds alone
    /// (`best` and what follows); all take turns
    #[arg(long, value_name = "N", default_value = "3")]
    repetitions: NonZeroUsize,

    /// Stop every run after N rounds, even if values are not final
    #[arg(long, value_name = "N")]
    max_rounds: Option<u64>,

    /// Check the certificate of every answer once, outside the time that is measured
    #[arg(long)]
    verify: bool,

    /// Write all samples as JSON
    #[arg(long, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// Draw the best times, alone or in a page with the table
    #[arg(long, value_name = "FILE.svg|FILE.html")]
    plot: Option<PathBuf>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// Measure nothing; say what changed between two files that --output wrote
    #[arg(long, num_args = 2, value_names = ["OLD.json", "NEW.json"], conflicts_with_all = [
        "graphs", "algorithms", "engines", "hosts", "policy", "repetitions", "max_rounds",
        "verify", "output", "plot", "DeviceArguments", "Own", "ReadArguments", "ChangeArguments",
    ])]
    against: Option<Vec<PathBuf>>,

    #[command(flatten)]
    own: OwnArguments,

    #[command(flatten)]
    reading: ReadArguments,

    // Last, because its help headings apply to all arguments after them.
    #[command(flatten)]
    cleaning: ChangeArguments,
}

/// How to draw a plot, by the ending of its file.
type Drawing = fn(&Results) -> String;

impl Bench {
    /// True if threads of the processor compute for all hosts.
    pub(crate) fn computes_on_threads(&self) -> bool {
        self.devices.are_threads()
    }

    /// The largest number of hosts.
    pub(crate) fn most_hosts(&self) -> usize {
        self.hosts.iter().map(|hosts| hosts.get().into()).max().unwrap_or(1)
    }

    pub(crate) fn run(self, context: &Context<'_>, team: &Team) -> Result<String, Failure> {
        let watch = context.watch;
        if let Some([old, new]) = self.against.as_deref() {
            return compare::compare(old, new, self.json);
        }
        let drawing = self.plot.as_deref().map(drawing).transpose()?;
        for path in [&self.output, &self.plot].into_iter().flatten() {
            Output::check(path)?;
        }
        self.devices.check(self.most_hosts())?;
        let cases = self.cases(context)?;
        for case in &cases {
            let host_weights = self.devices.given_weights().filter(|_| case.hosts > 1);
            Plan { host_weights, ..Plan::new(case.policy(&self.policy)) }.check(case.hosts)?;
        }
        let inputs = self.inputs()?;
        let repetitions = self.repetitions.get();
        let measure = Measurement {
            cases: &cases,
            policy: &self.policy,
            host_weights: self.devices.host_weights(),
            repetitions,
            verify: self.verify,
            team,
            watch,
        };
        let mut rows = Vec::new();
        for input in &inputs {
            let (graph, cases) = (&input.graph, cases.len());
            watch.note(&format!("{graph}: {cases} configurations × {repetitions} …"));
            rows.extend(measure.graph(input)?);
        }
        let results = Results { repetitions, options: self.given(), rows };
        if let Some(path) = &self.output {
            write(path, &format!("{:#}\n", watch.signed(results.as_json())), watch)?;
        }
        if let (Some(path), Some(drawing)) = (&self.plot, drawing) {
            write(path, &drawing(&results), watch)?;
        }
        Ok(match self.json {
            true => format!("{:#}\n", watch.signed(results.as_json())),
            false => results.as_text(),
        })
    }

    /// All configurations, in the order they take turns.
    fn cases(&self, context: &Context<'_>) -> Result<Vec<Case>, Failure> {
        let algorithms: Vec<&'static dyn Algorithm> = match &unique(&self.algorithms)[..] {
            [] => context.on_any_graph(),
            names => names.iter().map(|name| context.algorithm(name)).collect::<Result<_, _>>()?,
        };
        let algorithms = self.on_devices(algorithms, context.watch)?;
        self.own.check(&algorithms)?;
        if let Some((name, _)) = algorithms.iter().find_map(|a| self.own.graphs(*a).next()) {
            return Err(Failure::usage(options::spelled(&format!(
                "`{name}`: benchmarks read no graph beside the one that is measured"
            ))));
        }
        let engines = unique(&self.engines);
        let mut devices = Vec::new();
        for hosts in self.numbers_of_hosts() {
            let opened = self.devices.open_first(hosts, self.max_rounds.is_some())?;
            devices.push((hosts, Arc::new(opened)));
        }
        let mut cases = Vec::new();
        for algorithm in algorithms {
            let mut fit = Vec::new();
            for engine in &engines {
                match self.own.options(algorithm, engine, Pacing::default(), self.max_rounds) {
                    Ok(options) => {
                        self.devices.check_algorithm(algorithm, &options)?;
                        fit.push((engine.clone(), options));
                    }
                    Err(unfit) if engines.len() > 1 && !fits(engine, algorithm) => {
                        context.watch.note(&format!("left out: {unfit}"));
                    }
                    Err(failure) => return Err(failure),
                }
            }
            for (hosts, devices) in &devices {
                let (hosts, mut engines) = (*hosts, fit.clone());
                if hosts == 1 && self.most_hosts() > 1 && !fit.is_empty() {
                    // Several hosts with a slow engine must not look good beside one with the same.
                    let suits =
                        self.own.options(algorithm, AUTO, Pacing::default(), self.max_rounds)?;
                    if !engines.iter().any(|(engine, _)| engine == AUTO) {
                        engines.insert(0, (AUTO.into(), suits));
                    }
                }
                let threads =
                    threads_per_host(context.threads, devices.hosts_that_need_threads(hosts));
                for (engine, options) in engines {
                    let options = self.own.measured(algorithm, options)?;
                    // One algorithm may ignore weights that the next one uses.
                    let fit = Fit { weights: true, ..self.cleaning.fit(algorithm, &options)? };
                    // `auto` takes no device for what no device runs.
                    let on_devices = algorithms::check_devices(algorithm, &options).is_ok();
                    let devices = if on_devices { devices.clone() } else { Arc::default() };
                    cases.push(Case { algorithm, engine, options, fit, hosts, threads, devices });
                }
            }
        }
        match cases.is_empty() {
            true => Err(Failure::usage("none of these engines can run any of these algorithms")),
            false => Ok(cases),
        }
    }

    /// Numbers of hosts, ascending. One host is always among them.
    fn numbers_of_hosts(&self) -> BTreeSet<usize> {
        self.hosts.iter().map(|hosts| hosts.get().into()).chain([1]).collect()
    }

    /// The algorithms that devices run, where devices are asked for. Those that were named must be.
    fn on_devices(
        &self,
        algorithms: Vec<&'static dyn Algorithm>,
        watch: &Watch,
    ) -> Result<Vec<&'static dyn Algorithm>, Failure> {
        let mut run = Vec::new();
        for algorithm in algorithms {
            match self.devices.check_algorithm(algorithm, &Options::default()) {
                Ok(()) => run.push(algorithm),
                Err(unfit) if self.algorithms.is_empty() => {
                    watch.note(&format!("left out: {unfit}"));
                }
                Err(unfit) => return Err(unfit),
            }
        }
        Ok(run)
    }

    fn inputs(&self) -> Result<Vec<GraphArguments>, Failure> {
        let graphs = unique(&self.graphs).into_iter();
        let input = |graph: String| {
            if Manifest::find(Path::new(&graph))?.is_some() {
                return Err(Failure::usage(format!(
                    "{graph}: a saved partition has its hosts already; name the graph it is of"
                )));
            }
            let (reading, cleaning) = (self.reading.clone(), self.cleaning.clone());
            let graph = OsString::from(graph).into();
            Ok(GraphArguments { graph, reading, cleaning })
        };
        graphs.map(input).collect()
    }

    /// Arguments that change what is measured and are no columns of the table.
    fn given(&self) -> Vec<(String, String)> {
        let mut given = self.own.given();
        given.extend(self.max_rounds.map(|rounds| ("max-rounds".into(), rounds.to_string())));
        given.extend(self.devices.given());
        given.extend(self.cleaning.weights_given().map(|weights| ("weights".into(), weights)));
        given
    }
}

fn fits(engine: &str, algorithm: &dyn Algorithm) -> bool {
    engine == AUTO || algorithm.engines().iter().any(|known| known.name == engine)
}

/// Names without duplicates, in their order.
fn unique(names: &[String]) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.contains(name) {
            unique.push(name.clone());
        }
    }
    unique
}

fn drawing(path: &Path) -> Result<Drawing, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Results::as_svg),
        Some("html") => Ok(Results::as_page),
        _ => Err(Failure::usage(format!(
            "--plot: expected a name that ends in .svg or .html, found {}",
            path.display()
        ))),
    }
}

fn write(path: &Path, text: &str, watch: &Watch) -> Result<(), Failure> {
    let mut file = Output::create(path)?;
    file.write(text.as_bytes())?;
    file.commit()?;
    watch.note(&format!("wrote {}", path.display()));
    Ok(())
}
