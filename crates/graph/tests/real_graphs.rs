//! Every real graph at hand loads with the counts its own answers state.

use crate::real;

use std::path::Path;

use parton_graph::OriginalId;
use parton_graph::formats::{self, ReadOptions, Vertices};
use parton_graph::source::Source;
use parton_graph::stats::Summary;
use parton_graph::tidy::Tidy;
use real::{data, graphs, json, load, load_as_described};

fn check(folder: &Path) {
    let about = json(&folder.join("graph.json"));
    let answers = json(&folder.join("answers.json"));
    let expected = |key: &str| answers["graph"][key].as_u64().unwrap();
    let directed = about["directed"].as_bool().unwrap();
    let graph = load_as_described(folder, &about);

    let id = |v: usize| match graph.ids.get(v) {
        OriginalId::Integer(id) => id,
        OriginalId::Name(_) => panic!("integers"),
    };
    assert_eq!(graph.num_vertices() as u64, expected("vertices"));
    assert_eq!(id(0), expected("least_id"));
    assert_eq!(id(graph.num_vertices() - 1), expected("largest_id"));
    let summary = Summary::of(&graph);
    assert_eq!(summary.self_loops, expected("self_loops_in_file"));
    if directed {
        assert_eq!(summary.edges, expected("rows_in_file"));
    } else {
        assert!(summary.symmetric);
    }
    let simple = Summary::of(&graph.tidied(Tidy::SIMPLE));
    assert_eq!((simple.self_loops, simple.duplicates), (0, 0));
    assert_eq!(simple.edges, expected("arcs_simple"));
    assert_eq!(simple.isolated, expected("isolated_vertices"));
    assert_eq!(simple.out_degrees.max, expected("max_out_degree"));
    assert_eq!(simple.in_degrees.max, expected("max_in_degree"));
    assert_eq!(simple.out_degrees.histogram[0], expected("dangling_vertices"));
}

#[test]
fn every_real_graph_loads_with_the_counts_it_states() {
    let Some(data) = data() else { return };
    for folder in graphs(&data) {
        eprintln!("{}", folder.display());
        check(&folder);
    }
}

#[test]
fn ratings_load_as_bipartite_graphs() {
    let Some(data) = data() else { return };
    for (name, format) in [("ml-100k", "edges"), ("jester-1", "jester")] {
        let folder = data.join("ratings").join(name);
        let answers = json(&folder.join("answers.json"));
        let expected = |key: &str| answers["matrix"][key].as_u64().unwrap();
        let file = folder.join(answers["matrix"]["file"].as_str().unwrap());
        let options = ReadOptions { bipartite: format == "edges", ..ReadOptions::default() };
        let source = Source::find(file.to_str().unwrap()).unwrap();
        let format = formats::by_name(format).unwrap();
        let graph =
            formats::read(&source, Some(format), &options).unwrap_or_else(|e| panic!("{e}"));
        let side = |letter: char| {
            (0..graph.num_vertices())
                .filter(|&v| graph.ids.get(v).to_string().starts_with(letter))
                .count()
        };
        assert_eq!((side('s') as u64, side('t') as u64), (expected("users"), expected("items")));
        let summary = Summary::of(&graph);
        assert_eq!(summary.vertices, expected("users") + expected("items"));
        assert_eq!((summary.edges, summary.duplicates), (expected("ratings"), 0));
        assert_eq!(summary.out_degrees.max, expected("max_ratings_of_a_user"));
        assert_eq!(summary.in_degrees.max, expected("max_ratings_of_an_item"));
        let range = ["min", "max"].map(|key| answers["matrix"][key].as_f64().unwrap());
        assert_eq!(summary.weight_range, Some((range[0], range[1])));
    }
}

#[test]
fn one_graph_in_seven_formats() {
    let Some(data) = data() else { return };
    let folder = data.join("gapbs/graph-4");
    // The `.el` ids start at 0 and do not say that vertex 1 exists.
    let fourteen = || ReadOptions { vertices: Some(Vertices::Count(14)), ..ReadOptions::default() };
    let edges = |name: &str| -> Vec<(usize, usize)> {
        let graph = load(&folder.join(name), &fourteen()).tidied(Tidy::SIMPLE);
        assert_eq!(graph.num_vertices(), 14, "{name}");
        let targets = graph.adjacency.all_targets();
        let offsets = graph.adjacency.offsets();
        (0..14)
            .flat_map(|v| {
                let mine = offsets[v] as usize..offsets[v + 1] as usize;
                targets[mine].iter().map(move |t| (v, t.index()))
            })
            .collect()
    };
    let expected = edges("4.el");
    assert_eq!(expected.len(), 53);
    for name in ["4.wel", "4.gr", "4.graph", "4.mtx", "4w.graph", "4w.mtx"] {
        assert_eq!(edges(name), expected, "{name}");
    }
}
