//! `parton convert`: read a graph in one format, write it in another.

use std::path::PathBuf;

use crate::engine;
use crate::graph::formats::{self, WriteOptions};
use crate::graph::{Graph, Result};
use clap::Args;

use crate::cli::graph_arguments::GraphArguments;
use crate::cli::show;
use crate::cli::watch::Watch;

/// Read a graph in one format and write it in another.
#[derive(Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    input: GraphArguments,

    /// The file to write, or `-`; its ending says the format: .parton, .csv, .tsv, .el, .gr, .mtx,
    /// .parquet
    output: PathBuf,

    #[command(flatten)]
    writing: Writing,
}

/// How to write a graph.
#[derive(Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Writing {
    /// The format to write, when the ending of the name does not say it
    #[arg(long, value_name = "NAME", value_parser = written_format())]
    to: Option<String>,

    /// Version of the format to write: 1 or 2 for .gr
    #[arg(long, value_name = "N")]
    format_version: Option<u32>,

    /// Leave the in-edges of a directed graph out of a .parton file: half the size, but algorithms
    /// that need them must transpose the graph
    #[arg(long)]
    no_in_edges: bool,

    /// Keep row blocks in a .parton file, too: four bytes for each edge more, but engine pull on one
    /// host, which pagerank takes, need not sort edges
    #[arg(long, conflicts_with = "no_in_edges")]
    blocks: bool,
}

fn written_format() -> clap::builder::PossibleValuesParser {
    let written = formats::ALL.iter().filter(|f| f.writer().is_some());
    written.map(|f| f.name()).collect::<Vec<_>>().into()
}

impl Convert {
    pub(crate) fn run(self, watch: &Watch) -> Result<String> {
        let graph = self.input.load(watch)?;
        self.writing.save(&graph, self.output, watch)
    }
}

impl Writing {
    /// Writes the graph and says so.
    pub(crate) fn save(&self, graph: &Graph, path: PathBuf, watch: &Watch) -> Result<String> {
        let format = self.to.as_deref().map(formats::by_name).transpose()?;
        let (version, in_edges) = (self.format_version, !self.no_in_edges);
        let row_blocks = self.blocks.then(|| engine::row_blocks(graph));
        let row_blocks = row_blocks.as_ref();
        let options = WriteOptions { version, in_edges, row_blocks, progress: watch };
        formats::write(graph, &path, format, &options)?;
        watch.note(&format!(
            "wrote {}: {} vertices, {} edges",
            path.display(),
            show::count(graph.num_vertices() as u64),
            show::count(graph.num_edges())
        ));
        Ok(String::new())
    }
}
