//! The engine `spmv` on every real graph, with any policy, on 1 to 9 hosts that are threads, simulated hosts or
//! ranks: with all vertices in all rounds PageRank has the bits of `pull`, and with vertices left out the oracle's
//! ranks, with the same bits on every transport; searches and components are the oracle's.

use parton_algorithms::bfs::Bfs;
use parton_algorithms::components::Components;
use parton_algorithms::pagerank::{PageRank, PageRankOptions, Precision};
use parton_algorithms::sssp::Sssp;
use parton_algorithms::{Algorithm, Options, Values};
use parton_engine::{EngineInfo, engines};
use parton_graph::Graph;
use parton_graph::tidy::Tidy;
use parton_net::{Cluster, Launcher};
use parton_partition::Input;
use parton_sync::Schedule;

use super::{FEW, LARGE, MEDIUM, SMALL, launchers, real, with_derived_weights};
use crate::common::compare::compare;
use crate::common::{How, Outcome, all_policies, is_long, run};

/// Where hosts run.
#[derive(Clone, Copy)]
enum Venue {
    Threads,
    Simulated,
}

const HOSTS: std::ops::RangeInclusive<usize> = 1..=9;
const ROUNDS: u64 = 6;

/// A fixed number of rounds with all digits.
fn ranks_by(engine: &'static EngineInfo) -> (&'static dyn Algorithm, Options) {
    let precision = Precision::Double;
    let own = PageRankOptions { tolerance: 0.0, precision, ..PageRankOptions::default() };
    let (engine, max_rounds) = (Some(engine), Some(ROUNDS));
    (&PageRank, Options { engine, max_rounds, ..Options::default() }.with(own))
}

/// The bits of ranks.
fn bits(outcome: &Outcome) -> Vec<u64> {
    match &outcome.columns[0].values {
        Values::F64(ranks) => ranks.iter().map(|rank| rank.to_bits()).collect(),
        other => panic!("ranks are real numbers, not {other:?}"),
    }
}

/// With all vertices in all rounds ranks have the bits of `pull`. With vertices left out their sums are rounded
/// otherwise; they have the bits of hosts that are threads and do not overlap.
fn compare_bits(cluster: &mut Cluster, name: &str, input: &Input, policy: &str) {
    let hosts = cluster.num_hosts();
    let schedule = Schedule { filter: false, ..Schedule::default() };
    let runs = [engines::PULL, engines::SPMV].map(ranks_by);
    let found = run(cluster, input, &runs, How { schedule, ..How::new(policy) });
    assert!(bits(&found[0]) == bits(&found[1]), "{name}, {policy}, {hosts} hosts");
    let runs = &runs[1..];
    let filtered = &run(cluster, input, runs, How::new(policy))[0];
    let schedule = Schedule { overlap: false, ..Schedule::default() };
    let mut threads = Cluster::local(hosts).threads_per_host(1);
    let expected = &run(&mut threads, input, runs, How { schedule, ..How::new(policy) })[0];
    assert!(bits(filtered) == bits(expected), "{name}, {policy}, {hosts} hosts, filtered");
}

/// Seeds of simulated schedules.
fn seeds() -> u64 {
    if is_long() { 10_000 } else { 60 }
}

/// PageRank as it is shipped, with messages in every order.
#[test]
fn ranks_have_the_same_bits_in_every_order_of_arrival() {
    let input = Input::open("rmat:6,4").expect("a generator");
    for (policy, hosts) in [("cvc", 4), ("staggered", 6), ("hvc", 3)] {
        let runs = [ranks_by(engines::SPMV)];
        let mut threads = Cluster::local(hosts).threads_per_host(1);
        let expected = bits(&run(&mut threads, &input, &runs, How::new(policy))[0]);
        let mut cluster = Cluster::sim(hosts, 0);
        for seed in 0..seeds() / 3 {
            cluster.set_seed(seed);
            let found = bits(&run(&mut cluster, &input, &runs, How::new(policy))[0]);
            assert!(found == expected, "{policy}, seed {seed}");
        }
    }
}

/// Ranks with vertices left out, searches and components beside the oracle.
fn compare_answers(cluster: &mut Cluster, name: &str, graph: &Graph, policy: &str) {
    let by_spmv = || Options { engine: Some(engines::SPMV), ..Options::default() };
    let searches: [&dyn Algorithm; 3] = [&Bfs, &Sssp, &Components];
    let mut runs = searches.map(|algorithm| (algorithm, by_spmv())).to_vec();
    runs.push(ranks_by(engines::SPMV));
    compare(cluster, (name, graph), &runs, How::new(policy));
}

/// One setting in this number is tried; in a long run all are.
fn one_in(vertices: u64, venue: Venue) -> usize {
    match (vertices, venue) {
        _ if is_long() => 1,
        (..=FEW, _) => 7,
        (..=SMALL, Venue::Threads) => 61,
        (..=SMALL, Venue::Simulated) => 127,
        (..=MEDIUM, _) => 331,
        _ => usize::MAX,
    }
}

/// Calls `ask` with the name of each graph with at most `most` vertices, its version without self-loops and parallel
/// edges, and its number.
fn each_graph(most: u64, mut ask: impl FnMut(&str, Graph, usize)) {
    let Some(data) = real::data() else { return };
    for (number, folder) in real::graphs(&data).into_iter().enumerate() {
        let about = real::json(&folder.join("graph.json"));
        let known = real::json(&folder.join("answers.json"));
        if known["graph"]["vertices"].as_u64().expect("a number of vertices") > most {
            continue;
        }
        // Weights of some files are less than 0.
        let graph = real::load_as_described(&folder, &about).tidied(Tidy::SIMPLE);
        let graph = with_derived_weights(graph);
        ask(&folder.display().to_string(), graph, number);
    }
}

fn compare_all(venue: Venue) {
    let mut partitions = 0;
    let most = match venue {
        _ if is_long() => u64::MAX,
        Venue::Threads => LARGE,
        Venue::Simulated => MEDIUM,
    };
    each_graph(most, |name, graph, number| {
        let one_in = one_in(graph.num_vertices() as u64, venue);
        let input = Input::from(graph.clone());
        for (which, policy) in all_policies().into_iter().enumerate() {
            for hosts in HOSTS {
                // Numbered through, so that graphs meet different policies and numbers of hosts.
                let setting = 37 * number + 9 * which + hosts - 1;
                // Of a large graph one setting in all.
                let is_one = (which, hosts) == (number % all_policies().len(), 4);
                let is_tried = match one_in {
                    usize::MAX => is_one,
                    one_in => setting.is_multiple_of(one_in),
                };
                if !is_tried {
                    continue;
                }
                let mut cluster = match venue {
                    Venue::Threads => Cluster::local(hosts).threads_per_host(1),
                    Venue::Simulated => Cluster::sim(hosts, setting as u64),
                };
                compare_bits(&mut cluster, name, &input, policy);
                compare_answers(&mut cluster, name, &graph, policy);
                partitions += 1;
            }
        }
    });
    eprintln!("{partitions} partitions");
}

#[test]
fn threads_have_the_bits_of_pull() {
    compare_all(Venue::Threads);
}

#[test]
fn simulated_hosts_have_the_bits_of_pull() {
    compare_all(Venue::Simulated);
}

#[test]
fn ranks_have_the_bits_of_pull() {
    match Launcher::detect() {
        Some(launcher) => as_a_rank(&launcher),
        None => launch_all(),
    }
}

fn as_a_rank(launcher: &Launcher) {
    let cluster = Cluster::mpi(launcher, |loss| loss.abort(1)).unwrap_or_else(|e| panic!("{e}"));
    let mut cluster = cluster.threads_per_host(1);
    let (most, policies) = (if is_long() { u64::MAX } else { SMALL }, all_policies());
    each_graph(most, |name, graph, number| {
        let vertices = graph.num_vertices() as u64;
        // Small graphs with every policy, in a long run; of others each has one.
        let tried = if is_long() && vertices <= SMALL { policies.len() } else { 1 };
        for which in 0..tried {
            let policy = policies[(number + which + cluster.num_hosts()) % policies.len()];
            compare_bits(&mut cluster, name, &Input::from(graph.clone()), policy);
            compare_answers(&mut cluster, name, &graph, policy);
        }
    });
    println!("rank {} agrees", launcher.rank());
}

fn launch_all() {
    if real::data().is_none() {
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let arguments = ["conformance::spmv::ranks_have_the_bits_of_pull", "--exact", "--nocapture"];
    for mpi in launchers::ALL {
        let all = if is_long() { 2..=9 } else { 3..=4 };
        for ranks in all {
            let mut command = mpi.launch(ranks);
            command.arg(&program).args(arguments);
            let ended = launchers::wait(launchers::start(&mut command));
            let agreed = ended.stdout.matches("agrees").count();
            assert!(ended.status.success() && agreed == ranks, "{}, {ranks}: {ended:?}", mpi.name);
        }
    }
}
