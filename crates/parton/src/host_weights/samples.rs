//! Samples that hosts run before a graph is cut: what an edge and a vertex cost each of them.

use parton_engine::device::Device;
use parton_gpu::GpuHost;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_net::{Cluster, Net};
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};

use super::WeightTrial;
use crate::devices::HostDevice;
use crate::error::Result;
use parton_algorithms::{Job, Options};

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
/// How many times as many edges per vertex the larger samples have as the last.
const THINNING: f64 = 4.0;

/// What a host shows in a trial. Hosts tell each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Shown {
    /// Edges per second of a whole run.
    pub(super) speed: f64,
    /// Seconds of a round for each edge,
    pub(super) edge_seconds: f64,
    /// and for each vertex.
    pub(super) vertex_seconds: f64,
    /// Edges that fit its memory; infinite for a processor.
    pub(super) most_edges: f64,
}

/// One run on a sample.
#[derive(Clone, Copy, Default)]
struct SampleRun {
    edges: f64,
    vertices: f64,
    seconds: f64,
    rounds: f64,
    /// Bytes of the device's memory.
    bytes: f64,
}

impl WeightTrial<'_> {
    /// Measures all hosts, notes their speeds, and returns what each has shown. Every host must call this
    /// with its own device.
    pub(super) fn measure(
        &self,
        net: &mut Net,
        device: Option<&GpuHost>,
        devices: &mut [HostDevice],
    ) -> Result<Vec<Shown>> {
        let degree = self.input.average_degree().unwrap_or(DEGREE).clamp(1.0, MAX_DEGREE);
        let mut largest = None;
        for scale in (FIRST_SCALE..=LAST_SCALE).step_by(SCALE_STEP as usize) {
            let outcome = self.run_sample((scale, degree), device);
            // A host that cannot go on tells the others, so that none waits for it.
            let mine = outcome.as_ref().map_or(f64::INFINITY, |run| run.seconds);
            let [fastest, slowest] =
                net.all_reduce([mine, mine], |a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
            if slowest.is_infinite() && largest.is_some() {
                break;
            }
            largest = Some((scale, outcome?));
            if fastest >= ENOUGH_SECONDS || slowest >= MAX_SECONDS {
                break;
            }
        }
        let (scale, dense) = largest.unwrap_or_default();
        // All hosts run it at the same time, as they did the larger ones.
        let thin = self.run_sample((scale, (degree / THINNING).max(1.0)), device)?;
        let own = shown(&dense, &thin, device)?;
        let all = net.all_gather(bytemuck::bytes_of(&own).to_vec())?;
        let all: Vec<Shown> = all.iter().map(|host| bytemuck::pod_read_unaligned(host)).collect();
        for (device, shown) in devices.iter_mut().zip(&all) {
            device.speed = Some(shown.speed);
        }
        Ok(all)
    }

    /// Runs a sample of this scale and degree on this host alone.
    fn run_sample(
        &self,
        (scale, degree): (u32, f64),
        device: Option<&GpuHost>,
    ) -> Result<SampleRun> {
        let spec = format!("rmat:{scale},{}", degree.round());
        // Only the engine is that of the user: other options may name vertices that samples do not have.
        let options = Options { engine: self.options.engine, ..Options::default() };
        let fit = self.algorithm.needs(&options).fit();
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
            let mut sample = SampleRun {
                edges: partition.num_edges() as f64,
                vertices: partition.num_proxies() as f64,
                seconds: f64::INFINITY,
                ..SampleRun::default()
            };
            for _ in 0..RUNS {
                let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
                let device = device.map(|gpu| gpu as &dyn Device);
                let (options, watch) = (&options, &mut ());
                let job = &mut Job { substrate: &mut substrate, options, watch, device };
                let report = self.algorithm.run(job)?.report;
                sample.seconds = sample.seconds.min(report.seconds);
                sample.rounds = report.rounds.len() as f64;
            }
            let model = device.and_then(GpuHost::memory_model);
            sample.bytes = model.map_or(0.0, |model| model.plan(&partition).total() as f64);
            Ok(sample)
        })?;
        Ok(runs.swap_remove(0))
    }
}

/// What a host has shown in runs on two samples, of which the second has fewer edges for each vertex.
fn shown(dense: &SampleRun, thin: &SampleRun, device: Option<&GpuHost>) -> Result<Shown> {
    let most_edges = match device {
        None => f64::INFINITY,
        Some(gpu) => {
            let bytes_per_edge = dense.bytes / dense.edges.max(1.0);
            (gpu.free_memory()? as f64 / bytes_per_edge.max(1.0)).max(1.0)
        }
    };
    let (edge_seconds, vertex_seconds) = costs(dense, thin);
    // A clock that does not move gives no speed.
    let speed = dense.edges.max(1.0) / dense.seconds.max(1e-9);
    Ok(Shown { speed, edge_seconds, vertex_seconds, most_edges })
}

/// Seconds of a round for each edge and for each vertex, by two samples.
fn costs(dense: &SampleRun, thin: &SampleRun) -> (f64, f64) {
    let round = |run: &SampleRun| run.seconds.max(1e-9) / run.rounds.max(1.0);
    let (dense_round, thin_round) = (round(dense), round(thin));
    let determinant = dense.edges * thin.vertices - thin.edges * dense.vertices;
    let per_edge = (dense_round * thin.vertices - thin_round * dense.vertices) / determinant;
    let per_vertex = (dense.edges * thin_round - thin.edges * dense_round) / determinant;
    match per_edge > 0.0 && per_vertex > 0.0 {
        true => (per_edge, per_vertex),
        // Noise, or samples without edges.
        false => (dense_round / dense.edges.max(1.0), 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples_tell_edges_from_vertices() {
        let run = |edges, vertices, rounds| {
            let seconds = rounds * (2e-9 * edges + 5e-9 * vertices);
            SampleRun { edges, vertices, seconds, rounds, bytes: 0.0 }
        };
        let (edge, vertex) = costs(&run(16000.0, 1000.0, 20.0), &run(4000.0, 1000.0, 15.0));
        assert!((edge - 2e-9).abs() < 1e-15 && (vertex - 5e-9).abs() < 1e-15, "{edge} {vertex}");
        // Samples that contradict each other.
        let noisy = SampleRun { seconds: 1.0, ..run(4000.0, 1000.0, 1.0) };
        let (edge, vertex) = costs(&run(16000.0, 1000.0, 1.0), &noisy);
        assert!(edge > 0.0 && vertex == 0.0);
        let (edge, vertex) = costs(&SampleRun::default(), &SampleRun::default());
        assert!(edge > 0.0 && vertex == 0.0);
    }
}
