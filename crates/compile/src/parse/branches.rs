//! `if` and `match`.

use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprIf, ExprMatch};

use super::{Parser, expression};
use crate::ir::{Arm, Binary, Block, Expression, Kind, Pattern};

impl Parser {
    /// An `if`. One with a `let` is a `match` of two arms.
    pub(super) fn branch(&mut self, branch: &ExprIf, value: &Expr) -> Expression {
        let otherwise = |parser: &mut Self| {
            let otherwise = branch.else_branch.as_ref();
            otherwise.map(|(_, otherwise)| parser.expression(otherwise))
        };
        let mut conditions = Vec::new();
        flatten(&branch.cond, &mut conditions);
        let is_let = |condition: &&&Expr| matches!(condition, Expr::Let(_));
        let (Some(Expr::Let(test)), None) =
            (conditions.first(), conditions.iter().skip(1).find(is_let))
        else {
            if let Some(part) = conditions.iter().find(is_let) {
                let message = "a device knows one `let` in a condition, as its first part: write \
                               one `if` inside another";
                return self.wrong(part, message);
            }
            let condition = Box::new(self.value(&branch.cond));
            let then = self.block(&branch.then_branch);
            let otherwise = otherwise(self).map(Box::new);
            return expression(Kind::If(condition, then, otherwise), value.span());
        };
        let matched = self.value(&test.expr);
        let first = self.scoped(|parser| {
            let pattern = parser.pattern(&test.pat);
            let guards = conditions[1..].iter().map(|guard| parser.value(guard));
            let both = |a: Expression, b: Expression| {
                let span = a.span;
                expression(Kind::Binary(Binary::And, Box::new(a), Box::new(b)), span)
            };
            let guard = guards.reduce(both);
            let then = Kind::Block(parser.block(&branch.then_branch));
            Arm { pattern, guard, body: expression(then, value.span()) }
        });
        let nothing = Kind::Block(Block { statements: vec![], tail: None });
        let body = otherwise(self).unwrap_or_else(|| expression(nothing, value.span()));
        let second = Arm { pattern: Pattern::Any, guard: None, body };
        expression(Kind::Match(Box::new(matched), vec![first, second]), value.span())
    }

    /// A `match`.
    pub(super) fn choice(&mut self, choice: &ExprMatch, value: &Expr) -> Expression {
        let matched = self.value(&choice.expr);
        let arms = choice.arms.iter().map(|arm| {
            self.scoped(|parser| {
                let pattern = parser.pattern(&arm.pat);
                let guard = arm.guard.as_ref().map(|(_, guard)| parser.value(guard));
                Arm { pattern, guard, body: parser.expression(&arm.body) }
            })
        });
        expression(Kind::Match(Box::new(matched), arms.collect()), value.span())
    }
}

/// The parts of a condition that `&&` joins.
fn flatten<'e>(condition: &'e Expr, into: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Binary(operation) if matches!(operation.op, BinOp::And(_)) => {
            flatten(&operation.left, into);
            flatten(&operation.right, into);
        }
        _ => into.push(condition),
    }
}
