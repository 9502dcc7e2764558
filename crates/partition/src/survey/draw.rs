//! Drawing a sample of edges from an input: slices at even distances, or the beginning of a text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::build::EdgeBatch;
use parton_graph::edge_file::{EdgeFile, Mirror, Slice, WeightRule};
use parton_graph::generate::Generator;
use parton_graph::id_list::{IdList, NameList};
use parton_graph::progress::{Progress, Unit};
use parton_graph::rows::{RowFile, Rows};
use parton_graph::{Graph, LocalId, with_csr};
use rayon::prelude::*;

use crate::Result;

/// Edges of a slice of rows or of a generator.
pub(super) const EDGES_PER_SLICE: u64 = 1 << 11;

/// Sampled edges, between vertices that are numbered anew in their order.
pub(super) struct Drawn {
    pub(super) edges: Vec<(u32, u32)>,
    /// Edges that were read, before any was mirrored.
    pub(super) listed: usize,
    /// Vertices of the sample, and of the input if it says.
    pub(super) vertices: u32,
    pub(super) all_vertices: Option<u64>,
    pub(super) rate: f64,
    pub(super) has_whole_rows: bool,
    pub(super) weight_bytes: usize,
    pub(super) name_bytes: f64,
}

/// Starts of slices at even distances.
fn slices(all: u64, max: u64) -> impl Iterator<Item = Range<u64>> {
    let count = (max / EDGES_PER_SLICE).max(1);
    (0..count).map(move |slice| {
        let start = (u128::from(all) * u128::from(slice) / u128::from(count)) as u64;
        start..all.min(start + EDGES_PER_SLICE)
    })
}

pub(super) fn of_generated(generator: &dyn Generator, max_edges: u64) -> Drawn {
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

pub(super) fn of_rows(file: &RowFile, max_edges: u64) -> Result<Drawn> {
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

pub(super) fn of_graph(graph: &Graph, max_edges: u64) -> Drawn {
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
    fn stage(&self, _: &str, _: Unit, total: Option<u64>) {
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Pieces read at once, and for a sample that a single one has.
const PIECES: usize = 4;
const EDGES_OF_A_PIECE: u64 = 1 << 17;
/// Bytes of text in a byte of a packed file: between 3 and 5 in lists of edges.
const UNPACKED_PER_BYTE: f64 = 4.0;

/// The beginning of a file, of which `packed_bytes` are stored if it is packed.
pub(super) fn of_pieces(
    file: &dyn EdgeFile,
    packed_bytes: Option<u64>,
    max_edges: u64,
) -> Result<Drawn> {
    let shape = file.shape();
    let progress = ReadSoFar::default();
    let mut reader = file.pieces(Slice::WHOLE, &[], &progress)?;
    let found =
        Mutex::new((IdList::new(shape.names), IdList::new(shape.names), IdList::new(shape.names)));
    let weights = AtomicU64::new(0);
    let pieces = if max_edges <= EDGES_OF_A_PIECE { 1 } else { PIECES };
    let mut is_all = false;
    while !is_all {
        is_all = !reader.read(pieces, &|piece| {
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
    let (mut sources, mut destinations, listed) =
        found.into_inner().expect("no thread panicked holding this lock");
    let [total, done] = [&progress.total, &progress.done].map(|n| n.load(Ordering::Relaxed) as f64);
    let total = packed_bytes.map_or(total, |packed| UNPACKED_PER_BYTE * packed as f64);
    let read = if is_all || total <= 0.0 { 1.0 } else { (done / total).clamp(1e-6, MOST_IN_PART) };
    let seen = sources.len();
    if seen as u64 > 2 * max_edges {
        shorten(&mut sources, max_edges as usize);
        shorten(&mut destinations, max_edges as usize);
    }
    let count = sources.len();
    let rate = read * count as f64 / seen.max(1) as f64;
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
    let weight_bytes = match shape.weights {
        WeightRule::F32 => 4,
        WeightRule::F64 => 8,
        _ => weights.into_inner() as usize,
    };
    let drawn = Drawn::new_with(edges, listed, rate, is_ordered);
    let drawn = Drawn { listed: count, weight_bytes, name_bytes, ..drawn };
    Ok(match shape.vertices {
        Some(range) => drawn.of(range.count),
        None => drawn,
    })
}

/// What has been read of a file that goes on is no more than this part, however well it was packed.
const MOST_IN_PART: f64 = 0.99;

/// Keeps the first ids of a list.
fn shorten(list: &mut IdList, len: usize) {
    match list {
        IdList::Integers(ids) => ids.truncate(len),
        IdList::Names(names) => {
            let mut kept = NameList::default();
            names.iter().take(len).for_each(|name| kept.push(name));
            *names = kept;
        }
    }
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

/// Numbers the ends of edges anew, in the order of their ids, and returns how many there are with those listed.
/// Sorting takes memory and time that follow the sample, however large ids are.
fn number_anew(edges: &mut [(u32, u32)], listed: &[u32]) -> u32 {
    let ends = edges.iter().flat_map(|&(source, destination)| [source, destination]);
    let mut by_id: Vec<(u32, u32)> = ends.chain(listed.iter().copied()).zip(0..).collect();
    by_id.par_sort_unstable();
    let (mut count, mut last) = (0, None);
    for (id, place) in by_id {
        if last.replace(id) != Some(id) {
            count += 1;
        }
        if let Some(edge) = edges.get_mut(place as usize / 2) {
            *(if place % 2 == 0 { &mut edge.0 } else { &mut edge.1 }) = count - 1;
        }
    }
    count
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
        let vertices = number_anew(&mut edges, &listed);
        let all_vertices = (rate >= 1.0).then_some(vertices.into());
        Drawn {
            listed: edges.len(),
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;
    use crate::{Input, Survey};

    #[test]
    fn a_packed_text_has_more_than_its_beginning() {
        const EDGES: u64 = 700_000;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("g.txt.gz");
        let file = File::create(&path).expect("a file");
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        let lines: String =
            (0..EDGES).map(|i| format!("{} {}\n", i / 8, i / 8 * 7 % 90_001 + i % 8)).collect();
        file.write_all(lines.as_bytes()).expect("lines");
        file.finish().expect("an end");
        let input = Input::open(path.to_str().expect("a name")).expect("an input");
        let survey = Survey::of(&input, 1 << 14).expect("a survey");
        assert_eq!(survey.sampled_edges().num_edges(), 1 << 14);
        let edges = survey.listed_edges / EDGES as f64;
        assert!(!survey.is_exact() && (0.5..2.0).contains(&edges), "{edges}");
        assert!(Survey::of(&input, 2 * EDGES).expect("a survey").is_exact());
    }

    #[test]
    fn ends_are_numbered_in_the_order_of_their_ids() {
        let mut edges = [(4_000_000_000, 7), (7, 9), (2, 4_000_000_000)];
        assert_eq!(number_anew(&mut edges, &[5, 7, 10]), 6);
        assert_eq!(edges, [(5, 2), (2, 3), (0, 5)]);
        assert_eq!(number_anew(&mut [], &[]), 0);
    }
}
