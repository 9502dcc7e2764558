//! Which operators give the same answer in any order of visits, and why. What falls in no class is refused.
//!
//! The classes are [`Class`]; [`patterns`] recognises the three that run until nothing is left to do. Here is
//! the general one, *independent*: every field is only read, or touched at the active vertex alone, or only
//! folded into, by one fold. Two accesses do not meet if guards keep them at different vertices.

use parton_plan::Class;
use proc_macro2::Span;
use syn::{Error, Result};

use super::access::{FieldAccess, How, accesses};
use super::ir::{
    Act, ActKind, Binary, Expr, ExprKind, FieldId, Fold, Operator, Over, ParsedProgram, ScalarId,
    Step, Ty, VariableId, VertexPlace, each_expression,
};
use super::patterns;

/// Judges all operators of a program, in the order in which they stand.
pub fn classify(program: &ParsedProgram) -> Result<Vec<Verdict>> {
    let mut judge = Judge { program, verdicts: Vec::new(), errors: Vec::new() };
    judge.steps(&program.body);
    match judge.errors.into_iter().reduce(joined) {
        None => Ok(judge.verdicts),
        Some(error) => Err(error),
    }
}

fn joined(mut first: Error, second: Error) -> Error {
    first.combine(second);
    first
}

struct Judge<'p> {
    program: &'p ParsedProgram,
    verdicts: Vec<Verdict>,
    errors: Vec<Error>,
}

impl Judge<'_> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Loop(body) => match patterns::until_idle(self.program, body) {
                    Some(class) => self.accept(class),
                    None => self.steps(body),
                },
                Step::If(_, then, otherwise) => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                Step::Operator(operator) => match patterns::drained(self.program, operator) {
                    Some(class) => self.accept(class),
                    None => match independent(self.program, operator) {
                        Ok(verdict) => self.verdicts.push(verdict),
                        Err(error) => self.errors.push(error),
                    },
                },
                _ => {}
            }
        }
    }

    fn accept(&mut self, class: Class) {
        self.verdicts.push(Verdict { class, requires: Vec::new() });
    }
}

/// What was found out about an operator.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Why any order gives the same.
    pub class: Class,
    /// What must hold when it runs, and why.
    pub requires: Vec<(Expr, String)>,
}

/// Judges an operator of no special class.
pub fn independent(program: &ParsedProgram, operator: &Operator) -> Result<Verdict> {
    check_scalars(program, &operator.body)?;
    check_gathers(program, &operator.body)?;
    check_changes(program, &operator.body)?;
    if let Over::List(list) = operator.over {
        check_list(program, operator, list)?;
    }
    let all = accesses(&operator.body);
    let mut requires = Vec::new();
    for field in (0..program.fields.len()).map(FieldId) {
        let of_field: Vec<_> = all.iter().filter(|access| access.field == field).collect();
        check_field(program, &of_field, &all, &mut requires)?;
    }
    Ok(Verdict { class: Class::Independent, requires })
}

fn refuse<T>(span: Span, why: impl Into<String>) -> Result<T> {
    Err(Error::new(span, why.into()))
}

fn check_list(program: &ParsedProgram, operator: &Operator, list: super::ir::ListId) -> Result<()> {
    let mut pushed = None;
    for act in &operator.body {
        act.walk(&mut |act| {
            if matches!(act.kind, ActKind::Push(id, _) if id == list) {
                pushed = Some(act.span);
            }
        });
    }
    let name = &program.lists[list.0];
    match pushed {
        Some(span) => refuse(
            span,
            format!(
                "how often a vertex is visited depends on the order of `{name}`: push a vertex where \
                 `lower` or `raise` improved its field, or to a second worklist"
            ),
        ),
        None => Ok(()),
    }
}

/// Scalars that are folded into are not read, and are folded one way.
fn check_scalars(program: &ParsedProgram, body: &[Act]) -> Result<()> {
    let mut folded: Vec<(ScalarId, Fold, Span)> = Vec::new();
    for act in body {
        act.walk(&mut |act| {
            if let ActKind::Tally(id, fold, _) = act.kind {
                folded.push((id, fold, act.span));
            }
        });
    }
    for (id, fold, span) in &folded {
        let name = &program.scalars[id.0].name;
        if *fold == Fold::Less {
            return refuse(
                *span,
                format!("add up what is subtracted from `{name}`, and subtract it after"),
            );
        }
        if folded.iter().any(|(other, how, _)| other == id && how != fold) {
            return refuse(*span, format!("`{name}` is folded two ways: use two scalars"));
        }
        let mut read = None;
        each_expression(body, &mut |part| {
            if matches!(part.kind, ExprKind::Scalar(other) if other == *id) {
                read = Some(part.span);
            }
        });
        if let Some(read) = read {
            return refuse(
                read,
                format!("`{name}` is being added up here by all vertices: read it after the loop"),
            );
        }
    }
    Ok(())
}

/// Locals that edges fold into are not read by edges, and are folded one way.
fn check_gathers(program: &ParsedProgram, body: &[Act]) -> Result<()> {
    let mut loops: Vec<&[Act]> = Vec::new();
    for act in body {
        act.walk(&mut |act| {
            if let ActKind::Edges(_, inside) = &act.kind {
                loops.push(inside);
            }
        });
    }
    loops.into_iter().try_for_each(|edges| check_gathers_of(program, edges))
}

fn check_gathers_of(program: &ParsedProgram, edges: &[Act]) -> Result<()> {
    let mut gathered: Vec<(VariableId, Fold, Span)> = Vec::new();
    for act in edges {
        act.walk(&mut |act| {
            if let ActKind::Gather(id, fold, _) = act.kind {
                gathered.push((id, fold, act.span));
            }
        });
    }
    for (id, fold, span) in &gathered {
        let name = &program.locals[id.0].name;
        if gathered.iter().any(|(other, how, _)| other == id && how != fold) {
            return refuse(*span, format!("`{name}` is folded two ways: use two locals"));
        }
        let mut read = None;
        each_expression(edges, &mut |part| {
            if matches!(part.kind, ExprKind::Local(other) if other == *id) {
                read = Some(part.span);
            }
        });
        if let Some(read) = read {
            return refuse(
                read,
                format!("`{name}` is being folded over edges in any order: read it after the loop"),
            );
        }
    }
    Ok(())
}

/// What happens where a fold changed a value happens there, and may happen once instead of several times.
fn check_changes(program: &ParsedProgram, body: &[Act]) -> Result<()> {
    let mut wrong = None;
    for act in body {
        act.walk(&mut |act| {
            let ActKind::Fold(field, at, _, _, then) = &act.kind else { return };
            for inner in then {
                let is_fine = match &inner.kind {
                    ActKind::Push(_, place) => place == at,
                    ActKind::Tally(_, Fold::Or, value) => {
                        matches!(value.kind, ExprKind::Bool(true))
                    }
                    ActKind::Write(other, place, value) => {
                        place == at && other != field && value.is_uniform()
                    }
                    _ => false,
                };
                if !is_fine {
                    wrong = Some((inner.span, *field));
                }
            }
        });
    }
    match wrong {
        Some((span, field)) => refuse(
            span,
            format!(
                "several edges may improve `{}`, on several hosts: an improved vertex can be pushed, a flag \
                 can be set. What depends on the edge (a parent, say) is found in a loop of its own",
                program.fields[field.0].name
            ),
        ),
        None => Ok(()),
    }
}

fn check_field(
    program: &ParsedProgram,
    of_field: &[&FieldAccess<'_>],
    all: &[FieldAccess<'_>],
    requires: &mut Vec<(Expr, String)>,
) -> Result<()> {
    let changes: Vec<_> = of_field.iter().filter(|access| access.how != How::Read).collect();
    let Some(first) = changes.first() else { return Ok(()) };
    let name = &program.fields[first.field.0].name;
    if of_field.iter().all(|access| access.place == VertexPlace::Active) {
        return check_own(name, of_field);
    }
    if let Some(write) =
        changes.iter().find(|access| access.how == How::Write && access.place == VertexPlace::Far)
    {
        return check_claim(name, write, of_field, requires);
    }
    let reduced: Vec<_> =
        changes.iter().filter(|access| access.place == VertexPlace::Far).collect();
    let folds: Vec<_> = reduced.iter().map(|access| access.how).collect();
    if let (Some(reduce), true) = (reduced.first(), folds.windows(2).any(|two| two[0] != two[1])) {
        return refuse(
            reduce.span,
            format!("`{name}` of neighbours is folded two ways: use two fields"),
        );
    }
    let is_reduce =
        |access: &FieldAccess<'_>| access.how != How::Read && access.place == VertexPlace::Far;
    for other in of_field.iter().filter(|access| !is_reduce(access)) {
        for reduce in &reduced {
            match apart(other, reduce, all) {
                Some(distinct) => requires.push(distinct),
                None => return refuse(other.span, order_shows(name, other, reduce)),
            }
        }
    }
    if reduced.is_empty() {
        // Changed at its own vertex, read from others.
        for change in &changes {
            for other in of_field.iter().filter(|access| access.place == VertexPlace::Far) {
                match apart(change, other, all) {
                    Some(distinct) => requires.push(distinct),
                    None => return refuse(change.span, order_shows(name, change, other)),
                }
            }
        }
    }
    Ok(())
}

fn order_shows(name: &str, one: &FieldAccess<'_>, other: &FieldAccess<'_>) -> String {
    let verb = |access: &FieldAccess<'_>| match access.how {
        How::Read => "read",
        How::Write => "written",
        How::Reduce(_) => "updated",
    };
    let whose = |access: &FieldAccess<'_>| match access.place {
        VertexPlace::Active => "the active vertex",
        VertexPlace::Far => "its neighbours",
    };
    format!(
        "the order of visits shows in `{name}`: it is {} at {} and {} at {} in one loop. Write to a second \
         field, and copy it in a loop of its own",
        verb(one),
        whose(one),
        verb(other),
        whose(other)
    )
}

/// A field that is touched at the active vertex alone.
fn check_own(name: &str, of_field: &[&FieldAccess<'_>]) -> Result<()> {
    let by_edges: Vec<_> = of_field.iter().filter(|access| access.in_edges).collect();
    let changes: Vec<_> = by_edges.iter().filter(|access| access.how != How::Read).collect();
    let Some(first) = changes.first() else { return Ok(()) };
    if let Some(write) =
        changes.iter().find(|access| access.how == How::Write && access.block.is_none())
    {
        return refuse(
            write.span,
            format!(
                "edges are visited in any order, so the last one to set `{name}` is any of them: fold"
            ),
        );
    }
    if changes.iter().any(|change| change.how != first.how) {
        return refuse(first.span, format!("`{name}` is folded two ways by edges: use two fields"));
    }
    match by_edges.iter().find(|access| access.how == How::Read) {
        Some(read) => refuse(
            read.span,
            format!(
                "`{name}` is being folded over edges in any order: read it before or after the loop"
            ),
        ),
        None => Ok(()),
    }
}

/// A field that a neighbour is given once: `if level[t] == NONE { level[t] = now + 1; }`.
fn check_claim(
    name: &str,
    write: &FieldAccess<'_>,
    of_field: &[&FieldAccess<'_>],
    requires: &mut Vec<(Expr, String)>,
) -> Result<()> {
    let Some(block) = write.block else {
        return refuse(
            write.span,
            format!(
                "several neighbours may set `{name}` of one vertex, and the last is any of them: fold with \
                 `+=`, `|=`, `lower` or `raise`"
            ),
        );
    };
    let free = write.guards.iter().find_map(|guard| pinned(guard, write.field, VertexPlace::Far));
    for other in of_field {
        let is_inside = other.block == Some(block) && other.place == VertexPlace::Far;
        let is_same_write = other.how == How::Write && is_inside;
        if is_same_write || (other.how == How::Read && is_inside) {
            continue;
        }
        let pin =
            other.guards.iter().find_map(|guard| pinned(guard, write.field, VertexPlace::Active));
        match (other.how, other.place, pin, free) {
            (How::Read, VertexPlace::Active, Some(seen), Some(free)) => {
                let why = format!("`{name}` is read and set at once: the values must differ");
                requires.push((differ(seen, free), why.clone()));
                let written = of_field.iter().filter_map(|access| access.value);
                requires.extend(written.map(|value| (differ(seen, value), why.clone())));
            }
            _ => return refuse(other.span, order_shows(name, other, write)),
        }
    }
    Ok(())
}

/// The value that a guard says a field has at a vertex.
fn pinned(guard: &Expr, field: FieldId, place: VertexPlace) -> Option<&Expr> {
    let ExprKind::Binary(Binary::Eq, a, b) = &guard.kind else { return None };
    let is = |expr: &Expr| matches!(expr.kind, ExprKind::Read(f, p) if f == field && p == place);
    match (is(a) && b.is_uniform(), is(b) && a.is_uniform()) {
        (true, _) => Some(b),
        (_, true) => Some(a),
        _ => None,
    }
}

/// Two accesses are at different vertices if guards say that a field, which nobody writes, has different
/// values there. Returns what must hold for that.
fn apart(
    active: &FieldAccess<'_>,
    far: &FieldAccess<'_>,
    all: &[FieldAccess<'_>],
) -> Option<(Expr, String)> {
    if active.place != VertexPlace::Active || far.place != VertexPlace::Far {
        return None;
    }
    for guard in &active.guards {
        let fields = all.iter().map(|access| access.field);
        for field in fields {
            let is_written =
                all.iter().any(|access| access.field == field && access.how != How::Read);
            let (Some(here), false) = (pinned(guard, field, VertexPlace::Active), is_written)
            else {
                continue;
            };
            let there = far.guards.iter().find_map(|guard| pinned(guard, field, VertexPlace::Far));
            if let Some(there) = there.filter(|there| !there.is_same(here)) {
                let why = "vertices are read and updated at once: their guards must differ";
                return Some((differ(here, there), why.into()));
            }
        }
    }
    None
}

fn differ(a: &Expr, b: &Expr) -> Expr {
    let kind = ExprKind::Binary(Binary::Ne, Box::new(a.clone()), Box::new(b.clone()));
    Expr::new(kind, Ty::Bool, a.span)
}
