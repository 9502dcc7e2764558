//! Sugar: scored masters, and edges as the Cartesian cut places them.

use super::cvc::Cartesian;
use super::scored;
use crate::Result;
use crate::policy::{Policy, PolicyKind, Reads, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "sugar",
    help: "scored masters, edges as in cvc",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = scored::masters(setup)?;
    Ok(Box::new(Cartesian::new(masters, setup.shares.len())))
}
