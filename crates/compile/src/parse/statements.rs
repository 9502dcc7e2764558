//! Blocks and statements.

use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprForLoop, Pat, RangeLimits, Stmt};

use super::Parser;
use super::expressions::is_statement_like;
use crate::ir::{Binary, Block, Expression, Kind, LocalRole, Statement};

impl Parser {
    /// A block, in a scope of its own.
    pub(super) fn block(&mut self, block: &syn::Block) -> Block {
        self.scoped(|parser| {
            let mut statements = Vec::new();
            let mut tail = None;
            let last = block.stmts.len().saturating_sub(1);
            for (place, statement) in block.stmts.iter().enumerate() {
                match statement {
                    Stmt::Expr(value, None) if place == last => match parser.statement_of(value) {
                        Some(statement) => statements.push(statement),
                        None => tail = Some(Box::new(parser.expression(value))),
                    },
                    Stmt::Expr(value, _) => match parser.statement_of(value) {
                        Some(statement) => statements.push(statement),
                        None => statements.push(Statement::Evaluate(parser.expression(value))),
                    },
                    Stmt::Local(local) => parser.local(local, &mut statements),
                    Stmt::Item(item) => parser.refuse(
                        item,
                        "a device does not see items inside functions: put it beside the `impl`",
                    ),
                    Stmt::Macro(call) => parser.refuse_macro(&call.mac),
                }
            }
            Block { statements, tail }
        })
    }

    /// What is a statement in C++ and an expression in Rust.
    pub(super) fn statement_of(&mut self, value: &Expr) -> Option<Statement> {
        Some(match value {
            Expr::Paren(paren) => return self.statement_of(&paren.expr),
            Expr::Assign(assign) => {
                let place = self.place(&assign.left);
                Statement::Assign { place, operator: None, value: self.sunk(&assign.right) }
            }
            Expr::Binary(operation) => {
                let operator = compound(&operation.op)?;
                let place = self.place(&operation.left);
                let value = self.value(&operation.right);
                Statement::Assign { place, operator: Some(operator), value }
            }
            Expr::Return(back) => {
                if self.num_values > 0 {
                    self.refuse(
                        value,
                        "a device cannot return from inside a value: make this a statement, or \
                         give the `let` around it a type",
                    );
                }
                Statement::Return(back.expr.as_ref().map(|value| self.expression(value)))
            }
            Expr::Break(leave) if leave.label.is_none() && leave.expr.is_none() => {
                self.check_loop(value);
                Statement::Break
            }
            Expr::Continue(next) if next.label.is_none() => {
                self.check_loop(value);
                Statement::Continue
            }
            Expr::Break(_) | Expr::Continue(_) => {
                self.refuse(value, "a device knows only plain `break` and `continue`");
                Statement::Break
            }
            Expr::ForLoop(each) => self.for_loop(each),
            _ => return None,
        })
    }

    fn check_loop(&mut self, at: &Expr) {
        if self.num_loops == 0 {
            self.refuse(at, "a device cannot leave a loop from inside a value");
        }
    }

    /// A value that is written where it goes, branch by branch, if it has branches.
    pub(super) fn sunk(&mut self, value: &Expr) -> Expression {
        if is_statement_like(value) { self.expression(value) } else { self.value(value) }
    }

    fn local(&mut self, local: &syn::Local, statements: &mut Vec<Statement>) {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(self.ty(&typed.ty))),
            pattern => (pattern, None),
        };
        let Some(init) = &local.init else {
            let Pat::Ident(name) = pattern else {
                return self.refuse(pattern, "a device does not take values apart here");
            };
            if ty.is_none() {
                self.refuse(local, "a device needs the type of this: write `let name: u32;`");
            }
            let local = Some(self.bind(&name.ident.to_string(), LocalRole::Plain, true));
            return statements.push(Statement::Let { local, ty, value: None });
        };
        if let Some((_, otherwise)) = &init.diverge {
            let value = self.value(&init.expr);
            let otherwise = match &**otherwise {
                Expr::Block(block) => self.block(&block.block),
                other => {
                    let statement = self.statement_of(other);
                    Block { statements: statement.into_iter().collect(), tail: None }
                }
            };
            let pattern = self.pattern(pattern);
            return statements.push(Statement::LetElse { pattern, value, otherwise });
        }
        let value = match ty {
            Some(_) => self.sunk(&init.expr),
            None => self.value(&init.expr),
        };
        if ty.is_none() && value.is_bare(&self.locals) {
            self.refuse(
                &init.expr,
                "a device needs the type of this: write `let name: u32 = …`, or `0u32`",
            );
        }
        let bound = match pattern {
            Pat::Wild(_) => None,
            Pat::Tuple(tuple) if tuple.elems.is_empty() => None,
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(self.bind(
                &name.ident.to_string(),
                LocalRole::Plain,
                name.mutability.is_some(),
            )),
            _ => {
                let message = "a device does not take values apart here: write a `let` for each";
                self.refuse(pattern, message);
                self.bind_all(pattern);
                None
            }
        };
        statements.push(Statement::Let { local: bound, ty, value: Some(value) });
    }

    fn for_loop(&mut self, each: &ExprForLoop) -> Statement {
        let mut range = &*each.expr;
        while let Expr::Paren(paren) = range {
            range = &paren.expr;
        }
        let bounds = match range {
            Expr::Range(range) => range.start.as_ref().zip(range.end.as_ref()).map(|bounds| {
                let is_inclusive = matches!(range.limits, RangeLimits::Closed(_));
                (self.value(bounds.0), self.value(bounds.1), is_inclusive)
            }),
            _ => None,
        };
        let (from, to, is_inclusive) = bounds.unwrap_or_else(|| {
            let message = "a device knows only loops over ranges with two ends: `0..count`";
            let nothing = self.wrong(&each.expr, message);
            (nothing, Expression { kind: Kind::Unit, span: each.expr.span() }, false)
        });
        let is_bare = from.is_bare(&self.locals) && to.is_bare(&self.locals);
        let role = if is_bare { LocalRole::Bare } else { LocalRole::Plain };
        self.num_loops += 1;
        let (local, body) = self.scoped(|parser| {
            let local = match &*each.pat {
                Pat::Wild(_) => None,
                Pat::Ident(name) => {
                    Some(parser.bind(&name.ident.to_string(), role, name.mutability.is_some()))
                }
                other => {
                    parser.refuse(other, "the variable of a loop has a name");
                    parser.bind_all(other);
                    None
                }
            };
            (local, parser.block(&each.body))
        });
        self.num_loops -= 1;
        Statement::For { local, from, to, is_inclusive, body }
    }
}

/// The operator of a compound assignment.
fn compound(operator: &BinOp) -> Option<Binary> {
    Some(match operator {
        BinOp::AddAssign(_) => Binary::Add,
        BinOp::SubAssign(_) => Binary::Sub,
        BinOp::MulAssign(_) => Binary::Mul,
        BinOp::DivAssign(_) => Binary::Div,
        BinOp::RemAssign(_) => Binary::Rem,
        BinOp::BitXorAssign(_) => Binary::BitXor,
        BinOp::BitAndAssign(_) => Binary::BitAnd,
        BinOp::BitOrAssign(_) => Binary::BitOr,
        BinOp::ShlAssign(_) => Binary::Shl,
        BinOp::ShrAssign(_) => Binary::Shr,
        _ => return None,
    })
}
