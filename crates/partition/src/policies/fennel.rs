//! Masters where most out-neighbours are, unless that host is full; edges with their source.

use super::oec::WithSource;
use super::scored;
use crate::Result;
use crate::policy::{Policy, PolicyKind, Reads, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "fennel",
    help: "scored masters (Fennel), edges live with their source",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    let masters = scored::masters(setup)?;
    Ok(Box::new(WithSource(masters)))
}
