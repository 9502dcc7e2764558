//! An object that is an edge: which of its keys hold the ends and the weight, and their values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::column_names::{self, Ends};
use crate::error::printable;
use crate::formats::document::{Edge, VertexKey, wants_weights};
use crate::formats::{ColumnKey, ReadOptions};

/// The keys of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EdgeKeys {
    source: String,
    destination: String,
    weight: Option<String>,
    /// Whether an edge may carry what looks like a weight, because no option names it.
    ignores_weights: bool,
}

/// How many keys a message names, and how much of each.
const SHOWN_KEYS: usize = 12;

impl EdgeKeys {
    /// The keys that the user names, else those of an edge with telling names.
    pub(super) fn choose(keys: &[String], options: &ReadOptions<'_>) -> Result<Self, String> {
        let ignores_weights = !wants_weights(options);
        if let Some(columns) = &options.columns {
            let name = |column: &ColumnKey| match column {
                ColumnKey::Name(name) => Ok(name.clone()),
                ColumnKey::Position(_) => {
                    Err("JSON has keys, not positions: name them with `columns`".to_owned())
                }
            };
            let weight = columns.weight.as_ref().map(name).transpose()?;
            return Ok(EdgeKeys {
                source: name(&columns.source)?,
                destination: name(&columns.destination)?,
                weight: weight.filter(|_| !ignores_weights),
                ignores_weights: true,
            });
        }
        match ends_of(keys) {
            Some(Ends { source, destination, is_tied: false, .. }) => {
                let others = (0..keys.len()).filter(|place| ![source, destination].contains(place));
                let ranked =
                    others.filter_map(|at| Some((column_names::weight_rank(&keys[at])?, at)));
                let weight = ranked.min().filter(|_| !ignores_weights);
                Ok(EdgeKeys {
                    source: keys[source].clone(),
                    destination: keys[destination].clone(),
                    weight: weight.map(|(_, place)| keys[place].clone()),
                    ignores_weights,
                })
            }
            _ => Err(format!(
                "expected an edge with keys such as source and target, found {}: say which are \
                 meant with `columns` SOURCE,DESTINATION[,WEIGHT]",
                listed(keys)
            )),
        }
    }

    /// "source = from, destination = to, weight = w"
    pub(super) fn describe(&self) -> String {
        let shown = |key: &str| printable(key.as_bytes());
        let weight =
            self.weight.as_ref().map_or(String::new(), |w| format!(", weight = {}", shown(w)));
        let (source, destination) = (shown(&self.source), shown(&self.destination));
        format!("source = {source}, destination = {destination}{weight}")
    }
}

/// Keys in a message.
pub(super) fn listed(keys: &[String]) -> String {
    let shown = keys.iter().take(SHOWN_KEYS);
    let shown: Vec<String> =
        shown.map(|key| printable(&key.as_bytes()[..key.len().min(24)])).collect();
    match keys.len() {
        0 => "no keys".into(),
        1..=SHOWN_KEYS => shown.join(", "),
        _ => format!("{}, …", shown.join(", ")),
    }
}

/// The keys of a text that is one object.
pub(super) fn keys_of(text: &[u8]) -> Option<Vec<String>> {
    let mut parser = serde_json::Deserializer::from_slice(text);
    let object = AllSeed.deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    Some(object.into_iter().map(|(key, _)| key).collect())
}

/// Whether an object with these keys is an edge.
pub(super) fn are_of_edge(keys: &[String]) -> bool {
    ends_of(keys).is_some()
}

fn ends_of(keys: &[String]) -> Option<Ends> {
    column_names::ends(&keys.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What the library says, without the place.
pub(super) fn problem_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(&text[..], |(problem, _)| problem).to_owned()
}

/// A value, as far as ids and weights need it.
pub(super) enum Scalar<'de> {
    Integer(u64),
    Negative(i64),
    Fraction(f64),
    Text(Cow<'de, str>),
    Boolean(bool),
    /// Neither a number nor text.
    Other(&'static str),
}

impl Scalar<'_> {
    /// The value as an id.
    pub(super) fn key(&self) -> Result<VertexKey<'_>, String> {
        let found = match self {
            Scalar::Integer(id) => return Ok(VertexKey::Integer(*id)),
            Scalar::Text(text) => return Ok(VertexKey::Text(text)),
            Scalar::Negative(id) => return Err(format!("negative id {id}; ids are 0 to 2^64-1")),
            Scalar::Fraction(value) => value.to_string(),
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Other(what) => (*what).into(),
        };
        Err(format!("expected an id, an integer from 0 to 2^64-1 or text, found {found}"))
    }

    /// The value as a weight, and whether it is an integer that fits `u32`.
    fn weight(&self) -> Result<(f64, bool), String> {
        let exact = |value: i128| match value as f64 as i128 == value {
            true => Ok(value as f64),
            false => Err(format!("weight {value} is an integer that f64 cannot hold exactly")),
        };
        let found = match self {
            Scalar::Integer(value) => {
                return Ok((exact(i128::from(*value))?, *value <= u64::from(u32::MAX)));
            }
            Scalar::Negative(value) => return Ok((exact(i128::from(*value))?, false)),
            Scalar::Fraction(value) => return Ok((*value, false)),
            Scalar::Text(text) => format!("the text '{}'", printable(text.as_bytes())),
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Other(what) => (*what).into(),
        };
        Err(format!("expected a weight, found {found}"))
    }
}

/// Reads a value.
pub(super) struct ScalarSeed;

impl<'de> DeserializeSeed<'de> for ScalarSeed {
    type Value = Scalar<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarSeed {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(value).map_or(Scalar::Negative(value), Scalar::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Fraction(value))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Boolean(value))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Other("null"))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(value.to_owned().into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("an object"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("a list"))
    }
}

/// Reads an object with all its keys and values.
pub(super) struct AllSeed;

impl<'de> DeserializeSeed<'de> for AllSeed {
    type Value = Vec<(String, Scalar<'de>)>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AllSeed {
    type Value = Vec<(String, Scalar<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that is an edge")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(key) = map.next_key()? {
            all.push((key, map.next_value_seed(ScalarSeed)?));
        }
        Ok(all)
    }
}

/// The values of an edge's keys.
#[derive(Default)]
pub(super) struct EdgeValues<'de> {
    source: Option<Scalar<'de>>,
    destination: Option<Scalar<'de>>,
    weight: Option<Scalar<'de>>,
    directed: Option<bool>,
    /// A key that looks like a weight where the first edge had none.
    surplus: bool,
}

/// What a key stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Source,
    Destination,
    Weight,
    Directed,
    Undirected,
    Surplus,
    Other,
}

impl EdgeKeys {
    fn slot(&self, key: &str) -> Slot {
        match key {
            _ if key == self.source => Slot::Source,
            _ if key == self.destination => Slot::Destination,
            _ if self.weight.as_deref() == Some(key) => Slot::Weight,
            "directed" => Slot::Directed,
            "undirected" => Slot::Undirected,
            _ if self.weight.is_none()
                && !self.ignores_weights
                && column_names::weight_rank(key).is_some() =>
            {
                Slot::Surplus
            }
            _ => Slot::Other,
        }
    }
}

impl<'de> EdgeValues<'de> {
    /// The values of an object that was read with all its keys.
    pub(super) fn of(all: Vec<(String, Scalar<'de>)>, keys: &EdgeKeys) -> Result<Self, String> {
        let mut values = EdgeValues::default();
        for (key, value) in all {
            values.set(keys.slot(&key), value)?;
        }
        Ok(values)
    }

    fn set(&mut self, slot: Slot, value: Scalar<'de>) -> Result<(), String> {
        let place = match (slot, &value) {
            (Slot::Source, _) => &mut self.source,
            (Slot::Destination, _) => &mut self.destination,
            (Slot::Weight, _) => &mut self.weight,
            (Slot::Directed, Scalar::Boolean(directed)) => {
                self.directed = Some(*directed);
                return Ok(());
            }
            (Slot::Undirected, Scalar::Boolean(undirected)) => {
                self.directed = Some(!undirected);
                return Ok(());
            }
            (slot, _) => {
                self.surplus |= slot == Slot::Surplus;
                return Ok(());
            }
        };
        match place.replace(value) {
            None => Ok(()),
            Some(_) => Err("a key of this edge stands there twice".into()),
        }
    }

    /// The edge.
    pub(super) fn edge(&self, keys: &EdgeKeys) -> Result<Edge<'_>, String> {
        if self.surplus {
            return Err("an edge with a weight, where those before have none".into());
        }
        Ok(Edge {
            source: end(&self.source, &keys.source)?,
            destination: end(&self.destination, &keys.destination)?,
            weight: self.weight.as_ref().map(Scalar::weight).transpose()?,
            directed: self.directed,
        })
    }
}

/// An end of an edge, which `key` holds.
fn end<'v>(value: &'v Option<Scalar<'_>>, key: &str) -> Result<VertexKey<'v>, String> {
    match value {
        Some(value) => value.key(),
        None => Err(format!("an edge without a \"{}\"", printable(key.as_bytes()))),
    }
}

/// Reads an object that is an edge with these keys.
#[derive(Clone, Copy)]
pub(super) struct EdgeSeed<'k>(pub(super) &'k EdgeKeys);

impl<'de> DeserializeSeed<'de> for EdgeSeed<'_> {
    type Value = EdgeValues<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EdgeSeed<'_> {
    type Value = EdgeValues<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that is an edge")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = EdgeValues::default();
        while let Some(slot) = map.next_key_seed(SlotSeed(self.0))? {
            match slot {
                Slot::Other => drop(map.next_value::<IgnoredAny>()?),
                slot => {
                    let value = map.next_value_seed(ScalarSeed)?;
                    values.set(slot, value).map_err(A::Error::custom)?;
                }
            }
        }
        Ok(values)
    }
}

/// Reads a key, of which only its meaning is kept.
struct SlotSeed<'k>(&'k EdgeKeys);

impl<'de> DeserializeSeed<'de> for SlotSeed<'_> {
    type Value = Slot;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Slot, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for SlotSeed<'_> {
    type Value = Slot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Slot, E> {
        Ok(self.0.slot(key))
    }
}
