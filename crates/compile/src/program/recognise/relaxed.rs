//! A relaxation as the compiler knows it.

use proc_macro2::TokenStream;
use quote::quote;

use crate::program::ir::{Dir, Expr, Fold, Ty, VariableId};

/// The relaxation that a program is.
#[derive(Clone, Debug)]
pub struct Relaxed {
    /// How two labels become one.
    pub fold: Fold,
    /// The type of labels.
    pub ty: Ty,
    /// Which edges labels travel along.
    pub dir: Dir,
    /// The label of a vertex at the beginning, in terms of [`NUMBER`].
    pub start: Expr,
    /// A vertex, which is a parameter, and its label at the beginning.
    pub point: Option<(Expr, Expr)>,
    /// The label at the other end of an edge, in terms of [`LABEL`].
    pub relax: Expr,
    /// Whether labels pass edges as they are, and tell components apart.
    pub passes_unchanged: bool,
    /// Whether the first neighbour found decides, level by level.
    pub first_wins: bool,
    /// Whether labels grow along edges by what is added to them.
    pub adds: bool,
    /// Whether whole numbers that are added may not fit their type.
    pub may_wrap: bool,
}

impl Relaxed {
    /// As what engines see it.
    pub fn form(&self, root: &TokenStream) -> TokenStream {
        let Relaxed { passes_unchanged, first_wins, adds, .. } = self;
        quote!(#root::engine::ProgramForm::Relaxation {
            passes_unchanged: #passes_unchanged,
            first_wins: #first_wins,
            adds: #adds,
        })
    }

    /// The names of the engines that run it, the one that suits first. Engines say the same of its form.
    pub fn engines(&self) -> Vec<&'static str> {
        let is_level_by_level = self.first_wins && !self.passes_unchanged;
        let general = if is_level_by_level { ["frontier", "push"] } else { ["push", "frontier"] };
        let union = self.passes_unchanged.then_some("union");
        let delta = self.adds.then_some("delta");
        union
            .into_iter()
            .chain(general)
            .chain(["pull"])
            .chain(delta)
            .chain(["spmv", "steps"])
            .collect()
    }
}

/// Stands for the label in expressions of a relaxation.
pub const LABEL: VariableId = VariableId(0);
/// Stands for the number of the vertex.
pub const NUMBER: VariableId = VariableId(1);
