//! Every algorithm on every small nasty graph with every policy, engine and optimisation, over
//! any number of hosts, in process and on a simulated network, hosts that wait for each other and
//! hosts that do not: the oracle's answer, with a valid certificate. The whole product takes minutes
//! (`cargo xtask test --long`); a short run tries a sample of it.

use crate::common;

use common::compare::{compare, settled};
use common::nasty::{self, nasty_graphs};
use common::{How, all_policies, is_long, is_tried};
use parton_algorithms::kcore::KCoreOptions;
use parton_algorithms::pagerank::{Formulation, PageRankOptions};
use parton_algorithms::{ALL, Algorithm, Options};
use parton_engine::{Pace, Pacing};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::reweigh::Weights;
use parton_net::Cluster;
use parton_partition::Order;
use parton_sync::Optimize;
use proptest::prelude::*;

/// Every algorithm with every engine.
fn all_runs() -> Vec<(&'static dyn Algorithm, Options)> {
    runs_at(Pace::Bsp.into())
}

/// Every algorithm with every engine, at one pace.
fn runs_at(pacing: Pacing) -> Vec<(&'static dyn Algorithm, Options)> {
    let mut runs: Vec<(&'static dyn Algorithm, Options)> = Vec::new();
    for &algorithm in ALL {
        for &engine in algorithm.engines() {
            let options = Options { pacing, engine: Some(engine), ..Options::default() };
            if pacing.pace == Pace::Basp && algorithm.needs_rounds(&options).is_some() {
                continue;
            }
            if algorithm.name() == "kcore" {
                // Most of these graphs have hardly more than one.
                runs.push((algorithm, options.clone().with(KCoreOptions { k: Some(2) })));
            }
            runs.push((algorithm, settled(algorithm, options)));
        }
    }
    runs
}

/// One in `one_in` of these runs, others for another number.
fn some_of<T>(runs: Vec<T>, number: usize, one_in: usize) -> Vec<T> {
    let runs = runs.into_iter().enumerate();
    runs.filter(|(place, _)| is_tried(&[number, *place], one_in)).map(|(_, run)| run).collect()
}

#[test]
fn all_engines_policies_and_hosts() {
    for (h, hosts) in [1, 2, 3, 4, 7].into_iter().enumerate() {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
            for (p, policy) in all_policies().into_iter().enumerate() {
                for (o, (_, optimize)) in Optimize::NAMES.into_iter().enumerate() {
                    let how = How { optimize, ..How::new(policy) };
                    if is_tried(&[h, g, p, o], 6) {
                        let runs = some_of(all_runs(), h + g, 3);
                        compare(&mut cluster, (name, graph), &runs, how);
                    }
                }
            }
        }
    }
}

/// Hosts that do not wait for each other, for real. How they are optimised takes turns.
#[test]
fn hosts_at_their_own_pace() {
    let mut turn = 0;
    for (h, hosts) in [1, 2, 3, 4, 7].into_iter().enumerate() {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
            for (p, policy) in all_policies().into_iter().enumerate() {
                let optimize = Optimize::NAMES[turn % 4].1;
                let places_per_message = if turn % 5 == 4 { 3 } else { 1 << 20 };
                turn += 1;
                let how = How { optimize, places_per_message, ..How::new(policy) };
                if is_tried(&[h, g, p], 3) {
                    let runs = some_of(runs_at(Pacing::AT_ONCE), h + g, 2);
                    compare(&mut cluster, (name, graph), &runs, how);
                }
            }
        }
    }
}

#[test]
fn masters_that_a_file_gives() {
    let hosts = 3;
    let mut cluster = Cluster::local(hosts).threads_per_host(1);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, graph) in &nasty_graphs() {
        let parts = (0..graph.num_vertices()).map(|vertex| format!("{}\n", vertex * 7 % hosts));
        let file = folder.path().join("parts");
        std::fs::write(&file, parts.collect::<String>()).expect("a file");
        let policy = format!("file:{}", file.display());
        compare(&mut cluster, (name, graph), &all_runs(), How::new(&policy));
    }
}

#[test]
fn more_hosts_than_vertices() {
    let mut cluster = Cluster::local(20).threads_per_host(1);
    let graphs = nasty_graphs();
    let small = graphs.iter().filter(|(_, graph)| graph.num_vertices() < 20);
    for (g, (name, graph)) in small.enumerate() {
        for (p, policy) in ["oec", "cvc", "hvc"].into_iter().enumerate() {
            let runs = some_of(all_runs(), g + p, 3);
            compare(&mut cluster, (name, graph), &runs, How::new(policy));
        }
    }
}

#[test]
fn routes_in_many_messages() {
    let mut cluster = Cluster::local(4).threads_per_host(1);
    for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
        for (p, policy) in ["oec", "iec", "cvc", "hvc"].into_iter().enumerate() {
            for (o, (_, optimize)) in Optimize::NAMES.into_iter().enumerate() {
                let how = How { optimize, places_per_message: 3, ..How::new(policy) };
                if is_tried(&[g, p, o], 2) {
                    compare(&mut cluster, (name, graph), &all_runs(), how);
                }
            }
        }
    }
}

#[test]
fn many_schedules_of_a_simulated_network() {
    try_schedules(&all_runs(), 300);
}

#[test]
fn many_schedules_of_hosts_at_their_own_pace() {
    try_schedules(&runs_at(Pacing::AT_ONCE), 400);
    try_schedules(&runs_at(Pacing { governed: false, ..Pace::Basp.into() }), 200);
}

#[test]
fn many_schedules_of_hosts_that_find_their_pace() {
    try_schedules(&runs_at(Pace::Basp.into()), 200);
}

fn try_schedules(runs: &[(&dyn Algorithm, Options)], seeds: u64) {
    let graphs = nasty_graphs();
    let policies = all_policies();
    let seeds = if is_long() { seeds } else { seeds / 2 };
    for hosts in [2, 3, 5] {
        let mut cluster = Cluster::sim(hosts, 0);
        for seed in 0..seeds {
            cluster.set_seed(seed);
            // Digits of one number, so that everything meets everything sooner or later.
            let mut rest = (seed * 3 + hosts as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let mut pick = |count: usize| {
                let picked = rest % count as u64;
                rest /= count as u64;
                picked as usize
            };
            let (name, graph) = &graphs[pick(graphs.len())];
            let optimize = Optimize::NAMES[pick(Optimize::NAMES.len())].1;
            let how = How { optimize, ..How::new(policies[pick(policies.len())]) };
            let which = pick(runs.len());
            compare(&mut cluster, (name, graph), &runs[which..=which], how);
        }
    }
}

#[test]
fn masters_by_degree() {
    for hosts in [1, 3] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in nasty_graphs().iter().enumerate() {
            for (p, policy) in ["oec", "cvc", "hvc"].into_iter().enumerate() {
                let how = How { order: Order::Degree, ..How::new(policy) };
                let runs = some_of(all_runs(), g + p, 3);
                compare(&mut cluster, (name, graph), &runs, how);
            }
        }
    }
}

/// Both directions of an edge may be on two hosts, and engines leave in-edges to those after them.
#[test]
fn undirected_graphs() {
    for hosts in [1, 2, 7] {
        let mut cluster = Cluster::local(hosts).threads_per_host(1);
        for (g, (name, graph)) in nasty_graphs().into_iter().enumerate() {
            let graph = graph.undirected();
            for (p, policy) in ["oec", "cvc", "random"].into_iter().enumerate() {
                let runs = some_of(all_runs(), g + p, 3);
                compare(&mut cluster, (name, &graph), &runs, How::new(policy));
            }
        }
    }
}

/// Graphs on which threads share the work of a round: hubs, and long ways.
#[test]
fn many_threads() {
    let read =
        |spec: &str| Spec::parse(spec).and_then(|spec| spec.generate(&Silent)).expect("a graph");
    let weights = Weights::parse("random:1..20,3").expect("weights");
    let specs = ["rmat:12,16", "grid:90x70,permute", "rmat:11,24"];
    let graphs = specs.map(|spec| (spec, read(spec).reweighed(&weights)));
    for hosts in [1, 2] {
        let mut cluster = Cluster::local(hosts).threads_per_host(3);
        for (spec, graph) in &graphs {
            compare(&mut cluster, (spec, graph), &all_runs(), How::new("oec"));
        }
    }
}

/// Hosts that begin in rounds and leave them, wherever they are in what they do.
#[test]
fn hosts_that_leave_rounds_anywhere() {
    // A clique, and for each of its vertices one neighbour of degree 1.
    let many = (0..40u32)
        .flat_map(|v| (0..40).filter(move |&w| w != v).chain([v + 40]).map(move |w| (v, w, 1)));
    let dense = nasty::graph_of(80, &many.collect::<Vec<_>>());
    let graphs = [("dense", dense.clone()), ("dense both ways", dense.undirected())];
    let graphs: Vec<_> = nasty_graphs().into_iter().chain(graphs).collect();
    let mut cluster = Cluster::local(3).threads_per_host(1);
    for after in 1..=6 {
        let runs = runs_at(Pacing::AT_ONCE).into_iter().map(|(algorithm, options)| {
            let pace = if after % 2 == 0 { Pace::Basp } else { Pace::Auto };
            let pacing = Pacing { leave_after: Some(after), ..pace.into() };
            let options = Options { pacing, ..options };
            match algorithm.name() {
                "pagerank" => {
                    let formulation = Some(Formulation::Residual);
                    let own = PageRankOptions { formulation, ..options.own() };
                    (algorithm, options.with(own))
                }
                _ => (algorithm, options),
            }
        });
        let runs: Vec<_> = runs.collect();
        for (g, (name, graph)) in graphs.iter().enumerate() {
            for (p, policy) in ["oec", "cvc", "dual"].into_iter().enumerate() {
                // Each by itself: edges that one has turned around are at hand for the others.
                for (r, one) in runs.chunks(1).enumerate() {
                    if is_tried(&[after as usize, g, p, r], 3) {
                        compare(&mut cluster, (name, graph), one, How::new(policy));
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_graphs(
        (vertices, edges) in (1..80usize).prop_flat_map(|n| {
            let id = 0..n as u32;
            (Just(n), prop::collection::vec((id.clone(), id, 0..50u32), 0..250))
        }),
        hosts in 1..8usize,
        policy in prop::sample::select(all_policies()),
        optimize in prop::sample::select(Optimize::NAMES.to_vec()),
        threads in 1..3usize,
        undirected in any::<bool>(),
        pacing in prop::sample::select(vec![Pace::Bsp.into(), Pace::Basp.into(), Pacing::AT_ONCE]),
    ) {
        let graph = nasty::graph_of(vertices, &edges);
        let graph = if undirected { graph.undirected() } else { graph };
        let mut cluster = Cluster::local(hosts).threads_per_host(threads);
        let how = How { optimize: optimize.1, ..How::new(policy) };
        compare(&mut cluster, ("random", &graph), &runs_at(pacing), how);
    }
}
