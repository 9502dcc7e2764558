//! Breadth-first search: the least number of edges from a root to every vertex.
//!
//! Work follows the edges, once each when rounds go level by level.

use parton_graph::GlobalId;
use parton_program::{Field, Graph, Program, RelaxSetting, Vertex, Worklist, program};

use crate::memory_use::MemoryUse;
use crate::root::Root;
use crate::traversal;

/// The least number of edges from the root.
#[program(crate = parton_program)]
pub fn levels(graph: &Graph<()>, root: Vertex) -> Field<u32> {
    let mut level = graph.field(u32::MAX);
    level[root] = 0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for edge in graph.out_edges(v) {
            if level.lower(edge.target, level[v] + 1) {
                work.push(edge.target);
            }
        }
    }
    level
}

crate::compiled! {
    /// breadth-first search: the least number of edges from the root
    pub struct Bfs = levels as "bfs" -> ["level"];
    options BfsOptions {
        /// Where a search starts: an original id, or max-degree, the vertex of most out-edges.
        root: Root = Root::MaxDegree;
    }
    with {
        const MEMORY_USE: MemoryUse = MemoryUse::new(6.8, 5.9, 4.0);
        traversal::facts_of_search!(BfsOptions);
    }
}

/// The search as a relaxation, for algorithms that search.
pub(crate) fn search(root: GlobalId) -> <levels as Program>::Relaxed {
    let search = levels { root: Vertex(root.0 as u32) };
    search.relaxed(RelaxSetting::default()).expect("a relaxation")
}
