//! What every host does in a run: its part of the graph, the algorithm, the proof, its rows.

use std::path::PathBuf;
use std::time::Instant;

use parton::algorithms::{Algorithm, Answer, Job, Options};
use parton::engine;
use parton::graph::{LocalId, OriginalId};
use parton::net::{HostId, Net};
use parton::output::{Format, Part};
use parton::partition::quality::Quality;
use parton::partition::{Input, Partition, Plan};
use parton::sync::{Optimize, Substrate};

use crate::exit::Failure;
use crate::watch::Watch;

/// Where a host's part of the graph comes from.
pub(super) enum Cut {
    /// It is cut now.
    Planned(Box<Input>, Plan),
    /// It was cut before.
    Saved(PathBuf),
}

/// What hosts are to do.
pub(super) struct Work<'w> {
    pub(super) cut: Cut,
    pub(super) algorithm: &'static dyn Algorithm,
    pub(super) options: Options,
    pub(super) optimize: Optimize,
    pub(super) verify: bool,
    /// In which rows will be written, if at all.
    pub(super) format: Option<&'static dyn Format>,
    pub(super) watch: &'w Watch,
}

/// What one host has done.
pub(super) struct HostRun {
    pub(super) partition_seconds: f64,
    pub(super) setup_seconds: f64,
    /// The same on all hosts.
    pub(super) quality: Quality,
    /// What the policy has to say.
    pub(super) policy_note: Option<String>,
    pub(super) answer: Answer,
    pub(super) verdict: Verdict,
    /// This host's rows, if they are to be written.
    pub(super) part: Option<Part>,
}

/// What came of the proof, the same on all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nobody asked for it.
    NotAsked,
    /// The answer is right.
    Right,
    /// What is wrong.
    Wrong(String),
}

impl Work<'_> {
    /// One host's share of the work. Every host must call this.
    pub(super) fn on_host(&self, net: &mut Net) -> Result<HostRun, Failure> {
        net.barrier()?;
        let start = Instant::now();
        let partition = match &self.cut {
            Cut::Planned(input, plan) => Partition::build(net, input, plan)?,
            Cut::Saved(folder) => Partition::load(net, folder)?,
        };
        net.barrier()?;
        let partition_seconds = start.elapsed().as_secs_f64();
        self.check_ids(&partition)?;
        let quality = Quality::measure(net, &partition)?;

        let start = Instant::now();
        let mut substrate = Substrate::new(&partition, net, self.optimize);
        let substrate_seconds = start.elapsed().as_secs_f64();
        let mut rounds = (partition.host() == HostId(0)).then(|| self.watch.rounds());
        let watch: &mut dyn engine::Watch = match &mut rounds {
            Some(rounds) => rounds,
            None => &mut (),
        };
        let options = &self.options;
        let job = &mut Job { substrate: &mut substrate, options, watch };
        let mut answer = self.algorithm.run(job)?;
        let verdict = match self.verify {
            true => self.verify(&mut substrate, &answer)?,
            false => Verdict::NotAsked,
        };
        let part = match (&verdict, self.format) {
            (Verdict::Wrong(_), _) | (_, None) => None,
            _ => Some(Part::of(net, &partition, &mut answer)?),
        };
        Ok(HostRun {
            partition_seconds,
            setup_seconds: substrate_seconds + answer.setup_seconds,
            quality,
            policy_note: partition.note().map(str::to_owned),
            answer,
            verdict,
            part,
        })
    }

    fn verify(&self, substrate: &mut Substrate<'_>, answer: &Answer) -> Result<Verdict, Failure> {
        let job = &mut Job { substrate, options: &self.options, watch: &mut () };
        let complaint = self.algorithm.check(job, answer)?;
        Ok(complaint.map_or(Verdict::Right, Verdict::Wrong))
    }

    /// Rows that could not be written in the end are not worth a run.
    fn check_ids(&self, partition: &Partition) -> Result<(), Failure> {
        let named = partition.num_masters() > 0
            && matches!(partition.original(LocalId(0)), OriginalId::Name(_));
        match self.format.filter(|format| named && !format.holds_names()) {
            None => Ok(()),
            Some(format) => Err(Failure::usage(format!(
                "--output: .{} cannot hold ids that are names; write .parquet or .csv",
                format.ending()
            ))),
        }
    }
}
