//! Making a graph fit what an algorithm or a user expects: both directions, no self-loops, no
//! parallel edges, ordered neighbours.

use crate::build::split_off_front;
use crate::mirrored::Completed;
use crate::parallel;
use crate::weight::{Weight, WeightKind};
use crate::{Adjacency, Csr, Direction, Graph, LocalId, with_csr};

/// What becomes of the weights of parallel edges that are merged into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The least weight.
    Min,
    /// The greatest weight.
    Max,
    /// The sum of the weights, as doubles where their type cannot hold it.
    Sum,
    /// The weight of the edge that comes first in the input.
    First,
}

impl Merge {
    fn weights<W: Weight>(self, first: W, next: W) -> W {
        match self {
            Merge::Min if next < first => next,
            Merge::Max if next > first => next,
            Merge::Sum => W::from_f64(first.to_f64() + next.to_f64()),
            _ => first,
        }
    }
}

/// What to do to a graph, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidy {
    /// Add the other direction of every edge that lacks it; see [`Adjacency::completed`].
    pub undirected: bool,
    /// Drop edges from a vertex to itself.
    pub drop_self_loops: bool,
    /// Merge parallel edges.
    pub merge: Option<Merge>,
    /// Order each vertex's edges by destination; edges to the same one keep their order.
    pub sort: bool,
}

impl Tidy {
    /// A simple graph: no self-loops, no parallel edges; of those the least weight is kept.
    pub const SIMPLE: Tidy =
        Tidy { undirected: false, drop_self_loops: true, merge: Some(Merge::Min), sort: true };
}

impl Graph {
    /// The graph after `tidy`; what was done is added to `read_as`.
    pub fn tidied(mut self, tidy: Tidy) -> Self {
        let mut done = Vec::new();
        if tidy.undirected && self.direction == Direction::Directed {
            let in_edges = with_csr!(&self.adjacency, csr => csr.transposed().into());
            let Completed { adjacency, added, lightened } = self.adjacency.completed(&in_edges, 0);
            self.adjacency = adjacency;
            done.push(if added == 0 { "already symmetric" } else { "symmetrised" }.into());
            self.direction = Direction::Undirected;
            if lightened > 0 {
                done.push(format!(
                    "{lightened} edges got the lesser weight of the other direction"
                ));
            }
        }
        if tidy.drop_self_loops || tidy.merge.is_some() || tidy.sort {
            let before = self.num_edges();
            self.adjacency = match tidy.merge {
                Some(Merge::Sum) => summed(self.adjacency, tidy),
                _ => with_csr!(self.adjacency, csr => csr.tidied(tidy, 0).into()),
            };
            match before - self.num_edges() {
                0 => {}
                fewer => done.push(format!("{fewer} loops and duplicates dropped")),
            }
        }
        for done in done {
            self.read_as += "; ";
            self.read_as += &done;
        }
        self
    }
}

/// Tidied edges whose parallel ones become their sum: of the type they had, if it holds all sums.
fn summed(adjacency: Adjacency, tidy: Tidy) -> Adjacency {
    fn narrowed<W: Weight>(wide: Csr<f64>) -> Adjacency
    where
        Adjacency: From<Csr<W>>,
    {
        match parallel::all_of(wide.all_weights(), |&sum| W::try_from_f64(sum).is_ok()) {
            true => wide.reweighted(|_, _, sum| W::from_f64(sum)).into(),
            false => wide.into(),
        }
    }
    let kind = adjacency.weight_kind();
    let wide = with_csr!(adjacency, csr => csr.reweighted(|_, _, weight| weight.to_f64()));
    let wide = wide.tidied(tidy, 0);
    match kind {
        WeightKind::None => narrowed::<()>(wide),
        WeightKind::U32 => narrowed::<u32>(wide),
        WeightKind::F32 => narrowed::<f32>(wide),
        WeightKind::F64 => wide.into(),
    }
}

/// The edges of one vertex while they are being tidied.
type Row<W> = Vec<(LocalId, W)>;

impl<W: Weight> Csr<W> {
    /// Orders, merges and drops edges, vertex by vertex, in place. The first row is that of vertex
    /// `base`.
    pub(crate) fn tidied(self, tidy: Tidy, base: u32) -> Self {
        let vertices = self.num_vertices();
        let (offsets, targets, weights) = self.into_parts();
        let (mut targets, mut weights) = (targets.into_vec(), weights.into_vec());

        // Every chunk of vertices packs its edges to the front of its own window …
        let chunk = vertices.div_ceil(rayon::current_num_threads() * 16).max(1);
        let mut chunks = Vec::new();
        let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
        for first in (0..vertices).step_by(chunk) {
            let end = (first + chunk).min(vertices);
            let edges = (offsets[end] - offsets[first]) as usize;
            let t = split_off_front(&mut free_targets, edges);
            let w = split_off_front(&mut free_weights, edges);
            chunks.push((first, &offsets[first..=end], t, w));
        }
        let degrees = parallel::map_owned(chunks, |_, (first, offsets, targets, weights)| {
            tidy_chunk(tidy, base + first as u32, offsets, targets, weights)
        });

        // … then the windows close ranks.
        let mut new_offsets = Vec::with_capacity(vertices + 1);
        new_offsets.push(0);
        let mut end = 0;
        for (chunk_degrees, first) in degrees.iter().zip((0..vertices).step_by(chunk)) {
            let from = offsets[first] as usize;
            let edges = chunk_degrees.iter().sum::<u64>() as usize;
            targets.copy_within(from..from + edges, end as usize);
            weights.copy_within(from..from + edges, end as usize);
            for degree in chunk_degrees {
                end += degree;
                new_offsets.push(end);
            }
        }
        targets.truncate(end as usize);
        targets.shrink_to_fit();
        weights.truncate(end as usize);
        weights.shrink_to_fit();
        Csr::from_parts(new_offsets.into(), targets.into(), weights.into())
    }
}

/// Tidies the edges of the vertices from `first` on, packs them to the front; their new degrees.
fn tidy_chunk<W: Weight>(
    tidy: Tidy,
    first: u32,
    offsets: &[u64],
    targets: &mut [LocalId],
    weights: &mut [W],
) -> Vec<u64> {
    let mut row: Row<W> = Vec::new();
    let mut end = 0;
    let base = offsets[0];
    let mut degrees = Vec::with_capacity(offsets.len() - 1);
    for (vertex, window) in (first..).map(LocalId).zip(offsets.windows(2)) {
        let edges = (window[0] - base) as usize..(window[1] - base) as usize;
        row.clear();
        row.extend(targets[edges.clone()].iter().copied().zip(weights[edges].iter().copied()));
        tidy_row(tidy, vertex, &mut row);
        for (slot, &(target, weight)) in row.iter().enumerate() {
            targets[end + slot] = target;
            weights[end + slot] = weight;
        }
        end += row.len();
        degrees.push(row.len() as u64);
    }
    degrees
}

fn tidy_row<W: Weight>(tidy: Tidy, vertex: LocalId, row: &mut Row<W>) {
    if tidy.drop_self_loops {
        row.retain(|&(target, _)| target != vertex);
    }
    if (tidy.sort || tidy.merge.is_some()) && !row.is_sorted_by_key(|&(target, _)| target) {
        row.sort_by_key(|&(target, _)| target);
    }
    if let Some(merge) = tidy.merge {
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = merge.weights(kept.1, next.1);
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let edges = [(0, 2, 9), (0, 1, 4), (0, 2, 3), (1, 1, 7), (2, 0, 1), (0, 2, 5u32)];
        Graph::dense(Csr::from_edges(4, &edges), "test")
    }

    fn edges(graph: &Graph) -> Vec<(u32, u32, f64)> {
        with_csr!(&graph.adjacency, csr => csr
            .vertices()
            .flat_map(|v| csr.edges(v).map(move |(t, w)| (v.0, t.0, w.to_f64())).collect::<Vec<_>>())
            .collect())
    }

    #[test]
    fn parallel_edges_merge_by_each_rule() {
        let expected =
            [(Merge::Min, 3.0), (Merge::Max, 9.0), (Merge::Sum, 17.0), (Merge::First, 9.0)];
        for (merge, weight) in expected {
            let tidied = graph().tidied(Tidy { merge: Some(merge), ..Tidy::default() });
            let all = [(0, 1, 4.0), (0, 2, weight), (1, 1, 7.0), (2, 0, 1.0)];
            assert_eq!(edges(&tidied), all, "{merge:?}");
        }
    }

    #[test]
    fn sums_that_do_not_fit_become_doubles() {
        let sum = |graph: Graph| graph.tidied(Tidy { merge: Some(Merge::Sum), ..Tidy::default() });
        let large = Csr::from_edges(2, &[(0, 1, u32::MAX), (0, 1, 2)]);
        let summed = sum(Graph::dense(large, ""));
        assert_eq!(edges(&summed), [(0, 1, 4_294_967_297.0)]);
        let large = Csr::from_edges(2, &[(0, 1, f32::MAX), (0, 1, f32::MAX)]);
        let summed = sum(Graph::dense(large, ""));
        assert_eq!(edges(&summed), [(0, 1, 2.0 * f64::from(f32::MAX))]);
        let small = sum(Graph::dense(Csr::from_edges(2, &[(0, 1, 1u32), (0, 1, 2)]), ""));
        assert_eq!(small.adjacency.weight_kind(), WeightKind::U32);
    }

    #[test]
    fn loops_go_and_order_comes() {
        let simple = graph().tidied(Tidy::SIMPLE);
        assert_eq!(edges(&simple), [(0, 1, 4.0), (0, 2, 3.0), (2, 0, 1.0)]);
        assert_eq!(simple.num_vertices(), 4);
        let sorted = graph().tidied(Tidy { sort: true, ..Tidy::default() });
        let order: Vec<f64> = edges(&sorted).iter().map(|e| e.2).collect();
        assert_eq!(order, [4.0, 9.0, 3.0, 5.0, 7.0, 1.0]);
    }

    #[test]
    fn undirected_adds_only_what_is_missing() {
        let one_way = Graph::dense(Csr::from_edges(3, &[(0, 1, ()), (1, 1, ()), (1, 2, ())]), "");
        let undirected = Tidy { undirected: true, ..Tidy::default() };
        let both = one_way.tidied(undirected);
        assert_eq!(both.num_edges(), 5);
        assert_eq!(both.direction, Direction::Undirected);
        let listed_both_ways = Graph { direction: Direction::Directed, ..both.clone() };
        assert_eq!(listed_both_ways.tidied(undirected).num_edges(), 5);
        // Another weight one way is no reason to add an edge.
        let uneven = Graph::dense(Csr::from_edges(2, &[(0, 1, 5u32), (1, 0, 6)]), "");
        let uneven = uneven.tidied(undirected);
        assert_eq!(edges(&uneven), [(0, 1, 5.0), (1, 0, 5.0)]);
        // One edge without its reverse does not double the others.
        let partly = Graph::dense(Csr::from_edges(3, &[(0, 1, ()), (1, 0, ()), (0, 2, ())]), "");
        assert_eq!(partly.tidied(undirected).num_edges(), 4);
        // Parallel edges may lie in any order.
        let parallel = [(0, 1, 5u32), (0, 1, 6), (1, 0, 6), (1, 0, 5)];
        let parallel = Graph::dense(Csr::from_edges(2, &parallel), "");
        assert_eq!(parallel.tidied(undirected).num_edges(), 4);
    }
}
