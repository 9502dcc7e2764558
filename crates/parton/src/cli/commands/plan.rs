//! `parton plan`: what a run is going to need, and how many hosts it should have.

use std::num::NonZeroU16;

use clap::Args;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::algorithms::{Algorithm, Options};
use crate::cli::commands::partition::PlanArguments;
use crate::cli::exit::Failure;
use crate::cli::graph_arguments::GraphArguments;
use crate::cli::options::OwnArguments;
use crate::cli::task::AUTO;
use crate::cli::team::Team;
use crate::cli::{Context, parse_hosts};
use crate::cli::{memory, show};
use crate::defaults::{InputTraits, choose_policy, threads_per_host};
use crate::graph::memory::limits::MemoryLimit;
use crate::partition::{Fit, Survey, policies};
use crate::planning::{self, Advice, Candidate, Forecast, Planner, Range, Trial};

/// Say what a run is going to need: memory, bytes on the wire, time; and what to choose.
#[derive(Args)]
pub(crate) struct Plan {
    /// What to compute [default: all that run on any graph]
    #[arg(long, visible_alias = "algorithms", value_name = "NAME,…", value_delimiter = ',')]
    algorithm: Vec<String>,

    /// Numbers of hosts
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,2,4,8", value_parser = parse_hosts)]
    hosts: Vec<NonZeroU16>,

    /// How to cut the graph: policies, `all`, or `auto` for what `run` would choose
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = AUTO)]
    policy: Vec<String>,

    /// How each host goes through its edges; `auto` is what suits the algorithm
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    engine: String,

    /// Make the plan at once: nothing is computed, no times are said, and policies are compared by the values that
    /// hosts share
    #[arg(long)]
    no_trial: bool,

    #[command(flatten)]
    planning: PlanArguments,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    // Last, because its help headings apply to all arguments after them.
    #[command(flatten)]
    input: GraphArguments,
}

/// An input that was made to fit some algorithms.
struct Look {
    fit: Fit,
    survey: Survey,
    /// A smaller sample to try algorithms on, if they are tried.
    trial: Option<Survey>,
    traits: InputTraits,
}

/// One row of the plan.
struct Row {
    forecast: Forecast,
    trial: Option<Trial>,
    fits_here: bool,
    fits_machines: bool,
    /// True if the user asked for the policy; else it was only compared.
    is_shown: bool,
}

/// What is planned for one algorithm.
struct AlgorithmPlan {
    algorithm: &'static str,
    edges: f64,
    rows: Vec<Row>,
    advice: Option<Advice>,
}

impl Plan {
    pub(crate) fn run(self, context: &Context<'_>, team: &Team) -> Result<String, Failure> {
        let algorithms = self.algorithms(context)?;
        for name in self.policy.iter().filter(|name| !["all", AUTO].contains(&name.as_str())) {
            self.hosts.iter().try_for_each(|hosts| {
                self.planning.plan(name, None).check(usize::from(hosts.get()))
            })?;
        }
        let limit = memory::limits(1).least(0);
        let trials = algorithms.len() * self.trials_of_an_algorithm();
        let mut looks: Vec<Look> = Vec::new();
        let mut plans = Vec::new();
        for algorithm in algorithms {
            let own = OwnArguments::default();
            let options = own.options(algorithm, &self.engine, Default::default(), None)?;
            let options = own.measured(algorithm, options)?;
            let fit = self.input.fit(algorithm, &options)?;
            if !looks.iter().any(|look| look.fit == fit) {
                let input = self.input.open(fit, context.watch, team)?;
                context.watch.note(&format!("a look at {} …", self.input.graph));
                let trial =
                    (!self.no_trial).then(|| planning::trial_survey(&input, trials)).transpose()?;
                let (survey, traits) = (planning::survey(&input)?, InputTraits::of(&input));
                looks.push(Look { fit, survey, trial, traits });
            }
            let look = looks.iter().find(|look| look.fit == fit).expect("it has just been made");
            plans.push(self.plan(context, (algorithm, &options), look, limit)?);
        }
        let survey = &looks.first().expect("at least one algorithm").survey;
        Ok(match self.json {
            true => format!("{:#}\n", context.watch.signed(self.as_json(&plans, survey, limit))),
            false => self.as_text(&plans, survey, limit),
        })
    }

    fn algorithms(&self, context: &Context<'_>) -> Result<Vec<&'static dyn Algorithm>, Failure> {
        match self.algorithm.is_empty() {
            true => Ok(context.on_any_graph()),
            false => self.algorithm.iter().map(|name| context.algorithm(name)).collect(),
        }
    }

    /// Forecasts for all hosts and policies, and what to choose.
    fn plan(
        &self,
        context: &Context<'_>,
        (algorithm, options): (&'static dyn Algorithm, &Options),
        look: &Look,
        limit: Option<MemoryLimit>,
    ) -> Result<AlgorithmPlan, Failure> {
        let planner = Planner::new(algorithm.memory_use(), &look.survey);
        let mut rows = Vec::new();
        for hosts in self.hosts.iter().map(|hosts| usize::from(hosts.get())) {
            let threads = threads_per_host(context.threads, hosts);
            let suits = choose_policy(hosts, algorithm.access(options), look.traits).0;
            let asked = self.policies(suits);
            let plan = |policy: &str| self.planning.plan(policy, None);
            let policies = compared(&asked, hosts);
            let forecast = |policy: &&str| planner.forecast(&plan(policy), hosts, threads);
            let forecasts = policies.par_iter().map(forecast).collect::<Result<Vec<_>, _>>()?;
            // What samples are not fit for is planned without times.
            let trials = look.trial.as_ref().and_then(|sample| {
                let under = |policy: &&str| {
                    Trial::run(algorithm, options, sample, (&plan(policy), hosts, threads)).ok()
                };
                policies.iter().map(under).collect::<Option<Vec<_>>>()
            });
            let trials = trials.unwrap_or_default();
            let bytes = Trial::expected_bytes(&trials, &forecasts);
            for (at, (policy, forecast)) in policies.into_iter().zip(forecasts).enumerate() {
                let forecast = match bytes.get(at) {
                    Some(bytes) => forecast.with_bytes(*bytes),
                    None => forecast,
                };
                let trial = trials.get(at).cloned();
                let limit = limit.map(|limit| limit.bytes as f64);
                let (fits_here, fits_machines) = Candidate { forecast: &forecast, limit }.fits();
                let is_shown = asked.contains(&policy);
                rows.push(Row { forecast, trial, fits_here, fits_machines, is_shown });
            }
        }
        let candidates: Vec<_> = rows
            .iter()
            .map(|row| Candidate {
                forecast: &row.forecast,
                limit: limit.map(|limit| limit.bytes as f64),
            })
            .collect();
        let advice = planning::advise(&candidates);
        Ok(AlgorithmPlan { algorithm: algorithm.name(), edges: look.survey.edges, rows, advice })
    }

    /// How many trials each algorithm needs: one for each policy, where there are several hosts.
    fn trials_of_an_algorithm(&self) -> usize {
        let policies = self.policies(AUTO);
        let of_hosts = |hosts: &NonZeroU16| compared(&policies, usize::from(hosts.get())).len();
        self.hosts.iter().map(of_hosts).sum()
    }

    /// The policies that the user asks for, given what suits.
    fn policies<'n>(&'n self, suits: &'n str) -> Vec<&'n str> {
        let named = self.policy.iter().flat_map(|name| match name.as_str() {
            AUTO => vec![suits],
            "all" => plain_policies(),
            name => vec![name],
        });
        let mut names: Vec<&str> = Vec::new();
        for name in named {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn as_text(
        &self,
        plans: &[AlgorithmPlan],
        survey: &Survey,
        limit: Option<MemoryLimit>,
    ) -> String {
        let mut text = format!(
            "{}: about {} vertices, {} edges ({})\n",
            self.input.graph,
            show::count(survey.vertices.round() as u64),
            show::count(survey.edges.round() as u64),
            match survey.is_exact() {
                true => "all looked at".into(),
                false => format!("a sample of {:.2} % of the edges", 100.0 * survey.rate),
            }
        );
        if let Some(limit) = limit {
            text += &format!(
                "memory: {} may be used here ({})\n",
                show::bytes(limit.bytes),
                limit.source
            );
        }
        for plan in plans {
            text += &format!("\n{}\n{}", plan.algorithm, plan.table());
            text += &plan.advice_text();
        }
        text
    }

    fn as_json(
        &self,
        plans: &[AlgorithmPlan],
        survey: &Survey,
        limit: Option<MemoryLimit>,
    ) -> Value {
        let mut advice = Map::new();
        for plan in plans {
            advice.insert(plan.algorithm.into(), plan.advice_json());
        }
        let rows = plans.iter().flat_map(|plan| {
            plan.rows.iter().filter(|row| row.is_shown).map(|row| plan.row_json(row))
        });
        json!({
            "graph": {
                "name": self.input.graph.to_string(),
                "vertices": survey.vertices.round(),
                "edges": survey.edges.round(),
                "sampled": survey.rate,
            },
            "limit": limit.map(|limit| json!({ "bytes": limit.bytes, "source": limit.source.name() })),
            "plans": rows.collect::<Vec<_>>(),
            "recommendation": advice,
        })
    }
}

/// Policies that need no argument.
fn plain_policies() -> Vec<&'static str> {
    policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name).collect()
}

/// The policies that are asked for, and for several hosts all others to compare with.
fn compared<'n>(asked: &[&'n str], hosts: usize) -> Vec<&'n str> {
    let others = plain_policies().into_iter().filter(|name| hosts > 1 && !asked.contains(name));
    asked.iter().copied().chain(others).collect()
}

fn range_json(range: Range) -> Value {
    json!({ "low": range.low.round(), "likely": range.likely.round(), "high": range.high.round() })
}

fn seconds_json(range: Range) -> Value {
    json!({ "low": range.low, "likely": range.likely, "high": range.high })
}

impl AlgorithmPlan {
    /// One line per number of hosts and policy.
    fn table(&self) -> String {
        let megabytes = |range: Range| {
            format!("{} – {}", show::bytes(range.low as u64), show::bytes(range.high as u64))
        };
        let seconds = |range: Option<Range>| {
            range.map_or(String::new(), |range| {
                format!("{} – {}", show::seconds(range.low), show::seconds(range.high))
            })
        };
        let row = |row: &Row| {
            let forecast = &row.forecast;
            let fits = match (row.fits_here, row.fits_machines) {
                (true, _) => "here",
                (_, true) => "as ranks",
                _ => "no",
            };
            vec![
                forecast.hosts.to_string(),
                forecast.policy.clone(),
                row.trial.as_ref().map_or("auto", |trial| trial.engine).to_owned(),
                megabytes(forecast.host_peak),
                show::bytes(forecast.host_steady.likely as u64),
                megabytes(forecast.process_peak),
                show::bytes(forecast.bytes_per_round.likely as u64),
                seconds(row.trial.as_ref().map(|trial| trial.partition_seconds(self.edges))),
                seconds(row.trial.as_ref().map(|trial| trial.run_seconds(self.edges))),
                fits.to_owned(),
            ]
        };
        let rows: Vec<_> = self.rows.iter().filter(|row| row.is_shown).map(row).collect();
        let head = [
            "hosts",
            "policy",
            "engine",
            "peak of a host",
            "in rounds",
            "all hosts here",
            "bytes a round",
            "partition",
            "run",
            "fits",
        ];
        show::table(0, &head, &rows)
    }

    /// The row that the advice chose.
    fn chosen(&self) -> Option<&Row> {
        let Advice { hosts, policy, .. } = self.advice.as_ref()?;
        self.rows.iter().find(|row| row.forecast.hosts == *hosts && row.forecast.policy == *policy)
    }

    /// The reason for the engine, where a trial showed one.
    fn engine(&self) -> Option<(&'static str, &str)> {
        self.chosen()?.trial.as_ref().map(|trial| (trial.engine, &trial.engine_why[..]))
    }

    fn advice_text(&self) -> String {
        let Some(advice) = &self.advice else {
            return "choose more hosts, each on a machine of its own: none of these fits\n".into();
        };
        let engine =
            self.engine().map_or(String::new(), |(engine, _)| format!(", engine {engine}"));
        let mut text = format!(
            "choose {} host{}, policy {}{engine}:\n",
            advice.hosts,
            if advice.hosts == 1 { "" } else { "s" },
            advice.policy
        );
        let engine_why = self.engine().map(|(engine, why)| format!("{engine}: {why}"));
        for reason in advice.reasons.iter().chain(&engine_why) {
            text += &format!("  - {reason}\n");
        }
        text
    }

    fn advice_json(&self) -> Value {
        let Some(advice) = &self.advice else { return Value::Null };
        let engine_why = self.engine().map(|(engine, why)| format!("{engine}: {why}"));
        let reasons: Vec<_> = advice.reasons.iter().chain(&engine_why).collect();
        json!({
            "hosts": advice.hosts,
            "policy": advice.policy,
            "engine": self.engine().map(|(engine, _)| engine),
            "on_machines": advice.on_machines,
            "reasons": reasons,
        })
    }

    fn row_json(&self, row: &Row) -> Value {
        let Forecast {
            hosts,
            policy,
            quality,
            host_peak,
            host_steady,
            process_peak,
            bytes_per_round,
        } = &row.forecast;
        let trial = row.trial.as_ref();
        json!({
            "algorithm": self.algorithm,
            "hosts": hosts,
            "policy": policy,
            "engine": trial.map(|trial| trial.engine),
            "replication": quality.replication(),
            "imbalance": {
                "edges": quality.edge_imbalance(),
                "masters": quality.master_imbalance(),
            },
            "memory": {
                "host_peak": range_json(*host_peak),
                "host_steady": range_json(*host_steady),
                "process_peak": range_json(*process_peak),
            },
            "bytes_per_round": range_json(*bytes_per_round),
            "seconds": {
                "partition": trial.map(|trial| seconds_json(trial.partition_seconds(self.edges))),
                "run": trial.map(|trial| seconds_json(trial.run_seconds(self.edges))),
            },
            "fits": { "here": row.fits_here, "as_ranks": row.fits_machines },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_policies_are_compared_where_there_are_several_hosts() {
        assert_eq!(compared(&["oec"], 1), ["oec"]);
        let all = compared(&["cvc", "oec"], 4);
        assert_eq!((all[0], all[1], all.len()), ("cvc", "oec", plain_policies().len()));
    }
}
