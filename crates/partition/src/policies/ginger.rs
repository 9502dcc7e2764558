//! Ginger: scored masters, and edges as the hybrid cut places them.

use super::hvc::Hybrid;
use super::scored;
use crate::Result;
use crate::policy::{Policy, PolicyKind, Reads, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "ginger",
    help: "scored masters, edges as in hvc",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = scored::masters(setup)?;
    Ok(Box::new(Hybrid::new(masters, setup)))
}
