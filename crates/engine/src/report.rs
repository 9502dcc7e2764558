//! What a run did: per round, per host, and in all.

use bytemuck::{Pod, Zeroable};
use parton_net::Net;
use parton_sync::Volume;

/// One host's account of one round.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RoundRecord {
    /// Time in the engine.
    pub(crate) compute_seconds: f64,
    /// Time from the beginning to the end of the round.
    pub(crate) total_seconds: f64,
    pub(crate) edges: u64,
    /// On all hosts.
    pub(crate) changed: u64,
    pub(crate) sent: Volume,
}

/// A run, the same on every host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// Whether the program ended by itself.
    pub converged: bool,
    /// Time from the first round to the last, of the slowest host.
    pub seconds: f64,
    /// Every round.
    pub rounds: Vec<RoundReport>,
    /// Every host.
    pub hosts: Vec<HostReport>,
}

/// One round of all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundReport {
    /// Masters that changed.
    pub changed: u64,
    /// Edges worked through.
    pub edges: u64,
    /// Time in the engine of the slowest host.
    pub compute_seconds: f64,
    /// Time of the round.
    pub seconds: f64,
    /// What all hosts sent.
    pub sent: Volume,
}

/// One host in all rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostReport {
    /// Time in the engine.
    pub compute_seconds: f64,
    /// All other time: packing, unpacking, waiting.
    pub other_seconds: f64,
    /// Edges worked through.
    pub edges: u64,
    /// What it sent to each host.
    pub sent_to: Vec<Volume>,
}

impl RunReport {
    /// Puts the accounts of all hosts together. Every host must call this.
    pub(crate) fn gather(
        net: &mut Net,
        converged: bool,
        seconds: f64,
        records: &[RoundRecord],
        sent_to: &[Volume],
    ) -> parton_net::Result<Self> {
        let seconds = net.all_reduce(seconds, f64::max)?;
        let all_records = net.all_gather(bytemuck::cast_slice(records).to_vec())?;
        let all_sent = net.all_gather(bytemuck::cast_slice(sent_to).to_vec())?;
        let mut rounds = vec![RoundReport::default(); records.len()];
        let mut hosts = Vec::new();
        for (records, sent) in all_records.iter().zip(&all_sent) {
            let records: Vec<RoundRecord> = bytemuck::pod_collect_to_vec(records);
            let mut host =
                HostReport { sent_to: bytemuck::pod_collect_to_vec(sent), ..HostReport::default() };
            for (round, record) in rounds.iter_mut().zip(&records) {
                round.changed = record.changed;
                round.edges += record.edges;
                round.compute_seconds = round.compute_seconds.max(record.compute_seconds);
                round.seconds = round.seconds.max(record.total_seconds);
                round.sent += record.sent;
                host.compute_seconds += record.compute_seconds;
                host.other_seconds += record.total_seconds - record.compute_seconds;
                host.edges += record.edges;
            }
            hosts.push(host);
        }
        Ok(RunReport { converged, seconds, rounds, hosts })
    }

    /// What all hosts sent in all rounds.
    pub fn sent(&self) -> Volume {
        let mut all = Volume::default();
        self.rounds.iter().for_each(|round| all += round.sent);
        all
    }

    /// Compute time of the slowest host in each round over that of an average host: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        let slowest: f64 = self.rounds.iter().map(|round| round.compute_seconds).sum();
        let all: f64 = self.hosts.iter().map(|host| host.compute_seconds).sum();
        if all == 0.0 { 1.0 } else { slowest * self.hosts.len() as f64 / all }
    }
}
