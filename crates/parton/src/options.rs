//! Options that some algorithms know and others do not, and the names users choose from.

use clap::Args;
use clap::builder::PossibleValuesParser;
use parton::algorithms::{self, Algorithm, Dangling, Formulation, Options, Root};
use parton::engine::engines::{self, Kind};
use parton::engine::{Pace, Pacing};
use parton::sync::Optimize;

use crate::exit::Failure;
use crate::job::AUTO;

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
}

/// When hosts wait for each other.
#[derive(Args, Clone)]
pub(crate) struct Paced {
    /// When hosts wait for each other: in every round, never, or as it shows to be better
    #[arg(long, value_name = "NAME", default_value = Pace::default().name(), value_parser = paces())]
    pace: String,

    /// Whether hosts that need not wait do so a little where that promises to save work
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    governor: String,
}

impl Paced {
    /// What was asked.
    pub(crate) fn pacing(&self) -> Pacing {
        let pace = Pace::by_name(&self.pace).unwrap_or_default();
        Pacing { pace, governed: self.governor == "on" }
    }
}

/// Names of paces.
fn paces() -> PossibleValuesParser {
    Pace::ALL.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().into()
}

fn parse_formulation(text: &str) -> Result<Formulation, String> {
    let all = [Formulation::Power, Formulation::Residual];
    let named = all.into_iter().find(|formulation| formulation_name(*formulation) == text);
    named.ok_or_else(|| "expected power or residual".into())
}

fn formulation_name(formulation: Formulation) -> &'static str {
    match formulation {
        Formulation::Power => "power",
        Formulation::Residual => "residual",
    }
}

const MAX_DEGREE: &str = "max-degree";

fn parse_dangling(text: &str) -> Result<Dangling, String> {
    let all = [Dangling::Redistribute, Dangling::Drop];
    let named = all.into_iter().find(|dangling| dangling_name(*dangling) == text);
    named.ok_or_else(|| "expected redistribute or drop".into())
}

fn dangling_name(dangling: Dangling) -> &'static str {
    match dangling {
        Dangling::Redistribute => "redistribute",
        Dangling::Drop => "drop",
    }
}

/// Names of algorithms.
pub(crate) fn algorithms() -> PossibleValuesParser {
    algorithms::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().into()
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
        let Own { root, tolerance, damping, dangling, unnormalized, formulation } = self;
        let given = [
            ("root", root.clone()),
            ("tolerance", tolerance.map(|change| change.to_string())),
            ("damping", damping.map(|share| share.to_string())),
            ("dangling", dangling.map(|dangling| dangling_name(dangling).into())),
            ("unnormalized", unnormalized.then(|| "yes".into())),
            ("formulation", formulation.map(|method| formulation_name(method).into())),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
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

    /// Everything asked of an algorithm, if it makes sense for it.
    pub(crate) fn options(
        &self,
        algorithm: &dyn Algorithm,
        engine: &str,
        pacing: Pacing,
        max_rounds: Option<u64>,
    ) -> Result<Options, Failure> {
        let Own { root, tolerance, damping, dangling, unnormalized, formulation } = self;
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
        };
        algorithms::check_request(algorithm, &options)?;
        Ok(options)
    }
}

/// Options as users write them.
pub(crate) fn spelled(names: &[&str]) -> String {
    names.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(", ")
}
