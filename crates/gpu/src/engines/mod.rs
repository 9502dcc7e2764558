//! One engine per file, as on the CPU: [`relaxation`], [`union`] and [`vertex`]. The others are their
//! parts.

mod classes;
mod labels;
mod narrow;
mod queue;
pub(crate) mod relaxation;
pub(crate) mod union;
pub(crate) mod vertex;
