//! An algorithm on hosts of this process: what `run` does once and `bench` many times.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::algorithms::{Access, Algorithm, Answer, Job, Options};
use crate::engine;
use crate::net::{Cluster, Net};
use crate::partition::{Input, Partition, Plan};
use crate::sync::{Optimize, Substrate, Volume};
use serde_json::{Value, json};

use crate::cli::exit::Failure;

/// The value that leaves a choice to Parton.
pub(crate) const AUTO: &str = "auto";
/// Up to so many hosts, fewer copies count more than fewer peers.
const FEW_HOSTS: usize = 16;
/// Hosts cannot go missing unnoticed, and a round on a large graph may take long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a host's part of the graph comes from.
pub(crate) enum Cut<'c> {
    /// It is cut now.
    Planned(&'c Input, Plan),
    /// It was cut before, into this folder.
    Saved(&'c Path),
}

/// What to compute on a part that is there.
pub(crate) struct Task<'t> {
    pub(crate) algorithm: &'static dyn Algorithm,
    pub(crate) options: &'t Options,
    pub(crate) optimize: Optimize,
    pub(crate) verify: bool,
}

/// What came of a task on one host.
pub(crate) struct Finished {
    pub(crate) setup_seconds: f64,
    pub(crate) answer: Answer,
    pub(crate) verdict: Verdict,
}

/// What came of the proof, the same on all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nobody asked for it.
    NotAsked,
    /// The answer is right.
    Right,
    /// What is wrong.
    Wrong(String),
}

impl Verdict {
    /// Whether the answer is right, if anybody asked.
    pub(crate) fn is_right(&self) -> Option<bool> {
        match self {
            Verdict::NotAsked => None,
            Verdict::Right => Some(true),
            Verdict::Wrong(_) => Some(false),
        }
    }
}

impl Cut<'_> {
    /// This host's part, and the seconds until all hosts had theirs. Every host must call this.
    pub(crate) fn on_host(&self, net: &mut Net) -> Result<(Partition, f64), Failure> {
        net.barrier()?;
        let start = Instant::now();
        let partition = match self {
            Cut::Planned(input, plan) => Partition::build(net, input, plan)?,
            Cut::Saved(folder) => Partition::load(net, folder)?,
        };
        net.barrier()?;
        Ok((partition, start.elapsed().as_secs_f64()))
    }
}

impl Task<'_> {
    /// One host's share of the work. Every host must call this.
    pub(crate) fn on_host(
        &self,
        net: &mut Net,
        partition: &Partition,
        watch: &mut dyn engine::Watch,
    ) -> Result<Finished, Failure> {
        let start = Instant::now();
        let mut substrate = Substrate::new(partition, net, self.optimize);
        let substrate_seconds = start.elapsed().as_secs_f64();
        let job = &mut Job { substrate: &mut substrate, options: self.options, watch };
        let answer = self.algorithm.run(job)?;
        let verdict = match self.verify {
            true => self.verify(&mut substrate, &answer)?,
            false => Verdict::NotAsked,
        };
        let setup_seconds = substrate_seconds + answer.setup_seconds;
        Ok(Finished { setup_seconds, answer, verdict })
    }

    fn verify(&self, substrate: &mut Substrate<'_>, answer: &Answer) -> Result<Verdict, Failure> {
        let job = &mut Job { substrate, options: self.options, watch: &mut () };
        let complaint = self.algorithm.check(job, answer)?;
        Ok(complaint.map_or(Verdict::Right, Verdict::Wrong))
    }
}

/// Hosts in this process.
pub(crate) fn cluster(hosts: usize, threads: usize) -> Cluster {
    Cluster::local(hosts).threads_per_host(threads).pinned().patience(PATIENCE)
}

/// Threads of each host: as asked, or its share of the cores.
pub(crate) fn threads_per_host(asked: Option<NonZeroUsize>, hosts: usize) -> usize {
    asked.map_or_else(|| (cores() / hosts).max(1), NonZeroUsize::get)
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// What hosts sent each other, under the names that all reports use.
pub(crate) fn bytes_as_json(sent: &Volume) -> Value {
    json!({ "values": sent.values(), "metadata": sent.metadata(), "total": sent.total() })
}

/// What is known of an input before it is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known {
    /// Whether in-edges are [at hand](Input::has_in_edges).
    pub(crate) in_edges: bool,
    /// Whether vertices have many edges.
    pub(crate) is_dense: bool,
}

impl Known {
    /// From so many edges for each vertex on most come to matter no more while labels spread.
    const DENSE: f64 = 12.0;

    pub(crate) fn of(input: &Input) -> Self {
        let is_dense = input.average_degree().is_some_and(|degree| degree >= Self::DENSE);
        Known { in_edges: input.has_in_edges(), is_dense }
    }
}

/// A policy for so many hosts, and why.
pub(crate) fn choose_policy(
    hosts: usize,
    access: Access,
    known: Known,
) -> (&'static str, &'static str) {
    match (hosts, access) {
        (1, _) => ("oec", "one host holds everything"),
        (2..=FEW_HOSTS, Access::Destinations) => {
            ("iec", "for up to 16 hosts, as all collect: nothing to reduce")
        }
        (2..=FEW_HOSTS, Access::Either) if known.in_edges => {
            ("dual", "for up to 16 hosts, as in-edges are at hand: all of a vertex's in one place")
        }
        (2..=FEW_HOSTS, Access::SourcesThenDestinations) if known.in_edges && known.is_dense => {
            ("iec", "for up to 16 hosts, as in-edges are at hand, and few of many will matter")
        }
        (2..=FEW_HOSTS, _) => ("oec", "for up to 16 hosts: few copies, nothing to broadcast"),
        _ => ("cvc", "for more than 16 hosts: each talks to its row and column only"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_follows_the_hosts_and_the_algorithm() {
        let chosen = |access, in_edges, is_dense| {
            let known = Known { in_edges, is_dense };
            [1, 2, 16, 17].map(|hosts| choose_policy(hosts, access, known).0)
        };
        let [oec, iec, dual] = ["oec", "iec", "dual"].map(|few| ["oec", few, few, "cvc"]);
        for (in_edges, dense) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(chosen(Access::Sources, in_edges, dense), oec);
            assert_eq!(chosen(Access::Destinations, in_edges, dense), iec);
            assert_eq!(chosen(Access::Either, in_edges, dense), if in_edges { dual } else { oec });
            let narrowing = chosen(Access::SourcesThenDestinations, in_edges, dense);
            assert_eq!(narrowing, if in_edges && dense { iec } else { oec });
        }
    }
}
