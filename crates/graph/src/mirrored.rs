//! The edges that an undirected graph lacks: of every edge without its reverse, the reverse.
//!
//! Between two vertices there may be edges both ways already. As many of them as possible are taken
//! for two directions of one edge: first those of equal weight, then, as unweighted algorithms must
//! not see weights, any others in ascending order. Of two such weights the lesser is taken, as that is
//! what a shortest path along either edge would take. What is left on one side gets its reverse, so
//! that of `k` edges one way and `m` the other there are `max(k, m)` each way in the end.

use std::ops::Range;

use crate::build::split_off_front;
use crate::parallel;
use crate::weight::Weight;
use crate::{Adjacency, Csr, LocalId};

/// Rows to which the reverse edges were added that they lacked.
pub struct Completed {
    /// The rows.
    pub adjacency: Adjacency,
    /// How many edges were missing.
    pub added: u64,
    /// How many edges weighed more than in the other direction, and do so no longer.
    pub lightened: u64,
}

/// The edges that some consecutive rows lack.
#[derive(Default)]
struct Missing<W> {
    /// How many each row lacks.
    counts: Vec<usize>,
    edges: Vec<(LocalId, W)>,
    lightened: Vec<Lightened<W>>,
    /// Scratch memory for the leaving and arriving edges of one pair of vertices.
    unpaired: [Vec<(LocalId, W)>; 2],
}

/// An edge that gets the weight that it has in the other direction.
struct Lightened<W> {
    row: LocalId,
    target: LocalId,
    before: W,
    after: W,
}

impl Adjacency {
    /// Adds the reverse of every edge that lacks it. The first row is that of vertex `first`, and
    /// `in_edges` are the edges to the vertices of these rows.
    ///
    /// ```
    /// use parton_graph::{Adjacency, Csr};
    ///
    /// let edges = Csr::from_edges(3, &[(0, 1, ()), (1, 0, ()), (0, 2, ())]);
    /// let in_edges = Adjacency::from(edges.transposed());
    /// assert_eq!(Adjacency::from(edges).completed(&in_edges, 0).added, 1);
    /// ```
    ///
    /// # Panics
    /// When weights of the two are of different types, or one has more rows.
    pub fn completed(self, in_edges: &Adjacency, first: u32) -> Completed {
        use Adjacency::{F32, F64, U32, Unweighted};
        match (self, in_edges) {
            (Unweighted(csr), Unweighted(in_edges)) => csr.completed(in_edges, first),
            (U32(csr), U32(in_edges)) => csr.completed(in_edges, first),
            (F32(csr), F32(in_edges)) => csr.completed(in_edges, first),
            (F64(csr), F64(in_edges)) => csr.completed(in_edges, first),
            _ => panic!("weights of one graph are of one type"),
        }
    }
}

impl<W: Weight> Csr<W>
where
    Adjacency: From<Csr<W>>,
{
    fn completed(self, in_edges: &Csr<W>, first: u32) -> Completed {
        assert_eq!(self.num_vertices(), in_edges.num_vertices(), "edges of the same vertices");
        let rows = self.num_vertices();
        let chunk = rows.div_ceil(rayon::current_num_threads() * 16).max(1);
        let chunks: Vec<_> = (0..rows).step_by(chunk).map(|r| r..rows.min(r + chunk)).collect();
        let find = |rows: &Range<usize>| {
            let rows = rows.start as u32..rows.end as u32;
            let mut missing = Missing::default();
            rows.for_each(|row| missing.find(&self, in_edges, LocalId(row), LocalId(first + row)));
            missing
        };
        let missing = parallel::map(&chunks, find);
        let added = missing.iter().map(|chunk| chunk.edges.len() as u64).sum();
        let lightened = missing.iter().map(|chunk| chunk.lightened.len() as u64).sum();
        let adjacency = match (added, lightened) {
            (0, 0) => self.into(),
            _ => self.with(chunks.into_iter().zip(missing), added as usize).into(),
        };
        Completed { adjacency, added, lightened }
    }

    /// The rows with `added` edges that they lack, given in chunks of rows.
    fn with(
        &self,
        missing: impl Iterator<Item = (Range<usize>, Missing<W>)>,
        added: usize,
    ) -> Csr<W> {
        let total = self.num_edges() as usize + added;
        let (mut targets, mut weights) = (vec![LocalId(0); total], vec![W::default(); total]);
        let mut offsets = Vec::with_capacity(self.num_vertices() + 1);
        offsets.push(0);
        let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
        let mut slots = Vec::new();
        for (rows, missing) in missing {
            let start = offsets[offsets.len() - 1];
            for (row, added) in rows.clone().zip(&missing.counts) {
                let degree = self.degree(LocalId(row as u32)) + added;
                offsets.push(offsets[offsets.len() - 1] + degree as u64);
            }
            let edges = (offsets[offsets.len() - 1] - start) as usize;
            let slot = (
                split_off_front(&mut free_targets, edges),
                split_off_front(&mut free_weights, edges),
            );
            slots.push((rows, missing, slot));
        }
        parallel::for_each_owned(slots, |_, (rows, missing, (targets, weights))| {
            let mut added = missing.edges.into_iter();
            let mut lightened = missing.lightened.into_iter().peekable();
            let mut end = 0;
            for (row, count) in rows.zip(missing.counts) {
                let row = LocalId(row as u32);
                let start = end;
                for (target, weight) in self.edges(row).chain(added.by_ref().take(count)) {
                    (targets[end], weights[end]) = (target, weight);
                    end += 1;
                }
                while let Some(edge) = lightened.next_if(|edge| edge.row == row) {
                    let is_it =
                        |&at: &usize| targets[at] == edge.target && weights[at] == edge.before;
                    let at = (start..end).find(is_it).expect("an edge of this row");
                    weights[at] = edge.after;
                }
            }
        });
        Csr::from_parts(offsets.into(), targets.into(), weights.into())
    }
}

impl<W: Weight> Missing<W> {
    /// Finds what the row of `vertex` lacks.
    fn find(&mut self, out: &Csr<W>, in_edges: &Csr<W>, row: LocalId, vertex: LocalId) {
        let before = self.edges.len();
        if !out.edges(row).eq(in_edges.edges(row)) {
            let (leaving, arriving) = (sorted(out, row), sorted(in_edges, row));
            let mut leaving = leaving.chunk_by(|a, b| a.0 == b.0).peekable();
            for arriving in arriving.chunk_by(|a, b| a.0 == b.0).filter(|of| of[0].0 != vertex) {
                while leaving.next_if(|of| of[0].0 < arriving[0].0).is_some() {}
                let leaving = leaving.next_if(|of| of[0].0 == arriving[0].0);
                self.find_between(row, leaving.unwrap_or_default(), arriving);
            }
        }
        self.counts.push(self.edges.len() - before);
    }

    /// Finds what is missing of the edges that leave a vertex for another, given those that arrive
    /// from there. Both are in ascending order of their weights.
    fn find_between(&mut self, row: LocalId, leaving: &[(LocalId, W)], arriving: &[(LocalId, W)]) {
        let Missing { unpaired: [unpaired_leaving, unpaired_arriving], .. } = self;
        unpaired_leaving.clear();
        unpaired_arriving.clear();
        let mut others = leaving.iter().peekable();
        for edge in arriving {
            while let Some(other) = others.next_if(|other| weight(other) < weight(edge)) {
                unpaired_leaving.push(*other);
            }
            if others.next_if(|other| weight(other) == weight(edge)).is_none() {
                unpaired_arriving.push(*edge);
            }
        }
        unpaired_leaving.extend(others);
        for (edge, other) in unpaired_leaving.iter().zip(&*unpaired_arriving) {
            if weight(other) < weight(edge) {
                let (target, before, after) = (edge.0, edge.1, other.1);
                self.lightened.push(Lightened { row, target, before, after });
            }
        }
        self.edges.extend(unpaired_arriving.iter().skip(unpaired_leaving.len()));
    }
}

fn weight<W: Weight>(&(_, weight): &(LocalId, W)) -> f64 {
    weight.to_f64()
}

/// The edges of a row by their other end, those of the same one by weight.
fn sorted<W: Weight>(csr: &Csr<W>, row: LocalId) -> Vec<(LocalId, W)> {
    let mut edges: Vec<_> = csr.edges(row).collect();
    edges.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| weight(a).total_cmp(&weight(b))));
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    type Edges = Vec<(u32, u32, u32)>;

    /// The edges of a graph, in order, with the missing ones added.
    fn completed(edges: &[(u32, u32, u32)]) -> Edges {
        let csr = Csr::from_edges(4, edges);
        let in_edges = csr.transposed();
        let Completed { adjacency, added, .. } = csr.completed(&in_edges, 0);
        assert_eq!(adjacency.num_edges(), edges.len() as u64 + added);
        let Adjacency::U32(all) = adjacency else { panic!("the same type of weights") };
        let row = |v: LocalId| all.edges(v).map(move |(t, w)| (v.0, t.0, w)).collect::<Vec<_>>();
        let mut edges: Vec<_> = all.vertices().flat_map(row).collect();
        edges.sort_unstable();
        edges
    }

    #[test]
    fn only_what_is_missing_comes() {
        let both = |edges: &[(u32, u32, u32)]| {
            let mut all: Edges =
                edges.iter().flat_map(|&(a, b, w)| [(a, b, w), (b, a, w)]).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(completed(&[]), []);
        assert_eq!(completed(&[(3, 3, 1), (3, 3, 2)]), [(3, 3, 1), (3, 3, 2)]);
        let cases: [(&[_], &[_]); 6] = [
            // One edge without its reverse does not double the others.
            (&[(0, 1, 1), (1, 0, 1), (0, 2, 1)], &[(0, 1, 1), (0, 2, 1)]),
            // Weights are no reason to add an edge: the lesser is taken.
            (&[(0, 1, 5), (1, 0, 6)], &[(0, 1, 5)]),
            // Of parallel edges, those of equal weight are one edge.
            (&[(0, 1, 7), (0, 1, 5), (1, 0, 7)], &[(0, 1, 5), (0, 1, 7)]),
            (&[(1, 0, 5), (1, 0, 9), (0, 1, 6)], &[(0, 1, 5), (0, 1, 9)]),
            (&[(0, 1, 5), (0, 1, 6), (1, 0, 6), (1, 0, 5)], &[(0, 1, 5), (0, 1, 6)]),
            (&[(0, 1, 6), (0, 1, 5), (1, 0, 5), (1, 0, 4)], &[(0, 1, 4), (0, 1, 5)]),
        ];
        for (edges, expected) in cases {
            assert_eq!(completed(edges), both(expected), "{edges:?}");
        }
    }

    #[test]
    fn each_pair_has_the_greater_count_both_ways() {
        let mut edges = Vec::new();
        for i in 0..400u32 {
            let h = crate::hash::splitmix64(i.into());
            edges.push(((h % 4) as u32, (h >> 8) as u32 % 4, (h >> 16) as u32 % 3));
        }
        let count = |edges: &[(u32, u32, u32)], a, b| {
            edges.iter().filter(|edge| (edge.0, edge.1) == (a, b)).count()
        };
        for length in [3, 20, 400] {
            let all = completed(&edges[..length]);
            let turned = all.iter().map(|&(a, b, weight)| (b, a, weight));
            let mut turned: Vec<_> = turned.collect();
            turned.sort_unstable();
            assert_eq!(turned, all, "symmetric");
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                let most = count(&edges[..length], a, b).max(count(&edges[..length], b, a));
                assert_eq!(count(&all, a, b), most, "{a} to {b} of {length}");
            }
        }
    }
}
