//! What hosts partition: every host opens the same input and takes its own rows of it.
//!
//! | input | a host's share | travels |
//! |---|---|---|
//! | `.parton`, `.gr` | pages of its rows, about as many edges as any other host's | nothing |
//! | a generator | a slice of the edges | each edge once, to the host that takes its row |
//! | any other graph | its rows of the graph as it was read | nothing |

use parton_graph::build::{CsrBuilder, Edges};
use parton_graph::csr::MAX_VERTICES;
use parton_graph::formats;
use parton_graph::generate::{Generator, Spec};
use parton_graph::rows::{RowFile, Rows};
use parton_graph::source::Source;
use parton_graph::{Buffer, Csr, Graph, LocalId, with_csr};
use parton_net::Net;

use crate::Result;
use crate::blocks::Blocks;
use crate::trade::trade;

/// A graph to be partitioned.
pub enum Input {
    /// A file whose rows can be read apart.
    Rows(RowFile),
    /// A formula for edges.
    Generated(Spec),
    /// A graph in memory, shared by hosts of one process.
    Whole(Graph),
}

/// Channel of edges on their way to the host that takes their row.
const CHANNEL: u16 = 0x10;
/// Edges generated at a time.
const EDGES_PER_PIECE: u64 = 1 << 18;
/// Sources each host looks at to find cuts between rows.
const SAMPLES_PER_HOST: u64 = 1 << 12;

impl Input {
    /// Opens a generator's spec or a file; a file whose rows cannot be read apart is read whole.
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
        Ok(match RowFile::open(&source, format)? {
            Some(rows) => Input::Rows(rows),
            None => Input::Whole(formats::read(&source, Some(format), &Default::default())?),
        })
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> u64 {
        match self {
            Input::Rows(file) => file.num_vertices(),
            Input::Generated(spec) => spec.generator().num_vertices(),
            Input::Whole(graph) => graph.num_vertices() as u64,
        }
    }

    /// This host's rows, and who has which. Every host must call this.
    pub(crate) fn rows(&self, net: &mut Net) -> Result<(Rows, Blocks)> {
        match self {
            Input::Rows(file) => {
                let offset = |vertex: u64| Ok(file.offset(vertex)?);
                let readers =
                    even_rows(net.num_hosts(), file.num_vertices(), file.num_edges(), offset)?;
                let mine = readers.of(net.host());
                Ok((file.rows(u64::from(mine.start)..u64::from(mine.end))?, readers))
            }
            Input::Whole(graph) => {
                let offsets = graph.adjacency.offsets();
                let offset = |vertex: u64| Ok(offsets[vertex as usize]);
                let (vertices, edges) = (graph.num_vertices() as u64, graph.num_edges());
                let readers = even_rows(net.num_hosts(), vertices, edges, offset)?;
                Ok((rows_of(graph, readers.of(net.host())), readers))
            }
            Input::Generated(spec) => generated_rows(net, spec.generator()),
        }
    }
}

/// Blocks of rows with about equally many edges, and at least with equally many vertices where
/// there are no edges. Any host finds them alone.
fn even_rows(
    hosts: usize,
    vertices: u64,
    edges: u64,
    offset: impl Fn(u64) -> Result<u64>,
) -> Result<Blocks> {
    // A vertex counts as one edge.
    let cost = |vertex: u64| -> Result<u64> { Ok(vertex + offset(vertex)?) };
    let mut starts = vec![0];
    for host in 1..hosts as u64 {
        let goal = ((vertices + edges) as u128 * u128::from(host) / hosts as u128) as u64;
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

fn rows_of(graph: &Graph, vertices: std::ops::Range<u32>) -> Rows {
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
fn generated_rows(net: &mut Net, generator: &dyn Generator) -> Result<(Rows, Blocks)> {
    let (hosts, host) = (net.num_hosts() as u64, u64::from(net.host().0));
    let edges = generator.num_edges();
    let slice = |h: u64| (u128::from(edges) * u128::from(h) / u128::from(hosts)) as u64;
    let mine = slice(host)..slice(host + 1);
    let readers = sampled_rows(net, generator, mine.clone())?;

    let rows = readers.of(net.host());
    let builder = CsrBuilder::<()>::new();
    let mut arrived = vec![0; hosts as usize];
    let pieces: Vec<u64> = mine.clone().step_by(EDGES_PER_PIECE as usize).collect();
    let make = |&first: &u64| {
        by_reader(generator, first..(first + EDGES_PER_PIECE).min(mine.end), &readers)
    };
    trade(net, CHANNEL, &pieces, make, |from, batch| {
        // Batches of one host come in order; the number of the host keeps hosts apart.
        let order = (from.index() << 40) + arrived[from.index()];
        arrived[from.index()] += 1;
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&batch);
        let (sources, destinations) = words.split_at(words.len() / 2);
        let edges = Edges {
            sources: sources.iter().map(|source| source - rows.start).collect(),
            destinations: destinations.to_vec(),
            weights: vec![(); destinations.len()],
        };
        builder.add(order, &edges);
    })?;
    let csr = builder.build_rows(rows.len(), generator.num_vertices() as usize);
    Ok((Rows { first: u64::from(rows.start), adjacency: csr.into() }, readers))
}

/// Cuts between rows such that each host takes about as many edges, from a sample of sources.
fn sampled_rows(
    net: &mut Net,
    generator: &dyn Generator,
    mine: std::ops::Range<u64>,
) -> Result<Blocks> {
    let vertices = generator.num_vertices();
    let step = (mine.end - mine.start).div_ceil(SAMPLES_PER_HOST).max(1) as usize;
    let sources = mine.step_by(step).map(|index| generator.edge(index).0 as u32);
    let samples: Vec<u8> = sources.flat_map(u32::to_le_bytes).collect();
    let mut samples: Vec<u32> = net
        .all_gather(samples)?
        .iter()
        .flat_map(|list| bytemuck::pod_collect_to_vec::<u8, u32>(list))
        .collect();
    samples.sort_unstable();
    if samples.is_empty() {
        return Ok(Blocks::even(vertices as u32, net.num_hosts()));
    }
    // Isolated vertices cost a little too; without them counted the last rows could all be one
    // host's, which only matters for memory and evens out in the partition.
    let hosts = net.num_hosts();
    let mut starts = vec![0];
    for host in 1..hosts {
        let start = samples[samples.len() * host / hosts];
        starts.push(start.max(starts[host - 1]));
    }
    starts.push(vertices as u32);
    Ok(Blocks::new(starts))
}

/// The edges of a slice by the host that takes their row: sources, then destinations.
fn by_reader(
    generator: &dyn Generator,
    piece: std::ops::Range<u64>,
    readers: &Blocks,
) -> Vec<Vec<u8>> {
    let mut edges = Edges::default();
    generator.edges(piece, &mut edges);
    let hosts = readers.num_hosts();
    let (mut sources, mut destinations) = (vec![Vec::new(); hosts], vec![Vec::new(); hosts]);
    for (&source, &destination) in edges.sources.iter().zip(&edges.destinations) {
        let reader = readers.owner(source as u32).index();
        sources[reader].push(source as u32);
        destinations[reader].push(destination as u32);
    }
    let join = |(sources, destinations): (Vec<u32>, Vec<u32>)| -> Vec<u8> {
        [bytemuck::cast_slice(&sources), bytemuck::cast_slice(&destinations)].concat()
    };
    sources.into_iter().zip(destinations).map(join).collect()
}

impl From<Graph> for Input {
    fn from(graph: Graph) -> Self {
        Input::Whole(graph)
    }
}
