//! The six algorithms of LDBC Graphalytics: their names in Parton, their parameters in a data set,
//! and the form and rule of their outputs.

use crate::algorithms::bfs::BfsOptions;
use crate::algorithms::pagerank::{PageRankOptions, Precision};
use crate::algorithms::sssp::SsspOptions;
use crate::algorithms::{self, Algorithm, Options, Root};
use crate::graph::Result;
use crate::graph::formats::graphalytics::Parameters;
use crate::output::Cell;

use crate::cli::Context;
use crate::cli::exit::Failure;

/// When an output agrees with a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The same numbers.
    Exact,
    /// Real numbers that are about the same.
    Epsilon,
    /// The same partition of the vertices, under any labels.
    Equivalence,
}

impl Rule {
    /// What Graphalytics calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Rule::Exact => "exact",
            Rule::Epsilon => "epsilon",
            Rule::Equivalence => "equivalence",
        }
    }
}

/// One of the six algorithms.
pub(super) struct Benchmark {
    /// Its name in data sets. Its output is called `NAME-` and this in capitals.
    pub(super) acronym: &'static str,
    /// Its name in Parton.
    algorithm: &'static str,
    pub(super) rule: Rule,
    /// The text for a vertex out of reach.
    out_of_reach: &'static str,
    /// Its options, as a data set gives them.
    parameters: fn(&Parameters) -> Result<Options>,
}

/// All of them.
pub(super) const ALL: &[Benchmark] = &[
    Benchmark {
        acronym: "bfs",
        algorithm: "bfs",
        rule: Rule::Exact,
        out_of_reach: "9223372036854775807",
        parameters: |data| {
            let root = Root::Original(data.need("bfs.source-vertex")?.into());
            Ok(Options::default().with(BfsOptions { root }))
        },
    },
    Benchmark {
        acronym: "pr",
        algorithm: "pagerank",
        rule: Rule::Epsilon,
        out_of_reach: "",
        parameters: |data| {
            let rounds = needed(data, "pr.num-iterations")?;
            let usual = PageRankOptions::default();
            let damping = data.number("pr.damping-factor")?.unwrap_or(usual.damping);
            // A number of rounds, final or not, in double precision.
            let (tolerance, precision) = (0.0, Precision::Double);
            let own = PageRankOptions { damping, tolerance, precision, ..usual };
            Ok(Options { max_rounds: Some(rounds), ..Options::default() }.with(own))
        },
    },
    Benchmark {
        acronym: "wcc",
        algorithm: "components",
        rule: Rule::Equivalence,
        out_of_reach: "",
        parameters: |_| Ok(Options::default()),
    },
    Benchmark {
        acronym: "cdlp",
        algorithm: "label-propagation",
        rule: Rule::Exact,
        out_of_reach: "",
        parameters: |data| {
            let rounds = needed(data, "cdlp.max-iterations")?;
            Ok(Options { max_rounds: Some(rounds), ..Options::default() })
        },
    },
    Benchmark {
        acronym: "lcc",
        algorithm: "lcc",
        rule: Rule::Epsilon,
        out_of_reach: "",
        parameters: |_| Ok(Options::default()),
    },
    Benchmark {
        acronym: "sssp",
        algorithm: "sssp",
        rule: Rule::Epsilon,
        out_of_reach: "Infinity",
        parameters: |data| {
            data.need("sssp.weight-property")?;
            let root = Root::Original(data.need("sssp.source-vertex")?.into());
            Ok(Options::default().with(SsspOptions { root, ..SsspOptions::default() }))
        },
    },
];

fn needed(data: &Parameters, key: &str) -> Result<u64> {
    data.need(key)?;
    Ok(data.number(key)?.unwrap_or_default())
}

/// An algorithm with the options of a data set.
pub(super) struct Case {
    pub(super) benchmark: &'static Benchmark,
    /// `None` if the command does not offer it.
    pub(super) algorithm: Option<&'static dyn Algorithm>,
    pub(super) options: Options,
}

impl Case {
    /// The algorithms of a data set, in its order; only those `wanted`, if there are any.
    pub(super) fn all(
        data: &Parameters,
        wanted: &[String],
        context: &Context<'_>,
    ) -> Result<Vec<Case>, Failure> {
        const LIST: &str = "algorithms";
        let listed: Vec<String> = match data.get(LIST) {
            Some(list) => list.split(',').map(|name| name.trim().to_lowercase()).collect(),
            None => {
                ALL.iter().filter(|b| b.has_parameters(data)).map(|b| b.acronym.into()).collect()
            }
        };
        if let Some(missing) = wanted.iter().find(|name| !listed.contains(name)) {
            return Err(Failure::usage(format!(
                "--algorithms: {missing} is not for this data set, which is for {}",
                listed.join(", ")
            )));
        }
        let chosen = listed.iter().filter(|name| wanted.is_empty() || wanted.contains(name));
        let case = |name: &String| {
            let known = ALL.iter().find(|benchmark| benchmark.acronym == name);
            let benchmark = known.ok_or_else(|| {
                let known: Vec<_> = ALL.iter().map(|benchmark| benchmark.acronym).collect();
                data.error(LIST, format!("unknown '{name}': known are {}", known.join(", ")))
            })?;
            let options = (benchmark.parameters)(data)?;
            let algorithm = context.algorithm(benchmark.algorithm).ok();
            if let Some(algorithm) = algorithm {
                algorithms::check_request(algorithm, &options)?;
            }
            Ok(Case { benchmark, algorithm, options })
        };
        chosen.map(case).collect()
    }
}

impl Benchmark {
    /// True if a data set has all parameters it needs.
    fn has_parameters(&self, data: &Parameters) -> bool {
        (self.parameters)(data).is_ok()
    }

    /// The name of its output.
    pub(super) fn file(&self, data_set: &str) -> String {
        format!("{data_set}-{}", self.acronym.to_uppercase())
    }

    /// A value in the form of outputs.
    pub(super) fn shown(&self, cell: Cell<'_>) -> String {
        match cell {
            Cell::None => self.out_of_reach.into(),
            Cell::Integer(value) => value.to_string(),
            Cell::Real(value) => scientific(value),
            Cell::Vertex(id) => id.to_string(),
            Cell::Vector(_) => unreachable!("none of the six has vectors"),
        }
    }
}

/// A real number with sixteen digits and an exponent of at least two, as the references have it.
fn scientific(value: f64) -> String {
    let text = format!("{value:.15e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_look_as_in_the_references() {
        assert_eq!(scientific(0.0), "0.000000000000000e+00");
        assert_eq!(scientific(260.0), "2.600000000000000e+02");
        assert_eq!(scientific(2.0 / 3.0), "6.666666666666666e-01");
        assert_eq!(scientific(1e-120), "1.000000000000000e-120");
    }

    #[test]
    fn names_of_outputs_are_in_capitals() {
        let files: Vec<_> = ALL.iter().map(|benchmark| benchmark.file("x")).collect();
        assert_eq!(files, ["x-BFS", "x-PR", "x-WCC", "x-CDLP", "x-LCC", "x-SSSP"]);
    }
}
