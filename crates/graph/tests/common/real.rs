//! Where real graphs with known answers lie, for the tests of this and other crates.
//!
//! They are found through `PARTON_DATA`, or in `shared/data` beside the checkout; without them
//! tests say so and have nothing to check.

use std::path::{Path, PathBuf};

use parton_graph::formats::{self, ReadOptions, Vertices};
use parton_graph::source::Source;
use parton_graph::{Direction, Graph, VertexRange};
use serde_json::Value;

/// The folder with all of them, if there is one. One that was asked for must be there.
pub(crate) fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let asked = std::env::var_os("PARTON_DATA").map(PathBuf::from);
    let folder = asked.clone().unwrap_or(beside);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(asked.is_none(), "PARTON_DATA is {}, which is no folder", folder.display());
    eprintln!("no real graphs at {}: set PARTON_DATA to their folder", folder.display());
    None
}

/// A file in JSON.
pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Folders with a `graph.json`, two levels down.
fn folders(data: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect()
    };
    let mut all: Vec<_> = inside(data).iter().flat_map(|suite| inside(suite)).collect();
    all.retain(|folder| folder.join("graph.json").is_file());
    all.sort();
    all
}

/// Folders of graphs. Ratings are none: they are matrices of users and items, whose ids overlap.
pub(crate) fn graphs(data: &Path) -> Vec<PathBuf> {
    let is_graph = |folder: &PathBuf| json(&folder.join("graph.json"))["kind"] != "ratings";
    let graphs: Vec<_> = folders(data).into_iter().filter(is_graph).collect();
    assert!(graphs.len() >= 30, "only {} graphs in {}", graphs.len(), data.display());
    graphs
}

/// A graph from one of its files.
pub(crate) fn load(file: &Path, options: &ReadOptions<'_>) -> Graph {
    let source = Source::find(file.to_str().unwrap()).unwrap();
    formats::read(&source, None, options).unwrap_or_else(|e| panic!("{e}"))
}

/// The graph in a folder, as its `graph.json` says.
pub(crate) fn load_as_described(folder: &Path, about: &Value) -> Graph {
    let vertices = about["vertex_range"].as_array().map(|range| {
        let [first, last] = [&range[0], &range[1]].map(|v| v.as_u64().unwrap());
        Vertices::Range(VertexRange { first, count: last - first + 1 })
    });
    let directed = about["directed"].as_bool().unwrap();
    let direction = (!directed).then_some(Direction::Undirected);
    let options = ReadOptions { vertices, direction, ..ReadOptions::default() };
    load(&folder.join(about["file"].as_str().unwrap()), &options)
}
