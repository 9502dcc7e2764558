//! Which columns of a gather somebody still asks for: those that outlast a round, and whether a round looks at what
//! the round before has left.

use std::collections::BTreeSet;

use parton_plan::ColumnRole;

use super::{Gather, TailPart};
use crate::program::ir::{Act, ActKind, ExprKind, FieldId, Fold};
use crate::program::lower::Lowered;
use crate::program::vertex_form::MessageEdge;

/// Columns whose values at the end of a round somebody reads later.
pub(super) fn state(lowered: &Lowered, edge: &MessageEdge, gather: &Gather) -> Vec<FieldId> {
    let code = &lowered.operators[edge.operator];
    let mut live: BTreeSet<FieldId> = lowered.program.results.iter().copied().collect();
    loop {
        let mut before = live.clone();
        before_apply(lowered, edge, gather, &mut before);
        before_acts(&code.derive, &mut before);
        before.insert(edge.message);
        before_acts(&code.before, &mut before);
        before_acts(&code.derive, &mut before);
        before.retain(|id| lowered.plan.columns[id.0].role == ColumnRole::Field);
        if before.is_subset(&live) {
            return live.into_iter().collect();
        }
        live.extend(before);
    }
}

/// Whether `apply` needs nothing that it has changed in the round before. A subtraction that fails does so in one
/// round and not in another.
pub(super) fn forgets_state(
    lowered: &Lowered,
    edge: &MessageEdge,
    gather: &Gather,
    state: &[FieldId],
) -> bool {
    let mut live: BTreeSet<FieldId> = state.iter().copied().collect();
    before_apply(lowered, edge, gather, &mut live);
    let mut subtracts = false;
    for act in gather.acts_of_apply(lowered, edge.operator) {
        act.walk(&mut |act| subtracts |= matches!(act.kind, ActKind::Absorb(_, _, Fold::Less, _)));
    }
    let changed = gather.changed(lowered, edge.operator);
    let needs = |id: &FieldId| *id != edge.accumulator && live.contains(id);
    !subtracts && !changed.iter().any(needs)
}

/// What must be known before `apply`, if `live` is asked for after it.
fn before_apply(
    lowered: &Lowered,
    edge: &MessageEdge,
    gather: &Gather,
    live: &mut BTreeSet<FieldId>,
) {
    for &number in &gather.ahead {
        before_acts(&lowered.operators[number].before, live);
    }
    for part in gather.tail.iter().rev() {
        match part {
            TailPart::Vertices(number) => before_acts(&lowered.operators[*number].before, live),
            TailPart::Swap(a, b) => {
                let (had_a, had_b) = (live.remove(a), live.remove(b));
                live.extend(had_a.then_some(*b));
                live.extend(had_b.then_some(*a));
            }
        }
    }
    let code = &lowered.operators[edge.operator];
    for acts in [&code.arrive, &code.after, &code.before] {
        before_acts(acts, live);
    }
}

/// What must be known before some statements, if `live` is asked for after them.
fn before_acts(acts: &[Act], live: &mut BTreeSet<FieldId>) {
    for act in acts.iter().rev() {
        match &act.kind {
            ActKind::Write(field, _, _) => _ = live.remove(field),
            ActKind::If(_, then, otherwise) => {
                let mut other = live.clone();
                before_acts(then, live);
                before_acts(otherwise, &mut other);
                live.extend(other);
            }
            ActKind::Absorb(into, _, _, then) => {
                let mut changed = live.clone();
                before_acts(then, &mut changed);
                live.extend(changed);
                live.insert(*into);
            }
            _ => {}
        }
        if let Some(value) = act.expressions() {
            value.walk(&mut |part| {
                if let ExprKind::Read(field, _) = part.kind {
                    live.insert(field);
                }
            });
        }
    }
}
