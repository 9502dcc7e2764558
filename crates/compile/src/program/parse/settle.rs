//! Types found by inference, put into the finished program.

use super::scope::Scope;
use crate::program::ir::{Act, ActKind, Expr, ExprKind, ListMembers, ParsedProgram, Step};

/// The program with every type known.
pub(super) fn settle(mut program: ParsedProgram, scope: &Scope) -> ParsedProgram {
    let named = program.fields.iter_mut().chain(&mut program.scalars).chain(&mut program.locals);
    named.for_each(|named| named.ty = scope.settle(named.ty));
    program.body.iter_mut().for_each(|one| step(one, scope));
    program
}

fn step(step: &mut Step, scope: &Scope) {
    let steps = |steps: &mut Vec<Step>| steps.iter_mut().for_each(|one| self::step(one, scope));
    match step {
        Step::Start(_, value) | Step::Join(_, value) | Step::Assign(_, value) => {
            expression(value, scope);
        }
        Step::Point(_, vertex, value) => {
            expression(vertex, scope);
            expression(value, scope);
        }
        Step::List(_, ListMembers::These(these)) => {
            these.iter_mut().for_each(|one| expression(one, scope));
        }
        Step::List(..) | Step::Swap(..) | Step::Break => {}
        Step::Loop(body) => steps(body),
        Step::If(condition, then, otherwise) => {
            expression(condition, scope);
            steps(then);
            steps(otherwise);
        }
        Step::Operator(operator) => acts(&mut operator.body, scope),
    }
}

fn acts(acts: &mut [Act], scope: &Scope) {
    for act in acts {
        match &mut act.kind {
            ActKind::Let(_, value)
            | ActKind::Set(_, value)
            | ActKind::Gather(_, _, value)
            | ActKind::Write(_, _, value)
            | ActKind::Tally(_, _, value) => expression(value, scope),
            ActKind::Fold(_, _, _, value, then) => {
                expression(value, scope);
                self::acts(then, scope);
            }
            ActKind::If(condition, then, otherwise) => {
                expression(condition, scope);
                self::acts(then, scope);
                self::acts(otherwise, scope);
            }
            ActKind::Edges(_, body) => self::acts(body, scope),
            ActKind::Push(..) | ActKind::Activate | ActKind::Absorb(..) => {}
        }
    }
}

fn expression(expr: &mut Expr, scope: &Scope) {
    expr.ty = scope.settle(expr.ty);
    if let (ExprKind::Integer(value), true) = (&expr.kind, expr.ty.is_float()) {
        expr.kind = ExprKind::Float(*value as f64);
    }
    expr.parts_mut().into_iter().for_each(|part| expression(part, scope));
}
