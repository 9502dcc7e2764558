//! Calls of methods and functions, with their closures, and struct literals.

use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprClosure, ExprMethodCall, ExprStruct, Member, Pat};

use super::methods::{self, Shape};
use super::names::{known_type, mangle};
use super::{Parser, expression};
use crate::ir::{Expression, Kind, LocalRole};

impl Parser {
    pub(super) fn method_call(&mut self, call: &ExprMethodCall, value: &Expr) -> Expression {
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
                        locals.push(parser.bind(
                            &name.ident.to_string(),
                            LocalRole::Plain,
                            is_mutable,
                        ));
                    }
                    Pat::Wild(_) => locals.push(parser.bind("unused", LocalRole::Plain, false)),
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

    pub(super) fn call(&mut self, call: &ExprCall, value: &Expr) -> Expression {
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

    pub(super) fn struct_literal(&mut self, literal: &ExprStruct, value: &Expr) -> Expression {
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
}
