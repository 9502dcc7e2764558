//! Loops that become one, and one that becomes two (Abelian, section 3.2): neighbouring loops over vertices without
//! edges are fused, an operator with two loops over edges is split between them.
//!
//! Both happen before anything else is decided, so that all that follows sees one loop over edges in an operator.

use std::collections::BTreeSet;

use syn::Result;

use super::classify::independent;
use super::ir::{
    Act, ActKind, Expr, ExprKind, FieldId, Named, Operator, Over, ParsedProgram, ScalarId, Step,
    VariableId, VertexPlace, each_expression,
};

/// Fuses and splits the loops of a program.
pub fn restructure(mut program: ParsedProgram) -> Result<ParsedProgram> {
    let body = std::mem::take(&mut program.body);
    program.body = steps(&mut program, body)?;
    Ok(program)
}

fn steps(program: &mut ParsedProgram, body: Vec<Step>) -> Result<Vec<Step>> {
    let mut out: Vec<Step> = Vec::new();
    for step in body {
        match step {
            Step::Loop(body) => out.push(Step::Loop(steps(program, body)?)),
            Step::If(condition, then, otherwise) => {
                let (then, otherwise) = (steps(program, then)?, steps(program, otherwise)?);
                out.push(Step::If(condition, then, otherwise));
            }
            Step::Operator(operator) => match out.last_mut() {
                Some(Step::Operator(last)) if can_fuse(last, &operator) => {
                    last.body.extend(operator.body);
                }
                _ => out.extend(split(program, operator)?.into_iter().map(Step::Operator)),
            },
            other => out.push(other),
        }
    }
    Ok(out)
}

/// Whether two loops over all vertices can be one: no vertex sees another there, and neither loop asks for what the
/// other adds up over all vertices.
fn can_fuse(one: &Operator, other: &Operator) -> bool {
    let is_local =
        |operator: &Operator| operator.over == Over::All && !operator.body.iter().any(has_edges);
    let ([asked, told], [asked_next, told_next]) = (scalars(one), scalars(other));
    is_local(one)
        && is_local(other)
        && told.is_disjoint(&asked_next)
        && told_next.is_disjoint(&asked)
        && told_next.is_disjoint(&told)
}

fn has_edges(act: &Act) -> bool {
    let mut found = false;
    act.walk(&mut |act| found |= matches!(act.kind, ActKind::Edges(..)));
    found
}

/// The scalars that an operator reads, and those that it folds values into.
fn scalars(operator: &Operator) -> [BTreeSet<ScalarId>; 2] {
    let [mut asked, mut told] = [BTreeSet::new(), BTreeSet::new()];
    each_expression(&operator.body, &mut |part| {
        if let ExprKind::Scalar(id) = part.kind {
            asked.insert(id);
        }
    });
    for act in &operator.body {
        act.walk(&mut |act| {
            if let ActKind::Tally(id, ..) = act.kind {
                told.insert(id);
            }
        });
    }
    [asked, told]
}

/// An operator as several, each with one loop over edges.
///
/// That is legal where no visit sees what another has written: then all vertices may take their first steps before
/// any takes its second. Locals that are needed later become fields.
fn split(program: &mut ParsedProgram, operator: Operator) -> Result<Vec<Operator>> {
    let mut with_edges =
        operator.body.iter().enumerate().filter(|(_, act)| has_edges(act)).map(|(at, _)| at);
    let (Some(first), Some(second)) = (with_edges.next(), with_edges.next()) else {
        return Ok(vec![operator]);
    };
    // After a condition only some vertices go on, and what others know is not kept.
    let is_plain = matches!(operator.body[first].kind, ActKind::Edges(..));
    if operator.over != Over::All || !is_plain {
        return Ok(vec![operator]);
    }
    independent(program, &operator)?;
    let Operator { over, mut body, span } = operator;
    let mut rest = body.split_off(second);
    for local in carried(&body, &rest) {
        let Named { name, ty, span } = program.locals[local.0].clone();
        program.fields.push(Named { name, ty, span });
        let field = FieldId(program.fields.len() - 1);
        let value = |kind| Expr::new(kind, ty, span);
        let kept = ActKind::Write(field, VertexPlace::Active, value(ExprKind::Local(local)));
        body.push(Act { kind: kept, span });
        let known = ActKind::Let(local, value(ExprKind::Read(field, VertexPlace::Active)));
        rest.insert(0, Act { kind: known, span });
    }
    let mut all = vec![Operator { over, body, span }];
    all.extend(split(program, Operator { over, body: rest, span })?);
    Ok(all)
}

/// Locals that are bound by the first statements and mentioned by the rest.
fn carried(body: &[Act], rest: &[Act]) -> BTreeSet<VariableId> {
    let [mut bound, mut used] = [BTreeSet::new(), BTreeSet::new()];
    for act in body {
        if let ActKind::Let(local, _) = act.kind {
            bound.insert(local);
        }
    }
    each_expression(rest, &mut |part| {
        if let ExprKind::Local(id) = part.kind {
            used.insert(id);
        }
    });
    for act in rest {
        act.walk(&mut |act| {
            if let ActKind::Set(id, _) | ActKind::Gather(id, ..) = act.kind {
                used.insert(id);
            }
        });
    }
    &bound & &used
}
