//! Statements of operators as C++.

use super::{Writer, name};
use crate::program::ir::{Act, ActKind, FieldId, Fold, VertexPlace};

/// Which effects of statements are written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Keep {
    /// All.
    All,
    /// Those that may happen in any order.
    Unordered,
    /// Folds into one column, which a row collects.
    Only(FieldId),
}

/// How functions call a vertex.
pub(super) fn vertex(place: VertexPlace) -> &'static str {
    if place == VertexPlace::Active { "near" } else { "far" }
}

impl Writer<'_> {
    /// Statements; nothing if they have no effect.
    pub(super) fn acts(&self, acts: &[Act], keep: Keep) -> String {
        let has_effect = |act: &Act| {
            let mut found = false;
            act.walk(&mut |act| found |= self.is_kept(&act.kind, keep));
            found
        };
        if acts.iter().any(has_effect) { self.block(acts, keep) } else { String::new() }
    }

    fn block(&self, acts: &[Act], keep: Keep) -> String {
        acts.iter().map(|act| self.act(act, keep)).collect()
    }

    fn is_kept(&self, kind: &ActKind, keep: Keep) -> bool {
        match (kind, keep) {
            (ActKind::Let(..) | ActKind::Set(..) | ActKind::If(..), _) => false,
            (_, Keep::All) => true,
            (ActKind::Fold(id, ..), Keep::Only(only)) => *id == only,
            (ActKind::Fold(id, ..), Keep::Unordered) => !self.is_ordered(*id),
            (_, keep) => keep == Keep::Unordered,
        }
    }

    fn act(&self, act: &Act, keep: Keep) -> String {
        match &act.kind {
            ActKind::Let(id, value) => {
                format!("{} local_{} = {};\n", name(value.ty), id.0, self.text(value))
            }
            ActKind::Set(id, value) => format!("local_{} = {};\n", id.0, self.text(value)),
            ActKind::If(condition, then, otherwise) => {
                let (then, otherwise) = (self.block(then, keep), self.block(otherwise, keep));
                let mut text = match then.is_empty() && otherwise.is_empty() {
                    true => return String::new(),
                    false => format!("if ({}) {{\n{then}}}\n", self.text(condition)),
                };
                if !otherwise.is_empty() {
                    text += &format!("else {{\n{otherwise}}}\n");
                }
                text
            }
            kind if !self.is_kept(kind, keep) => String::new(),
            ActKind::Write(id, _, value) => {
                let how = match self.lowered.plan.columns[id.0].role {
                    parton_plan::ColumnRole::Message => "send",
                    _ => "set",
                };
                format!("{how}(host.column_{}, near, {});\n", id.0, self.text(value))
            }
            ActKind::Fold(id, place, _, value, _) => {
                let (fold, value) = (self.reduction(*id), self.text(value));
                match keep {
                    Keep::Only(_) => format!("all = {fold}::combine(all, {value});\nany = true;\n"),
                    _ => {
                        let at = vertex(*place);
                        format!("contribute<{fold}>(host.column_{}, {at}, {value});\n", id.0)
                    }
                }
            }
            ActKind::Tally(id, fold, value) => {
                let fold = super::folding(crate::program::lower::accumulator(*fold), value.ty);
                let scalar = format!("tallies.scalar_{}", id.0);
                format!("{scalar} = {fold}::combine({scalar}, {});\n", self.text(value))
            }
            ActKind::Push(list, _) => format!("set_bit(host.lists[{}], near);\n", list.0),
            ActKind::Activate => "set_bit(host.activated, near);\n".into(),
            ActKind::Absorb(into, from, fold, then) => self.absorb(*into, *from, *fold, then),
            ActKind::Edges(..) | ActKind::Gather(..) => unreachable!("lowering leaves none"),
        }
    }

    /// What a column becomes that takes in what an accumulator holds.
    fn absorb(&self, into: FieldId, from: FieldId, fold: Fold, then: &[Act]) -> String {
        let ty = self.ty(into);
        let next = match fold {
            Fold::Min => "given < old ? given : old",
            Fold::Max => "given > old ? given : old",
            Fold::Or => "p_bit_or(old, given)",
            Fold::Sum => "p_add(old, given)",
            Fold::Less if ty.is_unsigned() => "less(host, old, given)",
            Fold::Less => "p_sub(old, given)",
        };
        let (ty, then) = (name(ty), self.block(then, Keep::All));
        format!(
            "{{\nconst {ty} old = host.column_{0}.values[near], given = host.column_{1}.values[near];\n\
             const {ty} next = {next};\nif (next != old) {{\nset(host.column_{0}, near, next);\n{then}}}\n}}\n",
            into.0, from.0
        )
    }
}
