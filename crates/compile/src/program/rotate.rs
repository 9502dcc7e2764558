//! Programs that are rotated vertex programs: a vertex acts when something has arrived, and then wakes its
//! neighbours (operators that *fire* or *flow*, see [`patterns`](super::patterns)).
//!
//! An operator visits a vertex first and its edges then. A `VertexProgram` applies what came along edges first
//! and sends then. So the loop is *rotated*: the visit moves to the end of `apply`, and to `init` for those that
//! are visited first. What a visit sends is kept in the state until `scatter` returns it.

use parton_plan::{Class, ColumnRole, CompiledPlan, Instruction};

use super::ir::{ActKind, Binary, Expr, ExprKind, FieldId, VertexPlace, each_expression};
use super::lower::Lowered;
use super::vertex_form::{self, FormKind, VertexForm};

/// What is special about a rotated vertex program.
#[derive(Debug)]
pub struct Rotated {
    /// The worklist of those that are visited first; `None`: all are.
    pub list: Option<usize>,
    /// Whether a message says that its vertex visits its edges, and nothing else.
    pub is_signal: bool,
    /// Whether the sum of several messages along an edge comes to the same as each of them.
    pub is_linear: bool,
}

/// Finds out whether a program is a rotated vertex program, and whether its messages may arrive in any order;
/// else why it is none.
pub(super) fn recognise(lowered: &Lowered) -> Result<(VertexForm, bool), &'static str> {
    let edge = vertex_form::edge(lowered)?;
    let planned = &lowered.plan.operators[edge.operator];
    if !matches!(planned.class, Class::Firing | Class::Flowing) {
        return Err("its operator neither fires nor flows");
    }
    if edge.sender != VertexPlace::Active {
        return Err("vertices collect from their neighbours instead of waking them");
    }
    let code = &lowered.operators[edge.operator];
    if !code.derive.is_empty() || !code.after.is_empty() || !planned.is_partial {
        return Err("vertices have something left to do after their edges");
    }
    let after = after_driver(&lowered.plan, edge.operator)
        .ok_or("the loop that drives its operator runs several times")?;
    let mut is_signal = true;
    edge.along.walk(&mut |part| is_signal &= !matches!(part.kind, ExprKind::Read(..)));
    let is_linear = is_signal || is_linear(&edge.along);
    let state = touched(lowered, edge.operator);
    let rotated = Rotated { list: planned.list, is_signal, is_linear };
    Ok((VertexForm { edge, after, state, kind: FormKind::Rotated(rotated) }, is_linear))
}

/// The instruction after the loop that runs the operator until nothing is left to do; `None` if that is in another
/// loop.
fn after_driver(plan: &CompiledPlan, operator: usize) -> Option<usize> {
    let at = plan.instructions.iter().position(|one| *one == Instruction::Run(operator))?;
    let behind = plan.instructions.iter().enumerate().skip(at + 1);
    let mut loops = behind.filter(|(_, one)| matches!(one, Instruction::Jump(to) if *to <= at));
    let (inner, outer) = (loops.next(), loops.next());
    match (plan.operators[operator].list, inner, outer) {
        // An operator that drains a worklist is its own loop.
        (Some(_), None, _) => Some(at + 1),
        (None, Some((end, _)), None) => Some(end + 1),
        _ => None,
    }
}

/// Fields that the operator reads or writes at vertices.
fn touched(lowered: &Lowered, operator: usize) -> Vec<FieldId> {
    let code = &lowered.operators[operator];
    let mut touched = Vec::new();
    for acts in [&code.before, &code.arrive] {
        each_expression(acts, &mut |part| {
            if let ExprKind::Read(field, _) = part.kind {
                touched.push(field);
            }
        });
        for act in acts {
            act.walk(&mut |act| match act.kind {
                ActKind::Write(field, ..) | ActKind::Absorb(field, ..) => touched.push(field),
                _ => {}
            });
        }
    }
    touched.retain(|field| lowered.plan.columns[field.0].role == ColumnRole::Field);
    touched.sort_unstable();
    touched.dedup();
    touched
}

/// Whether an expression is a multiple of the message that it reads.
fn is_linear(expr: &Expr) -> bool {
    let reads = |expr: &Expr| expr.any(&|part| matches!(part.kind, ExprKind::Read(..)));
    match &expr.kind {
        ExprKind::Read(..) => true,
        ExprKind::Cast(of) => of.ty.is_float() && expr.ty.is_float() && is_linear(of),
        ExprKind::Binary(Binary::Mul, a, b) => {
            (is_linear(a) && !reads(b)) || (!reads(a) && is_linear(b))
        }
        ExprKind::Binary(Binary::Div, a, b) => expr.ty.is_float() && is_linear(a) && !reads(b),
        _ => false,
    }
}
