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

use super::{Forecast, Range, dense_bytes};
use crate::error::Result;

/// What a trial on a number of hosts showed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The engine that suits, and why.
    pub engine: &'static str,
    /// Why that one.
    pub engine_why: String,
    /// Bytes that all hosts sent in a round, and those of a round in which every shared value travels.
    sent: f64,
    dense: f64,
    /// True if all planned hosts ran on the whole graph.
    is_of_all: bool,
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
/// The least part of all shared values that is not none: ratios of it are finite.
const LEAST_PART: f64 = 1e-9;

impl Trial {
    /// Runs the algorithm on the sample of a survey, cut as planned.
    pub fn run(
        algorithm: &dyn Algorithm,
        options: &Options,
        survey: &Survey,
        (plan, hosts, threads): (&Plan, usize, usize),
    ) -> Result<Trial> {
        let (planned_hosts, hosts) = (hosts, hosts.min(MAX_HOSTS));
        let fit = algorithm.needs(options).fit();
        let mut graph = Graph::dense(survey.sampled_edges(), "");
        if fit.weights && survey.weight_bytes > 0 {
            graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
        }
        let input = Input::from(graph).fitted(fit);
        let is_final_at_any_round = algorithm.needs_rounds(options).is_none();
        let max_rounds = is_final_at_any_round.then_some(MAX_ROUNDS);
        let options = Options { max_rounds, ..options.clone() };
        let is_of_all = survey.is_exact() && hosts == planned_hosts;
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
            let dense = dense_bytes(algorithm.memory_use(), &quality).max(1.0);
            let seconds =
                answer.setup_seconds + answer.report.setup_seconds + answer.report.seconds;
            Ok(Trial {
                engine: answer.engine.name,
                engine_why: answer.why,
                sent: answer.report.sent().total() as f64 / rounds,
                dense,
                is_of_all,
                partition_seconds: partition_seconds / edges,
                run_seconds: seconds / edges,
            })
        })?;
        Ok(trials.swap_remove(0))
    }

    /// Bytes that all hosts are going to send in a round, by trials under policies that are compared, and by forecasts
    /// for the same policies.
    ///
    /// A trial on the whole graph sends what a run sends. One on a sample tells better how much algorithms send than
    /// by how much policies differ, which the cut of the sample tells, too: differences between policies count less.
    pub fn expected_bytes(trials: &[Trial], forecasts: &[Forecast]) -> Vec<f64> {
        let parts = || trials.iter().map(|trial| trial.sent / trial.dense);
        let most = parts().fold(LEAST_PART, f64::max);
        let logarithms = parts().map(|part| part.max(most / MOST_RATIO).ln());
        let usual = (logarithms.sum::<f64>() / trials.len().max(1) as f64).exp();
        let expected = |(trial, forecast): (&Trial, &Forecast)| {
            let part = (trial.sent / trial.dense).max(LEAST_PART);
            match trial.is_of_all {
                true => trial.sent,
                false => {
                    let part = usual * (part / usual).powf(TRUST_IN_SAMPLES);
                    part * forecast.bytes_per_round.likely
                }
            }
        };
        trials.iter().zip(forecasts).map(expected).collect()
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

    /// A trial that sent this part of a thousand bytes.
    fn trial(part: f64, is_of_all: bool) -> Trial {
        Trial {
            engine: "push",
            engine_why: String::new(),
            sent: 1000.0 * part,
            dense: 1000.0,
            is_of_all,
            partition_seconds: 0.0,
            run_seconds: 0.0,
        }
    }

    /// What is expected of hosts that share as many bytes as in the trials, or ten times as many.
    fn expected(parts: &[f64], is_of_all: bool) -> Vec<f64> {
        let trials: Vec<_> = parts.iter().map(|part| trial(*part, is_of_all)).collect();
        let dense = if is_of_all { 1000.0 } else { 10_000.0 };
        let forecasts = parts.iter().map(|_| Forecast {
            hosts: 2,
            policy: "oec".into(),
            quality: Quality { vertices: 9, edges: 9, hosts: Vec::new() },
            host_peak: Range::default(),
            host_steady: Range::default(),
            process_peak: Range::default(),
            bytes_per_round: Range::around(dense, 0.0, 1.1),
        });
        Trial::expected_bytes(&trials, &forecasts.collect::<Vec<_>>())
    }

    #[test]
    fn policies_differ_less_where_a_part_was_tried() {
        assert_eq!(expected(&[0.1, 0.4, 1.6], true), [100.0, 400.0, 1600.0]);
        let [low, usual, high] = expected(&[0.1, 0.4, 1.6], false)[..] else { unreachable!() };
        assert!((usual - 4000.0).abs() < 1e-3, "{usual}");
        assert!(1000.0 < low && low < 2000.0, "{low}");
        assert!(8000.0 < high && high < 16_000.0, "{high}");
        // Silence under one policy is no reason to expect it under the others.
        let silent = expected(&[0.0, 0.5], false);
        assert!(silent[0] < 100.0 && silent[1] > 2500.0, "{silent:?}");
        assert!(expected(&[], false).is_empty());
    }
}
