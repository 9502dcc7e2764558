//! One engine per file, as on the CPU.

mod queue;
pub(crate) mod relaxation;
pub(crate) mod union;
pub(crate) mod vertex;
