//! One engine per file, as on the CPU: [`relaxation`], [`union`], [`vertex`], [`operators`], [`ballot`] and [`intersect`].
//! The others are their parts.

pub(crate) mod ballot;
mod classes;
mod hub_order;
pub(crate) mod intersect;
mod labels;
mod narrow;
pub(crate) mod operators;
mod queue;
pub(crate) mod relaxation;
pub(crate) mod union;
pub(crate) mod vertex;
