//! A compiled stationary gather under a name.

use parton_program::{Field, Graph, program};

/// A stationary gather that was compiled.
#[program(crate = parton_program)]
pub(crate) fn ranks(graph: &Graph<()>, damping: f64) -> (Field<f64>, Field<bool>) {
    let n = graph.num_vertices() as f64;
    let mut rank = graph.field(1.0 / n);
    let mut next = graph.field(0.0);
    let mut is_high = graph.field(false);
    for _ in 0..12 {
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
            next[v] = (1.0 - damping) / n + damping * (sum + lost / n);
            change += (next[v] - rank[v]).abs();
            if next[v] > 0.2 && !is_high[v] {
                is_high[v] = true;
            }
        }
        std::mem::swap(&mut rank, &mut next);
        if change < 1e-4 {
            break;
        }
    }
    (rank, is_high)
}

parton_algorithms::compiled! {
    /// ranks, by a stationary gather
    pub(crate) struct Ranks = ranks as "ranks" -> ["rank", "high"];
    options RanksOptions {
        /// How much of a rank is passed on.
        damping: f64 = 0.85;
    }
}
