//! Where the graphs of a command come from, and how each was understood: said once on standard error,
//! and part of every JSON report.

use crate::graph::source::Source;
use serde_json::{Value, json};

/// One graph that a command reads.
pub(crate) struct Origin {
    /// What the user called it.
    graph: String,
    /// `None` if it is generated or a saved partition.
    source: Option<Source>,
    read_as: String,
}

impl Origin {
    /// A graph of this name, from `source` if it is a file.
    pub(crate) fn new(graph: &str, source: Option<&Source>, read_as: &str) -> Self {
        Origin { graph: graph.into(), source: source.cloned(), read_as: read_as.into() }
    }

    /// True if both are the same graph, understood in the same way.
    pub(crate) fn is_same(&self, other: &Origin) -> bool {
        (&self.graph, &self.read_as) == (&other.graph, &other.read_as)
    }

    /// The note for users, who know how a generator makes its graph.
    pub(crate) fn note(&self) -> Option<String> {
        let Origin { graph, read_as, .. } = self;
        (!read_as.starts_with("generated: ")).then(|| format!("{graph}: read as {read_as}"))
    }

    fn as_json(&self) -> Value {
        let source = self.source.as_ref();
        json!({
            "file": self.graph,
            "bytes": source.and_then(Source::stored_bytes),
            // A file that is gone by now has no digest.
            "digest": source.and_then(|source| source.digest().ok().flatten()),
            "read_as": self.read_as,
        })
    }
}

/// Adds to a report what made it: the inputs, this version of Parton and the command line.
pub(crate) fn sign(report: &mut Value, origins: &[Origin]) {
    // `args` would panic on an argument that is not Unicode.
    let command = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    report["inputs"] = origins.iter().map(Origin::as_json).collect();
    report["parton"] = env!("CARGO_PKG_VERSION").into();
    report["command"] = command.collect::<Vec<_>>().into();
}
