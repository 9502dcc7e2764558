//! Updates of fields, locals and scalars. Whatever way a reduction is written, it becomes a fold.

use syn::spanned::Spanned;
use syn::{Error, Expr as Source, Result, Stmt};

use super::Parser;
use super::scope::{Binding, Level};
use super::syntax::{ident, index};
use crate::program::ir::{
    Act, ActKind, Binary, Expr, ExprKind, FieldId, Fold, ScalarId, Ty, VariableId, VertexPlace,
};

/// Where a value goes.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Field(FieldId, VertexPlace),
    /// A local that may be set here.
    Local(VariableId),
    /// A local of the active vertex, seen from one of its edges.
    Gathered(VariableId),
    Scalar(ScalarId),
}

impl Parser {
    /// `if value < place { place = value; … }`.
    pub(super) fn compare_and_assign(
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
    pub(super) fn improvement(&mut self, source: &Source) -> Result<Option<(Target, Fold, Expr)>> {
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
    pub(super) fn assigned(
        &mut self,
        left: &Source,
        right: &Source,
        out: &mut Vec<Act>,
    ) -> Result<()> {
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
    pub(super) fn updated(
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
    pub(super) fn fold(
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
