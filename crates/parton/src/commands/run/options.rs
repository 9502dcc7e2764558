//! Options that some algorithms know and others do not.

use clap::Args;
use clap::builder::PossibleValuesParser;
use parton::algorithms::{self, Algorithm, Dangling, Options, Root};
use parton::engine::engines::{self, Kind};
use parton::sync::Optimize;

use super::AUTO;
use crate::exit::Failure;

/// What only some algorithms know.
#[derive(Args)]
#[command(next_help_heading = "Algorithm's own (see `parton list`)")]
pub(super) struct Own {
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
}

const MAX_DEGREE: &str = "max-degree";

fn parse_dangling(text: &str) -> Result<Dangling, String> {
    match text {
        "redistribute" => Ok(Dangling::Redistribute),
        "drop" => Ok(Dangling::Drop),
        _ => Err("expected redistribute or drop".into()),
    }
}

/// Names of algorithms.
pub(super) fn algorithms() -> PossibleValuesParser {
    algorithms::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().into()
}

/// Names of engines.
pub(super) fn engines() -> PossibleValuesParser {
    let all = engines::ALL.iter().map(|(_, name, _)| *name);
    std::iter::once(AUTO).chain(all).collect::<Vec<_>>().into()
}

/// Names of optimisations.
pub(super) fn optimizations() -> PossibleValuesParser {
    Optimize::NAMES.map(|(name, _)| name).into()
}

impl Own {
    /// Everything asked of an algorithm, if it makes sense for it.
    pub(super) fn options(
        &self,
        algorithm: &dyn Algorithm,
        engine: &str,
        max_rounds: Option<u64>,
    ) -> Result<Options, Failure> {
        let Own { root, tolerance, damping, dangling, unnormalized } = self;
        let given = [
            ("root", root.is_some()),
            ("tolerance", tolerance.is_some()),
            ("damping", damping.is_some()),
            ("dangling", dangling.is_some()),
            ("unnormalized", *unnormalized),
        ];
        let known = algorithm.options();
        let stranger = given.iter().find(|(name, given)| *given && !known.contains(name));
        if let Some((name, _)) = stranger {
            let known = match known {
                [] => "has no options of its own".into(),
                _ => format!("knows {}", spelled(known)),
            };
            let algorithm = algorithm.name();
            return Err(Failure::usage(format!(
                "--{name} means nothing to {algorithm}: it {known}"
            )));
        }
        let usual = Options::default();
        let options = Options {
            engine: Kind::by_name(engine),
            max_rounds,
            root: match root.as_deref() {
                None | Some(MAX_DEGREE) => Root::MaxDegree,
                Some(id) => Root::Original(id.into()),
            },
            tolerance: tolerance.unwrap_or(usual.tolerance),
            damping: damping.unwrap_or(usual.damping),
            dangling: dangling.unwrap_or(usual.dangling),
            unnormalized: *unnormalized,
        };
        algorithms::check_request(algorithm, &options)?;
        Ok(options)
    }
}

/// Options as users write them.
pub(crate) fn spelled(names: &[&str]) -> String {
    names.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(", ")
}
