//! Programs that are relaxations: one label per vertex that only improves. They run on every engine for
//! relaxations and at every pace, and on devices.

mod emitted;
mod relaxed;

use super::ir::{
    Binary, Dir, Expr, ExprKind, FieldId, Fold, ListId, ListMembers, Operator, Over, ParsedProgram,
    ScalarId, Step, Ty, VertexPlace,
};
use super::lower::Lowered;
use super::patterns::{Settling, settling, until_idle};
pub use emitted::emit;
use parton_plan::ProgramShape;
pub use relaxed::{LABEL, NUMBER, Relaxed};

/// Finds out whether a program is a relaxation, and notes it in the plan; or why it is none.
pub fn recognise(lowered: &mut Lowered) -> Option<Relaxed> {
    match found(&lowered.program) {
        Ok((relaxed, field)) => {
            lowered.plan.shape = ProgramShape::Relaxation { column: field.0 };
            lowered.plan.fit.engines = relaxed.engines().into_iter().map(String::from).collect();
            Some(relaxed)
        }
        Err(why) => {
            lowered.plan.fit.refusals.push(("a relaxation".into(), why.into()));
            None
        }
    }
}

fn found(program: &ParsedProgram) -> Result<(Relaxed, FieldId), &'static str> {
    let [field] = program.results[..] else { return Err("it returns several fields") };
    if !program.vertex_lists.is_empty() {
        return Err("it begins at the vertices of a list");
    }
    let (start, point, rest) =
        beginning(program, field).ok_or("it does not begin with the field that it returns")?;
    let (operator, list) =
        driver(program, rest).ok_or("it is more than one loop that runs until nothing changes")?;
    let settling = settling(operator)
        .filter(|settling| settling.field == field)
        .ok_or("its operator does more than to improve the field that it returns")?;
    Ok((relaxation(program, &settling, (start, point), list)?, field))
}

type Beginning<'p> = (&'p Expr, Option<(&'p Expr, &'p Expr)>, &'p [Step]);

/// The first value of the only field, that of one vertex, and what follows.
fn beginning(program: &ParsedProgram, field: FieldId) -> Option<Beginning<'_>> {
    match &program.body[..] {
        [Step::Start(first, start), Step::Point(second, vertex, value), rest @ ..]
            if *first == field && *second == field =>
        {
            Some((start, Some((vertex, value)), rest))
        }
        [Step::Start(first, start), rest @ ..] if *first == field => Some((start, None, rest)),
        _ => None,
    }
}

/// The only operator, and the worklist it drains with the vertices that are on it.
fn driver<'p>(
    program: &ParsedProgram,
    rest: &'p [Step],
) -> Option<(&'p Operator, Option<(ListId, &'p ListMembers)>)> {
    match rest {
        [Step::List(list, members), Step::Operator(operator)]
            if operator.over == Over::List(*list) =>
        {
            Some((operator, Some((*list, members))))
        }
        [before @ .., Step::Loop(body)] if is_entered(before, body) => {
            until_idle(program, body)?;
            let operator = body.iter().find_map(|step| match step {
                Step::Operator(operator) => Some(operator),
                _ => None,
            });
            Some((operator?, None))
        }
        _ => None,
    }
}

/// Whether a loop until nothing changes begins: `while changed` does where `changed` is set before it.
fn is_entered(before: &[Step], body: &[Step]) -> bool {
    match (before, body) {
        ([] | [Step::Assign(..)], [Step::Assign(..), ..]) => true,
        ([Step::Assign(flag, value)], [Step::If(condition, ..), ..]) => {
            let asks = |part: &Expr| matches!(part.kind, ExprKind::Scalar(id) if id == *flag);
            matches!(value.kind, ExprKind::Bool(true)) && condition.any(&asks)
        }
        _ => false,
    }
}

fn relaxation(
    program: &ParsedProgram,
    settling: &Settling,
    (start, point): (&Expr, Option<(&Expr, &Expr)>),
    list: Option<(ListId, &ListMembers)>,
) -> Result<Relaxed, &'static str> {
    let Settling { field, fold, dir, place, value, guards, .. } = settling;
    let ty = program.fields[field.0].ty;
    let from = if *place == VertexPlace::Far { VertexPlace::Active } else { VertexPlace::Far };
    let worst = worst(*fold, ty);
    // Labels that are worst are never spread: a guard against them says nothing new.
    let is_worst = |expr: &Expr| match expr.kind {
        ExprKind::Constant(name) => name == worst,
        ExprKind::Integer(0) => *fold == Fold::Max && ty.is_unsigned(),
        _ => false,
    };
    let is_label =
        |expr: &Expr| matches!(expr.kind, ExprKind::Read(f, p) if f == *field && p == from);
    let is_idle = |guard: &Expr| match &guard.kind {
        ExprKind::Binary(Binary::Ne, a, b) => is_label(a) && is_worst(b),
        ExprKind::Bool(true) => true,
        _ => false,
    };
    if begins_alike(list, start, point, &is_worst, *fold) != Some(true) {
        return Err("vertices that are not visited first may have something to say");
    }
    let adds = value.any(&is_addition);
    let is_known = |expr: &Expr| !expr.any(&|part| !is_leaf(program, part, is_label));
    if ty == Ty::Bool {
        return Err("its labels are truth values: engines for relaxations have numbers");
    }
    if !guards.iter().all(is_idle) {
        return Err("a condition decides whether a label travels along an edge");
    }
    let values = [value, start].into_iter().chain(point.map(|(_, value)| value));
    if !values.into_iter().all(is_known) {
        return Err("its labels depend on more than a label, a weight and the parameters");
    }
    if value.any(&is_vertex) {
        return Err("its labels depend on the vertices that they pass");
    }
    if !never_better(value, *fold, &is_label) {
        return Err("a label may get better along an edge");
    }
    let has_weight = value.any(&|part| matches!(part.kind, ExprKind::Weight));
    let dir = match (dir, place) {
        (Dir::Both, _) => Dir::Both,
        (dir, VertexPlace::Far) => *dir,
        (Dir::Out, VertexPlace::Active) => Dir::In,
        (Dir::In, VertexPlace::Active) => Dir::Out,
    };
    let is_number = matches!(&start.kind, ExprKind::Id(of) if is_vertex(of));
    Ok(Relaxed {
        fold: *fold,
        ty,
        dir,
        passes_unchanged: is_label(value) && dir == Dir::Both && is_number && point.is_none(),
        // Level by level only where all others begin without a label.
        first_wins: !has_weight
            && !is_label(value)
            && matches!(list, Some((_, ListMembers::These(_))))
            && is_worst(start),
        adds: adds && *fold == Fold::Min,
        may_wrap: value.any(&wraps),
        start: closed(start),
        point: point.map(|(vertex, value)| (closed(vertex), closed(value))),
        relax: closed(value),
    })
}

fn is_vertex(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Vertex(_))
}

fn is_addition(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary(Binary::Add, ..) | ExprKind::Method("saturating_add", _))
}

/// Whether the vertices that the program begins with are those that a relaxation begins with.
///
/// In a relaxation every vertex spreads what it starts with. Where the program lets one vertex begin, the
/// others must have nothing to say: their label is the worst, or one that all have and none can improve on.
fn begins_alike(
    list: Option<(ListId, &ListMembers)>,
    start: &Expr,
    point: Option<(&Expr, &Expr)>,
    is_worst: &dyn Fn(&Expr) -> bool,
    fold: Fold,
) -> Option<bool> {
    match list {
        None | Some((_, ListMembers::All)) => Some(true),
        Some((_, ListMembers::These(these))) => {
            let ([only], Some((vertex, value))) = (&these[..], point) else { return None };
            let others_are_silent = is_worst(start) || (start.is_uniform() && is_best(value, fold));
            Some(vertex.is_same(only) && others_are_silent)
        }
        Some((_, ListMembers::None)) => Some(false),
    }
}

/// The name of the constant that every label improves on.
fn worst(fold: Fold, ty: Ty) -> &'static str {
    match (fold, ty.is_float()) {
        (Fold::Min, false) => "MAX",
        (Fold::Min, true) => "INFINITY",
        (_, false) => "MIN",
        (_, true) => "NEG_INFINITY",
    }
}

/// Whether no label improves on this one.
fn is_best(expr: &Expr, fold: Fold) -> bool {
    let best = worst(if fold == Fold::Min { Fold::Max } else { Fold::Min }, expr.ty);
    match expr.kind {
        ExprKind::Constant(name) => name == best,
        ExprKind::Integer(0) => fold == Fold::Min && expr.ty.is_unsigned(),
        _ => false,
    }
}

/// Whether an expression is made of what a relaxation knows.
fn is_leaf(program: &ParsedProgram, expr: &Expr, is_label: impl Fn(&Expr) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Read(..) => is_label(expr),
        ExprKind::Scalar(ScalarId(number)) => *number < program.num_parameters,
        ExprKind::Integer(_)
        | ExprKind::Float(_)
        | ExprKind::Constant(_)
        | ExprKind::Weight
        | ExprKind::Id(_) => true,
        ExprKind::Cast(of) => {
            is_weight(of) || matches!(of.kind, ExprKind::Integer(_) | ExprKind::Float(_))
        }
        ExprKind::Vertex(place) => *place == VertexPlace::Active,
        ExprKind::Binary(operator, ..) => matches!(operator, Binary::Add | Binary::Eq),
        ExprKind::Method(name, _) => matches!(*name, "saturating_add" | "min" | "max"),
        ExprKind::If(..) => true,
        _ => false,
    }
}

/// Whether an expression is the weight of the edge, in whichever type.
fn is_weight(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(of) => {
            is_weight(of) || matches!(of.kind, ExprKind::Integer(_) | ExprKind::Float(_))
        }
        kind => matches!(kind, ExprKind::Weight),
    }
}

/// Whether a label never gets better along an edge. Weights with a fraction that are added are looked at when
/// the program runs: they must not be less than 0.
fn never_better(value: &Expr, fold: Fold, is_label: &dyn Fn(&Expr) -> bool) -> bool {
    if is_label(value) {
        return true;
    }
    match (&value.kind, fold) {
        (ExprKind::Binary(Binary::Add, a, b), Fold::Min) => {
            let grows = |label: &Expr, by: &Expr| {
                never_better(label, fold, is_label) && (value.ty.is_unsigned() || is_weight(by))
            };
            (value.ty.is_unsigned() || value.ty.is_float()) && (grows(a, b) || grows(b, a))
        }
        (ExprKind::Method("saturating_add", parts), Fold::Min) => {
            value.ty.is_unsigned() && parts.iter().any(|part| never_better(part, fold, is_label))
        }
        (ExprKind::Method("max", parts), Fold::Min)
        | (ExprKind::Method("min", parts), Fold::Max) => {
            parts.iter().any(|part| never_better(part, fold, is_label))
        }
        _ => false,
    }
}

/// A sum that may not fit its type.
fn wraps(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary(Binary::Add, ..)) && expr.ty.is_unsigned()
}

/// The expression with names for the label and for the vertex. Engines may relax the label of a vertex that has none,
/// the greatest number: it must not get better, so its sums do not wrap.
fn closed(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let saturates = wraps(&expr);
    expr.kind = match expr.kind {
        ExprKind::Read(..) => ExprKind::Local(LABEL),
        ExprKind::Vertex(_) => ExprKind::Local(NUMBER),
        ExprKind::Binary(_, a, b) if saturates => ExprKind::Method("saturating_add", vec![*a, *b]),
        kind => kind,
    };
    for part in expr.parts_mut() {
        *part = closed(part);
    }
    expr
}
