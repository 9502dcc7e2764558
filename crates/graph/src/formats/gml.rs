//! GML: `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 weight 2 ] ]`, as NetworkX,
//! igraph and Gephi write it.
//!
//! Edges are directed if the graph says `directed 1`. Vertices are called by their labels, if all
//! have one, as NetworkX does; the ids then only tie edges to vertices. A user who wants integers
//! gets the ids.

use std::io::BufRead;
use std::sync::OnceLock;

use super::document::{self, Document, Edge, Item, TakeItem, Trouble, VertexKey, wants_weights};
use super::{ColumnKey, Format, Opened, ReadOptions};
use crate::column_names::weight_rank;
use crate::error::printable;
use crate::source::{Part, Source};
use crate::text::skip_mark;
use crate::{Error, Place, Result};

/// GML.
pub struct Gml;

impl Format for Gml {
    fn name(&self) -> &'static str {
        "gml"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["gml"]
    }

    fn recognises(&self, source: &Source) -> bool {
        /// Keys with a value, such as `Creator`, that may come before the graph.
        const KEYS_BEFORE: usize = 8;
        let mut head = skip_mark(source.head());
        let mut lexer = Lexer::new(&mut head);
        let mut token = || lexer.next().ok().flatten();
        for _ in 0..=KEYS_BEFORE {
            match (token(), token()) {
                (Some(GmlToken::Word(key)), Some(GmlToken::Open)) => return key == "graph",
                (Some(GmlToken::Word(_)), Some(GmlToken::Word(_) | GmlToken::Text(_))) => {}
                _ => return false,
            }
        }
        false
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let weight_key = weight_key(&source, options, self.name())?;
        let weights = wants_weights(options);
        document::open(source, GmlGraph { weights, weight_key, found: OnceLock::new() }, options)
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

/// The weight that a user chose by naming columns, where edges have no columns but a source and a
/// target.
pub(super) fn weight_key(
    source: &Source,
    options: &ReadOptions<'_>,
    format: &str,
) -> Result<Option<String>> {
    let Some(columns) = &options.columns else { return Ok(None) };
    let is = |column: &ColumnKey, name: &str| *column == ColumnKey::Name(name.into());
    match &columns.weight {
        Some(ColumnKey::Name(weight))
            if is(&columns.source, "source") && is(&columns.destination, "target") =>
        {
            Ok(Some(weight.clone()))
        }
        _ => Err(Error::Request(format!(
            "{}: edges of {format} go from source to target, only the weight can be chosen: \
             `columns` source,target,WEIGHT",
            source.name()
        ))),
    }
}

/// A document, and which key holds the weight.
struct GmlGraph {
    weights: bool,
    /// What the user chose.
    weight_key: Option<String>,
    /// The key of the first weight.
    found: OnceLock<String>,
}

impl Document for GmlGraph {
    fn name(&self) -> &'static str {
        "GML"
    }

    fn scan(&self, part: &Part, reader: &mut dyn BufRead, take: &mut TakeItem<'_>) -> Result<()> {
        let start = reader.fill_buf().map_err(|e| part.read_error(e))?;
        let mark = start.len() - skip_mark(start).len();
        reader.consume(mark);
        let mut lexer = Lexer::new(reader);
        let scanned = self.graph(&mut lexer, take);
        let place = Place::line(lexer.line, lexer.column.max(1), b"");
        scanned.map_err(|trouble| trouble.at(part, place))
    }

    fn labels_are_ids(&self) -> bool {
        true
    }

    fn keys(&self) -> String {
        document::keys_with_weight(self.found.get())
    }
}

/// A key and what follows it.
enum Value {
    Word(String),
    Text(String),
    /// A list, whose contents come next.
    List,
}

impl GmlGraph {
    fn graph(&self, lexer: &mut Lexer<'_>, take: &mut TakeItem<'_>) -> Result<(), Trouble> {
        let mut graphs = 0;
        while let Some((key, value)) = lexer.entry(false)? {
            match (&key[..], value) {
                ("graph", Value::List) if graphs == 0 => {
                    graphs += 1;
                    self.inside(lexer, take)?;
                }
                ("graph", _) => return Err("a second graph, where one was expected".into()),
                (_, Value::List) => lexer.skip_list()?,
                _ => {}
            }
        }
        match graphs {
            0 => Err("expected 'graph [', but the file ends".into()),
            _ => Ok(()),
        }
    }

    fn inside(&self, lexer: &mut Lexer<'_>, take: &mut TakeItem<'_>) -> Result<(), Trouble> {
        // The definition of GML: a graph that does not say it is undirected.
        take(Item::Directed(false))?;
        while let Some((key, value)) = lexer.entry(true)? {
            match (&key[..], value) {
                ("node", Value::List) => vertex(lexer, take)?,
                ("edge", Value::List) => self.edge(lexer, take)?,
                ("directed", Value::Word(word)) if word == "1" => take(Item::Directed(true))?,
                ("directed", Value::Word(word)) if word == "0" => {}
                ("directed", _) => return Err("expected 'directed 0' or 'directed 1'".into()),
                (_, Value::List) => lexer.skip_list()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn edge(&self, lexer: &mut Lexer<'_>, take: &mut TakeItem<'_>) -> Result<(), Trouble> {
        let (mut source, mut destination) = (None, None);
        // The best yet: how telling its key is, the key and the value.
        let mut weight: Option<(usize, String, String)> = None;
        while let Some((key, value)) = lexer.entry(true)? {
            let end = match (&key[..], value) {
                (_, Value::List) => {
                    lexer.skip_list()?;
                    continue;
                }
                ("source", value) => source.replace(value),
                ("target", value) => destination.replace(value),
                (_, Value::Word(word) | Value::Text(word)) => {
                    let rank = self.rank_as_weight(&key);
                    if rank.is_some_and(|rank| weight.as_ref().is_none_or(|w| rank < w.0)) {
                        weight = rank.map(|rank| (rank, key, word));
                    }
                    continue;
                }
            };
            if end.is_some() {
                return Err("an edge with two sources or targets".into());
            }
        }
        let (Some(source), Some(destination)) = (&source, &destination) else {
            return Err("an edge without a source or a target".into());
        };
        let weight = match weight {
            Some((_, key, word)) => {
                let _ = self.found.get_or_init(|| key);
                Some(document::weight(word.as_bytes())?)
            }
            None => None,
        };
        let (source, destination) = (source.key()?, destination.key()?);
        Ok(take(Item::Edge(Edge { source, destination, weight, directed: None }))?)
    }

    /// How telling a key is of a weight, if it can hold it: the first edge that has one decides
    /// which it is, unless the user does.
    fn rank_as_weight(&self, key: &str) -> Option<usize> {
        match self.weight_key.as_ref().or(self.found.get()) {
            _ if !self.weights => None,
            Some(only) => (only == key).then_some(0),
            None => weight_rank(key),
        }
    }
}

fn vertex(lexer: &mut Lexer<'_>, take: &mut TakeItem<'_>) -> Result<(), Trouble> {
    let (mut id, mut label) = (None, None);
    while let Some((key, value)) = lexer.entry(true)? {
        match (&key[..], value) {
            ("id", value) => id = Some(value),
            // igraph says `name`.
            ("label" | "name", Value::Word(text) | Value::Text(text)) => label = Some(text),
            (_, Value::List) => lexer.skip_list()?,
            _ => {}
        }
    }
    let id = id.ok_or("a vertex without an id")?;
    Ok(take(Item::Vertex { id: Some(id.key()?), label: label.as_deref() })?)
}

impl Value {
    fn key(&self) -> Result<VertexKey<'_>, Trouble> {
        match self {
            // NetworkX writes ids that are integers, others also quoted ones.
            Value::Word(word) => match crate::text::number::parse_id(word.as_bytes()) {
                Ok(id) => Ok(VertexKey::Integer(id)),
                Err(why) => Err(why.describe(word.as_bytes()).into()),
            },
            Value::Text(text) => Ok(VertexKey::Text(text)),
            Value::List => Err("expected an id, found a list".into()),
        }
    }
}

/// A word of the language.
enum GmlToken {
    Open,
    Close,
    /// A key or a number.
    Word(String),
    /// What stood in quotes.
    Text(String),
}

/// Cuts a document into words.
struct Lexer<'r> {
    reader: &'r mut dyn BufRead,
    line: u64,
    column: usize,
}

impl<'r> Lexer<'r> {
    fn new(reader: &'r mut dyn BufRead) -> Self {
        Lexer { reader, line: 1, column: 0 }
    }

    fn peek(&mut self) -> Result<Option<u8>, Trouble> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Trouble::Io(e)),
            }
        }
    }

    fn advance(&mut self, byte: u8) {
        self.reader.consume(1);
        match byte {
            b'\n' => (self.line, self.column) = (self.line + 1, 0),
            _ => self.column += 1,
        }
    }

    /// The bytes up to the first for which `ends` is true, or to the end of the file.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> Result<String, Trouble> {
        let mut bytes = Vec::new();
        while let Some(byte) = self.peek()?.filter(|&byte| !ends(byte)) {
            self.advance(byte);
            bytes.push(byte);
        }
        String::from_utf8(bytes).map_err(|_| "text that is not UTF-8".into())
    }

    fn next(&mut self) -> Result<Option<GmlToken>, Trouble> {
        while let Some(byte) = self.peek()? {
            match byte {
                b'#' => drop(self.until(|b| b == b'\n')?),
                b'[' => {
                    self.advance(byte);
                    return Ok(Some(GmlToken::Open));
                }
                b']' => {
                    self.advance(byte);
                    return Ok(Some(GmlToken::Close));
                }
                b'"' => {
                    self.advance(byte);
                    let text = self.until(|b| b == b'"')?;
                    match self.peek()? {
                        Some(quote) => self.advance(quote),
                        None => return Err("a text without its closing quote".into()),
                    }
                    return Ok(Some(GmlToken::Text(unescaped(text))));
                }
                _ if byte.is_ascii_whitespace() => self.advance(byte),
                _ => {
                    let ends = |b: u8| b.is_ascii_whitespace() || matches!(b, b'[' | b']' | b'"');
                    return Ok(Some(GmlToken::Word(self.until(ends)?)));
                }
            }
        }
        Ok(None)
    }

    /// A key and its value, or the end of the list, or, outside of lists, of the file.
    fn entry(&mut self, is_inside: bool) -> Result<Option<(String, Value)>, Trouble> {
        let key = match self.next()? {
            Some(GmlToken::Word(key)) => key,
            Some(GmlToken::Close) if is_inside => return Ok(None),
            None if !is_inside => return Ok(None),
            None => return Err("the file ends inside a list".into()),
            Some(_) => return Err("expected a key".into()),
        };
        match self.next()? {
            Some(GmlToken::Word(word)) => Ok(Some((key, Value::Word(word)))),
            Some(GmlToken::Text(text)) => Ok(Some((key, Value::Text(text)))),
            Some(GmlToken::Open) => Ok(Some((key, Value::List))),
            Some(GmlToken::Close) | None => {
                Err(format!("the key '{}' without a value", printable(key.as_bytes())).into())
            }
        }
    }

    /// Passes over the rest of a list.
    fn skip_list(&mut self) -> Result<(), Trouble> {
        let mut depth = 1;
        while depth > 0 {
            match self.next()? {
                Some(GmlToken::Open) => depth += 1,
                Some(GmlToken::Close) => depth -= 1,
                Some(_) => {}
                None => return Err("the file ends inside a list".into()),
            }
        }
        Ok(())
    }
}

/// Text with its entities, such as `&quot;` and `&#228;`, replaced where they are known.
fn unescaped(text: String) -> String {
    match quick_xml::escape::unescape(&text) {
        Ok(plain) => plain.into_owned(),
        Err(_) => text,
    }
}
