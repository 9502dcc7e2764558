//! The vertex that a search starts from.

use std::ops::Range;

use parton_engine::degrees::out_degrees_at_hand;
use parton_graph::{GlobalId, Graph, LocalId, OriginalId, parallel};
use parton_sync::Substrate;

use crate::answer::Id;
use crate::error::{Error, Result};
use crate::options::Setting;

/// Where a search starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// The vertex of largest out-degree, the lowest original id among several.
    MaxDegree,
    /// The vertex with this original id.
    Original(String),
}

const MAX_DEGREE: &str = "max-degree";

impl Setting for Root {
    fn value_name() -> String {
        format!("{MAX_DEGREE}|ID")
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            MAX_DEGREE => Root::MaxDegree,
            id => Root::Original(id.into()),
        })
    }

    fn text(&self) -> Option<String> {
        Some(match self {
            Root::MaxDegree => MAX_DEGREE.into(),
            Root::Original(id) => id.clone(),
        })
    }
}

/// The vertex that a search starts from.
#[derive(Clone, Debug)]
pub struct RootVertex {
    /// Its number in the graph.
    pub vertex: GlobalId,
    /// Its original id.
    pub id: Id,
    /// Its out-degree in the whole graph.
    pub out_degree: u64,
}

impl Root {
    /// The vertex to start from; `None` if the graph has no vertices. Every host must call this.
    pub fn find(&self, substrate: &mut Substrate<'_>) -> Result<Option<RootVertex>> {
        let partition = substrate.partition();
        let degrees = out_degrees_at_hand(substrate)?;
        let num_masters = partition.num_masters();
        let mine = match self {
            // Vertices are numbered in the order of their original ids.
            Root::MaxDegree => {
                let key = |&master: &LocalId| {
                    (degrees.of(master.index()), std::cmp::Reverse(partition.global(master)))
                };
                let best =
                    |a: Option<LocalId>, b: Option<LocalId>| a.into_iter().chain(b).max_by_key(key);
                // Few vertices have as many edges as the best before them: only these are compared by their ids.
                let best_of = |masters: Range<usize>| {
                    masters.fold((None, 0), |(found, most), master| match degrees.of(master) {
                        degree if degree < most => (found, most),
                        degree => (best(found, Some(LocalId(master as u32))), degree),
                    })
                };
                let best_of = |masters: Range<usize>| best_of(masters).0;
                parallel::reduce(num_masters, best_of, best).flatten()
            }
            Root::Original(text) => parallel::find_first(num_masters, |master| {
                let master = LocalId(master as u32);
                let is_meant = match partition.original(master) {
                    OriginalId::Integer(id) => text.parse() == Ok(id),
                    OriginalId::Name(name) => text.as_bytes() == name,
                };
                is_meant.then_some(master)
            }),
        };
        // Complemented ids, so that the greatest pair has the largest degree and the lowest id.
        let candidate =
            mine.map_or((0, 0), |m| (degrees.of(m.index()) + 1, !partition.global(m).0));
        let best = substrate.net().all_reduce([candidate.0, candidate.1], std::cmp::max)?;
        if best[0] == 0 {
            return match self {
                Root::MaxDegree => Ok(None),
                Root::Original(text) => Err(no_such(text)),
            };
        }
        let vertex = GlobalId(!best[1]);
        let here = mine.filter(|&master| partition.global(master) == vertex);
        let id = original(substrate, here)?;
        Ok(Some(RootVertex { vertex, id, out_degree: best[0] - 1 }))
    }

    /// The same in a whole graph: its index there.
    pub fn find_in(&self, graph: &Graph) -> Result<Option<usize>> {
        let degree = |vertex: usize| {
            let offsets = graph.adjacency.offsets();
            offsets[vertex + 1] - offsets[vertex]
        };
        match self {
            Root::MaxDegree => {
                let vertices = 0..graph.num_vertices();
                Ok(vertices.max_by_key(|&vertex| (degree(vertex), std::cmp::Reverse(vertex))))
            }
            Root::Original(text) => match graph.ids.find_text(text) {
                Some(vertex) => Ok(Some(vertex)),
                None => Err(no_such(text)),
            },
        }
    }
}

/// Average out-degree of the source of an edge, in the whole graph: far above the average out-degree of a vertex
/// where few vertices have most of the edges. Every host must call this.
pub(crate) fn degree_of_edges(substrate: &mut Substrate<'_>) -> Result<f64> {
    let degrees = out_degrees_at_hand(substrate)?;
    let square = |master: usize| degrees.of(master).saturating_mul(degrees.of(master));
    let sum = |masters: Range<usize>| masters.map(square).fold(0, u64::saturating_add);
    let num_masters = substrate.partition().num_masters();
    let squares = parallel::reduce(num_masters, sum, u64::saturating_add).unwrap_or(0);
    let squares = substrate.net().all_reduce(squares, u64::saturating_add)?;
    Ok(squares as f64 / substrate.partition().num_edges().max(1) as f64)
}

/// The original id of a vertex that one host masters, on all hosts.
fn original(substrate: &mut Substrate<'_>, here: Option<LocalId>) -> Result<Id> {
    let mine = here.map(|master| Id::from(substrate.partition().original(master)));
    Ok(share(substrate, mine.as_slice())?.swap_remove(0))
}

fn no_such(text: &str) -> Error {
    Error::Request(format!("there is no vertex {text} to start from"))
}

/// Ids of all hosts, in their order. Every host must call this.
pub(crate) fn share(substrate: &mut Substrate<'_>, mine: &[Id]) -> Result<Vec<Id>> {
    let mut bytes = Vec::new();
    for id in mine {
        let (kind, text) = match id {
            Id::Integer(id) => (0u8, id.to_le_bytes().to_vec()),
            Id::Name(name) => (1, name.clone().into_bytes()),
        };
        bytes.push(kind);
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&text);
    }
    let mut ids = Vec::new();
    for bytes in substrate.net().all_gather(bytes)? {
        let mut rest = &bytes[..];
        while let [kind, a, b, c, d, after @ ..] = rest {
            let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            let (text, after) = after.split_at(len);
            ids.push(match kind {
                0 => Id::Integer(bytemuck::pod_read_unaligned(text)),
                _ => Id::Name(String::from_utf8_lossy(text).into_owned()),
            });
            rest = after;
        }
    }
    Ok(ids)
}
