//! Vertices hashed to hosts, edges with their source: the baseline that ignores all structure,
//! balanced for any graph and any order of ids, and expensive to keep consistent.

use super::oec::WithSource;
use crate::Result;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "random",
    help: "vertices hashed to hosts, edges live with their source",
    argument: None,
    reads: Reads::OutEdges,
    build,
};

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    Ok(Box::new(WithSource(Masters::hashed(setup.shares))))
}
