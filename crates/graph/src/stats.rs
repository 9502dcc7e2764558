//! What a graph looks like: counts, degrees, loops, duplicates, symmetry, range of weights.
//!
//! One transpose answers most questions. Its lists are sorted, so parallel edges stand side by side. Its degrees are
//! the in-degrees. It equals the graph if the graph is symmetric.

use std::ops::Range;

use crate::parallel;
use crate::weight::Weight;
use crate::{Csr, Graph, LocalId, WeightKind, with_csr};

/// A graph in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges, each direction of an undirected edge counted.
    pub edges: u64,
    /// Edges from a vertex to itself.
    pub self_loops: u64,
    /// Edges beyond the first from one vertex to another.
    pub duplicates: u64,
    /// Whether for every edge there is one the other way.
    pub symmetric: bool,
    /// Vertices without any edge.
    pub isolated: u64,
    /// Numbers of edges that leave a vertex.
    pub out_degrees: Degrees,
    /// Numbers of edges that arrive at a vertex.
    pub in_degrees: Degrees,
    /// Type of the weights.
    pub weight_kind: WeightKind,
    /// Least and greatest weight, where there are weights.
    pub weight_range: Option<(f64, f64)>,
}

/// How degrees are spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Degrees {
    /// Least degree.
    pub min: u64,
    /// Greatest degree.
    pub max: u64,
    /// A vertex of the greatest degree, the first one.
    pub max_vertex: Option<LocalId>,
    /// Edges per vertex.
    pub mean: f64,
    /// Half of the vertices have this degree or less.
    pub median: u64,
    /// Vertices of degree 0, 1, 2–3, 4–7, 8–15, …
    pub histogram: Vec<u64>,
}

impl Degrees {
    /// The degrees of the vertices whose edges start at `offsets`.
    fn of(offsets: &[u64]) -> Self {
        let vertices = offsets.len() - 1;
        if vertices == 0 {
            return Degrees::default();
        }
        let mut degrees = parallel::generate(vertices, |v| offsets[v + 1] - offsets[v]);
        let min = degrees.iter().copied().min().unwrap_or(0);
        let max = degrees.iter().copied().max().unwrap_or(0);
        let max_vertex = degrees.iter().position(|&degree| degree == max);
        let middle = (vertices - 1) / 2;
        let median = *degrees.select_nth_unstable(middle).1;
        let mut histogram = vec![0; Self::bin(max) + 1];
        for degree in degrees {
            histogram[Self::bin(degree)] += 1;
        }
        let mean = offsets[vertices] as f64 / vertices as f64;
        let max_vertex = max_vertex.map(|v| LocalId(v as u32));
        Degrees { min, max, max_vertex, mean, median, histogram }
    }

    /// The bin of a degree in the histogram.
    pub fn bin(degree: u64) -> usize {
        (u64::BITS - degree.leading_zeros()) as usize
    }

    /// First and last degree of a bin.
    pub fn bin_range(bin: usize) -> (u64, u64) {
        match bin {
            0 => (0, 0),
            _ => (1 << (bin - 1), (1 << (bin - 1)) + ((1 << (bin - 1)) - 1)),
        }
    }
}

impl Summary {
    /// Looks at every edge twice; needs the memory of a second, unweighted graph.
    pub fn of(graph: &Graph) -> Self {
        with_csr!(&graph.adjacency, csr => Self::of_csr(csr))
    }

    fn of_csr<W: Weight>(csr: &Csr<W>) -> Self {
        let vertices = csr.num_vertices();
        let loops = |v: usize| {
            let v = LocalId(v as u32);
            csr.targets(v).iter().filter(|&&target| target == v).count() as u64
        };
        let transposed = csr.transposed_unweighted();
        let (out_offsets, in_offsets) = (csr.offsets(), transposed.offsets());
        let is_isolated = |v: usize| {
            let none = |offsets: &[u64]| offsets[v] == offsets[v + 1];
            none(in_offsets) && none(out_offsets)
        };
        Summary {
            vertices: vertices as u64,
            edges: csr.num_edges(),
            self_loops: parallel::sum(vertices, loops),
            duplicates: count_duplicates(&transposed),
            symmetric: is_symmetric(csr, &transposed),
            isolated: parallel::sum(vertices, |v| u64::from(is_isolated(v))),
            out_degrees: Degrees::of(out_offsets),
            in_degrees: Degrees::of(in_offsets),
            weight_kind: W::KIND,
            weight_range: weight_range(csr.all_weights()),
        }
    }
}

fn weight_range<W: Weight>(weights: &[W]) -> Option<(f64, f64)> {
    if W::KIND == WeightKind::None {
        return None;
    }
    let wider = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    let of_piece = |piece: Range<usize>| {
        let empty = (f64::INFINITY, f64::NEG_INFINITY);
        weights[piece].iter().map(|w| w.to_f64()).fold(empty, |range, w| wider(range, (w, w)))
    };
    parallel::reduce(weights.len(), of_piece, wider)
}

/// Edges that repeat another, in a graph whose lists are sorted.
fn count_duplicates(sorted: &Csr<()>) -> u64 {
    parallel::sum(sorted.num_vertices(), |v| {
        let targets = sorted.targets(LocalId(v as u32));
        targets.windows(2).filter(|w| w[0] == w[1]).count() as u64
    })
}

/// Whether the neighbours each way are the same sets, given the transpose.
fn is_symmetric<W: Weight>(graph: &Csr<W>, transposed: &Csr<()>) -> bool {
    parallel::all(graph.num_vertices(), |v| {
        let v = LocalId(v as u32);
        let sources = transposed.targets(v);
        let mut targets = graph.targets(v).to_vec();
        targets.sort_unstable();
        targets.dedup();
        let mut distinct_sources = sources.chunk_by(|a, b| a == b).map(|same| same[0]);
        targets.iter().all(|&t| distinct_sources.next() == Some(t))
            && distinct_sources.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_graph_in_numbers() {
        let edges =
            [(0, 1, 2.5f64), (1, 0, -1.0), (0, 1, 8.0), (2, 2, 0.0), (1, 2, 1.0), (2, 1, 1.0)];
        let summary = Summary::of(&Graph::dense(Csr::from_edges(4, &edges), ""));
        assert_eq!((summary.vertices, summary.edges), (4, 6));
        assert_eq!((summary.self_loops, summary.duplicates, summary.isolated), (1, 1, 1));
        assert!(summary.symmetric);
        assert_eq!(summary.weight_range, Some((-1.0, 8.0)));
        let Degrees { min, max, max_vertex, mean, median, histogram } = summary.out_degrees;
        assert_eq!((min, max, max_vertex, mean, median), (0, 2, Some(LocalId(0)), 1.5, 2));
        assert_eq!(histogram, [1, 0, 3]);
        let one_way = Graph::dense(Csr::from_edges(2, &[(0, 1, ())]), "");
        assert!(!Summary::of(&one_way).symmetric);
    }

    #[test]
    fn nothing_in_numbers() {
        let summary = Summary::of(&Graph::dense(Csr::<()>::from_edges(0, &[]), ""));
        assert_eq!((summary.vertices, summary.edges, summary.symmetric), (0, 0, true));
        assert_eq!(summary.out_degrees, Degrees::default());
    }

    #[test]
    fn bins() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(Degrees::bin), [0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(Degrees::bin_range(3), (4, 7));
        assert_eq!(Degrees::bin_range(Degrees::bin(u64::MAX)), (1 << 63, u64::MAX));
    }
}
