//! Expressions that are the same at all vertices, such as `(1 - damping) / n`: found once a round, kept as members of the
//! program. A loop over vertices would otherwise divide anew at each of them.

use std::cell::RefCell;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::super::{Emitter, rust};
use crate::program::ir::{Binary, Expr, ExprKind};
use crate::program::lower::Lowered;

/// The expressions that were met so far.
pub(super) struct UniformValues<'l> {
    lowered: &'l Lowered,
    root: &'l TokenStream,
    found: RefCell<Vec<UniformValue>>,
}

struct UniformValue {
    name: Ident,
    ty: Ident,
    /// How it is computed.
    tokens: TokenStream,
}

impl<'l> UniformValues<'l> {
    pub(super) fn new(lowered: &'l Lowered, root: &'l TokenStream) -> Self {
        UniformValues { lowered, root, found: RefCell::default() }
    }

    /// The member that stands for an expression, if it is the same at all vertices and takes more than a look.
    pub(super) fn member(&self, expr: &Expr) -> Option<TokenStream> {
        if !is_uniform(expr) {
            return None;
        }
        let (root, lowered) = (self.root, self.lowered);
        let tokens = Emitter { lowered, root, leaf: &super::leaf, checks: false }.expr(expr);
        let (text, mut found) = (tokens.to_string(), self.found.borrow_mut());
        let known = found.iter().position(|one| one.tokens.to_string() == text);
        let number = known.unwrap_or(found.len());
        let name = format_ident!("uniform_{number}");
        if number == found.len() {
            found.push(UniformValue { name: name.clone(), ty: rust(expr.ty), tokens });
        }
        Some(quote!(self.#name))
    }

    /// Names and types of the members.
    pub(super) fn members(&self) -> (Vec<Ident>, Vec<Ident>) {
        self.found.borrow().iter().map(|one| (one.name.clone(), one.ty.clone())).unzip()
    }

    /// Statements that compute them.
    pub(super) fn computed(&self) -> TokenStream {
        let found = self.found.borrow();
        let computed =
            found.iter().map(|UniformValue { name, tokens, .. }| quote!(self.#name = #tokens;));
        computed.collect()
    }
}

/// Whether an expression is a real number that is the same at all vertices, and none that the compiler of Rust knows. A
/// division of whole numbers may fail: it stays where the program has it.
fn is_uniform(expr: &Expr) -> bool {
    let is_compound = matches!(
        expr.kind,
        ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Method(..) | ExprKind::Cast(_)
    );
    let (mut is_same, mut is_asked) = (expr.ty.is_float() && is_compound, false);
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Local(_)
        | ExprKind::Read(..)
        | ExprKind::Weight
        | ExprKind::Degree(..)
        | ExprKind::Vertex(_)
        | ExprKind::Element(..) => is_same = false,
        ExprKind::Binary(Binary::Div | Binary::Rem, a, _) => is_same &= a.ty.is_float(),
        ExprKind::Scalar(_) | ExprKind::NumVertices | ExprKind::NumEdges => is_asked = true,
        _ => {}
    });
    is_same && is_asked
}
