//! What the compiler found out, for people and for programs.

use std::fmt::Write;

use crate::{
    Class, ColumnRole, CompiledPlan, EdgeDirection, EdgeSide, Folding, Instruction,
    PlannedOperator, ProgramShape,
};

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
    let (shape, pace) = shape(plan);
    _ = write!(out, "\nengines: {shape}\npaces: {pace}\n");
    out
}

fn describe(plan: &CompiledPlan, operator: &PlannedOperator, out: &mut String) {
    let over = match operator.list {
        Some(list) => format!("drains `{}`", plan.lists[list]),
        None => "visits all vertices".into(),
    };
    _ = writeln!(out, "  {}: {over}; {}", operator.name, class(operator.class).1);
    let name = |column: &usize| format!("`{}`", plan.columns[*column].name);
    if let Some(direction) = operator.direction {
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
    if !operator.writes.is_empty() {
        let written: Vec<_> = operator.writes.iter().map(name).collect();
        _ = writeln!(out, "    masters write {}", written.join(", "));
    }
    for note in &operator.notes {
        _ = writeln!(out, "    {note}");
    }
}

/// A plan as JSON.
pub fn json(plan: &CompiledPlan) -> String {
    let columns = plan.columns.iter().map(|column| {
        let (name, ty, role) =
            (quoted(&column.name), quoted(&column.ty), quoted(&role(column.role)));
        format!(
            "{{\"name\":{name},\"type\":{ty},\"role\":{role},\"travels\":{}}}",
            column.is_shared
        )
    });
    let operators = plan.operators.iter().map(|operator| operator_json(plan, operator));
    let instructions =
        plan.instructions.iter().map(|instruction| quoted(&instruction_text(plan, instruction)));
    let results = plan.results.iter().map(|column| quoted(&plan.columns[*column].name));
    let (shape, pace) = shape(plan);
    format!(
        "{{\"program\":{},\"columns\":{},\"operators\":{},\"control\":{},\"results\":{},\"engines\":{},\
         \"paces\":{}}}",
        quoted(&plan.name),
        list(columns),
        list(operators),
        list(instructions),
        list(results),
        quoted(&shape),
        quoted(&pace)
    )
}

fn operator_json(plan: &CompiledPlan, operator: &PlannedOperator) -> String {
    let name = |column: usize| quoted(&plan.columns[column].name);
    let direction = operator.direction.unwrap_or(EdgeDirection::Out);
    let at = |(column, side): &(usize, EdgeSide)| {
        format!("{{\"column\":{},\"at\":{}}}", name(*column), quoted(end(direction, *side)))
    };
    format!(
        "{{\"name\":{},\"over\":{},\"class\":{},\"edges\":{},\"partial\":{},\"broadcasts\":{},\
         \"messages\":{},\"reduces\":{},\"writes\":{},\"notes\":{}}}",
        quoted(&operator.name),
        operator.list.map_or("null".into(), |number| quoted(&plan.lists[number])),
        quoted(class(operator.class).0),
        operator.direction.map_or("null".into(), |direction| quoted(direction_name(direction))),
        operator.is_partial,
        list(operator.traffic.reads.iter().map(at)),
        list(operator.traffic.messages.iter().map(|column| name(*column))),
        list(operator.traffic.folds.iter().map(at)),
        list(operator.writes.iter().map(|column| name(*column))),
        list(operator.notes.iter().map(|note| quoted(note))),
    )
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if u32::from(letter) < 0x20 => _ = write!(out, "\\u{:04x}", u32::from(letter)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
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

/// Which engines and which paces can run it.
fn shape(plan: &CompiledPlan) -> (String, String) {
    match &plan.shape {
        ProgramShape::Relaxation { column } => (
            format!(
                "a relaxation of `{}`: all engines for relaxations, and steps",
                plan.columns[*column].name
            ),
            "bsp and basp: labels may arrive in any order".into(),
        ),
        ProgramShape::Gather { operator } => (
            format!(
                "a stationary gather at {}: pull, push, frontier and steps, on devices, too",
                plan.operators[*operator].name
            ),
            "bsp: every vertex collects in every round".into(),
        ),
        ProgramShape::Steps => (
            "steps: operator by operator, on devices, too".into(),
            "bsp: the control flow between operators needs all hosts at the same place".into(),
        ),
    }
}
