//! A JSON document that is a graph: `nodes` and `links`, or a list of edges.

use std::cell::RefCell;
use std::fmt;
use std::io::BufRead;
use std::sync::OnceLock;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess};

use super::edge::{
    AllSeed, EdgeKeys, EdgeSeed, EdgeValues, Scalar, ScalarSeed, listed, problem_of,
};
use crate::formats::document::{Document, Item, TakeItem, Trouble, wants_weights};
use crate::formats::{ColumnKey, Columns, ReadOptions};
use crate::source::{Part, Source};
use crate::{Error, Place, Result};

/// A document, and which keys of its edges are read.
pub(super) struct NodeLink {
    columns: Option<Columns>,
    weights: bool,
    /// Known when an edge has been seen.
    keys: OnceLock<EdgeKeys>,
}

impl NodeLink {
    pub(super) fn new(source: &Source, options: &ReadOptions<'_>) -> Result<Self> {
        let is_position = |column: &ColumnKey| matches!(column, ColumnKey::Position(_));
        if let Some(columns) = &options.columns
            && [&columns.source, &columns.destination].into_iter().any(is_position)
        {
            let name = source.name();
            let problem = format!("{name}: JSON has keys, not positions: name them in `columns`");
            return Err(Error::Request(problem));
        }
        let weights = wants_weights(options);
        Ok(NodeLink { columns: options.columns.clone(), weights, keys: OnceLock::new() })
    }

    fn choose(&self, all: &[(String, Scalar<'_>)]) -> Result<&EdgeKeys, String> {
        let options = ReadOptions {
            columns: self.columns.clone(),
            weights: self.weights,
            ..ReadOptions::default()
        };
        let keys: Vec<String> = all.iter().map(|(key, _)| key.clone()).collect();
        let chosen = EdgeKeys::choose(&keys, &options)?;
        Ok(self.keys.get_or_init(|| chosen))
    }
}

impl Document for NodeLink {
    fn name(&self) -> &'static str {
        "node-link JSON"
    }

    fn scan(&self, part: &Part, reader: &mut dyn BufRead, take: &mut TakeItem<'_>) -> Result<()> {
        let mut parser = serde_json::Deserializer::from_reader(skip_mark(part, reader)?);
        let seed = AnyGraph { document: self, take: &RefCell::new(take) };
        let parsed = seed.deserialize(&mut parser).and_then(|()| parser.end());
        parsed.map_err(|error| json_error(part, error))
    }

    fn keys(&self) -> String {
        self.keys.get().map_or("no edges".into(), EdgeKeys::describe)
    }
}

/// The reader after a byte order mark.
fn skip_mark<'r>(part: &Part, reader: &'r mut dyn BufRead) -> Result<&'r mut dyn BufRead> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let start = reader.fill_buf().map_err(|e| part.read_error(e))?;
    if start.starts_with(MARK) {
        reader.consume(MARK.len());
    }
    Ok(reader)
}

/// What the library says, in the words of this crate.
fn json_error(part: &Part, error: serde_json::Error) -> Error {
    let place = Place::line(error.line() as u64, error.column().max(1), b"");
    let trouble = match error.is_io() {
        true => Trouble::Io(error.into()),
        false => Trouble::Problem(problem_of(&error)),
    };
    trouble.at(part, place)
}

/// What every seed needs.
#[derive(Clone, Copy)]
struct AnyGraph<'a, 't> {
    document: &'a NodeLink,
    take: &'a RefCell<&'a mut TakeItem<'t>>,
}

impl AnyGraph<'_, '_> {
    fn take<E: serde::de::Error>(self, item: Item<'_>) -> Result<(), E> {
        (self.take.borrow_mut())(item).map_err(E::custom)
    }
}

/// A visitor that is also its seed, and hands on what it finds instead of returning it.
macro_rules! seed {
    ($name:ident, $expecting:literal, { $($visit:item)* }) => {
        impl<'de> DeserializeSeed<'de> for $name<'_, '_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
                from.deserialize_any(self)
            }
        }

        impl<'de> serde::de::Visitor<'de> for $name<'_, '_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }

            $($visit)*
        }
    };
}

seed!(AnyGraph, "an object with nodes and links, or a list of edges", {
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = Vec::new();
        let mut edges = None;
        while let Some(key) = map.next_key::<String>()? {
            match &key[..] {
                "nodes" => map.next_value_seed(AllVertices(self))?,
                "links" | "edges" => {
                    if let Some(other) = edges.replace(key.clone()) {
                        let problem = format!("both \"{other}\" and \"{key}\": which are meant?");
                        return Err(A::Error::custom(problem));
                    }
                    map.next_value_seed(AllEdges(self))?;
                }
                "directed" => match map.next_value_seed(ScalarSeed)? {
                    Scalar::Boolean(directed) => self.take(Item::Directed(directed))?,
                    _ => return Err(A::Error::custom("\"directed\" is neither true nor false")),
                },
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            keys.push(key);
        }
        match edges {
            Some(_) => Ok(()),
            None => Err(A::Error::custom(no_graph(&keys))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        AllEdges(self).visit_seq(list)
    }
});

/// Why an object with these keys is not read.
fn no_graph(keys: &[String]) -> String {
    let has = |key: &str| keys.iter().any(|known| known == key);
    let known = match () {
        _ if has("elements") => "Cytoscape JSON",
        _ if has("outE") || has("inE") || has("vertices") => "GraphSON",
        _ if has("features") => "GeoJSON",
        _ if has("@context") || has("@graph") => "JSON-LD",
        _ if has("adjacency") => "NetworkX adjacency JSON",
        _ if has("children") => "a tree in JSON",
        _ if has("graph") || has("graphs") => "JSON Graph Format",
        _ => {
            return format!(
                "expected an object with \"nodes\" and \"links\" or \"edges\", found {}",
                listed(keys)
            );
        }
    };
    format!(
        "{known}, which Parton does not read; write node-link JSON instead, for example with \
         networkx.node_link_data, or a table of edges"
    )
}

#[derive(Clone, Copy)]
struct AllEdges<'a, 't>(AnyGraph<'a, 't>);

seed!(AllEdges, "a list of edges", {
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneEdge(self.0))?.is_some() {}
        Ok(())
    }
});

#[derive(Clone, Copy)]
struct OneEdge<'a, 't>(AnyGraph<'a, 't>);

seed!(OneEdge, "an object that is an edge", {
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let AnyGraph { document, .. } = self.0;
        let (keys, values) = match document.keys.get() {
            Some(keys) => (keys, EdgeSeed(keys).visit_map(map)?),
            None => {
                let all = AllSeed.visit_map(map)?;
                let keys = document.choose(&all).map_err(A::Error::custom)?;
                (keys, EdgeValues::of(all, keys).map_err(A::Error::custom)?)
            }
        };
        let edge = values.edge(keys).map_err(A::Error::custom)?;
        self.0.take(Item::Edge(edge))
    }
});

#[derive(Clone, Copy)]
struct AllVertices<'a, 't>(AnyGraph<'a, 't>);

seed!(AllVertices, "a list of vertices", {
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneVertex(self.0))?.is_some() {}
        Ok(())
    }
});

#[derive(Clone, Copy)]
struct OneVertex<'a, 't>(AnyGraph<'a, 't>);

impl OneVertex<'_, '_> {
    fn take<E: serde::de::Error>(
        self,
        id: Option<Scalar<'_>>,
        label: Option<Scalar<'_>>,
    ) -> Result<(), E> {
        let id = id.as_ref().map(Scalar::key).transpose().map_err(E::custom)?;
        let label = match &label {
            Some(Scalar::Text(text)) => Some(&text[..]),
            _ => None,
        };
        self.0.take(Item::Vertex { id, label })
    }
}

seed!(OneVertex, "a vertex: an object with an id, or an id", {
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut id, mut label) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            let place = match &key[..] {
                // graphology says `key`.
                "id" | "key" if id.is_none() => &mut id,
                "name" | "label" if label.is_none() => &mut label,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = Some(map.next_value_seed(ScalarSeed)?);
        }
        self.take(id, label)
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<(), E> {
        self.take(Some(Scalar::Text(id.into())), None)
    }

    fn visit_u64<E: serde::de::Error>(self, id: u64) -> Result<(), E> {
        self.take(Some(Scalar::Integer(id)), None)
    }
});
