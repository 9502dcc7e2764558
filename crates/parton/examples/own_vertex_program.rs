//! Your own vertex program with one call: Katz centrality, in which every vertex counts the walks
//! that end at it, long ones for less than short ones (Katz 1953).

use parton::prelude::*;

/// `x(v) = 1 + attenuation × sum of x(u) over edges u → v`, until all together change by less than
/// the tolerance.
#[derive(Clone)]
pub(crate) struct Katz {
    pub(crate) attenuation: f64,
    pub(crate) tolerance: f64,
}

#[device(crate = parton::engine)]
impl VertexProgram for Katz {
    type State = f64;
    type Message = f64;
    type Messages = Latest<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, _: Vertex<'_>) -> f64 {
        1.0
    }

    fn scatter(&self, _: Vertex<'_>, centrality: &f64) -> Option<f64> {
        Some(self.attenuation * centrality)
    }

    fn along(&self, share: f64, (): ()) -> f64 {
        share
    }

    fn apply(&self, _: Vertex<'_>, centrality: &mut f64, sum: f64, tally: &mut Tally) -> bool {
        tally.sums[0] += (1.0 + sum - *centrality).abs();
        *centrality = 1.0 + sum;
        true
    }

    fn properties(&self) -> Properties {
        // Every vertex takes part in every round.
        Properties { stationary: true, ..Properties::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        total.sums[0] < self.tolerance
    }
}

fn main() -> parton::Result<()> {
    let graph = std::env::args().nth(1).unwrap_or("rmat:12".into());
    let program = Katz { attenuation: 0.0005, tolerance: 1e-6 };
    let outcome = parton::run(program, graph.as_str(), 4)?;
    let mut best: Vec<_> = outcome.iter().collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (id, centrality) in best.iter().take(5) {
        println!("{id}\t{centrality:.4}");
    }
    println!("{} rounds by engine {}", outcome.report.rounds.len(), outcome.engine);
    Ok(())
}
