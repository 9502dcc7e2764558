//! How much of a graph each host gets, relative to the others: as asked, the same for all, or as fast as
//! hosts turn out to be.
//!
//! A trial runs the algorithm on samples that all hosts make alike, each host for itself and all at the
//! same time, as they will share cores and devices in the run. Samples grow until the fastest host takes
//! long enough to be compared, or the slowest too long. A last one with fewer edges tells the time of an
//! edge from that of a vertex. The graph is cut by what samples show. Hosts then run some rounds on the parts
//! that they got. If parts do not fit their devices, or take longer than others, the graph is cut again.

mod balance;
mod parts;
mod samples;

use std::str::FromStr;
use std::time::Instant;

use parton_algorithms::{Algorithm, Options};
use parton_gpu::GpuHost;
use parton_net::Net;
use parton_partition::{Input, Partition, Plan};

use self::balance::{Balance, Cost, CutVerdict};
use self::samples::Shown;
use crate::devices::{HostDevice, HostDevices, partition_for};
use crate::error::{Error, Result};

/// How much of a graph each host gets, relative to the others.
#[derive(Clone, Debug, PartialEq)]
pub enum HostWeights {
    /// The same.
    Equal,
    /// In proportion to the speed that each host shows in a trial, as far as its device has memory.
    Measured,
    /// These weights, one per host.
    Given(Vec<f64>),
}

impl FromStr for HostWeights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "equal" => Ok(HostWeights::Equal),
            "auto" => Ok(HostWeights::Measured),
            _ => {
                let weights = text.split(',').map(|weight| weight.trim().parse());
                let weights = weights.collect::<Result<_, _>>().map_err(|_| {
                    format!("'{text}': expected equal, auto or a number per host, as in 4,1")
                })?;
                Ok(HostWeights::Given(weights))
            }
        }
    }
}

impl HostWeights {
    /// The weights that were asked for; hosts of different devices are measured unless they were.
    pub(crate) fn of(asked: Option<&HostWeights>, devices: &[HostDevice]) -> HostWeights {
        let is_mixed = devices.windows(2).any(|pair| pair[0].kind() != pair[1].kind());
        match asked {
            Some(asked) => asked.clone(),
            None if is_mixed => HostWeights::Measured,
            None => HostWeights::Equal,
        }
    }
}

/// A trial of all hosts.
pub(crate) struct WeightTrial<'t> {
    algorithm: &'static dyn Algorithm,
    /// What the user asked for.
    options: &'t Options,
    /// Threads of each host.
    threads: usize,
    /// The graph that is to be cut.
    input: &'t Input,
}

impl WeightTrial<'_> {
    /// A trial of an algorithm on the graph that it is to run on.
    pub(crate) fn new<'t>(
        algorithm: &'static dyn Algorithm,
        options: &'t Options,
        threads: usize,
        input: &'t Input,
    ) -> WeightTrial<'t> {
        WeightTrial { algorithm, options, threads, input }
    }

    /// Cuts the graph with a weight for each host, as asked or as measured. `build` builds a partition and
    /// tells how long that took. Every host must call this.
    pub(crate) fn cut<E: From<Error>>(
        &self,
        net: &mut Net,
        devices: &HostDevices,
        asked: Option<&HostWeights>,
        plan: &Plan,
        build: impl Fn(&mut Net, &Plan) -> Result<(Partition, f64), E>,
    ) -> Result<CutGraph, E> {
        let start = Instant::now();
        let mut computing = devices.of_all_hosts(net).map_err(Error::from)?;
        let weights = match HostWeights::of(asked, &computing) {
            HostWeights::Measured if net.num_hosts() > 1 => {
                let device = devices.get(net.host());
                let shown = self.measure(net, device, &mut computing)?;
                let trial_seconds = start.elapsed().as_secs_f64();
                let mut cut = self.cut_evenly(net, (device, computing), &shown, plan, build)?;
                cut.seconds += trial_seconds;
                return Ok(cut);
            }
            HostWeights::Equal | HostWeights::Measured => None,
            HostWeights::Given(weights) => Some(weights),
        };
        let (partition, seconds) = build(net, &Plan { host_weights: weights, ..plan.clone() })?;
        Ok(CutGraph { partition: partition_for(&computing, partition), computing, seconds })
    }

    /// Cuts the graph by what hosts have shown, again where parts do not fit or do not take equally long.
    fn cut_evenly<E: From<Error>>(
        &self,
        net: &mut Net,
        (device, mut computing): (Option<&GpuHost>, Vec<HostDevice>),
        shown: &[Shown],
        plan: &Plan,
        build: impl Fn(&mut Net, &Plan) -> Result<(Partition, f64), E>,
    ) -> Result<CutGraph, E> {
        let all_edges = self.input.num_edges().unwrap_or(0) as f64;
        let mut weights = bounded_shares(shown, all_edges);
        let (mut balance, mut seconds) = (Balance::default(), 0.0);
        loop {
            let plan = Plan { host_weights: Some(weights.clone()), ..plan.clone() };
            let (partition, took) = build(net, &plan)?;
            let partition = partition_for(&computing, partition);
            let start = Instant::now();
            let forecast = shown[net.host().index()].forecast(&partition, device)?;
            let mut costs = all_costs(net, forecast)?;
            // Engines of parts that do not fit would fail.
            let timed = match costs.iter().all(Cost::fits) {
                true => self.time_parts(net, &partition, device)?,
                false => None,
            };
            if let Some(timed) = &timed {
                // The memory is that of the engine that was timed.
                let forecast = shown[net.host().index()].forecast(&partition, device)?;
                costs = all_costs(net, forecast)?;
                for (cost, timed) in costs.iter_mut().zip(timed) {
                    (cost.seconds, cost.compute_seconds) = (timed.seconds, timed.compute_seconds);
                }
            }
            seconds += took + start.elapsed().as_secs_f64();
            match balance.judge(&weights, &costs, timed.is_some()) {
                CutVerdict::CutAgain(better) => weights = better,
                CutVerdict::Take { is_memory_bound } => {
                    for (device, is_bound) in computing.iter_mut().zip(is_memory_bound) {
                        device.is_memory_bound = is_bound;
                    }
                    return Ok(CutGraph { partition, computing, seconds });
                }
            }
        }
    }
}

/// A graph cut over hosts.
pub(crate) struct CutGraph {
    /// This host's part.
    pub(crate) partition: Partition,
    /// What computes for each host.
    pub(crate) computing: Vec<HostDevice>,
    /// What measuring hosts and cutting took.
    pub(crate) seconds: f64,
}

/// Tells all hosts what each expects of its part. Every host must call this.
fn all_costs(net: &mut Net, own: Cost) -> Result<Vec<Cost>> {
    let all = net.all_gather(bytemuck::bytes_of(&own).to_vec())?;
    Ok(all.iter().map(|cost| bytemuck::pod_read_unaligned(cost)).collect())
}

impl Shown {
    /// What this host expects of its part before it has run anything there.
    fn forecast(&self, partition: &Partition, device: Option<&GpuHost>) -> Result<Cost> {
        let (edges, proxies) = (partition.edges().num_edges(), partition.num_proxies());
        let seconds = self.edge_seconds * edges as f64 + self.vertex_seconds * proxies as f64;
        let cost = Cost {
            seconds,
            compute_seconds: seconds,
            free_bytes: f64::INFINITY,
            ..Cost::default()
        };
        let planned = device.and_then(GpuHost::memory_model).map(|model| model.plan(partition));
        Ok(match (planned, device) {
            (Some(plan), Some(gpu)) => Cost {
                edge_bytes: plan.edges as f64,
                other_bytes: (plan.total() - plan.edges) as f64,
                free_bytes: gpu.free_memory()? as f64,
                ..cost
            },
            _ => cost,
        })
    }
}

/// A part of the graph for each host: as fast as it is, and no more edges than fit. What does not fit
/// one host is shared out among the others in proportion to their speeds.
fn bounded_shares(hosts: &[Shown], all_edges: f64) -> Vec<f64> {
    let mut shares = vec![0.0; hosts.len()];
    let mut is_full = vec![false; hosts.len()];
    loop {
        let taken: f64 = (0..hosts.len()).filter(|&h| is_full[h]).map(|h| shares[h]).sum();
        let open = || (0..hosts.len()).filter(|&host| !is_full[host]);
        let speed: f64 = open().map(|host| hosts[host].speed).sum();
        let mut overflows = Vec::new();
        for host in open().collect::<Vec<_>>() {
            shares[host] = (1.0 - taken).max(0.0) * hosts[host].speed / speed;
            let most = hosts[host].most_edges / all_edges.max(1.0);
            if shares[host] > most {
                overflows.push((host, most));
            }
        }
        // If no host has room, memory is checked again when the graph is cut.
        if overflows.is_empty() || overflows.len() == open().count() {
            return shares.into_iter().map(|share| share.max(1e-9)).collect();
        }
        for (host, most) in overflows {
            shares[host] = most;
            is_full[host] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(speed: f64, most_edges: f64) -> Shown {
        Shown { speed, most_edges, ..Shown::default() }
    }

    #[test]
    fn weights_are_read() {
        assert_eq!("equal".parse(), Ok(HostWeights::Equal));
        assert_eq!("auto".parse(), Ok(HostWeights::Measured));
        assert_eq!("4,1.5".parse(), Ok(HostWeights::Given(vec![4.0, 1.5])));
        let message = "'4,x': expected equal, auto or a number per host, as in 4,1";
        assert_eq!("4,x".parse::<HostWeights>(), Err(message.to_owned()));
    }

    #[test]
    fn shares_follow_speeds_as_far_as_memory_goes() {
        let free = f64::INFINITY;
        let rounded = |hosts: &[Shown]| -> Vec<u64> {
            bounded_shares(hosts, 1000.0)
                .iter()
                .map(|share| (share * 1000.0).round() as u64)
                .collect()
        };
        assert_eq!(rounded(&[host(9.0, free), host(1.0, free)]), [900, 100]);
        assert_eq!(rounded(&[host(9.0, 600.0), host(1.0, free)]), [600, 400]);
        // The second overflows only because of what the first leaves.
        assert_eq!(
            rounded(&[host(8.0, 100.0), host(1.0, 300.0), host(1.0, free)]),
            [100, 300, 600]
        );
        // No host has room for all: speeds decide.
        assert_eq!(rounded(&[host(3.0, 10.0), host(1.0, 10.0)]), [750, 250]);
    }

    #[test]
    fn mixed_hosts_are_measured_unless_asked_otherwise() {
        let hosts = |names: &[&str]| -> Vec<HostDevice> {
            names
                .iter()
                .map(|name| HostDevice { name: (*name).into(), ..HostDevice::default() })
                .collect()
        };
        assert_eq!(HostWeights::of(None, &hosts(&["cpu", "cpu"])), HostWeights::Equal);
        assert_eq!(HostWeights::of(None, &hosts(&["gpu:0", "gpu:1"])), HostWeights::Equal);
        assert_eq!(HostWeights::of(None, &hosts(&["gpu:0", "cpu"])), HostWeights::Measured);
        let asked = HostWeights::Given(vec![1.0, 2.0]);
        assert_eq!(HostWeights::of(Some(&asked), &hosts(&["gpu:0", "cpu"])), asked);
    }
}
