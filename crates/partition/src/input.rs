//! What hosts partition: every host opens the same input and takes its own rows of it.
//!
//! | input | a host's share | travels |
//! |---|---|---|
//! | `.parton`, `.gr` | pages of its rows, about as many edges as any other host's | nothing |
//! | a generator | a slice of the edges | each edge once, to the host that takes its row |
//! | plain text of edges: lists, CSV, Matrix Market, DIMACS | the lines of a range of bytes | distinct ids, then each edge |
//! | anything else | its rows of the graph as one process read it | nothing |

use std::ops::Range;

use parton_graph::build::{CsrBuilder, Edges};
use parton_graph::csr::MAX_VERTICES;
use parton_graph::formats;
use parton_graph::generate::Spec;
use parton_graph::id_map::{Names, OriginalId};
use parton_graph::rows::{RowFile, Rows};
use parton_graph::slices::{TextFile, TextPiece, TextSlice};
use parton_graph::source::Source;
use parton_graph::{
    Adjacency, Buffer, Csr, Direction, Graph, Ids, LocalId, VertexRange, Weight, with_csr,
};
use parton_net::Net;

use crate::Result;
use crate::blocks::Blocks;
use crate::dictionary::{Dictionary, Originals};
use crate::trade::trade;

/// A graph to be partitioned.
pub enum Input {
    /// A file whose rows can be read apart.
    Rows(RowFile),
    /// A formula for edges.
    Generated(Spec),
    /// A text that can be read slice by slice.
    Text(TextFile),
    /// A graph in memory, shared by the hosts of one process.
    Whole(Graph),
}

/// A host's share of an input.
pub(crate) struct Share {
    pub(crate) rows: Rows,
    /// Who has which rows.
    pub(crate) readers: Blocks,
    /// Bytes this host held at most to get here.
    pub(crate) peak_bytes: u64,
    ids: OriginalIds,
}

/// Where original ids are found.
enum OriginalIds {
    /// In the input itself.
    OfInput,
    /// A vertex is called by its number plus this.
    Offset(u64),
    /// Spread over the hosts.
    Integers(Dictionary<u64>),
    /// Spread over the hosts.
    Names(Dictionary<Box<[u8]>>),
}

/// Channel of edges on their way to the host that takes their row.
const CHANNEL: u16 = 0x10;
/// Edges generated at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;
/// Sources each host looks at to find cuts between rows.
const SAMPLES_PER_HOST: usize = 1 << 12;

impl Input {
    /// Opens a generator's spec or a file; a file that cannot be read in shares is read whole.
    pub fn open(text: &str) -> Result<Self> {
        if Spec::is_spec(text) {
            let spec = Spec::parse(text)?;
            if spec.generator().num_vertices() > MAX_VERTICES {
                let count = spec.generator().num_vertices();
                return Err(parton_graph::Error::too_many_vertices(text, count).into());
            }
            return Ok(Input::Generated(spec));
        }
        let source = Source::find(text)?;
        let format = formats::detect(&source)?;
        // Ids beside a file are not part of its rows.
        if !formats::has_ids_beside(&source)
            && let Some(rows) = RowFile::open(&source, format)?
        {
            return Ok(Input::Rows(rows));
        }
        Ok(match TextFile::open(source, format)? {
            Ok(file) => Input::Text(file),
            Err(source) => Input::Whole(formats::read(&source, Some(format), &Default::default())?),
        })
    }

    /// Whether every edge is known to be there in both directions.
    pub(crate) fn is_symmetric(&self) -> bool {
        match self {
            Input::Rows(_) | Input::Generated(_) => false,
            Input::Text(file) => file.is_mirrored(),
            Input::Whole(graph) => graph.direction == Direction::Undirected,
        }
    }

    /// This host's share. Every host must call this.
    pub(crate) fn share(&self, net: &mut Net) -> Result<Share> {
        let (rows, readers) = match self {
            Input::Rows(file) => {
                let offset = |vertex: u64| Ok(file.offset(vertex)?);
                let sizes = (file.num_vertices(), file.num_edges());
                let readers = even_rows(net.num_hosts(), sizes, offset)?;
                let mine = readers.of(net.host());
                (file.rows(u64::from(mine.start)..u64::from(mine.end))?, readers)
            }
            Input::Whole(graph) => {
                let offsets = graph.adjacency.offsets();
                let offset = |vertex: u64| Ok(offsets[vertex as usize]);
                let sizes = (graph.num_vertices() as u64, graph.num_edges());
                let readers = even_rows(net.num_hosts(), sizes, offset)?;
                (rows_of(graph, readers.of(net.host())), readers)
            }
            Input::Generated(spec) => generated_rows(net, spec)?,
            Input::Text(file) => return text_share(net, file),
        };
        let arrays = rows.adjacency.bytes();
        // Edges that come in any order wait as long as the result is being filled.
        let peak_bytes = match self {
            Input::Generated(_) => arrays + waiting_bytes::<()>(rows.adjacency.num_edges()),
            _ => arrays,
        };
        Ok(Share { rows, readers, peak_bytes, ids: OriginalIds::OfInput })
    }

    /// What users call some vertices. Every host must call this.
    pub(crate) fn originals(
        &self,
        net: &mut Net,
        share: &Share,
        vertices: &[u32],
    ) -> Result<Originals> {
        let of = |ids: &Ids| match ids {
            Ids::Range { first, .. } => Originals::Offset(*first),
            Ids::Integers(ids) => {
                Originals::Integers(vertices.iter().map(|&v| ids[v as usize]).collect())
            }
            Ids::Names(names) => {
                let names = vertices.iter().map(|&v| names.get(v as usize));
                Originals::Names(names.collect::<Names>())
            }
        };
        match (&share.ids, self) {
            (OriginalIds::Integers(dictionary), _) => dictionary.look_up(net, vertices),
            (OriginalIds::Names(dictionary), _) => dictionary.look_up(net, vertices),
            (OriginalIds::Offset(first), _) => Ok(Originals::Offset(*first)),
            (OriginalIds::OfInput, Input::Rows(file)) => Ok(of(file.ids())),
            (OriginalIds::OfInput, Input::Whole(graph)) => Ok(of(&graph.ids)),
            (OriginalIds::OfInput, Input::Generated(_) | Input::Text(_)) => {
                Ok(Originals::Offset(0))
            }
        }
    }
}

impl Share {
    fn with(self, ids: OriginalIds) -> Self {
        Share { ids, ..self }
    }

    /// The share, got while so many other bytes were held.
    fn beside(self, bytes: u64) -> Self {
        Share { peak_bytes: self.peak_bytes + bytes, ..self }
    }
}

/// Bytes that edges take in a `CsrBuilder`.
fn waiting_bytes<W>(edges: u64) -> u64 {
    edges * (6 + size_of::<W>() as u64)
}

impl From<Graph> for Input {
    fn from(graph: Graph) -> Self {
        Input::Whole(graph)
    }
}

impl Originals {
    /// What users call the vertex at `place` among these, whose global id is `global`.
    pub fn get(&self, place: usize, global: u64) -> OriginalId<'_> {
        match self {
            Originals::Offset(offset) => OriginalId::Integer(offset + global),
            Originals::Integers(ids) => OriginalId::Integer(ids[place]),
            Originals::Names(names) => OriginalId::Name(names.get(place)),
        }
    }
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

fn rows_of(graph: &Graph, vertices: Range<u32>) -> Rows {
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

/// Generates this host's slice of the edges and trades them for its rows.
fn generated_rows(net: &mut Net, spec: &Spec) -> Result<(Rows, Blocks)> {
    let generator = spec.generator();
    let (hosts, host) = (net.num_hosts() as u128, u128::from(net.host().0));
    let slice = |h: u128| (u128::from(generator.num_edges()) * h / hosts) as u64;
    let mine = slice(host)..slice(host + 1);
    let step = (mine.end - mine.start).div_ceil(SAMPLES_PER_HOST as u64).max(1) as usize;
    let samples = mine.clone().step_by(step).map(|index| generator.edge(index).0 as u32).collect();
    let pieces: Vec<u64> = mine.clone().step_by(EDGES_PER_PIECE as usize).collect();
    traded_rows(net, generator.num_vertices() as u32, samples, &pieces, |&first, deal| {
        let mut edges = Edges::default();
        generator.edges(first..(first + EDGES_PER_PIECE).min(mine.end), &mut edges);
        for (&source, &destination) in edges.sources.iter().zip(&edges.destinations) {
            deal.push(source as u32, destination as u32, ());
        }
    })
}

/// Reads this host's lines, numbers the vertices, and trades edges for rows.
fn text_share(net: &mut Net, file: &TextFile) -> Result<Share> {
    let (slice, slices) = (net.host().index(), net.num_hosts());
    if !file.is_weighted() {
        return numbered(net, file, file.unweighted(slice, slices)?, |()| ());
    }
    let text = file.weighted(slice, slices)?;
    // Weights are integers if they are so on every host.
    let fractions = net.all_reduce(u64::from(!text.whole), |a, b| a + b)?;
    match fractions {
        0 => numbered(net, file, text, u32::from_f64),
        _ => numbered(net, file, text, |weight| weight),
    }
}

fn numbered<W: Weight, V: Weight>(
    net: &mut Net,
    file: &TextFile,
    text: TextSlice<W>,
    convert: impl Fn(W) -> V + Sync,
) -> Result<Share>
where
    Adjacency: From<Csr<V>>,
{
    let count: usize = text.pieces.iter().map(TextPiece::len).sum();
    file.check_rows(net.all_reduce(count as u64, |a, b| a + b)?)?;
    let weights = |piece: &TextPiece<W>| match piece {
        TextPiece::Integers(edges) => edges.weights.iter().map(|&w| convert(w)).collect(),
        TextPiece::Names(_, weights) => weights.iter().map(|&w| convert(w)).collect::<Vec<V>>(),
    };
    // Both ends of each edge in turn, as vertices.
    let integers = |piece: &TextPiece<W>| -> Vec<u64> {
        let TextPiece::Integers(Edges { sources, destinations, .. }) = piece else {
            return Vec::new();
        };
        sources.iter().zip(destinations).flat_map(|(&s, &d)| [s, d]).collect()
    };
    let names = |piece: &TextPiece<W>| -> Vec<Box<[u8]>> {
        let TextPiece::Names(ends, _) = piece else { return Vec::new() };
        ends.iter().map(Box::from).collect()
    };
    let mirrored = file.is_mirrored();
    let pieces = &text.pieces;
    // Both ends of an edge as 64-bit integers, or about as much for names.
    let text_bytes = count as u64 * (16 + size_of::<W>() as u64);
    if let Some(VertexRange { first, count: vertices }) = file.vertices() {
        let ends = |piece: &TextPiece<W>| {
            integers(piece).iter().map(|id| (id - first) as u32).collect::<Vec<_>>()
        };
        let rows = rows_between(net, vertices as u32, pieces, (ends, weights), mirrored)?;
        return Ok(rows.with(OriginalIds::Offset(first)).beside(text_bytes));
    }
    if file.has_names() {
        let (dictionary, known) = Dictionary::build(net, file.name(), pieces.iter().map(names))?;
        let ends = |piece: &TextPiece<W>| {
            names(piece).iter().map(|id| known.vertex(id)).collect::<Vec<_>>()
        };
        let vertices = dictionary.num_vertices();
        let rows = rows_between(net, vertices, pieces, (ends, weights), mirrored)?;
        return Ok(rows.with(OriginalIds::Names(dictionary)).beside(text_bytes));
    }
    let (dictionary, known) = Dictionary::build(net, file.name(), pieces.iter().map(integers))?;
    let ends = |piece: &TextPiece<W>| {
        integers(piece).iter().map(|id| known.vertex(id)).collect::<Vec<_>>()
    };
    let rows = rows_between(net, dictionary.num_vertices(), pieces, (ends, weights), mirrored)?;
    Ok(rows.with(OriginalIds::Integers(dictionary)).beside(text_bytes))
}

/// Trades the edges of pieces of text for rows: `ends` gives the vertices of a piece's edges,
/// source and destination in turn, and `weights` their weights.
fn rows_between<P: Sync, V: Weight>(
    net: &mut Net,
    vertices: u32,
    pieces: &[P],
    (ends, weights): (impl Fn(&P) -> Vec<u32> + Sync, impl Fn(&P) -> Vec<V> + Sync),
    mirrored: bool,
) -> Result<Share>
where
    Adjacency: From<Csr<V>>,
{
    let per_piece = SAMPLES_PER_HOST.div_ceil(pieces.len().max(1));
    let samples = pieces.iter().flat_map(|piece| {
        let ends = ends(piece);
        let step = (ends.len() / 2).div_ceil(per_piece).max(1);
        // Every other end is a source; mirrored edges start at both.
        let step = if mirrored { 2 * step + 1 } else { 2 * step };
        ends.into_iter().step_by(step)
    });
    let samples = samples.collect();
    let (rows, readers) = traded_rows(net, vertices, samples, pieces, |piece, deal| {
        for (ends, weight) in ends(piece).chunks_exact(2).zip(weights(piece)) {
            deal.push(ends[0], ends[1], weight);
            if mirrored && ends[0] != ends[1] {
                deal.push(ends[1], ends[0], weight);
            }
        }
    })?;
    let peak_bytes = rows.adjacency.bytes() + waiting_bytes::<V>(rows.adjacency.num_edges());
    Ok(Share { rows, readers, peak_bytes, ids: OriginalIds::OfInput })
}

/// Edges by the host that takes their row.
struct Deal<'a, W> {
    readers: &'a Blocks,
    edges: Vec<Edges<u32, W>>,
}

impl<W: Weight> Deal<'_, W> {
    #[inline]
    fn push(&mut self, source: u32, destination: u32, weight: W) {
        self.edges[self.readers.owner(source).index()].push(source, destination, weight);
    }

    /// Sources, then destinations, then weights.
    fn into_batches(self) -> Vec<Vec<u8>> {
        let join = |edges: Edges<u32, W>| {
            let weights: &[u8] = match size_of::<W>() {
                0 => &[],
                _ => bytemuck::cast_slice(&edges.weights),
            };
            let ends = [&edges.sources, &edges.destinations].map(|ids| bytemuck::cast_slice(ids));
            [ends[0], ends[1], weights].concat()
        };
        self.edges.into_iter().map(join).collect()
    }
}

/// Sends the edges that `deal_out` finds in each piece to the hosts that take their rows; the rows
/// of this host. `samples` are some sources of its edges, from which cuts between rows are found.
/// Every host must call this.
fn traded_rows<W: Weight, P: Sync>(
    net: &mut Net,
    vertices: u32,
    samples: Vec<u32>,
    pieces: &[P],
    deal_out: impl Fn(&P, &mut Deal<'_, W>) + Sync,
) -> Result<(Rows, Blocks)>
where
    Adjacency: From<Csr<W>>,
{
    let readers = sampled_rows(net, vertices, samples)?;
    let hosts = net.num_hosts();
    let rows = readers.of(net.host());
    let builder = CsrBuilder::<W>::new();
    let mut arrived = vec![0; hosts];
    let make = |piece: &P| {
        let edges = (0..hosts).map(|_| Edges::default()).collect();
        let mut deal = Deal { readers: &readers, edges };
        deal_out(piece, &mut deal);
        deal.into_batches()
    };
    trade(net, CHANNEL, pieces, make, |from, batch| {
        // Batches of one host come in order; the number of the host keeps hosts apart.
        let order = (from.index() << 40) + arrived[from.index()];
        arrived[from.index()] += 1;
        let count = batch.len() / (8 + size_of::<W>());
        let words = |at: usize| batch[4 * at * count..4 * (at + 1) * count].chunks_exact(4);
        let weights = match size_of::<W>() {
            0 => vec![W::default(); count],
            _ => bytemuck::pod_collect_to_vec(&batch[8 * count..]),
        };
        let edges = Edges {
            sources: words(0)
                .map(|id| bytemuck::pod_read_unaligned::<u32>(id) - rows.start)
                .collect(),
            destinations: words(1).map(bytemuck::pod_read_unaligned).collect(),
            weights,
        };
        builder.add(order, &edges);
    })?;
    let csr = builder.build_rows(rows.len(), vertices as usize);
    Ok((Rows { first: u64::from(rows.start), adjacency: csr.into() }, readers))
}

/// Cuts between rows such that each host takes about as many edges, from a sample of sources.
fn sampled_rows(net: &mut Net, vertices: u32, samples: Vec<u32>) -> Result<Blocks> {
    let samples = net.all_gather(bytemuck::cast_slice(&samples).to_vec())?;
    let mut samples: Vec<u32> =
        samples.iter().flat_map(|list| bytemuck::pod_collect_to_vec::<u8, u32>(list)).collect();
    samples.sort_unstable();
    let hosts = net.num_hosts();
    if samples.is_empty() {
        return Ok(Blocks::even(vertices, hosts));
    }
    let mut starts = vec![0];
    for host in 1..hosts {
        let start = samples[samples.len() * host / hosts];
        starts.push(start.max(starts[host - 1]));
    }
    starts.push(vertices);
    Ok(Blocks::new(starts))
}
