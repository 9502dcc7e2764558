//! Edges to their owners.
//!
//! A row's edges to one owner travel as one run: source, count, destinations, weights. Runs are
//! never split, so an owner gets all edges of a source from the one host that read its row, in the
//! order of the row; nothing has to be sorted on arrival.

use std::ops::Range;

use parton_graph::rows::Rows;
use parton_graph::{Csr, LocalId, Weight};
use parton_net::Net;

use crate::Result;
use crate::policy::{Policy, Row};
use crate::trade::{batches, trade};

/// Edges a thread routes at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;
/// Channel of the edges, apart from other messages.
const CHANNEL: u16 = 0x5e;

/// Runs as they came, from all hosts in turn.
pub(crate) struct Received {
    buffers: Vec<Vec<u8>>,
    weight_bytes: usize,
}

/// All edges of a source that this host owns.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) source: u32,
    destinations: &'a [u8],
    weights: &'a [u8],
}

/// Where a run lies.
#[derive(Clone, Copy)]
pub(crate) struct RunPlace {
    buffer: u32,
    at: u64,
}

impl Run<'_> {
    pub(crate) fn len(self) -> usize {
        self.destinations.len() / 4
    }

    pub(crate) fn destinations(self) -> impl ExactSizeIterator<Item = u32> {
        self.destinations.chunks_exact(4).map(bytemuck::pod_read_unaligned)
    }

    pub(crate) fn weights<W: Weight>(self) -> impl Iterator<Item = W> {
        // Weights without size are all alike.
        let size = size_of::<W>();
        (0..self.len()).map(move |i| match size {
            0 => W::default(),
            _ => bytemuck::pod_read_unaligned(&self.weights[i * size..(i + 1) * size]),
        })
    }
}

impl Received {
    /// Every run with its place.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (RunPlace, Run<'_>)> {
        self.buffers.iter().zip(0..).flat_map(move |(buffer, number)| {
            let mut at = 0;
            std::iter::from_fn(move || {
                let place = RunPlace { buffer: number, at: at as u64 };
                let run = (at < buffer.len()).then(|| self.run(place))?;
                at += 8 + run.destinations.len() + run.weights.len();
                Some((place, run))
            })
        })
    }

    /// The run at a place.
    pub(crate) fn run(&self, place: RunPlace) -> Run<'_> {
        let bytes = &self.buffers[place.buffer as usize][place.at as usize..];
        let word = |at: usize| bytemuck::pod_read_unaligned::<u32>(&bytes[at..at + 4]);
        let (source, count) = (word(0), word(4) as usize);
        let (destinations, rest) = bytes[8..].split_at(4 * count);
        Run { source, destinations, weights: &rest[..self.weight_bytes * count] }
    }

    /// Bytes these take.
    pub(crate) fn bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.len() as u64).sum()
    }
}

/// Sends the edges of `rows` to their owners; those that this host owns. Every host must call
/// this.
pub(crate) fn shuffle(net: &mut Net, rows: &Rows, policy: &dyn Policy) -> Result<Received> {
    parton_graph::with_csr!(&rows.adjacency, csr => exchange(net, rows.first, csr, policy))
}

fn exchange<W: Weight>(
    net: &mut Net,
    first: u64,
    rows: &Csr<W>,
    policy: &dyn Policy,
) -> Result<Received> {
    let hosts = net.num_hosts();
    let pieces = pieces(rows.offsets());
    let mut buffers: Vec<Vec<Vec<u8>>> = vec![Vec::new(); hosts];
    let make = |piece: &Range<usize>| route(first, rows, piece.clone(), policy, hosts);
    trade(net, CHANNEL, batches(&pieces, make), |from, runs| buffers[from.index()].push(runs))?;
    // In the order of the hosts they came from, whatever the order of arrival.
    let buffers = buffers.into_iter().flatten().collect();
    Ok(Received { buffers, weight_bytes: size_of::<W>() })
}

/// Ranges of rows with about `EDGES_PER_PIECE` edges each.
fn pieces(offsets: &[u64]) -> Vec<Range<usize>> {
    let rows = offsets.len() - 1;
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < rows {
        let goal = offsets[start] + EDGES_PER_PIECE;
        let end = offsets.partition_point(|&offset| offset < goal).clamp(start + 1, rows);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// The runs of a range of rows, by owner.
fn route<W: Weight>(
    first: u64,
    rows: &Csr<W>,
    piece: Range<usize>,
    policy: &dyn Policy,
    hosts: usize,
) -> Vec<Vec<u8>> {
    let masters = policy.masters();
    let mut messages = vec![Vec::new(); hosts];
    let mut split: Vec<(Vec<LocalId>, Vec<W>)> = vec![(Vec::new(), Vec::new()); hosts];
    for row in piece.map(|row| LocalId(row as u32)) {
        let degree = rows.degree(row);
        if degree == 0 {
            continue;
        }
        let source = (first + u64::from(row.0)) as u32;
        match policy.row(masters.of(source), degree) {
            Row::Together(owner) => {
                let message = &mut messages[owner.index()];
                append_run(message, source, rows.targets(row), rows.weights(row));
            }
            Row::ByDestination(owners) => {
                for (target, weight) in rows.edges(row) {
                    let owner = owners[masters.of(target.0).index()];
                    let (targets, weights) = &mut split[owner.index()];
                    targets.push(target);
                    weights.push(weight);
                }
                for (message, (targets, weights)) in messages.iter_mut().zip(&mut split) {
                    if !targets.is_empty() {
                        append_run(message, source, targets, weights);
                        targets.clear();
                        weights.clear();
                    }
                }
            }
        }
    }
    messages
}

fn append_run<W: Weight>(message: &mut Vec<u8>, source: u32, targets: &[LocalId], weights: &[W]) {
    message.extend_from_slice(&source.to_le_bytes());
    let count = u32::try_from(targets.len()).expect("a vertex has fewer than 2^32 edges here");
    message.extend_from_slice(&count.to_le_bytes());
    message.extend_from_slice(bytemuck::cast_slice(targets));
    // An array of nothings has no bytes.
    if size_of::<W>() > 0 {
        message.extend_from_slice(bytemuck::cast_slice(weights));
    }
}
