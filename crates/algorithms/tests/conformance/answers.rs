//! What independent libraries say of a graph: its `answers.json`, and values per vertex in
//! `reference/own-*`.

use std::path::{Path, PathBuf};

use parton_algorithms::betweenness::{Betweenness, BetweennessOptions};
use parton_algorithms::bfs::{Bfs, BfsOptions};
use parton_algorithms::components::Components;
use parton_algorithms::kcore::{KCore, KCoreOptions};
use parton_algorithms::label_propagation::LabelPropagation;
use parton_algorithms::lcc::Lcc;
use parton_algorithms::pagerank::{Dangling, PageRank, PageRankOptions};
use parton_algorithms::sssp::{Sssp, SsspOptions};
use parton_algorithms::strongly_connected::StronglyConnected;
use parton_algorithms::triangles::Triangles;
use parton_algorithms::{Options, Root, Sources};
use serde_json::Value;

use super::rules::Rule;
use super::{MEDIUM, Question, Version};

/// Ranks have converged when all together change by less.
const CONVERGED: f64 = 1e-13;

/// Every answer in a folder that is about an algorithm there is.
pub(crate) fn questions(folder: &Path, known: &Value) -> Vec<Question> {
    let id = |of: &str| known[of]["id"].as_u64().expect("an id");
    let sources = [id("source"), id("second_source")];
    let own = |name: &str| existing(folder, &format!("reference/own-{name}"));
    let mut questions = Vec::new();
    for (name, answer) in known.as_object().expect("answers by name") {
        let second = name.ends_with("_second_source");
        let ending = if second { "-second-source" } else { "" };
        let search = |file: &str| {
            let root = sources[usize::from(second)];
            let mut rules = vec![Rule::Search { answer: answer.clone(), root }];
            rules.extend(own(&format!("{file}{ending}")).map(Rule::Own));
            rules
        };
        // The first source is the one that a search chooses by itself, unless edges were added.
        let root = match second || name == "bfs_undirected" {
            true => Root::Original(sources[usize::from(second)].to_string()),
            false => Root::MaxDegree,
        };
        let levels = Options::default().with(BfsOptions { root: root.clone() });
        let paths = Options::default().with(SsspOptions { root, ..SsspOptions::default() });
        let options = Options::default();
        let mut ask = |version, algorithm, options, rules| {
            questions.push(Question { name: name.clone(), version, algorithm, options, rules });
        };
        match name.trim_end_matches("_second_source") {
            "bfs" => ask(Version::Simple, &Bfs, levels, search("BFS")),
            "bfs_undirected" => ask(Version::Undirected, &Bfs, levels, search("BFS-undirected")),
            "sssp_file_weights" => ask(Version::Simple, &Sssp, paths, search("SSSP")),
            "sssp_derived_weights" => {
                ask(Version::Derived, &Sssp, paths, search("SSSP-derived"));
            }
            "wcc" => {
                let mut rules = vec![Rule::Components(answer.clone())];
                rules.extend(own("WCC").map(Rule::Own));
                ask(Version::Simple, &Components, options, rules);
            }
            "pagerank" => {
                let dangling = known["graph"]["dangling_vertices"].as_u64() != Some(0);
                let vertices = known["graph"]["vertices"].as_u64();
                let rankings = rankings(answer, own);
                let twice = dangling || vertices <= Some(MEDIUM);
                for mut ranking in if twice { rankings } else { joined(rankings) } {
                    ranking.name +=
                        &format!(", {:?}", ranking.options.own::<PageRankOptions>().dangling);
                    questions.push(ranking);
                }
            }
            "scc" => {
                let rules = vec![Rule::Strong(answer.clone())];
                ask(Version::Simple, &StronglyConnected, options, rules);
            }
            "cdlp" => {
                let mut rules = vec![Rule::Communities(answer.clone())];
                rules.extend(own("CDLP").map(Rule::Own));
                let options = Options { max_rounds: answer["rounds"].as_u64(), ..options };
                ask(Version::Simple, &LabelPropagation, options, rules);
            }
            "betweenness" => {
                for (which, answer) in answer.as_object().expect("answers by sources") {
                    let (file, sources) = match which.as_str() {
                        "four_sources" => ("BC-four-sources", Sources::Largest(4)),
                        "exact" => ("BC-exact", Sources::All),
                        other => panic!("nobody asks for betweenness from {other}"),
                    };
                    // What is known has both orders of a pair; all sources count each pair once.
                    let is_directed = known["graph"]["directed"] != false;
                    let part = if sources == Sources::All && !is_directed { 0.5 } else { 1.0 };
                    let mut rules = vec![Rule::Between { answer: answer.clone(), part }];
                    rules.extend(own(file).map(|file| Rule::OwnScores { file, part }));
                    let options = Options::default()
                        .with(BetweennessOptions { sources, ..Default::default() });
                    ask(Version::Simple, &Betweenness, options, rules);
                }
            }
            "kcore" => {
                let mut rules = vec![Rule::Cores(answer.clone())];
                rules.extend(own("KCORE").map(Rule::Own));
                ask(Version::Undirected, &KCore, options.clone(), rules);
                // In a large graph one is enough.
                let asked =
                    |k: &str| known["graph"]["vertices"].as_u64() <= Some(MEDIUM) || k == "3";
                let sizes = answer["size_of_k_core"].as_object().expect("sizes by k");
                for (k, size) in sizes.iter().filter(|(k, _)| asked(k)) {
                    let own = KCoreOptions { k: Some(k.parse().expect("a number")) };
                    let rules = vec![Rule::Fact("size", size.clone())];
                    ask(Version::Undirected, &KCore, options.clone().with(own), rules);
                }
            }
            "triangles" => {
                ask(
                    Version::Undirected,
                    &Triangles,
                    options,
                    vec![Rule::Triangles(answer.clone())],
                );
            }
            "lcc" => {
                let mean = |name: &str| Rule::Fact("mean", answer[name].clone());
                let mut rules =
                    vec![mean("mean_ldbc"), Rule::Nonzero(answer["nonzero_ldbc"].clone())];
                rules.extend(own("LCC").map(Rule::Own));
                ask(Version::Simple, &Lcc, options.clone(), rules);
                ask(Version::Undirected, &Lcc, options, vec![mean("mean_undirected")]);
            }
            other => assert!(!is_ours(other), "nobody asks for {other}"),
        }
    }
    questions
}

/// Whether an answer is about an algorithm there is, by the beginning of its name.
fn is_ours(name: &str) -> bool {
    let ours = [
        "bfs",
        "sssp",
        "wcc",
        "pagerank",
        "scc",
        "cdlp",
        "betweenness",
        "kcore",
        "triangles",
        "lcc",
    ];
    ours.iter().any(|ours| name.starts_with(ours))
}

/// PageRank, by every rule, converged and on the way.
fn rankings(answers: &Value, own: impl Fn(&str) -> Option<PathBuf>) -> Vec<Question> {
    let question = |version, dangling, name: &str, answer: &Value, file: Option<PathBuf>| {
        let (tolerance, max_rounds) = match name {
            "after_10" => (0.0, Some(10)),
            "converged" => (CONVERGED, None),
            other => panic!("ranks that are {other}"),
        };
        let own = PageRankOptions { tolerance, dangling, ..PageRankOptions::default() };
        let mut rules = vec![Rule::Ranks(answer.clone())];
        rules.extend((name == "converged").then_some(Rule::Converged));
        rules.extend(file.map(Rule::Own));
        Question {
            name: format!("pagerank {name}"),
            version,
            algorithm: &PageRank,
            options: Options { max_rounds, ..Options::default() }.with(own),
            rules,
        }
    };
    let mut questions = Vec::new();
    for (rule, answers) in answers.as_object().expect("answers by rule") {
        let dangling = match rule.as_str() {
            "no_redistribution" => Dangling::Drop,
            "uniform" => Dangling::Redistribute,
            "as_is" => {
                let drop = (Dangling::Drop, &answers["no_redistribution"]);
                for (dangling, answer) in [drop, (Dangling::Redistribute, &answers["uniform"])] {
                    questions.push(question(Version::AsIs, dangling, "converged", answer, None));
                }
                continue;
            }
            other => panic!("nobody asks for ranks by {other}"),
        };
        for (name, answer) in answers.as_object().expect("answers by name") {
            let ending = if name == "after_10" { "-after-10" } else { "" };
            let file = own(&format!("PR-{rule}{ending}"));
            questions.push(question(Version::Simple, dangling, name, answer, file));
        }
    }
    questions
}

/// The same questions for a graph in which no rank is ever lost: both ways to treat lost rank must
/// match both answers, and a large graph needs to be ranked only one way.
fn joined(rankings: Vec<Question>) -> Vec<Question> {
    let mut joined: Vec<Question> = Vec::new();
    for mut ranking in rankings {
        let own = ranking.options.own();
        let own = PageRankOptions { dangling: Dangling::Redistribute, ..own };
        ranking.options = ranking.options.with(own);
        let asked = |question: &Question| {
            let options = &question.options;
            (question.version, options.max_rounds, options.own::<PageRankOptions>())
        };
        let same = |other: &&mut Question| asked(other) == asked(&ranking);
        match joined.iter_mut().find(same) {
            Some(other) => other.rules.append(&mut ranking.rules),
            None => joined.push(ranking),
        }
    }
    joined
}

/// A file of that name, plain or packed, if there is one.
fn existing(folder: &Path, name: &str) -> Option<PathBuf> {
    [name.to_owned(), format!("{name}.gz")]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
}
