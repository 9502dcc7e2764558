//! Single-source shortest paths: the least sum of weights from a root to every vertex.
//!
//! Distances of whole-numbered weights are whole numbers of 32 bits where no path can exceed them and of 64 bits
//! elsewhere, so that they never wrap; others are doubles. Edges without weights count 1.

use parton_program::{Field, Graph, Vertex, Worklist, program};

use crate::bfs::levels;
use crate::memory_use::MemoryUse;
use crate::root::Root;
use crate::traversal;

macro_rules! distances {
    ($($name:ident: $weight:ident to $distance:ident, $far:ident;)+) => {$(
        /// The least sum of weights from the root.
        #[allow(clippy::unnecessary_cast)]
        #[program(crate = parton_program)]
        pub fn $name(graph: &Graph<$weight>, root: Vertex) -> Field<$distance> {
            let mut distance = graph.field($distance::$far);
            distance[root] = 0 as $distance;
            let mut work = Worklist::from([root]);
            while let Some(v) = work.pop() {
                for edge in graph.out_edges(v) {
                    let through = distance[v] + edge.weight as $distance;
                    if distance.lower(edge.target, through) {
                        work.push(edge.target);
                    }
                }
            }
            distance
        }
    )+};
}
distances! {
    narrow: u32 to u32, MAX; wide: u32 to u64, MAX; single: f32 to f64, INFINITY; double: f64 to f64, INFINITY;
}

crate::compiled! {
    /// shortest paths: the least sum of weights from the root
    pub struct Sssp = levels | narrow | wide | single | double as "sssp" -> ["distance"];
    options SsspOptions {
        /// Where a search starts: an original id, or max-degree, the vertex of most out-edges.
        root: Root = Root::MaxDegree;
    }
    settings {
        /// Width of the buckets of distances of engine delta.
        delta: Option<f64> = None, value_name = "WIDTH", unset = "as suits weights and degrees";
    }
    with {
        const MEMORY_USE: MemoryUse = MemoryUse::new(9.0, 10.0, 4.0);
        traversal::facts_of_search!(SsspOptions);

        fn width(own: &SsspOptions) -> Option<f64> {
            own.delta
        }
    }
}
