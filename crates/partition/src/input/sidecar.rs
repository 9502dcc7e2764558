//! Original ids from the sidecar file `FILE.ids`; each host reads a slice of it.

use parton_graph::edge_file::Slice;
use parton_graph::formats::IdFile;
use parton_net::Net;

use super::OriginalIds;
use crate::Result;
use crate::dictionary::{Dictionary, Id};

/// The original ids of all vertices, a range of them on each host. Every host must call this.
pub(super) fn ids(net: &mut Net, file: &IdFile, vertices: u32) -> Result<OriginalIds> {
    let slice = Slice { index: net.host().index(), of: net.num_hosts() };
    let lines = file.lines(slice)?;
    let counts = net.all_gather((lines.len() as u64).to_le_bytes().to_vec())?;
    let counts: Vec<u64> = counts.iter().map(|count| bytemuck::pod_read_unaligned(count)).collect();
    let has_heading = file.has_heading_line(counts.iter().sum(), u64::from(vertices))?;
    let has_first = counts.iter().position(|&count| count > 0) == Some(slice.index);
    let names = || lines.iter().skip(usize::from(has_heading && has_first));
    // Ids are integers if they are so on every host.
    let integers: Option<Vec<u64>> = match has_heading {
        true => None,
        false => names().map(IdFile::integer).collect(),
    };
    let others = net.all_reduce(u64::from(integers.is_none()), |a, b| a + b)?;
    match integers {
        Some(ids) if others == 0 => Ok(OriginalIds::Integers(in_order(net, file, ids)?)),
        _ => {
            let ids = names().map(Box::from).collect();
            Ok(OriginalIds::Names(in_order(net, file, ids)?))
        }
    }
}

/// The ids of all hosts as a dictionary, if they ascend from host to host.
fn in_order<I: Id>(net: &mut Net, file: &IdFile, ids: Vec<I>) -> Result<Dictionary<I>> {
    let ends = I::encode(ids.first().into_iter().chain(ids.last()));
    let ends: Vec<Vec<I>> = net.all_gather(ends)?.iter().map(|ids| I::decode(ids)).collect();
    let bounds: Vec<&Vec<I>> = ends.iter().filter(|ids| !ids.is_empty()).collect();
    let across = bounds.windows(2).all(|pair| pair[0][1] < pair[1][0]);
    // Either all hosts go on or none does.
    let disorder = !(across && ids.is_sorted_by(|a, b| a < b));
    match net.all_reduce(u64::from(disorder), |a, b| a + b)? {
        0 => Dictionary::listed(net, ids),
        _ => Err(file.disorder().into()),
    }
}
