//! `parton generate`: make a graph and write it to a file.

use std::path::PathBuf;

use crate::graph::Result;
use crate::graph::generate::Spec;
use crate::graph::{Error, generate};
use clap::Args;

use super::convert::Writing;
use crate::cli::graph_arguments::ChangeArguments;
use crate::cli::watch::Watch;

/// Make a graph and write it to a file.
#[derive(Args)]
pub(crate) struct Generate {
    /// What to make, such as rmat:18, grid:2000x2000,permute or web:100000 (see `parton list`)
    spec: String,

    /// The file to write, or `-`; its ending says the format: .parton, .csv, .tsv, .el, .gr, .mtx,
    /// .parquet
    output: PathBuf,

    #[command(flatten)]
    cleaning: ChangeArguments,

    #[command(flatten)]
    writing: Writing,
}

impl Generate {
    pub(crate) fn run(self, watch: &Watch) -> Result<String> {
        if !Spec::is_spec(&self.spec) {
            let known: Vec<_> = generate::ALL.iter().map(|kind| kind.syntax).collect();
            return Err(Error::Request(format!(
                "'{}' is no generator{}; known: {}",
                self.spec,
                Spec::meant(&self.spec),
                known.join(", ")
            )));
        }
        let graph = Spec::parse(&self.spec)?.generate(watch)?;
        let graph = self.cleaning.apply(graph, None)?;
        self.writing.save(&graph, self.output, watch)
    }
}
