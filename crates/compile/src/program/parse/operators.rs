//! The bodies of operators. Updates are brought into one form: whatever way a reduction is written, it
//! becomes a fold.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr as Source, Pat, Result, Stmt};

use super::scope::{Binding, Level};
use super::{Parser, compound, expressions, ident, index, loop_variable, negated, pattern_name};
use crate::program::ir::{
    Act, ActKind, Binary, Dir, Expr, ExprKind, FieldId, Fold, Ty, VariableId, VertexPlace,
};

/// Where a value goes.
#[derive(Clone, Copy)]
enum Target {
    Field(FieldId, VertexPlace),
    /// A local that may be set here.
    Local(VariableId),
    /// A local of the active vertex, seen from one of its edges.
    Gathered(VariableId),
    Scalar(crate::program::ir::ScalarId),
}

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

    fn inner_acts(&mut self, statements: &[Stmt]) -> Vec<Act> {
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
            return Err(Error::new_spanned(&local.pat, "a `let` binds one name here"));
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
            self.scope.unify(value.ty, super::value_type(&typed.ty)?, typed.span())?;
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
                None => Err(Error::new_spanned(binary, "this has no effect")),
            },
            Source::MethodCall(call) if call.method == "push" => self.push(call, out),
            Source::MethodCall(_) => match self.improvement(source)? {
                Some((target, fold, value)) => {
                    self.fold(target, fold, value, Vec::new(), source, out)
                }
                None => Err(Error::new_spanned(source, "this has no effect")),
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

    /// `if value < place { place = value; … }`.
    fn compare_and_assign(
        &mut self,
        choice: &syn::ExprIf,
        out: &mut Vec<Act>,
    ) -> Option<Result<()>> {
        let Source::Binary(compared) = &*choice.cond else { return None };
        let (first, rest) = choice.then_branch.stmts.split_first()?;
        let Stmt::Expr(Source::Assign(assign), _) = first else { return None };
        let (left, right) = (&*compared.left, &*compared.right);
        let is = |a: &Source, b: &Source| text(a) == text(b);
        let forward = is(&assign.left, right) && is(&assign.right, left);
        let backward = is(&assign.left, left) && is(&assign.right, right);
        let fold = match (&compared.op, forward, backward) {
            (syn::BinOp::Lt(_), true, _) | (syn::BinOp::Gt(_), _, true) => Fold::Min,
            (syn::BinOp::Gt(_), true, _) | (syn::BinOp::Lt(_), _, true) => Fold::Max,
            _ => return None,
        };
        let target = match self.target(&assign.left) {
            Ok(target @ (Target::Field(..) | Target::Gathered(_))) => target,
            Ok(_) => return None,
            Err(error) => return Some(Err(error)),
        };
        if let (Target::Field(_, VertexPlace::Active), Level::Vertex) = (target, self.scope.level) {
            return None;
        }
        let value = match self.expression(&assign.right) {
            Ok(value) => value,
            Err(error) => return Some(Err(error)),
        };
        let then = self.inner_acts(rest);
        Some(self.fold(target, fold, value, then, &choice.cond, out))
    }

    /// `place.lower(value)` and `field.lower(vertex, value)`.
    fn improvement(&mut self, source: &Source) -> Result<Option<(Target, Fold, Expr)>> {
        let Source::MethodCall(call) = source else { return Ok(None) };
        let fold = match &call.method.to_string()[..] {
            "lower" => Fold::Min,
            "raise" => Fold::Max,
            _ => return Ok(None),
        };
        let arguments: Vec<_> = call.args.iter().collect();
        let (field, at, value) = match &arguments[..] {
            [value] => {
                let (field, at) = self.element(&call.receiver)?;
                (field, at, *value)
            }
            [vertex, value] => {
                let field =
                    ident(&call.receiver).and_then(|name| self.scope.find(&name.to_string()));
                let Some(Binding::Field(field)) = field else {
                    return Err(Error::new_spanned(&call.receiver, "expected a field"));
                };
                (field, self.vertex(vertex)?, *value)
            }
            _ => return Err(Error::new_spanned(call, "expected `field[v].lower(value)`")),
        };
        let value = self.expression(value)?;
        Ok(Some((Target::Field(field, at), fold, value)))
    }

    fn target(&mut self, source: &Source) -> Result<Target> {
        if index(source).is_some() {
            let (field, at) = self.element(source)?;
            return Ok(Target::Field(field, at));
        }
        let bound = ident(source).and_then(|name| self.scope.find(&name.to_string()));
        match bound {
            Some(Binding::Local(id, is_of_edge)) => {
                match self.scope.level == Level::Edge && !is_of_edge {
                    true => Ok(Target::Gathered(id)),
                    false => Ok(Target::Local(id)),
                }
            }
            Some(Binding::Scalar(id)) => Ok(Target::Scalar(id)),
            _ => {
                Err(Error::new_spanned(source, "expected a field of a vertex, a local or a scalar"))
            }
        }
    }

    fn target_type(&self, target: Target) -> Ty {
        match target {
            Target::Field(field, _) => self.scope.fields[field.0].ty,
            Target::Local(id) | Target::Gathered(id) => self.scope.locals[id.0].ty,
            Target::Scalar(id) => self.scope.scalars[id.0].ty,
        }
    }

    /// `place = value`, which may be a fold in other words.
    fn assigned(&mut self, left: &Source, right: &Source, out: &mut Vec<Act>) -> Result<()> {
        let target = self.target(left)?;
        let span = left.span();
        let plain = match target {
            Target::Local(_) | Target::Field(_, VertexPlace::Active) => {
                matches!(target, Target::Local(_)) || self.scope.level == Level::Vertex
            }
            _ => false,
        };
        if !plain && let Some((fold, operand)) = as_fold(left, right) {
            let value = self.expression(operand)?;
            return self.fold(target, fold, value, Vec::new(), left, out);
        }
        let value = self.expression(right)?;
        self.scope.unify(self.target_type(target), value.ty, right.span())?;
        let kind = match target {
            Target::Field(field, at) => ActKind::Write(field, at, value),
            Target::Local(id) => ActKind::Set(id, value),
            Target::Gathered(_) => {
                return Err(Error::new_spanned(
                    left,
                    "edges are visited in any order, so the last one to set this is any of them: fold with \
                     `+=`, `|=`, `.min(…)` or `.max(…)`",
                ));
            }
            Target::Scalar(id) => match value.kind {
                ExprKind::Bool(true) => ActKind::Tally(id, Fold::Or, value),
                _ => {
                    return Err(Error::new_spanned(
                        left,
                        "vertices are visited in any order, so the last one to set this is any of them: \
                         fold with `+=`, `|=`, `.min(…)` or `.max(…)`",
                    ));
                }
            },
        };
        out.push(Act { kind, span });
        Ok(())
    }

    /// `place += value`.
    fn updated(
        &mut self,
        left: &Source,
        operator: Binary,
        right: &Source,
        out: &mut Vec<Act>,
    ) -> Result<()> {
        let target = self.target(left)?;
        let (ty, span) = (self.target_type(target), left.span());
        // `found |= field[v].lower(value)`.
        if let (Target::Scalar(id), Binary::BitOr) = (target, operator)
            && let Some((inner, fold, value)) = self.improvement(right)?
        {
            let yes = Expr::new(ExprKind::Bool(true), Ty::Bool, span);
            let then = vec![Act { kind: ActKind::Tally(id, Fold::Or, yes), span }];
            return self.fold(inner, fold, value, then, right, out);
        }
        let value = self.expression(right)?;
        self.scope.unify(ty, value.ty, right.span())?;
        let is_own = matches!(target, Target::Local(_))
            || matches!(
                (target, self.scope.level),
                (Target::Field(_, VertexPlace::Active), Level::Vertex)
            );
        if is_own {
            let old = self.expression(left)?;
            let kind = ExprKind::Binary(operator, Box::new(old), Box::new(value));
            let value = Expr::new(kind, ty, span);
            let kind = match target {
                Target::Field(field, at) => ActKind::Write(field, at, value),
                Target::Local(id) => ActKind::Set(id, value),
                _ => unreachable!("only these are a vertex's own"),
            };
            out.push(Act { kind, span });
            return Ok(());
        }
        let fold = match operator {
            Binary::Add => Fold::Sum,
            Binary::Sub => Fold::Less,
            Binary::BitOr => Fold::Or,
            _ => {
                return Err(Error::new_spanned(
                    left,
                    "contributions come in any order from many hosts; they can be added, subtracted, or-ed, \
                     or folded with `min` and `max`",
                ));
            }
        };
        self.fold(target, fold, value, Vec::new(), left, out)
    }

    /// Folds a value in, and does something if that changed it.
    fn fold(
        &mut self,
        target: Target,
        fold: Fold,
        value: Expr,
        then: Vec<Act>,
        source: &Source,
        out: &mut Vec<Act>,
    ) -> Result<()> {
        let (ty, span) = (self.target_type(target), source.span());
        let ty = self.scope.unify(ty, value.ty, span)?;
        let fold = match (fold, self.scope.known(ty) == Ty::Bool) {
            (Fold::Max | Fold::Or, true) => Fold::Or,
            (Fold::Or, false) => return Err(Error::new_spanned(source, "`|=` folds truth values")),
            (fold, false) => fold,
            (_, true) => {
                let why =
                    "truth values are or-ed: keep the opposite, and fold with `|=` or `raise`";
                return Err(Error::new_spanned(source, why));
            }
        };
        let is_far =
            matches!(target, Target::Field(_, VertexPlace::Far)) || self.scope.level == Level::Edge;
        let kind = match target {
            Target::Field(field, at) if is_far => ActKind::Fold(field, at, fold, value, then),
            Target::Field(field, at) => {
                // At its own vertex this is a comparison and a write.
                let old = Expr::new(ExprKind::Read(field, at), ty, span);
                let operator = if fold == Fold::Min { Binary::Lt } else { Binary::Gt };
                let compared = ExprKind::Binary(operator, Box::new(value.clone()), Box::new(old));
                let mut acts = vec![Act { kind: ActKind::Write(field, at, value), span }];
                acts.extend(then);
                ActKind::If(Expr::new(compared, Ty::Bool, span), acts, Vec::new())
            }
            Target::Gathered(id) if then.is_empty() => ActKind::Gather(id, fold, value),
            Target::Gathered(_) => {
                return Err(Error::new_spanned(
                    source,
                    "which edge has the least value is not known on one host: fold the value alone, and find \
                     the edge in a second loop",
                ));
            }
            Target::Scalar(id) if then.is_empty() => ActKind::Tally(id, fold, value),
            Target::Scalar(_) | Target::Local(_) => {
                return Err(Error::new_spanned(source, "only values of fields can be improved"));
            }
        };
        out.push(Act { kind, span });
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

/// The fold and the operand of `place = place + operand`, `place = place.min(operand)` and the like.
fn as_fold<'s>(place: &Source, value: &'s Source) -> Option<(Fold, &'s Source)> {
    let is_place = |source: &Source| text(source) == text(place);
    match value {
        Source::Paren(inner) => as_fold(place, &inner.expr),
        Source::Binary(binary) => {
            let fold = match binary.op {
                syn::BinOp::Add(_) => Fold::Sum,
                syn::BinOp::Sub(_) if is_place(&binary.left) => Fold::Less,
                syn::BinOp::BitOr(_) | syn::BinOp::Or(_) => Fold::Or,
                _ => return None,
            };
            match (is_place(&binary.left), is_place(&binary.right)) {
                (true, _) => Some((fold, &binary.right)),
                (_, true) => Some((fold, &binary.left)),
                _ => None,
            }
        }
        Source::MethodCall(call) if call.args.len() == 1 => {
            let fold = match &call.method.to_string()[..] {
                "min" => Fold::Min,
                "max" => Fold::Max,
                _ => return None,
            };
            let argument = call.args.first()?;
            match (is_place(&call.receiver), is_place(argument)) {
                (true, _) => Some((fold, argument)),
                (_, true) => Some((fold, &call.receiver)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn text(source: &Source) -> String {
    quote::quote!(#source).to_string()
}

/// Nothing, of some type.
fn zero(ty: Ty, span: Span) -> Expr {
    match ty {
        Ty::Bool => Expr::new(ExprKind::Bool(false), ty, span),
        _ => Expr::new(ExprKind::Integer(0), ty, span),
    }
}
