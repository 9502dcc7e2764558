//! Edges that wait in groups of buckets → [`Csr`]: see [`super`].
//!
//! A bucket is placed by one thread. One that holds far more edges than others would keep all threads waiting,
//! as the low ids of a skewed graph do. It is cut into ranges of ids, each with about as many edges as a thread's
//! share. Threads then read all sources of the bucket, but place only the edges of their range.

use std::ops::Range;
use std::sync::Arc;

use super::groups::{BUCKET_VERTICES, GROUP_BUCKETS, Group};
use super::split_off_front;
use crate::huge;
use crate::parallel;
use crate::weight::Weight;
use crate::{Csr, LocalId};

/// Buckets of fewer edges are not cut.
const MIN_EDGES_TO_CUT: usize = 1 << 16;

/// What ids can be: sources are below `sources` and make `rows` rows, vertices that edges lead to
/// are below `destinations`.
#[derive(Clone, Copy)]
pub(super) struct Universe {
    pub(super) sources: usize,
    pub(super) rows: usize,
    pub(super) destinations: usize,
}

/// Ids that one thread places: those of a bucket, or some of them.
struct IdRange {
    bucket: usize,
    ids: Range<usize>,
    edges: usize,
    /// How many edges start at each id of the bucket, if it was cut.
    counts: Option<Arc<Vec<u64>>>,
}

/// Where the vertices and edges of a range of ids go.
struct Slot<'a, V> {
    range: IdRange,
    first_edge: u64,
    /// End offsets of the vertices.
    offsets: &'a mut [u64],
    targets: &'a mut [LocalId],
    weights: &'a mut [V],
}

/// Places every edge. `first_vertex(id)` is the number of rows below `id`, `vertex(id)` the
/// vertex that `id` names as a destination.
pub(super) fn place<W: Weight, V: Weight>(
    groups: Vec<Group<W>>,
    universe: Universe,
    first_vertex: impl Fn(usize) -> usize + Sync,
    vertex: impl Fn(u32) -> u32 + Sync,
    convert: impl Fn(W) -> V + Sync,
) -> Csr<V> {
    let ranges = ranges(&groups, universe.sources);
    let num_edges = ranges.iter().map(|range| range.edges).sum();

    // Zeroed by the system, page by page as they are first touched.
    let mut offsets: Vec<u64> = huge::zeroed_vec(universe.rows + 1);
    let mut targets: Vec<LocalId> = huge::zeroed_vec(num_edges);
    let mut weights: Vec<V> = huge::zeroed_vec(num_edges);

    // Every range gets its own windows of the three arrays, so threads never meet.
    let (_, mut free_offsets) = offsets.split_at_mut(1);
    let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
    let mut first_edge = 0;
    let slots = ranges.into_iter().map(|range| {
        let (rows, edges) =
            (first_vertex(range.ids.end) - first_vertex(range.ids.start), range.edges);
        first_edge += edges as u64;
        Slot {
            range,
            first_edge: first_edge - edges as u64,
            offsets: split_off_front(&mut free_offsets, rows),
            targets: split_off_front(&mut free_targets, edges),
            weights: split_off_front(&mut free_weights, edges),
        }
    });

    // Group after group, the largest range of a group first. No thread waits for the last range of a group; the
    // thread that places it frees the group.
    let mut slots = slots.peekable();
    let mut groups = groups.into_iter();
    let mut tasks = Vec::new();
    while let Some(slot) = slots.peek() {
        let number = slot.range.bucket / GROUP_BUCKETS;
        let group = Arc::new(groups.next().unwrap_or_else(Group::new));
        let here = |slot: &Slot<'_, V>| slot.range.bucket / GROUP_BUCKETS == number;
        let mut of_group: Vec<_> = std::iter::from_fn(|| slots.next_if(here)).collect();
        of_group.sort_by_key(|slot| std::cmp::Reverse(slot.targets.len()));
        tasks.extend(of_group.into_iter().map(|slot| (slot, group.clone())));
    }
    parallel::for_each_in_turn(tasks, |_, (slot, group)| {
        slot.fill(&group, universe.destinations, &first_vertex, &vertex, &convert);
    });
    Csr::from_parts(offsets.into(), targets.into(), weights.into())
}

/// All ids below `sources`, in ranges for one thread each.
fn ranges<W: Weight>(groups: &[Group<W>], sources: usize) -> Vec<IdRange> {
    let edges_in = |b: usize| -> usize {
        let group = groups.get(b / GROUP_BUCKETS);
        group.map_or(0, |group| group.buckets(b % GROUP_BUCKETS).map(|e| e.0.len()).sum())
    };
    let buckets = sources.div_ceil(BUCKET_VERTICES);
    let stray = (buckets..groups.len() * GROUP_BUCKETS).find(|&b| edges_in(b) > 0);
    assert_eq!(stray, None, "an edge starts at a vertex that does not exist");
    let bucket_numbers: Vec<usize> = (0..buckets).collect();
    let edge_counts = parallel::map(&bucket_numbers, |&b| edges_in(b));

    let threads = rayon::current_num_threads();
    let share = edge_counts.iter().sum::<usize>() / threads;
    let most = if threads > 1 { share.max(MIN_EDGES_TO_CUT) } else { usize::MAX };
    let mut ranges = Vec::with_capacity(buckets);
    for (bucket, &edges) in edge_counts.iter().enumerate() {
        let first = bucket * BUCKET_VERTICES;
        let ids = first..(first + BUCKET_VERTICES).min(sources);
        if edges <= most {
            ranges.push(IdRange { bucket, ids, edges, counts: None });
            continue;
        }
        let counts = counts(&groups[bucket / GROUP_BUCKETS], bucket % GROUP_BUCKETS);
        let counts = Arc::new(counts);
        ranges.extend(cuts(&counts[..ids.len()], most).into_iter().map(|(lows, edges)| IdRange {
            bucket,
            ids: first + lows.start..first + lows.end,
            edges,
            counts: Some(counts.clone()),
        }));
    }
    ranges
}

/// How many edges of a bucket start at each of its ids, by all threads.
fn counts<W: Weight>(group: &Group<W>, bucket: usize) -> Vec<u64> {
    let per_thread = group.segments.len().div_ceil(rayon::current_num_threads());
    let pieces = parallel::pieces(0..group.segments.len(), per_thread.max(1));
    let counts = parallel::map(&pieces, |piece| {
        let mut counts = vec![0; BUCKET_VERTICES];
        for segment in &group.segments[piece.clone()] {
            group.bucket(segment, bucket).0.iter().for_each(|&low| counts[usize::from(low)] += 1);
        }
        counts
    });
    let sum = |mut all: Vec<u64>, more: Vec<u64>| {
        all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        all
    };
    counts.into_iter().reduce(sum).unwrap_or_else(|| vec![0; BUCKET_VERTICES])
}

/// Consecutive ranges of ids that have at most `most` edges, unless one id has more; and how many they have.
fn cuts(counts: &[u64], most: usize) -> Vec<(Range<usize>, usize)> {
    let mut cuts = Vec::new();
    let (mut start, mut edges) = (0, 0);
    for (id, count) in counts.iter().map(|&count| count as usize).enumerate() {
        if edges > 0 && edges + count > most {
            cuts.push((start..id, edges));
            (start, edges) = (id, 0);
        }
        edges += count;
    }
    cuts.push((start..counts.len(), edges));
    cuts
}

impl<V: Weight> Slot<'_, V> {
    fn fill<W: Weight>(
        self,
        group: &Group<W>,
        destinations: usize,
        first_vertex: &(impl Fn(usize) -> usize + Sync),
        vertex: &(impl Fn(u32) -> u32 + Sync),
        convert: &(impl Fn(W) -> V + Sync),
    ) {
        if self.targets.is_empty() {
            // A few far ids leave many buckets like this one.
            self.offsets.fill(self.first_edge);
            return;
        }
        let IdRange { bucket, ids, counts, .. } = self.range;
        let bucket = bucket % GROUP_BUCKETS;
        let first_low = ids.start % BUCKET_VERTICES;
        // Ids of other ranges have no place here.
        let place = |low: u16| usize::from(low).wrapping_sub(first_low);

        // Counters are per id here, so a source is translated once per id, not once per edge.
        let mut next = match counts {
            Some(counts) => counts[first_low..first_low + ids.len()].to_vec(),
            None => {
                let mut counts = vec![0; ids.len()];
                for &low in group.buckets(bucket).flat_map(|(sources, ..)| sources) {
                    if let Some(count) = counts.get_mut(place(low)) {
                        *count += 1;
                    }
                }
                counts
            }
        };
        let base = first_vertex(ids.start);
        let mut end = 0;
        for (id, slot) in ids.zip(&mut next) {
            let start = end;
            end += *slot;
            // An id that is no vertex has no edges and shares its index with the next vertex,
            // which overwrites what is written here.
            let index = first_vertex(id) - base;
            if index < self.offsets.len() {
                self.offsets[index] = self.first_edge + end;
            }
            *slot = start;
        }
        assert_eq!(
            end,
            self.targets.len() as u64,
            "an edge starts at a vertex that does not exist"
        );
        for (sources, ends, weights) in group.buckets(bucket) {
            for ((&low, &destination), &weight) in sources.iter().zip(ends).zip(weights) {
                let Some(slot) = next.get_mut(place(low)) else { continue };
                let target = vertex(destination);
                assert!(
                    (target as usize) < destinations,
                    "an edge ends at a vertex that does not exist"
                );
                self.targets[*slot as usize] = LocalId(target);
                self.weights[*slot as usize] = convert(weight);
                *slot += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Csr;
    use crate::build::{CsrBuilder, EdgeBatch};

    use super::*;

    #[test]
    fn ranges_have_few_edges_or_one_id() {
        assert_eq!(cuts(&[3, 0, 4, 9, 1, 1], 7), [(0..3, 7), (3..4, 9), (4..6, 2)]);
        assert_eq!(cuts(&[0, 0], 7), [(0..2, 0)]);
    }

    /// Most edges start at a few of many ids, in several pieces; not every id is a vertex.
    #[test]
    fn heavy_buckets_are_placed_by_several_threads() {
        let vertices = 2 * BUCKET_VERTICES + 100;
        let edges: Vec<(u32, u32, u32)> = (0..500_000u32)
            .map(|i| {
                let spread = i.wrapping_mul(0x9e37_79b1) as usize;
                let source = if i % 10 == 0 { spread % vertices } else { spread % 300 * 150 };
                (source as u32, (spread / 7 % vertices) as u32, i)
            })
            .collect();
        let built = |threads: usize| -> Csr<u32> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let builder = CsrBuilder::new();
            for (order, piece) in edges.chunks(70_000).enumerate().rev() {
                let mut batch = EdgeBatch::default();
                piece.iter().for_each(|&(source, end, weight)| batch.push(source, end, weight));
                builder.add(order as u64, &batch);
            }
            let groups = builder.into_groups();
            let ranges = pool.install(|| ranges(&groups, vertices)).len();
            assert_eq!(ranges > 3, threads > 1, "{ranges} ranges");
            let universe = Universe { sources: vertices, rows: vertices, destinations: vertices };
            pool.install(|| place(groups, universe, |id| id, |id| id, |weight| weight))
        };
        let expected = built(1);
        let mut sorted = edges.clone();
        sorted.sort_by_key(|edge| edge.0);
        assert!(expected.all_weights().iter().eq(sorted.iter().map(|edge| &edge.2)));
        assert!(
            expected
                .all_targets()
                .iter()
                .map(|target| target.0)
                .eq(sorted.iter().map(|edge| edge.1))
        );
        assert!(built(4) == expected);
    }
}
