//! One engine per file, as on the CPU: [`relaxation`], [`union`], [`vertex`], [`ballot`] and [`intersect`].
//! The others are their parts.

pub(crate) mod ballot;
mod classes;
pub(crate) mod intersect;
mod labels;
mod narrow;
mod queue;
pub(crate) mod relaxation;
pub(crate) mod union;
pub(crate) mod vertex;
