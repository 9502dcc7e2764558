//! Expressions.

use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprUnary, Lit, Member, UnOp};

use super::names::{known_type, mangle};
use super::{Parser, expression};
use crate::ir::{Binary, Block, Expression, Kind, LocalRole, Type, Unary};

/// What device code has of a tally.
const TALLY_FIELDS: &[&str] = &["changed", "sums", "counts", "least", "greatest"];

/// Whether an expression can be written as a statement, branch by branch.
pub(super) fn is_statement_like(value: &Expr) -> bool {
    match value {
        Expr::Paren(paren) => is_statement_like(&paren.expr),
        Expr::If(_) | Expr::Match(_) | Expr::Block(_) => true,
        _ => false,
    }
}

fn binary(operator: &BinOp) -> Option<Binary> {
    Some(match operator {
        BinOp::Add(_) => Binary::Add,
        BinOp::Sub(_) => Binary::Sub,
        BinOp::Mul(_) => Binary::Mul,
        BinOp::Div(_) => Binary::Div,
        BinOp::Rem(_) => Binary::Rem,
        BinOp::BitAnd(_) => Binary::BitAnd,
        BinOp::BitOr(_) => Binary::BitOr,
        BinOp::BitXor(_) => Binary::BitXor,
        BinOp::Shl(_) => Binary::Shl,
        BinOp::Shr(_) => Binary::Shr,
        BinOp::Eq(_) => Binary::Eq,
        BinOp::Ne(_) => Binary::Ne,
        BinOp::Lt(_) => Binary::Lt,
        BinOp::Le(_) => Binary::Le,
        BinOp::Gt(_) => Binary::Gt,
        BinOp::Ge(_) => Binary::Ge,
        BinOp::And(_) => Binary::And,
        BinOp::Or(_) => Binary::Or,
        _ => return None,
    })
}

impl Parser {
    /// An expression inside another: C++ cannot leave the function from there.
    pub(super) fn value(&mut self, value: &Expr) -> Expression {
        let num_loops = std::mem::take(&mut self.num_loops);
        self.num_values += 1;
        let parsed = self.expression(value);
        self.num_values -= 1;
        self.num_loops = num_loops;
        if let Kind::Local(local) = parsed.kind
            && matches!(self.role(local), LocalRole::Reference | LocalRole::Tally)
        {
            return self.wrong(
                value,
                "a device does not keep references: write `*` before it, or name a field of it",
            );
        }
        parsed
    }

    /// Something that is assigned to, or whose field, element or method is taken.
    pub(super) fn place(&mut self, place: &Expr) -> Expression {
        match place {
            Expr::Paren(paren) => self.place(&paren.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.place(&unary.expr),
            Expr::Path(_) => {
                self.num_values += 1;
                let parsed = self.expression(place);
                self.num_values -= 1;
                parsed
            }
            _ => self.value(place),
        }
    }

    /// An argument of a user's function, which may write to it.
    pub(super) fn argument(&mut self, argument: &Expr) -> Expression {
        match argument {
            Expr::Reference(to) if to.mutability.is_some() => {
                let place = self.place(&to.expr);
                expression(Kind::Mutable(Box::new(place)), argument.span())
            }
            Expr::Path(_) => {
                let parsed = self.place(argument);
                match parsed.kind {
                    Kind::Local(local)
                        if matches!(self.role(local), LocalRole::Reference | LocalRole::Tally) =>
                    {
                        expression(Kind::Mutable(Box::new(parsed)), argument.span())
                    }
                    _ => parsed,
                }
            }
            _ => self.value(argument),
        }
    }

    /// Checks that at most the only operand has effects: C++ evaluates operands in any order.
    pub(super) fn check_order(&mut self, at: &Expr, operands: &[&Expression]) {
        let is_place = |operand: &&&Expression| !matches!(operand.kind, Kind::Mutable(_));
        if operands.len() > 1 && operands.iter().filter(is_place).any(|part| part.has_effects()) {
            self.refuse(
                at,
                "a device evaluates operands in any order: bind the one that changes something \
                 with `let` first",
            );
        }
    }

    /// An expression.
    pub(super) fn expression(&mut self, value: &Expr) -> Expression {
        let span = value.span();
        if let Some(statement) = self.statement_of(value) {
            return expression(Kind::Statement(Box::new(statement)), span);
        }
        let kind = match value {
            Expr::Paren(paren) => return self.expression(&paren.expr),
            Expr::Group(group) => return self.expression(&group.expr),
            Expr::Lit(literal) => return self.literal(&literal.lit, value),
            Expr::Path(path) => return self.path(path, value),
            Expr::Tuple(tuple) if tuple.elems.is_empty() => Kind::Unit,
            Expr::Reference(reference) if reference.mutability.is_none() => {
                return self.place(&reference.expr);
            }
            Expr::Reference(_) => {
                return self.wrong(
                    value,
                    "a device does not keep references: `&mut` may only be an argument of a \
                     function",
                );
            }
            Expr::Unary(unary) => return self.unary(unary, value),
            Expr::Binary(operation) => return self.binary(operation, value),
            Expr::Cast(cast) => {
                let ty = self.ty(&cast.ty);
                Kind::Cast(Box::new(self.value(&cast.expr)), ty)
            }
            Expr::Field(field) => return self.field(&field.base, &field.member, value),
            Expr::Index(index) => {
                let (base, place) = (self.place(&index.expr), self.value(&index.index));
                self.check_order(value, &[&base, &place]);
                Kind::Index(Box::new(base), Box::new(place))
            }
            Expr::Array(array) if !array.elems.is_empty() => {
                let values: Vec<_> = array.elems.iter().map(|part| self.value(part)).collect();
                self.check_order(value, &values.iter().collect::<Vec<_>>());
                Kind::Array(values)
            }
            Expr::Repeat(repeat) => match self.value(&repeat.len).kind {
                Kind::Integer(count, _) => Kind::Repeat(Box::new(self.value(&repeat.expr)), count),
                _ => {
                    return self
                        .wrong(&repeat.len, "a device needs the number itself here: `[0; 4]`");
                }
            },
            Expr::MethodCall(call) => return self.method_call(call, value),
            Expr::Call(call) => return self.call(call, value),
            Expr::Struct(literal) => return self.struct_literal(literal, value),
            Expr::Block(block) if block.label.is_none() => Kind::Block(self.block(&block.block)),
            Expr::If(branch) => return self.branch(branch, value),
            Expr::Match(choice) => return self.choice(choice, value),
            _ => return self.unsupported(value),
        };
        expression(kind, span)
    }

    fn unary(&mut self, operation: &ExprUnary, value: &Expr) -> Expression {
        let kind = match operation.op {
            // A block of its own tells it from a reference that is kept.
            UnOp::Deref(_) => {
                let tail = Some(Box::new(self.place(&operation.expr)));
                Kind::Block(Block { statements: vec![], tail })
            }
            UnOp::Neg(_) => Kind::Unary(Unary::Negate, Box::new(self.value(&operation.expr))),
            UnOp::Not(_) => Kind::Unary(Unary::Not, Box::new(self.value(&operation.expr))),
            _ => return self.unsupported(value),
        };
        expression(kind, value.span())
    }

    fn binary(&mut self, operation: &ExprBinary, value: &Expr) -> Expression {
        let Some(operator) = binary(&operation.op) else { return self.unsupported(value) };
        let (a, b) = (self.value(&operation.left), self.value(&operation.right));
        if !matches!(operator, Binary::And | Binary::Or) {
            self.check_order(value, &[&a, &b]);
        }
        let shifts = matches!(operator, Binary::Shl | Binary::Shr);
        if shifts && a.is_bare(&self.locals) && !b.is_bare(&self.locals) {
            let message = "a device needs the type of what is shifted: write `1u32`";
            self.refuse(&operation.left, message);
        }
        expression(Kind::Binary(operator, Box::new(a), Box::new(b)), value.span())
    }

    fn literal(&mut self, literal: &Lit, at: &Expr) -> Expression {
        let suffix = match literal {
            Lit::Int(number) => number.suffix(),
            Lit::Float(number) => number.suffix(),
            _ => "",
        };
        let ty = known_type(suffix);
        if !suffix.is_empty() && ty.is_none() {
            return self.wrong(at, format!("a device has no `{suffix}`: take 32 or 64 bits"));
        }
        let is_float = matches!(&ty, Some(Type::Known("f32" | "f64")));
        let kind = match literal {
            Lit::Bool(truth) => Kind::Bool(truth.value),
            Lit::Int(number) if is_float => Kind::Float(number.base10_digits().into(), ty),
            // Patterns have literals with a sign.
            Lit::Int(number) => match number.base10_parse::<i128>() {
                Ok(value) if value <= u64::MAX.into() => Kind::Integer(value as u64, ty),
                _ => return self.wrong(at, "a device has no integers of more than 64 bits"),
            },
            Lit::Float(number) => Kind::Float(number.base10_digits().into(), ty),
            _ => return self.wrong(at, "a device knows only numbers, `true` and `false`"),
        };
        expression(kind, at.span())
    }

    fn path(&mut self, path: &syn::ExprPath, value: &Expr) -> Expression {
        if path.qself.is_some() {
            return self.unsupported(value);
        }
        let kind = match path.path.get_ident() {
            Some(name) if name == "self" => {
                return self.wrong(value, "a device sees fields of `self`, not all of it");
            }
            Some(name) if name == "None" => Kind::Call("p_none", vec![], vec![]),
            Some(name) => match self.resolve(&name.to_string()) {
                Some(local) => Kind::Local(local),
                None => match self.constant(&path.path, value) {
                    Some(constant) => constant,
                    None => {
                        let message = format!("a device does not know `{name}`");
                        return self.wrong(value, message);
                    }
                },
            },
            None => match self.constant(&path.path, value) {
                Some(constant) => constant,
                None => {
                    return self.wrong(
                        value,
                        "a device does not know this: it sees parameters, fields of `self`, and \
                         constants of numbers",
                    );
                }
            },
        };
        expression(kind, value.span())
    }

    fn field(&mut self, base: &Expr, member: &Member, value: &Expr) -> Expression {
        let span = value.span();
        if let Expr::Path(path) = base
            && path.path.is_ident("self")
        {
            if !self.has_program {
                return self.wrong(value, "there is no `self` here");
            }
            let name = match member {
                Member::Named(name) => mangle(&name.to_string()),
                Member::Unnamed(index) => format!("field{}_", index.index),
            };
            self.mentions.fields.entry(name.clone()).or_insert_with(|| member.clone());
            return expression(Kind::Parameter(name), span);
        }
        let base = self.place(base);
        let role = match base.kind {
            Kind::Local(local) => self.role(local),
            _ => LocalRole::Plain,
        };
        let name = match member {
            Member::Unnamed(index) if index.index == 0 => {
                return expression(Kind::Call("p_inner", vec![], vec![base]), span);
            }
            Member::Unnamed(_) => {
                return self.wrong(value, "a device has no tuples: take a struct with names");
            }
            Member::Named(name) => name.to_string(),
        };
        let name = match role {
            LocalRole::Vertex => "local".into(),
            LocalRole::Tally if TALLY_FIELDS.contains(&name.as_str()) => name,
            LocalRole::Tally => {
                let known = TALLY_FIELDS.join(", ");
                return self.wrong(value, format!("a device's tally has no `{name}`, but {known}"));
            }
            _ => mangle(&name),
        };
        expression(Kind::Field(Box::new(base), name), span)
    }

    /// Refuses a macro call.
    pub(super) fn refuse_macro(&mut self, call: &syn::Macro) {
        let name = call.path.segments.last().map(|part| part.ident.to_string());
        let name = name.unwrap_or_default();
        self.refuse(call, format!("a device does not know `{name}!`: write it without macros"));
    }

    fn unsupported(&mut self, value: &Expr) -> Expression {
        let message = match value {
            Expr::Macro(call) => {
                self.refuse_macro(&call.mac);
                return expression(Kind::Unit, value.span());
            }
            Expr::While(_) | Expr::Loop(_) => {
                "a device needs to know where loops end: write a `for` over a range"
            }
            Expr::Tuple(_) => "a device has no tuples: take a struct with `derive(DeviceType)`",
            Expr::Closure(_) => "a device knows closures as arguments of methods only",
            Expr::Try(_) => "a device does not know `?`: write `match` and `return`",
            Expr::Unsafe(_) => "a device does not know `unsafe`",
            Expr::Range(_) => "a device knows ranges in `for` only",
            Expr::Path(_) => {
                "a device does not know this: name the type by a parameter of the `impl`"
            }
            _ => "a device does not know this: write it with numbers, `if`, `match` and `for`",
        };
        self.wrong(value, message)
    }
}
