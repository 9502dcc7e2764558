//! Engines on a device against those on the CPU: every policy, several host counts, devices alone and
//! beside ordinary hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_engine::device::{Device, DeviceProgram};
use parton_engine::{
    Edges, EngineInfo, Limits, Pacing, Properties, Relaxation, Vertex, VertexProgram, device,
    engines, run,
};
use parton_gpu::{GpuHost, discover};
use parton_gpu::cuda::nvrtc::Nvrtc;
use parton_gpu::emulated::{Emulated, Settings};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan, policies};
use parton_sync::reduction::{Latest, Min, Sum};
use parton_sync::{Optimize, Substrate, Tally};

use crate::common::{emulated, is_gpu_wanted, say};

/// Least sums of weights, or numbers of edges, from vertex 0.
struct Paths {
    edges: Edges,
}

impl Relaxation for Paths {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = u32;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id().0 == 0).then_some(0)
    }

    fn relax(&self, label: u32, weight: u32) -> u32 {
        label.saturating_add(weight)
    }

    fn edges(&self) -> Edges {
        self.edges
    }

    fn bucket(&self, label: u32) -> usize {
        (label >> 2) as usize
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE Option<Label> start(const Program&, Vertex vertex) { return {vertex.global == 0, 0}; }
            DEVICE Label relax(const Program&, Label label, Weight weight) {
                return label + weight < label ? 0xffffffffu : label + weight;
            }
            DEVICE u64 bucket(const Program&, Label label) { return label >> 2; }";
        let program = DeviceProgram::new(TEXT, &["bucket"]);
        let program = program.with_type::<u32>("Label").with_type::<u32>("Weight");
        Some(program.with_reduction::<Min<u32>>("Fold"))
    }
}

/// Numbers of edges from vertex 0.
struct Hops;

impl Relaxation for Hops {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id().0 == 0).then_some(0)
    }

    fn relax(&self, label: u32, (): ()) -> u32 {
        label + 1
    }

    fn first_wins(&self) -> bool {
        true
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE Option<Label> start(const Program&, Vertex vertex) { return {vertex.global == 0, 0}; }
            DEVICE Label relax(const Program&, Label label, Weight) { return label + 1; }";
        let program = DeviceProgram::new(TEXT, &[]);
        let program = program.with_type::<u32>("Label").with_type::<()>("Weight");
        Some(program.with_reduction::<Min<u32>>("Fold"))
    }
}

/// The least vertex that a path joins.
struct Least;

impl Relaxation for Least {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        Some(vertex.id().0 as u32)
    }

    fn relax(&self, label: u32, (): ()) -> u32 {
        label
    }

    fn passes_unchanged(&self) -> bool {
        true
    }

    fn edges(&self) -> Edges {
        Edges::Both
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE Option<Label> start(const Program&, Vertex vertex) { return {true, (u32)vertex.global}; }
            DEVICE Label relax(const Program&, Label label, Weight) { return label; }";
        let program = DeviceProgram::new(TEXT, &[]);
        let program = program.with_type::<u32>("Label").with_type::<()>("Weight");
        Some(program.with_reduction::<Min<u32>>("Fold"))
    }
}

/// Tokens that are passed on for some rounds: a sum that shows lost and doubled contributions.
struct Tokens {
    rounds: u64,
    round: u64,
    stationary: bool,
    edges: Edges,
}

impl VertexProgram for Tokens {
    type State = u64;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Sum<u64>;
    type Weight = ();

    fn init(&self, vertex: Vertex<'_>) -> u64 {
        if self.stationary || vertex.id().0 % 3 == 1 { vertex.id().0 + 1 } else { 0 }
    }

    fn scatter(&self, _: Vertex<'_>, state: &u64) -> Option<u64> {
        (*state != 0 || self.stationary).then_some(*state)
    }

    fn along(&self, message: u64, (): ()) -> u64 {
        message
    }

    fn apply(&self, _: Vertex<'_>, state: &mut u64, sum: u64, tally: &mut Tally) -> bool {
        *state = state.wrapping_mul(3).wrapping_add(sum);
        tally.counts[1] = tally.counts[1].wrapping_add(sum as i64);
        self.round + 1 < self.rounds
    }

    fn properties(&self) -> Properties {
        Properties { stationary: self.stationary, edges: self.edges, ..Properties::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        self.round += 1;
        total.active == 0 || self.round == self.rounds
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE State init(const Program& self, Vertex vertex) {
                return self.stationary || vertex.global % 3 == 1 ? vertex.global + 1 : 0;
            }
            DEVICE Option<Message> scatter(const Program& self, Vertex, const State& state) {
                return {state != 0 || self.stationary, state};
            }
            DEVICE Accumulated along(const Program&, Message message, Weight) { return message; }
            DEVICE bool apply(const Program& self, Vertex, State& state, Accumulated sum, Tally& tally) {
                state = state * 3 + sum;
                tally.counts[1] += (i64)sum;
                return self.round + 1 < self.rounds;
            }";
        let program = DeviceProgram::new(TEXT, &[])
            .with_type::<u64>("State")
            .with_type::<u64>("Message")
            .with_type::<u64>("Accumulated")
            .with_type::<()>("Weight")
            .with_reduction::<Latest<u64>>("Messages")
            .with_reduction::<Sum<u64>>("Fold");
        let program = program.with("rounds", &self.rounds).with("round", &self.round);
        Some(program.with("stationary", &self.stationary))
    }
}

/// Whole numbers as floating-point ones, which every vertex adds up in every round: sums are exact in any order.
struct Shares {
    rounds: u32,
}

#[device]
impl VertexProgram for Shares {
    type State = f64;
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, vertex: Vertex) -> f64 {
        (vertex.id().0 + 1) as f64
    }

    fn scatter(&self, _: Vertex, state: &f64) -> Option<f64> {
        Some(*state)
    }

    fn along(&self, message: f64, (): ()) -> f64 {
        message
    }

    fn apply(&self, _: Vertex, state: &mut f64, sum: f64, _: &mut Tally) -> bool {
        *state = sum + 1.0;
        true
    }

    fn properties(&self) -> Properties {
        Properties { stationary: true, ..Properties::default() }
    }

    fn conclude(&mut self, _: &Tally) -> bool {
        self.rounds -= 1;
        self.rounds == 0
    }
}

/// Which hosts have a device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mix {
    None,
    All,
    Odd,
    /// All, with offsets of 64 bits.
    Wide,
}

/// The device of a host: a GPU if tests shall run on one, else an emulated one.
fn device_of(mix: Mix, host: usize) -> Option<GpuHost> {
    let driver = match mix {
        Mix::None => return None,
        Mix::Odd if host.is_multiple_of(2) => return None,
        _ if is_gpu_wanted() => discover::open("gpu").expect("a GPU"),
        _ => emulated(Settings { seed: host as u64, ..Settings::default() }),
    };
    let host = GpuHost::new(driver);
    Some(if mix == Mix::Wide { host.max_narrow_edges(0) } else { host })
}

/// What all hosts find, by vertex, with the bytes they sent.
fn on_hosts<T: Copy + Default + Send>(
    (graph, policy, hosts, mix): (&str, &str, usize, Mix),
    run_host: impl Fn(Option<&dyn Device>, &Partition, &mut Substrate<'_>) -> (Vec<T>, i64) + Sync,
) -> (Vec<T>, i64) {
    let input = Input::open(graph).unwrap();
    let found = Cluster::local(hosts).launch(|net| {
        let part = Partition::build(net, &input, &Plan::new(policy)).unwrap();
        let part = if mix == Mix::None { part } else { part.beside_devices() };
        let device = device_of(mix, part.host().index());
        let device = device.as_ref().map(|device| device as &dyn Device);
        let mut substrate = Substrate::new(&part, net, Optimize::ALL);
        let (values, sum) = run_host(device, &part, &mut substrate);
        let globals = part.globals()[..part.num_masters()].to_vec();
        Ok::<_, parton_sync::Error>((globals, values, sum, part.num_vertices()))
    });
    let found = found.unwrap();
    let mut all = vec![T::default(); found[0].3 as usize];
    for (globals, values, ..) in &found {
        globals.iter().zip(values).for_each(|(&vertex, &value)| all[vertex as usize] = value);
    }
    (all, found[0].2)
}

fn labels<P: Relaxation<Label = u32>>(
    setting: (&str, &str, usize, Mix),
    engine: &EngineInfo,
    pacing: Pacing,
    program: &P,
) -> Vec<u32> {
    let (found, _) = on_hosts(setting, |device, part, substrate| {
        let mut engine = engines::relaxation(engine, device, program, part).unwrap();
        run(&mut *engine, substrate, pacing, Limits::default(), &mut ()).unwrap();
        (engine.labels().unwrap(), 0)
    });
    found
}

/// Every policy that needs no file.
fn all_policies() -> impl Iterator<Item = &'static str> {
    policies::ALL.iter().filter(|kind| kind.argument.is_none()).map(|kind| kind.name)
}

const GRAPHS: [&str; 5] =
    ["rmat:7,6,3", "path:70", "star:40", "uniform:30,9,5", "grid:9x8,permute"];

fn compare<P: Relaxation<Label = u32>>(engines: &[&EngineInfo], program: &P) {
    for (number, policy) in all_policies().enumerate() {
        let graph = GRAPHS[number % GRAPHS.len()];
        let hosts = [1, 2, 3, 4, 7][number % 5];
        let expected =
            labels((graph, policy, hosts, Mix::None), engines::PUSH, Pacing::default(), program);
        for engine in engines {
            for mix in [Mix::All, Mix::Odd] {
                // Algorithms do without `union` where hosts differ.
                if mix == Mix::Odd && engine.name == "union" {
                    continue;
                }
                for pacing in [Pacing::default(), Pacing::AT_ONCE] {
                    let found = labels((graph, policy, hosts, mix), engine, pacing, program);
                    let name = engine.name;
                    assert_eq!(
                        found, expected,
                        "{name} {graph} {policy} {hosts} {mix:?} {pacing:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn hops() {
    compare(&[engines::PUSH, engines::FRONTIER, engines::PULL], &Hops);
}

#[test]
fn weighted_paths() {
    for edges in [Edges::Out, Edges::In, Edges::Both] {
        compare(&[engines::DELTA, engines::FRONTIER], &Paths { edges });
    }
}

#[test]
fn components() {
    compare(&[engines::UNION, engines::FRONTIER], &Least);
}

/// Kernels of all engines, for programs of several types.
#[test]
fn all_engines_compile_for_gpus() {
    if let Err(reason) = Nvrtc::get() {
        return say(&format!("engines were not compiled for GPUs: {reason}"));
    }
    let architectures = &["sm_70", "sm_75", "sm_80", "sm_86", "sm_90"];
    let driver = Emulated::new(Settings { architectures, ..Settings::default() });
    let host = GpuHost::new(Arc::new(driver));
    let input = Input::open("path:5").unwrap();
    let built = Cluster::local(1).launch(|net| {
        let part = Partition::build(net, &input, &Plan::new("oec")).unwrap();
        let on = Some(&host as &dyn Device);
        for engine in [engines::PUSH, engines::PULL, engines::FRONTIER, engines::DELTA] {
            engines::relaxation(engine, on, &Hops, &part)?;
            engines::relaxation(engine, on, &Paths { edges: Edges::Both }, &part)?;
        }
        engines::relaxation(engines::UNION, on, &Least, &part)?;
        let tokens = Tokens { rounds: 1, round: 0, stationary: true, edges: Edges::Out };
        engines::vertex_program(engines::PULL, on, tokens, &part).map(drop)
    });
    built.unwrap();
}

#[test]
fn every_graph_on_one_device() {
    for graph in GRAPHS {
        let setting = |mix| (graph, "oec", 1, mix);
        let expected = labels(setting(Mix::None), engines::PUSH, Pacing::default(), &Hops);
        for engine in [engines::PUSH, engines::FRONTIER, engines::PULL, engines::DELTA] {
            let found = labels(setting(Mix::All), engine, Pacing::default(), &Hops);
            assert_eq!(found, expected, "{} {graph}", engine.name);
        }
    }
}

/// Rounds of a search on one device, and the levels that it finds.
fn rounds_of_search(graph: &str) -> (i64, Vec<u32>) {
    let (levels, rounds) =
        on_hosts((graph, "oec", 1, Mix::All), |device, part, substrate| {
            let mut engine = engines::relaxation(engines::FRONTIER, device, &Hops, part).unwrap();
            let (pacing, limits) = (Pacing::default(), Limits::default());
            let report = run(&mut *engine, substrate, pacing, limits, &mut ()).unwrap();
            (engine.labels().unwrap(), report.rounds.len() as i64)
        });
    (rounds, levels)
}

/// Few threads share the edges of a vertex in a launch of many steps, which is no way to visit a long row.
#[test]
fn a_launch_of_many_steps_ends_at_a_long_row() {
    assert_eq!(rounds_of_search("path:70").0, 1);
    let (rounds, levels) = rounds_of_search("star:200,permute");
    assert_eq!((rounds, levels.iter().max()), (1, Some(&2)));
    let (rounds, levels) = rounds_of_search("star:600,permute");
    assert!(rounds > 1, "{rounds}");
    assert_eq!((levels[0], levels.iter().max()), (0, Some(&2)));
}

/// Offsets of 64 bits, which a host has from 2³² edges on.
#[test]
fn wide_offsets_find_the_same() {
    for (graph, hosts) in [("rmat:7,6,3", 1), ("star:3000", 3)] {
        let setting = |mix| (graph, "cvc", hosts, mix);
        let paths = Paths { edges: Edges::Both };
        let pacing = Pacing::default();
        let expected = labels(setting(Mix::None), engines::PUSH, pacing, &Hops);
        for engine in [engines::PUSH, engines::FRONTIER, engines::PULL] {
            assert_eq!(labels(setting(Mix::Wide), engine, pacing, &Hops), expected, "{}", engine.name);
        }
        let expected = labels(setting(Mix::None), engines::DELTA, pacing, &paths);
        assert_eq!(labels(setting(Mix::Wide), engines::DELTA, pacing, &paths), expected);
        let expected = labels(setting(Mix::None), engines::UNION, pacing, &Least);
        assert_eq!(labels(setting(Mix::Wide), engines::UNION, pacing, &Least), expected);
        for stationary in [false, true] {
            let tokens = |mix| tokens(setting(mix), engines::PULL, (stationary, Edges::Both));
            assert_eq!(tokens(Mix::Wide), tokens(Mix::None), "{graph} {stationary}");
        }
    }
}

/// What a program of tokens finds.
fn tokens(
    setting: (&str, &str, usize, Mix),
    engine: &EngineInfo,
    (stationary, edges): (bool, Edges),
) -> Vec<u64> {
    let (found, _) = on_hosts(setting, |device, part, substrate| {
        let program = Tokens { rounds: 4, round: 0, stationary, edges };
        let mut engine = engines::vertex_program(engine, device, program, part).unwrap();
        let (pacing, limits) = (Pacing::default(), Limits::default());
        run(&mut *engine, substrate, pacing, limits, &mut ()).unwrap();
        (engine.states().unwrap().to_vec(), 0)
    });
    found
}

#[test]
fn sums_lose_and_double_nothing() {
    for (number, policy) in all_policies().enumerate() {
        for (stationary, engine) in
            [(false, engines::PUSH), (true, engines::PUSH), (true, engines::PULL)]
        {
            for edges in [Edges::Out, Edges::In, Edges::Both] {
                let graph = GRAPHS[(number + 2) % GRAPHS.len()];
                let hosts = [1, 2, 3, 4, 7][(number + 1) % 5];
                let setting = |mix| (graph, policy, hosts, mix);
                let tokens = |mix| tokens(setting(mix), engine, (stationary, edges));
                let expected = tokens(Mix::None);
                for mix in [Mix::All, Mix::Odd] {
                    let name = engine.name;
                    assert_eq!(
                        tokens(mix),
                        expected,
                        "{name} {graph} {policy} {hosts} {mix:?} {edges:?}"
                    );
                }
            }
        }
    }
}

/// Hosts that share a device pass tickets to each other instead of values, and count the same bytes.
#[test]
fn values_are_handed_over_where_they_are() {
    let mut num_judged = 0;
    for (number, policy) in all_policies().enumerate() {
        let (graph, hosts) = (GRAPHS[number % GRAPHS.len()], [2, 3, 7][number % 3]);
        let traffic = AtomicU64::new(0);
        let shares = |mix| {
            traffic.store(0, Ordering::Relaxed);
            on_hosts((graph, policy, hosts, mix), |device, part, substrate| {
                let program = Shares { rounds: 5 };
                let mut engine =
                    engines::vertex_program(engines::PULL, device, program, part).unwrap();
                let before = substrate.net().total_traffic().bytes_sent;
                let (pacing, limits) = (Pacing::default(), Limits::default());
                let report = run(&mut *engine, substrate, pacing, limits, &mut ()).unwrap();
                let sent = substrate.net().total_traffic().bytes_sent - before;
                traffic.fetch_add(sent, Ordering::Relaxed);
                let counted: u64 = report.rounds.iter().map(|round| round.sent.total()).sum();
                (engine.states().unwrap().to_vec(), counted as i64)
            })
        };
        let (expected, by_bytes) = (shares(Mix::None), traffic.load(Ordering::Relaxed));
        assert_eq!(shares(Mix::Odd), expected, "{graph} {policy} {hosts}");
        assert_eq!(shares(Mix::All), expected, "{graph} {policy} {hosts}");
        let by_tickets = traffic.load(Ordering::Relaxed);
        // Votes and tallies travel as before; a small graph has little else.
        let counted = expected.1 as u64;
        if counted < 5_000 {
            continue;
        }
        num_judged += 1;
        assert!(
            by_tickets + counted / 2 < by_bytes,
            "{graph} {policy} {hosts}: {by_tickets} bytes instead of {by_bytes}, {counted} counted"
        );
    }
    assert_ne!(num_judged, 0);
}
