//! A host's data: its edges as a program sees them, its labels, and the frontier they spread from.

pub mod degrees;
pub mod directions;
pub mod edges;
pub(crate) mod frontier;
pub(crate) mod labels;
pub mod sides;
