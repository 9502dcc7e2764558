//! What the compiler found out, for people and for programs.

mod json;

use std::fmt::Write;

use crate::{
    AccessKind, Class, ColumnRole, CompiledPlan, EdgeDirection, EdgeSide, Elimination, Folding,
    Instruction, OperatorPart, PlannedAccess, PlannedOperator, ProgramShape,
};
pub use json::json;

/// A plan as text.
pub fn text(plan: &CompiledPlan) -> String {
    let mut out = format!("program {}\n\nfields and what was added\n", plan.name);
    for (number, column) in plan.columns.iter().enumerate() {
        let travels = if column.is_shared { "travels" } else { "stays at masters" };
        let returned = if plan.results.contains(&number) { ", returned" } else { "" };
        let (name, ty, role) = (&column.name, &column.ty, role(column.role));
        _ = writeln!(out, "  {number:>2} {name}: {ty}, {role}, {travels}{returned}");
    }
    out.push_str("\noperators\n");
    for operator in &plan.operators {
        describe(plan, operator, &mut out);
    }
    out.push_str("\ncontrol flow, on all hosts alike\n");
    for (number, instruction) in plan.instructions.iter().enumerate() {
        _ = writeln!(out, "  {number:>2} {}", instruction_text(plan, instruction));
    }
    _ = write!(out, "\nshape: {}\n", shape(plan));
    for (shape, why) in &plan.fit.refusals {
        _ = writeln!(out, "  not {shape}: {why}");
    }
    _ = writeln!(out, "engines: {}", plan.fit.engines.join(", "));
    for Pace { name, is_legal, why } in paces(plan) {
        let legal = if is_legal { "yes" } else { "no" };
        _ = writeln!(out, "pace {name}: {legal}, {why}");
    }
    _ = writeln!(out, "devices: {}", devices(plan));
    out
}

fn describe(plan: &CompiledPlan, operator: &PlannedOperator, out: &mut String) {
    let over = match operator.list {
        Some(list) => format!("drains `{}`", plan.lists[list]),
        None => "visits all vertices".into(),
    };
    _ = writeln!(out, "  {}: {over}; {}", operator.name, class(operator.class).1);
    let name = |column: &usize| format!("`{}`", plan.columns[*column].name);
    let direction = operator.direction.unwrap_or(EdgeDirection::Out);
    for access in &operator.accesses {
        let PlannedAccess { column, kind, side } = access;
        let (name, done) = (name(column), access_name(*kind).1);
        _ = writeln!(out, "    {name} is {done} at {}", place(direction, *side));
    }
    if operator.direction.is_some() {
        let parts: Vec<_> = operator.parts.iter().map(|part| part_name(*part)).collect();
        _ = writeln!(out, "    split into: {}", parts.join("; "));
        traffic(plan, operator, direction, out);
    }
    if !operator.writes.is_empty() {
        let written: Vec<_> = operator.writes.iter().map(name).collect();
        _ = writeln!(out, "    masters write {}", written.join(", "));
    }
    if let Some(how) = &operator.elimination {
        _ = writeln!(out, "    the worklist is a set of masters: {}", elimination(plan, how).1);
    }
}

/// What travels before and after the edges of an operator.
fn traffic(
    plan: &CompiledPlan,
    operator: &PlannedOperator,
    direction: EdgeDirection,
    out: &mut String,
) {
    let name = |column: &usize| format!("`{}`", plan.columns[*column].name);
    _ = writeln!(out, "    visits {} edges", direction_name(direction));
    for (column, side) in &operator.traffic.reads {
        let (name, end) = (name(column), end(direction, *side));
        _ = writeln!(out, "    before it: broadcast {name} where it is stale, to {end}");
    }
    for column in &operator.traffic.messages {
        let (name, end) = (name(column), end(direction, EdgeSide::Near));
        _ = writeln!(out, "    before it: broadcast {name} of active vertices, to {end}");
    }
    for (column, side) in &operator.traffic.folds {
        let (name, end) = (name(column), end(direction, *side));
        _ = writeln!(out, "    after it: reduce {name}, written at {end}");
    }
}

fn role(role: ColumnRole) -> String {
    match role {
        ColumnRole::Field => "field".into(),
        ColumnRole::Hoisted => "computed once per vertex".into(),
        ColumnRole::Message => "message of active vertices".into(),
        ColumnRole::Saved => "kept until the edges are done".into(),
        ColumnRole::Accumulator(fold) => format!("accumulator, {}", fold_name(fold)),
    }
}

fn fold_name(fold: Folding) -> &'static str {
    match fold {
        Folding::Min => "min (idempotent)",
        Folding::Max => "max (idempotent)",
        Folding::Sum => "sum",
        Folding::Or => "or (idempotent)",
    }
}

/// The name of a class, and what it means.
fn class(class: Class) -> (&'static str, &'static str) {
    match class {
        Class::Independent => {
            ("independent", "independent: no visit sees what another has written")
        }
        Class::Settling => ("settling", "settling: values only improve, until none does"),
        Class::Firing => ("firing", "firing: each vertex acts once, past a threshold"),
        Class::Flowing => {
            ("flowing", "flowing: shares are passed on; equal to another order up to the threshold")
        }
    }
}

fn direction_name(direction: EdgeDirection) -> &'static str {
    match direction {
        EdgeDirection::Out => "out",
        EdgeDirection::In => "in",
        EdgeDirection::Both => "all",
    }
}

/// Which end of edges a side is.
fn end(direction: EdgeDirection, side: EdgeSide) -> &'static str {
    match (direction, side) {
        (EdgeDirection::Both, _) => "either end",
        (EdgeDirection::Out, EdgeSide::Near) | (EdgeDirection::In, EdgeSide::Far) => "sources",
        (EdgeDirection::Out, EdgeSide::Far) | (EdgeDirection::In, EdgeSide::Near) => "destinations",
    }
}

fn instruction_text(plan: &CompiledPlan, instruction: &Instruction) -> String {
    let column = |number: &usize| &plan.columns[*number].name;
    match instruction {
        Instruction::Assign { scalar, .. } => format!("set {}", plan.scalars[*scalar]),
        Instruction::Start { column: number, everywhere, .. } => {
            let where_ = if *everywhere { "at all proxies, nothing to send" } else { "at masters" };
            format!("start {} {where_}", column(number))
        }
        Instruction::Point { column: number, .. } => {
            format!("set {} of one vertex", column(number))
        }
        Instruction::Fill { list, all } => {
            let members = if *all { "all vertices" } else { "nothing" };
            format!("worklist {} has {members}", plan.lists[*list])
        }
        Instruction::Join { list, .. } => format!("a vertex joins {}", plan.lists[*list]),
        Instruction::Swap(a, b) => format!("swap {} and {}", column(a), column(b)),
        Instruction::Branch { otherwise, .. } => format!("if not, go to {otherwise}"),
        Instruction::Jump(to) => format!("go to {to}"),
        Instruction::Run(operator) => format!("run {}", plan.operators[*operator].name),
    }
}

/// Where an access happens.
fn place(direction: EdgeDirection, side: Option<EdgeSide>) -> &'static str {
    match side {
        Some(side) => end(direction, side),
        None => "any vertex, its own",
    }
}

/// The name of an access, and how it reads in a sentence.
fn access_name(kind: AccessKind) -> (&'static str, String) {
    match kind {
        AccessKind::Read => ("read", "read".into()),
        AccessKind::Write => ("write", "written".into()),
        AccessKind::Reduce(fold) => ("reduce", format!("reduced by {}", fold_name(fold))),
    }
}

fn part_name(part: OperatorPart) -> &'static str {
    match part {
        OperatorPart::Derive => "what all masters compute for edges",
        OperatorPart::Before => "what active masters do before their edges",
        OperatorPart::Edges => "edges",
        OperatorPart::After => "what active masters do after their edges",
        OperatorPart::Arrive => "what masters do that neighbours contributed to",
    }
}

/// The name of a way to do without a worklist, and what it means.
fn elimination(plan: &CompiledPlan, how: &Elimination) -> (&'static str, String) {
    match how {
        Elimination::ByChange { column } => {
            let name = &plan.columns[*column].name;
            ("change", format!("those at which `{name}` changed"))
        }
        Elimination::ByPredicate { predicate } => (
            "predicate",
            format!("those that find `{predicate}` once their neighbours have contributed"),
        ),
        Elimination::BySet => ("set", "a bit each".into()),
    }
}

/// The form of a program that decides which engines run it.
fn shape(plan: &CompiledPlan) -> String {
    let operator = |number: &usize| &plan.operators[*number].name;
    match &plan.shape {
        ProgramShape::Relaxation { column } => {
            format!("a relaxation of `{}`", plan.columns[*column].name)
        }
        ProgramShape::Gather { operator: number } => {
            format!("a stationary gather at {}", operator(number))
        }
        ProgramShape::Rotated { operator: number, .. } => {
            format!("a rotated vertex program at {}", operator(number))
        }
        ProgramShape::Steps => "operator by operator".into(),
    }
}

/// Whether hosts may run at a pace, and why.
struct Pace {
    name: &'static str,
    is_legal: bool,
    why: &'static str,
}

fn paces(plan: &CompiledPlan) -> [Pace; 2] {
    let (is_legal, why) = match &plan.shape {
        ProgramShape::Relaxation { .. } => (true, "labels may arrive in any order"),
        ProgramShape::Rotated { is_any_order: true, .. } => {
            (true, "contributions may arrive in any order and in any portions")
        }
        ProgramShape::Rotated { .. } => {
            (false, "of two messages of a vertex only the last would be heard")
        }
        ProgramShape::Gather { .. } => (false, "every vertex collects in every round"),
        ProgramShape::Steps => {
            (false, "the control flow between operators needs all hosts at the same place")
        }
    };
    let bsp = "hosts wait for each other in every round";
    [Pace { name: "bsp", is_legal: true, why: bsp }, Pace { name: "basp", is_legal, why }]
}

/// Where devices run the program.
fn devices(plan: &CompiledPlan) -> String {
    let has_form = plan.shape != ProgramShape::Steps;
    match (&plan.fit.off_devices.form, &plan.fit.off_devices.steps) {
        (None, None) => "yes".into(),
        (Some(why), None) => format!("by steps alone: {why}"),
        (None, Some(why)) if has_form => format!("yes, but not by steps: {why}"),
        (_, Some(why)) => format!("no: {why}"),
    }
}
