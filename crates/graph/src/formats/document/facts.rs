//! What a document holds, found out before its edges are read.

use super::{Edge, Item, VertexKey, wants_weights};
use crate::formats::{IdKind, ReadOptions};
use crate::text::number::parse_id;

/// The kind of all keys of a list so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Nothing,
    Integers,
    Text,
    /// Text in a format without numbers, all of it integers without leading zeros so far.
    UntypedIntegers,
}

/// What a document holds.
#[derive(Clone)]
pub(super) struct Facts {
    wanted_ids: IdKind,
    wants_weights: bool,
    pub(super) vertices: u64,
    pub(super) edges: u64,
    /// Vertices that have no id of their own, and vertices that have a label.
    unidentified: u64,
    labelled: u64,
    weighted: u64,
    /// Edges that say which way they go.
    directed: u64,
    undirected: u64,
    /// Of edges that do not say it.
    default_directed: Option<bool>,
    vertex_keys: Keys,
    edge_keys: Keys,
    /// Whether labels are the ids that people know, and of which kind they are.
    labels_are_ids: bool,
    label_keys: Keys,
}

/// What vertices are called, and how edges refer to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whether original ids are names; otherwise integers.
    pub(super) names: bool,
    pub(super) called: Called,
    pub(super) reference: Reference,
}

/// What a vertex is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// By its id.
    Id,
    Label,
    /// By its position among the vertices, from 0.
    Position,
}

/// How an edge refers to a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// By what it is called.
    Same,
    /// By its id, although it is called otherwise.
    Id,
    /// By its position, although it is called otherwise.
    Position,
}

impl Facts {
    pub(super) fn new(options: &ReadOptions<'_>, labels_are_ids: bool) -> Self {
        Facts {
            wanted_ids: options.ids,
            wants_weights: wants_weights(options),
            vertices: 0,
            edges: 0,
            unidentified: 0,
            labelled: 0,
            weighted: 0,
            directed: 0,
            undirected: 0,
            default_directed: None,
            vertex_keys: Keys::Nothing,
            edge_keys: Keys::Nothing,
            labels_are_ids,
            label_keys: Keys::Nothing,
        }
    }

    pub(super) fn has_weights(&self) -> bool {
        self.weighted > 0
    }

    /// Whether an edge is directed.
    pub(super) fn is_directed(&self, edge: &Edge<'_>) -> bool {
        edge.directed.or(self.default_directed).unwrap_or(true)
    }

    pub(super) fn all_undirected(&self) -> bool {
        self.directed == 0 && (self.default_directed == Some(false) || self.all_say_undirected())
    }

    fn all_say_undirected(&self) -> bool {
        self.edges > 0 && self.undirected == self.edges
    }

    pub(super) fn direction_in_words(&self) -> &'static str {
        let default = self.default_directed.unwrap_or(true);
        let unsaid = self.edges - self.directed - self.undirected;
        let one_way = self.directed + if default { unsaid } else { 0 };
        match self.default_directed {
            _ if self.all_undirected() => "undirected",
            _ if one_way < self.edges => "directed, with undirected edges both ways",
            Some(_) => "directed",
            None if unsaid == 0 => "directed",
            None => "directed, as it does not say otherwise",
        }
    }

    /// Takes an item into account, or says what is wrong with it.
    pub(super) fn add(&mut self, item: Item<'_>) -> Result<(), String> {
        match item {
            Item::Directed(directed) => {
                self.default_directed = Some(directed);
                Ok(())
            }
            Item::Vertex { id, label } => {
                self.vertices += 1;
                if let Some(label) = label {
                    self.labelled += 1;
                    note_key(&mut self.label_keys, VertexKey::Untyped(label), self.wanted_ids)?;
                }
                match id {
                    Some(id) => note_key(&mut self.vertex_keys, id, self.wanted_ids),
                    None => {
                        self.unidentified += 1;
                        Ok(())
                    }
                }
            }
            Item::Edge(edge) => self.add_edge(&edge),
        }
    }

    fn add_edge(&mut self, edge: &Edge<'_>) -> Result<(), String> {
        note_key(&mut self.edge_keys, edge.source, self.wanted_ids)?;
        note_key(&mut self.edge_keys, edge.destination, self.wanted_ids)?;
        match edge.directed {
            Some(true) => self.directed += 1,
            Some(false) => self.undirected += 1,
            None => {}
        }
        if self.wants_weights {
            let expected = if self.edges == 0 { edge.weight.is_some() } else { self.weighted > 0 };
            match (edge.weight.is_some(), expected) {
                (true, true) => self.weighted += 1,
                (false, false) => {}
                (true, false) => return Err(format!("an edge with a weight, {OTHERS} none")),
                (false, true) => return Err(format!("an edge without a weight, {OTHERS} one")),
            }
        }
        self.edges += 1;
        Ok(())
    }

    /// How vertices and edges belong together, or what does not fit.
    pub(super) fn plan(&self) -> Result<Plan, String> {
        let wants_names = self.wanted_ids == IdKind::Names;
        let all_labelled = self.vertices > 0 && self.labelled == self.vertices;
        if self.unidentified > 0 {
            return self.plan_without_ids(wants_names, all_labelled);
        }
        let is_text = |keys| keys == Keys::Text;
        let (vertices_text, edges_text) = (is_text(self.vertex_keys), is_text(self.edge_keys));
        let same = |names| Plan { names, called: Called::Id, reference: Reference::Same };
        match self.wanted_ids {
            IdKind::Integers => Ok(same(false)),
            wanted
                if (self.labels_are_ids || wanted == IdKind::Names)
                    && all_labelled
                    && self.vertex_keys == Keys::Integers =>
            {
                let names = wanted == IdKind::Names || self.label_keys == Keys::Text;
                Ok(Plan { names, called: Called::Label, reference: Reference::Id })
            }
            IdKind::Names => Ok(same(true)),
            _ if self.vertices == 0 || vertices_text == edges_text => Ok(same(edges_text)),
            _ if self.edges == 0 => Ok(same(vertices_text)),
            _ if self.edge_keys == Keys::Integers => {
                let (called, reference) = (Called::Id, Reference::Position);
                Ok(Plan { names: true, called, reference })
            }
            // Digits that the format does not tell from names: all are names then.
            _ if [self.vertex_keys, self.edge_keys].contains(&Keys::UntypedIntegers) => {
                Ok(same(true))
            }
            _ => Err("vertices have numbers for ids, but edges name them by text; if ids are \
                      names, say `ids` names"
                .into()),
        }
    }

    fn plan_without_ids(&self, wants_names: bool, all_labelled: bool) -> Result<Plan, String> {
        if self.unidentified < self.vertices {
            return Err("some vertices have an id, others have none".into());
        }
        let plan = |names, called, reference| Ok(Plan { names, called, reference });
        match self.edge_keys {
            Keys::Text if all_labelled => plan(true, Called::Label, Reference::Same),
            Keys::Integers | Keys::Nothing if wants_names && all_labelled => {
                plan(true, Called::Label, Reference::Position)
            }
            Keys::Integers | Keys::Nothing => plan(wants_names, Called::Position, Reference::Same),
            _ => {
                Err("vertices have no ids, so edges must refer to them by position, from 0".into())
            }
        }
    }
}

/// How a message about weights goes on.
const OTHERS: &str = "where those before have";

impl Plan {
    pub(super) fn ids_in_words(self) -> &'static str {
        match (self.names, self.called) {
            (true, Called::Label) => "labels as ids",
            (false, Called::Label) => "integer labels as ids",
            (true, _) => "names as ids",
            (false, Called::Position) => "vertices numbered from 0 as listed",
            (false, _) => "integer ids",
        }
    }
}

/// Takes a key into account; numbers and text are not mixed unless the user says how to take them.
fn note_key(keys: &mut Keys, key: VertexKey<'_>, wanted: IdKind) -> Result<(), String> {
    let kind = match key {
        VertexKey::Integer(_) => Keys::Integers,
        VertexKey::Text(_) => Keys::Text,
        VertexKey::Untyped(text) if is_plain_integer(text) => Keys::UntypedIntegers,
        VertexKey::Untyped(_) => Keys::Text,
    };
    *keys = match (*keys, kind) {
        (Keys::Nothing, kind) => kind,
        (known, kind) if known == kind => kind,
        (Keys::UntypedIntegers | Keys::Text, Keys::UntypedIntegers | Keys::Text) => Keys::Text,
        _ if wanted != IdKind::Detect => Keys::Text,
        _ => {
            return Err(
                "some ids are numbers, others are text; if they are names, say `ids` names".into(),
            );
        }
    };
    Ok(())
}

/// Whether text is an integer that is written like this when it is printed again.
fn is_plain_integer(text: &str) -> bool {
    parse_id(text.as_bytes()).is_ok() && (text == "0" || !text.starts_with('0'))
}
