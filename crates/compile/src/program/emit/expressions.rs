//! Expressions as Rust.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::{Emitter, column, local, rust, scalar, vertex};
use crate::program::ir::{Binary, Dir, Expr, ExprKind, ScalarId, Unary};
use crate::program::lower::Lowered;

/// An expression of a relaxation: parameters are fields of it, the label and the vertex are locals.
pub(in crate::program) fn in_relaxation(lowered: &Lowered, expr: &Expr) -> TokenStream {
    let leaf = |part: &Expr| match &part.kind {
        ExprKind::Scalar(id) => {
            let name = Ident::new(&lowered.program.scalars[id.0].name, Span::call_site());
            Some(quote!(self.#name))
        }
        _ => None,
    };
    Emitter { lowered, root: &TokenStream::new(), leaf: &leaf, checks: false }.expr(expr)
}

impl Emitter<'_> {
    pub(super) fn expr(&self, expr: &Expr) -> TokenStream {
        if let Some(leaf) = (self.leaf)(expr) {
            return leaf;
        }
        let ty = rust(expr.ty);
        match &expr.kind {
            ExprKind::Integer(value) => {
                let literal = Literal::u64_unsuffixed(*value);
                quote!((#literal as #ty))
            }
            ExprKind::Float(value) => {
                let literal = Literal::f64_unsuffixed(*value);
                quote!((#literal as #ty))
            }
            ExprKind::Bool(value) => quote!(#value),
            ExprKind::Constant(name) => {
                let name = Ident::new(name, Span::call_site());
                quote!(#ty::#name)
            }
            ExprKind::Local(id) => {
                let name = local(*id);
                quote!(#name)
            }
            ExprKind::Scalar(id) => {
                let name = scalar(*id);
                quote!(#name)
            }
            ExprKind::Read(id, place) => {
                let (name, at) = (column(*id), vertex(*place));
                quote!(#name.get(#at))
            }
            ExprKind::Weight => quote!(weight),
            ExprKind::Degree(Dir::In, place) => {
                let at = vertex(*place);
                quote!(host.in_degree(#at))
            }
            ExprKind::Degree(_, place) => {
                let at = vertex(*place);
                quote!(host.out_degree(#at))
            }
            ExprKind::Vertex(place) => {
                let at = vertex(*place);
                quote!(host.id(#at))
            }
            ExprKind::Id(of) => self.expr(of),
            ExprKind::Element(list, at) => self.element(*list, at),
            ExprKind::NumVertices => quote!(uniform.num_vertices),
            ExprKind::NumEdges => quote!(uniform.num_edges),
            ExprKind::Unary(operator, a) => {
                let a = self.expr(a);
                match operator {
                    Unary::Negate => quote!((-#a)),
                    Unary::Not => quote!((!#a)),
                }
            }
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b),
            ExprKind::Method(name, parts) => {
                let name = Ident::new(name, Span::call_site());
                let mut parts = parts.iter().map(|part| self.expr(part));
                let receiver = parts.next().expect("the receiver");
                quote!((#receiver).#name(#(#parts),*))
            }
            ExprKind::Cast(a) => {
                let a = self.expr(a);
                quote!((#a as #ty))
            }
            ExprKind::If(a, b, c) => {
                let (a, b, c) = (self.expr(a), self.expr(b), self.expr(c));
                quote!((if #a { #b } else { #c }))
            }
        }
    }

    /// A vertex of a list that is a parameter.
    fn element(&self, list: ScalarId, at: &Expr) -> TokenStream {
        let name = &self.lowered.program.scalars[list.0].name;
        let (name, at) = (Ident::new(name, Span::call_site()), self.expr(at));
        quote!(self.#name[(#at) as usize].0)
    }

    /// Whole numbers wrap: a value may be computed where the program would not have asked for it.
    fn binary(&self, operator: Binary, a: &Expr, b: &Expr) -> TokenStream {
        let is_float = a.ty.is_float();
        let (a, b) = (self.expr(a), self.expr(b));
        let wrapping = match operator {
            Binary::Add => "wrapping_add",
            Binary::Sub => "wrapping_sub",
            Binary::Mul => "wrapping_mul",
            _ => "",
        };
        if !is_float && !wrapping.is_empty() && self.checks {
            let method =
                Ident::new(&wrapping.replace("wrapping", "overflowing"), Span::call_site());
            return quote!(host.fitting((#a).#method(#b)));
        }
        if !is_float && !wrapping.is_empty() {
            let method = Ident::new(wrapping, Span::call_site());
            return quote!((#a).#method(#b));
        }
        let symbol: TokenStream = operator.symbol().parse().expect("an operator of Rust");
        quote!((#a #symbol #b))
    }
}
