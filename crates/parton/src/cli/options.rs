//! Options that some algorithms know and others do not, and the names users choose from.

use std::fs;
use std::path::Path;

use crate::algorithms::{
    self, Algorithm, Dangling, Formulation, Options, Precision, Root, Sources,
};
use crate::engine::engines::{self, Kind};
use crate::engine::{Pace, Pacing};
use crate::sync::Optimize;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::cli::exit::Failure;
use crate::cli::task::AUTO;

/// What only some algorithms know.
#[derive(Args)]
#[command(next_help_heading = "Algorithm's own (see `parton list`)")]
pub(crate) struct Own {
    /// Where a search starts: an original id [default: max-degree, the vertex of most out-edges]
    #[arg(long, value_name = "max-degree|ID")]
    root: Option<String>,

    /// Ranks are final when all together change by no more than this [default: 1e-6]
    #[arg(long, value_name = "CHANGE")]
    tolerance: Option<f64>,

    /// How much of a rank is passed on [default: 0.85]
    #[arg(long, value_name = "SHARE")]
    damping: Option<f64>,

    /// What becomes of the rank of vertices without out-edges [default: redistribute]
    #[arg(long, value_name = "redistribute|drop", value_parser = parse_dangling)]
    dangling: Option<Dangling>,

    /// Ranks that are 1 on average instead of 1 in all
    #[arg(long)]
    unnormalized: bool,

    /// How ranks are found [default: power, but residual with --pace basp]
    #[arg(long, value_name = "power|residual", value_parser = parse_formulation)]
    formulation: Option<Formulation>,

    /// How exactly shares of ranks are kept and sent [default: auto, single where the difference
    /// is negligible]
    #[arg(long, value_name = "auto|single|double", value_parser = parse_precision)]
    precision: Option<Precision>,

    /// Width of the buckets of distances of engine delta [default: as suits weights and degrees]
    #[arg(long, value_name = "WIDTH")]
    delta: Option<f64>,

    /// Ranks after exactly --max-rounds rounds [default: 10], as LDBC Graphalytics defines them
    #[arg(long)]
    graphalytics: bool,

    /// Personalised ranks: the surfer starts again at these vertices only, and they share what is
    /// lost; original ids, or a file with one per line
    #[arg(long, value_name = "ID,…|FILE")]
    seeds: Option<String>,

    /// Where paths start: at all vertices, at N of most out-edges, at N drawn at random (then sums
    /// are scaled by vertices / N), or at original ids (a single one: `ID,`), also from a file with
    /// one per line [default: all]
    #[arg(long, value_name = "all|N|random:N[,SEED]|ID,…|FILE")]
    sources: Option<String>,

    /// Factors of every user and item [default: 20]
    #[arg(long, value_name = "N")]
    width: Option<usize>,

    /// How far factors go at a time [default: 0.01, less where ratings differ by much]
    #[arg(long, value_name = "STEP")]
    learning_rate: Option<f64>,

    /// What large factors cost [default: 0.1]
    #[arg(long, value_name = "COST")]
    regularization: Option<f64>,

    /// What is random follows from this [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Ratings to predict in the end, in a file that is read as the graph is
    #[arg(long, value_name = "FILE")]
    test: Option<String>,

    /// Which core: only say who is in it [default: the coreness of every vertex]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
}

/// When hosts wait for each other.
#[derive(Args, Clone)]
pub(crate) struct Paced {
    /// When hosts wait for each other: in every round, or only until it shows to be better not to
    /// (basp: an error where rounds are needed; auto: then in every round)
    #[arg(long, value_name = "NAME", default_value = Pace::default().name(), value_parser = paces())]
    pace: String,

    /// Whether hosts that need not wait do so where that promises to save work: in rounds at first, then
    /// a little; and spread their best labels first
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    governor: String,
}

impl Paced {
    /// What was asked.
    pub(crate) fn pacing(&self) -> Pacing {
        let pace = Pace::by_name(&self.pace).unwrap_or_default();
        Pacing { governed: self.governor == "on", ..pace.into() }
    }
}

/// Names of paces.
fn paces() -> PossibleValuesParser {
    Pace::ALL.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().into()
}

/// Sources of paths where nobody says how many to measure with.
const FEW_SOURCES: usize = 4;

const MAX_DEGREE: &str = "max-degree";

/// What options with a choice of names can mean.
const DANGLING: [(&str, Dangling); 2] =
    [("redistribute", Dangling::Redistribute), ("drop", Dangling::Drop)];
const FORMULATION: [(&str, Formulation); 2] =
    [("power", Formulation::Power), ("residual", Formulation::Residual)];
const PRECISION: [(&str, Precision); 3] =
    [("auto", Precision::Auto), ("single", Precision::Single), ("double", Precision::Double)];

fn parse_dangling(text: &str) -> Result<Dangling, String> {
    named(&DANGLING, text)
}

fn parse_formulation(text: &str) -> Result<Formulation, String> {
    named(&FORMULATION, text)
}

fn parse_precision(text: &str) -> Result<Precision, String> {
    named(&PRECISION, text)
}

fn named<T: Copy>(all: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = all.iter().find(|(name, _)| *name == text);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        format!("expected {}", names.join(" or "))
    })
}

fn name_of<T: PartialEq>(all: &[(&str, T)], meaning: T) -> String {
    let found = all.iter().find(|(_, known)| *known == meaning);
    found.map_or_else(String::new, |(name, _)| (*name).into())
}

/// Names of algorithms.
pub(crate) fn algorithm_names(algorithms: &[&dyn Algorithm]) -> PossibleValuesParser {
    algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().into()
}

/// Names of engines.
pub(crate) fn engines() -> PossibleValuesParser {
    let all = engines::ALL.iter().map(|(_, name, _)| *name);
    std::iter::once(AUTO).chain(all).collect::<Vec<_>>().into()
}

/// Names of optimisations.
pub(crate) fn optimizations() -> PossibleValuesParser {
    Optimize::NAMES.map(|(name, _)| name).into()
}

impl Own {
    /// What was asked, by the names that users write.
    pub(crate) fn given(&self) -> Vec<(&'static str, String)> {
        let Own { root, tolerance, damping, dangling, unnormalized, .. } = self;
        let Own { formulation, precision, delta, graphalytics, seeds, sources, .. } = self;
        let Own { width, learning_rate, regularization, seed, test, k, .. } = self;
        let given = [
            ("root", root.clone()),
            ("tolerance", tolerance.map(|change| change.to_string())),
            ("damping", damping.map(|share| share.to_string())),
            ("dangling", dangling.map(|dangling| name_of(&DANGLING, dangling))),
            ("unnormalized", unnormalized.then(|| "yes".into())),
            ("formulation", formulation.map(|method| name_of(&FORMULATION, method))),
            ("precision", precision.map(|precision| name_of(&PRECISION, precision))),
            ("delta", delta.map(|width| width.to_string())),
            ("graphalytics", graphalytics.then(|| "yes".into())),
            ("seeds", seeds.clone()),
            ("sources", sources.clone()),
            ("width", width.map(|width| width.to_string())),
            ("learning-rate", learning_rate.map(|step| step.to_string())),
            ("regularization", regularization.map(|cost| cost.to_string())),
            ("seed", seed.map(|seed| seed.to_string())),
            ("test", test.clone()),
            ("k", k.map(|k| k.to_string())),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The same for measuring: from a few sources, unless others were asked for. From all of them
    /// nobody would see the end of it.
    pub(crate) fn with_few_sources(&self, options: Options) -> Options {
        match self.sources {
            Some(_) => options,
            None => Options { sources: Sources::Largest(FEW_SOURCES), ..options },
        }
    }

    /// Refuses an option that none of these algorithms knows.
    pub(crate) fn check(&self, algorithms: &[&dyn Algorithm]) -> Result<(), Failure> {
        let knows = |name| algorithms.iter().any(|algorithm| algorithm.options().contains(&name));
        let Some((name, _)) = self.given().into_iter().find(|(name, _)| !knows(name)) else {
            return Ok(());
        };
        let known = algorithms.iter().map(|algorithm| {
            let subject = if algorithms.len() == 1 { "it" } else { algorithm.name() };
            match algorithm.options() {
                [] => format!("{subject} has no options of its own"),
                known => format!("{subject} knows {}", spelled(known)),
            }
        });
        let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
        Err(Failure::usage(format!(
            "--{name} means nothing to {}: {}",
            names.join(", "),
            known.collect::<Vec<_>>().join("; ")
        )))
    }

    /// The file of what is kept apart, if there is any: whoever can read files adds it to the
    /// options.
    pub(crate) fn test(&self) -> Option<&str> {
        self.test.as_deref()
    }

    /// Everything asked of an algorithm, if it makes sense for it.
    pub(crate) fn options(
        &self,
        algorithm: &dyn Algorithm,
        engine: &str,
        pacing: Pacing,
        max_rounds: Option<u64>,
    ) -> Result<Options, Failure> {
        let Own { root, tolerance, damping, dangling, unnormalized, .. } = self;
        let Own { formulation, precision, delta, graphalytics, seeds, sources, .. } = self;
        let Own { width, learning_rate, regularization, seed, k, .. } = self;
        let usual = Options::default();
        let options = Options {
            engine: Kind::by_name(engine),
            pacing,
            max_rounds,
            root: match root.as_deref() {
                None | Some(MAX_DEGREE) => Root::MaxDegree,
                Some(id) => Root::Original(id.into()),
            },
            tolerance: tolerance.unwrap_or(usual.tolerance),
            damping: damping.unwrap_or(usual.damping),
            dangling: dangling.unwrap_or(usual.dangling),
            unnormalized: *unnormalized,
            formulation: *formulation,
            precision: precision.unwrap_or(usual.precision),
            delta: *delta,
            graphalytics: *graphalytics,
            seeds: seeds.as_deref().map(|text| vertices("seeds", text)).transpose()?,
            sources: sources.as_deref().map_or(Ok(usual.sources), parse_sources)?,
            width: width.unwrap_or(usual.width),
            learning_rate: *learning_rate,
            regularization: regularization.unwrap_or(usual.regularization),
            seed: seed.unwrap_or(usual.seed),
            test: None,
            k: *k,
        };
        algorithms::check_request(algorithm, &options)?;
        Ok(options)
    }
}

/// Where paths start.
fn parse_sources(text: &str) -> Result<Sources, Failure> {
    if text == "all" {
        return Ok(Sources::All);
    }
    if let Some(rest) = text.strip_prefix("random:") {
        let (count, seed) = rest.split_once(',').unwrap_or((rest, "1"));
        return match (count.parse(), seed.parse()) {
            (Ok(count), Ok(seed)) => Ok(Sources::Random { count, seed }),
            _ => Err(Failure::usage(format!(
                "--sources {text}: expected random:N or random:N,SEED with whole numbers"
            ))),
        };
    }
    match text.parse() {
        Ok(count) => Ok(Sources::Largest(count)),
        Err(_) => vertices("sources", text).map(Sources::Listed),
    }
}

/// Original ids, as a list or in a file.
fn vertices(option: &str, text: &str) -> Result<Vec<String>, Failure> {
    let path = Path::new(text);
    if text.contains(',') || !path.is_file() {
        let ids = text.split(',').map(str::trim).filter(|id| !id.is_empty());
        return Ok(ids.map(str::to_owned).collect());
    }
    let lines = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("--{option} {text}: cannot read a vertex from each line: {error}"))
    })?;
    let lines = lines.lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect())
}

/// Options as users write them.
pub(crate) fn spelled(names: &[&str]) -> String {
    names.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(", ")
}
