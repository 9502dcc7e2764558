//! What every host does in a run: its part of the graph, the algorithm, the proof, its rows.

use parton::engine;
use parton::graph::{LocalId, OriginalId};
use parton::net::{HostId, Net};
use parton::output::{Format, Part};
use parton::partition::Partition;
use parton::partition::quality::Quality;

use crate::exit::Failure;
use crate::job::{Cut, Finished, Task, Verdict};
use crate::watch::Watch;

/// What hosts are to do.
pub(super) struct Work<'w> {
    pub(super) cut: Cut<'w>,
    pub(super) task: Task<'w>,
    /// In which rows will be written, if at all.
    pub(super) format: Option<&'static dyn Format>,
    pub(super) watch: &'w Watch,
}

/// What one host has done.
pub(super) struct HostRun {
    pub(super) partition_seconds: f64,
    /// The same on all hosts.
    pub(super) quality: Quality,
    /// What the policy has to say.
    pub(super) policy_note: Option<String>,
    pub(super) finished: Finished,
    /// This host's rows, if they are to be written.
    pub(super) part: Option<Part>,
}

impl Work<'_> {
    /// One host's share of the work. Every host must call this.
    pub(super) fn on_host(&self, net: &mut Net) -> Result<HostRun, Failure> {
        let (partition, partition_seconds) = self.cut.on_host(net)?;
        self.check_ids(&partition)?;
        let quality = Quality::measure(net, &partition)?;
        let mut rounds = (partition.host() == HostId(0)).then(|| self.watch.rounds());
        let watch: &mut dyn engine::Watch = match &mut rounds {
            Some(rounds) => rounds,
            None => &mut (),
        };
        let mut finished = self.task.on_host(net, &partition, watch)?;
        let part = match (&finished.verdict, self.format) {
            (Verdict::Wrong(_), _) | (_, None) => None,
            _ => Some(Part::of(net, &partition, &mut finished.answer)?),
        };
        let policy_note = partition.note().map(str::to_owned);
        Ok(HostRun { partition_seconds, quality, policy_note, finished, part })
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
