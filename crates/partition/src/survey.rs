//! What is known of an input before hosts partition it: its size, and a sample of its edges.
//!
//! A small input is its own sample. Of a larger one a survey takes slices at even distances (of rows, or of a
//! generator's edges), or the beginning of a text. Memory and time follow the sample, never the input. Estimates
//! of what grows slower than the edges (vertices, mirrors) follow the curve of two thinner samples: see [`Growth`].

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::build::EdgeBatch;
use parton_graph::edge_file::{EdgeFile, Mirror, Slice, WeightRule};
use parton_graph::generate::Generator;
use parton_graph::hash::splitmix64;
use parton_graph::id_list::IdList;
use parton_graph::progress::Progress;
use parton_graph::rows::{RowFile, Rows};
use parton_graph::{Adjacency, Csr, Direction, Graph, LocalId, with_csr};
use parton_net::Cluster;

use crate::id_set::IdSet;
use crate::input::Content;
use crate::policy::Reads;
use crate::{Error, Fit, Input, Result};

/// What is known of an input before hosts partition it.
pub struct Survey {
    /// Number of vertices, estimated unless the sample is everything.
    pub vertices: f64,
    /// Number of edges that hosts will have in all.
    pub edges: f64,
    /// Number of edges that the input lists.
    pub listed_edges: f64,
    /// Which part of the edges was sampled: 1 if all were.
    pub rate: f64,
    /// How the input keeps its edges.
    pub storage: Storage,
    /// Bytes of a weight.
    pub weight_bytes: usize,
    /// Whether every edge is there in both directions.
    pub is_symmetric: bool,
    /// Whether rows had to be changed to fit.
    pub is_changed: bool,
    /// Bytes of names, per vertex; 0 where ids are numbers.
    pub name_bytes: f64,
    /// The greatest number of out-edges of a sampled vertex.
    pub max_degree: u64,
    /// Sampled edges by source, and by destination with their places in the former.
    pub(crate) rows: Rows,
    pub(crate) by_destination: Csr<u32>,
    /// Whether whole rows were sampled; else edges wherever they are.
    pub(crate) has_whole_rows: bool,
}

/// How an input keeps its edges, which decides what reading takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Rows as they are in memory, in a mapped file; and whether in-edges lie beside them.
    Rows {
        /// Whether the file has in-edges.
        has_in_edges: bool,
    },
    /// A formula.
    Generated,
    /// Edges between original ids.
    Edges {
        /// Whether ids must be numbered.
        has_dictionary: bool,
    },
    /// A graph in memory.
    Whole,
}

/// Edges of a slice of rows or of a generator.
const EDGES_PER_SLICE: u64 = 1 << 11;

/// Sampled edges, between vertices that are numbered anew in their order.
struct Drawn {
    edges: Vec<(u32, u32)>,
    /// Vertices of the sample, and of the input if it says.
    vertices: u32,
    all_vertices: Option<u64>,
    rate: f64,
    has_whole_rows: bool,
    weight_bytes: usize,
    name_bytes: f64,
}

impl Survey {
    /// A survey of an input that looks at no more than about this many edges.
    pub fn of(input: &Input, max_edges: u64) -> Result<Self> {
        let max_edges = max_edges.max(EDGES_PER_SLICE);
        let drawn = match (&input.content, input.size()) {
            (Content::Edges(file), _) => Some(draw_pieces(&**file, max_edges)?),
            (_, Some((vertices, edges))) if edges.saturating_add(vertices) <= 2 * max_edges => None,
            (Content::Generated(spec), _) => Some(draw_generated(spec.generator(), max_edges)),
            (Content::Rows(file), _) => Some(draw_rows(file, max_edges)?),
            (Content::Whole(graph), _) => Some(draw_graph(graph, max_edges)),
        };
        let storage = match &input.content {
            Content::Rows(file) => Storage::Rows { has_in_edges: file.has_in_rows() },
            Content::Generated(_) => Storage::Generated,
            Content::Whole(_) => Storage::Whole,
            Content::Edges(file) => {
                Storage::Edges { has_dictionary: file.shape().vertices.is_none() }
            }
        };
        match drawn {
            None => Self::of_all(input, storage),
            Some(drawn) => Self::of_drawn(input, drawn, storage),
        }
    }

    /// A survey that reads everything.
    fn of_all(input: &Input, storage: Storage) -> Result<Self> {
        let (rows, is_symmetric, is_changed) = rows_of(input)?;
        let listed = input.size().map_or(rows.adjacency.num_edges(), |(_, edges)| edges);
        let vertices = rows.adjacency.num_vertices() as f64;
        let weight_bytes = rows.adjacency.weight_kind().bytes();
        let edges = rows.adjacency.num_edges() as f64;
        Ok(Survey {
            edges,
            listed_edges: listed as f64,
            weight_bytes,
            is_symmetric,
            is_changed,
            ..Self::new(rows, vertices, storage)
        })
    }

    /// A survey of an input of which some edges have been drawn.
    fn of_drawn(input: &Input, drawn: Drawn, storage: Storage) -> Result<Self> {
        let Drawn { edges, vertices, all_vertices, rate, has_whole_rows, .. } = drawn;
        let sampled = edges.len() as f64;
        let weighted: Vec<(u32, u32, ())> = edges.iter().map(|&(u, v)| (u, v, ())).collect();
        let is_symmetric = input.is_symmetric();
        let csr = Csr::from_edges(vertices as usize, &weighted);
        let grown = match all_vertices {
            Some(vertices) => vertices as f64,
            None => {
                let seen = |share: u32| {
                    let ids = IdSet::new(vertices);
                    let kept = edges.iter().filter(|edge| is_kept(edge.0, edge.1, has_whole_rows, share));
                    kept.for_each(|&(u, v)| [u, v].into_iter().for_each(|id| ids.insert(id)));
                    ids.ranked().len() as f64
                };
                Growth([seen(0), seen(1), seen(2)]).at(rate)
            }
        };
        let mut graph = Graph::dense(csr, "");
        // A sample of edges in both directions need not have both of each.
        let asks_mirrors = input.lacks_mirrors() || input.fit.undirected && !is_symmetric;
        if is_symmetric && rate >= 1.0 {
            graph.direction = Direction::Undirected;
        }
        let fit = Fit { undirected: asks_mirrors, ..input.fit };
        let (rows, _, is_changed) = rows_of(&Input::from(graph).fitted(fit))?;
        let edges = rows.adjacency.num_edges() as f64 / rate;
        let keeps_weights = input.fit.weights;
        Ok(Survey {
            edges,
            listed_edges: sampled / rate,
            rate,
            has_whole_rows,
            weight_bytes: if keeps_weights { drawn.weight_bytes } else { 0 },
            is_symmetric: is_symmetric || asks_mirrors,
            is_changed,
            name_bytes: drawn.name_bytes,
            ..Self::new(rows, grown, storage)
        })
    }

    fn new(rows: Rows, vertices: f64, storage: Storage) -> Self {
        let adjacency = rows.adjacency.unweighted();
        let (offsets, targets) = (adjacency.offsets(), adjacency.all_targets());
        let places: Vec<u32> = (0..targets.len() as u32).collect();
        let placed = Csr::from_parts(offsets.to_vec().into(), targets.to_vec().into(), places.into());
        let max_degree = offsets.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0);
        Survey {
            vertices,
            edges: 0.0,
            listed_edges: 0.0,
            rate: 1.0,
            storage,
            weight_bytes: 0,
            is_symmetric: false,
            is_changed: false,
            name_bytes: 0.0,
            max_degree,
            by_destination: placed.transposed(),
            rows: Rows { first: 0, adjacency },
            has_whole_rows: true,
        }
    }

    /// The sampled edges, without weights, between vertices that are numbered anew.
    pub fn sampled_edges(&self) -> Adjacency {
        self.rows.adjacency.clone()
    }

    /// Whether the sample is everything.
    pub fn is_exact(&self) -> bool {
        self.rate >= 1.0
    }

    /// Whether an edge belongs to the sample that is thinner by this power of two.
    pub(crate) fn keeps(&self, source: u32, destination: u32, thinner: u32) -> bool {
        is_kept(source, destination, self.has_whole_rows, thinner)
    }
}

/// Whether an edge belongs to a sample that is thinner by a power of two: whole rows do, or single edges.
fn is_kept(source: u32, destination: u32, has_whole_rows: bool, thinner: u32) -> bool {
    let unit = u64::from(source) | if has_whole_rows { 0 } else { u64::from(destination) << 32 };
    thinner == 0 || splitmix64(unit) >> (64 - thinner) == 0
}

/// The rows of an input as a host that is alone has them; whether edges have mirror images, and whether rows
/// had to be changed.
fn rows_of(input: &Input) -> Result<(Rows, bool, bool)> {
    let threads = rayon::current_num_threads();
    let mut alone = Cluster::local(1).threads_per_host(threads);
    let shares = alone.launch(|net| input.share(net, Reads::OutEdges));
    let share = shares.map_err(|error| match error {
        parton_net::LaunchError::Failed { error, .. } => error,
        other => Error::request(other.to_string()),
    })?;
    let share = share.into_iter().next().expect("one host");
    let is_changed = share.changes.iter().any(|change| !change.starts_with("weights"));
    Ok((share.rows, share.is_symmetric, is_changed))
}

/// A quantity in a sample, in one of half its edges, and in one of a quarter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth(pub(crate) [f64; 3]);

impl Growth {
    /// The quantity in the whole, of which the sample has a part of `rate`: its growth from one doubling to the
    /// next falls as it fell between the samples, and never below nothing or above doubling.
    pub(crate) fn at(self, rate: f64) -> f64 {
        let [whole, half, quarter] = self.0;
        if rate >= 1.0 || whole <= 0.0 {
            return whole;
        }
        let slope = |more: f64, less: f64| (more / less.max(1.0)).max(1.0).log2().clamp(0.0, 1.0);
        let (last, before) = (slope(whole, half), slope(half, quarter));
        let fall = (before - last).max(0.0);
        let (mut doublings, mut slope, mut exponent) = ((1.0 / rate).log2(), last, 0.0);
        while doublings > 0.0 && slope > 0.0 {
            slope = (slope - fall).max(0.0);
            exponent += slope * f64::min(doublings, 1.0);
            doublings -= 1.0;
        }
        whole * exponent.exp2()
    }
}

/// Starts of slices at even distances.
fn slices(all: u64, max: u64) -> impl Iterator<Item = Range<u64>> {
    let count = (max / EDGES_PER_SLICE).max(1);
    (0..count).map(move |slice| {
        let start = (u128::from(all) * u128::from(slice) / u128::from(count)) as u64;
        start..all.min(start + EDGES_PER_SLICE)
    })
}

fn draw_generated(generator: &dyn Generator, max_edges: u64) -> Drawn {
    let all = generator.num_edges();
    let mut batch = EdgeBatch::default();
    let mut is_ordered = true;
    for slice in slices(all, max_edges) {
        let start = batch.sources.len();
        generator.edges(slice, &mut batch);
        is_ordered &= batch.sources[start..].is_sorted();
    }
    let edges = batch.sources.iter().zip(&batch.destinations);
    let edges = edges.map(|(&source, &destination)| (source as u32, destination as u32)).collect();
    let rate = batch.sources.len() as f64 / all as f64;
    Drawn::new(edges, rate, is_ordered).of(generator.num_vertices())
}

fn draw_rows(file: &RowFile, max_edges: u64) -> Result<Drawn> {
    let (vertices, all) = (file.num_vertices(), file.num_edges());
    let mut edges = Vec::new();
    let mut weight_bytes = 0;
    let mut end = 0;
    for slice in slices(all, max_edges) {
        let row = |edge: u64| first_row(vertices, edge, |vertex| Ok(file.offset(vertex)?));
        let first = row(slice.start)?.max(end);
        // One huge row is enough for a slice.
        end = row(slice.end)?.max(first + 1).min(vertices);
        if first >= end {
            continue;
        }
        let rows = file.rows(first..end)?;
        weight_bytes = rows.adjacency.weight_kind().bytes();
        append(&mut edges, &rows);
    }
    let rate = edges.len() as f64 / all.max(1) as f64;
    Ok(Drawn { weight_bytes, ..Drawn::new(edges, rate, true).of(vertices) })
}

fn draw_graph(graph: &Graph, max_edges: u64) -> Drawn {
    let (vertices, all) = (graph.num_vertices() as u64, graph.num_edges());
    let offsets = graph.adjacency.offsets();
    let targets = graph.adjacency.all_targets();
    let mut edges = Vec::new();
    let mut end = 0;
    for slice in slices(all, max_edges) {
        let row = |edge: u64| offsets.partition_point(|&offset| offset <= edge).max(1) - 1;
        let first = row(slice.start).max(end);
        end = row(slice.end).max(first + 1).min(vertices as usize);
        for vertex in first..end {
            let ends = &targets[offsets[vertex] as usize..offsets[vertex + 1] as usize];
            edges.extend(ends.iter().map(|target| (vertex as u32, target.0)));
        }
    }
    let rate = edges.len() as f64 / all.max(1) as f64;
    let weight_bytes = graph.adjacency.weight_kind().bytes();
    Drawn { weight_bytes, ..Drawn::new(edges, rate, true).of(vertices) }
}

/// The row that an edge is in.
fn first_row(vertices: u64, edge: u64, offset: impl Fn(u64) -> Result<u64>) -> Result<u64> {
    let (mut low, mut high) = (0, vertices);
    while low < high {
        let middle = low + (high - low) / 2;
        match offset(middle + 1)? <= edge {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low)
}

fn append(edges: &mut Vec<(u32, u32)>, rows: &Rows) {
    let first = rows.first as u32;
    with_csr!(&rows.adjacency, csr => {
        for row in csr.vertices() {
            let source = first + row.0;
            edges.extend(csr.targets(row).iter().map(|&LocalId(target)| (source, target)));
        }
    });
}

/// How much of an input has been read.
#[derive(Default)]
struct ReadSoFar {
    total: AtomicU64,
    done: AtomicU64,
}

impl Progress for ReadSoFar {
    fn stage(&self, _: &str, total: Option<u64>) {
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Pieces read at once.
const PIECES: usize = 4;

fn draw_pieces(file: &dyn EdgeFile, max_edges: u64) -> Result<Drawn> {
    let shape = file.shape();
    let progress = ReadSoFar::default();
    let mut reader = file.pieces(Slice::WHOLE, &[], &progress)?;
    let found = Mutex::new((IdList::new(shape.names), IdList::new(shape.names), IdList::new(shape.names)));
    let weights = AtomicU64::new(0);
    let mut is_all = false;
    while !is_all {
        is_all = !reader.read(PIECES, &|piece| {
            let mut found = found.lock().expect("no thread panicked holding this lock");
            found.0.append(&mut piece.sources);
            found.1.append(&mut piece.destinations);
            found.2.append(&mut piece.listed);
            let bytes = match (piece.weights.is_empty(), piece.is_whole) {
                (true, _) => 0,
                (false, true) => 4,
                (false, false) => 8,
            };
            weights.fetch_max(bytes, Ordering::Relaxed);
            Ok(())
        })?;
        let seen = found.lock().expect("no thread panicked holding this lock").0.len() as u64;
        if seen >= max_edges {
            break;
        }
    }
    let (sources, destinations, listed) =
        found.into_inner().expect("no thread panicked holding this lock");
    let [total, done] = [&progress.total, &progress.done].map(|n| n.load(Ordering::Relaxed) as f64);
    let rate = if is_all || total <= 0.0 { 1.0 } else { (done / total).clamp(1e-6, 1.0) };
    let count = sources.len();
    let name_bytes = match &sources {
        IdList::Names(names) => {
            let bytes: usize = names.iter().take(count).map(<[u8]>::len).sum();
            bytes as f64 / count.max(1) as f64
        }
        IdList::Integers(_) => 0.0,
    };
    let [sources, destinations, listed] = numbered([sources, destinations, listed]);
    let mut edges: Vec<(u32, u32)> = sources.into_iter().zip(destinations).collect();
    if matches!(shape.mirror, Mirror::Same | Mirror::Negated) {
        let mirrored: Vec<_> = edges.iter().filter(|(u, v)| u != v).map(|&(u, v)| (v, u)).collect();
        edges.extend(mirrored);
    }
    let is_ordered = rate < 1.0 && edges.is_sorted_by_key(|edge| edge.0);
    let drawn = Drawn::new_with(edges, listed, rate, is_ordered);
    let weight_bytes = match shape.weights {
        WeightRule::F32 => 4,
        WeightRule::F64 => 8,
        _ => weights.into_inner() as usize,
    };
    let drawn = Drawn { weight_bytes, name_bytes, ..drawn };
    Ok(match shape.vertices {
        Some(range) => drawn.of(range.count),
        None => drawn,
    })
}

/// Numbers for original ids, in their order.
fn numbered(lists: [IdList; 3]) -> [Vec<u32>; 3] {
    match &lists {
        [IdList::Integers(_), ..] => {
            let ids = lists.each_ref().map(|list| match list {
                IdList::Integers(ids) => &ids[..],
                IdList::Names(_) => &[],
            });
            let mut all = ids.concat();
            all.sort_unstable();
            all.dedup();
            let number = |id: &u64| all.binary_search(id).expect("an id of the list") as u32;
            ids.map(|ids| ids.iter().map(number).collect())
        }
        _ => {
            let names = lists.each_ref().map(|list| match list {
                IdList::Names(names) => names.iter().collect::<Vec<_>>(),
                IdList::Integers(_) => Vec::new(),
            });
            let mut all = names.concat();
            all.sort_unstable();
            all.dedup();
            let numbers: HashMap<&[u8], u32> = all.into_iter().zip(0..).collect();
            names.map(|names| names.iter().map(|name| numbers[name]).collect())
        }
    }
}

impl Drawn {
    fn new(edges: Vec<(u32, u32)>, rate: f64, has_whole_rows: bool) -> Self {
        Self::new_with(edges, Vec::new(), rate, has_whole_rows)
    }

    /// The edges with their vertices numbered anew; `listed` vertices need not have edges.
    fn new_with(
        mut edges: Vec<(u32, u32)>,
        listed: Vec<u32>,
        rate: f64,
        has_whole_rows: bool,
    ) -> Self {
        let ends = edges.iter().flat_map(|&(u, v)| [u, v]).chain(listed.iter().copied());
        let universe = ends.clone().max().map_or(0, |last| last.saturating_add(1));
        let ids = IdSet::new(universe);
        ends.for_each(|id| ids.insert(id));
        let ids = ids.ranked();
        for (source, destination) in &mut edges {
            *source = ids.rank(*source) as u32;
            *destination = ids.rank(*destination) as u32;
        }
        let (vertices, all_vertices) = (ids.len() as u32, (rate >= 1.0).then_some(ids.len() as u64));
        Drawn {
            edges,
            vertices,
            all_vertices,
            rate,
            has_whole_rows,
            weight_bytes: 0,
            name_bytes: 0.0,
        }
    }

    fn of(self, vertices: u64) -> Self {
        Drawn { all_vertices: Some(vertices), ..self }
    }
}
