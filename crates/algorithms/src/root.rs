//! Finding the vertex a search starts from.

use parton_engine::degrees::out_degrees;
use parton_graph::{GlobalId, Graph, LocalId, OriginalId};
use parton_sync::Substrate;

use crate::answer::Id;
use crate::error::{Error, Result};
use crate::options::Root;

/// A vertex with what users call it.
pub(crate) struct Found {
    pub(crate) vertex: GlobalId,
    pub(crate) id: Id,
    pub(crate) out_degree: u64,
    /// Average out-degree of the vertex that an edge leaves: far more than that of a vertex where few
    /// have most of the edges.
    pub(crate) degree_of_edges: f64,
}

/// The vertex to start from; `None` when the graph has no vertices. Every host must call this.
pub(crate) fn find(substrate: &mut Substrate<'_>, root: &Root) -> Result<Option<Found>> {
    let partition = substrate.partition();
    let degrees = out_degrees(substrate)?;
    let masters = || (0..partition.num_masters() as u32).map(LocalId);
    let mine = match root {
        // Vertices are numbered in the order of their original ids.
        Root::MaxDegree => masters().max_by_key(|&master| {
            (degrees[master.index()], std::cmp::Reverse(partition.global(master)))
        }),
        Root::Original(text) => masters().find(|&master| match partition.original(master) {
            OriginalId::Integer(id) => text.parse() == Ok(id),
            OriginalId::Name(name) => text.as_bytes() == name,
        }),
    };
    // Complemented ids, so that the greatest pair has the largest degree and the lowest id.
    let candidate = mine.map_or((0, 0), |m| (degrees[m.index()] + 1, !partition.global(m).0));
    let best = substrate.net().all_reduce([candidate.0, candidate.1], std::cmp::max)?;
    if best[0] == 0 {
        return match root {
            Root::MaxDegree => Ok(None),
            Root::Original(text) => Err(no_such(text)),
        };
    }
    let vertex = GlobalId(!best[1]);
    let here = mine.filter(|&master| partition.global(master) == vertex);
    let id = original(substrate, here)?;
    let squares =
        degrees.iter().fold(0u64, |sum, &degree| sum.saturating_add(degree.saturating_mul(degree)));
    let squares = substrate.net().all_reduce(squares, u64::saturating_add)?;
    let degree_of_edges = squares as f64 / partition.num_edges().max(1) as f64;
    Ok(Some(Found { vertex, id, out_degree: best[0] - 1, degree_of_edges }))
}

/// What users call a vertex that one host masters, told to all.
fn original(substrate: &mut Substrate<'_>, here: Option<LocalId>) -> Result<Id> {
    let mine = here.map(|master| Id::from(substrate.partition().original(master)));
    Ok(share(substrate, mine.as_slice())?.swap_remove(0))
}

/// The same in a whole graph.
pub(crate) fn in_graph(graph: &Graph, root: &Root) -> Result<Option<usize>> {
    let degree = |vertex: usize| {
        let offsets = graph.adjacency.offsets();
        offsets[vertex + 1] - offsets[vertex]
    };
    match root {
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
