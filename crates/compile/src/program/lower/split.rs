//! Operator splitting: before the loop over edges, the loop, after it, and what happens at neighbours.

use parton_plan::ColumnRole;
use proc_macro2::Span;
use syn::{Error, Result};

use super::hoist::Hoist;
use super::saved::{joined, save};
use super::{Lowering, OperatorCode, accumulator};
use crate::program::access::acts_on_far_alone;
use crate::program::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, Fold, Operator, Over, Ty, VariableId, VertexPlace,
};

/// An operator cut at its loop over edges.
struct Cut {
    before: Vec<Act>,
    edges: Option<(Dir, Vec<Act>)>,
    after: Vec<Act>,
    is_guarded: bool,
}

/// Splits an operator.
pub(super) fn split(lowering: &mut Lowering, operator: &Operator) -> Result<OperatorCode> {
    let cut = cut(&operator.body)?;
    let Some((dir, body)) = cut.edges else {
        return Ok(OperatorCode { before: cut.before, ..OperatorCode::default() });
    };
    let span = operator.span;
    let is_partial = cut.is_guarded || matches!(operator.over, Over::List(_));
    let needs_flags = !is_told_by_folds(&body);
    let mut splitting = Splitting {
        lowering,
        parts: OperatorCode::default(),
        folded: Vec::new(),
        needs_flags,
        span,
    };
    let (mut edges, far_blocks) = splitting.contributions(body);
    let Splitting { mut parts, .. } = splitting;
    // What neighbours do by themselves comes after what they were given.
    parts.arrive.extend(far_blocks);
    let mut hoist = Hoist::new(is_partial);
    hoist.acts(&mut edges, lowering);
    let Hoist { mut near, far, .. } = hoist;
    if is_partial && near.is_empty() {
        let activity = lowering.add("activity".into(), Ty::Bool, ColumnRole::Message, span);
        near.push((activity, Expr::new(ExprKind::Bool(true), Ty::Bool, span)));
    }
    let mut leave: Vec<Act> =
        near.into_iter().map(|(column, value)| write(column, value)).collect();
    save(lowering, (&cut.before, &cut.after), &mut parts.after, &mut leave);
    if is_partial {
        leave.push(Act { kind: ActKind::Activate, span });
    }
    parts.before = with_leave(cut.before, &leave);
    parts.derive = far.into_iter().map(|(column, value)| write(column, value)).collect();
    parts.edges = Some((dir, edges));
    parts.after.extend(cut.after);
    Ok(parts)
}

/// Sets the value of the active vertex.
pub(super) fn write(column: FieldId, value: Expr) -> Act {
    let span = value.span;
    Act { kind: ActKind::Write(column, VertexPlace::Active, value), span }
}

fn contains(act: &Act, is: &dyn Fn(&ActKind) -> bool) -> bool {
    let mut found = false;
    act.walk(&mut |act| found |= is(&act.kind));
    found
}

fn has_edges(act: &Act) -> bool {
    contains(act, &|kind| matches!(kind, ActKind::Edges(..)))
}

/// Whether every visit to an edge that concerns the neighbour also folds something into it: then what was
/// folded tells that there was a visit.
fn is_told_by_folds(body: &[Act]) -> bool {
    let folds_far = |kind: &ActKind| matches!(kind, ActKind::Fold(_, VertexPlace::Far, ..));
    let (direct, inner): (Vec<_>, Vec<_>) =
        body.iter().partition(|act| folds_far(&act.kind) || acts_on_far_alone(act));
    let is_hidden = |act: &&Act| {
        contains(act, &|kind| {
            folds_far(kind)
                || matches!(
                    kind,
                    ActKind::Push(_, VertexPlace::Far) | ActKind::Write(_, VertexPlace::Far, _)
                )
        })
    };
    direct.iter().any(|act| folds_far(&act.kind)) && !inner.iter().any(is_hidden)
}

/// Where the loop stood, an empty loop is left in `before`.
fn cut(acts: &[Act]) -> Result<Cut> {
    let Some(place) = acts.iter().position(has_edges) else {
        let before = acts.to_vec();
        return Ok(Cut { before, edges: None, after: Vec::new(), is_guarded: false });
    };
    let (mut before, act, after) = (acts[..place].to_vec(), &acts[place], &acts[place + 1..]);
    if let Some(second) = after.iter().find(|act| has_edges(act)) {
        return Err(Error::new(
            second.span,
            "between two loops over edges all vertices must meet: put this one into a loop over vertices of \
             its own, and keep what it needs in a field",
        ));
    }
    match &act.kind {
        ActKind::Edges(dir, body) => {
            before.push(Act { kind: ActKind::Edges(*dir, Vec::new()), span: act.span });
            let edges = Some((*dir, body.clone()));
            Ok(Cut { before, edges, after: after.to_vec(), is_guarded: false })
        }
        ActKind::If(condition, then, otherwise) => {
            if let Some(rest) = after.first() {
                return Err(Error::new(
                    rest.span,
                    "some vertices have visited their edges here and others have not: move this before the \
                     `if`, or into a loop over vertices of its own",
                ));
            }
            if let Some(second) = otherwise.iter().find(|act| has_edges(act)) {
                return Err(Error::new(
                    second.span,
                    "an operator has one loop over edges: give the other case a loop over vertices of its own",
                ));
            }
            let inner = cut(then)?;
            let kind = ActKind::If(condition.clone(), inner.before, otherwise.clone());
            before.push(Act { kind, span: act.span });
            Ok(Cut { before, edges: inner.edges, after: inner.after, is_guarded: true })
        }
        _ => Err(Error::new(act.span, "a loop over edges cannot depend on a change")),
    }
}

/// The code before the loop, with something to do where the loop stood.
fn with_leave(acts: Vec<Act>, leave: &[Act]) -> Vec<Act> {
    let mut out = Vec::new();
    for act in acts {
        match act.kind {
            ActKind::Edges(..) => out.extend(leave.iter().cloned()),
            ActKind::If(condition, then, otherwise) => {
                let kind = ActKind::If(condition, with_leave(then, leave), otherwise);
                out.push(Act { kind, span: act.span });
            }
            kind => out.push(Act { kind, span: act.span }),
        }
    }
    out
}

struct Splitting<'l> {
    lowering: &'l mut Lowering,
    parts: OperatorCode,
    /// The accumulators of fields so far.
    folded: Vec<(FieldId, VertexPlace, FieldId)>,
    needs_flags: bool,
    span: Span,
}

impl Splitting<'_> {
    /// The accumulator of a fold into a field or a local of this operator.
    fn accumulator(&mut self, name: &str, ty: Ty, fold: Fold) -> FieldId {
        let role = ColumnRole::Accumulator(accumulator(fold));
        self.lowering.add(name.into(), ty, role, self.span)
    }

    /// The statements of edges, in which all effects are folds into accumulators, and what neighbours then
    /// do by themselves. What happens to the accumulators goes to the parts after them.
    fn contributions(&mut self, acts: Vec<Act>) -> (Vec<Act>, Vec<Act>) {
        let (mut edges, mut blocks) = (Vec::new(), Vec::new());
        for act in acts {
            let span = act.span;
            if acts_on_far_alone(&act) {
                let inner = at_active(act);
                if self.needs_flags {
                    let (set, is_set) = self.flag("told", VertexPlace::Far, span);
                    edges.push(set);
                    blocks.push(Act { kind: ActKind::If(is_set, vec![inner], Vec::new()), span });
                } else {
                    blocks.push(inner);
                }
                continue;
            }
            match act.kind {
                ActKind::Fold(field, place, fold, value, then) => {
                    let column = self.fold(field, place, fold, then, span);
                    edges.push(fold_into(column, place, fold, value));
                }
                ActKind::Gather(local, fold, value) => {
                    let column = self.gather(local, fold, span);
                    edges.push(fold_into(column, VertexPlace::Active, fold, value));
                }
                ActKind::Push(list, VertexPlace::Active) => {
                    let (set, is_set) = self.flag("pushed", VertexPlace::Active, span);
                    edges.push(set);
                    let push = Act { kind: ActKind::Push(list, VertexPlace::Active), span };
                    let kind = ActKind::If(is_set, vec![push], Vec::new());
                    self.parts.after.push(Act { kind, span });
                }
                ActKind::If(condition, then, otherwise) => {
                    let (then, more) = self.contributions(then);
                    blocks.extend(more);
                    let (otherwise, more) = self.contributions(otherwise);
                    blocks.extend(more);
                    edges.push(Act { kind: ActKind::If(condition, then, otherwise), span });
                }
                kind => edges.push(Act { kind, span }),
            }
        }
        (edges, blocks)
    }

    /// A truth value that edges set at a vertex: how they do, and how it is read.
    fn flag(&mut self, name: &str, place: VertexPlace, span: Span) -> (Act, Expr) {
        let column = self.accumulator(name, Ty::Bool, Fold::Or);
        let yes = Expr::new(ExprKind::Bool(true), Ty::Bool, span);
        let read = Expr::new(ExprKind::Read(column, VertexPlace::Active), Ty::Bool, span);
        (fold_into(column, place, Fold::Or, yes), read)
    }

    /// The accumulator of a field, which the field absorbs.
    fn fold(
        &mut self,
        field: FieldId,
        place: VertexPlace,
        fold: Fold,
        then: Vec<Act>,
        span: Span,
    ) -> FieldId {
        let known = self.folded.iter().find(|(f, p, _)| *f == field && *p == place);
        if let (Some((.., column)), true) = (known, then.is_empty()) {
            return *column;
        }
        let Named { name, ty, .. } = self.lowering.program.fields[field.0].clone();
        let column = self.accumulator(&format!("contributions to {name}"), ty, fold);
        self.folded.push((field, place, column));
        let then: Vec<_> = then.into_iter().map(at_active).collect();
        let absorb = Act { kind: ActKind::Absorb(field, column, fold, then), span };
        match place {
            VertexPlace::Far => self.parts.arrive.push(absorb),
            VertexPlace::Active => self.parts.after.push(absorb),
        }
        column
    }

    /// The accumulator of a local, which is joined with it after the loop.
    fn gather(&mut self, local: VariableId, fold: Fold, span: Span) -> FieldId {
        for act in &self.parts.after {
            if let ActKind::Set(id, value) = &act.kind
                && *id == local
                && let Some(column) = read_column(value)
            {
                return column;
            }
        }
        let Named { name, ty, .. } = self.lowering.program.locals[local.0].clone();
        let column = self.accumulator(&name, ty, fold);
        let old = Expr::new(ExprKind::Local(local), ty, span);
        let new = Expr::new(ExprKind::Read(column, VertexPlace::Active), ty, span);
        self.parts.after.push(Act { kind: ActKind::Set(local, joined(fold, old, new)), span });
        column
    }
}

use crate::program::ir::Named;

fn read_column(value: &Expr) -> Option<FieldId> {
    let mut column = None;
    value.walk(&mut |part| {
        if let ExprKind::Read(id, _) = part.kind {
            column = Some(id);
        }
    });
    column
}

fn fold_into(column: FieldId, place: VertexPlace, fold: Fold, value: Expr) -> Act {
    let fold = if fold == Fold::Less { Fold::Sum } else { fold };
    let span = value.span;
    Act { kind: ActKind::Fold(column, place, fold, value, Vec::new()), span }
}

/// A statement about the neighbour, as the neighbour's master sees it.
fn at_active(mut act: Act) -> Act {
    fn expression(expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Read(_, at) | ExprKind::Degree(_, at) | ExprKind::Vertex(at) => {
                *at = VertexPlace::Active
            }
            _ => {}
        }
        expr.parts_mut().into_iter().for_each(expression);
    }
    match &mut act.kind {
        ActKind::Write(_, at, value) => {
            *at = VertexPlace::Active;
            expression(value);
        }
        ActKind::Push(_, at) => *at = VertexPlace::Active,
        ActKind::If(condition, then, otherwise) => {
            expression(condition);
            for inner in [then, otherwise] {
                *inner = std::mem::take(inner).into_iter().map(at_active).collect();
            }
        }
        ActKind::Tally(_, _, value) => expression(value),
        _ => {}
    }
    act
}
