//! Graph algorithms: each file holds a program, its serial oracle, and how its answer is checked.
//!
//! [`ALL`] is the registry; [`Algorithm`] is what the command, the tests and the benches see.

pub mod algorithm;
pub mod answer;
pub mod betweenness;
pub mod bfs;
pub mod certificate;
pub mod compiled;
pub mod components;
pub mod error;
mod graph_traits;
pub mod hits;
pub mod kcore;
pub mod label_propagation;
pub mod lcc;
pub mod matrix_completion;
pub mod memory_use;
mod needs;
mod neighbours;
pub mod options;
pub mod pagerank;
mod phases;
mod removal;
pub mod root;
pub mod sources;
pub mod sssp;
pub mod strongly_connected;
#[cfg(test)]
mod translation;
pub mod traversal;
pub mod triangles;
pub mod vertices;
mod wedges;
pub mod widest_path;

use parton_engine::EngineInfo;
use parton_graph::nearest::did_you_mean;

pub use algorithm::{Access, Algorithm, Job, check_devices, check_request, engine_by_name};
pub use answer::{Answer, Column, Fact, Id, Meanings, Values};
pub use error::{Error, Result};
pub use memory_use::MemoryUse;
pub use needs::{EdgeNeed, Needs, WeightNeed};
pub use options::{OptionSet, Options};
pub use root::Root;
pub use sources::Sources;

/// Every algorithm. A `static`, since users of a constant would compile all engines for all of them again.
pub static ALL: &[&dyn Algorithm] = &[
    &bfs::Bfs,
    &sssp::Sssp,
    &components::Components,
    &pagerank::PageRank,
    &kcore::KCore,
    &triangles::Triangles,
    &lcc::Lcc,
    &betweenness::Betweenness,
    &strongly_connected::StronglyConnected,
    &label_propagation::LabelPropagation,
    &matrix_completion::MatrixCompletion,
    &widest_path::WidestPath,
    &hits::Hits,
];

/// Every engine that runs programs of any algorithm, and those that these algorithms bring.
pub fn engines(algorithms: &[&dyn Algorithm]) -> Vec<&'static EngineInfo> {
    let mut known = parton_engine::engines::ALL.to_vec();
    for engine in algorithms.iter().flat_map(|algorithm| algorithm.engines()) {
        if !known.contains(engine) {
            known.push(engine);
        }
    }
    known
}

/// The algorithm of that name.
pub fn by_name(name: &str) -> Result<&'static dyn Algorithm> {
    ALL.iter().copied().find(|algorithm| algorithm.name() == name).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|algorithm| algorithm.name()).collect();
        let meant = did_you_mean(name, known.iter().copied());
        Error::Request(format!("unknown algorithm '{name}'{meant}; known are {}", known.join(", ")))
    })
}
