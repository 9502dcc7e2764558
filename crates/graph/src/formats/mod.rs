//! File formats. Each is one file here with one [`Format`] in it; [`ALL`] is the list that the
//! command, the documentation and the tests go through.

mod adjacency;
pub(crate) mod arrays;
mod arrow;
mod dimacs;
mod document;
mod edge_list;
mod gap;
mod gml;
mod gr;
pub mod graphalytics;
mod graphml;
mod jester;
mod json;
mod ligra;
mod metis;
mod mtx;
mod options;
mod parquet;
pub mod parton;
mod refused;
mod sidecar;
mod whole;

use std::path::{Path, PathBuf};

pub use adjacency::AdjacencyLines;
pub use arrow::Arrow;
pub use dimacs::Dimacs;
pub use edge_list::EdgeList;
pub use gap::Gap;
pub use gml::Gml;
pub use gr::Gr;
pub use graphalytics::Graphalytics;
pub use graphml::GraphMl;
pub use jester::Jester;
pub use json::{Json, JsonLines};
pub use ligra::Ligra;
pub use metis::Metis;
pub use mtx::Mtx;
pub use options::{
    ColumnKey, Columns, Decimal, IdKind, ReadOptions, TextOptions, Vertices, WriteOptions,
};
pub use parquet::Parquet;
pub use parton::Parton;
pub use sidecar::IdFile;

use crate::edge_file::EdgeFile;
use crate::id_map::Ids;
use crate::progress::Progress;
use crate::rows::RowFile;
use crate::save::Output;
use crate::source::{Compression, Source};
use crate::text::detect::detect as detect_text;
use crate::text::detect::is_text;
use crate::tidy::Tidy;
use crate::weight::WeightKind;
use crate::{Direction, Error, Graph, Place, Result};

/// One way to keep a graph in a file.
pub trait Format: Sync {
    /// The short name, by which users choose it.
    fn name(&self) -> &'static str;

    /// File name endings, without the dot, that suggest this format.
    fn endings(&self) -> &'static [&'static str];

    /// Whether the contents can be nothing else.
    fn recognises(&self, source: &Source) -> bool;

    /// Opens an input for reading, all of it or some.
    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened>;

    /// Whether slices of a packed input are some of its files. Otherwise it is unpacked before it is
    /// cut into slices.
    fn slices_packed_files(&self) -> bool {
        false
    }

    /// How to write this format, where Parton does.
    fn writer(&self) -> Option<&dyn Write> {
        None
    }
}

/// An input that can be read, by how its format keeps edges.
#[allow(clippy::large_enum_variant, reason = "there is one of it per file that is read")]
pub enum Opened {
    /// Rows of a graph as they are in memory, any range of them.
    Rows(RowFile),
    /// Edges between original ids in any order, any slice of them.
    Edges(Box<dyn EdgeFile>),
}

impl Opened {
    /// How the input is understood, in words, as far as that is known before edges are read.
    pub fn understood(&self) -> Option<String> {
        match self {
            Opened::Rows(file) => Some(file.understood().to_owned()),
            Opened::Edges(file) => file.understood(),
        }
    }
}

/// The writing half of a format.
pub trait Write {
    /// How the format numbers `vertices` vertices when it cannot keep original ids; `None` when it
    /// can. Other ids are then kept in a file beside it.
    fn numbering(&self, vertices: usize) -> Option<Ids>;

    /// Whether the format can also keep the edges by destination, which can then be left out.
    fn keeps_in_edges(&self) -> bool {
        false
    }

    /// Writes the graph.
    fn write(&self, graph: &Graph, out: &mut Output, options: &WriteOptions<'_>) -> Result<()>;
}

/// Every format, in the order in which contents are matched.
pub const ALL: &[&dyn Format] = &[
    &Parton,
    &Parquet,
    &Arrow,
    &Gr,
    &Gap,
    &Mtx,
    &Ligra,
    &Dimacs,
    &Graphalytics,
    &Metis,
    &Jester,
    &JsonLines,
    &Json,
    &GraphMl,
    &Gml,
    &AdjacencyLines,
    &EdgeList,
];

/// The format with this name.
pub fn by_name(name: &str) -> Result<&'static dyn Format> {
    ALL.iter().copied().find(|f| f.name() == name).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|f| f.name()).collect();
        Error::Request(format!("unknown format '{name}'; known: {}", known.join(", ")))
    })
}

/// The format whose ending a file's name has; endings of compressions are looked through.
pub fn by_ending(file_name: &str) -> Option<&'static dyn Format> {
    let stem = Compression::strip(file_name).0.to_ascii_lowercase();
    let ending = stem.rsplit_once('.')?.1;
    ALL.iter().copied().find(|f| f.endings().contains(&ending))
}

/// The format of an input: by its contents, else by its name, else, if it is text, an edge list.
/// Contents of kinds that are not read are refused by what they are called.
pub fn detect(source: &Source) -> Result<&'static dyn Format> {
    if let Some(format) = ALL.iter().copied().find(|f| f.recognises(source)) {
        return Ok(format);
    }
    if let Some(problem) = refused::refusal(source) {
        return Err(source.error(Place::File, problem));
    }
    let by_ending = by_ending(source.parts()[0].name());
    // Files that begin with a header are never empty; edges and lists of neighbours may be.
    let has_header = |f: &&dyn Format| [Mtx.name(), Dimacs.name()].contains(&f.name());
    if let Some(format) = by_ending.filter(|f| source.is_empty() && has_header(f)) {
        return Err(source.ended(&format!("a file of the format {}", format.name())));
    }
    // Matrix Market files begin with a banner; without one the rows are a plain edge list.
    let by_ending = by_ending.filter(|f| f.name() != Mtx.name());
    match by_ending {
        Some(format) => Ok(format),
        None if is_text(source.head()) => Ok(&EdgeList),
        None => {
            let problem = "not recognised: neither text nor a binary format Parton knows; if it \
                           is one, say which with `format`";
            Err(source.error(Place::File, problem))
        }
    }
}

/// Reads a whole graph; `format` is found by looking when it is not given.
pub fn read(
    source: &Source,
    format: Option<&dyn Format>,
    options: &ReadOptions<'_>,
) -> Result<Graph> {
    let format = found_format(source, format, options)?;
    let mut graph = match format.open(source.clone(), options)? {
        Opened::Rows(file) => file.graph(options.progress)?,
        Opened::Edges(file) => whole::read(&*file, options)?,
    };
    if let Some(beside) = ids_beside(source, format) {
        sidecar::restore(&mut graph, &beside)?;
    }
    if let Some(declared) = options.vertices {
        graph = graph.with_vertices(source.name(), declared)?;
    }
    if let Some(kind) = options.weight_kind
        && graph.adjacency.weight_kind() != WeightKind::None
    {
        graph = graph.with_weight_kind(kind)?;
    }
    match options.direction {
        Some(Direction::Undirected) => {
            Ok(graph.tidied(Tidy { undirected: true, ..Tidy::default() }))
        }
        Some(Direction::Directed) => Ok(Graph { direction: Direction::Directed, ..graph }),
        None => Ok(graph),
    }
}

/// The whole graph of an input of edges, as the input says.
pub fn read_edges(file: &dyn EdgeFile, progress: &dyn Progress) -> Result<Graph> {
    whole::read(file, &ReadOptions { progress, ..ReadOptions::default() })
}

/// The file of original ids beside an input that its format cannot keep, if there is one; `format` is
/// found by looking when it is not given.
pub fn id_source(source: &Source, format: Option<&dyn Format>) -> Result<Option<Source>> {
    let format = match format {
        Some(format) => format,
        None => detect(source)?,
    };
    ids_beside(source, format).map(|beside| Source::file(&beside)).transpose()
}

/// The file beside this one in which original ids lie that its format cannot keep.
fn ids_beside(source: &Source, format: &dyn Format) -> Option<PathBuf> {
    let numbers_vertices = format.writer().is_some_and(|w| w.numbering(0).is_some());
    let path = source.path().filter(|_| numbers_vertices)?;
    Some(sidecar::path_for(path)).filter(|beside| beside.is_file())
}

/// Opens an input so that hosts can each read their own share of it, and the original ids beside
/// it, if there are any; `format` is found by looking when it is not given.
pub fn open(
    source: Source,
    format: Option<&dyn Format>,
    options: &ReadOptions<'_>,
) -> Result<(Opened, Option<IdFile>)> {
    let format = found_format(&source, format, options)?;
    if options.need_whole() {
        let name = source.name();
        return Err(Error::Request(format!("{name}: must be read whole to be changed")));
    }
    let ids = ids_beside(&source, format).map(|beside| IdFile::open(&beside)).transpose()?;
    if format.name() == EdgeList.name() {
        // What is no text may have no end: it is refused before it is copied.
        detect_text(&source, options)?;
    }
    let source = source.on_disk(!format.slices_packed_files())?;
    Ok((format.open(source, options)?, ids))
}

/// The given format, or the one found by looking, if it can be read like this.
fn found_format<'f>(
    source: &Source,
    format: Option<&'f dyn Format>,
    options: &ReadOptions<'_>,
) -> Result<&'f dyn Format> {
    let format = match format {
        Some(format) => format,
        None => detect(source)?,
    };
    if options.bipartite && format.name() != EdgeList.name() {
        return Err(Error::Request(format!(
            "{}: only an edge list can be read as bipartite, not the format {}",
            source.name(),
            format.name()
        )));
    }
    Ok(format)
}

/// Writes a graph to `path`, whole or not at all; `format` follows from the name when it is not
/// given.
pub fn write(
    graph: &Graph,
    path: &Path,
    format: Option<&dyn Format>,
    options: &WriteOptions<'_>,
) -> Result<()> {
    let named = by_ending(&path.to_string_lossy());
    let writer = format.or(named).and_then(Format::writer).ok_or_else(|| {
        let written: Vec<_> = ALL.iter().filter(|f| f.writer().is_some()).collect();
        let endings: Vec<_> = written.iter().map(|f| format!(".{}", f.endings()[0])).collect();
        let formats: Vec<_> = written.iter().map(|f| f.name()).collect();
        Error::Request(format!(
            "{}: cannot tell which format to write; use an ending ({}) or name one of {}",
            path.display(),
            endings.join(", "),
            formats.join("|")
        ))
    })?;
    if !options.in_edges && !writer.keeps_in_edges() {
        return Err(Error::Request(format!(
            "{}: leaving in-edges out is only for .parton: this format has none to leave out",
            path.display()
        )));
    }
    if options.row_blocks.is_some() && !writer.keeps_in_edges() {
        return Err(Error::Request(format!(
            "{}: row blocks are only for .parton: this format cannot keep them",
            path.display()
        )));
    }
    let mut out = Output::create(path)?;
    let lost = writer.numbering(graph.num_vertices()).is_some_and(|own| own != graph.ids);
    if lost && !out.is_file() {
        return Err(Error::Request(format!(
            "{}: this format numbers vertices itself, and the original ids cannot be kept beside \
             what is no file; write to one",
            path.display()
        )));
    }
    writer.write(graph, &mut out, options)?;
    // What may fail comes before the first of the two gets its name.
    let out = out.seal()?;
    if lost {
        sidecar::write(&graph.ids, path)?.seal()?.commit()?;
    } else if writer.numbering(0).is_some() {
        // Ids of an earlier file of this name must not be taken for this one's.
        let beside = sidecar::path_for(path);
        if beside.is_file() {
            std::fs::remove_file(&beside).map_err(|e| Error::io(&beside, "remove", e))?;
        }
    }
    out.commit()
}
