//! Loops over edges. What edges give to the vertex whose row they are in stays in registers until the end of
//! the row; what they give to neighbours goes to memory that threads share.

use parton_plan::ColumnRole;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Emitter, column, vertex};
use crate::program::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, VertexPlace, each_expression,
};

/// What a row has gathered for a column, and whether it has gathered anything.
fn gathered(id: FieldId) -> [Ident; 2] {
    [format_ident!("gathered_{}", id.0), format_ident!("is_given_{}", id.0)]
}

impl Emitter<'_> {
    /// The part of an operator that visits edges.
    pub(super) fn edges(&self, dir: Dir, acts: &[Act]) -> TokenStream {
        let root = self.root;
        let direction = match dir {
            Dir::Out => quote!(Out),
            Dir::In => quote!(In),
            Dir::Both => quote!(Both),
        };
        let near = folded(acts, VertexPlace::Active);
        let begun = near.iter().map(|id| {
            let ([value, is_given], reduction) = (gathered(*id), self.reduction_of(*id));
            quote! {
                let mut #value = <#reduction as #root::Reduction>::identity();
                let mut #is_given = false;
            }
        });
        let ended = near.iter().map(|id| {
            let ([value, is_given], name) = (gathered(*id), column(*id));
            quote!(if #is_given { #root::host::contribute_alone(#name, near, #value); })
        });
        let mut far = folded(acts, VertexPlace::Far);
        each_expression(acts, &mut |part| {
            if let ExprKind::Read(id, VertexPlace::Far) = part.kind
                && !far.contains(&id)
            {
                far.push(id);
            }
        });
        let far = far.into_iter().map(column);
        let (handles, body) = (self.handles_of(acts), self.acts(acts));
        quote! {
            #handles
            host.each_row(#root::plan::EdgeDirection::#direction, |near, row, tallies| {
                #(#begun)*
                row.each(|later| { #(#far.cells().prefetch(later);)* }, |far, weight| { #body });
                #(#ended)*
            });
        }
    }

    /// Folds a value of an edge into one of its ends.
    pub(super) fn contribute(&self, id: FieldId, place: VertexPlace, value: &Expr) -> TokenStream {
        let (root, name, value) = (self.root, column(id), self.expr(value));
        let at = vertex(place);
        if place == VertexPlace::Far {
            return quote!(#root::host::contribute(#name, #at, #value););
        }
        let ([all, is_given], reduction) = (gathered(id), self.reduction_of(id));
        quote! {
            #all = <#reduction as #root::Reduction>::combine(#all, #value);
            #is_given = true;
        }
    }

    /// The reduction of an accumulator.
    fn reduction_of(&self, id: FieldId) -> TokenStream {
        match self.role(id) {
            ColumnRole::Accumulator(fold) => self.reduction(fold, &self.ty(id)),
            _ => unreachable!("edges fold into accumulators alone"),
        }
    }
}

/// The accumulators that edges fold into at one of their ends.
pub(super) fn folded(acts: &[Act], at: VertexPlace) -> Vec<FieldId> {
    let mut found = Vec::new();
    for act in acts {
        act.walk(&mut |act| {
            if let ActKind::Fold(id, place, ..) = act.kind
                && place == at
                && !found.contains(&id)
            {
                found.push(id);
            }
        });
    }
    found
}
