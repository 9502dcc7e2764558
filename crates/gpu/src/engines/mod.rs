//! One engine per file, as on the CPU.

pub(crate) mod ballot;
pub(crate) mod intersect;
mod queue;
pub(crate) mod relaxation;
pub(crate) mod union;
pub(crate) mod vertex;
