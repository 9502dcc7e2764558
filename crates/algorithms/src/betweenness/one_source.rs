//! Betweenness by paths from one source, as a plain function: a search counts paths level by level, and a sweep back
//! adds up what depends on every vertex (Brandes, J. Math. Sociol. 2001).

use parton_program::{Field, Graph, Vertex, program};

/// How much of the paths from a root leads through each vertex.
#[program(crate = parton_program)]
pub fn one_source(graph: &Graph<()>, root: Vertex) -> Field<f64> {
    let mut level = graph.field(u32::MAX);
    let mut paths = graph.field(0.0);
    level[root] = 0;
    paths[root] = 1.0;
    let mut now = 0;
    loop {
        let mut found = false;
        for v in graph.vertices() {
            if level[v] == now {
                for edge in graph.out_edges(v) {
                    if level[edge.target] == u32::MAX {
                        level[edge.target] = now + 1;
                        found = true;
                    }
                }
            }
        }
        if !found {
            break;
        }
        for v in graph.vertices() {
            if level[v] == now {
                for edge in graph.out_edges(v) {
                    if level[edge.target] == now + 1 {
                        paths[edge.target] += paths[v];
                    }
                }
            }
        }
        now += 1;
    }
    let mut score = graph.field(0.0);
    while now > 0 {
        now -= 1;
        for v in graph.vertices() {
            if level[v] == now {
                let mut sum = 0.0;
                for edge in graph.out_edges(v) {
                    if level[edge.target] == now + 1 {
                        sum += (1.0 + score[edge.target]) / paths[edge.target];
                    }
                }
                score[v] = paths[v] * sum;
            }
        }
    }
    // Paths end at their source, they do not lead through it.
    score[root] = 0.0;
    score
}
