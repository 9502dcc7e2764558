//! Compiled forms of algorithms that are also written by hand find the same, on random graphs under several policies.

use parton_algorithms::betweenness::one_source::one_source;
use parton_algorithms::betweenness::{Betweenness, BetweennessOptions};
use parton_algorithms::kcore::core::core;
use parton_algorithms::kcore::{KCore, KCoreOptions};
use parton_algorithms::pagerank::power::power;
use parton_algorithms::pagerank::residual::residuals;
use parton_algorithms::pagerank::{Dangling, PageRank, PageRankOptions};
use parton_algorithms::{Algorithm, Fact, Job, Options, Sources, Values};
use parton_engine::{Limits, Pace, Pacing};
use parton_graph::{Csr, Graph};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_program::{Communication, FieldValues, HostShare, Program, RelaxSetting, Typed, Vertex};
use parton_sync::{Error, Optimize, Substrate};

use crate::common::{How, run};

parton_algorithms::compiled! {
    /// ranks of a surfer who starts again at seeds
    struct Personalised = power as "personalised" -> ["rank"];
    options PersonalisedOptions {
        /// How much of a rank is passed on.
        damping: f64 = 0.85;
        /// Ranks are final when all together change by no more than this.
        tolerance: f64 = 1e-12;
        /// Where the surfer starts again.
        seeds: Option<Vec<String>> = None;
    }
}

#[test]
fn options_list_vertices() {
    let graph = graph(40, &random_edges(40, 150, 9));
    for seeds in [None, Some(vec!["3".to_string(), "17".to_string()])] {
        let own = PersonalisedOptions { seeds: seeds.clone(), ..Default::default() };
        let runs: [(&dyn Algorithm, Options); 1] = [(&Personalised, Options::default().with(own))];
        let input: &Input = &graph.clone().into();
        let outcome = run(&mut Cluster::local(3), input, &runs, How::new("cvc")).remove(0);
        assert_eq!(outcome.complaint, None);
        let Values::F64(ranks) = &outcome.columns[0].values else { panic!("ranks are real") };
        let own = PageRankOptions { tolerance: 1e-12, seeds, ..PageRankOptions::default() };
        let own = Options::default().with(own);
        same(ranks, &expected(&PageRank, &graph, own), 1e-10, "personalised");
    }
}

/// Edges between vertices drawn at random, more at those with small numbers.
fn random_edges(vertices: u32, count: u32, mut seed: u64) -> Vec<(u32, u32)> {
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) as u32) % below
    };
    (0..count)
        .map(|_| {
            let most = 1 + next(vertices);
            (next(most), next(vertices))
        })
        .collect()
}

fn graph(vertices: u32, edges: &[(u32, u32)]) -> Graph {
    let edges: Vec<_> = edges.iter().map(|&(a, b)| (a, b, ())).collect();
    Graph::dense(Csr::from_edges(vertices as usize, &edges), "a test")
}

/// What a program returns, of all vertices.
fn found<P: Program>(
    graph: &Graph,
    program: &P,
    (policy, hosts, engine, pace): (&str, usize, &str, Pace),
) -> Vec<FieldValues> {
    let input: &Input = &graph.clone().into();
    let of_hosts = Cluster::sim(hosts, 5).launch(|net| {
        let partition = Partition::build(net, input, &Plan::new(policy)).expect("a partition");
        let share = HostShare {
            engine: Some(engine),
            communication: Communication::default(),
            pacing: Pacing { pace, ..Pacing::default() },
            limits: Limits::default(),
            delta: RelaxSetting::default().delta,
            sums_fit: false,
            device: None,
        };
        let substrate = &mut Substrate::new(&partition, net, Optimize::ALL);
        let columns = share.run(program, substrate, &mut ())?.columns;
        Ok::<_, Error>((partition.globals()[..partition.num_masters()].to_vec(), columns))
    });
    let of_hosts = of_hosts.expect("a run");
    let columns = (0..of_hosts[0].1.len()).map(|column| {
        let of_host =
            |(ids, columns): &(Vec<u32>, Vec<FieldValues>)| (ids.clone(), columns[column].clone());
        FieldValues::gathered(graph.num_vertices(), of_hosts.iter().map(of_host).collect())
    });
    columns.collect()
}

/// What the algorithm's own oracle finds.
fn expected(algorithm: &dyn Algorithm, graph: &Graph, options: Options) -> Vec<f64> {
    match algorithm.reference(graph, &options).expect("an answer").swap_remove(0).values {
        Values::F64(values) => values,
        Values::U32(values) => values.into_iter().map(f64::from).collect(),
        _ => unreachable!("ranks, scores and members"),
    }
}

fn same(found: &[f64], expected: &[f64], within: f64, of: &str) {
    assert_eq!(found.len(), expected.len());
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= within, "{of}: {found}, not {expected} at {vertex}");
    }
}

/// Graphs, policies, numbers of hosts.
fn each(mut check: impl FnMut(u32, &[(u32, u32)], &str, usize)) {
    for (seed, (vertices, count)) in [(30, 40), (60, 200), (90, 700)].into_iter().enumerate() {
        let edges = random_edges(vertices, count, seed as u64 + 1);
        for (policy, hosts) in [("oec", 1), ("oec", 3), ("iec", 2), ("cvc", 4), ("hvc", 5)] {
            check(vertices, &edges, policy, hosts);
        }
    }
}

#[test]
fn members_of_cores() {
    each(|vertices, edges, policy, hosts| {
        let mut both: Vec<_> =
            edges.iter().filter(|(a, b)| a != b).flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        both.sort_unstable();
        both.dedup();
        let graph = graph(vertices, &both);
        for (k, engine, pace) in [
            (0, "push", Pace::Bsp),
            (2, "frontier", Pace::Bsp),
            (3, "push", Pace::Basp),
            (4, "pull", Pace::Bsp),
            (5, "steps", Pace::Bsp),
        ] {
            let members = found(&graph, &core { k }, (policy, hosts, engine, pace)).remove(0);
            let members = bool::of_values(members).into_iter().map(|is| f64::from(u8::from(is)));
            let own = Options::default().with(KCoreOptions { k: Some(k) });
            let members: Vec<_> = members.collect();
            let of = format!("{k}-core, {engine}, {policy}, {hosts} hosts");
            same(&members, &expected(&KCore, &graph, own), 0.0, &of);
        }
    });
}

/// Where neighbours would have to be brought together, one core is found by the compiled form, and the report says why.
#[test]
fn one_core_needs_no_neighbours() {
    // A dense part, some vertices that hang on it, and a path.
    let is_edge = |&(a, b): &(u32, u32)| a < 20 || b == a - 1 || (a < 30 && b + 32 < 2 * a);
    let pairs = (0..60).flat_map(|a| (0..a).map(move |b| (a, b)));
    let edges: Vec<(u32, u32)> = pairs.filter(is_edge).collect();
    let both: Vec<_> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    let input = &Input::from(graph(60, &both)).fitted(KCore.needs(&Options::default()).fit());
    for (policy, hosts, k, engine) in [
        ("cvc", 4, Some(16), "frontier"),
        ("cvc", 4, None, "peel"),
        ("cvc", 1, Some(16), "peel"),
        ("oec", 4, Some(16), "peel"),
    ] {
        let options = &Options::default().with(KCoreOptions { k });
        let answers = Cluster::sim(hosts, 5).launch(|net| {
            let partition = Partition::build(net, input, &Plan::new(policy)).expect("a partition");
            let substrate = &mut Substrate::new(&partition, net, Optimize::ALL);
            let job = &mut Job { substrate, options, watch: &mut (), device: None };
            let answer = KCore.run(job)?;
            assert_eq!(KCore.check(job, &answer)?, None);
            Ok::<_, parton_algorithms::Error>(answer)
        });
        let answer = answers.expect("a run").swap_remove(0);
        assert_eq!(answer.engine.name, engine, "{policy} {hosts} {k:?}");
        assert_eq!(answer.why.contains("on several hosts"), engine == "frontier", "{}", answer.why);
        let size = Fact::Integer(members_of_16_core(&both));
        assert!(k.is_none() || answer.result == [("size", size)], "{:?}", answer.result);
    }
}

/// Removes vertices with fewer than 16 neighbours one after the other.
fn members_of_16_core(edges: &[(u32, u32)]) -> u64 {
    let mut members: std::collections::BTreeSet<u32> = edges.iter().map(|edge| edge.0).collect();
    loop {
        let is_left =
            |v: &u32| edges.iter().filter(|(a, b)| a == v && members.contains(b)).count() >= 16;
        let left: std::collections::BTreeSet<u32> =
            members.iter().copied().filter(is_left).collect();
        if left == members {
            return members.len() as u64;
        }
        members = left;
    }
}

/// What one asks of PageRank, with seeds by their numbers.
fn asked(seeds: &[u32], dangling: Dangling) -> (PageRankOptions, Vec<Vertex>) {
    let ids = seeds.iter().map(ToString::to_string).collect();
    let own = PageRankOptions {
        tolerance: 1e-12,
        seeds: (!seeds.is_empty()).then_some(ids),
        dangling,
        ..PageRankOptions::default()
    };
    (own, seeds.iter().map(|&seed| Vertex(seed)).collect())
}

#[test]
fn ranks_by_the_power_method() {
    each(|vertices, edges, policy, hosts| {
        let graph = graph(vertices, edges);
        for (seeds, engine) in [(&[][..], "pull"), (&[7, 1, 20][..], "spmv"), (&[3][..], "steps")] {
            let (own, seeds) = asked(seeds, Dangling::Redistribute);
            let program = power { damping: own.damping, tolerance: own.tolerance, seeds };
            let how = (policy, hosts, engine, Pace::Bsp);
            let ranks = f64::of_values(found(&graph, &program, how).remove(0));
            let of = format!("{engine}, {policy}, {hosts} hosts");
            same(&ranks, &expected(&PageRank, &graph, Options::default().with(own)), 1e-10, &of);
        }
    });
}

#[test]
fn ranks_by_residuals() {
    each(|vertices, edges, policy, hosts| {
        let graph = graph(vertices, edges);
        for (seeds, engine, pace) in [
            (&[][..], "frontier", Pace::Bsp),
            (&[7, 1, 20][..], "push", Pace::Basp),
            (&[3][..], "pull", Pace::Bsp),
            (&[][..], "steps", Pace::Bsp),
        ] {
            let (own, seeds) = asked(seeds, Dangling::Drop);
            let program = residuals { damping: own.damping, threshold: 1e-14, seeds };
            let mut columns = found(&graph, &program, (policy, hosts, engine, pace));
            let [residual, rank] = [1, 0].map(|column| f64::of_values(columns.remove(column)));
            let ranks: Vec<_> = rank.iter().zip(&residual).map(|(a, b)| a + b).collect();
            let of = format!("{engine}, {policy}, {hosts} hosts");
            same(&ranks, &expected(&PageRank, &graph, Options::default().with(own)), 1e-10, &of);
        }
    });
}

#[test]
fn scores_by_paths_from_one_source() {
    each(|vertices, edges, policy, hosts| {
        let graph = graph(vertices, edges);
        for root in [0, vertices / 2] {
            let program = one_source { root: Vertex(root) };
            let how = (policy, hosts, "steps", Pace::Bsp);
            let scores = f64::of_values(found(&graph, &program, how).remove(0));
            let sources = Sources::Listed(vec![root.to_string()]);
            let own = Options::default().with(BetweennessOptions { sources, normalized: false });
            let of = format!("from {root}, {policy}, {hosts} hosts");
            same(&scores, &expected(&Betweenness, &graph, own), 1e-9, &of);
        }
    });
}
