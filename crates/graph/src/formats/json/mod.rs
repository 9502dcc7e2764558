//! JSON: one document of vertices and links, as NetworkX and D3 write it, a list of edges, or an
//! edge on each line.
//!
//! `edge` reads an object that is an edge, by the names of its keys; `document` the whole of a
//! file; `lines` one edge per line, which all threads and hosts can share.

mod document;
mod edge;
mod lines;

use super::{Format, Opened, ReadOptions};
use crate::Result;
use crate::source::Source;
use crate::text::scanner::head_lines;
use crate::text::skip_mark;

/// Node-link JSON, and lists of edges.
///
/// An object with `nodes` and `links` or `edges`, or a list of objects that are edges. `directed`
/// is honoured; without it, edges are directed.
pub struct Json;

/// JSON lines: an object per line, which is an edge.
pub struct JsonLines;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let head = skip_mark(source.head()).trim_ascii_start();
        let after = |rest: &[u8]| rest.trim_ascii_start().first().copied();
        match head.split_first() {
            Some((b'{', rest)) => matches!(after(rest), Some(b'"' | b'}')),
            Some((b'[', rest)) => matches!(after(rest), Some(b'{' | b'[' | b']' | b'"')),
            _ => false,
        }
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let document = document::NodeLink::new(&source, options)?;
        super::document::open(source, document, options)
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson", "jsonlines"]
    }

    fn recognises(&self, source: &Source) -> bool {
        // A first line that is an object, and is an edge or followed by another object.
        let mut lines = head_lines(source)
            .map(|line| line.text.trim_ascii())
            .filter(|line| !line.is_empty())
            .take(2);
        let Some(keys) = lines.next().and_then(edge::keys_of) else { return false };
        edge::are_of_edge(&keys) || lines.next().is_some_and(|line| line.starts_with(b"{"))
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        Ok(Opened::Edges(Box::new(lines::EdgeLines::open(source, options)?)))
    }

    fn slices_packed_files(&self) -> bool {
        true
    }
}
