//! Edges to their owners.
//!
//! A row's edges to one owner travel as one run: source, count, destinations, weights. Runs are never split. So an
//! owner gets all edges of a source from the one host that read its row, in the order of the row, and sorts nothing
//! on arrival. Rows that a host has read and owns do not travel at all: they are runs where they are, in a mapped
//! file, say.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use parton_graph::parallel;
use parton_graph::rows::Rows;
use parton_graph::{Csr, LocalId, ThreadSets, Weight, with_csr};
use parton_net::{HostId, Net};

use crate::Result;
use crate::exchange::{batches, exchange_batches};
use crate::id_set::IdSet;
use crate::policy::{Policy, Row};

/// Edges a thread routes at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;
/// Channel of the edges, apart from other messages.
const CHANNEL: u16 = 0x5e;

/// Rows stay where they are if so much of a host's edges is in rows that are its own: `1 - 1/8`.
/// Where fewer are, all run through buffers, so that the rows as a whole need not be kept.
const MOVING_AT_MOST: u64 = 8;

/// The edges that this host owns, as runs: rows of its own that it has read itself, and what came
/// from all hosts in turn.
pub(crate) struct Received {
    kept: Option<Kept>,
    buffers: Vec<Vec<u8>>,
    weight_bytes: usize,
}

/// Rows this host has read, many of which are its own as they are.
struct Kept {
    rows: Rows,
    /// Those that are its own, or empty.
    own: Vec<Range<u32>>,
}

/// All edges of a source that this host owns.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) source: u32,
    destinations: &'a [u8],
    weights: &'a [u8],
}

/// Where a run lies.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RunPlace {
    /// The buffer, or one that is none for kept rows.
    buffer: u32,
    /// Where in the buffer, or which row.
    at: u32,
}

/// The buffer of runs that are in none.
const KEPT: u32 = u32::MAX;

impl Run<'_> {
    pub(crate) fn len(self) -> usize {
        self.destinations.len() / 4
    }

    #[inline]
    pub(crate) fn destinations(self) -> impl ExactSizeIterator<Item = u32> {
        self.destinations.chunks_exact(4).map(bytemuck::pod_read_unaligned)
    }

    #[inline]
    pub(crate) fn weights<W: Weight>(self) -> impl Iterator<Item = W> {
        // Weights without size are all alike.
        let size = size_of::<W>();
        (0..self.len()).map(move |i| match size {
            0 => W::default(),
            _ => bytemuck::pod_read_unaligned(&self.weights[i * size..(i + 1) * size]),
        })
    }
}

impl Kept {
    /// Those among some rows that are its own, or empty.
    fn own_among(&self, rows: &Range<usize>) -> impl Iterator<Item = u32> + '_ {
        let (start, end) = (rows.start as u32, rows.end as u32);
        let first = self.own.partition_point(|own| own.end <= start);
        let among = self.own[first..].iter().take_while(move |own| own.start < end);
        among.flat_map(move |own| own.start.max(start)..own.end.min(end))
    }

    /// The row with this number as a run.
    #[inline]
    fn run(&self, row: u32) -> Run<'_> {
        let source = self.rows.first as u32 + row;
        with_csr!(&self.rows.adjacency, csr => {
            let row = LocalId(row);
            let destinations = bytemuck::cast_slice(csr.targets(row));
            Run { source, destinations, weights: bytes_of(csr.weights(row)) }
        })
    }
}

impl Received {
    /// Visits every run with its place, by all threads.
    pub(crate) fn for_each_run(&self, visit: impl Fn(RunPlace, Run<'_>) + Sync) {
        self.for_each_piece(|runs| runs.for_each(|(place, run)| visit(place, run)));
    }

    /// Visits all runs with their places, those of a piece by one thread.
    fn for_each_piece(&self, visit: impl Fn(&mut dyn Iterator<Item = (RunPlace, Run<'_>)>) + Sync) {
        if let Some(kept) = &self.kept {
            parallel::for_each(&pieces(kept.rows.adjacency.offsets()), |rows| {
                let runs = kept.own_among(rows).map(|row| {
                    let place = RunPlace { buffer: KEPT, at: row };
                    (place, kept.run(row))
                });
                visit(&mut runs.filter(|(_, run)| run.len() > 0));
            });
        }
        parallel::for_each_owned(self.buffers.iter().zip(0..), |_, (buffer, number)| {
            let mut at = 0;
            visit(&mut std::iter::from_fn(|| {
                if at >= buffer.len() {
                    return None;
                }
                // A piece of rows ends with the one that makes it large, so all begin early in it.
                let start = u32::try_from(at).expect("a run begins in the first 4 GiB");
                let place = RunPlace { buffer: number, at: start };
                let run = self.run(place);
                at += 8 + run.destinations.len() + run.weights.len();
                Some((place, run))
            }));
        });
    }

    /// Takes note of the vertices of whose rows these are runs, and of the ends there.
    pub(crate) fn note_ends(&self, vertices: &IdSet, ends: &IdSet) {
        let Some(sets) = ThreadSets::affordable(ends.universe(), self.num_edges()) else {
            return self.for_each_run(|_, run| {
                vertices.insert(run.source);
                run.destinations().for_each(|destination| ends.insert(destination));
            });
        };
        self.for_each_piece(|runs| {
            sets.extend(runs.flat_map(|(_, run)| {
                vertices.insert(run.source);
                run.destinations().map(|destination| destination as usize)
            }));
        });
        ends.extend_from_bits(&sets.union());
    }

    /// About how many edges these are.
    fn num_edges(&self) -> usize {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.rows.adjacency.num_edges() as usize);
        kept + self.moved_bytes() as usize / (4 + self.weight_bytes)
    }

    /// The run at a place.
    #[inline]
    pub(crate) fn run(&self, place: RunPlace) -> Run<'_> {
        if place.buffer == KEPT {
            return self.kept.as_ref().expect("rows were kept").run(place.at);
        }
        let bytes = &self.buffers[place.buffer as usize][place.at as usize..];
        let word = |at: usize| bytemuck::pod_read_unaligned::<u32>(&bytes[at..at + 4]);
        let (source, count) = (word(0), word(4) as usize);
        let (destinations, rest) = bytes[8..].split_at(4 * count);
        Run { source, destinations, weights: &rest[..self.weight_bytes * count] }
    }

    /// Bytes of what was moved.
    pub(crate) fn moved_bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.len() as u64).sum()
    }

    /// Bytes these take.
    pub(crate) fn bytes(&self) -> u64 {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.rows.adjacency.bytes());
        self.moved_bytes() + kept
    }
}

/// Sends the edges of `rows` to their owners; those that this host owns. Every host must call
/// this.
pub(crate) fn shuffle(net: &mut Net, rows: Rows, policy: &dyn Policy) -> Result<Received> {
    let weight_bytes = rows.adjacency.weight_kind().bytes();
    let own = own_rows(net.host(), &rows, policy);
    let skipped = own.is_some().then_some(net.host());
    let buffers = with_csr!(&rows.adjacency, csr => {
        exchange(net, rows.first, csr, policy, skipped)?
    });
    Ok(Received { kept: own.map(|own| Kept { rows, own }), buffers, weight_bytes })
}

/// The same, but no row stays where it is.
pub(crate) fn shuffle_all(net: &mut Net, rows: &Rows, policy: &dyn Policy) -> Result<Received> {
    let weight_bytes = rows.adjacency.weight_kind().bytes();
    let buffers = with_csr!(&rows.adjacency, csr => exchange(net, rows.first, csr, policy, None)?);
    Ok(Received { kept: None, buffers, weight_bytes })
}

/// The rows that are this host's as they are, or empty, if they hold almost all of its edges.
fn own_rows(host: HostId, rows: &Rows, policy: &dyn Policy) -> Option<Vec<Range<u32>>> {
    let (first, offsets) = (rows.first as u32, rows.adjacency.offsets());
    let of_piece = |piece: Range<usize>| {
        let mut own: Vec<Range<u32>> = Vec::new();
        let mut moving = 0;
        for row in piece {
            let degree = offsets[row + 1] - offsets[row];
            let row = row as u32;
            let master = || policy.masters().of(first + row);
            if degree > 0 && policy.row(master(), degree as usize) != Row::Together(host) {
                moving += degree;
                continue;
            }
            match own.last_mut().filter(|last| last.end == row) {
                Some(last) => last.end += 1,
                None => own.push(row..row + 1),
            }
        }
        (own, moving)
    };
    let join = |(mut own, moving): (Vec<Range<u32>>, u64), (next, more)| {
        own.extend::<Vec<_>>(next);
        (own, moving + more)
    };
    let found = parallel::reduce(offsets.len() - 1, of_piece, join);
    let (mut own, moving) = found.unwrap_or_default();
    own.dedup_by(|next, last| {
        let continues = next.start == last.end;
        last.end = if continues { next.end } else { last.end };
        continues
    });
    (moving <= rows.adjacency.num_edges() / MOVING_AT_MOST).then_some(own)
}

/// Sends runs to their owners, but for whole rows of a host that is `skipped`; what came.
fn exchange<W: Weight>(
    net: &mut Net,
    first: u64,
    rows: &Csr<W>,
    policy: &dyn Policy,
    skipped: Option<HostId>,
) -> Result<Vec<Vec<u8>>> {
    let hosts = net.num_hosts();
    let pieces = pieces(rows.offsets());
    let mut buffers: Vec<Vec<Vec<u8>>> = vec![Vec::new(); hosts];
    let make = |piece: &Range<usize>| route(first, rows, piece.clone(), policy, hosts, skipped);
    exchange_batches(net, CHANNEL, batches(&pieces, make), |from, runs| {
        buffers[from.index()].push(runs)
    })?;
    // In the order of the hosts they came from, whatever the order of arrival.
    Ok(buffers.into_iter().flatten().collect())
}

/// Ranges of rows with about `EDGES_PER_PIECE` edges each.
pub(crate) fn pieces(offsets: &[u64]) -> Vec<Range<usize>> {
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
    skipped: Option<HostId>,
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
            Row::Together(owner) if Some(owner) == skipped => {}
            Row::Together(owner) => {
                let message = &mut messages[owner.index()];
                append_run(message, source, rows.targets(row), rows.weights(row));
            }
            Row::ByDestination(owners) => {
                let (targets, weights) = (rows.targets(row), rows.weights(row));
                let mut at = 0;
                while at < degree {
                    let (master, count) = masters.of_first(&targets[at..]);
                    let (some_targets, some_weights) = &mut split[owners[master.index()].index()];
                    some_targets.extend_from_slice(&targets[at..at + count]);
                    some_weights.extend_from_slice(&weights[at..at + count]);
                    at += count;
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
    let count = u32::try_from(targets.len()).expect("a vertex has fewer than 2^32 edges here");
    message.extend_from_slice(bytemuck::cast_slice(&[source, count]));
    message.extend_from_slice(bytemuck::cast_slice(targets));
    message.extend_from_slice(bytes_of(weights));
}

/// The bytes of weights: none, if they have no size.
fn bytes_of<W: Weight>(weights: &[W]) -> &[u8] {
    match size_of::<W>() {
        0 => &[],
        _ => bytemuck::cast_slice(weights),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use parton_graph::build::{CsrBuilder, EdgeBatch};

    use super::*;
    use crate::blocks::Blocks;
    use crate::policy::Masters;

    struct WithSource(Masters);

    impl Policy for WithSource {
        fn masters(&self) -> &Masters {
            &self.0
        }

        fn row(&self, master: HostId, _: usize) -> Row<'_> {
            Row::Together(master)
        }
    }

    #[test]
    fn rows_stay_if_few_edges_move() {
        let edges: Vec<(u32, u32, ())> = (0..9).filter(|&v| v != 4).map(|v| (v, 0, ())).collect();
        let rows = Rows { first: 10, adjacency: Csr::from_edges(9, &edges).into() };
        let own = |start: u32, end: u32| -> Option<Vec<u32>> {
            let policy = WithSource(Masters::Blocks(Blocks::new(vec![0, start, end, 19])));
            Some(own_rows(HostId(1), &rows, &policy)?.into_iter().flatten().collect())
        };
        assert_eq!(own(0, 19), Some((0..9).collect()), "an empty row is anybody's");
        assert_eq!(own(11, 19), Some((1..9).collect()));
        assert_eq!(own(10, 18), Some((0..8).collect()));
        assert_eq!(own(11, 18), None, "two of eight edges move");
        assert_eq!(own(0, 10), None);
    }

    /// Many edges among few vertices, for which every thread has a set of its own, and few among many.
    #[test]
    fn ends_are_noted_by_each_thread_or_by_all_together() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for (universe, edges) in [(2000u32, 100_000u32), (10_000_000, 1000)] {
            let mut batch = EdgeBatch::default();
            for i in 0..edges {
                batch.push(i % 500, i.wrapping_mul(0x9e37_79b1) % universe, ());
            }
            let (own, first) = (10..480, 100);
            let pairs = || batch.sources.iter().zip(&batch.destinations);
            let owned = || pairs().filter(|(source, _)| own.contains(*source));
            let expected = [
                owned().map(|(source, _)| first + source).collect::<BTreeSet<u32>>(),
                owned().map(|(_, &end)| end).collect::<BTreeSet<u32>>(),
            ];
            let builder = CsrBuilder::new();
            builder.add(0, &batch);
            let adjacency = builder.build_rows(500, universe as usize).into();
            let rows = Rows { first: first.into(), adjacency };
            let kept = Some(Kept { rows, own: vec![own.clone()] });
            let received = Received { kept, buffers: Vec::new(), weight_bytes: 0 };
            let sets = [IdSet::new(universe), IdSet::new(universe)];
            pool.install(|| {
                let private = ThreadSets::affordable(sets[1].universe(), received.num_edges());
                assert_eq!(private.is_some(), edges == 100_000);
                received.note_ends(&sets[0], &sets[1]);
            });
            assert_eq!(
                sets.map(|set| set.to_vec().into_iter().collect::<BTreeSet<u32>>()),
                expected
            );
        }
    }
}
