//! An algorithm on the hosts of one cluster: `run` does this once, `bench` many times.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::algorithms::{Algorithm, Answer, Job, Options};
use crate::engine::{self, device::Device};
use crate::graph::progress::Progress;
use crate::net::{Cluster, Net};
use crate::partition::{Input, Partition, Plan};
use crate::sync::{Optimize, Schedule, Substrate, Volume};
use serde_json::{Value, json};

use crate::cli::exit::Failure;

/// The value that leaves a choice to Parton.
pub(crate) const AUTO: &str = "auto";
/// A lost rank is noticed in any case, and a round on a large graph may take hours.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a host's partition comes from.
pub(crate) enum PartitionSource<'c> {
    /// The hosts cut the input.
    Build(&'c Input, Plan),
    /// The partitions were saved in this folder.
    Load(&'c Path),
}

/// What to compute on partitions.
pub(crate) struct Task<'t> {
    pub(crate) algorithm: &'static dyn Algorithm,
    pub(crate) options: &'t Options,
    pub(crate) optimize: Optimize,
    /// How engines that overlap order their work.
    pub(crate) schedule: Schedule,
    /// True if the algorithm's certificate is to be checked.
    pub(crate) verify: bool,
}

/// One host's result of a task.
pub(crate) struct TaskOutcome {
    pub(crate) setup_seconds: f64,
    pub(crate) answer: Answer,
    pub(crate) verdict: Verdict,
}

/// The result of checking an algorithm's certificate, the same on all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The user did not ask for the check.
    NotAsked,
    /// The answer is right.
    Right,
    /// The answer is wrong, and why.
    Wrong(String),
}

impl Verdict {
    /// True if the answer is right, `None` if that was not checked.
    pub(crate) fn is_right(&self) -> Option<bool> {
        match self {
            Verdict::NotAsked => None,
            Verdict::Right => Some(true),
            Verdict::Wrong(_) => Some(false),
        }
    }
}

impl PartitionSource<'_> {
    /// This host's partition, and the seconds until all hosts had theirs. Every host must call this.
    pub(crate) fn on_host(
        &self,
        net: &mut Net,
        progress: &dyn Progress,
    ) -> Result<(Partition, f64), Failure> {
        net.barrier()?;
        let start = Instant::now();
        let partition = match self {
            PartitionSource::Build(input, plan) => {
                Partition::build_watched(net, input, plan, progress)?
            }
            PartitionSource::Load(folder) => Partition::load(net, folder)?,
        };
        net.barrier()?;
        Ok((partition, start.elapsed().as_secs_f64()))
    }
}

impl Task<'_> {
    /// One host's share of the task, computed by a device if it has one. Every host must call this.
    pub(crate) fn on_host(
        &self,
        net: &mut Net,
        partition: &Partition,
        device: Option<&dyn Device>,
        watch: &mut dyn engine::Watch,
    ) -> Result<TaskOutcome, Failure> {
        let start = Instant::now();
        let mut substrate =
            Substrate::new(partition, net, self.optimize).with_schedule(self.schedule);
        let substrate_seconds = start.elapsed().as_secs_f64();
        let job = &mut Job { substrate: &mut substrate, options: self.options, watch, device };
        let answer = self.algorithm.run(job)?;
        let verdict = match self.verify {
            true => self.verify(&mut substrate, &answer)?,
            false => Verdict::NotAsked,
        };
        let setup_seconds = substrate_seconds + answer.setup_seconds + answer.report.setup_seconds;
        Ok(TaskOutcome { setup_seconds, answer, verdict })
    }

    fn verify(&self, substrate: &mut Substrate<'_>, answer: &Answer) -> Result<Verdict, Failure> {
        let job = &mut Job { substrate, options: self.options, watch: &mut (), device: None };
        let complaint = self.algorithm.check(job, answer)?;
        Ok(complaint.map_or(Verdict::Right, Verdict::Wrong))
    }
}

/// Hosts in this process.
pub(crate) fn cluster(hosts: usize, threads: usize) -> Cluster {
    Cluster::local(hosts).threads_per_host(threads).pinned()
}

/// What hosts sent each other, under the names that all reports use.
pub(crate) fn bytes_as_json(sent: &Volume) -> Value {
    json!({ "values": sent.values(), "metadata": sent.metadata(), "total": sent.total() })
}
