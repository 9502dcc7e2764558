//! Locals that are needed again after the loop over edges.

use parton_plan::ColumnRole;

use super::Lowering;
use super::split::write;
use crate::program::ir::{
    Act, ActKind, Binary, Expr, ExprKind, Fold, Named, Ty, VariableId, VertexPlace, each_expression,
};

/// Keeps locals that statements after the loop need in columns, or binds them again if they are literals.
/// What keeps them goes to `leave`, what binds them before the statements of `after`.
pub(super) fn save(
    lowering: &mut Lowering,
    (before, rest): (&[Act], &[Act]),
    after: &mut Vec<Act>,
    leave: &mut Vec<Act>,
) {
    let mut needed: Vec<VariableId> = Vec::new();
    let mut note = |id: VariableId| {
        if !needed.contains(&id) {
            needed.push(id);
        }
    };
    for acts in [rest, after] {
        each_expression(acts, &mut |part| {
            if let ExprKind::Local(id) = part.kind {
                note(id);
            }
        });
        for act in acts {
            act.walk(&mut |act| {
                if let ActKind::Set(id, _) = act.kind {
                    note(id);
                }
            });
        }
    }
    let mut bound = Vec::new();
    for local in needed {
        let Some(init) = first_value(before, local) else { continue };
        let span = init.span;
        let Named { name, ty, .. } = lowering.program.locals[local.0].clone();
        let value = match !is_set(before, local) && is_literal(init) {
            true => init.clone(),
            false => {
                let column = lowering.add(name, ty, ColumnRole::Saved, span);
                leave.push(write(column, Expr::new(ExprKind::Local(local), ty, span)));
                Expr::new(ExprKind::Read(column, VertexPlace::Active), ty, span)
            }
        };
        bound.push(Act { kind: ActKind::Let(local, value), span });
    }
    bound.append(after);
    *after = bound;
}

/// What a local is bound to before the loop over edges.
fn first_value(acts: &[Act], local: VariableId) -> Option<&Expr> {
    acts.iter().find_map(|act| match &act.kind {
        ActKind::Let(id, value) if *id == local => Some(value),
        ActKind::If(_, then, _) => first_value(then, local),
        _ => None,
    })
}

fn is_set(acts: &[Act], local: VariableId) -> bool {
    let mut is_set = false;
    for act in acts {
        act.walk(&mut |act| is_set |= matches!(act.kind, ActKind::Set(id, _) if id == local));
    }
    is_set
}

fn is_literal(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Integer(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Constant(_)
    )
}

/// Two values folded into one.
pub(super) fn joined(fold: Fold, old: Expr, new: Expr) -> Expr {
    let (ty, span) = (old.ty, old.span);
    let binary = |operator, a: &Expr, b: &Expr, ty| {
        Expr::new(ExprKind::Binary(operator, Box::new(a.clone()), Box::new(b.clone())), ty, span)
    };
    let better = |operator| {
        let is_better = binary(operator, &new, &old, Ty::Bool);
        let kind = ExprKind::If(Box::new(is_better), Box::new(new.clone()), Box::new(old.clone()));
        Expr::new(kind, ty, span)
    };
    match fold {
        Fold::Sum => binary(Binary::Add, &old, &new, ty),
        Fold::Less => binary(Binary::Sub, &old, &new, ty),
        Fold::Or => binary(Binary::BitOr, &old, &new, ty),
        Fold::Min => better(Binary::Lt),
        Fold::Max => better(Binary::Gt),
    }
}
