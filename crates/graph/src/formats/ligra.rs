//! Ligra and PBBS text: `AdjacencyGraph` or `WeightedAdjacencyGraph`, then numbers separated by
//! blanks or lines: N, M, N offsets, M destinations, and M weights.

mod shares;

use super::{Format, ReadOptions};
use crate::csr::MAX_VERTICES;
use crate::slices::Shares;
use crate::source::Source;
use crate::text::scanner::Scanner;
use crate::text::skip_mark;
use crate::weight::WeightKind;
use crate::{Csr, Graph, LocalId, Result};

/// Ligra.
pub struct Ligra;

impl Format for Ligra {
    fn name(&self) -> &'static str {
        "ligra"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["ligra", "pbbs"]
    }

    fn recognises(&self, source: &Source) -> bool {
        let word = skip_mark(source.head()).split(u8::is_ascii_whitespace).next();
        matches!(word, Some(b"AdjacencyGraph" | b"WeightedAdjacencyGraph"))
    }

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let mut scanner = Scanner::new(source)?;
        let (mut weighted, mut sizes) = (None, Vec::new());
        let (mut offsets, mut targets): (Vec<u64>, Vec<LocalId>) = (Vec::new(), Vec::new());
        let (mut weights, mut whole) = (Vec::new(), true);
        while let Some(line) = scanner.next_line()? {
            for token in line.tokens() {
                let Some(weighted) = weighted else {
                    let known = is_weighted(token.text);
                    weighted = Some(known.map_err(|problem| token.error(problem))?);
                    continue;
                };
                let [vertices, edges] = sizes[..] else {
                    sizes.push(token.count([VERTICES, EDGES][sizes.len()])?);
                    if sizes[0] > MAX_VERTICES {
                        return Err(token.error(TOO_MANY));
                    }
                    continue;
                };
                if (offsets.len() as u64) < vertices {
                    let offset = token.count(OFFSET)?;
                    let last = offsets.last().copied().unwrap_or(0);
                    if offset > edges || offset < last || (offsets.is_empty() && offset > 0) {
                        return Err(token.error(bad_offset(last, edges)));
                    }
                    offsets.push(offset);
                } else if (targets.len() as u64) < edges {
                    let target = token.id()?;
                    if target >= vertices {
                        return Err(token.error(no_vertex(target, vertices)));
                    }
                    targets.push(LocalId(target as u32));
                } else if weighted && (weights.len() as u64) < edges {
                    let (weight, is_whole) = token.weight()?;
                    whole &= is_whole;
                    weights.push(weight);
                } else {
                    return Err(token.error(TOO_LONG));
                }
            }
        }
        let [vertices, edges] = sizes[..] else {
            return Err(scanner.ended("the numbers of vertices and edges"));
        };
        let weighted = weighted == Some(true);
        for (what, found, expected) in [
            ("offsets", offsets.len() as u64, vertices),
            ("destinations", targets.len() as u64, edges),
            ("weights", weights.len() as u64, if weighted { edges } else { 0 }),
        ] {
            if found < expected {
                return Err(scanner.ended(&format!("{expected} {what}, not {found}")));
            }
        }
        offsets.push(edges);
        let read_as =
            if weighted { "Ligra WeightedAdjacencyGraph" } else { "Ligra AdjacencyGraph" };
        if !weighted || !options.weights {
            let weights = vec![(); targets.len()];
            let csr = Csr::from_parts(offsets.into(), targets.into(), weights.into());
            return Ok(Graph::dense(csr, read_as));
        }
        let csr = Csr::from_parts(offsets.into(), targets.into(), weights.into());
        let kind = if whole { WeightKind::U32 } else { WeightKind::F64 };
        Graph::dense(csr, read_as).with_weight_kind(kind)
    }

    fn shares(&self, source: Source, _: &ReadOptions<'_>) -> Result<Shares> {
        Ok(Shares::Edges(Box::new(shares::LigraFile::open(&source.on_disk(true)?)?)))
    }
}

const VERTICES: &str = "the number of vertices";
const EDGES: &str = "the number of edges";
const OFFSET: &str = "an edge offset";
const TOO_MANY: &str = "more vertices than one host can hold";
const TOO_LONG: &str = "expected the end of the file";

fn is_weighted(word: &[u8]) -> Result<bool, &'static str> {
    match word {
        b"AdjacencyGraph" => Ok(false),
        b"WeightedAdjacencyGraph" => Ok(true),
        _ => Err("expected 'AdjacencyGraph' or 'WeightedAdjacencyGraph'"),
    }
}

fn bad_offset(last: u64, edges: u64) -> String {
    format!("expected an offset from {last} to {edges}")
}

fn no_vertex(target: u64, vertices: u64) -> String {
    format!("vertex {target} does not exist: there are {vertices}")
}
