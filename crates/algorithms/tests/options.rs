//! Declarations of options, of all algorithms and of one that clashes with them.

use std::sync::Arc;

use parton_algorithms::bfs::{Bfs, BfsOptions};
use parton_algorithms::components::Components;
use parton_algorithms::options::{Given, check_declarations};
use parton_algorithms::pagerank::PageRank;
use parton_algorithms::sssp::Sssp;
use parton_algorithms::{
    ALL, Access, Algorithm, Answer, Column, Job, MemoryUse, OptionSet, Options, Result, Root,
    check_request,
};
use parton_engine::{EngineInfo, engines};
use parton_graph::{Csr, Graph};

parton_algorithms::options! {
    /// What somebody else's search can be asked.
    struct OtherOptions {
        /// How a tree grows.
        root: Option<u64> = None, unset = "slowly";
    }
}

/// Somebody else's search.
struct Other(&'static str);

impl Algorithm for Other {
    fn name(&self) -> &'static str {
        self.0
    }

    fn about(&self) -> &'static str {
        "a search"
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(OtherOptions::default())
    }

    fn run(&self, _: &mut Job<'_, '_>) -> Result<Answer> {
        unreachable!("nobody runs it")
    }

    fn check(&self, _: &mut Job<'_, '_>, _: &Answer) -> Result<Option<String>> {
        unreachable!("nobody runs it")
    }

    fn reference(&self, _: &Graph, _: &Options) -> Result<Vec<Column>> {
        unreachable!("nobody runs it")
    }
}

#[test]
fn one_name_has_one_meaning() {
    check_declarations(ALL).expect("what we declare");
    check_declarations(&[&Other("other"), &PageRank]).expect("no clash");
    let clash = |algorithms: &[&dyn Algorithm]| {
        check_declarations(algorithms).expect_err("a clash").to_string()
    };
    let said = clash(&[&Bfs, &Sssp, &Other("other")]);
    assert_eq!(said, "`root` means one thing to bfs and another to other");
    assert!(clash(&[&Bfs, &Other("bfs")]).contains("two algorithms called bfs"));
}

#[test]
fn defaults_that_users_read_are_the_real_ones() {
    for algorithm in ALL {
        let defaults = algorithm.options();
        for spec in defaults.specs() {
            let what = format!("{} of {}", spec.name, algorithm.name());
            assert!(spec.help.len() > 10 && !spec.help.ends_with('.'), "{what}: {}", spec.help);
            assert!(spec.default.is_none() || spec.unset.is_none(), "{what}: two defaults");
            for value in spec.default.as_deref().into_iter().chain(spec.measured) {
                (spec.normalized)(value).unwrap_or_else(|e| panic!("{what}: {value}: {e}"));
            }
            if let Some(default) = &spec.default {
                let mut set = defaults.boxed();
                set.set(spec.name, Given::Text(default)).expect(&what);
                assert_eq!(format!("{set:?}"), format!("{defaults:?}"), "{what}");
            }
        }
    }
}

#[test]
fn texts_become_values() {
    let mut options = Options::default();
    options.set(&Bfs, "root", Given::Text("Rome")).expect("an id");
    assert_eq!(options.own::<BfsOptions>().root, Root::Original("Rome".into()));
    options.set(&Bfs, "root", Given::Text("max-degree")).expect("a root");
    assert_eq!(options.own::<BfsOptions>(), BfsOptions::default());
    let graph = Arc::new(Graph::dense(Csr::<()>::from_edges(0, &[]), "nothing"));
    let mut refusal =
        |name: &str, given| options.set(&Bfs, name, given).expect_err("a refusal").to_string();
    let said = refusal("delta", Given::Text("3"));
    assert_eq!(said, "bfs has no option `delta`; its own are: root");
    assert_eq!(refusal("root", Given::Graph(graph)), "`root` a graph: expected a text");
}

#[test]
fn options_of_another_algorithm_are_refused() {
    let options = Options::default().with(BfsOptions::default());
    check_request(&Bfs, &options).expect("its own");
    let said = check_request(&Sssp, &options).expect_err("a refusal").to_string();
    assert!(said.ends_with("options of another algorithm than sssp"), "{said}");
}

/// The policy follows from the ends at which an engine looks at edges.
#[test]
fn engines_look_at_edges_from_the_ends_that_suit() {
    let access = |algorithm: &dyn Algorithm, engine: &'static EngineInfo| {
        algorithm.access(&Options { engine: Some(engine), ..Options::default() })
    };
    assert_eq!(access(&Bfs, engines::FRONTIER), Access::Either);
    assert_eq!(access(&Sssp, engines::DELTA), Access::SourcesThenDestinations);
    for algorithm in [&Sssp as &dyn Algorithm, &Components] {
        assert_eq!(access(algorithm, engines::FRONTIER), Access::Sources, "{}", algorithm.name());
    }
    for algorithm in [&Bfs as &dyn Algorithm, &Sssp, &Components] {
        assert_eq!(access(algorithm, engines::PUSH), Access::Sources, "{}", algorithm.name());
    }
}

#[test]
fn the_memory_of_every_algorithm_was_measured() {
    for algorithm in ALL {
        let (name, found) = (algorithm.name(), algorithm.memory_use());
        let advice = "measure it with `cargo xtask bench plan`, and say so in `memory_use`";
        assert_ne!(found, MemoryUse::UNKNOWN, "{name}: {advice}");
    }
}
