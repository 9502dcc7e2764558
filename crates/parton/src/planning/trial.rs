//! A trial of an algorithm on a sample: which engine suits, how much hosts send, how fast this machine is.
//!
//! A sample is small and stays in the cache, and what is left of a graph has fewer edges per vertex. Times are
//! therefore wide ranges; the engine and its reason are what a run would choose on a graph like the sample.

use std::time::Instant;

use parton_algorithms::{Algorithm, Job, Options};
use parton_graph::Graph;
use parton_graph::reweigh::Weights;
use parton_net::Cluster;
use parton_partition::quality::Quality;
use parton_partition::{Input, Partition, Plan, Survey};
use parton_sync::{Optimize, Substrate};

use super::Range;
use crate::error::Result;

/// What a trial on a number of hosts showed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The engine that suits, and why.
    pub engine: &'static str,
    /// Why that one.
    pub engine_why: String,
    /// What was sent in a round, as a part of all shared values.
    pub traffic: f64,
    /// True if the sample was the whole graph.
    is_exact: bool,
    /// Seconds to partition an edge, and to run the algorithm on it.
    partition_seconds: f64,
    run_seconds: f64,
}

/// How much faster and slower than in a trial each edge may be.
const FASTER: f64 = 0.5;
const SLOWER: f64 = 4.0;
/// Hosts of a trial: more would wait for each other's threads.
const MAX_HOSTS: usize = 8;
/// Rounds of a trial whose program has values after any round.
const MAX_ROUNDS: u64 = 128;
/// The power by which differences between policies count that a sample showed: the best one for recorded runs.
const TRUST_IN_SAMPLES: f64 = 0.75;
/// Policies that send less than others by more than this do not lower what is usual any further.
const MOST_RATIO: f64 = 100.0;
/// The least traffic that is not none: ratios of it are finite.
const LEAST_TRAFFIC: f64 = 1e-9;

impl Trial {
    /// Runs the algorithm on the sample of a survey, cut as planned.
    pub fn run(
        algorithm: &dyn Algorithm,
        options: &Options,
        survey: &Survey,
        (plan, hosts, threads): (&Plan, usize, usize),
    ) -> Result<Trial> {
        let hosts = hosts.min(MAX_HOSTS);
        let fit = algorithm.needs(options).fit();
        let mut graph = Graph::dense(survey.sampled_edges(), "");
        if fit.weights && survey.weight_bytes > 0 {
            graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
        }
        let input = Input::from(graph).fitted(fit);
        let is_final_at_any_round = algorithm.needs_rounds(options).is_none();
        let max_rounds = is_final_at_any_round.then_some(MAX_ROUNDS);
        let options = Options { max_rounds, ..options.clone() };
        let is_exact = survey.is_exact();
        let mut cluster = Cluster::local(hosts).threads_per_host(threads);
        let mut trials = cluster.launch(|net| -> Result<Trial> {
            let start = Instant::now();
            let partition = Partition::build(net, &input, plan)?;
            let partition_seconds = start.elapsed().as_secs_f64();
            let quality = Quality::measure(net, &partition)?;
            let edges = quality.edges.max(1) as f64;
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            let (options, watch) = (&options, &mut ());
            let job = &mut Job { substrate: &mut substrate, options, watch, device: None };
            let answer = algorithm.run(job)?;
            let rounds = answer.report.rounds.len().max(1) as f64;
            let dense = (rounds * quality.dense_bytes_per_round() as f64).max(1.0);
            let seconds =
                answer.setup_seconds + answer.report.setup_seconds + answer.report.seconds;
            Ok(Trial {
                engine: answer.engine.name,
                engine_why: answer.why,
                traffic: answer.report.sent().total() as f64 / dense,
                is_exact,
                partition_seconds: partition_seconds / edges,
                run_seconds: seconds / edges,
            })
        })?;
        Ok(trials.swap_remove(0))
    }

    /// The traffic that runs on the whole graph are going to have, by trials under policies that are compared.
    ///
    /// A trial on the whole graph sends what a run sends. One on a sample tells better how much algorithms send than
    /// by how much policies differ, which the cut of the sample tells, too: differences between policies count less.
    pub fn expected_traffic(trials: &[Trial]) -> Vec<f64> {
        let most = trials.iter().map(|trial| trial.traffic).fold(LEAST_TRAFFIC, f64::max);
        let logarithms = trials.iter().map(|trial| trial.traffic.max(most / MOST_RATIO).ln());
        let usual = (logarithms.sum::<f64>() / trials.len().max(1) as f64).exp();
        let expected = |trial: &Trial| match trial.is_exact {
            true => trial.traffic,
            false => usual * (trial.traffic.max(LEAST_TRAFFIC) / usual).powf(TRUST_IN_SAMPLES),
        };
        trials.iter().map(expected).collect()
    }

    /// Seconds until hosts have partitioned this many edges.
    pub fn partition_seconds(&self, edges: f64) -> Range {
        Range::around(self.partition_seconds * edges, FASTER, SLOWER)
    }

    /// Seconds of the algorithm on this many edges, its preparation included.
    pub fn run_seconds(&self, edges: f64) -> Range {
        Range::around(self.run_seconds * edges, FASTER, SLOWER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(traffic: f64, is_exact: bool) -> Trial {
        let (partition_seconds, run_seconds) = (0.0, 0.0);
        let (engine, engine_why) = ("push", String::new());
        Trial { engine, engine_why, traffic, is_exact, partition_seconds, run_seconds }
    }

    #[test]
    fn policies_differ_less_where_a_part_was_tried() {
        let expected = |is_exact| {
            Trial::expected_traffic(&[0.1, 0.4, 1.6].map(|traffic| trial(traffic, is_exact)))
        };
        assert_eq!(expected(true), [0.1, 0.4, 1.6]);
        let [low, usual, high] = expected(false)[..] else { unreachable!() };
        assert!((usual - 0.4).abs() < 1e-9, "{usual}");
        assert!(0.1 < low && low < 0.2 && 0.8 < high && high < 1.6, "{low} {high}");
        // Silence under one policy is no reason to expect it under the others.
        let silent = Trial::expected_traffic(&[trial(0.0, false), trial(0.5, false)]);
        assert!(silent[0] < 0.01 && silent[1] > 0.25, "{silent:?}");
        assert!(Trial::expected_traffic(&[]).is_empty());
    }
}
