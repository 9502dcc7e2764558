//! Small graphs that have gone wrong before, or would.

use parton_graph::{Csr, Direction, Graph, Weight, with_csr};

pub(crate) fn graph_of<W: Weight>(vertices: usize, edges: &[(u32, u32, W)]) -> Graph
where
    parton_graph::Adjacency: From<Csr<W>>,
{
    Graph::dense(Csr::from_edges(vertices, edges), "test")
}

fn unweighted(vertices: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    let edges: Vec<_> = edges.into_iter().map(|(s, d)| (s, d, ())).collect();
    graph_of(vertices, &edges)
}

fn weighted(vertices: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    let weigh = |(s, d)| (s, d, (s * 31 + d * 17) % 64);
    graph_of(vertices, &edges.into_iter().map(weigh).collect::<Vec<_>>())
}

/// All of them, by name.
pub(crate) fn nasty_graphs() -> Vec<(&'static str, Graph)> {
    let star = || (1..40).map(|v| (0, v)).chain((1..40).map(|v| (v, 0)));
    let chain = || (0..30).map(|v| (v, v + 1));
    let backward = || (0..30).map(|v| (v + 1, v));
    let hub = || (0..200).map(|v| (v % 3, v % 50)).chain((0..50).map(|v| (v, 7)));
    let real = |(s, d): (u32, u32)| (s, d, f64::from((s * 7 + d * 3) % 11) / 4.0);
    let mut both_ways = unweighted(31, chain()).undirected();
    both_ways.direction = Direction::Undirected;
    vec![
        ("empty", unweighted(0, [])),
        ("one vertex", unweighted(1, [])),
        ("one self-loop", unweighted(1, [(0, 0)])),
        ("no edges", unweighted(5, [])),
        ("one edge", unweighted(2, [(1, 0)])),
        ("loops and parallel edges", weighted(3, [(0, 1), (0, 1), (1, 1), (2, 2), (1, 0)])),
        ("star", unweighted(40, star())),
        ("chain", weighted(31, chain())),
        ("chain backward", unweighted(31, backward())),
        ("chain both ways", both_ways),
        ("hub and isolated vertices", weighted(60, hub())),
        ("real weights", graph_of(60, &hub().map(real).collect::<Vec<_>>())),
        ("single precision", graph_of(4, &[(0, 1, 0.1f32), (1, 2, 0.2), (0, 2, 0.4), (2, 3, 0.0)])),
        ("weight zero on a cycle", graph_of(4, &[(0, 1, 0u32), (1, 0, 0), (2, 3, 0), (3, 2, 0)])),
        (
            "weights that overflow",
            graph_of(3, &[(0, 1, u32::MAX), (1, 2, u32::MAX), (0, 2, u32::MAX)]),
        ),
        // One of them has no vertex that edges both enter and leave.
        ("two components", unweighted(18, [(8, 0), (0, 10), (1, 2)])),
    ]
}

/// The same edges between two copies of the vertices, one of sources and one of destinations, with
/// ratings from 1 to 5.
pub(crate) fn as_ratings(graph: &Graph) -> Graph {
    let vertices = graph.num_vertices() as u32;
    let mut edges = Vec::new();
    with_csr!(&graph.adjacency, csr => {
        for source in csr.vertices() {
            for target in csr.targets(source) {
                edges.push((source.0, vertices + target.0, (source.0 * 7 + target.0 * 3) % 5 + 1));
            }
        }
    });
    graph_of(2 * vertices as usize, &edges)
}
