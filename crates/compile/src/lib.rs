//! From the Rust source of a program to the text that a device compiles. Knows syntax only.
//!
//! Three stages: [`parse`] turns the functions of an `impl` block into the intermediate form [`ir`],
//! in which names are resolved and references are gone; [`emit`] writes it as text; [`device`] puts the
//! text back into the source. Types stay unknown: device code finds them by templates, and the Rust
//! compiler has checked them.
//!
//! Reading order: [`ir`], [`signatures`], [`parse`], [`emit::cuda`], `expand`.

pub mod emit;
mod expand;
pub mod ir;
pub mod parse;
pub mod program;
pub mod signatures;

pub use expand::device;
