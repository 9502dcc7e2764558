//! Operators that run until nothing is left to do, and end the same way in any order.
//!
//! *Settling*: one field, folded by an idempotent fold with a value that gets no better as the field gets
//! worse, until nothing changes. Applying a monotone function again and again, in any order, has one limit.
//! *Firing*: a vertex acts once, when a count that only falls has fallen below a threshold; its action lowers
//! counts of neighbours. *Flowing*: a vertex takes a quantity and passes shares of it on (`flowing`).

use std::collections::HashMap;

use parton_plan::Class;

use super::access::conjuncts;
use super::flowing;
use super::ir::{
    Act, ActKind, Binary, Expr, ExprKind, FieldId, Fold, ListId, Operator, Over, ParsedProgram,
    ScalarId, Step, Unary, VariableId, VertexPlace, each_expression, each_operator,
};

/// The class of the only operator of a loop that ends when the operator has found nothing to do.
pub(crate) fn until_idle(program: &ParsedProgram, body: &[Step]) -> Option<Class> {
    let (operator, flag) = idle_loop(body)?;
    if operator.over != Over::All || uses(program, flag) > 3 {
        return None;
    }
    if let Some(settling) = settling(operator)
        && settling.flag == Some(flag)
    {
        return Some(Class::Settling);
    }
    fires(operator, flag).then_some(Class::Firing)
}

/// The class of an operator that drains a worklist into which it pushes.
pub fn drained(program: &ParsedProgram, operator: &Operator) -> Option<Class> {
    let Over::List(list) = operator.over else { return None };
    if let Some(settling) = settling(operator)
        && settling.list == Some(list)
        && settling.flag.is_none()
    {
        return Some(Class::Settling);
    }
    flowing::flows(program, operator, list).then_some(Class::Flowing)
}

/// The operator of a loop, and the scalar that says whether it found anything to do.
fn idle_loop(body: &[Step]) -> Option<(&Operator, ScalarId)> {
    match body {
        // loop { let mut changed = false; …; if !changed { break } }
        [Step::Assign(flag, start), Step::Operator(operator), Step::If(condition, then, otherwise)]
        // while changed { changed = false; … }
        | [Step::If(condition, then, otherwise), Step::Assign(flag, start), Step::Operator(operator)]
            if matches!(then[..], [Step::Break]) && otherwise.is_empty() =>
        {
            (is_nothing(start) && asks_idle(condition, *flag)).then_some((operator, *flag))
        }
        _ => None,
    }
}

fn is_nothing(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Bool(false) | ExprKind::Integer(0))
}

fn asks_idle(condition: &Expr, flag: ScalarId) -> bool {
    let is_flag = |expr: &Expr| matches!(expr.kind, ExprKind::Scalar(id) if id == flag);
    match &condition.kind {
        ExprKind::Unary(Unary::Not, of) => match &of.kind {
            ExprKind::Binary(Binary::Gt | Binary::Ne, a, b) => is_flag(a) && is_nothing(b),
            _ => is_flag(of),
        },
        ExprKind::Binary(Binary::Eq, a, b) => is_flag(a) && is_nothing(b),
        _ => false,
    }
}

/// How often a scalar is mentioned outside operators.
fn uses(program: &ParsedProgram, scalar: ScalarId) -> usize {
    fn of_expr(expr: &Expr, scalar: ScalarId) -> usize {
        let mut found = 0;
        expr.walk(&mut |part| {
            found += usize::from(matches!(part.kind, ExprKind::Scalar(id) if id == scalar));
        });
        found
    }
    fn of_steps(steps: &[Step], scalar: ScalarId) -> usize {
        let of_step = |step: &Step| match step {
            Step::Assign(id, value) => usize::from(*id == scalar) + of_expr(value, scalar),
            Step::Start(_, value) | Step::Join(_, value) => of_expr(value, scalar),
            Step::Point(_, at, value) => of_expr(at, scalar) + of_expr(value, scalar),
            Step::If(condition, then, otherwise) => {
                of_expr(condition, scalar) + of_steps(then, scalar) + of_steps(otherwise, scalar)
            }
            Step::Loop(body) => of_steps(body, scalar),
            _ => 0,
        };
        steps.iter().map(of_step).sum()
    }
    let mut in_operators = 0;
    each_operator(&program.body, &mut |operator| {
        each_expression(&operator.body, &mut |part| {
            in_operators += usize::from(matches!(part.kind, ExprKind::Scalar(id) if id == scalar));
        });
        let mut tallies = 0;
        for act in &operator.body {
            act.walk(&mut |act| {
                tallies += usize::from(matches!(act.kind, ActKind::Tally(id, ..) if id == scalar));
            });
        }
        // The operator of the loop folds into it; another must not.
        in_operators += if tallies > 0 { 1 } else { 0 };
    });
    of_steps(&program.body, scalar) + in_operators.saturating_sub(1)
}

/// An operator that folds improvements of one field along edges.
pub struct Settling {
    /// The field.
    pub field: FieldId,
    /// How.
    pub fold: Fold,
    /// The edges.
    pub dir: super::ir::Dir,
    /// The vertex that improves.
    pub place: VertexPlace,
    /// The value that is folded in, in terms of the field at the other vertex.
    pub value: Expr,
    /// What must hold of edge and vertices.
    pub guards: Vec<Expr>,
    /// The worklist that an improved vertex joins.
    pub list: Option<ListId>,
    /// The scalar that is set on an improvement.
    pub flag: Option<ScalarId>,
}

/// The settling operator that this is, if so.
pub fn settling(operator: &Operator) -> Option<Settling> {
    let mut known = Known::default();
    let (dir, body) = known.find_edges(&operator.body)?;
    let (field, place, fold, value, then) = known.find_fold(body)?;
    if !fold.is_idempotent() {
        return None;
    }
    let (mut list, mut flag) = (None, None);
    for act in then {
        match &act.kind {
            ActKind::Push(id, at) if *at == place && list.is_none() => list = Some(*id),
            ActKind::Tally(id, Fold::Or, value) if matches!(value.kind, ExprKind::Bool(true)) => {
                flag = Some(*id);
            }
            _ => return None,
        }
    }
    let from = match place {
        VertexPlace::Far => VertexPlace::Active,
        VertexPlace::Active => VertexPlace::Far,
    };
    let value = known.inlined(value);
    let guards: Vec<_> = known.guards.iter().map(|guard| known.inlined(guard)).collect();
    let reads = |expr: &Expr, at: VertexPlace| {
        expr.any(&|part| matches!(part.kind, ExprKind::Read(f, p) if f == field && p == at))
    };
    let is_fine = !reads(&value, place)
        && is_monotone(&value, field, from)
        && guards.iter().all(|guard| {
            !reads(guard, place) && (!reads(guard, from) || stays(guard, field, from, fold))
        });
    // Sums of whole numbers may wrap around where a vertex was not reached yet.
    let is_reached = list.is_some() || guards.iter().any(|guard| reads(guard, from));
    let may_wrap = |part: &Expr| {
        matches!(part.kind, ExprKind::Binary(Binary::Add | Binary::Mul, ..)) && !part.ty.is_float()
    };
    let is_fine = is_fine && (is_reached || !value.any(&may_wrap));
    // A worklist of vertices that collect would have to be told of improved neighbours.
    (is_fine && (place == VertexPlace::Far || list.is_none())).then_some(Settling {
        field,
        fold,
        dir,
        place,
        value,
        guards,
        list,
        flag,
    })
}

/// Guards and locals on the way into an operator.
#[derive(Default)]
pub(super) struct Known<'a> {
    guards: Vec<&'a Expr>,
    pub(super) locals: HashMap<VariableId, &'a Expr>,
}

type FoldAct<'a> = (FieldId, VertexPlace, Fold, &'a Expr, &'a [Act]);

impl<'a> Known<'a> {
    /// Passes `let`s and guards up to the only other statement.
    fn last_after(&mut self, acts: &'a [Act]) -> Option<&'a Act> {
        let (last, before) = acts.split_last()?;
        for act in before {
            let ActKind::Let(local, value) = &act.kind else { return None };
            self.locals.insert(*local, value);
        }
        match &last.kind {
            ActKind::If(condition, then, otherwise) if otherwise.is_empty() => {
                self.guards.extend(conjuncts(condition));
                self.last_after(then)
            }
            _ => Some(last),
        }
    }

    fn find_edges(&mut self, acts: &'a [Act]) -> Option<(super::ir::Dir, &'a [Act])> {
        match &self.last_after(acts)?.kind {
            ActKind::Edges(dir, body) => Some((*dir, body)),
            _ => None,
        }
    }

    fn find_fold(&mut self, acts: &'a [Act]) -> Option<FoldAct<'a>> {
        match &self.last_after(acts)?.kind {
            ActKind::Fold(field, place, fold, value, then) => {
                Some((*field, *place, *fold, value, then))
            }
            _ => None,
        }
    }

    /// The expression with locals replaced by what they are.
    pub(super) fn inlined(&self, expr: &Expr) -> Expr {
        if let ExprKind::Local(id) = &expr.kind
            && let Some(value) = self.locals.get(id)
        {
            return self.inlined(value);
        }
        let mut expr = expr.clone();
        for part in expr.parts_mut() {
            *part = self.inlined(part);
        }
        expr
    }
}

/// Whether an expression never falls as the field rises.
fn is_monotone(expr: &Expr, field: FieldId, place: VertexPlace) -> bool {
    let is_field =
        |expr: &Expr| matches!(expr.kind, ExprKind::Read(f, p) if f == field && p == place);
    let mentions = |expr: &Expr| expr.any(&is_field);
    if !mentions(expr) || is_field(expr) {
        return true;
    }
    let fixed = |expr: &Expr| !mentions(expr);
    match &expr.kind {
        ExprKind::Binary(Binary::Add, a, b) => {
            is_monotone(a, field, place) && is_monotone(b, field, place)
        }
        ExprKind::Binary(Binary::Sub, a, b) => {
            expr.ty.is_float() && is_monotone(a, field, place) && fixed(b)
        }
        ExprKind::Binary(Binary::Mul, a, b) => {
            expr.ty.is_unsigned() && is_monotone(a, field, place) && is_monotone(b, field, place)
        }
        ExprKind::Method("saturating_add" | "min" | "max", parts) => {
            parts.iter().all(|part| is_monotone(part, field, place))
        }
        ExprKind::Method("saturating_sub", parts) => {
            is_monotone(&parts[0], field, place) && fixed(&parts[1])
        }
        _ => false,
    }
}

/// Whether a guard on the field that holds once holds for good, as the field improves.
fn stays(guard: &Expr, field: FieldId, place: VertexPlace, fold: Fold) -> bool {
    let is_field =
        |expr: &Expr| matches!(expr.kind, ExprKind::Read(f, p) if f == field && p == place);
    if is_field(guard) {
        return fold == Fold::Or;
    }
    let ExprKind::Binary(operator, a, b) = &guard.kind else { return false };
    if !is_field(a) || !b.is_uniform() {
        return false;
    }
    let is_worst = match (fold, &b.kind) {
        (Fold::Min, ExprKind::Constant(name)) => {
            matches!(*name, "MAX" | "INFINITY") && !(b.ty.is_float() && *name == "MAX")
        }
        (Fold::Max, ExprKind::Constant(name)) => {
            matches!(*name, "MIN" | "NEG_INFINITY") && !(b.ty.is_float() && *name == "MIN")
        }
        (Fold::Max, ExprKind::Integer(0)) => b.ty.is_unsigned(),
        _ => false,
    };
    match (fold, operator) {
        (_, Binary::Ne) => is_worst,
        (Fold::Min, Binary::Lt | Binary::Le) | (Fold::Max, Binary::Gt | Binary::Ge) => true,
        _ => false,
    }
}

/// Whether each vertex acts once, when a count has passed a threshold: `if alive[v] && degree[v] < k`.
fn fires(operator: &Operator, flag: ScalarId) -> bool {
    let [Act { kind: ActKind::If(condition, then, otherwise), .. }] = &operator.body[..] else {
        return false;
    };
    let [latch, threshold] = conjuncts(condition)[..] else { return false };
    let (latch, is_set) = match &latch.kind {
        ExprKind::Read(field, VertexPlace::Active) => (*field, true),
        ExprKind::Unary(Unary::Not, of) => match of.kind {
            ExprKind::Read(field, VertexPlace::Active) => (field, false),
            _ => return false,
        },
        _ => return false,
    };
    let ExprKind::Binary(compare, count, bound) = &threshold.kind else { return false };
    let ExprKind::Read(count, VertexPlace::Active) = count.kind else { return false };
    let fold = match compare {
        Binary::Lt | Binary::Le => Fold::Less,
        Binary::Gt | Binary::Ge => Fold::Sum,
        _ => return false,
    };
    let (mut latched, mut told, mut edges) = (0, 0, 0);
    for act in then {
        match &act.kind {
            ActKind::Write(field, VertexPlace::Active, value) if *field == latch => {
                latched +=
                    usize::from(matches!(value.kind, ExprKind::Bool(value) if value != is_set));
            }
            ActKind::Tally(id, Fold::Sum | Fold::Or, value) if *id == flag => {
                told +=
                    usize::from(matches!(value.kind, ExprKind::Integer(1) | ExprKind::Bool(true)));
            }
            ActKind::Edges(_, body) => {
                let [Act { kind: ActKind::Fold(field, VertexPlace::Far, how, value, _), .. }] =
                    &body[..]
                else {
                    return false;
                };
                let reads =
                    |part: &Expr| matches!(part.kind, ExprKind::Read(..) | ExprKind::Local(_));
                let is_count = *field == count && *how == fold && value.ty.is_unsigned();
                edges += usize::from(is_count && !value.any(&reads));
            }
            _ => return false,
        }
    }
    otherwise.is_empty()
        && bound.is_uniform()
        && count != latch
        && (latched, told, edges, then.len()) == (1, 1, 1, 3)
}
