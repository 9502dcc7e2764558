//! Rows that can be taken as they are: from a file that holds them so, or from a graph in memory.

use std::ops::Range;

use parton_graph::rows::{RowFile, Rows};
use parton_graph::{Buffer, Csr, Graph, LocalId, with_csr};
use parton_net::Net;

use super::Share;
use crate::Result;
use crate::blocks::Blocks;

/// This host's rows of a file. Every host must call this.
pub(super) fn of_file(net: &mut Net, file: &RowFile) -> Result<Share> {
    let offset = |vertex: u64| Ok(file.offset(vertex)?);
    let readers = even_rows(net.num_hosts(), (file.num_vertices(), file.num_edges()), offset)?;
    let mine = readers.of(net.host());
    let mut rows = file.rows(u64::from(mine.start)..u64::from(mine.end))?;
    if file.has_signed_weights() {
        let negative = net.all_reduce(u64::from(rows.has_negative_weights()), |a, b| a | b)?;
        rows = if negative != 0 { rows.with_signs() } else { rows };
    }
    Ok(Share::of_rows(rows, readers))
}

/// This host's rows of a graph in memory.
pub(super) fn of_graph(net: &Net, graph: &Graph) -> Result<Share> {
    let offsets = graph.adjacency.offsets();
    let offset = |vertex: u64| Ok(offsets[vertex as usize]);
    let sizes = (graph.num_vertices() as u64, graph.num_edges());
    let readers = even_rows(net.num_hosts(), sizes, offset)?;
    let rows = match net.num_hosts() {
        1 => Rows { first: 0, adjacency: graph.adjacency.clone() },
        _ => copied(graph, readers.of(net.host())),
    };
    Ok(Share::of_rows(rows, readers))
}

/// Blocks of rows with about equally many edges and vertices. Any host finds them alone.
fn even_rows(
    hosts: usize,
    (vertices, edges): (u64, u64),
    offset: impl Fn(u64) -> Result<u64>,
) -> Result<Blocks> {
    // A vertex counts as one edge.
    let cost = |vertex: u64| -> Result<u64> { Ok(vertex + offset(vertex)?) };
    let mut starts = vec![0];
    for host in 1..hosts as u64 {
        let goal = (u128::from(vertices + edges) * u128::from(host) / hosts as u128) as u64;
        let (mut low, mut high) = (u64::from(starts[starts.len() - 1]), vertices);
        while low < high {
            let middle = low + (high - low) / 2;
            if cost(middle)? < goal {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        starts.push(low as u32);
    }
    starts.push(vertices as u32);
    Ok(Blocks::new(starts))
}

fn copied(graph: &Graph, vertices: Range<u32>) -> Rows {
    let adjacency = with_csr!(&graph.adjacency, csr => {
        let all = &csr.offsets()[vertices.start as usize..=vertices.end as usize];
        let edges = all[0] as usize..all[all.len() - 1] as usize;
        let offsets: Vec<u64> = all.iter().map(|offset| offset - all[0]).collect();
        let targets: Buffer<LocalId> = csr.all_targets()[edges.clone()].to_vec().into();
        let weights: Buffer<_> = csr.all_weights()[edges].to_vec().into();
        Csr::from_parts(offsets.into(), targets, weights).into()
    });
    Rows { first: u64::from(vertices.start), adjacency }
}
