//! A plan as JSON.

use std::fmt::Write;

use super::{
    Pace, access_name, class, direction_name, elimination, end, instruction_text, paces, part_name,
    place, role, shape,
};
use crate::{CompiledPlan, EdgeDirection, EdgeSide, PlannedAccess, PlannedOperator};

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
    let refusals = plan
        .fit
        .refusals
        .iter()
        .map(|(shape, why)| format!("{{\"shape\":{},\"why\":{}}}", quoted(shape), quoted(why)));
    let paces = paces(plan).into_iter().map(|Pace { name, is_legal, why }| {
        format!("{{\"name\":{},\"legal\":{is_legal},\"why\":{}}}", quoted(name), quoted(why))
    });
    format!(
        "{{\"program\":{},\"columns\":{},\"operators\":{},\"control\":{},\"results\":{},\"shape\":{},\
         \"why_not\":{},\"engines\":{},\"paces\":{},\"off_devices\":{{\"form\":{},\"steps\":{}}}}}",
        quoted(&plan.name),
        list(columns),
        list(operators),
        list(instructions),
        list(results),
        quoted(&shape(plan)),
        list(refusals),
        list(plan.fit.engines.iter().map(|engine| quoted(engine))),
        list(paces),
        optional(plan.fit.off_devices.form.as_deref()),
        optional(plan.fit.off_devices.steps.as_deref()),
    )
}

fn operator_json(plan: &CompiledPlan, operator: &PlannedOperator) -> String {
    let name = |column: usize| quoted(&plan.columns[column].name);
    let direction = operator.direction.unwrap_or(EdgeDirection::Out);
    let at = |(column, side): &(usize, EdgeSide)| {
        format!("{{\"column\":{},\"at\":{}}}", name(*column), quoted(end(direction, *side)))
    };
    let accesses = operator.accesses.iter().map(|PlannedAccess { column, kind, side }| {
        let (kind, place) = (quoted(access_name(*kind).0), quoted(place(direction, *side)));
        format!("{{\"column\":{},\"kind\":{kind},\"at\":{place}}}", name(*column))
    });
    let worklist = operator.elimination.as_ref().map(|how| elimination(plan, how).0);
    format!(
        "{{\"name\":{},\"over\":{},\"class\":{},\"edges\":{},\"partial\":{},\"accesses\":{},\"parts\":{},\
         \"broadcasts\":{},\"messages\":{},\"reduces\":{},\"writes\":{},\"worklist_by\":{}}}",
        quoted(&operator.name),
        optional(operator.list.map(|number| &*plan.lists[number])),
        quoted(class(operator.class).0),
        optional(operator.direction.map(direction_name)),
        operator.is_partial,
        list(accesses),
        list(operator.parts.iter().map(|part| quoted(part_name(*part)))),
        list(operator.traffic.reads.iter().map(at)),
        list(operator.traffic.messages.iter().map(|column| name(*column))),
        list(operator.traffic.folds.iter().map(at)),
        list(operator.writes.iter().map(|column| name(*column))),
        optional(worklist),
    )
}

fn optional(text: Option<&str>) -> String {
    text.map_or("null".into(), quoted)
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
