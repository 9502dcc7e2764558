//! LDBC Graphalytics data sets: `NAME.properties` describes `NAME.v` (one vertex per line) and
//! `NAME.e` (one edge per line, with or without a weight).
//!
//! Any of the three names the data set. Without a `.properties` file edges are directed unless
//! the user says otherwise; without a `.v` file an `.e` file is an ordinary edge list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{EdgeList, Format, Opened, ReadOptions};
use crate::edge_file::{Chained, Cut, EdgeFile, FileShape, Mirror, Pieces, Slice, Totals};
use crate::error::printable;
use crate::id_map::OriginalId;
use crate::progress::Progress;
use crate::source::{Compression, Source};
use crate::text::detect::detect;
use crate::text::pieces::{EdgeTable, line_pieces};
use crate::text::scanner::{Line, head_lines};
use crate::{Error, Graph, Place, Result};

/// Graphalytics.
pub struct Graphalytics;

/// What a `.properties` file says of a data set beside its graph: which algorithms are run on it,
/// from where, and for how long.
#[derive(Debug)]
pub struct Parameters {
    name: String,
    /// Values by their keys, without the `graph.NAME.` that all begin with.
    values: BTreeMap<String, (Place, String)>,
    file: String,
}

impl Parameters {
    /// Reads a file of properties.
    pub fn read(source: &Source) -> Result<Self> {
        const EDGES: &str = ".edge-file";
        let of_edges = pairs(source).find_map(|(_, key, _)| {
            // The name may itself contain dots.
            Some(key.strip_prefix("graph.")?.strip_suffix(EDGES)?.to_owned())
        });
        let Some(name) = of_edges else {
            let problem =
                format!("expected a line 'graph.NAME{EDGES} = …': no Graphalytics data set");
            return Err(source.error(Place::File, problem));
        };
        let prefix = format!("graph.{name}.");
        let values = pairs(source).filter_map(|(line, key, value)| {
            let key = key.strip_prefix(&prefix)?.to_owned();
            Some((key, (Place::line(line.number(), 1, line.text), value)))
        });
        Ok(Parameters { values: values.collect(), file: source.name().into(), name })
    }

    /// What the data set is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value of a key such as `bfs.source-vertex`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(_, value)| &value[..])
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str) -> Result<&str> {
        self.get(key).ok_or_else(|| self.error(key, "there is no such line"))
    }

    /// The value of a key as a number.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>> {
        let parse = |value: &str| {
            value.parse().map_err(|_| {
                let found = printable(value.as_bytes());
                self.error(key, format!("expected a number, found '{found}'"))
            })
        };
        self.get(key).map(parse).transpose()
    }

    /// A problem with a key, where it is.
    pub fn error(&self, key: &str, problem: impl Into<String>) -> Error {
        let place = self.values.get(key).map_or(Place::File, |(place, _)| place.clone());
        Error::data(&self.file, place, format!("graph.{}.{key}: {}", self.name, problem.into()))
    }
}

/// Lines `KEY = VALUE` that are no comments.
fn pairs(source: &Source) -> impl Iterator<Item = (Line<'_>, String, String)> {
    head_lines(source).filter_map(|line| {
        let text = String::from_utf8_lossy(line.text);
        let (key, value) = text.split_once('=').filter(|_| !text.starts_with('#'))?;
        Some((line, key.trim().to_owned(), value.trim().to_owned()))
    })
}

/// What a `.properties` file says.
struct Properties {
    vertex_file: PathBuf,
    edge_file: PathBuf,
    directed: bool,
    vertices: Option<u64>,
    edges: Option<u64>,
}

impl Format for Graphalytics {
    fn name(&self) -> &'static str {
        "graphalytics"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["properties", "v", "e"]
    }

    fn recognises(&self, source: &Source) -> bool {
        // The first property is one of a graph, and one of them names the edges.
        let lines = head_lines(source).map(|line| line.text.trim_ascii());
        let mut keys =
            lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).map(|line| {
                let equals = memchr::memchr(b'=', line);
                equals.map_or(&b""[..], |end| line[..end].trim_ascii_end())
            });
        let of_graph = |key: &[u8]| key.starts_with(b"graph.");
        let names_edges = |key: &[u8]| of_graph(key) && key.ends_with(b".edge-file");
        keys.next()
            .is_some_and(|first| of_graph(first) && (names_edges(first) || keys.any(names_edges)))
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let (vertices, edges, described) = match DataSet::find(&source)? {
            DataSet::EdgeList(edges) => return EdgeList.open(edges.unwrap_or(source), options),
            DataSet::Pair(vertices, edges) => (vertices, edges, None),
            DataSet::Described(properties) => {
                let edges = Source::file(&properties.edge_file)?;
                (properties.vertex_file.clone(), edges, Some((source, properties)))
            }
        };
        let dialect = detect(&edges, options)?.dialect;
        let files = if described.is_some() { "LDBC Graphalytics" } else { "vertex and edge file" };
        let read_as = format!("{files}, {}", dialect.describe_columns());
        let edges = EdgeTable::new(edges, dialect, read_as);
        let vertices = Source::file(&vertices)?;
        Ok(Opened::Edges(Box::new(PairFile { vertices, edges, described })))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

/// What a name stands for.
enum DataSet {
    /// An edge list, the named one or this.
    EdgeList(Option<Source>),
    /// A file of vertices and one of edges.
    Pair(PathBuf, Source),
    /// Two files, and what is known of them.
    Described(Properties),
}

impl DataSet {
    fn find(source: &Source) -> Result<Self> {
        let Some(path) = source.path() else { return Ok(DataSet::EdgeList(None)) };
        let name = path.to_string_lossy();
        let stem = Compression::strip(&name).0;
        match stem.rsplit_once('.') {
            Some((base, "e" | "v")) => {
                let edges = plain_or_packed(format!("{base}.e").into())
                    .ok_or_else(|| missing(path, format!("expected the edges in {base}.e")))?;
                let edges = Source::file(&edges)?;
                Ok(match plain_or_packed(format!("{base}.v").into()) {
                    None => DataSet::EdgeList(Some(edges)),
                    Some(vertices) => DataSet::Pair(vertices, edges),
                })
            }
            _ => Ok(DataSet::Described(Properties::read(source, path)?)),
        }
    }
}

/// A file of vertices and one of edges, open for reading slices of both.
struct PairFile {
    vertices: Source,
    edges: EdgeTable,
    /// What a file of properties says of them.
    described: Option<(Source, Properties)>,
}

impl EdgeFile for PairFile {
    fn name(&self) -> &str {
        self.edges.name()
    }

    fn shape(&self) -> FileShape {
        let mirror = match &self.described {
            Some((_, properties)) if !properties.directed => Mirror::Same,
            _ => Mirror::None,
        };
        FileShape { complete: true, mirror, ..self.edges.shape() }
    }

    fn cut(&self) -> Cut {
        match self.vertices.cut() {
            Cut::Even => self.edges.cut(),
            packed => packed,
        }
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        surveys: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let names = self.edges.dialect.names;
        let lines = self.vertices.slice(slice, 0)?;
        let vertices = line_pieces(&lines, Some(b'#'), slice.index, names, move |line, piece| {
            // What follows the id is a property of the vertex.
            match line.tokens().next() {
                None => {}
                Some(token) if names => piece.listed.push(OriginalId::Name(token.text)),
                Some(token) => piece.listed.push(OriginalId::Integer(token.id()?)),
            }
            Ok(())
        })?;
        let edges = self.edges.pieces(slice, surveys, progress)?;
        Ok(Box::new(Chained(vec![vertices, edges])))
    }

    fn check(&self, found: &Totals) -> Result<()> {
        match &self.described {
            Some((source, properties)) if !self.edges.dialect.vertices_are_given => {
                properties.check(source, found)
            }
            _ => Ok(()),
        }
    }

    fn understood(&self) -> Option<String> {
        self.edges.understood()
    }

    fn read_as(&self, graph: &Graph) -> String {
        self.edges.read_as(graph)
    }
}

fn missing(path: &Path, reason: String) -> Error {
    Error::NoInput { path: path.into(), reason }
}

/// The file, or the same with the ending of a compression: data sets are published packed.
pub fn plain_or_packed(file: PathBuf) -> Option<PathBuf> {
    let packed = Compression::ALL.map(|compression| {
        let mut name = file.clone().into_os_string();
        name.push(compression.ending());
        PathBuf::from(name)
    });
    std::iter::once(file).chain(packed).find(|path| path.is_file())
}

impl Properties {
    /// Whether the files hold what is said of them.
    fn check(&self, source: &Source, found: &Totals) -> Result<()> {
        let counts =
            [("vertices", self.vertices, found.vertices), ("edges", self.edges, found.edges)];
        for (what, declared, found) in counts {
            if let Some(declared) = declared.filter(|&declared| declared != found) {
                let problem = format!("declares {declared} {what}, but the files hold {found}");
                return Err(source.error(Place::File, problem));
            }
        }
        Ok(())
    }
}

impl Properties {
    fn read(source: &Source, path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut vertex_file, mut edge_file, mut directed) = (None, None, None);
        let (mut vertices, mut edges) = (None, None);
        for (line, key, value) in pairs(source) {
            let (key, value) = (&key[..], &value[..]);
            if key == "graphclass" && value.contains("BVGraph") {
                return Err(line.error(
                    "a compressed WebGraph (BVGraph), which Parton does not read; write it as an \
                     edge list first",
                ));
            }
            // Keys read `graph.NAME.WHAT`, where NAME may itself contain dots.
            let Some(key) = key.strip_prefix("graph.") else { continue };
            let count = || {
                let number = value.parse::<u64>();
                number.map_err(|_| {
                    let found = printable(value.as_bytes());
                    line.error(format!("expected a number, found '{found}'"))
                })
            };
            let file = || {
                let found = plain_or_packed(folder.join(value));
                found.ok_or_else(|| line.error("no such file, neither plain nor packed"))
            };
            if key.ends_with(".vertex-file") {
                vertex_file = Some(file()?);
            } else if key.ends_with(".edge-file") {
                edge_file = Some(file()?);
            } else if key.ends_with(".meta.vertices") {
                vertices = Some(count()?);
            } else if key.ends_with(".meta.edges") {
                edges = Some(count()?);
            } else if key.ends_with(".directed") {
                directed = Some(match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(line.error("expected 'true' or 'false'")),
                });
            }
        }
        let lacks = |key: &str| {
            source.error(Place::File, format!("expected a line 'graph.NAME.{key} = …'"))
        };
        Ok(Properties {
            vertex_file: vertex_file.ok_or_else(|| lacks("vertex-file"))?,
            edge_file: edge_file.ok_or_else(|| lacks("edge-file"))?,
            directed: directed.ok_or_else(|| lacks("directed"))?,
            vertices,
            edges,
        })
    }
}
