//! Expressions.

use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprClosure, ExprMethodCall, ExprStruct, Lit, Member, Pat, UnOp};

use super::methods::{self, Shape};
use super::names::{known_type, mangle};
use super::{Parser, expression};
use crate::ir::{Arm, Binary, Block, Expression, Kind, Pattern, Role, Type, Unary};

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
            && matches!(self.role(local), Role::Reference | Role::Tally)
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
    fn argument(&mut self, argument: &Expr) -> Expression {
        match argument {
            Expr::Reference(to) if to.mutability.is_some() => {
                let place = self.place(&to.expr);
                expression(Kind::Mutable(Box::new(place)), argument.span())
            }
            Expr::Path(_) => {
                let parsed = self.place(argument);
                match parsed.kind {
                    Kind::Local(local)
                        if matches!(self.role(local), Role::Reference | Role::Tally) =>
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
    fn check_order(&mut self, at: &Expr, operands: &[&Expression]) {
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
            Expr::Unary(unary) => match unary.op {
                UnOp::Deref(_) => {
                    let place = self.place(&unary.expr);
                    // Parentheses tell it from a reference that is kept.
                    return expression(
                        Kind::Block(Block { statements: vec![], tail: Some(Box::new(place)) }),
                        span,
                    );
                }
                UnOp::Neg(_) => Kind::Unary(Unary::Negate, Box::new(self.value(&unary.expr))),
                UnOp::Not(_) => Kind::Unary(Unary::Not, Box::new(self.value(&unary.expr))),
                _ => return self.unsupported(value),
            },
            Expr::Binary(operation) => {
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
                Kind::Binary(operator, Box::new(a), Box::new(b))
            }
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
            Expr::Match(choice) => {
                let matched = self.value(&choice.expr);
                let arms = choice.arms.iter().map(|arm| {
                    self.scoped(|parser| {
                        let pattern = parser.pattern(&arm.pat);
                        let guard = arm.guard.as_ref().map(|(_, guard)| parser.value(guard));
                        Arm { pattern, guard, body: parser.expression(&arm.body) }
                    })
                });
                Kind::Match(Box::new(matched), arms.collect())
            }
            _ => return self.unsupported(value),
        };
        expression(kind, span)
    }

    fn branch(&mut self, branch: &syn::ExprIf, value: &Expr) -> Expression {
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
            _ => Role::Plain,
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
            Role::Vertex => "local".into(),
            Role::Tally if TALLY_FIELDS.contains(&name.as_str()) => name,
            Role::Tally => {
                let known = TALLY_FIELDS.join(", ");
                return self.wrong(value, format!("a device's tally has no `{name}`, but {known}"));
            }
            _ => mangle(&name),
        };
        expression(Kind::Field(Box::new(base), name), span)
    }

    fn method_call(&mut self, call: &ExprMethodCall, value: &Expr) -> Expression {
        let name = call.method.to_string();
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self")) {
            return self.wrong(
                value,
                format!(
                    "a device does not see the method `{name}`: make it a function beside the \
                     `impl`, marked `#[device]`"
                ),
            );
        }
        let Some((function, shape)) = methods::method(&name) else {
            let instead = methods::instead_of(&name);
            return self.wrong(&call.method, format!("a device does not know `{name}`: {instead}"));
        };
        let receiver = self.place(&call.receiver);
        if shape == Shape::Vanishes {
            return receiver;
        }
        let (num_values, closure) = match shape {
            Shape::Values(count) => (count, None),
            Shape::Closure(count, parameters) => (count, Some(parameters)),
            Shape::Vanishes => (0, None),
        };
        if call.args.len() != num_values + usize::from(closure.is_some()) {
            return self.wrong(value, format!("a device knows another `{name}`"));
        }
        let mut arguments = vec![receiver];
        arguments.extend(call.args.iter().take(num_values).map(|value| self.value(value)));
        if let Some(parameters) = closure {
            match &call.args[num_values] {
                Expr::Closure(given) => arguments.push(self.closure(given, parameters)),
                other => {
                    return self.wrong(other, "a device needs the closure itself here: `|x| …`");
                }
            }
        }
        self.check_order(value, &arguments.iter().collect::<Vec<_>>());
        expression(Kind::Call(function, vec![], arguments), value.span())
    }

    fn closure(&mut self, closure: &ExprClosure, parameters: usize) -> Expression {
        let span = closure.span();
        if closure.inputs.len() != parameters {
            return self.wrong(closure, format!("expected {parameters} parameters"));
        }
        self.scoped(|parser| {
            let mut locals = Vec::new();
            for input in &closure.inputs {
                let mut pattern = input;
                while let Pat::Reference(syn::PatReference { pat, .. })
                | Pat::Type(syn::PatType { pat, .. }) = pattern
                {
                    pattern = pat;
                }
                match pattern {
                    Pat::Ident(name) => {
                        let is_mutable = name.mutability.is_some();
                        locals.push(parser.bind(&name.ident.to_string(), Role::Plain, is_mutable));
                    }
                    Pat::Wild(_) => locals.push(parser.bind("unused", Role::Plain, false)),
                    other => {
                        parser.refuse(other, "the parameter of a closure has a name");
                        parser.bind_all(other);
                    }
                }
            }
            let body = parser.value(&closure.body);
            expression(Kind::Closure(locals, Box::new(body)), span)
        })
    }

    fn call(&mut self, call: &ExprCall, value: &Expr) -> Expression {
        let span = value.span();
        let Expr::Path(function) = &*call.func else {
            return self.wrong(&call.func, "a device calls functions by their names only");
        };
        let path = &function.path;
        let names: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let name = *names.last().expect("paths have segments");
        let one = call.args.len() == 1;
        let kind = match (&names[..], call.args.len()) {
            (["Some"], 1) => Kind::Call("p_some", vec![], vec![self.value(&call.args[0])]),
            (["LocalId" | "GlobalId"], 1) => {
                let ty = known_type(name).expect("ids are known");
                Kind::Cast(Box::new(self.value(&call.args[0])), ty)
            }
            (["std" | "core", "mem", "take"] | ["mem", "take"], 1) => {
                Kind::Call("p_take", vec![], vec![self.argument(&call.args[0])])
            }
            (["std" | "core", "mem", "replace"] | ["mem", "replace"], 2) => {
                let place = self.argument(&call.args[0]);
                Kind::Call("p_replace", vec![], vec![place, self.value(&call.args[1])])
            }
            ([.., "cmp", "min" | "max"], 2) => {
                let arguments = call.args.iter().map(|value| self.value(value)).collect();
                Kind::Call(if name == "min" { "p_min" } else { "p_max" }, vec![], arguments)
            }
            ([_, ..], _) if path.segments.len() > 1 && self.type_before(path).is_some() => {
                let ty = self.type_before(path).expect("as above");
                let arguments: Vec<_> = call.args.iter().map(|value| self.value(value)).collect();
                self.check_order(value, &arguments.iter().collect::<Vec<_>>());
                match (methods::type_function(name), methods::method(name)) {
                    _ if name == "from" && one => {
                        let argument = arguments.into_iter().next().expect("one");
                        Kind::Cast(Box::new(argument), ty)
                    }
                    (Some(function), _) if one => Kind::Call(function, vec![ty], arguments),
                    (_, Some((function, Shape::Values(count)))) if arguments.len() == count + 1 => {
                        Kind::Call(function, vec![], arguments)
                    }
                    _ => return self.wrong(&call.func, "a device does not know this function"),
                }
            }
            _ => return self.user_call(call, &names, value),
        };
        expression(kind, span)
    }

    fn user_call(&mut self, call: &ExprCall, names: &[&str], value: &Expr) -> Expression {
        let Expr::Path(function) = &*call.func else { unreachable!("as the caller checked") };
        let name = *names.last().expect("paths have segments");
        if names == [name] && self.resolve(name).is_some() {
            return self.wrong(&call.func, "a device does not call closures by name");
        }
        let is_type = |name: &str| name.starts_with(|c: char| c.is_uppercase());
        if names.iter().any(|name| is_type(name)) {
            return self.wrong(
                &call.func,
                "a device does not know this function: make it one beside the `impl`, marked \
                 `#[device]`",
            );
        }
        let arguments: Vec<_> = call.args.iter().map(|value| self.argument(value)).collect();
        self.check_order(value, &arguments.iter().collect::<Vec<_>>());
        let name = mangle(name);
        self.mentions.functions.entry(name.clone()).or_insert_with(|| function.path.clone());
        expression(Kind::CallUser(name, arguments), value.span())
    }

    fn struct_literal(&mut self, literal: &ExprStruct, value: &Expr) -> Expression {
        let path = syn::TypePath { qself: literal.qself.clone(), path: literal.path.clone() };
        let ty = self.ty(&syn::Type::Path(path));
        let mut fields = Vec::new();
        for field in &literal.fields {
            match &field.member {
                Member::Named(name) => {
                    fields.push((mangle(&name.to_string()), self.value(&field.expr)));
                }
                Member::Unnamed(_) => self.refuse(field, "a device needs names of fields"),
            }
        }
        let base = literal.rest.as_ref().map(|base| Box::new(self.value(base)));
        expression(Kind::Struct { ty, fields, base }, value.span())
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
