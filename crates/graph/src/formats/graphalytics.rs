//! LDBC Graphalytics data sets: `NAME.properties` describes `NAME.v` (one vertex per line) and
//! `NAME.e` (one edge per line, with or without a weight).
//!
//! Any of the three names the data set. Without a `.properties` file edges are directed unless
//! the user says otherwise; without a `.v` file an `.e` file is an ordinary edge list.

use std::path::{Path, PathBuf};

use super::{EdgeList, Format, IdKind, ReadOptions};
use crate::error::printable;
use crate::ingest::{ListedIds, NameList, VertexList};
use crate::source::{Compression, Source};
use crate::text::detect::detect;
use crate::text::scanner::{Scanner, head_lines};
use crate::{Direction, Error, Graph, Place, Result};

/// Graphalytics.
pub struct Graphalytics;

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

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let Some(path) = source.path() else { return EdgeList.read(source, options) };
        let name = path.to_string_lossy();
        let stem = Compression::strip(&name).0;
        match stem.rsplit_once('.') {
            Some((base, "e" | "v")) => {
                let edges = plain_or_packed(format!("{base}.e").into())
                    .ok_or_else(|| missing(path, format!("expected the edges in {base}.e")))?;
                let edges = Source::file(&edges)?;
                match plain_or_packed(format!("{base}.v").into()) {
                    None => EdgeList.read(&edges, options),
                    Some(vertices) => read_pair(&vertices, &edges, options, "vertex and edge file"),
                }
            }
            _ => read_described(source, path, options),
        }
    }
}

fn missing(path: &Path, reason: String) -> Error {
    Error::NoInput { path: path.into(), reason }
}

/// The file, or, as data sets are handed round packed, one with the ending of a compression.
fn plain_or_packed(file: PathBuf) -> Option<PathBuf> {
    let packed = Compression::ALL.map(|compression| {
        let mut name = file.clone().into_os_string();
        name.push(compression.ending());
        PathBuf::from(name)
    });
    std::iter::once(file).chain(packed).find(|path| path.is_file())
}

fn read_described(source: &Source, path: &Path, options: &ReadOptions<'_>) -> Result<Graph> {
    let properties = Properties::read(source, path)?;
    let edges = Source::file(&properties.edge_file)?;
    let graph = read_pair(&properties.vertex_file, &edges, options, "LDBC Graphalytics")?;
    let counts = [
        ("vertices", properties.vertices, graph.num_vertices() as u64),
        ("edges", properties.edges, graph.num_edges()),
    ];
    for (what, declared, found) in counts {
        if let Some(declared) = declared.filter(|&d| d != found && options.vertices.is_none()) {
            let problem = format!("declares {declared} {what}, but the files hold {found}");
            return Err(source.error(Place::File, problem));
        }
    }
    Ok(if properties.directed { graph } else { graph.undirected() })
}

fn read_pair(
    vertex_file: &Path,
    edges: &Source,
    options: &ReadOptions<'_>,
    read_as: &str,
) -> Result<Graph> {
    let table = detect(edges, options)?.table;
    let vertices = Source::file(vertex_file)?;
    let ids = read_vertices(&vertices, table.names || options.ids == IdKind::Names)?;
    let listed = options.vertices.is_none().then_some(VertexList { ids, complete: true });
    let loaded = table.load(edges, listed, options)?;
    let read_as = format!("{read_as}, {}", table.describe_columns());
    Ok(loaded.into_graph(Direction::Directed, read_as))
}

/// The first word of every line; what follows is a property of the vertex.
fn read_vertices(source: &Source, names: bool) -> Result<ListedIds> {
    let mut scanner = Scanner::new(source)?;
    let (mut integers, mut named) = (Vec::new(), NameList::default());
    while let Some(line) = scanner.next_line_unless(b'#')? {
        match line.tokens().next() {
            None => {}
            Some(token) if names => named.push(token.text),
            Some(token) => integers.push(token.id()?),
        }
    }
    Ok(if names { ListedIds::Names(named) } else { ListedIds::Integers(integers) })
}

impl Properties {
    fn read(source: &Source, path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut vertex_file, mut edge_file, mut directed) = (None, None, None);
        let (mut vertices, mut edges) = (None, None);
        for line in head_lines(source) {
            let text = String::from_utf8_lossy(line.text);
            let Some((key, value)) = text.split_once('=').filter(|_| !text.starts_with('#')) else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
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
