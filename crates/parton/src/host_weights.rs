//! How much of a graph each host gets, relative to the others: as asked, the same for all, or as fast as
//! hosts turn out to be.
//!
//! A trial runs the algorithm on samples that all hosts make alike, each host for itself and all at the
//! same time, as they will share cores and devices in the run. Samples grow until the fastest host takes
//! long enough to be compared, or the slowest too long. What a sample takes of a device's memory tells
//! how many edges fit.

use std::str::FromStr;

use parton_algorithms::{Algorithm, Job, Options};
use parton_engine::device::Device;
use parton_gpu::GpuHost;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_net::{Cluster, Net};
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

use crate::devices::{HostDevice, HostDevices};
use crate::error::Result;

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

/// Vertices of the first sample, as a power of two,
const FIRST_SCALE: u32 = 10;
/// of the last,
const LAST_SCALE: u32 = 20;
/// and what is added from one to the next.
const SCALE_STEP: u32 = 2;
/// Samples grow until the fastest host takes this long,
const ENOUGH_SECONDS: f64 = 0.02;
/// or a trial this long.
const MAX_SECONDS: f64 = 0.25;
/// Times that each sample is run, of which the fastest counts.
const RUNS: usize = 2;
/// Edges of a vertex in a sample, unless the input says how many it has; and the most of them.
const DEGREE: f64 = 16.0;
const MAX_DEGREE: f64 = 64.0;
/// The part of a device's memory that is left free: parts of a graph are not cut exactly, and samples run
/// alone, without messages.
const RESERVE: f64 = 1.0 / 4.0;

/// A trial of all hosts.
pub(crate) struct Trial<'t> {
    algorithm: &'static dyn Algorithm,
    options: Options,
    /// Threads of each host.
    threads: usize,
    /// The graph that is to be cut.
    input: &'t Input,
}

impl Trial<'_> {
    /// A trial of an algorithm as it is run without any options but the engine: others may name vertices
    /// that samples do not have.
    pub(crate) fn new<'t>(
        algorithm: &'static dyn Algorithm,
        options: &Options,
        threads: usize,
        input: &'t Input,
    ) -> Trial<'t> {
        let options = Options { engine: options.engine, ..Options::default() };
        Trial { algorithm, options, threads, input }
    }

    /// The plan with a weight for each host, and what computes for each. Every host must call this.
    pub(crate) fn settle(
        &self,
        net: &mut Net,
        devices: &HostDevices,
        asked: Option<&HostWeights>,
        plan: &Plan,
    ) -> Result<(Plan, Vec<HostDevice>)> {
        let mut all = devices.of_all_hosts(net)?;
        let host_weights = match HostWeights::of(asked, &all) {
            HostWeights::Measured if net.num_hosts() > 1 => {
                Some(self.on_host(net, devices.get(net.host()), &mut all)?)
            }
            HostWeights::Equal | HostWeights::Measured => None,
            HostWeights::Given(weights) => Some(weights),
        };
        Ok((Plan { host_weights, ..plan.clone() }, all))
    }
}

/// What a host shows in a trial. Hosts tell each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Shown {
    /// Edges per second.
    speed: f64,
    /// Edges that fit its memory; infinite for a processor.
    most_edges: f64,
}

/// One run on a sample.
#[derive(Clone, Copy, Default)]
struct SampleRun {
    edges: f64,
    seconds: f64,
    /// Bytes of the device's memory.
    bytes: f64,
}

impl Trial<'_> {
    /// Measures all hosts, notes their speeds, and returns a weight for each. Every host must call this
    /// with its own device.
    fn on_host(
        &self,
        net: &mut Net,
        device: Option<&GpuHost>,
        devices: &mut [HostDevice],
    ) -> Result<Vec<f64>> {
        let mut runs: Vec<SampleRun> = Vec::new();
        for scale in (FIRST_SCALE..=LAST_SCALE).step_by(SCALE_STEP as usize) {
            let outcome = self.run_sample(scale, device);
            // A host that cannot go on tells the others, so that none waits for it.
            let mine = outcome.as_ref().map_or(f64::INFINITY, |run| run.seconds);
            let [fastest, slowest] =
                net.all_reduce([mine, mine], |a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
            if slowest.is_infinite() && !runs.is_empty() {
                break;
            }
            runs.push(outcome?);
            if fastest >= ENOUGH_SECONDS || slowest >= MAX_SECONDS {
                break;
            }
        }
        let own = shown(&runs, device)?;
        let all = net.all_gather(bytemuck::bytes_of(&own).to_vec())?;
        let all: Vec<Shown> = all.iter().map(|host| bytemuck::pod_read_unaligned(host)).collect();
        for (device, shown) in devices.iter_mut().zip(&all) {
            device.speed = Some(shown.speed);
        }
        Ok(bounded_shares(&all, self.input.num_edges().unwrap_or(0) as f64))
    }

    /// Runs a sample on this host alone.
    fn run_sample(&self, scale: u32, device: Option<&GpuHost>) -> Result<SampleRun> {
        let degree = self.input.average_degree().unwrap_or(DEGREE).clamp(1.0, MAX_DEGREE);
        let spec = format!("rmat:{scale},{}", degree.round());
        let fit = self.algorithm.needs(&self.options).fit();
        let mut graph = parton_graph::generate::Spec::parse(&spec)
            .and_then(|spec| spec.generate(&Silent))
            .map_err(parton_partition::Error::from)?;
        if fit.weights {
            graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
        }
        let input = Input::from(graph).fitted(fit);
        let mut cluster = Cluster::local(1).threads_per_host(self.threads);
        let mut runs = cluster.launch(|net| -> Result<SampleRun> {
            let partition = Partition::build(net, &input, &Plan::new("oec"))?;
            let mut seconds = f64::INFINITY;
            for _ in 0..RUNS {
                let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
                let device = device.map(|gpu| gpu as &dyn Device);
                let (options, watch) = (&self.options, &mut ());
                let job = &mut Job { substrate: &mut substrate, options, watch, device };
                seconds = seconds.min(self.algorithm.run(job)?.report.seconds);
            }
            let bytes = device.map_or(0, GpuHost::planned_bytes) as f64;
            Ok(SampleRun { edges: partition.num_edges() as f64, seconds, bytes })
        })?;
        Ok(runs.swap_remove(0))
    }
}

/// What a host has shown in runs on growing samples.
fn shown(runs: &[SampleRun], device: Option<&GpuHost>) -> Result<Shown> {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        return Ok(Shown::default());
    };
    let most_edges = match device {
        None => f64::INFINITY,
        Some(gpu) => {
            // What does not grow with the edges is not the edges'.
            let per_edge = match last.edges > first.edges {
                true => (last.bytes - first.bytes) / (last.edges - first.edges),
                false => last.bytes / last.edges.max(1.0),
            };
            let fixed = (last.bytes - per_edge * last.edges).max(0.0);
            let free = gpu.free_memory()? as f64;
            ((free * (1.0 - RESERVE) - fixed) / per_edge.max(1.0)).max(1.0)
        }
    };
    // A clock that does not move gives no speed.
    Ok(Shown { speed: last.edges.max(1.0) / last.seconds.max(1e-9), most_edges })
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
        // If nobody has room, memory is checked again when the graph is cut.
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
        Shown { speed, most_edges }
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
        // Nobody has room for all: speeds decide.
        assert_eq!(rounded(&[host(3.0, 10.0), host(1.0, 10.0)]), [750, 250]);
    }

    #[test]
    fn mixed_hosts_are_measured_unless_asked_otherwise() {
        let hosts = |names: &[&str]| -> Vec<HostDevice> {
            names.iter().map(|name| HostDevice { name: (*name).into(), speed: None }).collect()
        };
        assert_eq!(HostWeights::of(None, &hosts(&["cpu", "cpu"])), HostWeights::Equal);
        assert_eq!(HostWeights::of(None, &hosts(&["gpu:0", "gpu:1"])), HostWeights::Equal);
        assert_eq!(HostWeights::of(None, &hosts(&["gpu:0", "cpu"])), HostWeights::Measured);
        let asked = HostWeights::Given(vec![1.0, 2.0]);
        assert_eq!(HostWeights::of(Some(&asked), &hosts(&["gpu:0", "cpu"])), asked);
    }
}
