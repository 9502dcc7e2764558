//! Operators of the class *flowing*: a vertex takes a quantity and passes shares of it on, while they are more than a
//! little. Any order ends with the same, up to what is too little to be passed on.

use super::access::{How, accesses};
use super::ir::{
    Act, ActKind, Binary, Expr, ExprKind, FieldId, Fold, ListId, ListMembers, Operator, Over,
    ParsedProgram, Step, VariableId, VertexPlace, each_operator,
};
use super::patterns::Known;

/// Whether a vertex takes a quantity and passes shares of it on, to vertices that are pushed while they
/// have more than a little.
pub(super) fn flows(program: &ParsedProgram, operator: &Operator, list: ListId) -> bool {
    let [first, second, rest @ ..] = &operator.body[..] else { return false };
    let (ActKind::Let(taken, read), ActKind::Write(field, VertexPlace::Active, zero)) =
        (&first.kind, &second.kind)
    else {
        return false;
    };
    let ExprKind::Read(source, VertexPlace::Active) = read.kind else { return false };
    let is_zero = matches!(zero.kind, ExprKind::Float(value) if value == 0.0);
    if source != *field || !is_zero || !program.fields[field.0].ty.is_float() {
        return false;
    }
    let mut known = Known::default();
    let mut has_edges = false;
    for act in rest {
        match &act.kind {
            ActKind::Let(local, value) => _ = known.locals.insert(*local, value),
            ActKind::Write(own, VertexPlace::Active, value) if own != field && !has_edges => {
                let ExprKind::Binary(Binary::Add, old, share) = &value.kind else { return false };
                let is_old =
                    matches!(old.kind, ExprKind::Read(f, VertexPlace::Active) if f == *own);
                if !is_old || !is_share(&known.inlined(share), *taken) {
                    return false;
                }
            }
            ActKind::Edges(_, body) if !has_edges => {
                has_edges = true;
                let [
                    Act { kind: ActKind::Fold(to, VertexPlace::Far, Fold::Sum, share, _), .. },
                    push,
                ] = &body[..]
                else {
                    return false;
                };
                let ActKind::If(condition, then, otherwise) = &push.kind else { return false };
                let is_push = matches!(then[..], [Act { kind: ActKind::Push(id, VertexPlace::Far), .. }] if id == list);
                let is_enough = is_above(condition, *field);
                if to != field || !is_push || !otherwise.is_empty() || !is_enough {
                    return false;
                }
                if !is_share(&known.inlined(share), *taken) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    has_edges && all_are_listed(program, *field, list)
}

/// Whether all vertices that have more than a little are on the worklist when it is drained. Else it depends on the order
/// of visits whether a share ever reaches them, and what they have may be much.
fn all_are_listed(program: &ParsedProgram, field: FieldId, list: ListId) -> bool {
    let (mut drains, mut lists_its_changes) = (0, true);
    each_operator(&program.body, &mut |operator| match operator.over == Over::List(list) {
        true => drains += 1,
        false => lists_its_changes &= lists_what_it_changes(operator, field, list),
    });
    let (mut members, mut listed) = (None, Vec::new());
    // Only steps that run once, in their order.
    for step in &program.body {
        match step {
            Step::List(own, given) if *own == list => {
                members = Some(given);
                if let ListMembers::These(these) = given {
                    listed.extend(these);
                }
            }
            Step::Join(own, vertex) if *own == list => listed.push(vertex),
            _ => {}
        }
    }
    let is_at_top = program
        .body
        .iter()
        .any(|step| matches!(step, Step::Operator(operator) if operator.over == Over::List(list)));
    let begins_empty = || begins_empty(&program.body, (field, list), &listed);
    drains == 1
        && is_at_top
        && (matches!(members, Some(ListMembers::All)) || (lists_its_changes && begins_empty()))
}

/// Whether an operator pushes every vertex whose value it changes.
fn lists_what_it_changes(operator: &Operator, field: FieldId, list: ListId) -> bool {
    let all = accesses(&operator.body);
    let mut changes =
        all.iter().filter(|access| access.field == field && access.how != How::Read).peekable();
    let pushes =
        |act: &Act| matches!(act.kind, ActKind::Push(id, VertexPlace::Active) if id == list);
    changes.peek().is_none()
        || (changes.all(|change| change.place == VertexPlace::Active)
            && operator.body.iter().any(pushes))
}

/// Whether no vertex has anything outside of operators, but those that are `listed` or join the worklist right after.
fn begins_empty(steps: &[Step], (field, list): (FieldId, ListId), listed: &[&Expr]) -> bool {
    steps.iter().enumerate().all(|(place, step)| match step {
        Step::Start(own, value) if *own == field => is_zero(value),
        Step::Point(own, vertex, _) if *own == field => {
            let next = steps[place + 1..].iter();
            let mut next = next.take_while(|step| matches!(step, Step::Point(..) | Step::Join(..)));
            let joins = |step: &Step| matches!(step, Step::Join(own, one) if *own == list && one.is_same(vertex));
            listed.iter().any(|one| one.is_same(vertex)) || next.any(joins)
        }
        Step::Swap(a, b) => *a != field && *b != field,
        Step::Loop(body) => begins_empty(body, (field, list), listed),
        Step::If(_, then, otherwise) => [then, otherwise]
            .into_iter()
            .all(|steps| begins_empty(steps, (field, list), listed)),
        _ => true,
    })
}

fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Float(value) => *value == 0.0,
        ExprKind::Integer(value) => *value == 0,
        ExprKind::Cast(of) => is_zero(of),
        _ => false,
    }
}

/// `field[far] > threshold`, or of its absolute value.
fn is_above(condition: &Expr, field: FieldId) -> bool {
    let ExprKind::Binary(Binary::Gt | Binary::Ge, value, threshold) = &condition.kind else {
        return false;
    };
    let value = match &value.kind {
        ExprKind::Method("abs", parts) => &parts[0],
        _ => value,
    };
    matches!(value.kind, ExprKind::Read(f, VertexPlace::Far) if f == field)
        && threshold.is_uniform()
}

/// Whether an expression is a share of a local: it and factors that do not change.
fn is_share(expr: &Expr, of: VariableId) -> bool {
    let mentions =
        |expr: &Expr| expr.any(&|part| matches!(part.kind, ExprKind::Local(id) if id == of));
    let fixed = |expr: &Expr| {
        !expr.any(&|part| matches!(part.kind, ExprKind::Local(_) | ExprKind::Read(..)))
    };
    match &expr.kind {
        ExprKind::Local(id) => *id == of,
        ExprKind::Binary(Binary::Mul, a, b) => {
            (is_share(a, of) && fixed(b)) || (fixed(a) && is_share(b, of))
        }
        ExprKind::Binary(Binary::Div, a, b) => is_share(a, of) && fixed(b),
        ExprKind::Cast(a) => mentions(a) && is_share(a, of),
        _ => false,
    }
}
