//! Hubs and authorities (HITS; Kleinberg, "Authoritative sources in a hyperlinked environment", J. ACM 1999): a
//! good hub leads to good authorities, a good authority is led to by good hubs. Both are normalised to length 1
//! in every round.

use parton_program::{Field, Graph, program};

use crate::memory_use::MemoryUse;

/// The scores as hubs and as authorities.
#[program(crate = parton_program)]
pub fn hits(graph: &Graph<()>, rounds: u32) -> (Field<f64>, Field<f64>) {
    let mut hub = graph.field(1.0);
    let mut authority = graph.field(1.0);
    for _ in 0..rounds {
        let mut square: f64 = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += hub[edge.source];
            }
            authority[v] = sum;
            square += sum * sum;
        }
        for v in graph.vertices() {
            authority[v] /= square.sqrt().max(f64::MIN_POSITIVE);
        }
        square = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.out_edges(v) {
                sum += authority[edge.target];
            }
            hub[v] = sum;
            square += sum * sum;
        }
        for v in graph.vertices() {
            hub[v] /= square.sqrt().max(f64::MIN_POSITIVE);
        }
    }
    (hub, authority)
}

crate::compiled! {
    /// hubs and authorities: hubs lead to good authorities, authorities are led to by good hubs
    pub struct Hits = hits as "hits" -> ["hub", "authority"];
    options HitsOptions {
        /// How often both scores are computed.
        rounds: u32 = 20;
    }
    with {
        const MEMORY_USE: MemoryUse = MemoryUse::new(6.0, 66.0, 8.0).with_copies(0.3);
    }
}
