//! The bodies of operators. Updates are brought into one form: whatever way a reduction is written, it
//! becomes a fold.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr as Source, Pat, Result, Stmt};

use super::scope::{Binding, Level};
use super::syntax::{
    NO_EFFECT, ONE_NAME, compound, ident, loop_variable, negated, pattern_name, value_type,
};
use super::{Parser, expressions};
use crate::program::ir::{Act, ActKind, Dir, Expr, ExprKind, Ty, VertexPlace};

impl Parser {
    /// The statements of a block.
    pub(super) fn acts(&mut self, statements: &[Stmt]) -> Vec<Act> {
        let mut acts = Vec::new();
        for (place, statement) in statements.iter().enumerate() {
            // `if condition { continue; }` guards all that follows.
            if let Some(condition) = skips(statement) {
                match self.expression(condition) {
                    Ok(condition) => {
                        let span = condition.span;
                        let rest = self.acts(&statements[place + 1..]);
                        let kind = ActKind::If(negated(condition), rest, Vec::new());
                        acts.push(Act { kind, span });
                    }
                    Err(error) => self.errors.push(error),
                }
                return acts;
            }
            if let Err(error) = self.act(statement, &mut acts) {
                self.errors.push(error);
            }
        }
        acts
    }

    pub(super) fn inner_acts(&mut self, statements: &[Stmt]) -> Vec<Act> {
        let level = self.scope.level;
        self.inside(level, |parser| parser.acts(statements))
    }

    fn act(&mut self, statement: &Stmt, out: &mut Vec<Act>) -> Result<()> {
        match statement {
            Stmt::Local(local) => self.local(local, out),
            Stmt::Expr(expression, _) => self.effect(expression, out),
            Stmt::Macro(call) => Err(Error::new_spanned(
                call,
                "an operator runs on many threads, hosts and devices: it cannot print, panic or allocate. \
                 Return a field and look at it after the run",
            )),
            Stmt::Item(item) => Err(Error::new_spanned(item, "items belong outside the program")),
        }
    }

    fn local(&mut self, local: &syn::Local, out: &mut Vec<Act>) -> Result<()> {
        let Some(name) = pattern_name(&local.pat) else {
            return Err(Error::new_spanned(&local.pat, ONE_NAME));
        };
        let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none()) else {
            return Err(Error::new_spanned(local, "a `let` needs a value"));
        };
        let span = local.span();
        if let Some((place, new)) = replaced(&init.expr) {
            let (field, at) = self.element(place)?;
            let ty = self.scope.fields[field.0].ty;
            let new = match new {
                Some(new) => self.expression(new)?,
                None => zero(ty, span),
            };
            self.scope.unify(ty, new.ty, span)?;
            let old = Expr::new(ExprKind::Read(field, at), ty, span);
            let bound = self.scope.add_local(name, ty);
            out.push(Act { kind: ActKind::Let(bound, old), span });
            out.push(Act { kind: ActKind::Write(field, at, new), span });
            return Ok(());
        }
        let value = self.expression(&init.expr)?;
        if let (ExprKind::Vertex(at), true) = (&value.kind, value.ty == Ty::Vertex) {
            self.scope.bind(name, Binding::Vertex(*at));
            return Ok(());
        }
        if let Pat::Type(typed) = &local.pat {
            self.scope.unify(value.ty, value_type(&typed.ty)?, typed.span())?;
        }
        let bound = self.scope.add_local(name, value.ty);
        out.push(Act { kind: ActKind::Let(bound, value), span });
        Ok(())
    }

    fn effect(&mut self, source: &Source, out: &mut Vec<Act>) -> Result<()> {
        match source {
            Source::ForLoop(each) => self.edges(each, out),
            Source::If(choice) => self.guarded(choice, out),
            Source::Assign(assign) => self.assigned(&assign.left, &assign.right, out),
            Source::Binary(binary) => match compound(&binary.op) {
                Some(operator) => self.updated(&binary.left, operator, &binary.right, out),
                None => Err(Error::new_spanned(binary, NO_EFFECT)),
            },
            Source::MethodCall(call) if call.method == "push" => self.push(call, out),
            Source::MethodCall(_) => match self.improvement(source)? {
                Some((target, fold, value)) => {
                    self.fold(target, fold, value, Vec::new(), source, out)
                }
                None => Err(Error::new_spanned(source, NO_EFFECT)),
            },
            Source::Block(block) => {
                let acts = self.inner_acts(&block.block.stmts);
                out.extend(acts);
                Ok(())
            }
            Source::Break(_) | Source::Continue(_) | Source::Return(_) => Err(Error::new_spanned(
                source,
                "vertices and edges are visited in any order, many at a time, so no visit can end the loop: \
                 guard what follows with an `if`",
            )),
            Source::While(_) | Source::Loop(_) => Err(Error::new_spanned(
                source,
                "an operator has no loops but the one over its edges: put the loop around the operator",
            )),
            other => Err(Error::new_spanned(other, expressions::unsupported(other))),
        }
    }

    fn push(&mut self, call: &syn::ExprMethodCall, out: &mut Vec<Act>) -> Result<()> {
        let list = ident(&call.receiver).and_then(|name| self.scope.find(&name.to_string()));
        let (Some(Binding::List(list)), Some(vertex)) = (list, call.args.first()) else {
            return Err(Error::new_spanned(
                call,
                "operators do not allocate: vertices can be pushed to a `Worklist`, values belong in fields",
            ));
        };
        let at = self.vertex(vertex)?;
        out.push(Act { kind: ActKind::Push(list, at), span: call.span() });
        Ok(())
    }

    /// `for edge in graph.out_edges(v)`.
    fn edges(&mut self, each: &syn::ExprForLoop, out: &mut Vec<Act>) -> Result<()> {
        let call = match &*each.expr {
            Source::MethodCall(call) => Some(call),
            _ => None,
        };
        let graph = call.and_then(|call| ident(&call.receiver));
        let graph = graph.and_then(|name| self.scope.find(&name.to_string()));
        let (Some(call), Some(Binding::Graph)) = (call, graph) else {
            return Err(Error::new_spanned(
                &each.expr,
                "operators loop over edges of their vertex: `graph.out_edges(v)`, `graph.in_edges(v)` or \
                 `graph.edges(v)`",
            ));
        };
        let dir = match &call.method.to_string()[..] {
            "out_edges" => Dir::Out,
            "in_edges" => Dir::In,
            "edges" => Dir::Both,
            "vertices" => {
                return Err(Error::new_spanned(
                    call,
                    "a loop over all vertices inside an operator compares every pair of them: use a field \
                     and a loop of its own",
                ));
            }
            _ => {
                let known = "edges are `out_edges(v)`, `in_edges(v)` and `edges(v)`";
                return Err(Error::new_spanned(&call.method, known));
            }
        };
        let refused = "an operator sees the edges of its own vertex; edges of neighbours are two hops away: \
                       bring what they know here through a field, one edge at a time";
        if self.scope.level == Level::Edge {
            return Err(Error::new_spanned(&each.expr, refused));
        }
        let vertex = call.args.first().map(|vertex| self.vertex(vertex)).transpose()?;
        if vertex != Some(VertexPlace::Active) {
            return Err(Error::new_spanned(&each.expr, refused));
        }
        let edge = loop_variable(&each.pat)?;
        let body = self.inside(Level::Edge, |parser| {
            if let Some(edge) = edge {
                parser.scope.bind(edge, Binding::Edge(dir));
            }
            parser.acts(&each.body.stmts)
        });
        out.push(Act { kind: ActKind::Edges(dir, body), span: each.span() });
        Ok(())
    }

    fn guarded(&mut self, choice: &syn::ExprIf, out: &mut Vec<Act>) -> Result<()> {
        let otherwise = choice.else_branch.as_ref().map(|(_, otherwise)| &**otherwise);
        if otherwise.is_none() {
            if let Some((target, fold, value)) = self.improvement(&choice.cond)? {
                let then = self.inner_acts(&choice.then_branch.stmts);
                return self.fold(target, fold, value, then, &choice.cond, out);
            }
            if let Some(done) = self.compare_and_assign(choice, out) {
                return done;
            }
        }
        let condition = self.expression(&choice.cond)?;
        let then = self.inner_acts(&choice.then_branch.stmts);
        let otherwise = match otherwise {
            Some(Source::Block(block)) => self.inner_acts(&block.block.stmts),
            Some(other) => {
                let mut acts = Vec::new();
                self.effect(other, &mut acts)?;
                acts
            }
            None => Vec::new(),
        };
        let kind = ActKind::If(condition, then, otherwise);
        out.push(Act { kind, span: choice.span() });
        Ok(())
    }
}

/// The condition of `if condition { continue; }`.
fn skips(statement: &Stmt) -> Option<&Source> {
    let Stmt::Expr(Source::If(choice), _) = statement else { return None };
    let [Stmt::Expr(Source::Continue(skip), _)] = &choice.then_branch.stmts[..] else {
        return None;
    };
    (choice.else_branch.is_none() && skip.label.is_none()).then_some(&choice.cond)
}

/// The place and the new value of `place.take()`, `mem::take(&mut place)` and `mem::replace(&mut place, new)`.
fn replaced(source: &Source) -> Option<(&Source, Option<&Source>)> {
    match source {
        Source::MethodCall(call) if call.method == "take" && call.args.is_empty() => {
            Some((&call.receiver, None))
        }
        Source::Call(call) => {
            let Source::Path(path) = &*call.func else { return None };
            let name = &path.path.segments.last()?.ident;
            let mut arguments = call.args.iter();
            let Source::Reference(place) = arguments.next()? else { return None };
            match (name == "take", name == "replace") {
                (true, _) => Some((&place.expr, None)),
                (_, true) => Some((&place.expr, Some(arguments.next()?))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Nothing, of some type.
fn zero(ty: Ty, span: Span) -> Expr {
    match ty {
        Ty::Bool => Expr::new(ExprKind::Bool(false), ty, span),
        _ => Expr::new(ExprKind::Integer(0), ty, span),
    }
}
