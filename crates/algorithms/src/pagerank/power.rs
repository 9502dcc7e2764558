//! The power method as a plain function: what `Ranks` computes on hosts where no vertex is left out
//! of rounds and shares are f64.

use parton_program::{Field, Graph, Vertex, program};

/// Ranks that sum up to 1. Without seeds the surfer starts again anywhere.
#[program(crate = parton_program)]
pub fn power(graph: &Graph<()>, damping: f64, tolerance: f64, seeds: &[Vertex]) -> Field<f64> {
    let mut teleport = graph.field(0.0);
    if seeds.is_empty() {
        let everywhere = 1.0 / graph.num_vertices() as f64;
        for v in graph.vertices() {
            teleport[v] = everywhere;
        }
    } else {
        let at_seeds = 1.0 / seeds.len() as f64;
        for &seed in seeds {
            teleport[seed] = at_seeds;
        }
    }
    let mut rank = teleport.clone();
    let mut next = graph.field(0.0);
    loop {
        let mut lost = 0.0;
        for v in graph.vertices() {
            if graph.out_degree(v) == 0 {
                lost += rank[v];
            }
        }
        let mut change = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += rank[edge.source] / graph.out_degree(edge.source) as f64;
            }
            next[v] = (1.0 - damping + damping * lost) * teleport[v] + damping * sum;
            change += (next[v] - rank[v]).abs();
        }
        std::mem::swap(&mut rank, &mut next);
        if change <= tolerance {
            break;
        }
    }
    rank
}
