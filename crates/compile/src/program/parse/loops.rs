//! Loops outside operators: over a worklist, while something holds, over a list of vertices, and those that count.

use syn::spanned::Spanned;
use syn::{Error, Expr as Source, Pat, Result};

use super::Parser;
use super::scope::{Binding, Level};
use super::syntax::{ident, loop_variable, negated};
use crate::program::ir::{Binary, Expr, ExprKind, Named, Over, ScalarId, Step, Ty};

impl Parser {
    /// `while let Some(v) = work.pop()` and `while condition`.
    pub(super) fn repeated(
        &mut self,
        repeated: &syn::ExprWhile,
        source: &Source,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        if let Source::Let(bound) = &*repeated.cond {
            let list = match &*bound.expr {
                Source::MethodCall(call) if call.method == "pop" => ident(&call.receiver),
                _ => None,
            };
            let list = list.and_then(|name| self.scope.find(&name.to_string()));
            let vertex = match &*bound.pat {
                Pat::TupleStruct(some) if some.elems.len() == 1 => some.elems.first(),
                _ => None,
            };
            let (Some(Binding::List(list)), Some(vertex)) = (list, vertex) else {
                return Err(Error::new_spanned(
                    &repeated.cond,
                    "expected `while let Some(v) = work.pop()` of a `Worklist`",
                ));
            };
            let vertex = loop_variable(vertex)?;
            return self.operator(Over::List(list), vertex, &repeated.body, source, out);
        }
        let condition = self.expression(&repeated.cond)?;
        let mut body = vec![Step::If(negated(condition), vec![Step::Break], Vec::new())];
        body.extend(self.looped(&repeated.body.stmts));
        out.push(Step::Loop(body));
        Ok(())
    }

    /// The length of a list of vertices that is a parameter.
    pub(super) fn vertex_list(&self, source: &Source) -> Option<ScalarId> {
        match self.scope.find(&ident(source)?.to_string()) {
            Some(Binding::VertexList(length)) => Some(length),
            _ => None,
        }
    }

    /// `for &seed in seeds` of a parameter `seeds: &[Vertex]`.
    pub(super) fn each_of_list(
        &mut self,
        each: &syn::ExprForLoop,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        let list = self.vertex_list(&each.expr).expect("the caller has asked");
        let span = each.expr.span();
        let Pat::Reference(pattern) = &*each.pat else {
            return Err(Error::new_spanned(
                &each.pat,
                "a list has references to vertices: write `for &seed in seeds`",
            ));
        };
        self.inside(Level::Uniform, |parser| {
            let place = parser.hidden_scalar("place", Ty::U64, span);
            let scalar = |id| Expr::new(ExprKind::Scalar(id), Ty::U64, span);
            let whole = |value| Expr::new(ExprKind::Integer(value), Ty::U64, span);
            let binary = |operator, a, b, ty| {
                Expr::new(ExprKind::Binary(operator, Box::new(a), Box::new(b)), ty, span)
            };
            out.push(Step::Assign(place, whole(0)));
            let is_over = binary(Binary::Ge, scalar(place), scalar(list), Ty::Bool);
            let mut body = vec![Step::If(is_over, vec![Step::Break], Vec::new())];
            if let Some(name) = loop_variable(&pattern.pat)? {
                let vertex = parser.scope.add_scalar(name, Ty::Vertex);
                let element = ExprKind::Element(list, Box::new(scalar(place)));
                body.push(Step::Assign(vertex, Expr::new(element, Ty::Vertex, span)));
            }
            body.extend(parser.looped(&each.body.stmts));
            let next = binary(Binary::Add, scalar(place), whole(1), Ty::U64);
            body.push(Step::Assign(place, next));
            out.push(Step::Loop(body));
            Ok(())
        })
    }

    /// `for round in 0..k`.
    pub(super) fn counted(
        &mut self,
        counted: &syn::ExprForLoop,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        let Source::Range(range) = &*counted.expr else {
            return Err(Error::new_spanned(
                &counted.expr,
                "loops go over `graph.vertices()`, or count: `for round in 0..k`",
            ));
        };
        let (Some(from), Some(to), syn::RangeLimits::HalfOpen(_)) =
            (&range.start, &range.end, &range.limits)
        else {
            return Err(Error::new_spanned(range, "expected a range with two ends: `0..k`"));
        };
        let (from, to) = (self.expression(from)?, self.expression(to)?);
        let ty = self.scope.unify(from.ty, to.ty, range.span())?;
        let span = range.span();
        // The bound is computed once, as Rust does.
        let bound = self.hidden_scalar("end", ty, span);
        out.push(Step::Assign(bound, to));
        self.inside(Level::Uniform, |parser| {
            let counter = match loop_variable(&counted.pat)? {
                Some(name) => parser.scope.add_scalar(name, ty),
                None => parser.hidden_scalar("round", ty, span),
            };
            out.push(Step::Assign(counter, from));
            let scalar = |id| Expr::new(ExprKind::Scalar(id), ty, span);
            let compare = |operator, a, b| {
                Expr::new(ExprKind::Binary(operator, Box::new(a), Box::new(b)), Ty::Bool, span)
            };
            let is_over = compare(Binary::Ge, scalar(counter), scalar(bound));
            let mut body = vec![Step::If(is_over, vec![Step::Break], Vec::new())];
            body.extend(parser.looped(&counted.body.stmts));
            let one = Expr::new(ExprKind::Integer(1), ty, span);
            let next = ExprKind::Binary(Binary::Add, Box::new(scalar(counter)), Box::new(one));
            body.push(Step::Assign(counter, Expr::new(next, ty, span)));
            out.push(Step::Loop(body));
            Ok(())
        })
    }

    fn hidden_scalar(&mut self, name: &str, ty: Ty, span: proc_macro2::Span) -> ScalarId {
        let named = Named { name: name.into(), ty, span };
        self.scope.scalars.push(named);
        ScalarId(self.scope.scalars.len() - 1)
    }
}
