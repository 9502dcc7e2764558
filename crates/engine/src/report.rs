//! The account of a run: per round, per host, and in all.

pub mod timeline;

use bytemuck::{Pod, Zeroable};
use parton_net::{HostId, Net};
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

/// A round of all hosts, as host 0 tells the others.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RoundSum {
    changed: u64,
    edges: u64,
    compute_seconds: f64,
    seconds: f64,
    sent: Volume,
}

/// All rounds of a host, as host 0 tells the others.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct HostSum {
    record: HostRecord,
    rounds: u64,
    compute_seconds: f64,
    pack_seconds: f64,
    wait_seconds: f64,
    edges: u64,
    sent: Volume,
}

/// A run, the same on every host but for what only host 0 knows.
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

/// How one host spent one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundTimes {
    /// Seconds in the engine.
    pub compute: f64,
    /// Seconds of packing, unpacking, sending.
    pub pack: f64,
    /// Seconds in which it waited for others.
    pub wait: f64,
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
    /// What it sent in all.
    pub sent: Volume,
    /// What it sent to each host. Only host 0 knows; on every host it would be memory per pair of hosts.
    pub sent_to: Vec<Volume>,
    /// How it spent each of its rounds. Only host 0 knows.
    pub round_times: Vec<RoundTimes>,
    /// How it waited outside BSP rounds.
    pub waits: Waits,
    /// Labels that it held back.
    pub throttled: Throttled,
}

impl HostReport {
    fn sum(&self, setup_seconds: f64, seconds: f64) -> HostSum {
        let (waits, throttled) = (self.waits, self.throttled);
        HostSum {
            record: HostRecord { setup_seconds, seconds, waits, throttled },
            rounds: self.rounds,
            compute_seconds: self.compute_seconds,
            pack_seconds: self.pack_seconds,
            wait_seconds: self.wait_seconds,
            edges: self.edges,
            sent: self.sent,
        }
    }

    /// All time that is not the engine's.
    pub fn other_seconds(&self) -> f64 {
        self.pack_seconds + self.wait_seconds
    }
}

impl HostSum {
    fn report(&self) -> HostReport {
        HostReport {
            rounds: self.rounds,
            compute_seconds: self.compute_seconds,
            pack_seconds: self.pack_seconds,
            wait_seconds: self.wait_seconds,
            edges: self.edges,
            sent: self.sent,
            waits: self.record.waits,
            throttled: self.record.throttled,
            ..HostReport::default()
        }
    }
}

impl RoundSum {
    fn of(round: &RoundReport) -> Self {
        let RoundReport { changed, edges, compute_seconds, seconds, sent, measure: _ } = *round;
        RoundSum { changed, edges, compute_seconds, seconds, sent }
    }

    fn report(&self) -> RoundReport {
        let RoundSum { changed, edges, compute_seconds, seconds, sent } = *self;
        RoundReport { changed, edges, compute_seconds, seconds, sent, measure: None }
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
        let root = HostId(0);
        let all_hosts = net.gather(root, bytemuck::bytes_of(&host).to_vec())?;
        let all_records = net.gather(root, bytemuck::cast_slice(records).to_vec())?;
        let all_sent = net.gather(root, bytemuck::cast_slice(sent_to).to_vec())?;
        let all = all_hosts.unwrap_or_default().into_iter().zip(all_records.unwrap_or_default());
        for ((host, records), sent) in all.zip(all_sent.unwrap_or_default()) {
            let record = bytemuck::pod_read_unaligned(&host);
            self.take_in(record, &bytemuck::pod_collect_to_vec(&records));
            if let Some(host) = self.hosts.last_mut() {
                host.sent_to = bytemuck::pod_collect_to_vec(&sent);
            }
        }
        let rounds: Vec<RoundSum> = self.rounds.iter().map(RoundSum::of).collect();
        let sum = |host: &HostReport| host.sum(self.setup_seconds, self.seconds);
        let hosts: Vec<HostSum> = self.hosts.iter().map(sum).collect();
        let rounds = net.broadcast(root, bytemuck::cast_slice(&rounds).to_vec())?;
        let hosts = net.broadcast(root, bytemuck::cast_slice(&hosts).to_vec())?;
        if net.host() != root {
            let rounds: Vec<RoundSum> = bytemuck::pod_collect_to_vec(&rounds);
            self.rounds = rounds.iter().map(RoundSum::report).collect();
            let hosts: Vec<HostSum> = bytemuck::pod_collect_to_vec(&hosts);
            let setups = hosts.iter().map(|sum| sum.record.setup_seconds);
            self.setup_seconds = setups.fold(0.0, f64::max);
            self.seconds = hosts.iter().map(|sum| sum.record.seconds).fold(0.0, f64::max);
            self.hosts = hosts.iter().map(HostSum::report).collect();
        }
        Ok(self)
    }

    /// Adds one host's account of its rounds.
    fn take_in(&mut self, record: HostRecord, records: &[RoundRecord]) {
        let HostRecord { setup_seconds, seconds, waits, throttled } = record;
        self.setup_seconds = self.setup_seconds.max(setup_seconds);
        self.seconds = self.seconds.max(seconds);
        let mut host =
            HostReport { rounds: records.len() as u64, waits, throttled, ..HostReport::default() };
        self.rounds.resize(self.rounds.len().max(records.len()), RoundReport::default());
        for (round, record) in self.rounds.iter_mut().zip(records) {
            let (compute, wait) = (record.compute_seconds, record.wait_seconds);
            let pack = (record.total_seconds - wait - compute).max(0.0);
            round.changed += record.changed;
            round.edges += record.edges;
            round.compute_seconds = round.compute_seconds.max(compute);
            round.seconds = round.seconds.max(record.total_seconds);
            round.sent += record.sent;
            host.compute_seconds += compute;
            host.wait_seconds += wait;
            host.pack_seconds += pack;
            host.edges += record.edges;
            host.sent += record.sent;
            host.round_times.push(RoundTimes { compute, pack, wait });
        }
        self.hosts.push(host);
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
            host.sent += next.sent;
            host.round_times.extend(next.round_times);
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
