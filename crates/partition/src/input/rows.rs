//! Rows that can be taken as they are: from a file that holds them so, or from a graph in memory.

use std::ops::Range;

use parton_graph::edge_file::Slice;
use parton_graph::progress::Progress;
use parton_graph::rows::{RowFile, Rows};
use parton_graph::{Buffer, Csr, Graph, LocalId, with_csr};
use parton_net::Net;

use super::InputShare;
use crate::Result;
use crate::blocks::Blocks;
use crate::blocks::EDGE_COST;
use crate::policy::Reads;

/// This host's rows of a file, with in-edges if they are wanted and the file has them. Every host
/// must call this.
pub(super) fn of_file(
    net: &mut Net,
    file: &RowFile,
    reads: Reads,
    progress: &dyn Progress,
) -> Result<InputShare> {
    let reads = if file.has_in_rows() { reads } else { Reads::OutEdges };
    let offset = |vertex: u64| match reads {
        Reads::OutEdges => file.offset(vertex),
        Reads::InEdges => file.in_offset(vertex),
        Reads::Both => Ok(file.offset(vertex)? + file.in_offset(vertex)?),
    };
    let entries = file.num_edges() * if reads == Reads::Both { 2 } else { 1 };
    let sizes = (file.num_vertices(), entries);
    let readers = even_rows(net.num_hosts(), sizes, |vertex| Ok(offset(vertex)?))?;
    let mine = readers.of(net.host());
    let mine = u64::from(mine.start)..u64::from(mine.end);
    let in_rows = match reads != Reads::OutEdges || net.num_hosts() == 1 {
        true => file.in_rows(mine.clone())?,
        false => None,
    };
    let slice = Slice { index: net.host().index(), of: net.num_hosts() };
    file.check_rest(slice)?;
    // Also for policies that want in-edges only, which would never notice that they are others.
    let out_rows = file.rows_watched(mine, progress)?;
    if let Some(in_rows) = &in_rows {
        let difference = out_rows.edge_sum(false).wrapping_sub(in_rows.edge_sum(true));
        if net.all_reduce(difference, u64::wrapping_add)? != 0 {
            return Err(file.contradiction().into());
        }
    }
    let (mut rows, mut in_rows) = match (in_rows, reads == Reads::InEdges) {
        (Some(in_rows), true) => (in_rows, None),
        (in_rows, _) => (out_rows, in_rows),
    };
    if file.has_signed_weights() {
        let negative = net.all_reduce(u64::from(rows.has_negative_weights()), |a, b| a | b)?;
        if negative != 0 {
            rows = rows.with_signs();
            in_rows = in_rows.map(Rows::with_signs);
        }
    }
    let share = InputShare::of_rows(rows, readers).with_in_rows(in_rows);
    let row_blocks = match net.num_hosts() {
        1 => file.row_blocks()?,
        _ => None,
    };
    Ok(InputShare { turned: reads == Reads::InEdges, row_blocks, ..share })
}

/// This host's rows of a graph in memory.
pub(super) fn of_graph(net: &Net, graph: &Graph) -> Result<InputShare> {
    let offsets = graph.adjacency.offsets();
    let offset = |vertex: u64| Ok(offsets[vertex as usize]);
    let sizes = (graph.num_vertices() as u64, graph.num_edges());
    let readers = even_rows(net.num_hosts(), sizes, offset)?;
    let rows = match net.num_hosts() {
        1 => Rows { first: 0, adjacency: graph.adjacency.clone() },
        _ => copied(graph, readers.of(net.host())),
    };
    Ok(InputShare::of_rows(rows, readers))
}

/// Blocks of rows that cost about the same, as policies count: many then cut close to where rows
/// were cut, and few have to move. Any host finds them alone.
pub(crate) fn even_rows(
    hosts: usize,
    (vertices, edges): (u64, u64),
    offset: impl Fn(u64) -> Result<u64>,
) -> Result<Blocks> {
    let cost = |vertex: u64| -> Result<u64> { Ok(vertex + EDGE_COST * offset(vertex)?) };
    let mut starts = vec![0];
    for host in 1..hosts as u64 {
        let goal =
            (u128::from(vertices + EDGE_COST * edges) * u128::from(host) / hosts as u128) as u64;
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

#[cfg(test)]
mod tests {
    use parton_graph::formats::{self, Opened, ReadOptions, WriteOptions};
    use parton_graph::progress::Silent;
    use parton_graph::source::Source;
    use parton_net::{Cluster, HostId};

    use super::*;

    #[test]
    fn in_edges_that_a_file_keeps_come_to_a_lone_host_and_where_they_are_wanted() {
        let csr = Csr::from_edges(4, &[(3, 1, 2.5), (0, 1, 0.5), (1, 0, 4.0), (1, 1, -1.0)]);
        let turned = Graph::dense(csr.transposed(), "");
        let graph = Graph::dense(csr, "");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.parton");
        for in_edges in [true, false] {
            let options = WriteOptions { in_edges, ..WriteOptions::default() };
            formats::write(&graph, &path, None, &options).unwrap();
            let source = Source::file(&path).unwrap();
            let (opened, _) = formats::open(source, None, &ReadOptions::default()).unwrap();
            let Opened::Rows(file) = opened else { panic!("rows expected") };
            let out = Reads::OutEdges;
            let cases = [(1, out), (2, out), (1, Reads::Both), (2, Reads::Both), (3, Reads::Both)];
            for (hosts, reads) in
                cases.into_iter().chain([(2, Reads::InEdges), (3, Reads::InEdges)])
            {
                let launched =
                    Cluster::local(hosts).launch(|net| of_file(net, &file, reads, &Silent));
                for (host, share) in launched.unwrap().into_iter().enumerate() {
                    let mine = || share.readers.of(HostId(host as u16));
                    assert_eq!(share.turned, in_edges && reads == Reads::InEdges);
                    let rows = copied(if share.turned { &turned } else { &graph }, mine());
                    assert_eq!(share.rows, rows);
                    let kept = in_edges && (reads == Reads::Both || hosts == 1);
                    assert_eq!(share.in_rows, kept.then(|| copied(&turned, mine())));
                }
            }
        }
    }
}
