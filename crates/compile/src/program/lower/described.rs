//! What `explain` says of an operator as it is written: its accesses to fields, and what becomes of its worklist.

use parton_plan::{AccessKind, EdgeSide, Elimination, PlannedAccess};

use super::accumulator;
use crate::program::access::{self, How};
use crate::program::ir::{ActKind, Expr, ListId, Operator, Over, ParsedProgram, VertexPlace};
use crate::program::print;

/// What an operator does to fields, each once.
pub(super) fn accesses(operator: &Operator) -> Vec<PlannedAccess> {
    let mut found = Vec::new();
    for access in access::accesses(&operator.body) {
        let kind = match access.how {
            How::Read => AccessKind::Read,
            How::Write => AccessKind::Write,
            How::Reduce(fold) => AccessKind::Reduce(accumulator(fold)),
        };
        let side = access.in_edges.then_some(match access.place {
            VertexPlace::Active => EdgeSide::Near,
            VertexPlace::Far => EdgeSide::Far,
        });
        let one = PlannedAccess { column: access.field.0, kind, side };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// What becomes of the worklist that an operator drains.
pub(super) fn elimination(program: &ParsedProgram, operator: &Operator) -> Option<Elimination> {
    let Over::List(list) = operator.over else { return None };
    let mut how = Elimination::BySet;
    for act in &operator.body {
        act.walk(&mut |act| match &act.kind {
            ActKind::Fold(field, .., then) if then.iter().any(|act| pushes(&act.kind, list)) => {
                how = Elimination::ByChange { column: field.0 };
            }
            ActKind::If(condition, then, _) if then.iter().any(|act| pushes(&act.kind, list)) => {
                how = Elimination::ByPredicate { predicate: text(program, condition) };
            }
            _ => {}
        });
    }
    Some(how)
}

fn pushes(kind: &ActKind, list: ListId) -> bool {
    matches!(kind, ActKind::Push(to, VertexPlace::Far) if *to == list)
}

fn text(program: &ParsedProgram, condition: &Expr) -> String {
    print::expression(condition, Some(program))
}
