//! A host's edges as columns that skip what is empty (doubly compressed columns, DCSC: Buluç, Gilbert, IPDPS'08).
//!
//! A product with few messages (SpMSpV) multiplies only the columns of vertices that have one. Columns are
//! split by the group of their destinations: a *lane* holds, for one group, the columns with an edge to it, and
//! nothing of others. So a tile costs what is in it, not its width, and no memory for what is not.

use std::ops::Range;

use parton_graph::{LocalId, Weight, parallel};
use parton_sync::{AtomicValue, CpuField, Reduction};

use super::VERTICES_PER_TASK;
use super::ordered_push::push;
use super::tiles::Groups;
use crate::state::directions::DirectionRows;
use crate::state::edges::EdgeRows;

/// Looking a column up takes about as long as passing this many of them.
const COLUMNS_PER_LOOKUP: usize = 16;
/// Vertices whose columns a thread finds at a time.
const LOOKUPS_PER_TASK: usize = 1 << 13;

/// Columns with edges to one group of destinations.
struct Lane<W> {
    /// Their vertices, ascending.
    sources: Vec<LocalId>,
    /// Where the edges of each begin, and the end.
    offsets: Vec<u64>,
    ends: Vec<LocalId>,
    weights: Vec<W>,
    /// The first column of each group of sources, and the end.
    firsts: Vec<usize>,
}

/// The part of a lane that some consecutive vertices have.
struct LanePart<W> {
    sources: Vec<LocalId>,
    lengths: Vec<u32>,
    ends: Vec<LocalId>,
    weights: Vec<W>,
}

impl<W> Default for LanePart<W> {
    fn default() -> Self {
        LanePart { sources: vec![], lengths: vec![], ends: vec![], weights: vec![] }
    }
}

/// A host's edges by the end where messages start, in one lane for each group of destinations.
pub(crate) struct Columns<W> {
    lanes: Vec<Lane<W>>,
}

impl<W: Weight> Columns<W> {
    /// The edges of `forward`, which has a row for each of these many proxies.
    #[inline(never)]
    pub(crate) fn new(groups: &Groups, forward: DirectionRows<'_, W>, proxies: usize) -> Self {
        let pieces = parallel::pieces(0..proxies, VERTICES_PER_TASK);
        let mut parts = parallel::map(&pieces, |piece| deal(groups, forward, piece.clone()));
        let of_lane = |lane: usize| {
            let parts = parts.iter_mut().map(|parts| std::mem::take(&mut parts[lane]));
            Lane::new(groups, parts.collect())
        };
        Columns { lanes: (0..groups.len()).map(of_lane).collect() }
    }

    /// For each lane, the groups of sources that it has edges from, ascending.
    #[inline(never)]
    pub(crate) fn tiles(&self) -> Vec<Vec<usize>> {
        let groups = |lane: &Lane<W>| {
            let columns = lane.firsts.windows(2).enumerate();
            columns.filter(|(_, columns)| columns[0] < columns[1]).map(|(group, _)| group).collect()
        };
        self.lanes.iter().map(groups).collect()
    }

    /// Number of edges from a group of sources.
    #[inline(never)]
    pub(crate) fn num_edges(&self, group: usize) -> u64 {
        let in_lane = |lane: &Lane<W>| {
            lane.offsets[lane.firsts[group + 1]] - lane.offsets[lane.firsts[group]]
        };
        self.lanes.iter().map(in_lane).sum()
    }

    /// Multiplies a tile: folds what these vertices of a group of sources send along their edges into the
    /// accumulators of a lane. `active` ascend; `sends` says what one of them sends along an edge. Returns the
    /// number of edges.
    pub(crate) fn multiply<R: Reduction<Value: AtomicValue>, A: Fn(W) -> R::Value>(
        &self,
        (lane, group): (usize, usize),
        active: &[LocalId],
        accumulators: &CpuField<R>,
        sends: impl Fn(LocalId) -> A + Sync,
    ) -> u64 {
        let lane = &self.lanes[lane];
        let columns = lane.columns_of(active, lane.firsts[group]..lane.firsts[group + 1]);
        let rows = lane.rows();
        let edges = columns.iter().map(|&column| rows.degree(column)).sum();
        push(accumulators, rows, (&columns, edges), |column| sends(lane.sources[column.index()]));
        edges
    }
}

/// The edges of some vertices, by lane.
fn deal<W: Weight>(
    groups: &Groups,
    forward: DirectionRows<'_, W>,
    vertices: Range<usize>,
) -> Vec<LanePart<W>> {
    let mut parts: Vec<LanePart<W>> = (0..groups.len()).map(|_| LanePart::default()).collect();
    for vertex in vertices.map(|vertex| LocalId(vertex as u32)) {
        let visit = |end, weight| {
            let part = &mut parts[groups.of(end)];
            if part.sources.last() != Some(&vertex) {
                part.sources.push(vertex);
                part.lengths.push(0);
            }
            *part.lengths.last_mut().expect("of this column") += 1;
            part.ends.push(end);
            part.weights.push(weight);
        };
        forward.each(vertex, |_| (), visit);
    }
    parts
}

impl<W: Weight> Lane<W> {
    fn new(groups: &Groups, mut parts: Vec<LanePart<W>>) -> Self {
        let sources: Vec<LocalId> = joined(&mut parts, |part| &mut part.sources);
        let lengths = joined(&mut parts, |part| &mut part.lengths);
        let ends = joined(&mut parts, |part| &mut part.ends);
        let weights = joined(&mut parts, |part| &mut part.weights);
        let offsets = parallel::prefix_sums(lengths.len(), |column| u64::from(lengths[column]));
        let first = |group: usize| {
            let end = if group < groups.len() { groups.range(group).start } else { u32::MAX };
            sources.partition_point(|source| source.0 < end)
        };
        let firsts = (0..=groups.len()).map(first).collect();
        Lane { sources, offsets, ends, weights, firsts }
    }

    /// Rows numbered like columns.
    fn rows(&self) -> DirectionRows<'_, W> {
        EdgeRows::from_parts(&self.offsets, &self.ends, &self.weights).into()
    }

    /// Those of some columns whose vertices are active, both ascending.
    #[inline(never)]
    fn columns_of(&self, active: &[LocalId], columns: Range<usize>) -> Vec<LocalId> {
        let tasks: Vec<_> = active.chunks(LOOKUPS_PER_TASK).collect();
        let find = |vertices: &&[LocalId]| {
            let sources = &self.sources[columns.clone()];
            let first = sources.partition_point(|source| *source < vertices[0]);
            let end = sources.partition_point(|source| *source <= vertices[vertices.len() - 1]);
            let (sources, at) = (&sources[first..end], columns.start + first);
            let column = |place: usize| LocalId((at + place) as u32);
            if vertices.len() * COLUMNS_PER_LOOKUP < sources.len() {
                let places =
                    vertices.iter().filter_map(|vertex| sources.binary_search(vertex).ok());
                return places.map(column).collect();
            }
            let (mut found, mut vertices) = (Vec::new(), vertices.iter().peekable());
            for (place, source) in sources.iter().enumerate() {
                while vertices.next_if(|vertex| *vertex < source).is_some() {}
                if vertices.next_if(|vertex| *vertex == source).is_some() {
                    found.push(column(place));
                }
            }
            found
        };
        parallel::concat(&parallel::map(&tasks, find))
    }
}

/// A list of each part, one after another. Takes them out of the parts.
fn joined<W, T: Copy + Send + Sync>(
    parts: &mut [LanePart<W>],
    list: impl Fn(&mut LanePart<W>) -> &mut Vec<T>,
) -> Vec<T> {
    let lists: Vec<_> = parts.iter_mut().map(|part| std::mem::take(list(part))).collect();
    parallel::concat(&lists)
}

#[cfg(test)]
mod tests {
    use parton_graph::{Adjacency, Csr};
    use parton_sync::reduction::Sum;

    use super::*;
    use crate::state::directions::Directions;
    use crate::state::edges::EdgeView;

    /// Every tile gets the edges of its active columns and no others, whether few or many are active.
    #[test]
    fn tiles_hold_the_edges_between_their_groups() {
        let vertices = 300u32;
        let edge = |i: u32| (i * 7 % 200, (i * i + i / 3) % vertices, i % 5);
        let edges: Vec<_> = (0..2000).map(edge).collect();
        let adjacency = Adjacency::from(Csr::from_edges(vertices as usize, &edges));
        let forward = Directions::from(EdgeView::<u32>::new(&adjacency));
        let groups = Groups::from_firsts(vec![0, 120, 120, 180, 300]);
        let columns = Columns::new(&groups, forward.rows(), vertices as usize);
        let tiles = columns.tiles();
        assert_eq!(tiles, [vec![0, 2, 3], vec![], vec![0, 2, 3], vec![0, 2, 3]]);
        for step in [1usize, 3, 50] {
            let sums = CpuField::<Sum<u64>>::accumulator(vertices as usize);
            let mut visited = 0;
            for (lane, tiles) in tiles.iter().enumerate() {
                for &group in tiles {
                    let active: Vec<_> = groups.range(group).step_by(step).map(LocalId).collect();
                    let sends = |vertex: LocalId| {
                        move |weight| u64::from(vertex.0) * 10 + u64::from(weight)
                    };
                    visited += columns.multiply((lane, group), &active, &sums, sends);
                }
            }
            let is_active = |vertex: u32| {
                let group = groups.of(LocalId(vertex));
                (vertex - groups.range(group).start).is_multiple_of(step as u32)
            };
            let mut expected = vec![0; vertices as usize];
            for &(source, end, weight) in edges.iter().filter(|edge| is_active(edge.0)) {
                expected[end as usize] += u64::from(source) * 10 + u64::from(weight);
            }
            if step == 1 {
                let all: u64 = (0..groups.len()).map(|group| columns.num_edges(group)).sum();
                assert_eq!(visited, all);
            }
            assert_eq!(visited, edges.iter().filter(|edge| is_active(edge.0)).count() as u64);
            for (vertex, sum) in expected.into_iter().enumerate() {
                assert_eq!(sums.get(LocalId(vertex as u32)), sum, "vertex {vertex}, step {step}");
            }
        }
    }
}
