//! Making rows fit what is to be computed: both directions of every edge, no self-loops, no
//! parallel edges, no weights. Only the second direction of edges has to travel.

use parton_graph::mirrored::Completed;
use parton_graph::rows::Rows;
use parton_graph::{Adjacency, Csr, LocalId, Weight, WeightKind, hash, with_csr};
use parton_net::Net;

use super::exchanged::{self, SAMPLES_PER_HOST};
use super::{Fit, InputShare};
use crate::Result;

/// About how many edges the rows have whose edges are sent at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;

/// The share, changed where it does not fit. Every host must call this.
pub(super) fn fit(net: &mut Net, mut share: InputShare, fit: Fit) -> Result<InputShare> {
    if !fit.weights && share.rows.adjacency.weight_kind() != WeightKind::None {
        share.rows.adjacency = share.rows.adjacency.unweighted();
        let in_rows = share.in_rows.take();
        share.in_rows = in_rows.map(|rows| Rows { adjacency: rows.adjacency.unweighted(), ..rows });
        share.changes.push("weights are ignored".into());
    }
    if fit.undirected && !share.is_symmetric {
        let skewness = with_csr!(&share.rows.adjacency, csr => skewness(csr, share.rows.first));
        if net.all_reduce(skewness, u64::wrapping_add)? != 0 {
            share = both_ways(net, share)?;
        }
        share.is_symmetric = true;
        share.in_rows = None;
        share.row_blocks = None;
    }
    if fit.simple {
        let before = share.rows.adjacency.num_edges();
        if !share.rows.are_simple() {
            share.peak_bytes += share.rows.adjacency.bytes();
            share.rows = share.rows.simplified();
            share.in_rows = None;
            share.row_blocks = None;
        }
        let fewer = before - share.rows.adjacency.num_edges();
        match net.all_reduce(fewer, |a, b| a + b)? {
            0 => {}
            fewer => {
                share.changes.push(format!("{fewer} self-loops and parallel edges are left out"));
            }
        }
        share.is_simple = true;
    }
    Ok(share)
}

/// The sum of the [`hash::skewness`] of all edges of some rows. If the sum over all hosts is 0, every
/// edge has its mirror image.
fn skewness<W: Weight>(csr: &Csr<W>, first: u64) -> u64 {
    csr.sum_of_edges(|row, target, weight| {
        hash::skewness(first as u32 + row.0, target.0, weight.to_f64())
    })
}

/// The share with the reverse of every edge that lacks it.
fn both_ways(net: &mut Net, share: InputShare) -> Result<InputShare> {
    let held = share.rows.adjacency.bytes();
    let vertices = share.readers.num_vertices();
    let InputShare { rows, readers, changes, ids, .. } = share;
    let (share, in_edges) = with_csr!(&rows.adjacency, csr => {
        match net.num_hosts() {
            1 => (None, Adjacency::from(csr.transposed())),
            // Reverse edges make rows longer: hosts take others than those they have read.
            _ => {
                let kept = exchange(net, csr, rows.first as u32, vertices, |edge| edge)?;
                let turned = |(source, destination)| (destination, source);
                let turned = exchange(net, csr, rows.first as u32, vertices, turned)?;
                (Some(kept), turned.rows.adjacency)
            }
        }
    });
    let mut share = share.unwrap_or_else(|| InputShare::of_rows(rows, readers));
    let held = held + share.rows.adjacency.bytes() + in_edges.bytes();
    let first = share.rows.first as u32;
    let Completed { adjacency, added, lightened } =
        share.rows.adjacency.completed(&in_edges, first);
    share.rows.adjacency = adjacency;
    share.changes = changes;
    if net.all_reduce(added, |a, b| a + b)? > 0 {
        share.changes.push("directed edges are taken both ways".into());
    }
    if net.all_reduce(lightened, |a, b| a + b)? > 0 {
        share.changes.push("of weights that differ each way the lesser is taken".into());
    }
    Ok(share.with_peak_of(held).with(ids))
}

/// Sends every edge, with the ends that `turned` makes of its own, to the host that takes its row.
/// Rows are cut so that hosts have about as many edges if all go both ways.
fn exchange<W: Weight>(
    net: &mut Net,
    csr: &Csr<W>,
    first: u32,
    vertices: u32,
    turned: impl Fn((u32, u32)) -> (u32, u32) + Sync,
) -> Result<InputShare>
where
    Adjacency: From<Csr<W>>,
{
    let offsets = csr.offsets();
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < csr.num_vertices() {
        let goal = offsets[start] + EDGES_PER_PIECE;
        let end = offsets.partition_point(|&o| o < goal).clamp(start + 1, csr.num_vertices());
        pieces.push(start as u32..end as u32);
        start = end;
    }
    // Ends of edges are the sources of edges that go both ways.
    let step = csr.all_targets().len().div_ceil(SAMPLES_PER_HOST / 2).max(1);
    let mut samples: Vec<u32> = csr.all_targets().iter().step_by(step).map(|t| t.0).collect();
    let place = |at: usize| offsets.partition_point(|&o| o <= at as u64) as u32 - 1;
    samples.extend((0..csr.all_targets().len()).step_by(step).map(|at| first + place(at)));
    let order = |piece: &std::ops::Range<u32>| u64::from(first + piece.start);
    exchanged::rows(net, vertices, samples, &pieces, order, |piece, by_host| {
        for row in piece.clone() {
            for (target, weight) in csr.edges(LocalId(row)) {
                let (source, destination) = turned((first + row, target.0));
                by_host.push(source, destination, weight);
            }
        }
    })
}
