//! A trial of an algorithm on a sample: which engine suits, how many rounds, how fast this machine is.
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
    /// The part of all shared values that travelled in a round.
    pub traffic: f64,
    /// Seconds to partition an edge, and to run the algorithm on it.
    partition_seconds: f64,
    run_seconds: f64,
}

/// How much faster and slower than in a trial each edge may be.
const FASTER: f64 = 0.5;
const SLOWER: f64 = 4.0;
/// Hosts of a trial: more would wait for each other's threads.
const MAX_HOSTS: usize = 8;

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
        if fit.weights {
            graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
        }
        let input = Input::from(graph).fitted(fit);
        let options = Options { engine: options.engine, ..Options::default() };
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
                traffic: (answer.report.sent().total() as f64 / dense).min(1.0),
                partition_seconds: partition_seconds / edges,
                run_seconds: seconds / edges,
            })
        })?;
        Ok(trials.swap_remove(0))
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
