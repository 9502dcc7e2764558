//! Rows that come together from all hosts: each host sends its edges, which are in any order, to the
//! hosts that take their rows.

use std::ops::Range;

use parton_graph::build::{CsrBuilder, EdgeBatch};
use parton_graph::generate::Spec;
use parton_graph::progress::{Progress, Unit};
use parton_graph::rows::Rows;
use parton_graph::{Adjacency, Csr, Weight, parallel};
use parton_net::{HostId, Net};

use super::InputShare;
use crate::Result;
use crate::blocks::Blocks;
use crate::exchange::{batches, exchange_batches};

/// Channel of edges on their way to the host that takes their row.
const CHANNEL: u16 = 0x10;
/// Edges generated at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;
/// Sources each host looks at to find cuts between rows.
pub(super) const SAMPLES_PER_HOST: usize = 1 << 12;

/// Edges by the host that takes their row.
pub(super) struct EdgesByHost<'a, W> {
    readers: &'a Blocks,
    edges: Vec<EdgeBatch<u32, W>>,
}

impl<W: Weight> EdgesByHost<'_, W> {
    #[inline]
    pub(super) fn push(&mut self, source: u32, destination: u32, weight: W) {
        let edges = match &mut self.edges[..] {
            [alone] => alone,
            edges => &mut edges[self.readers.owner(source).index()],
        };
        edges.push(source, destination, weight);
    }

    /// The number of the piece, then sources, then destinations, then weights; nothing for no
    /// edges.
    fn into_batches(self, order: u64) -> Vec<Vec<u8>> {
        let join = |edges: EdgeBatch<u32, W>| {
            if edges.is_empty() {
                return Vec::new();
            }
            let weights: &[u8] = match size_of::<W>() {
                0 => &[],
                _ => bytemuck::cast_slice(&edges.weights),
            };
            let ends = [&edges.sources, &edges.destinations].map(|ids| bytemuck::cast_slice(ids));
            [&order.to_le_bytes(), ends[0], ends[1], weights].concat()
        };
        self.edges.into_iter().map(join).collect()
    }
}

/// Sends the edges that `route_edges` finds in each piece to the hosts that take their rows; the rows
/// of this host. `samples` are some sources of its edges, from which cuts between rows are found;
/// `order` gives the place of a piece in the input. Every host must call this.
pub(super) fn rows<W: Weight, P: Sync>(
    net: &mut Net,
    vertices: u32,
    samples: Vec<u32>,
    pieces: &[P],
    order: impl Fn(&P) -> u64 + Sync,
    route_edges: impl Fn(&P, &mut EdgesByHost<'_, W>) + Sync,
) -> Result<InputShare>
where
    Adjacency: From<Csr<W>>,
{
    let readers = sampled_rows(net, vertices, samples)?;
    let hosts = net.num_hosts();
    let rows = readers.of(net.host());
    let builder = CsrBuilder::<W>::new();
    if hosts == 1 {
        add_all(&builder, &readers, pieces, order, route_edges);
        return Ok(share_of(builder, readers, rows, vertices));
    }
    let make = |piece: &P| {
        let edges = (0..hosts).map(|_| EdgeBatch::default()).collect();
        let mut by_host = EdgesByHost { readers: &readers, edges };
        route_edges(piece, &mut by_host);
        by_host.into_batches(order(piece))
    };
    let add = |batch: Vec<u8>| add_batch(&builder, &batch, rows.start);
    let add_waiting = |batches: &mut Vec<Vec<u8>>| {
        parallel::for_each_owned(batches.drain(..), |_, batch| add(batch));
    };
    // Batches wait until there is one for each thread.
    let mut waiting = Vec::new();
    exchange_batches(net, CHANNEL, batches(pieces, make), |_, batch| {
        waiting.push(batch);
        if waiting.len() >= rayon::current_num_threads() {
            add_waiting(&mut waiting);
        }
    })?;
    add_waiting(&mut waiting);
    Ok(share_of(builder, readers, rows, vertices))
}

/// Adds the edges of a batch, of which `first` is the least source that a host takes the row of.
fn add_batch<W: Weight>(builder: &CsrBuilder<W>, batch: &[u8], first: u32) {
    let (order, batch) = batch.split_at(8);
    let count = batch.len() / (8 + size_of::<W>());
    let words = |at: usize| batch[4 * at * count..4 * (at + 1) * count].chunks_exact(4);
    let weights = match size_of::<W>() {
        0 => vec![W::default(); count],
        _ => bytemuck::pod_collect_to_vec(&batch[8 * count..]),
    };
    let edges = EdgeBatch {
        sources: words(0).map(|id| bytemuck::pod_read_unaligned::<u32>(id) - first).collect(),
        destinations: words(1).map(bytemuck::pod_read_unaligned).collect(),
        weights,
    };
    builder.add(bytemuck::pod_read_unaligned::<u64>(order), &edges);
}

/// Adds all edges of a host that is alone: nothing travels.
fn add_all<W: Weight, P: Sync>(
    builder: &CsrBuilder<W>,
    readers: &Blocks,
    pieces: &[P],
    order: impl Fn(&P) -> u64 + Sync,
    route_edges: impl Fn(&P, &mut EdgesByHost<'_, W>) + Sync,
) {
    let scratch = parallel::Scratch::<EdgeBatch<u32, W>>::default();
    parallel::for_each(pieces, |piece| {
        scratch.with(|edges| {
            edges.clear();
            let mut alone = EdgesByHost { readers, edges: vec![std::mem::take(edges)] };
            route_edges(piece, &mut alone);
            *edges = alone.edges.swap_remove(0);
            builder.add(order(piece), edges);
        });
    });
}

/// The rows that a builder's edges make.
fn share_of<W: Weight>(
    builder: CsrBuilder<W>,
    readers: Blocks,
    rows: Range<u32>,
    vertices: u32,
) -> InputShare
where
    Adjacency: From<Csr<W>>,
{
    let csr = builder.build_rows(rows.len(), vertices as usize);
    let rows = Rows { first: u64::from(rows.start), adjacency: csr.into() };
    let waiting = waiting_bytes(rows.adjacency.num_edges(), size_of::<W>());
    InputShare::of_rows(rows, readers).with_peak_of(waiting)
}

/// Bytes of edges that come in any order: they wait as long as the result is being filled.
pub(super) fn waiting_bytes(edges: u64, weight_bytes: usize) -> u64 {
    edges * (6 + weight_bytes as u64)
}

/// Generates this host's slice of the edges and exchanges them for its rows. Every host must call
/// this.
pub(super) fn generated(net: &mut Net, spec: &Spec, progress: &dyn Progress) -> Result<InputShare> {
    let generator = spec.generator();
    if net.num_hosts() == 1 {
        // Nothing travels.
        let rows = Rows { first: 0, adjacency: spec.edges(progress).into() };
        let readers = Blocks::even(generator.num_vertices() as u32, 1);
        let waiting = waiting_bytes(rows.adjacency.num_edges(), 0);
        return Ok(InputShare::of_rows(rows, readers).with_peak_of(waiting));
    }
    let (hosts, host) = (net.num_hosts() as u128, u128::from(net.host().0));
    let slice = |h: u128| (u128::from(generator.num_edges()) * h / hosts) as u64;
    let mine = slice(host)..slice(host + 1);
    let step = (mine.end - mine.start).div_ceil(SAMPLES_PER_HOST as u64).max(1) as usize;
    let samples = mine.clone().step_by(step).map(|index| generator.edge(index).0 as u32).collect();
    let pieces: Vec<u64> = mine.clone().step_by(EDGES_PER_PIECE as usize).collect();
    let order = |&first: &u64| first;
    progress.stage("generating", Unit::Edges, Some(mine.end - mine.start));
    let scratch = parallel::Scratch::<EdgeBatch<u64, ()>>::default();
    rows(net, generator.num_vertices() as u32, samples, &pieces, order, |&first, by_host| {
        scratch.with(|edges| {
            edges.clear();
            let end = (first + EDGES_PER_PIECE).min(mine.end);
            generator.edges(first..end, edges);
            progress.advance(end - first);
            for (&source, &destination) in edges.sources.iter().zip(&edges.destinations) {
                by_host.push(source as u32, destination as u32, ());
            }
        });
    })
}

/// Cuts between rows such that each host takes about as many edges, from a sample of sources. One
/// host finds them: the samples of all hosts on every host would take memory per pair of hosts.
fn sampled_rows(net: &mut Net, vertices: u32, samples: Vec<u32>) -> Result<Blocks> {
    let root = HostId(0);
    let hosts = net.num_hosts();
    let samples = net.gather(root, bytemuck::cast_slice(&samples).to_vec())?;
    let starts = samples.map_or(Vec::new(), |samples| {
        let mut samples: Vec<u32> =
            samples.iter().flat_map(|list| bytemuck::pod_collect_to_vec::<u8, u32>(list)).collect();
        samples.sort_unstable();
        let starts = (1..hosts).filter_map(|host| samples.get(samples.len() * host / hosts));
        starts.copied().collect()
    });
    let starts = net.broadcast(root, bytemuck::cast_slice(&starts).to_vec())?;
    let starts: Vec<u32> = bytemuck::pod_collect_to_vec(&starts);
    if starts.len() + 1 < hosts {
        return Ok(Blocks::even(vertices, hosts));
    }
    Ok(Blocks::new([&[0], &starts[..], &[vertices]].concat()))
}
