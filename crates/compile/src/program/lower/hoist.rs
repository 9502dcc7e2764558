//! Hoisting: what edges need of one vertex alone is computed once at its master and travels as one value.
//!
//! Where all vertices visit their edges, a plain field is read as it is, and travels where it changed. Where
//! only some do, what they know travels as a message, which also says that they are active.

use parton_plan::ColumnRole;

use super::Lowering;
use crate::program::ir::{
    Act, ActKind, Binary, Expr, ExprKind, FieldId, Ty, VariableId, VertexPlace,
};
use crate::program::print;

pub(super) struct Hoist {
    is_partial: bool,
    /// Columns with what is known of the active vertex, and the value.
    pub(super) near: Vec<(FieldId, Expr)>,
    /// Columns with what is known of neighbours, and the value at their masters.
    pub(super) far: Vec<(FieldId, Expr)>,
    /// Locals of the edge.
    locals: Vec<VariableId>,
}

/// Whose an expression is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The same everywhere.
    All,
    One(VertexPlace),
    Edge,
}

impl Whose {
    fn and(self, other: Whose) -> Whose {
        match (self, other) {
            (Whose::All, other) => other,
            (own, Whose::All) => own,
            (own, other) if own == other => own,
            _ => Whose::Edge,
        }
    }
}

impl Hoist {
    pub(super) fn new(is_partial: bool) -> Self {
        Hoist { is_partial, near: Vec::new(), far: Vec::new(), locals: Vec::new() }
    }

    /// Replaces what is known of one vertex by columns, in all expressions.
    pub(super) fn acts(&mut self, acts: &mut [Act], lowering: &mut Lowering) {
        for act in acts {
            match &mut act.kind {
                ActKind::Let(local, value) => {
                    self.expression(value, lowering);
                    self.locals.push(*local);
                }
                ActKind::Set(_, value)
                | ActKind::Tally(_, _, value)
                | ActKind::Fold(_, _, _, value, _) => {
                    self.expression(value, lowering);
                }
                ActKind::If(condition, then, otherwise) => {
                    self.expression(condition, lowering);
                    self.acts(then, lowering);
                    self.acts(otherwise, lowering);
                }
                _ => {}
            }
        }
    }

    fn whose(&self, expr: &Expr) -> Whose {
        let own = match expr.kind {
            ExprKind::Local(id) if self.locals.contains(&id) => Whose::Edge,
            ExprKind::Local(_) => Whose::One(VertexPlace::Active),
            ExprKind::Read(_, at) | ExprKind::Degree(_, at) | ExprKind::Vertex(at) => {
                Whose::One(at)
            }
            ExprKind::Weight => Whose::Edge,
            _ => Whose::All,
        };
        expr.parts().into_iter().fold(own, |all, part| all.and(self.whose(part)))
    }

    fn expression(&mut self, expr: &mut Expr, lowering: &mut Lowering) {
        // Every proxy knows which vertex it is: numbers of vertices need not travel.
        let travels = expr.any(&|part| {
            let is_outer = matches!(part.kind, ExprKind::Local(id) if !self.locals.contains(&id));
            is_outer || matches!(part.kind, ExprKind::Read(..) | ExprKind::Degree(..))
        });
        if !travels {
            return;
        }
        // A number that edges widen travels as narrow as it is.
        if let ExprKind::Cast(narrow) = &mut expr.kind
            && (narrow.ty, expr.ty) == (Ty::F32, Ty::F64)
        {
            return self.expression(narrow, lowering);
        }
        match self.whose(expr) {
            Whose::One(place) if !may_panic(expr) => self.hoist(expr, place, lowering),
            _ => expr.parts_mut().into_iter().for_each(|part| self.expression(part, lowering)),
        }
    }

    fn hoist(&mut self, expr: &mut Expr, place: VertexPlace, lowering: &mut Lowering) {
        let is_message = self.is_partial && place == VertexPlace::Active;
        if !is_message && matches!(expr.kind, ExprKind::Read(..)) {
            return;
        }
        let list = match place {
            VertexPlace::Active => &mut self.near,
            VertexPlace::Far => &mut self.far,
        };
        let at_master = at_master(expr);
        let known = list.iter().find(|(_, value)| value.is_same(&at_master));
        let column = match known {
            Some((column, _)) => *column,
            None => {
                let name = print::expression(&at_master, Some(&lowering.program));
                let role = if is_message { ColumnRole::Message } else { ColumnRole::Hoisted };
                let column = lowering.add(name, expr.ty, role, expr.span);
                list.push((column, at_master));
                column
            }
        };
        expr.kind = ExprKind::Read(column, place);
    }
}

/// The expression as the vertex's own master sees it.
fn at_master(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    match &mut expr.kind {
        ExprKind::Read(_, at) | ExprKind::Degree(_, at) | ExprKind::Vertex(at) => {
            *at = VertexPlace::Active
        }
        _ => {}
    }
    for part in expr.parts_mut() {
        *part = at_master(part);
    }
    expr
}

/// Whether an expression may end the program: it must not be computed where nobody asked for it.
fn may_panic(expr: &Expr) -> bool {
    expr.any(&|part| {
        matches!(part.kind, ExprKind::Binary(Binary::Div | Binary::Rem, ..)) && !part.ty.is_float()
    })
}
