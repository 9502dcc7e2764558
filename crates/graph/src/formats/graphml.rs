//! GraphML, as NetworkX, igraph, Gephi and yEd write it.
//!
//! `edgedefault` says whether edges are directed, each edge may say it itself. The weight is the
//! edges' attribute whose name means one. Digits as ids are integers if all ids are.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::sync::OnceLock;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::document::{self, Document, Edge, Item, TakeItem, Trouble, VertexKey, wants_weights};
use super::gml::weight_key;
use super::{Format, Opened, ReadOptions};
use crate::column_names::weight_rank;
use crate::error::printable;
use crate::source::{Part, Source};
use crate::text::skip_mark;
use crate::{Place, Result};

/// GraphML.
pub struct GraphMl;

impl Format for GraphMl {
    fn name(&self) -> &'static str {
        "graphml"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["graphml"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let head = skip_mark(source.head()).trim_ascii_start();
        head.starts_with(b"<")
            && ["<graphml", ":graphml"]
                .iter()
                .any(|tag| memchr::memmem::find(head, tag.as_bytes()).is_some())
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let weight_key = weight_key(&source, options, "GraphML")?;
        let weights = wants_weights(options);
        document::open(source, XmlGraph { weights, weight_key, found: OnceLock::new() }, options)
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

/// A document, and which attribute is the weight.
struct XmlGraph {
    weights: bool,
    /// The name of the attribute that the user chose.
    weight_key: Option<String>,
    /// The name of the attribute that was found.
    found: OnceLock<String>,
}

impl Document for XmlGraph {
    fn name(&self) -> &'static str {
        "GraphML"
    }

    fn scan(&self, part: &Part, reader: &mut dyn BufRead, take: &mut TakeItem<'_>) -> Result<()> {
        let mut reader = Reader::from_reader(reader);
        let mut scan = Scan { graph: self, take, state: State::default() };
        let mut buffer = Vec::new();
        let scanned = loop {
            buffer.clear();
            let event = match reader.read_event_into(&mut buffer) {
                Ok(Event::Eof) => break scan.end(),
                Ok(event) => event,
                Err(error) => break Err(error.into()),
            };
            if let Err(trouble) = scan.event(event) {
                break Err(trouble);
            }
        };
        scanned.map_err(|trouble| trouble.at(part, Place::Byte(reader.buffer_position())))
    }

    fn keys(&self) -> String {
        document::keys_with_weight(self.found.get())
    }
}

impl From<quick_xml::Error> for Trouble {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            quick_xml::Error::Io(error) => Trouble::Io(match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            }),
            other => Trouble::Problem(format!("not well-formed XML: {other}")),
        }
    }
}

impl From<quick_xml::events::attributes::AttrError> for Trouble {
    fn from(error: quick_xml::events::attributes::AttrError) -> Self {
        quick_xml::Error::from(error).into()
    }
}

/// An attribute of edges that means a weight.
struct WeightKey {
    id: String,
    name: String,
    /// How telling its name is.
    rank: usize,
    default: Option<(f64, bool)>,
}

/// An edge whose end has not come yet.
#[derive(Default)]
struct OpenEdge {
    attributes: HashMap<String, String>,
    weight: Option<(f64, bool)>,
}

/// Where the text goes that comes next.
#[derive(Default, PartialEq, Eq)]
enum TextFor {
    #[default]
    Nobody,
    Weight,
    Default,
}

#[derive(Default)]
struct State {
    /// Elements that are open.
    depth: usize,
    /// The depths at which graphs are open: a vertex may hold another graph.
    graphs: Vec<usize>,
    has_root: bool,
    has_graph: bool,
    weight: Option<WeightKey>,
    /// Whether the element `key` that is open declares the weight.
    declares_weight: bool,
    edge: Option<OpenEdge>,
    text_for: TextFor,
    text: String,
}

struct Scan<'a, 't> {
    graph: &'a XmlGraph,
    take: &'a mut TakeItem<'t>,
    state: State,
}

impl Scan<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> Result<(), Trouble> {
        match event {
            Event::Start(element) => {
                self.state.depth += 1;
                self.start(&element)
            }
            Event::Empty(element) => {
                self.state.depth += 1;
                self.start(&element)?;
                self.close(element.local_name().as_ref())
            }
            Event::End(element) => self.close(element.local_name().as_ref()),
            Event::Text(text) => {
                self.add_text(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                self.add_text(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(_) if self.state.text_for != TextFor::Nobody => {
                Err("an entity, where a number was expected".into())
            }
            Event::Decl(declaration) => match declaration.encoding() {
                Some(Ok(encoding)) if !is_utf8(&encoding) => Err(format!(
                    "the encoding {}; convert it to UTF-8 first",
                    printable(encoding.as_bytes())
                )
                .into()),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn add_text(&mut self, text: &str) {
        if self.state.text_for != TextFor::Nobody {
            self.state.text.push_str(text);
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), Trouble> {
        let name = element.local_name();
        let name = name.as_ref();
        if !self.state.has_root {
            self.state.has_root = true;
            return match name {
                "graphml" => Ok(()),
                _ => {
                    Err(format!("expected <graphml>, found <{}>", printable(name.as_bytes()))
                        .into())
                }
            };
        }
        match name {
            "key" => self.key(&attributes(element)?),
            "default" if self.state.declares_weight => {
                self.state.text_for = TextFor::Default;
                Ok(())
            }
            "graph" => self.open_graph(&attributes(element)?),
            "node" if !self.state.graphs.is_empty() => {
                let attributes = attributes(element)?;
                let id = attributes.get("id").ok_or("a <node> without an id")?;
                Ok((self.take)(Item::Vertex { id: Some(VertexKey::Untyped(id)), label: None })?)
            }
            "edge" if !self.state.graphs.is_empty() => {
                let attributes = attributes(element)?;
                let open = OpenEdge { attributes, weight: None };
                match self.state.edge.replace(open) {
                    None => Ok(()),
                    Some(_) => Err("an <edge> inside an <edge>".into()),
                }
            }
            "data" if self.state.edge.is_some() => {
                let attributes = attributes(element)?;
                let weight = self.state.weight.as_ref().map(|key| &key.id);
                if weight.is_some() && attributes.get("key") == weight {
                    self.state.text_for = TextFor::Weight;
                }
                Ok(())
            }
            "hyperedge" => Err("a <hyperedge>; Parton reads edges between two vertices".into()),
            _ => Ok(()),
        }
    }

    /// Notes an attribute of edges if it is the best yet to hold the weight.
    fn key(&mut self, attributes: &HashMap<String, String>) -> Result<(), Trouble> {
        let get = |name: &str| attributes.get(name).map(String::as_str);
        let is_of_edges = matches!(get("for"), Some("edge" | "all") | None);
        // Some programs declare every attribute to be text.
        let surety = match get("attr.type") {
            Some("int" | "long" | "float" | "double") | None => Some(0),
            Some("string") => Some(1),
            Some(_) => None,
        };
        let (Some(id), Some(name)) = (get("id"), get("attr.name")) else { return Ok(()) };
        if !is_of_edges || !self.graph.weights {
            return Ok(());
        }
        let rank = match &self.graph.weight_key {
            Some(chosen) if chosen == name => 0,
            Some(_) => return Ok(()),
            None => match (weight_rank(name), surety) {
                (Some(rank), Some(surety)) => 2 * rank + surety,
                _ => return Ok(()),
            },
        };
        if self.state.weight.as_ref().is_none_or(|known| rank < known.rank) {
            self.state.declares_weight = true;
            let (id, name) = (id.to_owned(), name.to_owned());
            self.state.weight = Some(WeightKey { id, name, rank, default: None });
        }
        Ok(())
    }

    fn open_graph(&mut self, attributes: &HashMap<String, String>) -> Result<(), Trouble> {
        if self.state.graphs.is_empty() {
            if std::mem::replace(&mut self.state.has_graph, true) {
                return Err("a second <graph>, where one was expected".into());
            }
            let directed = match attributes.get("edgedefault").map(String::as_str) {
                Some("directed") => true,
                Some("undirected") => false,
                _ => return Err("expected edgedefault=\"directed\" or \"undirected\"".into()),
            };
            (self.take)(Item::Directed(directed))?;
        }
        self.state.graphs.push(self.state.depth);
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), Trouble> {
        let State { depth, graphs, .. } = &mut self.state;
        if graphs.last() == Some(depth) {
            graphs.pop();
        }
        *depth = depth.saturating_sub(1);
        let text = std::mem::take(&mut self.state.text);
        let text = text.trim().as_bytes();
        match std::mem::take(&mut self.state.text_for) {
            TextFor::Nobody => {}
            TextFor::Weight => {
                let weight = document::weight(text)?;
                self.state.edge.iter_mut().for_each(|edge| edge.weight = Some(weight));
            }
            TextFor::Default => {
                let default = document::weight(text)?;
                self.state.weight.iter_mut().for_each(|key| key.default = Some(default));
            }
        }
        match name {
            "key" => self.state.declares_weight = false,
            "edge" => {
                if let Some(edge) = self.state.edge.take() {
                    self.finish(&edge)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, edge: &OpenEdge) -> Result<(), Trouble> {
        let get = |name: &str| edge.attributes.get(name);
        let (Some(source), Some(destination)) = (get("source"), get("target")) else {
            return Err("an <edge> without a source or a target".into());
        };
        let directed = match get("directed").map(String::as_str) {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) => return Err("expected directed=\"true\" or \"false\"".into()),
        };
        let key = self.state.weight.as_ref();
        let weight = edge.weight.or(key.and_then(|key| key.default));
        if let (Some(_), Some(key)) = (weight, key) {
            let _ = self.graph.found.get_or_init(|| key.name.clone());
        }
        let (source, destination) = (VertexKey::Untyped(source), VertexKey::Untyped(destination));
        Ok((self.take)(Item::Edge(Edge { source, destination, weight, directed }))?)
    }

    /// At the end of the file.
    fn end(&self) -> Result<(), Trouble> {
        match &self.state {
            State { depth: 1.., .. } => Err("the file ends inside an element".into()),
            State { has_graph: false, .. } => Err("expected a <graph>, but the file ends".into()),
            _ => Ok(()),
        }
    }
}

fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| encoding.eq_ignore_ascii_case(known))
}

/// The attributes of an element, by their names without a prefix.
fn attributes(element: &BytesStart<'_>) -> Result<HashMap<String, String>, Trouble> {
    let mut all = HashMap::new();
    for attribute in element.attributes() {
        let attribute = attribute?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        all.insert(attribute.key.local_name().as_ref().to_owned(), value.into_owned());
    }
    Ok(all)
}
