//! Edges that wait to be placed, in groups of buckets of sources: see [`super`].

use crate::pages::Pages;
use crate::weight::Weight;

pub(super) const BUCKET_BITS: u32 = 16;
pub(super) const BUCKET_VERTICES: usize = 1 << BUCKET_BITS;
pub(super) const GROUP_BUCKETS: usize = 8;

/// The edges of `GROUP_BUCKETS` neighbouring buckets, from all pieces.
pub(super) struct Group<W> {
    pub(super) segments: Vec<Segment>,
    chunks: Vec<Chunk<W>>,
}

/// The edges of one piece in one group.
pub(super) struct Segment {
    /// Number of the piece in the input.
    pub(super) order: u64,
    chunk: usize,
    /// Where each bucket's edges start in the chunk, and the end of the last.
    starts: [u32; GROUP_BUCKETS + 1],
}

/// Room for many segments.
struct Chunk<W> {
    /// Low bits of the sources.
    sources: Pages<u16>,
    destinations: Pages<u32>,
    weights: Pages<W>,
}

/// The edges of one piece, bucket by bucket.
pub(super) struct SplitPiece<W> {
    /// Where each bucket starts, and the end of the last; whole groups of buckets.
    pub(super) starts: Vec<u32>,
    sources: Vec<u16>,
    destinations: Vec<u32>,
    weights: Vec<W>,
}

impl<W: Weight> Group<W> {
    pub(super) fn new() -> Self {
        Group { segments: Vec::new(), chunks: Vec::new() }
    }

    /// Takes group number `group` of a piece.
    pub(super) fn append(&mut self, order: u64, piece: &SplitPiece<W>, group: usize) {
        /// Sizes of the first and of the largest chunk: a group of few edges stays small, and
        /// address space is not wasted on many small mappings.
        const CHUNK_EDGES: std::ops::RangeInclusive<usize> = 1 << 12..=1 << 22;
        let starts = &piece.starts[group * GROUP_BUCKETS..=(group + 1) * GROUP_BUCKETS];
        let edges = starts[0] as usize..starts[GROUP_BUCKETS] as usize;
        if edges.is_empty() {
            return;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.sources.room() < edges.len()) {
            let grown = *CHUNK_EDGES.start() << (2 * self.chunks.len()).min(16);
            let capacity = grown.min(*CHUNK_EDGES.end()).max(edges.len());
            self.chunks.push(Chunk {
                sources: Pages::with_capacity(capacity),
                destinations: Pages::with_capacity(capacity),
                weights: Pages::with_capacity(capacity),
            });
        }
        let chunk = self.chunks.len() - 1;
        let Chunk { sources, destinations, weights } = &mut self.chunks[chunk];
        let moved = sources.len() as u32;
        let starts = std::array::from_fn(|b| starts[b] - starts[0] + moved);
        sources.extend(&piece.sources[edges.clone()]);
        destinations.extend(&piece.destinations[edges.clone()]);
        weights.extend(&piece.weights[edges]);
        self.segments.push(Segment { order, chunk, starts });
    }

    /// Low source bits, destinations and weights of bucket `b` of a segment.
    pub(super) fn bucket(&self, segment: &Segment, b: usize) -> (&[u16], &[u32], &[W]) {
        let chunk = &self.chunks[segment.chunk];
        let range = segment.starts[b] as usize..segment.starts[b + 1] as usize;
        (
            chunk.sources.get(range.clone()),
            chunk.destinations.get(range.clone()),
            chunk.weights.get(range),
        )
    }

    /// All of bucket `b`, in input order once the segments are sorted.
    pub(super) fn buckets(&self, b: usize) -> impl Iterator<Item = (&[u16], &[u32], &[W])> {
        self.segments.iter().map(move |segment| self.bucket(segment, b))
    }

    pub(super) fn num_edges(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.sources.len()).sum()
    }
}

/// First id of bucket `b` of group `g`.
pub(super) fn first_id(g: usize, b: usize) -> u32 {
    ((g * GROUP_BUCKETS + b) << BUCKET_BITS) as u32
}

/// Splits a piece by the high bits of its sources; stable.
pub(super) fn split_by_source<I: Copy, W: Weight>(
    sources: &[I],
    destinations: &[I],
    weight: impl Fn(usize) -> W,
    map: impl Fn(I) -> u32,
) -> SplitPiece<W> {
    let bucket_of = |source: u32| (source >> BUCKET_BITS) as usize;
    let last = sources.iter().map(|&s| bucket_of(map(s))).max();
    let buckets = last.map_or(0, |last| (last / GROUP_BUCKETS + 1) * GROUP_BUCKETS);
    let mut starts = vec![0u32; buckets + 1];
    for &source in sources {
        starts[bucket_of(map(source)) + 1] += 1;
    }
    for b in 0..buckets {
        starts[b + 1] += starts[b];
    }
    let mut next = starts.clone();
    let edges = sources.len();
    let mut piece = SplitPiece {
        starts,
        sources: vec![0; edges],
        destinations: vec![0; edges],
        weights: vec![W::default(); edges],
    };
    for (edge, (&source, &destination)) in sources.iter().zip(destinations).enumerate() {
        let source = map(source);
        let slot = &mut next[bucket_of(source)];
        piece.sources[*slot as usize] = source as u16;
        piece.destinations[*slot as usize] = map(destination);
        piece.weights[*slot as usize] = weight(edge);
        *slot += 1;
    }
    piece
}
