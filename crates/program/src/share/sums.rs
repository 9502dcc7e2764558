//! Whether the labels of a relaxation that adds stay within their type.

use parton_engine::Relaxation;
use parton_graph::{Weight, WeightKind};
use parton_sync::value::Number;
use parton_sync::{Result, Substrate};

use crate::compiled::Program;
use crate::weights::WeightRange;

type Label<P> = <<P as Program>::Relaxed as Relaxation>::Label;
type RelaxedWeight<P> = <<P as Program>::Relaxed as Relaxation>::Weight;

/// Whether labels only grow along edges, and none can outgrow its type: no path visits a vertex twice. Otherwise
/// the program runs operator by operator, which finds out. Every host must call this.
pub(super) fn fit<P: Program>(
    program: &P,
    relaxed: &P::Relaxed,
    substrate: &mut Substrate<'_>,
) -> Result<bool> {
    if !P::ADDS || !(P::MAY_WRAP || Label::<P>::ROUNDS) {
        return Ok(true);
    }
    let weights = match RelaxedWeight::<P>::KIND {
        WeightKind::None => WeightRange::NONE,
        _ => WeightRange::find(substrate)?,
    };
    if Label::<P>::ROUNDS {
        return Ok(weights.least >= 0.0);
    }
    let vertices = substrate.partition().num_vertices() as f64;
    let greatest = RelaxedWeight::<P>::from_f64(weights.greatest);
    let step = relaxed.relax(Label::<P>::ZERO, greatest).to_f64();
    Ok(program.start_bound(vertices) + step * vertices < Label::<P>::GREATEST.to_f64())
}
