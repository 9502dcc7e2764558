//! A relaxation as Rust: its value, where it starts, which edges it takes, and what it makes of a label.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::super::emit;
use super::super::ir::{Dir, Expr, ExprKind, Fold, Ty};
use super::super::lower::Lowered;
use super::{Relaxed, worst};

/// The items of `ParsedProgram` that are about relaxations, and what they need.
pub fn emit(
    lowered: &Lowered,
    relaxed: Option<&Relaxed>,
    root: &TokenStream,
) -> (TokenStream, TokenStream) {
    let Some(relaxed) = relaxed else {
        let items = quote! {
            type Relaxed = #root::NotRelaxed;
            const MAY_WRAP: bool = false;
            fn start_bound(&self, _: f64) -> f64 { 0.0 }
            fn relaxed(&self, _: #root::RelaxSetting) -> Option<#root::NotRelaxed> { None }
            fn labelled(_: Vec<u32>) -> Vec<#root::FieldValues> { Vec::new() }
        };
        return (items, TokenStream::new());
    };
    let parameters = &lowered.program.scalars[..lowered.program.num_parameters];
    let names: Vec<_> =
        parameters.iter().map(|named| Ident::new(&named.name, Span::call_site())).collect();
    let types = parameters.iter().map(|named| emit::rust(named.ty));
    let values = parameters.iter().zip(&names).map(|(named, name)| match named.ty {
        Ty::Vertex => quote!(self.#name.0),
        _ => quote!(self.#name),
    });
    let ty = emit::rust(relaxed.ty);
    let may_wrap = relaxed.may_wrap;
    let starts = [Some(&relaxed.start), relaxed.point.as_ref().map(|(_, value)| value)];
    let starts = starts.into_iter().flatten().map(|start| start_bound(lowered, start));
    let items = quote! {
        type Relaxed = Relaxed;
        const MAY_WRAP: bool = #may_wrap;
        fn start_bound(&self, vertices: f64) -> f64 {
            let bound = 0.0f64;
            #(let bound = bound.max(#starts);)*
            bound
        }
        fn relaxed(&self, setting: #root::RelaxSetting) -> Option<Relaxed> {
            Some(Relaxed {
                #(#names: #values,)*
                delta: setting.delta,
                is_symmetric: setting.is_symmetric,
            })
        }
        fn labelled(labels: Vec<#ty>) -> Vec<#root::FieldValues> { vec![<#ty as #root::Typed>::values(labels)] }
    };
    let implementation = implementation(lowered, relaxed, root);
    let definition = quote! {
        pub struct Relaxed { #(#names: #types,)* delta: #root::Delta, is_symmetric: bool }
        #implementation
    };
    (items, definition)
}

/// No vertex starts with more than this, but for those that start with nothing.
fn start_bound(lowered: &Lowered, start: &Expr) -> TokenStream {
    match &start.kind {
        ExprKind::Constant("MAX" | "INFINITY") => quote!(0.0),
        ExprKind::Constant("MIN") if start.ty.is_unsigned() => quote!(0.0),
        ExprKind::Id(_) => quote!(vertices),
        ExprKind::Cast(of) => start_bound(lowered, of),
        ExprKind::Integer(value) => {
            let value = *value as f64;
            quote!(#value)
        }
        ExprKind::Scalar(id) if lowered.program.scalars[id.0].ty != Ty::Vertex => {
            let value = emit::in_relaxation(lowered, start);
            quote!((#value as f64))
        }
        _ => quote!(f64::INFINITY),
    }
}

/// Which edges labels travel along. Labels that pass every edge alike need not pass it twice.
fn edges(lowered: &Lowered, relaxed: &Relaxed, root: &TokenStream) -> TokenStream {
    let edges = quote!(#root::engine::Edges);
    match (relaxed.dir, lowered.program.weight) {
        (Dir::Out, _) => quote!(#edges::Out),
        (Dir::In, _) => quote!(#edges::In),
        (Dir::Both, None) => quote!(if self.is_symmetric { #edges::Out } else { #edges::Both }),
        (Dir::Both, Some(_)) => quote!(#edges::Both),
    }
}

/// The bucket of a label that grows along edges.
fn bucket(relaxed: &Relaxed, root: &TokenStream) -> Option<TokenStream> {
    let ty = emit::rust(relaxed.ty);
    let bucket = match relaxed.ty.is_float() {
        true => quote!((label as f64 * self.delta.inverse) as usize),
        false => quote!(((label as u64) >> self.delta.shift) as usize),
    };
    relaxed.adds.then(|| {
        quote! {
            #[inline]
            fn bucket(&self, label: #ty) -> usize {
                let bucket = #bucket;
                bucket.min(#root::MAX_BUCKETS)
            }
        }
    })
}

fn implementation(lowered: &Lowered, relaxed: &Relaxed, root: &TokenStream) -> TokenStream {
    let (ty, weight) = (emit::rust(relaxed.ty), emit::type_of(lowered.program.weight));
    let reduction = match relaxed.fold {
        Fold::Min => quote!(#root::reduction::Min<#ty>),
        _ => quote!(#root::reduction::Max<#ty>),
    };
    let worst = Ident::new(worst(relaxed.fold, relaxed.ty), Span::call_site());
    let worst = quote!(#ty::#worst);
    let emit_closed = |expr: &Expr| emit::in_relaxation(lowered, expr);
    let (start, relax) = (emit_closed(&relaxed.start), emit_closed(&relaxed.relax));
    let start = match &relaxed.point {
        Some((vertex, value)) => {
            let (vertex, value) = (emit_closed(vertex), emit_closed(value));
            quote!(if local_1 == #vertex { #value } else { #start })
        }
        None => start,
    };
    let along = if lowered.program.weight.is_some() { quote!(weight) } else { quote!(()) };
    let (passes_unchanged, first_wins) = (relaxed.passes_unchanged, relaxed.first_wins);
    let (edges, bucket) = (edges(lowered, relaxed, root), bucket(relaxed, root));
    let form = relaxed.form(root);
    quote! {
        #[#root::device(crate = #root::engine)]
        impl #root::engine::Relaxation for Relaxed {
            type Label = #ty;
            type Reduction = #reduction;
            type Weight = #weight;
            const FORM: Option<#root::engine::ProgramForm> = Some(#form);

            fn start(&self, vertex: #root::engine::Vertex<'_>) -> Option<#ty> {
                let local_1 = vertex.id().0 as u32;
                let label = #start;
                if label == #worst { None } else { Some(label) }
            }

            #[inline]
            fn relax(&self, local_0: #ty, #along: #weight) -> #ty {
                #relax
            }

            #bucket

            fn edges(&self) -> #root::engine::Edges {
                #edges
            }

            fn first_wins(&self) -> bool {
                #first_wins
            }

            fn passes_unchanged(&self) -> bool {
                #passes_unchanged
            }
        }
    }
}
