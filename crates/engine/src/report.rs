//! The account of a run: per round, per host, and in all.

pub mod timeline;

use bytemuck::{Pod, Zeroable};
use parton_net::Net;
use parton_sync::{Volume, Waits};

use crate::engine::Measure;
use crate::pace::Pace;
use crate::techniques::throttle::Throttled;
use timeline::Timeline;

/// One host's account of one round.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RoundRecord {
    /// Time in the engine.
    pub(crate) compute_seconds: f64,
    /// Time in which others were waited for.
    pub(crate) wait_seconds: f64,
    /// Time from the beginning to the end of the round.
    pub(crate) total_seconds: f64,
    pub(crate) edges: u64,
    pub(crate) changed: u64,
    pub(crate) sent: Volume,
}

/// One host's account of the whole run.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct HostRecord {
    pub(crate) setup_seconds: f64,
    pub(crate) seconds: f64,
    pub(crate) waits: Waits,
    pub(crate) throttled: Throttled,
}

/// A run, the same on every host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// Whether the program ended by itself.
    pub converged: bool,
    /// When hosts waited for each other, in the end: never `Auto`.
    pub pace: Pace,
    /// Why that pace.
    pub pace_why: String,
    /// Time in which engines prepared the run, of the slowest host.
    pub setup_seconds: f64,
    /// Time from the first round to the last, of the slowest host.
    pub seconds: f64,
    /// Every round. Of hosts that did not wait for each other: what each did in its first round,
    /// in its second, and so on, whenever that was.
    pub rounds: Vec<RoundReport>,
    /// Every host.
    pub hosts: Vec<HostReport>,
    /// What hosts did when.
    pub timeline: Timeline,
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
    /// The value by which the round is judged, if the program has one.
    pub measure: Option<Measure>,
}

/// One host in all rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostReport {
    /// Rounds of its own: the same for all hosts where they wait for each other.
    pub rounds: u64,
    /// Time in the engine.
    pub compute_seconds: f64,
    /// Time for what it sent and received: packing, unpacking, sending.
    pub pack_seconds: f64,
    /// Time in which it waited for others.
    pub wait_seconds: f64,
    /// Edges worked through.
    pub edges: u64,
    /// What it sent to each host.
    pub sent_to: Vec<Volume>,
    /// How it waited outside BSP rounds.
    pub waits: Waits,
    /// Labels that it held back.
    pub throttled: Throttled,
}

impl HostReport {
    /// What it sent in all.
    pub fn sent(&self) -> Volume {
        let mut all = Volume::default();
        self.sent_to.iter().for_each(|sent| all += *sent);
        all
    }

    /// All time that is not the engine's.
    pub fn other_seconds(&self) -> f64 {
        self.pack_seconds + self.wait_seconds
    }
}

impl RunReport {
    /// Puts the accounts of all hosts together. Every host must call this.
    pub(crate) fn gather(
        mut self,
        net: &mut Net,
        host: HostRecord,
        records: &[RoundRecord],
        sent_to: &[Volume],
    ) -> parton_net::Result<Self> {
        let all_hosts = net.all_gather(bytemuck::bytes_of(&host).to_vec())?;
        let all_records = net.all_gather(bytemuck::cast_slice(records).to_vec())?;
        let all_sent = net.all_gather(bytemuck::cast_slice(sent_to).to_vec())?;
        for ((host, records), sent) in all_hosts.iter().zip(&all_records).zip(&all_sent) {
            let HostRecord { setup_seconds, seconds, waits, throttled } =
                bytemuck::pod_read_unaligned(host);
            self.setup_seconds = self.setup_seconds.max(setup_seconds);
            self.seconds = self.seconds.max(seconds);
            let records: Vec<RoundRecord> = bytemuck::pod_collect_to_vec(records);
            let mut host = HostReport {
                rounds: records.len() as u64,
                sent_to: bytemuck::pod_collect_to_vec(sent),
                waits,
                throttled,
                ..HostReport::default()
            };
            self.rounds.resize(self.rounds.len().max(records.len()), RoundReport::default());
            for (round, record) in self.rounds.iter_mut().zip(&records) {
                round.changed += record.changed;
                round.edges += record.edges;
                round.compute_seconds = round.compute_seconds.max(record.compute_seconds);
                round.seconds = round.seconds.max(record.total_seconds);
                round.sent += record.sent;
                host.compute_seconds += record.compute_seconds;
                host.wait_seconds += record.wait_seconds;
                let busy = record.total_seconds - record.wait_seconds;
                host.pack_seconds += (busy - record.compute_seconds).max(0.0);
                host.edges += record.edges;
            }
            self.hosts.push(host);
        }
        Ok(self)
    }

    /// Adds a run that came after this one, on the same hosts: rounds follow rounds, times and
    /// volumes add up.
    pub fn append(&mut self, next: RunReport) {
        self.converged &= next.converged;
        // Of several runs, the first in which hosts did not wait for each other tells why.
        if self.pace == Pace::Bsp {
            (self.pace, self.pace_why) = (next.pace, next.pace_why);
        }
        self.timeline.append(next.timeline, self.seconds, self.rounds.len() as u64);
        self.setup_seconds += next.setup_seconds;
        self.seconds += next.seconds;
        self.rounds.extend(next.rounds);
        for (host, next) in self.hosts.iter_mut().zip(next.hosts) {
            host.rounds += next.rounds;
            host.compute_seconds += next.compute_seconds;
            host.pack_seconds += next.pack_seconds;
            host.wait_seconds += next.wait_seconds;
            host.edges += next.edges;
            host.sent_to.iter_mut().zip(next.sent_to).for_each(|(all, sent)| *all += sent);
            host.waits += next.waits;
            host.throttled += next.throttled;
        }
    }

    /// Adds the values by which rounds are judged, which are the same on every host.
    pub(crate) fn with_measures(mut self, measures: &[Measure]) -> Self {
        for (round, &measure) in self.rounds.iter_mut().zip(measures) {
            round.measure = Some(measure);
        }
        self
    }

    /// The fewest and the most rounds of a host.
    pub fn local_rounds(&self) -> (u64, u64) {
        let rounds = || self.hosts.iter().map(|host| host.rounds);
        (rounds().min().unwrap_or(0), rounds().max().unwrap_or(0))
    }

    /// Edges worked through, by all hosts in all rounds.
    pub fn work(&self) -> u64 {
        self.hosts.iter().map(|host| host.edges).sum()
    }

    /// What all hosts sent in all rounds.
    pub fn sent(&self) -> Volume {
        let mut all = Volume::default();
        self.rounds.iter().for_each(|round| all += round.sent);
        all
    }

    /// Compute time of the slowest host in each round over that of an average host: 1 is perfect.
    /// Of hosts that did not wait for each other: that of the slowest in all.
    pub fn imbalance(&self) -> f64 {
        let slowest: f64 = match self.pace {
            Pace::Basp => self.hosts.iter().map(|host| host.compute_seconds).fold(0.0, f64::max),
            _ => self.rounds.iter().map(|round| round.compute_seconds).sum(),
        };
        let all: f64 = self.hosts.iter().map(|host| host.compute_seconds).sum();
        if all == 0.0 { 1.0 } else { slowest * self.hosts.len() as f64 / all }
    }
}
