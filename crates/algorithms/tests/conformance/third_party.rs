//! Reference outputs that other systems publish with their graphs.

use std::path::Path;

use parton_algorithms::betweenness::{Betweenness, BetweennessOptions};
use parton_algorithms::bfs::{Bfs, BfsOptions};
use parton_algorithms::components::Components;
use parton_algorithms::kcore::{KCore, KCoreOptions};
use parton_algorithms::label_propagation::LabelPropagation;
use parton_algorithms::lcc::Lcc;
use parton_algorithms::pagerank::{PageRank, PageRankOptions};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::strongly_connected::StronglyConnected;
use parton_algorithms::triangles::Triangles;
use parton_algorithms::{Algorithm, Column, Options, Root, Sources, Values};
use parton_graph::{Graph, LocalId, with_csr};
use parton_net::Cluster;
use parton_partition::Input;
use serde_json::Value;

use super::rules::{Found, Rule};
use super::{Question, Version};
use crate::common::{How, Outcome, run};
use crate::real;

/// LAGraph's ranks come from a program that stops early: they are good to about this.
const LAGRAPH: f64 = 1e-4;

/// Everything that other systems say of the graph in a folder.
pub(crate) fn questions(folder: &Path, about: &Value) -> Vec<Question> {
    let is_suite = |name: &str| folder.parent().is_some_and(|suite| suite.ends_with(name));
    let (libgrape, lagraph) = (is_suite("libgrape-lite"), is_suite("lagraph"));
    let parameter = |name: &str| &about["parameters"][name];
    let root = |name: &str| Root::Original(parameter(name).to_string());
    let mut questions = Vec::new();
    let references = about["references"].as_object();
    for (name, file) in references.into_iter().flatten() {
        let file = folder.join(file.as_str().expect("a name"));
        let (kind, version) = match name.strip_suffix("-directed") {
            Some(kind) => (kind, Version::Simple),
            // libgrape-lite reads the same file as undirected unless told otherwise.
            None if libgrape => (&name[..], Version::Undirected),
            None => (&name[..], Version::Simple),
        };
        let mut ask = |algorithm, options, rule| {
            let (name, rules) = (format!("reference {name}"), vec![rule]);
            questions.push(Question { name, version, algorithm, options, rules });
        };
        match kind {
            // Not PageRank: see `the_reference_that_is_not_pagerank`.
            "PR" if libgrape && version == Version::Simple => {}
            "BFS" => {
                let own = BfsOptions { root: root("bfs.source") };
                ask(&Bfs, Options::default().with(own), Rule::Levels(file));
            }
            "SSSP" => {
                let own = SsspOptions { root: root("sssp.source"), ..SsspOptions::default() };
                ask(&Sssp, Options::default().with(own), Rule::Close(file));
            }
            "WCC" => ask(&Components, Options::default(), Rule::Sets(file)),
            "CDLP" => {
                let rounds = parameter("cdlp.iterations").as_u64();
                // LAGraph keeps the diagonal of the matrix: every vertex is its own neighbour.
                let version = if lagraph { Version::AsIs } else { version };
                let options = Options { max_rounds: rounds, ..Options::default() };
                let (name, rules) = (format!("reference {name}"), vec![Rule::Labels(file)]);
                let algorithm = &LabelPropagation;
                questions.push(Question { name, version, algorithm, options, rules });
            }
            "SCC" => ask(&StronglyConnected, Options::default(), Rule::Sets(file)),
            "BC4" => {
                let listed = about["expected"]["betweenness.sources"].as_array();
                let names = listed.expect("sources").iter().map(Value::to_string).collect();
                let sources = Sources::Listed(names);
                let own = BetweennessOptions { sources, ..Default::default() };
                ask(&Betweenness, Options::default().with(own), Rule::Close(file));
            }
            "LCC" => ask(&Lcc, Options::default(), Rule::Close(file)),
            "PR" if lagraph => {
                let own = PageRankOptions { tolerance: 1e-12, ..PageRankOptions::default() };
                ask(&PageRank, Options::default().with(own), Rule::Near(file, LAGRAPH));
            }
            "PR" => {
                let rounds = parameter("pr.iterations").as_u64().expect("a number of rounds");
                let damping = parameter("pr.damping").as_f64().expect("a damping");
                ask(&PageRank, fixed_rounds(rounds, damping), Rule::Close(file.clone()));
                let own =
                    PageRankOptions { graphalytics: true, damping, ..PageRankOptions::default() };
                let options = Options { max_rounds: Some(rounds), ..Options::default() }.with(own);
                let (name, rules) = (
                    format!("reference {name} by --graphalytics"),
                    vec![Rule::Close(file), Rule::Converged],
                );
                questions.push(Question { name, version, algorithm: &PageRank, options, rules });
            }
            other => panic!("no rule for {other}"),
        }
    }
    let expected: [(&str, &dyn Algorithm, &str); 2] =
        [("triangles", &Triangles, "count"), ("degeneracy", &KCore, "degeneracy")];
    for (name, algorithm, fact) in expected {
        let known = &about["expected"][name];
        if !known.is_null() {
            questions.push(Question {
                name: format!("published {name}"),
                version: Version::Undirected,
                algorithm,
                options: Options::default(),
                rules: vec![Rule::Fact(fact, known.clone())],
            });
        }
    }
    questions.extend(of_graph_scope(folder));
    if let Some(count) = about["expected"]["components"].as_u64() {
        questions.push(Question {
            name: "published number of components".into(),
            version: Version::Simple,
            algorithm: &Components,
            options: Options::default(),
            rules: vec![Rule::Count(count)],
        });
    }
    questions
}

/// What GraphScope says of the graph that it tests with: who is in the 3-core, who is in it and in no
/// further one, and the triangles of every vertex. Its other files are by other definitions.
fn of_graph_scope(folder: &Path) -> Vec<Question> {
    let file = |name: &str| folder.join("gstest").join(format!("p2p-31-{name}.gz"));
    if !folder.join("gstest").is_dir() {
        return Vec::new();
    }
    let third = Options::default().with(KCoreOptions { k: Some(3) });
    let known: [(&str, &dyn Algorithm, Options, Rule); 3] = [
        ("kcore", &KCore, third, Rule::Members(file("kcore"))),
        ("kshell", &KCore, Options::default(), Rule::Shell(file("kshell-3"), 3)),
        ("triangles", &Triangles, Options::default(), Rule::Counts(file("triangles"))),
    ];
    let question = |(name, algorithm, options, rule)| Question {
        name: format!("GraphScope's {name}"),
        version: Version::Undirected,
        algorithm,
        options,
        rules: vec![rule],
    };
    known.map(question).into()
}

fn fixed_rounds(rounds: u64, damping: f64) -> Options {
    let own = PageRankOptions { tolerance: 0.0, damping, ..PageRankOptions::default() };
    Options { max_rounds: Some(rounds), ..Options::default() }.with(own)
}

/// Ranks by libgrape-lite's rule for directed graphs: a vertex without out-edges gets only what
/// every vertex gets, as if no edge led to it.
fn ranks_of_libgrape(graph: &Graph, rounds: u64, damping: f64) -> Vec<f64> {
    let vertices = graph.num_vertices();
    let mut ranks = vec![1.0 / vertices as f64; vertices];
    with_csr!(&graph.adjacency, csr => {
        let dangles = |vertex: usize| csr.degree(LocalId(vertex as u32)) == 0;
        for _ in 0..rounds {
            let lost: f64 = (0..vertices).filter(|&v| dangles(v)).map(|v| ranks[v]).sum();
            let mut new = vec![(1.0 - damping + damping * lost) / vertices as f64; vertices];
            for source in csr.vertices() {
                let share = damping * ranks[source.index()] / csr.degree(source) as f64;
                for target in csr.targets(source).iter().filter(|t| !dangles(t.index())) {
                    new[target.index()] += share;
                }
            }
            ranks = new;
        }
    });
    ranks
}

/// `p2p-31-PR-directed` is no PageRank of any definition. It must not be matched, and is known
/// well enough to be made again.
#[test]
fn the_reference_that_is_not_pagerank() {
    let Some(data) = real::data() else { return };
    let folder = data.join("libgrape-lite/p2p-31");
    let about = real::json(&folder.join("graph.json"));
    let file = folder.join(about["references"]["PR-directed"].as_str().expect("a name"));
    let graph = &Version::Simple.of(real::load_as_described(&folder, &about));
    let input = Input::from(graph.clone());
    let (rounds, damping) = (10, 0.85);

    let runs: [(&dyn Algorithm, Options); 1] = [(&PageRank, fixed_rounds(rounds, damping))];
    let mut cluster = Cluster::local(4).threads_per_host(1);
    let outcome = run(&mut cluster, &input, &runs, How::new("cvc")).remove(0);
    assert_eq!(outcome.complaint, None);
    let found = Found { graph, outcome: &outcome };
    assert!(found.matches(&Rule::Close(file.clone())).is_err(), "no PageRank of ours");
    assert!((found.fact("sum") - 1.0).abs() < 1e-9);

    let ranks = ranks_of_libgrape(graph, rounds, damping);
    let sum: f64 = ranks.iter().sum();
    assert!((0.46..0.47).contains(&sum), "most rank is lost by that rule: {sum}");
    let column = Column { name: "rank", values: Values::F64(ranks) };
    let outcome = Outcome { columns: vec![column], ..outcome };
    let theirs = Found { graph, outcome: &outcome };
    assert_eq!(theirs.matches(&Rule::Near(file, 1e-12)), Ok(()));
}
