//! Engines on a device against those on the CPU: every policy, several host counts, devices alone and
//! beside ordinary hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_engine::device::Device;
use parton_engine::{Edges, EngineInfo, Limits, Pacing, Relaxation, engines, run};
use parton_gpu::cuda::nvrtc::Nvrtc;
use parton_gpu::emulated::{Emulated, Settings};
use parton_gpu::{GpuHost, discover};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan, policies};
use parton_sync::{Optimize, Substrate};

use crate::common::{emulated, is_gpu_wanted, say};
use crate::programs::{Hops, Least, Paths, Shares, Tokens};

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
    let (levels, rounds) = on_hosts((graph, "oec", 1, Mix::All), |device, part, substrate| {
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

/// Edges of a symmetric graph are uploaded once, and counted with offsets of either width.
#[test]
fn uploads_of_edges_are_counted() {
    let input = Input::open("path:70").unwrap();
    let [narrow, wide] = [Mix::All, Mix::Wide].map(|mix| {
        let found = Cluster::local(1).launch(|net| {
            let part = Partition::build(net, &input, &Plan::new("oec")).unwrap();
            let host = device_of(mix, 0).expect("a device");
            engines::relaxation(engines::FRONTIER, Some(&host), &Hops, &part)?;
            Ok::<_, parton_sync::Error>(host.last_upload())
        });
        found.unwrap().swap_remove(0)
    });
    assert_eq!([narrow.bytes, wide.bytes], [71 * 4 + 138 * 4, 71 * 8 + 138 * 4]);
    assert!(!narrow.time.is_zero());
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
            assert_eq!(
                labels(setting(Mix::Wide), engine, pacing, &Hops),
                expected,
                "{}",
                engine.name
            );
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
