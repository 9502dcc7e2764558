//! Widest paths: how much fits through the best path from a root, if every edge lets as much through as its
//! weight says. Nothing is in the way of the root itself, and nothing gets to vertices out of reach.

use parton_program::{Field, Graph, Improve, Vertex, Worklist, program};

use crate::memory_use::MemoryUse;
use crate::root::Root;

/// The width of the widest path from the root.
#[program(crate = parton_program)]
pub fn widest_path(graph: &Graph<f64>, root: Vertex) -> Field<f64> {
    let mut width = graph.field(0.0);
    width[root] = f64::INFINITY;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for edge in graph.out_edges(v) {
            let through = width[v].min(edge.weight);
            if width[edge.target].raise(through) {
                work.push(edge.target);
            }
        }
    }
    width
}

crate::compiled! {
    /// widest paths: the most that fits through a path from the root, whose edges let their weights through
    pub struct WidestPath = widest_path as "widest-path" -> ["width"];
    options WidestPathOptions {
        /// Where a search starts: an original id, or max-degree, the vertex of most out-edges.
        root: Root = Root::MaxDegree;
    }
    with {
        const MEMORY_USE: MemoryUse = MemoryUse::new(12.3, 9.7, 4.0);
    }
}
