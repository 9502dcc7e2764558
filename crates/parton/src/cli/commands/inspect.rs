//! `parton inspect`: what a graph looks like.

use crate::graph::formats;
use crate::graph::stats::{Degrees, Summary};
use crate::graph::{Direction, Graph, Ids, OriginalId, Result, WeightKind};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::graph_arguments::GraphArguments;
use crate::cli::show;
use crate::cli::watch::Watch;

/// Show what a graph looks like.
#[derive(Args)]
pub(crate) struct Inspect {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,

    // Last, because its help headings apply to all arguments after them.
    #[command(flatten)]
    input: GraphArguments,
}

impl Inspect {
    pub(crate) fn run(self, watch: &Watch) -> Result<String> {
        let source = self.input.find()?;
        let in_edges = source.as_ref().is_some_and(formats::parton::has_in_edges);
        let row_blocks = source.as_ref().is_some_and(formats::parton::has_row_blocks);
        let kept = Kept { in_edges, row_blocks };
        let graph = self.input.load_from(source.as_ref(), watch)?;
        let summary = Summary::of(&graph);
        Ok(if self.json {
            format!("{:#}\n", watch.signed(as_json(&graph, &summary, kept)))
        } else {
            as_text(&self.input.graph, &graph, &summary, kept)
        })
    }
}

/// What a file keeps beside the graph.
#[derive(Clone, Copy)]
struct Kept {
    in_edges: bool,
    row_blocks: bool,
}

fn as_json(graph: &Graph, summary: &Summary, kept: Kept) -> Value {
    let (min, max) = summary.weight_range.unzip();
    json!({
        "vertices": summary.vertices,
        "edges": summary.edges,
        "in_edges": kept.in_edges,
        "row_blocks": kept.row_blocks,
        "directed": graph.direction == Direction::Directed,
        "weights": { "type": summary.weight_kind.name(), "min": min, "max": max },
        "self_loops": summary.self_loops,
        "duplicates": summary.duplicates,
        "symmetric": summary.symmetric,
        "isolated": summary.isolated,
        "degrees": {
            "out": degrees_as_json(&graph.ids, &summary.out_degrees),
            "in": degrees_as_json(&graph.ids, &summary.in_degrees),
        },
        "ids": graph.ids.describe(),
        "memory_bytes": graph.adjacency.bytes(),
        "read_as": graph.read_as,
    })
}

fn degrees_as_json(ids: &Ids, degrees: &Degrees) -> Value {
    let histogram: Vec<Value> = degrees
        .histogram
        .iter()
        .enumerate()
        .map(|(bin, &vertices)| {
            let (from, to) = Degrees::bin_range(bin);
            json!({ "from": from, "to": to, "vertices": vertices })
        })
        .collect();
    let max_vertex = degrees.max_vertex.map(|v| match ids.get(v.index()) {
        OriginalId::Integer(id) => json!(id),
        name => json!(name.to_string()),
    });
    json!({
        "min": degrees.min,
        "max": degrees.max,
        "max_vertex": max_vertex,
        "mean": degrees.mean,
        "median": degrees.median,
        "histogram": histogram,
    })
}

fn as_text(name: &str, graph: &Graph, summary: &Summary, kept: Kept) -> String {
    let directed = match graph.direction {
        Direction::Directed => "directed",
        Direction::Undirected => "undirected: each is counted in both directions",
    };
    let weights = match (summary.weight_kind, summary.weight_range) {
        (WeightKind::None, _) => "none".into(),
        (kind, None) => kind.name().into(),
        (kind, Some((min, max))) => format!("{}, {min} to {max}", kind.name()),
    };
    let stored = |is_kept: bool| if is_kept { "stored, too" } else { "not stored" }.to_owned();
    let rows = [
        ("graph", name.into()),
        ("read as", graph.read_as.clone()),
        (
            "vertices",
            format!(
                "{} ({} isolated)",
                show::count(summary.vertices),
                show::count(summary.isolated)
            ),
        ),
        ("edges", format!("{} ({directed})", show::count(summary.edges))),
        ("in-edges", stored(kept.in_edges)),
        ("row blocks", stored(kept.row_blocks)),
        ("weights", weights),
        ("self-loops", show::count(summary.self_loops)),
        ("duplicates", show::count(summary.duplicates)),
        ("symmetric", if summary.symmetric { "yes" } else { "no" }.into()),
        ("ids", graph.ids.describe()),
        ("out-degrees", describe(&graph.ids, &summary.out_degrees)),
        ("in-degrees", describe(&graph.ids, &summary.in_degrees)),
        ("memory", format!("{} bytes", show::count(graph.adjacency.bytes()))),
    ];
    let mut text = String::new();
    for (label, value) in rows {
        text += &format!("{label:<13}{value}\n");
    }
    text += &histogram(summary);
    text
}

fn describe(ids: &Ids, degrees: &Degrees) -> String {
    let Some(vertex) = degrees.max_vertex else { return "none".into() };
    format!(
        "min {}, median {}, mean {:.2}, max {} (vertex {})",
        show::count(degrees.min),
        show::count(degrees.median),
        degrees.mean,
        show::count(degrees.max),
        crate::graph::error::printable(ids.get(vertex.index()).to_string().as_bytes()),
    )
}

/// Out- and in-degrees side by side, in bins that double.
fn histogram(summary: &Summary) -> String {
    const WIDTH: usize = 24;
    let (out, into) = (&summary.out_degrees.histogram, &summary.in_degrees.histogram);
    let max = out.iter().chain(into).copied().max().unwrap_or(0);
    let mut text =
        format!("\n{:>17}  {:<36}  {}\n", "degree", "vertices by out-degree", "by in-degree");
    for bin in 0..out.len().max(into.len()) {
        let (from, to) = Degrees::bin_range(bin);
        let range = if from == to {
            show::count(from)
        } else {
            format!("{}–{}", show::count(from), show::count(to))
        };
        let column = |histogram: &Vec<u64>| {
            let vertices = histogram.get(bin).copied().unwrap_or(0);
            format!("{:>11} {:<WIDTH$}", show::count(vertices), show::bar(vertices, max, WIDTH))
        };
        text += format!("{range:>17}  {}  {}", column(out), column(into)).trim_end();
        text.push('\n');
    }
    text
}
