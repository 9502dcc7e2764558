//! Going through all statements, expressions and operators.

use std::fmt;

use super::{Act, ActKind, Binary, Expr, Operator, Step};
use crate::program::print;

impl Act {
    /// Calls `visit` with this statement and all statements in it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Act)) {
        visit(self);
        for act in self.inner() {
            act.walk(visit);
        }
    }

    /// The statements in it.
    pub fn inner(&self) -> impl Iterator<Item = &Act> {
        let (first, second): (&[Act], &[Act]) = match &self.kind {
            ActKind::Fold(.., then) | ActKind::Absorb(.., then) => (then, &[]),
            ActKind::If(_, then, otherwise) => (then, otherwise),
            ActKind::Edges(_, body) => (body, &[]),
            _ => (&[], &[]),
        };
        first.iter().chain(second)
    }

    /// The expressions of the statement itself.
    pub fn expressions(&self) -> Option<&Expr> {
        match &self.kind {
            ActKind::Let(_, value)
            | ActKind::Set(_, value)
            | ActKind::Gather(_, _, value)
            | ActKind::Write(_, _, value)
            | ActKind::Fold(_, _, _, value, _)
            | ActKind::Tally(_, _, value)
            | ActKind::If(value, ..) => Some(value),
            ActKind::Push(..) | ActKind::Edges(..) | ActKind::Activate | ActKind::Absorb(..) => {
                None
            }
        }
    }
}

/// Calls `visit` with every expression of some statements, operands included.
pub(crate) fn each_expression<'a>(acts: &'a [Act], visit: &mut dyn FnMut(&'a Expr)) {
    for act in acts {
        act.walk(&mut |act| {
            if let Some(value) = act.expressions() {
                value.walk(visit);
            }
        });
    }
}

/// Calls `visit` with every operator of some code.
pub(crate) fn each_operator<'s>(steps: &'s [Step], visit: &mut dyn FnMut(&'s Operator)) {
    for step in steps {
        match step {
            Step::Loop(body) => each_operator(body, visit),
            Step::If(_, then, otherwise) => {
                each_operator(then, visit);
                each_operator(otherwise, visit);
            }
            Step::Operator(operator) => visit(operator),
            _ => {}
        }
    }
}

impl Binary {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        use Binary::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            BitAnd => "&",
            BitOr => "|",
            BitXor => "^",
            Shl => "<<",
            Shr => ">>",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            And => "&&",
            Or => "||",
        }
    }
}

/// For comparisons and for readers who do not know the names: fields are `f0`, scalars `s0`, locals `x0`.
impl fmt::Display for Expr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&print::expression(self, None))
    }
}
