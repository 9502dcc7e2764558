//! The engine `spmv` beside the others on PageRank: 20 rounds, every contestant in turn, on partitions that are
//! made once.
//!
//! Started by MPI's launcher, as `bench/links.sh` does, this is one rank; else hosts are threads. With
//! `--memory` nothing is timed: the bytes of tiles are set beside those of plain rows.

use std::path::Path;

use parton_algorithms::pagerank::{PageRank, PageRankOptions};
use parton_algorithms::{Algorithm, Error, Job, Options};
use parton_engine::{EngineInfo, RunReport, TileMemory, engines, tile_memory};
use parton_net::{Cluster, HostId, Launcher, Net};
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Schedule, Substrate};
use serde_json::{Value, json};

use crate::option;

const ROUNDS: u64 = 20;
/// The tiles of host 0 are recorded where there are no more hosts.
const MAX_HOSTS_DRAWN: usize = 6;
/// Policies that distribute edges in different ways.
const POLICIES: &str = "cvc+hvc+oec+iec";

/// One way to run PageRank.
#[derive(Clone, Copy)]
struct SpmvContestant {
    name: &'static str,
    engine: &'static EngineInfo,
    overlap: bool,
    filter: bool,
    /// Whether values are sent only to hosts that read them.
    structural: bool,
}

const fn product(
    name: &'static str,
    overlap: bool,
    filter: bool,
    structural: bool,
) -> SpmvContestant {
    SpmvContestant { name, engine: engines::SPMV, overlap, filter, structural }
}

const fn other(engine: &'static EngineInfo) -> SpmvContestant {
    SpmvContestant { name: engine.name, engine, overlap: true, filter: true, structural: true }
}

/// `spmv` with everything and with each idea alone, and the other engines.
const CONTESTANTS: [SpmvContestant; 9] = [
    product("spmv", true, true, true),
    product("no overlap", false, true, true),
    product("overlap alone", true, false, false),
    product("computation alone", false, true, false),
    product("communication alone", false, false, true),
    product("nothing", false, false, false),
    other(engines::PULL),
    other(engines::PUSH),
    other(engines::FRONTIER),
];

pub fn run(options: &[&str]) {
    let graphs = option(options, "--graphs").expect("--graphs GRAPH+GRAPH…").split('+');
    let policies: Vec<_> =
        option(options, "--policies").unwrap_or(POLICIES).split('+').map(str::to_owned).collect();
    let only = option(options, "--only").map(|list| list.split('+').collect::<Vec<_>>());
    let turns: usize = option(options, "--turns").map_or(3, |n| n.parse().expect("a number"));
    let hosts: usize = option(options, "--hosts").map_or(1, |n| n.parse().expect("a number"));
    let mut cluster = match Launcher::detect() {
        Some(launcher) => {
            let cluster = Cluster::mpi(&launcher, |loss| loss.abort(1));
            cluster.unwrap_or_else(|error| panic!("{error}")).threads_per_host(1)
        }
        None if hosts == 1 => Cluster::local(1),
        None => Cluster::local(hosts).threads_per_host(1),
    };
    let is_meant = |contestant: &SpmvContestant| {
        only.as_ref().is_none_or(|names| names.contains(&contestant.name))
    };
    let contestants: Vec<_> = CONTESTANTS.into_iter().filter(is_meant).collect();
    let mut rows = Vec::new();
    for graph in graphs {
        let mut of_graph = match options.contains(&"--memory") {
            true => memory(&mut cluster, graph, &policies),
            false => measure(&mut cluster, graph, &policies, &contestants, turns),
        };
        rows.append(&mut of_graph);
    }
    if cluster.first_host() == HostId(0) {
        rows.iter().for_each(|row| println!("{row}"));
        crate::save(options, &rows);
    }
}

fn build(net: &mut Net, input: &Input, policy: &str) -> Result<Partition, Error> {
    let built = Partition::build(net, input, &Plan::new(policy));
    built.map_err(|error| Error::Data(error.to_string()))
}

/// The last part of a path.
fn short(graph: &str) -> String {
    Path::new(graph).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// All contestants on all partitions, in turns.
fn measure(
    cluster: &mut Cluster,
    graph: &str,
    policies: &[String],
    contestants: &[SpmvContestant],
    turns: usize,
) -> Vec<Value> {
    let input = Input::open(graph).expect("a graph");
    let own = PageRankOptions { tolerance: 0.0, ..PageRankOptions::default() };
    let options = Options { max_rounds: Some(ROUNDS), ..Options::default() }.with(own);
    let measured = cluster.launch(|net| -> Result<_, Error> {
        let parts = policies.iter().map(|policy| build(net, &input, policy));
        let parts: Vec<Partition> = parts.collect::<Result<_, _>>()?;
        let mut reports = vec![Vec::new(); parts.len() * contestants.len()];
        for _ in 0..turns {
            for (at, reports) in reports.iter_mut().enumerate() {
                let part = &parts[at / contestants.len()];
                reports.push(once(net, part, contestants[at % contestants.len()], &options)?);
            }
        }
        Ok((parts[0].num_edges(), reports))
    });
    let (edges, reports) = measured.unwrap_or_else(|error| panic!("{error}")).swap_remove(0);
    let row = |(at, reports): (usize, Vec<RunReport>)| {
        let contestant = contestants[at % contestants.len()];
        let report = &reports[0];
        let visited: u64 = report.rounds.iter().map(|round| round.edges).sum();
        json!({
            "graph": short(graph),
            "hosts": report.hosts.len(),
            "policy": policies[at / contestants.len()],
            "contestant": contestant.name,
            "engine": contestant.engine.name,
            "seconds": reports.iter().map(|report| report.seconds).collect::<Vec<_>>(),
            "wait_seconds": report.hosts.iter().map(|host| host.wait_seconds).collect::<Vec<_>>(),
            "bytes": report.sent().total(),
            "edges": edges,
            "edges_in_round": report.rounds[report.rounds.len() / 2].edges,
            "edges_per_round": visited as f64 / report.rounds.len() as f64,
        })
    };
    reports.into_iter().enumerate().map(row).collect()
}

fn once(
    net: &mut Net,
    part: &Partition,
    contestant: SpmvContestant,
    options: &Options,
) -> Result<RunReport, Error> {
    let SpmvContestant { engine, overlap, filter, structural, .. } = contestant;
    let options = Options { engine: Some(engine), ..options.clone() };
    let schedule = Schedule { overlap, filter, ..Schedule::default() };
    let optimize = Optimize { structural, ..Optimize::ALL };
    let substrate = &mut Substrate::new(part, net, optimize).with_schedule(schedule);
    let mut job = Job { substrate, options: &options, watch: &mut (), device: None };
    Ok(PageRank.run(&mut job)?.report)
}

/// Bytes of tiles and of plain rows, of all hosts.
fn memory(cluster: &mut Cluster, graph: &str, policies: &[String]) -> Vec<Value> {
    let input = Input::open(graph).expect("a graph");
    let hosts = cluster.num_hosts();
    let of_policy = |policy: &String| {
        let measured =
            cluster.launch(|net| Ok::<_, Error>(tile_memory(&build(net, &input, policy)?)));
        let measured = measured.unwrap_or_else(|error| panic!("{error}"));
        let share = |memory: &TileMemory| memory.tiles as f64 / memory.rows as f64;
        // Of many hosts nobody looks at every tile.
        let edges_of_tiles = (hosts <= MAX_HOSTS_DRAWN).then(|| measured[0].edges.clone());
        json!({
            "graph": short(graph),
            "hosts": hosts,
            "policy": policy,
            "tile_bytes": measured.iter().map(|memory| memory.tiles).sum::<u64>(),
            "row_bytes": measured.iter().map(|memory| memory.rows).sum::<u64>(),
            "greatest_share": measured.iter().map(share).fold(0.0, f64::max),
            "edges_of_tiles": edges_of_tiles,
        })
    };
    policies.iter().map(of_policy).collect()
}
