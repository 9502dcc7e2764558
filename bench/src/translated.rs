//! Operators that `#[device]` translates from Rust, beside the same operators written in CUDA by hand: the same
//! engine on the same device runs both in turns.

use parton_engine::device::{Device, DeviceProgram};
use parton_engine::{
    EngineInfo, Limits, Pacing, Properties, Relaxation, Vertex, VertexProgram, device, engines, run,
};
use parton_gpu::{GpuHost, discover};
use parton_graph::WeightKind;
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::reduction::{Latest, Min, Sum};
use parton_sync::{Optimize, Substrate, Tally};
use serde_json::{Value, json};

use crate::{option, save};

/// Rounds of a program whose rounds are all alike.
const ROUNDS: u32 = 20;

/// A relaxation twice: as it is, and with operators by hand.
macro_rules! relaxation_twins {
    ($translated:ident, $by_hand:ident, $weight:ty, $hand:literal, $own:expr, { $($methods:item)* }) => {
        struct $translated;
        struct $by_hand;

        #[device]
        impl Relaxation for $translated {
            type Label = u32;
            type Reduction = Min<u32>;
            type Weight = $weight;
            $($methods)*
        }

        impl Relaxation for $by_hand {
            type Label = u32;
            type Reduction = Min<u32>;
            type Weight = $weight;
            $($methods)*

            fn device(&self) -> Option<DeviceProgram<'_>> {
                let program = DeviceProgram::new($hand, $own);
                let program = program.with_type::<u32>("Label").with_type::<$weight>("Weight");
                Some(program.with_reduction::<Min<u32>>("Fold"))
            }
        }
    };
}

relaxation_twins!(
    Hops,
    HopsByHand,
    (),
    "DEVICE Option<Label> start(const Program&, Vertex vertex) { return {vertex.global == 0, 0}; }
     DEVICE Label relax(const Program&, Label label, Weight) { return label + 1; }",
    &[],
    {
        fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
            (vertex.id().0 == 0).then_some(0)
        }

        fn relax(&self, label: u32, (): ()) -> u32 {
            label + 1
        }

        fn first_wins(&self) -> bool {
            true
        }
    }
);

relaxation_twins!(
    Paths,
    PathsByHand,
    u32,
    "DEVICE Option<Label> start(const Program&, Vertex vertex) { return {vertex.global == 0, 0}; }
     DEVICE Label relax(const Program&, Label label, Weight weight) {
         return label + weight < label ? 0xffffffffu : label + weight;
     }
     DEVICE u64 bucket(const Program&, Label label) { return label >> 5; }",
    &["bucket"],
    {
        fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
            (vertex.id().0 == 0).then_some(0)
        }

        fn relax(&self, label: u32, weight: u32) -> u32 {
            label.saturating_add(weight)
        }

        fn bucket(&self, label: u32) -> usize {
            (label >> 5) as usize
        }
    }
);

/// A vertex program twice, likewise: ranks of random surfers.
macro_rules! rank_twins {
    ($name:ident, [$($attribute:meta)?], { $($device:item)? }) => {
        struct $name<'a> {
            degrees: &'a [u32],
            teleport: f32,
            rounds: u32,
        }

        $(#[$attribute])?
        impl VertexProgram for $name<'_> {
            type State = f32;
            type Message = f32;
            type Messages = Latest<f32>;
            type Reduction = Sum<f32>;
            type Weight = ();

            fn init(&self, _: Vertex<'_>) -> f32 {
                self.teleport
            }

            fn scatter(&self, vertex: Vertex<'_>, rank: &f32) -> Option<f32> {
                Some(*rank / self.degrees[vertex.local.index()] as f32)
            }

            fn along(&self, share: f32, (): ()) -> f32 {
                share
            }

            fn apply(&self, _: Vertex<'_>, rank: &mut f32, shares: f32, _: &mut Tally) -> bool {
                *rank = 0.15 * self.teleport + 0.85 * shares;
                true
            }

            fn properties(&self) -> Properties {
                Properties { stationary: true, ..Properties::default() }
            }

            fn conclude(&mut self, _: &Tally) -> bool {
                self.rounds -= 1;
                self.rounds == 0
            }

            $($device)?
        }
    };
}

rank_twins!(Ranks, [device], {});
rank_twins!(RanksByHand, [], {
    fn device(&self) -> Option<DeviceProgram<'_>> {
        const TEXT: &str = "
            DEVICE State init(const Program& self, Vertex) { return self.teleport; }
            DEVICE Option<Message> scatter(const Program& self, Vertex vertex, const State& rank) {
                return {true, rank / (f32)self.degrees[vertex.local]};
            }
            DEVICE Accumulated along(const Program&, Message share, Weight) { return share; }
            DEVICE bool apply(const Program& self, Vertex, State& rank, Accumulated shares, Tally&) {
                rank = 0.15f * self.teleport + 0.85f * shares;
                return true;
            }";
        let program = DeviceProgram::new(TEXT, &[])
            .with_type::<f32>("State")
            .with_type::<f32>("Message")
            .with_type::<f32>("Accumulated")
            .with_type::<()>("Weight")
            .with_reduction::<Latest<f32>>("Messages")
            .with_reduction::<Sum<f32>>("Fold");
        Some(program.with("degrees", &self.degrees).with("teleport", &self.teleport))
    }
});

pub fn run_all(options: &[&str]) {
    let device = option(options, "--device").unwrap_or("gpu");
    let mut results = Vec::new();
    println!("| graph | program, engine | translated ms | by hand ms | by hand ÷ translated |");
    println!("|---|---|---|---|---|");
    for graph in option(options, "--graphs").expect("--graphs GRAPH+GRAPH…").split('+') {
        let input = Input::open(graph).expect("a graph");
        let measured = Cluster::local(1).launch(|net| -> Result<_, parton_sync::Error> {
            let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
            let host = GpuHost::new(discover::open(device).expect("a device"));
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            measure_all(graph, &host, &mut substrate, options)
        });
        for row in measured.expect("a run").swap_remove(0) {
            let [translated, by_hand] =
                ["translated", "by_hand"].map(|name| 1e3 * row[name].as_f64().expect("seconds"));
            let (program, ratio) = (&row["program"], by_hand / translated);
            println!("| {graph} | {program} | {translated:.3} | {by_hand:.3} | {ratio:.3} |");
            results.push(row);
        }
    }
    save(options, &results);
}

/// The best times of each pair that fits the graph: with weights, or without.
pub(crate) fn measure_all(
    graph: &str,
    host: &GpuHost,
    substrate: &mut Substrate<'_>,
    options: &[&str],
) -> Result<Vec<Value>, parton_sync::Error> {
    let turns: usize = option(options, "--turns").map_or(7, |n| n.parse().expect("a number"));
    let has_weights = substrate.partition().out_edges().weight_kind() != WeightKind::None;
    let pairs: &[(&str, &EngineInfo, Pair)] = match has_weights {
        true => &[("paths/delta", engines::DELTA, Pair::Paths)],
        false => &[
            ("hops/frontier", engines::FRONTIER, Pair::Hops),
            ("hops/push", engines::PUSH, Pair::Hops),
            ("ranks/pull", engines::PULL, Pair::Ranks),
        ],
    };
    let mut rows = Vec::new();
    for (program, engine, pair) in pairs {
        let [translated, by_hand] =
            best_of(turns, |is_by_hand| pair.seconds(is_by_hand, engine, host, substrate))?;
        rows.push(json!({
            "graph": graph, "program": program, "translated": translated, "by_hand": by_hand,
        }));
    }
    Ok(rows)
}

/// The best time of each, in turns; the first turn only warms up.
fn best_of(
    turns: usize,
    mut seconds: impl FnMut(bool) -> Result<f64, parton_sync::Error>,
) -> Result<[f64; 2], parton_sync::Error> {
    let mut best = [f64::INFINITY; 2];
    for turn in 0..=turns {
        for (is_by_hand, best) in [false, true].into_iter().zip(&mut best) {
            let found = seconds(is_by_hand)?;
            *best = if turn == 0 { *best } else { best.min(found) };
        }
    }
    Ok(best)
}

#[derive(Clone, Copy)]
enum Pair {
    Hops,
    Paths,
    Ranks,
}

impl Pair {
    fn seconds(
        self,
        is_by_hand: bool,
        engine: &EngineInfo,
        host: &dyn Device,
        substrate: &mut Substrate<'_>,
    ) -> Result<f64, parton_sync::Error> {
        match (self, is_by_hand) {
            (Pair::Hops, false) => relaxation(engine, host, &Hops, substrate),
            (Pair::Hops, true) => relaxation(engine, host, &HopsByHand, substrate),
            (Pair::Paths, false) => relaxation(engine, host, &Paths, substrate),
            (Pair::Paths, true) => relaxation(engine, host, &PathsByHand, substrate),
            (Pair::Ranks, _) => {
                let partition = substrate.partition();
                let offsets = partition.out_edges().offsets();
                let degree = |pair: &[u64]| (pair[1] - pair[0]).max(1) as u32;
                let degrees: Vec<u32> = offsets.windows(2).map(degree).collect();
                let (degrees, teleport) = (&degrees[..], 1.0 / partition.num_vertices() as f32);
                match is_by_hand {
                    false => {
                        let program = Ranks { degrees, teleport, rounds: ROUNDS };
                        vertex_program(engine, host, program, substrate)
                    }
                    true => {
                        let program = RanksByHand { degrees, teleport, rounds: ROUNDS };
                        vertex_program(engine, host, program, substrate)
                    }
                }
            }
        }
    }
}

fn relaxation<P: Relaxation>(
    engine: &EngineInfo,
    host: &dyn Device,
    program: &P,
    substrate: &mut Substrate<'_>,
) -> Result<f64, parton_sync::Error> {
    let mut engine = engines::relaxation(engine, Some(host), program, substrate.partition())?;
    Ok(run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())?.seconds)
}

fn vertex_program<P: VertexProgram>(
    engine: &EngineInfo,
    host: &dyn Device,
    program: P,
    substrate: &mut Substrate<'_>,
) -> Result<f64, parton_sync::Error> {
    let mut engine = engines::vertex_program(engine, Some(host), program, substrate.partition())?;
    Ok(run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())?.seconds)
}
