//! Both ends: blocks balanced by all edges, every edge with its source, and once more with its
//! destination.
//!
//! All neighbours of a vertex, at either end of its edges, are then in one place. A bottom-up search can stop at the
//! first parent, as on a single host.

use super::oec::WithSource;
use crate::Result;
use crate::policy::{Masters, Policy, PolicyKind, Reads, Setup};

pub(super) const KIND: PolicyKind = PolicyKind {
    name: "dual",
    help: "as oec, and all in-edges of a vertex live with it, too: each edge is there twice",
    argument: None,
    reads: Reads::Both,
    build,
};

fn build(setup: &mut Setup<'_>) -> Result<Box<dyn Policy>> {
    Ok(Box::new(WithSource(Masters::Blocks(setup.blocks_by_all_edges()?))))
}
