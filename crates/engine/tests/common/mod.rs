//! Running programs on small graphs over any cluster, and a second way to run them that is too
//! plain to be wrong.

#![allow(dead_code, reason = "each file of tests uses some of it")]

pub(crate) mod device;
#[path = "../../../sync/tests/common/device.rs"]
pub(crate) mod device_field;
#[path = "../../../sync/tests/common/mod.rs"]
pub(crate) mod hosts;
pub(crate) mod programs;
pub(crate) mod properties;

use parton_engine::program::Accumulated;
use parton_engine::simulated::SimulatedHost;
use parton_engine::{
    EdgeView, Edges, EngineInfo, Limits, Pacing, ProgramEngine, Relaxation, RelaxationEngine,
    RunReport, Tally, Vertex, VertexProgram, engines, run,
};
use parton_graph::{Graph, LocalId};
use parton_net::Cluster;
use parton_partition::Partition;
use parton_sync::{Error, Optimize, Reduction, Substrate};

use device::{DeviceProgram, DeviceRelaxation};

/// How to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) engine: &'static EngineInfo,
    pub(crate) optimize: Optimize,
    pub(crate) pacing: Pacing,
    pub(crate) limits: Limits,
    /// Which hosts are made-up devices.
    pub(crate) devices: Devices,
    /// Where work shall take virtual time: how many times as long as others host 1 takes.
    pub(crate) slowness: Option<f64>,
}

impl How {
    /// With more rounds than any program here takes: one that would never end fails instead.
    pub(crate) fn new(engine: &'static EngineInfo) -> Self {
        let limits = Limits { max_rounds: Some(1000) };
        let (optimize, pacing) = (Optimize::ALL, Pacing::default());
        How { engine, optimize, pacing, limits, devices: Devices::None, slowness: None }
    }

    fn watch(self, substrate: &mut Substrate<'_>) -> SimulatedHost {
        let is_slow = substrate.net().host().index() == 1;
        SimulatedHost(self.slowness.map_or(0.0, |slowness| if is_slow { slowness } else { 1.0 }))
    }
}

/// Which hosts are made-up devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    None,
    /// Every other one.
    Mixed,
    All,
}

impl Devices {
    fn include(self, part: &Partition) -> bool {
        match self {
            Devices::None => false,
            Devices::Mixed => part.host().index() % 2 == 1,
            Devices::All => true,
        }
    }
}

/// Every engine that runs any program.
pub(crate) fn engines() -> impl Iterator<Item = &'static EngineInfo> {
    engines::GENERAL.iter().copied()
}

/// The states of all vertices after a run of a program, and the report that all hosts agree on.
pub(crate) fn run_program<P: VertexProgram>(
    cluster: &mut Cluster,
    parts: &[Partition],
    how: How,
    program: impl Fn() -> P + Sync,
) -> (Vec<P::State>, RunReport) {
    on_all(cluster, parts, how, |part, substrate| {
        let mut engine: Box<dyn ProgramEngine<P>> = match how.devices.include(part) {
            true => Box::new(DeviceProgram::new(program(), part)),
            false => engines::vertex_program(how.engine, None, program(), part)?,
        };
        let watch = &mut how.watch(substrate);
        let report = run(&mut *engine, substrate, how.pacing, how.limits, watch)?;
        Ok((engine.states()?.to_vec(), report))
    })
}

/// The same for a relaxation.
pub(crate) fn run_relaxation<P: Relaxation>(
    cluster: &mut Cluster,
    parts: &[Partition],
    how: How,
    program: &P,
) -> (Vec<P::Label>, RunReport) {
    on_all(cluster, parts, how, |part, substrate| {
        let mut engine: Box<dyn RelaxationEngine<P>> = match how.devices.include(part) {
            true => Box::new(DeviceRelaxation::new(program, part, u64::MAX)),
            false => engines::relaxation(how.engine, None, program, part)?,
        };
        let watch = &mut how.watch(substrate);
        let report = run(&mut *engine, substrate, how.pacing, how.limits, watch)?;
        Ok((engine.labels()?, report))
    })
}

fn on_all<S: Copy + Send>(
    cluster: &mut Cluster,
    parts: &[Partition],
    how: How,
    host: impl Fn(&Partition, &mut Substrate<'_>) -> Result<(Vec<S>, RunReport), Error> + Sync,
) -> (Vec<S>, RunReport) {
    let outcomes = hosts::on_hosts(cluster, parts, how.optimize, host);
    let report = outcomes[0].1.clone();
    let mut all = Vec::new();
    for (part, (states, other)) in parts.iter().zip(outcomes) {
        assert_eq!(known_everywhere(&other), known_everywhere(&report), "one report");
        assert_eq!(states.len(), part.num_masters(), "a state for every master");
        let globals = (0..).map(|local| part.global(LocalId(local)));
        all.extend(globals.zip(states));
    }
    all.sort_by_key(|(global, _)| *global);
    (all.into_iter().map(|(_, state)| state).collect(), report)
}

/// A report without what only host 0 knows.
fn known_everywhere(report: &RunReport) -> RunReport {
    let mut report = report.clone();
    report.timeline = Default::default();
    for host in &mut report.hosts {
        host.sent_to.clear();
        host.round_times.clear();
    }
    report
}

/// What a program does, word by word, in one thread on the whole graph: the states, and how many
/// rounds they took.
pub(crate) fn serial<P>(graph: &Graph, limits: Limits, program: &P) -> (Vec<P::State>, u64)
where
    P: VertexProgram + Clone,
{
    let mut program = program.clone();
    let properties = program.properties();
    let ways = ways::<P>(graph, properties.edges);
    let globals: Vec<u32> = (0..graph.num_vertices() as u32).collect();
    let vertex = |v: usize| Vertex::new(&globals, LocalId(v as u32));
    let vertices = graph.num_vertices();
    let mut states: Vec<_> = (0..vertices).map(|v| program.init(vertex(v))).collect();
    let mut messages: Vec<_> =
        states.iter().enumerate().map(|(v, state)| program.scatter(vertex(v), state)).collect();
    let mut rounds = 0;
    while limits.max_rounds.is_none_or(|most| rounds < most) {
        let mut arrived: Vec<Option<Accumulated<P>>> = vec![None; vertices];
        for &(from, to, weight) in &ways {
            if let Some(message) = messages[from] {
                let value = program.along(message, weight);
                let all = arrived[to].map_or(value, |all| P::Reduction::combine(all, value));
                arrived[to] = Some(all);
            }
        }
        if !properties.stationary {
            messages.fill(None);
        }
        let mut tally = Tally::default();
        for (v, state) in states.iter_mut().enumerate() {
            if !properties.stationary && arrived[v].is_none() {
                continue;
            }
            let all = arrived[v].unwrap_or_else(P::Reduction::identity);
            if program.apply(vertex(v), state, all, &mut tally) {
                messages[v] = program.scatter(vertex(v), state).or(messages[v]);
            }
        }
        tally.active = ways.iter().filter(|(from, ..)| messages[*from].is_some()).count() as u64;
        rounds += 1;
        if program.conclude(&tally) {
            break;
        }
    }
    (states, rounds)
}

type Way<W> = (usize, usize, W);

/// The edges that messages take, as plain pairs.
fn ways<P: VertexProgram>(graph: &Graph, edges: Edges) -> Vec<Way<P::Weight>> {
    let view = EdgeView::<P::Weight>::new(&graph.adjacency);
    let mut ways = Vec::new();
    for source in (0..graph.num_vertices() as u32).map(LocalId) {
        for (target, weight) in view.rows().edges(source) {
            let (s, t) = (source.index(), target.index());
            if edges != Edges::In {
                ways.push((s, t, weight));
            }
            if edges != Edges::Out {
                ways.push((t, s, weight));
            }
        }
    }
    ways
}
