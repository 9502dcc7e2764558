//! Options of single algorithms, and the names that users choose from.

use crate::algorithms::options::{Given, OptionSpec, Takes};
use crate::algorithms::{self, Algorithm, Options};
use crate::engine::{Pace, Pacing};
use crate::sync::Optimize;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches, Id};

use crate::cli::exit::Failure;
use crate::cli::task::AUTO;

/// The options of algorithms that a user has given, as texts under their names in Rust. What there
/// is to give is what algorithms declare: see [`for_algorithms`].
#[derive(Default)]
pub(crate) struct OwnArguments {
    given: Vec<(String, String)>,
}

/// The group of all options of algorithms, named like groups that clap makes of structs.
const OWN: &str = "Own";

/// A command that takes the names, engines and options of these algorithms. Its help shows the options of those that
/// are `shown`.
pub(crate) fn for_algorithms(
    command: Command,
    algorithms: &[&dyn Algorithm],
    shown: &[&dyn Algorithm],
) -> Command {
    let name = |algorithm: &&dyn Algorithm| {
        PossibleValue::new(algorithm.name()).aliases(algorithm.aliases())
    };
    let names: Vec<_> = algorithms.iter().map(name).collect();
    let known = algorithms::engines(algorithms).into_iter().map(|engine| engine.name);
    let engines: Vec<_> = std::iter::once(AUTO).chain(known).collect();
    let choosing = |argument: Arg| match argument.get_id().as_str() {
        "algorithm" | "algorithms" => {
            argument.value_parser(PossibleValuesParser::new(names.clone()))
        }
        "engine" | "engines" => argument.value_parser(PossibleValuesParser::new(engines.clone())),
        _ => argument,
    };
    let mut specs: Vec<OptionSpec> = Vec::new();
    for spec in algorithms.iter().flat_map(|algorithm| algorithm.options().specs()) {
        if !specs.iter().any(|known| known.name == spec.name) {
            specs.push(spec);
        }
    }
    let group = ArgGroup::new(OWN).multiple(true).args(specs.iter().map(|spec| spec.name));
    // Not `mut_arg`, which would move a positional argument behind the others.
    let is_shown = |spec: &OptionSpec| {
        let mut shown = shown.iter().flat_map(|algorithm| algorithm.options().specs());
        shown.any(|shown| shown.name == spec.name)
    };
    let own = specs.into_iter().map(|spec| {
        let is_hidden = !is_shown(&spec);
        argument(spec).hide(is_hidden)
    });
    command.mut_args(choosing).args(own).group(group)
}

fn argument(spec: OptionSpec) -> Arg {
    let mut help = spelled(spec.help);
    if let Some(default) = spec.default_text() {
        help += &format!(" [default: {}]", spelled(default));
    }
    let argument =
        Arg::new(spec.name).long(dashed(spec.name)).help(help).help_heading("Algorithm's own");
    match spec.takes {
        Takes::Nothing => argument.action(ArgAction::SetTrue),
        Takes::Text => argument.value_name(spec.value_name).value_parser(spec.normalized),
        Takes::Graph => argument.value_name(spec.value_name),
    }
}

impl Args for OwnArguments {
    /// Adds nothing: [`for_algorithms`] does, which knows the algorithms.
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for OwnArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let names = matches.get_many::<Id>(OWN).into_iter().flatten().map(Id::as_str);
        let given = names.map(|name| {
            let text = match matches.try_get_one::<String>(name) {
                Ok(Some(text)) => text.clone(),
                // A flag has no text.
                _ => "yes".into(),
            };
            (name.to_owned(), text)
        });
        Ok(OwnArguments { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// When hosts wait for each other.
#[derive(Args, Clone)]
pub(crate) struct PaceArguments {
    /// When hosts wait for each other. bsp: in every round. basp: only until a host proves slow or
    /// rounds are many; an error if the algorithm needs rounds. auto: basp if the algorithm allows it
    #[arg(long, value_name = "NAME", default_value = Pace::default().name(), value_parser = paces())]
    pace: String,

    /// With basp, whether hosts begin in rounds, wait a little later on, and spread their best labels
    /// first, where that promises to save work
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    governor: String,
}

impl PaceArguments {
    /// The pacing asked for.
    pub(crate) fn pacing(&self) -> Pacing {
        let pace = Pace::by_name(&self.pace).unwrap_or_default();
        Pacing { governed: self.governor == "on", ..pace.into() }
    }
}

/// Names of paces.
fn paces() -> PossibleValuesParser {
    Pace::ALL.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().into()
}

/// Names of optimisations.
pub(crate) fn optimizations() -> PossibleValuesParser {
    Optimize::NAMES.map(|(name, _)| name).into()
}

impl OwnArguments {
    /// What was asked, by the names that users write.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        self.given.iter().map(|(name, text)| (dashed(name), text.clone())).collect()
    }

    /// Refuses an option that none of these algorithms knows.
    pub(crate) fn check(&self, algorithms: &[&dyn Algorithm]) -> Result<(), Failure> {
        let knows = |name: &str| {
            let mut specs = algorithms.iter().flat_map(|algorithm| algorithm.options().specs());
            specs.any(|spec| spec.name == name)
        };
        let Some((name, _)) = self.given.iter().find(|(name, _)| !knows(name)) else {
            return Ok(());
        };
        let known = algorithms.iter().map(|algorithm| {
            let subject = if algorithms.len() == 1 { "it" } else { algorithm.name() };
            match &own_options(*algorithm)[..] {
                "" => format!("{subject} has no options of its own"),
                known => format!("{subject} knows {known}"),
            }
        });
        let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
        Err(Failure::usage(format!(
            "--{} means nothing to {}: {}",
            dashed(name),
            names.join(", "),
            known.collect::<Vec<_>>().join("; ")
        )))
    }

    /// The options of this algorithm that a user has given, with their texts.
    fn given_to(&self, algorithm: &dyn Algorithm) -> impl Iterator<Item = (OptionSpec, &str)> {
        algorithm.options().specs().into_iter().filter_map(|spec| {
            let given = self.given.iter().find(|(name, _)| name == spec.name);
            given.map(|(_, text)| (spec, &text[..]))
        })
    }

    /// Options of this algorithm that are graphs beside the input, with their files. The caller
    /// reads these graphs and adds them to the options.
    pub(crate) fn graphs(
        &self,
        algorithm: &dyn Algorithm,
    ) -> impl Iterator<Item = (&'static str, &str)> {
        let graphs = self.given_to(algorithm).filter(|(spec, _)| spec.takes == Takes::Graph);
        graphs.map(|(spec, file)| (spec.name, file))
    }

    /// What was given for options of this algorithm that may be the name of a list.
    pub(crate) fn lists(&self, algorithm: &dyn Algorithm) -> impl Iterator<Item = &str> {
        let may_be_list =
            |spec: &OptionSpec| spec.takes == Takes::Text && spec.value_name.contains("FILE");
        self.given_to(algorithm).filter(move |(spec, _)| may_be_list(spec)).map(|(_, text)| text)
    }

    /// Everything asked of an algorithm but for graphs, if it makes sense for it.
    pub(crate) fn options(
        &self,
        algorithm: &dyn Algorithm,
        engine: &str,
        pacing: Pacing,
        max_rounds: Option<u64>,
    ) -> Result<Options, Failure> {
        let engine = match engine {
            AUTO => None,
            name => Some(algorithms::engine_by_name(algorithm, name)?),
        };
        let mut options = Options { engine, pacing, max_rounds, ..Options::default() };
        for (spec, text) in self.given_to(algorithm) {
            match spec.takes {
                Takes::Nothing => options.set(algorithm, spec.name, Given::Text("true"))?,
                Takes::Text => options.set(algorithm, spec.name, Given::Text(text))?,
                Takes::Graph => {}
            }
        }
        algorithms::check_request(algorithm, &options)?;
        Ok(options)
    }

    /// The same for measuring: what was not asked has the value that suits benchmarks.
    pub(crate) fn measured(
        &self,
        algorithm: &dyn Algorithm,
        mut options: Options,
    ) -> Result<Options, Failure> {
        for spec in algorithm.options().specs() {
            if let Some(value) = spec.measured
                && !self.given.iter().any(|(name, _)| name == spec.name)
            {
                options.set(algorithm, spec.name, Given::Text(value))?;
            }
        }
        Ok(options)
    }
}

/// The options that are an algorithm's own, as users write them.
pub(crate) fn own_options(algorithm: &dyn Algorithm) -> String {
    let specs = algorithm.options().specs();
    specs.iter().map(|spec| format!("--{}", dashed(spec.name))).collect::<Vec<_>>().join(", ")
}

/// The name of an option as users write it.
fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

/// A message of the libraries, which name options in backticks, with options as users type them.
pub(crate) fn spelled(message: &str) -> String {
    let is_option =
        |word: &str| !word.is_empty() && word.chars().all(|c| c == '_' || c.is_ascii_lowercase());
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('`') {
        text += before;
        rest = match after.split_once('`').filter(|(word, _)| is_option(word)) {
            Some((option, after)) => {
                text += &format!("--{}", dashed(option));
                after
            }
            None => {
                text.push('`');
                after
            }
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_in_messages_are_spelled() {
        for (message, expected) in [
            ("`width` 0: expected 1", "--width 0: expected 1"),
            ("lower `learning_rate` from 3", "lower --learning-rate from 3"),
            ("`graphalytics` and `seeds`", "--graphalytics and --seeds"),
            ("a single one: `ID,`, `k`", "a single one: `ID,`, --k"),
            ("nothing, ` or ``", "nothing, ` or ``"),
        ] {
            assert_eq!(spelled(message), expected);
        }
    }
}
