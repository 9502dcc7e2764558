//! Every answer known for a real graph is found again, on any number of hosts, with any policy,
//! engine, optimisation and pace, and with a valid certificate.
//!
//! Answers are of two kinds: those that independent libraries gave ([`answers`]), and reference
//! outputs that other systems publish with their graphs ([`third_party`]), matched by their rules.

use crate::common;
use crate::real;

use crate::launchers;

mod answers;
mod ranks;
mod rules;
mod spmv;
mod third_party;

use std::ops::RangeInclusive;
use std::time::Instant;

use common::{How, all_policies, is_long, run};
use parton_algorithms::betweenness::BetweennessOptions;
use parton_algorithms::{Algorithm, Options, Sources};
use parton_engine::{EngineInfo, engines};
use parton_engine::{Pace, Pacing};
use parton_graph::tidy::Tidy;
use parton_graph::{Direction, Graph, with_csr};
use parton_net::Cluster;
use parton_partition::{Fit, Input};
use parton_sync::Optimize;
use rules::{Found, Rule, id};

/// Which graph is made of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    /// All edges of the file, self-loops and parallel ones too.
    AsIs,
    /// No self-loops, no parallel edges.
    Simple,
    /// The same with weights computed from ids.
    Derived,
    /// No self-loops, no parallel edges, every edge in both directions.
    Undirected,
}

impl Version {
    const ALL: [Version; 4] =
        [Version::AsIs, Version::Simple, Version::Derived, Version::Undirected];

    fn of(self, graph: Graph) -> Graph {
        match self {
            Version::AsIs => graph,
            Version::Simple => graph.tidied(Tidy::SIMPLE),
            Version::Derived => with_derived_weights(graph.tidied(Tidy::SIMPLE)),
            Version::Undirected => graph.tidied(Tidy { undirected: true, ..Tidy::SIMPLE }),
        }
    }
}

/// `(31 u + 17 v) mod 64 + 1` for an edge from `u` to `v`; where edges go both ways, `u` is the
/// lesser id.
fn with_derived_weights(mut graph: Graph) -> Graph {
    let undirected = graph.direction == Direction::Undirected;
    let ids = &graph.ids;
    graph.adjacency = with_csr!(graph.adjacency, csr => csr
        .reweighted(|source, destination, _| {
            let [mut u, mut v] = [source, destination].map(|vertex| id(ids, vertex.index()));
            if undirected && u > v {
                std::mem::swap(&mut u, &mut v);
            }
            ((u * 31 + v * 17) % 64 + 1) as u32
        })
        .into());
    graph
}

/// Something known of a graph: what to run, and what must come out.
struct Question {
    name: String,
    version: Version,
    algorithm: &'static dyn Algorithm,
    options: Options,
    rules: Vec<Rule>,
}

impl Question {
    fn searches_from_all(&self) -> bool {
        let sources = self.options.own::<BetweennessOptions>().sources;
        self.algorithm.name() == "betweenness" && sources == Sources::All
    }
}

const FEW: u64 = 100;
const SMALL: u64 = 2_000;
const MEDIUM: u64 = 100_000;
/// Larger graphs are of the same kinds as smaller ones: only a long run has them.
const LARGE: u64 = 1_000_000;

/// Hosts, engine and pace of runs on one partition; policies and optimisations take turns.
#[derive(Clone, Copy)]
struct Setting {
    hosts: usize,
    engine: Option<&'static EngineInfo>,
    pacing: Pacing,
    vertices: u64,
}

impl Setting {
    /// The settings for a graph of this size. Small ones are cheap enough for many.
    fn all(vertices: u64) -> Vec<Setting> {
        let kinds = [None, Some(engines::PUSH), Some(engines::FRONTIER)];
        let pairs: Vec<(usize, Option<&'static EngineInfo>)> = if vertices <= SMALL {
            [1, 4, 7].iter().flat_map(|&hosts| kinds.map(|kind| (hosts, kind))).collect()
        } else if vertices <= MEDIUM {
            vec![(1, Some(engines::PUSH)), (4, Some(engines::FRONTIER)), (4, Some(engines::PUSH))]
        } else {
            vec![(4, None)]
        };
        let in_rounds = Pace::Bsp.into();
        let setting = |(hosts, engine)| Setting { hosts, engine, pacing: in_rounds, vertices };
        let mut all: Vec<_> = pairs.into_iter().map(setting).collect();
        if vertices <= MEDIUM {
            // The engine that suits, and hosts that do not wait for each other, or not for long.
            let paces = [Pacing::AT_ONCE, Pace::Basp.into()];
            all.extend(paces.map(|pacing| Setting { pacing, ..setting((4, None)) }));
        }
        all
    }

    /// What to run for a question, if it is asked with this setting.
    fn run(self, question: &Question) -> Option<(&'static dyn Algorithm, Options)> {
        let Question { algorithm, options, .. } = question;
        // A hundred rounds over all edges: once is enough, the way that is faster.
        let many_rounds = algorithm.name() == "pagerank" && options.max_rounds.is_none();
        // Known ranks are those after a number of rounds, or exact to more digits than anybody waits
        // for; how close ranks without rounds come is tried on small graphs.
        if self.pacing.pace == Pace::Basp && algorithm.name() == "pagerank" {
            return None;
        }
        if self.pacing.pace == Pace::Basp && algorithm.needs_rounds(options).is_some() {
            return None;
        }
        // A search from every vertex: once is enough.
        if question.searches_from_all()
            && self.vertices > FEW
            && (self.hosts, self.engine) != MANY_SEARCHES
        {
            return None;
        }
        if many_rounds && self.vertices > SMALL && self.engine == Some(engines::PUSH) {
            return None;
        }
        // Hosts that settle distances of a large road network among themselves waste that work: they
        // visit nine times as many edges.
        let engine = match algorithm.name() {
            "sssp" if self.vertices > MEDIUM => Some(engines::FRONTIER),
            // Some bring an engine of their own, and are tried with it wherever others are tried.
            _ => self.engine.filter(|kind| algorithm.engines().contains(kind)),
        };
        let options = Options { engine, pacing: self.pacing, ..options.clone() };
        let waits = self.pacing.pace == Pace::Basp && algorithm.needs_rounds(&options).is_some();
        (!waits).then_some((*algorithm, options))
    }
}

/// With which hosts and engine searches from all vertices are tried, if there are more than a few.
const MANY_SEARCHES: (usize, Option<&'static EngineInfo>) = (4, Some(engines::FRONTIER));

/// What has been compared.
#[derive(Default)]
struct Tally {
    partitions: usize,
    runs: usize,
    matched: usize,
    complaints: Vec<String>,
}

/// Runs all questions with known answers on graphs of these numbers of vertices: in a short run with every `one_in`th
/// setting.
fn conform(sizes: RangeInclusive<u64>, one_in: usize) {
    let mut clusters = [1, 4, 7].map(|hosts| Cluster::local(hosts).threads_per_host(1));
    conform_on(&mut clusters, sizes, (0, one_in), Setting::all);
}

/// The same on some clusters, with settings that depend on the size of a graph: in a short run every
/// `one_in`th of them, another for each graph, version of it and `turn`.
fn conform_on(
    clusters: &mut [Cluster],
    sizes: RangeInclusive<u64>,
    (turn, one_in): (usize, usize),
    settings: impl Fn(u64) -> Vec<Setting>,
) {
    let Some(data) = real::data() else { return };
    let mut tally = Tally::default();
    for (number, folder) in real::graphs(&data).into_iter().enumerate() {
        let about = real::json(&folder.join("graph.json"));
        let known = real::json(&folder.join("answers.json"));
        let vertices = known["graph"]["vertices"].as_u64().expect("a number of vertices");
        if !sizes.contains(&vertices) {
            continue;
        }
        let began = Instant::now();
        let loaded = real::load_as_described(&folder, &about);
        let mut questions = answers::questions(&folder, &known);
        questions.extend(third_party::questions(&folder, &about));
        for question in &mut questions {
            question.name += &format!(" of {}", folder.display());
        }
        for (turn, version) in (turn..).zip(Version::ALL) {
            let asked: Vec<_> = questions.iter().filter(|q| q.version == version).collect();
            if asked.is_empty() {
                continue;
            }
            let graph = version.of(loaded.clone());
            let fit = Fit { simple: version != Version::AsIs, ..Fit::AS_IT_IS };
            let input = Input::from(graph.clone()).fitted(fit);
            let settings = settings(vertices);
            let one_in = settings.len().min(one_in);
            let settings = settings.into_iter().enumerate();
            let is_asked = |at: usize| is_long() || (number + turn + at).is_multiple_of(one_in);
            for (_, setting) in settings.filter(|(at, _)| is_asked(*at)) {
                let mut clusters = clusters.iter_mut();
                let cluster = clusters.find(|cluster| cluster.num_hosts() == setting.hosts);
                tally.ask(cluster.expect("such a cluster"), (&graph, &input), &asked, setting);
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        eprintln!("{}: {} answers, {seconds:.1} s", folder.display(), questions.len());
    }
    let Tally { partitions, runs, matched, complaints } = tally;
    eprintln!("{partitions} partitions, {runs} runs, {matched} comparisons");
    assert!(complaints.is_empty(), "{} wrong:\n{}", complaints.len(), complaints.join("\n"));
}

impl Tally {
    /// Partitions a graph and asks some questions with a setting.
    fn ask(
        &mut self,
        cluster: &mut Cluster,
        (graph, input): (&Graph, &Input),
        questions: &[&Question],
        setting: Setting,
    ) {
        // Processes that share cores take turns in every round, and searches have many.
        let slow = cluster.placement().is_some() && setting.vertices > FEW;
        let asked = questions.iter().filter(|question| !(slow && question.searches_from_all()));
        let asked = asked.filter_map(|&question| Some((question, setting.run(question)?)));
        let (asked, runs): (Vec<_>, Vec<_>) = asked.unzip();
        if runs.is_empty() {
            return;
        }
        let policies = all_policies();
        let policy = policies[self.partitions % policies.len()];
        // Those that are there to be compared with are slow.
        let choices = if setting.vertices > MEDIUM { 1 } else { Optimize::NAMES.len() };
        let (name, optimize) = Optimize::NAMES[self.partitions % choices];
        let outcomes = run(cluster, input, &runs, How { optimize, ..How::new(policy) });
        self.partitions += 1;
        self.runs += runs.len();
        for (question, outcome) in asked.into_iter().zip(&outcomes) {
            let found = Found { graph, outcome };
            let wrong = question.rules.iter().filter_map(|rule| found.matches(rule).err());
            let wrong: Vec<_> = wrong.chain(outcome.complaint.clone()).collect();
            self.matched += question.rules.len();
            let Setting { hosts, engine, pacing, .. } = setting;
            let pace = pacing.pace.name();
            let what =
                format!("{}: {hosts} hosts, {policy}, {engine:?}, {name}, {pace}", question.name);
            self.complaints.extend(wrong.iter().map(|wrong| format!("{what}: {wrong}")));
        }
    }
}

#[test]
fn small_graphs() {
    conform(0..=SMALL, 2);
}

#[test]
fn medium_graphs() {
    conform(SMALL + 1..=MEDIUM, 5);
}

#[test]
fn large_graphs() {
    conform(MEDIUM + 1..=if is_long() { u64::MAX } else { LARGE }, 1);
}
