//! The compiler of whole programs: a plain function over a graph that lies in one memory, to operators, what
//! each of them reads and writes where, and the communication between them (Gill et al., "Abelian: a compiler
//! for graph analytics on distributed, heterogeneous platforms", Euro-Par'18).
//!
//! Reading order: [`ir`], [`parse`], [`mod@print`], [`access`], [`classify`], [`patterns`], [`restructure`], [`lower`],
//! [`recognise`], [`vertex_form`], [`gather`], [`rotate`], [`emit`], `expand`; [`interpret`] runs the
//! intermediate form as it is.

pub mod access;
pub mod classify;
pub mod emit;
mod expand;
pub mod gather;
pub mod interpret;
pub mod ir;
pub mod lower;
pub mod parse;
pub mod patterns;
pub mod print;
pub mod recognise;
pub mod restructure;
pub mod rotate;
pub mod vertex_form;

pub use expand::{CompiledFunction, compile, program};
